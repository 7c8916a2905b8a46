#!/usr/bin/env bash
# Set up an environment, build the wheel, check the house rules, and run the tests on the wheel.
# VENV names the environment's folder (default: .venv-test). Arguments go to pytest, whose output
# is kept in pytest.log in that folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
venv="${VENV:-.venv-test}"
step "making the environment $venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
bin="$(cd "$venv/bin" && pwd)"
"$bin/pip" install --quiet --upgrade pip build
step "building the C++ core and the wheel, about 2 minutes"
rm -rf dist
"$bin/python" -m build --outdir dist . >"$venv/build.log" 2>&1 || { cat "$venv/build.log"; exit 1; }
step "installing the wheel and what its tests need, about 1 minute"
wheel=$(ls dist/softmodes-*.whl)
"$bin/pip" install --quiet "$wheel[test]"
"$bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
step "checking the house rules"
VENV="$venv" bash scripts/check.sh
step "running the tests, about 5 minutes"
"$bin/python" -m pytest -n 2 "$@" 2>&1 | tee "$venv/pytest.log"
step "done. Tests that were skipped stand above. Not run here: sanitizers (scripts/sanitize.sh)," \
  "the documentation (scripts/docs.sh), reports in a browser (scripts/browser.sh), cluster engines" \
  "(scripts/engines.sh), NEON (scripts/neon.sh), other Pythons and the oldest dependencies (nox)"
