# Sourced by the other scripts: says what is being done, and after how many seconds.
step() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
