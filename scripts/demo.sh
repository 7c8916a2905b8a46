#!/usr/bin/env bash
# Set up an environment, install softmodes from source, and cluster the animals of the zoo.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
venv="${VENV:-.venv}"
step "making the environment $venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
step "installing softmodes: building the C++ core, about 2 minutes"
"$venv/bin/pip" install --quiet ".[frames]"  # with frames, columns have names
step "clustering the animals of a zoo"
"$venv/bin/python" examples/zoo.py
