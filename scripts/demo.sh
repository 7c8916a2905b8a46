#!/usr/bin/env bash
# Set up an environment, install softmodes from source, find the groups of a real survey, and write
# a report. VENV names the environment's folder (default: .venv); files go to the folder demo.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
venv="${VENV:-.venv}"
step "making the environment $venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
step "installing softmodes: building the C++ core, about 2 minutes"
"$venv/bin/pip" install --quiet ".[cli]"
mkdir -p demo
step "writing a real survey, 944 voters of 1996, to demo/election.csv"
"$venv/bin/softmodes" generate anes96 --out demo/election.csv --force
step "finding its groups, without looking at the vote"
"$venv/bin/softmodes" fit demo/election.csv --describe vote --drop population \
  --out demo/groups.csv --save demo/election.softmodes --report demo/election.html --force
step "done. Open the report in a browser: file://$PWD/demo/election.html"
