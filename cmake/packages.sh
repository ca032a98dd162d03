# SPDX-License-Identifier: GPL-2.0-or-later
# Read by quickstart and check: which Debian 12 packages are needed, and the steps that both take.
# shellcheck shell=bash

BUILD_PACKAGES=(g++ cmake ninja-build pkg-config
  libpcap-dev libwiretap-dev libwsutil-dev libwireshark-dev wireshark-dev libglib2.0-dev zlib1g-dev libisal-dev
  libzstd-dev liblz4-dev libmimalloc-dev
  libfmt-dev libexpected-dev libcli11-dev nlohmann-json3-dev libutfcpp-dev libyaml-cpp-dev tshark)

TEST_PACKAGES=(git clang clang-tidy clang-format llvm libclang-rt-14-dev libfuzzer-14-dev
  libgtest-dev libgmock-dev librapidcheck-dev libibverbs-dev librdmacm-dev
  wireshark xvfb xdotool imagemagick
  python3 python3-jsonschema python3-yaml gzip zstd lz4 sqlite3 groff-base zsh
  chromium-headless-shell)
# Whoever has Node.js from elsewhere keeps it: Debian's npm would not install beside it.
command -v node >/dev/null || TEST_PACKAGES+=(nodejs)
command -v npm >/dev/null || TEST_PACKAGES+=(npm)

step() { printf '== %s: %s\n' "$1" "$2"; }

# Only what dpkg does not have; on a second run no apt at all.
install_packages() {
  local package installed missing=()
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
      return 1
    fi
    root=(sudo)
  fi
  printf '   installing %s\n' "${missing[*]}"
  local log
  log=$(mktemp)
  if ! "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null >"$log" 2>&1; then
    echo "   apt-get update had complaints; going on with what it got" >&2
  fi
  if ! "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends install "${missing[@]}" \
    </dev/null >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Runs a command quietly; shows what it said only when it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" </dev/null >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# forget_moved TREE: a tree that was configured when the checkout stood elsewhere begins anew.
forget_moved() {
  local cache=$1/CMakeCache.txt
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    rm -rf "$cache" "$1/CMakeFiles"
  fi
}

# A tree that ./check configured keeps its tests; a fresh one of quickstart's goes without them and their packages.
configure_release() {
  local options=("$@")
  forget_moved build
  if [ ! -f build/CMakeCache.txt ]; then
    # The compiler is named once: naming it again would make CMake begin anew.
    options+=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)
    [[ " ${options[*]} " == *" -DRPCRDMA_TESTS="* ]] || options+=(-DRPCRDMA_TESTS=OFF)
    options+=(-DRPCRDMA_FORGE=ON)
  fi
  quietly cmake --preset release "${options[@]}"
}

# build_tree TREE [TARGET...]. Ninja draws one line on a terminal, but thousands into a file.
build_tree() {
  local tree=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  if [ -t 1 ]; then
    cmake --build "$tree" "${targets[@]}" </dev/null
  else
    quietly cmake --build "$tree" "${targets[@]}"
  fi
}
