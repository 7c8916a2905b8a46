#!/usr/bin/env bash
# The house rules: formatting, lint, types, import order. VENV names the environment's folder.
set -euo pipefail
cd "$(dirname "$0")/.."
bin="$(cd "${VENV:-.venv-test}/bin" && pwd)"
"$bin/ruff" format --check .
"$bin/ruff" check .
"$bin/mypy"
"$bin/lint-imports"
"$bin/clang-format" --dry-run --Werror $(git ls-files 'core/*.?pp' 'core/**/*.?pp' 'benchmarks/**/*.?pp')
