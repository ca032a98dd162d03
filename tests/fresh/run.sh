#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [FOLDER]: does a fresh Debian 12 with nothing but git get from a clone to a report and a green ./check?
# Makes a bookworm system in FOLDER (default: a cache folder outside the tree), clones the repository's newest commit into
# it, and runs ./quickstart and ./check there, twice each, with the time each took. Needs root and debootstrap. The system
# is kept as an archive, so that only the first run downloads it; packages come from this machine's own apt sources.
set -euo pipefail
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma-fresh}
case $folder/ in "$tree"/*) echo "the folder must be outside the tree" >&2; exit 2 ;; esac
# shellcheck source=tests/harness/debian.sh
. "$tree/tests/harness/debian.sh"
debian_needs_root
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
root=$folder/root
trap 'debian_leave "$root"' EXIT

echo "== a bare bookworm, and git"
debian_bare "$root" bookworm
debian_quietly "$folder/git.log" debian_inside "$root" \
  'apt-get -q update && apt-get -y -q --no-install-recommends install git ca-certificates'
if command -v npm >/dev/null; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/this-machine.crt"
  echo "cafile=/etc/ssl/certs/this-machine.crt" >"$root/root/.npmrc"
  for key in registry proxy https-proxy; do
    value=$(npm config get "$key" 2>/dev/null)
    [ "$value" = null ] || echo "$key=$value" >>"$root/root/.npmrc"
  done
fi

echo "== clone of $(git -c safe.directory='*' -C "$tree" log -1 --format='%h %s')"
git -c safe.directory='*' clone --quiet --no-hardlinks "$tree" "$root/root/checkout"

failed=0
inside() {
  local start=$SECONDS status=0 log spent
  log=$folder/$(tr -d './' <<<"$1")-$2.log
  # A clean environment: nothing of this machine but the terminal's kind.
  local TIMEFORMAT='%U + %S'
  spent=$({ time env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" chroot "$root" \
    /bin/bash -c "cd /root/checkout && $1" </dev/null >"$log" 2>&1; } 2>&1) || status=$?
  printf '%-14s run %s: exit status %d, %d s (processor %s s)\n' "$1" "$2" "$status" "$((SECONDS - start))" "$spent"
  tail -n 3 "$log" | sed 's/^/   | /'
  [ "$status" -eq 0 ] || failed=1
}
for run in 1 2; do inside ./quickstart "$run"; done
for run in 1 2; do inside ./check "$run"; done
test -x "$root/root/checkout/build/rpcrdma-analyzer" || { echo "build/rpcrdma-analyzer is not there"; failed=1; }
exit "$failed"
