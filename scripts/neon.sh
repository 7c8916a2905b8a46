#!/usr/bin/env bash
# Compile the kernels for 64-bit ARM, run them under an emulator, and compare NEON with generic.
# Needs cmake, ninja and the Debian packages g++-aarch64-linux-gnu and qemu-user (none on an ARM
# machine). Without them it says "skipped" and ends with 0, or with 1 if REQUIRE=1. With --install
# apt-get installs what is missing (as root). Another argument is the number of cases.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
packages="g++-aarch64-linux-gnu qemu-user"
build="${BUILD_DIR:-build/neon}"
configure=(-S . -B "$build" -G Ninja -DSOFTMODES_COMPARE_ONLY=ON --log-level=WARNING)
emulator=()

has_tools() { command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64; } >/dev/null
install_tools() {
  step "installing $packages by apt-get"
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

if [ "${1:-}" = --install ]; then
  shift
  has_tools || install_tools || echo "apt-get could not install $packages"
fi
case "$(uname -m)" in
  aarch64 | arm64) ;;
  *)
    if ! has_tools; then
      echo "skipped: NEON needs a cross compiler and an emulator (Debian: apt-get install $packages)"
      [ -z "${REQUIRE:-}" ] || exit 1
      exit 0
    fi
    configure+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
      -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++)
    emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
    ;;
esac
step "compiling the kernels for 64-bit ARM, about 2 minutes"
cmake "${configure[@]}"
cmake --build "$build" --target kernel_compare
step "comparing"
"${emulator[@]}" "$build/kernel_compare" "$@"
step "done"
