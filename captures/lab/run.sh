#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [-c CACHE] [-l] [FOLDER [STORY...]]: records the lab's captures into FOLDER (default: ./lab-captures). README.md says more.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cache=${LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma-lab}
list=()
while getopts c:lh option; do
  case $option in
    c) cache=$OPTARG ;;
    l) list=(--list) ;;
    *) sed -n 3p "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
out=${1:-lab-captures}
[ $# -eq 0 ] || shift

if [ ${#list[@]} -gt 0 ]; then
  exec /usr/bin/python3 -B "$here/lab.py" --cache "$cache" --out "$out" --list "$@"
fi
if [ "$(id -u)" -ne 0 ]; then
  # debootstrap and chroot need it; the guests run as the same user.
  exec sudo LAB_CACHE="$cache" LAB_ACCEL="${LAB_ACCEL:-}" LAB_MIRROR="${LAB_MIRROR:-}" "$here/run.sh" "$out" "$@"
fi
# shellcheck source=cmake/packages.sh
. "$here/../../cmake/packages.sh"
step packages "qemu and debootstrap, from apt"
install_packages qemu-system-x86 debootstrap e2fsprogs xz-utils python3
mkdir -p "$cache" "$out"
cache=$(readlink -f "$cache")
nice "$here/guest.sh" "$cache"

# The peers are built by the guest's own compiler, against the guest's libraries.
if [ -n "$(find "$here/peers" -newer "$cache/peer" -name '*pp' 2>&1)" ]; then
  step peers "captures/lab/peers, on rdma-core"
  rm -rf "$cache/root/usr/src/peers"
  cp -r "$here/peers" "$cache/root/usr/src/peers"
  nice chroot "$cache/root" sh -c 'cd /usr/src/peers && g++ -std=c++20 -O1 -Wall -Wextra -Werror *.cpp -o peer -lrdmacm -libverbs'
  cp "$cache/root/usr/src/peers/peer" "$cache/peer"
fi

step record "$out"
exec /usr/bin/python3 -B "$here/lab.py" --cache "$cache" --out "$out" "$@"
