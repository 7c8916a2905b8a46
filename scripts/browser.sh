#!/usr/bin/env bash
# Run the tests of the report in a real browser. PYTHON picks the interpreter (default: python), which
# needs what pyproject.toml lists under browser-test, and softmodes itself. Chromium is Debian's, or
# that of SOFTMODES_CHROMIUM; without one it says "skipped" and ends with 0, or with 1 if REQUIRE=1.
# With --install apt-get installs it where it is missing (as root). Other arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
python="$(command -v "${PYTHON:-python}")"

has_browser() { [ -n "${SOFTMODES_CHROMIUM:-}" ] || command -v chromium || command -v google-chrome; } >/dev/null
install_browser() {
  step "installing chromium by apt-get"
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
}

if [ "${1:-}" = --install ]; then
  shift
  has_browser || install_browser || echo "apt-get could not install chromium"
fi
if ! has_browser; then
  echo "skipped: the report is tested in Chromium (Debian: apt-get install chromium)"
  [ -z "${REQUIRE:-}" ] || exit 1
  exit 0
fi
step "opening reports in a browser, about 1 minute"
"$python" -m pytest tests/browser "$@"
step "done"
