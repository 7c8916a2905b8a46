#!/usr/bin/env bash
# Build the native core into src/softmodes/, for running from the source tree.
# PYTHON picks the interpreter (default: python); arguments go to cmake's configure step.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(command -v "${PYTHON:-python}")"
PATH="$(dirname "$python"):$PATH" # cmake and ninja of the same environment
build="${BUILD_DIR:-build/dev}"
cmake -S . -B "$build" -G Ninja -DPython_EXECUTABLE="$python" --log-level=WARNING "$@"
cmake --build "$build"
for so in "$build"/_core*.so; do # renamed into place: a running process keeps the file it has loaded
  target="${OUTPUT_DIR:-src/softmodes}/$(basename "$so")"
  cp "$so" "$target.new" && mv "$target.new" "$target"
done
if [ -z "${OUTPUT_DIR:-}" ]; then # the types of the core, for mypy; a test compares
  PYTHONPATH=src "$python" -m nanobind.stubgen -q -m softmodes._core -o src/softmodes/_core.pyi
fi
