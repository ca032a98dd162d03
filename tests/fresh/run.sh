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
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "needs debootstrap (apt-get install debootstrap)" >&2; exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
root=$folder/root archive=$folder/bookworm.tar

# The mirror that this machine itself uses for bookworm.
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 2>/dev/null | awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "no apt source of this machine serves bookworm" >&2; exit 2; }

# /proc and terminals are mounted there; debootstrap makes the few devices that are needed.
leave() {
  local part
  for part in dev/pts proc; do ! mountpoint -q "$root/$part" || umount "$root/$part"; done
}
trap leave EXIT
leave
rm -rf --one-file-system "$root"

if [ ! -f "$archive" ]; then
  echo "== bookworm from the machine's own mirror"
  debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
    { tail -n 20 "$folder/debootstrap.log" >&2; exit 1; }
  tar -C "$root" --one-file-system -cf "$archive.part" . && mv "$archive.part" "$archive"
else
  mkdir -p "$root"
  tar -C "$root" -xf "$archive"
fi
# What reaches the mirror here has to reach it there.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
{ apt-config dump Acquire::http::Proxy; apt-config dump Acquire::https::Proxy; } >"$root/etc/apt/apt.conf.d/90proxy"
if command -v npm >/dev/null; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/this-machine.crt"
  echo "cafile=/etc/ssl/certs/this-machine.crt" >"$root/root/.npmrc"
  for key in registry proxy https-proxy; do
    value=$(npm config get "$key" 2>/dev/null)
    [ "$value" = null ] || echo "$key=$value" >>"$root/root/.npmrc"
  done
fi
mount -t proc proc "$root/proc"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"

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
