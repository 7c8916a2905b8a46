#!/usr/bin/env bash
# Set up an environment, install softmodes from source, and cluster the animals of the zoo.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet ".[frames]"  # with frames, columns have names
"$venv/bin/python" examples/zoo.py
