#!/usr/bin/env bash
# The house rules: formatting, lint, types, import order, workflow files. Arguments name some of
# them (format lint types imports cpp workflows). VENV names the environment's folder.
set -euo pipefail
cd "$(dirname "$0")/.."
bin="$(cd "${VENV:-.venv-test}/bin" && pwd)"
check() {
  case "$1" in
    format) "$bin/ruff" format --check . ;;
    lint) "$bin/ruff" check . ;;
    types) "$bin/mypy" ;;
    imports) "$bin/lint-imports" ;;
    cpp) find core tests benchmarks -name '*.?pp' -exec "$bin/clang-format" --dry-run --Werror {} + ;;
    workflows)
      "$bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
      "$bin/check-jsonschema" --builtin-schema vendor.dependabot .github/dependabot.yml
      ! command -v actionlint >/dev/null || actionlint # knows shell and expressions as well
      ;;
    *)
      echo "$1 is no house rule. Pass some of: format lint types imports cpp workflows" >&2
      return 1
      ;;
  esac
}
[ $# -gt 0 ] || set -- format lint types imports cpp workflows
for rule in "$@"; do check "$rule"; done
