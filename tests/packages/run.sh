#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [SUITE...]: do the Debian packages hold what they promise, on each release (default: bookworm, trixie, sid)?
# In a system of the release: built twice, in two places, to the same octets; lintian. In a bare one: installed over an older
# version, used (tshark has to decode a capture with the plugin, not only load it; the library's example is built), purged
# without a trace. Needs root and debootstrap. Systems are kept in a cache folder outside the tree; RPCRDMA_VERSIONS names
# another one.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tree=$(cd "$here/../.." && pwd)
folder=${RPCRDMA_VERSIONS:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma-versions}
case $folder/ in "$tree"/*) echo "the folder must be outside the tree" >&2; exit 2 ;; esac
# shellcheck source=tests/harness/debian.sh
. "$tree/tests/harness/debian.sh"
debian_needs_root
suites=("$@")
[ $# -gt 0 ] || suites=(bookworm trixie sid)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# shellcheck source=cmake/packages.sh
. "$tree/cmake/packages.sh"
capture=captures/peers/rxe-kpeer-read-too-big-inline.pcap

root= bare=
leave() {
  [ -z "$root" ] || debian_leave "$root"
  [ -z "$bare" ] || debian_leave "$bare"
}
trap leave EXIT

# The second build stands elsewhere and takes nothing from the first.
build_twice() {
  rm -rf "$root/root/first" "$root/root/second" "$root/root/debs" "$root/root/debs-again"
  git -c safe.directory='*' clone --quiet --no-hardlinks "$tree" "$root/root/first"
  mkdir "$root/root/second"
  git -c safe.directory='*' clone --quiet --no-hardlinks "$tree" "$root/root/second/place"
  debian_quietly "$root-build.log" debian_inside "$root" \
    'cd /root/first && PATH=/usr/lib/ccache:$PATH cmake/deb/build /root/debs' || return 1
  debian_quietly "$root-build-again.log" debian_inside "$root" \
    'cd /root/second/place && RPCRDMA_DEB_TREE=/root/second/tree cmake/deb/build /root/debs-again' || return 1
  debian_inside "$root" 'cd /root/debs && ls *.deb && for one in *.deb; do cmp "$one" "../debs-again/$one" || exit 1; done' || return 1
  echo "reproducible: two builds in two places gave the same octets"
}

lint() {
  local status=0
  debian_inside "$root" 'cd /root/debs && lintian --version && lintian --allow-root --fail-on error,warning *.deb' >"$root-lintian.log" 2>&1 || status=1
  sed 's/^/lintian: /' "$root-lintian.log"
  [ "$status" -ne 0 ] || echo "lintian: no error and no warning"
  return "$status"
}

use() {
  debian_bare "$bare" "$suite" || return 1
  mkdir "$bare/debs"
  cp "$root"/root/debs/*.deb "$tree/$capture" "$here/inside.sh" "$bare/debs/"
  debian_inside "$bare" '/debs/inside.sh'
}

failed=0
for suite in "${suites[@]}"; do
  root=$folder/builder-$suite bare=$folder/bare-$suite start=$SECONDS verdict=passed
  echo "== $suite: $(git -c safe.directory='*' -C "$tree" log -1 --format='%h %s')"
  debian_builder "$folder" "$suite" && build_twice && lint && use || verdict=FAILED failed=1
  echo "== $suite: $verdict, $((SECONDS - start)) s"
  leave
done
exit "$failed"
