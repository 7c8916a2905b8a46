#!/usr/bin/env bash
# Build the documentation into build/docs, where a warning is an error. PYTHON picks the interpreter
# (default: python), which needs what pyproject.toml lists under docs, and softmodes itself.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
python="$(command -v "${PYTHON:-python}")"
step "building the documentation, about 2 minutes"
"$python" -m sphinx -W --keep-going -q -b html docs build/docs
step "done: build/docs/index.html"
