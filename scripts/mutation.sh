#!/usr/bin/env bash
# Plant small faults in the Python floors, one at a time, and see the tests find them. With 500
# mutants under an hour on 2 cores. PYTHON picks the interpreter (default: python), which needs what
# pyproject.toml lists under test and mutation, and the core in src/softmodes/ (else it is built).
# Arguments: --mutants 500 --seed 0 --jobs 2. The report: build/mutation/mutation.md. Leave src/ and
# tests/ alone while it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
python="$(command -v "${PYTHON:-python}")"
if ! compgen -G "src/softmodes/_core*.so" >/dev/null; then
  step "building the C++ core, about 2 minutes"
  PYTHON="$python" bash scripts/dev.sh
fi
PYTHONPATH=src exec nice "$python" -m tools.mutation "$@"
