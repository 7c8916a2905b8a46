#!/usr/bin/env bash
# Build the core with AddressSanitizer and UndefinedBehaviorSanitizer and run its tests with it.
# PYTHON picks the interpreter (default: python); arguments go to pytest. Needs g++.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(command -v "${PYTHON:-python}")"
build="$PWD/build/sanitize"
package="$build/package/softmodes" # the sources beside a sanitized core
mkdir -p "$package"
ln -sfn "$PWD"/src/softmodes/* "$package/"
rm -f "$package"/_core*.so
PYTHON="$python" BUILD_DIR="$build" OUTPUT_DIR="$package" bash scripts/dev.sh \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSOFTMODES_KERNEL_OPTIONS=-O1 \
  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
# The interpreter itself leaks on exit, and must load the sanitizer before the core. A sanitized
# core is too slow for the test of the time that an interrupt takes, and for two long sweeps over
# sizes that other tests sample; and it takes more memory than a pass tells.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
  PYTHONPATH="$build/package" "$python" -m pytest tests/rows/test_kernels.py tests/rows/test_block.py tests/rows/test_score_kernels.py \
  tests/algorithm/test_rounding.py tests/table/test_strings.py tests/algorithm/test_seeding.py tests/algorithm/test_loop.py tests/rows/test_remember.py \
  -q -p no:cacheprovider \
  -k "not (ctrl_c_stops_a_pass or no_more_memory_than or every_number_of_features or every_number_of_clusters)" \
  "$@"
