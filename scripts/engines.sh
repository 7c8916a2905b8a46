#!/usr/bin/env bash
# Test the cluster engines, Dask and Spark, each as a real cluster of processes on this machine: 20
# minutes at most. PYTHON names an interpreter with softmodes and its extras "test" and "scale-test".
# Spark needs Java; with --install, apt-get installs it where it is missing (as root). Other
# arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
python="${PYTHON:-python3}"
java=openjdk-17-jre-headless

if [ "${1:-}" = --install ]; then
  shift
  if ! command -v java >/dev/null; then
    step "installing $java by apt-get"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $java >/dev/null
  fi
fi
step "testing the cluster engines"
# An engine that is not installed would only be skipped, test by test.
"$python" -c "import distributed, dask.dataframe, dask.array, pyspark"
java -version 2>&1 | head -n 1
timeout --signal=INT --kill-after=30 20m "$python" -m pytest -m engine tests/engines "$@"
step "done"
