#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install.sh BUILD: are plugin and profile where Wireshark looks, after an installation for all and after one for a user?
set -euo pipefail
build=$(realpath "$1")
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }

# For all: into a copy of the system's folders, which have to be those that tshark names.
DESTDIR=$folder/all cmake --install "$build" --component plugin >"$folder/log" || { cat "$folder/log"; exit 1; }
global() { tshark -G folders 2>/dev/null | sed -n "s/^$1:[[:space:]]*//p" | head -n 1; }
plugins=$(global 'Global Plugins') data=$(global 'Global configuration')
[ -f "$folder/all$plugins/epan/rpcrdma.so" ] || fail "no plugin in $plugins"
for file in preferences colorfilters dfilter_buttons io_graphs recent; do
  [ -f "$folder/all$data/profiles/NFS over RDMA/$file" ] || fail "no $file in $data/profiles/NFS over RDMA"
done
[ "$(find "$folder/all" -type f | wc -l)" -eq 6 ] || fail "$(find "$folder/all" -type f)"

# For a user, who is nobody when root runs this: root himself has no personal plugins.
cp "$build/rpcrdma.so" "$folder/"
cp -r "$tree/plugin/profile" "$folder/profile"
cp "$tree/captures/peers/rxe-upeer-inv-R00.pcap" "$folder/"
mkdir "$folder/home"
chmod -R a+rX "$folder"
user=(env -u XDG_CONFIG_HOME HOME="$folder/home")
if [ "$(id -u)" -eq 0 ]; then
  ! "$folder/profile/install-for-user" "$folder/rpcrdma.so" 2>"$folder/log" || fail "root is not told that it is useless"
  grep -q 'cmake --install' "$folder/log" || fail "root is not told what to do instead"
  chown 65534:65534 "$folder/home"
  user=(setpriv --reuid=65534 --regid=65534 --clear-groups "${user[@]}")
fi
"${user[@]}" "$folder/profile/install-for-user" "$folder/rpcrdma.so" >/dev/null
"${user[@]}" "$folder/profile/install-for-user" "$folder/rpcrdma.so" >"$folder/log" # a second time changes nothing
! grep -q before "$folder/log" || fail "an unchanged profile was kept aside"
"${user[@]}" tshark -C 'NFS over RDMA' -r "$folder/rxe-upeer-inv-R00.pcap" -2 >"$folder/shown" 2>"$folder/said" || true
[ ! -s "$folder/said" ] || fail "$(cat "$folder/said")"
grep -q 'remote-invalidation-not-allowed' "$folder/shown" || fail "$(head "$folder/shown")"
"${user[@]}" tshark -G plugins 2>/dev/null | grep -q "^rpcrdma.so" || fail "tshark does not list the plugin"
echo "installed and found"
