#!/usr/bin/env bash
# Set up a fresh environment, build the wheel, check the house rules, and run the tests on the wheel.
# VENV names the environment's folder (default: .venv-test). With SANITIZE=1 the core is tested under
# sanitizers as well. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv-test}"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
bin="$(cd "$venv/bin" && pwd)"
"$bin/pip" install --quiet --upgrade pip build
rm -rf dist
"$bin/python" -m build --outdir dist . >"$venv/build.log" 2>&1 || { cat "$venv/build.log"; exit 1; }
wheel=$(ls dist/softmodes-*.whl)
"$bin/pip" install --quiet "$wheel[test]"
"$bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
VENV="$venv" bash scripts/check.sh
[ -z "${SANITIZE:-}" ] || PYTHON="$bin/python" bash scripts/sanitize.sh
"$bin/python" -m pytest "$@"
