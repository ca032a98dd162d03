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
# shellcheck source=tests/harness/debian.sh
. "$tree/tests/harness/debian.sh"
debian_needs_root
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# shellcheck source=cmake/packages.sh
. "$tree/cmake/packages.sh"

root=
trap '[ -z "$root" ] || debian_leave "$root"' EXIT

try_suite() {
  debian_builder "$folder" "$suite" || return 1
  local checkout=$root/root/checkout
  rm -rf "$checkout"
  git -c safe.directory='*' clone --quiet --no-hardlinks "$tree" "$checkout"
  debian_quietly "$root-versions.log" debian_inside "$root" 'cd /root/checkout &&
    cmake -S . -B /root/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DRPCRDMA_TESTS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER=ccache &&
    cmake --build /root/build --target rpcrdma rpcrdma-analyzer' || return 1
  debian_inside "$root" 'echo "$(tshark --version 2>/dev/null | head -n 1), $(c++ --version | head -n 1)"'
  debian_inside "$root" 'cd /root/checkout && export RPCRDMA_PLUGIN=/root/build/rpcrdma.so && status=0
    both="--plugin /root/build/rpcrdma.so --analyzer /root/build/rpcrdma-analyzer"
    for test in "versions.py --analyzer /root/build/rpcrdma-analyzer" order.py profile.py "options.py $both statistics listings preferences" \
      "exports.py --plugin /root/build/rpcrdma.so"; do
      echo "-- $test" && python3 tests/plugin/$test || status=1
    done
    echo "-- install.sh" && tests/plugin/install.sh /root/build || status=1
    exit $status'
}

failed=0
for suite in "${suites[@]}"; do
  root=$folder/builder-$suite
  echo "== $suite: $(git -c safe.directory='*' -C "$tree" log -1 --format='%h %s')"
  start=$SECONDS
  if try_suite; then verdict=passed; else verdict=FAILED failed=1; fi
  echo "== $suite: $verdict, $((SECONDS - start)) s"
  debian_leave "$root"
done
exit "$failed"
