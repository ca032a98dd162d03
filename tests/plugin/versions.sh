#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# versions.sh [SUITE...]: does the one source build, and does the plugin do its work, on other versions of Wireshark?
# For each Debian suite (default: trixie with Wireshark 4.4, sid with 4.6) it makes a system in a cache folder outside the
# tree, clones the repository's newest commit into it, builds analyzer and plugin there, and runs the plugin's tests there.
# Needs root and debootstrap. The systems are kept: only the first run downloads and compiles everything.
# RPCRDMA_VERSIONS names another cache folder.
set -euo pipefail
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
folder=${RPCRDMA_VERSIONS:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma-versions}
suites=("$@")
[ $# -gt 0 ] || suites=(trixie sid)
case $folder/ in "$tree"/*) echo "the folder must be outside the tree" >&2; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "needs debootstrap (apt-get install debootstrap)" >&2; exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# The mirror that this machine itself uses has the other suites too.
mirror=$(apt-get indextargets --format '$(SITE) $(COMPONENT) $(CODENAME)' 2>/dev/null |
  awk '$2 == "main" && $3 !~ /-/ { print $1; exit }')
[ -n "$mirror" ] || { echo "no apt source of this machine serves Debian" >&2; exit 2; }

# The build's packages are the repository's own; the rest is for the comparison.
# shellcheck source=cmake/packages.sh
. "$tree/cmake/packages.sh"
packages=("${BUILD_PACKAGES[@]}" ccache git ca-certificates python3)

root=
leave() {
  local part
  [ -n "$root" ] || return 0
  for part in dev/pts proc; do ! mountpoint -q "$root/$part" || umount "$root/$part"; done
}
trap leave EXIT

# A clean environment: nothing of this machine but the terminal's kind.
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    TERM="${TERM:-dumb}" chroot "$root" nice /bin/bash -c "$1" </dev/null
}

# Runs a step quietly; what it said stays in a file, and its end is shown when it fails.
step_in() {
  local log=$folder/$suite-$1.log
  shift
  "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; echo "$suite: failed, see $log" >&2; return 1; }
}

make_system() {
  local stamp=$root/.packages # what is installed; empty after debootstrap
  if [ ! -e "$stamp" ]; then
    rm -rf --one-file-system "$root"
    step_in debootstrap debootstrap --variant=minbase "$suite" "$root" "$mirror" || return 1
    touch "$stamp"
  fi
  # debootstrap made the few devices that are needed.
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  [ "$(cat "$stamp")" != "${packages[*]}" ] || return 0
  # What reaches the mirror here has to reach it there.
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  { apt-config dump Acquire::http::Proxy; apt-config dump Acquire::https::Proxy; } >"$root/etc/apt/apt.conf.d/90proxy"
  # A mirror's copy of sid is soon older than it promises to be.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90valid"
  step_in packages inside "apt-get -q update && apt-get -y -q --no-install-recommends install ${packages[*]}" || return 1
  inside 'apt-get clean'
  echo "${packages[*]}" >"$stamp"
}

try_suite() {
  make_system || return 1
  local checkout=$root/root/checkout
  rm -rf "$checkout"
  git -c safe.directory='*' clone --quiet --no-hardlinks "$tree" "$checkout"
  step_in build inside 'cd /root/checkout &&
    cmake -S . -B /root/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DRPCRDMA_TESTS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER=ccache &&
    cmake --build /root/build --target rpcrdma rpcrdma-analyzer' || return 1
  inside 'echo "$(tshark --version 2>/dev/null | head -n 1), $(c++ --version | head -n 1)"'
  inside 'cd /root/checkout && export RPCRDMA_PLUGIN=/root/build/rpcrdma.so && status=0
    for test in "versions.py --analyzer /root/build/rpcrdma-analyzer" order.py profile.py; do
      echo "-- $test" && python3 tests/plugin/$test || status=1
    done
    echo "-- install.sh" && tests/plugin/install.sh /root/build || status=1
    exit $status'
}

failed=0
for suite in "${suites[@]}"; do
  root=$folder/$suite
  echo "== $suite: $(git -c safe.directory='*' -C "$tree" log -1 --format='%h %s')"
  leave
  mkdir -p "$root"
  start=$SECONDS
  if try_suite; then verdict=passed; else verdict=FAILED failed=1; fi
  echo "== $suite: $verdict, $((SECONDS - start)) s"
  leave
done
exit "$failed"
