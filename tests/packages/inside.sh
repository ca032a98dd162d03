#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a bare system, with the packages beside it: an older version, then these, used and purged. run.sh starts it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
fail() { echo "$*" >&2; exit 1; }
quietly() { "$@" >/tmp/log 2>&1 || { tail -n 30 /tmp/log >&2; fail "$*"; }; }
capture=$PWD/rxe-kpeer-read-too-big-inline.pcap
names=(rpcrdma-analyzer wireshark-plugin-rpcrdma librpcrdma-dev)

quietly apt-get -q update
# The same with a lower number, as a version before this one would be.
mkdir older
for name in "${names[@]}"; do
  dpkg-deb -R "$name"_*.deb "older/$name"
  sed -i 's/^Version: .*/Version: 0.0.1-1/' "older/$name/DEBIAN/control"
  dpkg-deb -b "older/$name" "older/$name.deb" >/dev/null
done
quietly apt-get -y -q --no-install-recommends install ./older/*.deb tshark
[ "$(dpkg-query -W -f '${Version}' rpcrdma-analyzer)" = 0.0.1-1 ] || fail "the older version is not there"
quietly apt-get -y -q --no-install-recommends install ./*.deb
for name in "${names[@]}"; do
  wanted=$(dpkg-deb -f "$name"_*.deb Version)
  [ "$(dpkg-query -W -f '${Version} ${db:Status-Status}' "$name")" = "$wanted installed" ] || fail "$name is not upgraded"
done
echo "upgraded from 0.0.1-1 to $wanted"
echo "plugin depends: $(dpkg-query -W -f '${Depends}' wireshark-plugin-rpcrdma)"

# The program
rpcrdma-analyzer -V | head -n 1
status=0
rpcrdma-analyzer "$capture" >/tmp/report || status=$?
[ "$status" -eq 1 ] || fail "exit status $status"
head -n 1 /tmp/report | grep '^The mount is down since frame 30' || fail "$(head -n 3 /tmp/report)"
zcat /usr/share/man/man1/rpcrdma-analyzer.1.gz | grep -q '^.TH RPCRDMA-ANALYZER' || fail "no manual page"
for file in bash-completion/completions/rpcrdma-analyzer zsh/vendor-completions/_rpcrdma-analyzer doc/rpcrdma-analyzer/guide/mount-hangs.md; do
  [ -s "/usr/share/$file" ] || fail "no $file"
done

# The plugin: in Wireshark's own folder, loaded by itself, and decoding what Wireshark alone does not.
tshark --version 2>/dev/null | head -n 1
plugins=$(tshark -G folders 2>/dev/null | sed -n 's/^Global Plugins:[[:space:]]*//p')
[ -f "$plugins/epan/rpcrdma.so" ] || fail "no plugin in $plugins"
echo "plugin: $plugins/epan/rpcrdma.so"
tshark -r "$capture" -2 -Y rpcordma.cm.version -T fields -e frame.number -e rpcordma.cm.send_size -e rpcordma.cm.receive_size >/tmp/decoded 2>/tmp/said
printf '1\t4096\t4096\n2\t4096\t4096\n' | cmp - /tmp/decoded || fail "decoded: $(cat /tmp/decoded /tmp/said)"
tshark -r "$capture" -2 -Y 'rpcordma.finding == "inline-threshold-exceeded"' -T fields -e frame.number 2>/dev/null | grep -qx 10 ||
  fail "tshark shows no finding"
echo "tshark decodes: private data in frames 1 and 2, inline-threshold-exceeded in frame 10"

# The library: its example, as anybody would build it.
quietly apt-get -y -q --no-install-recommends install g++ cmake make libpcap-dev
cp -r /usr/share/doc/librpcrdma-dev/examples /tmp/example
quietly cmake -S /tmp/example -B /tmp/example/build
quietly cmake --build /tmp/example/build
/tmp/example/build/collector "$capture" >/tmp/collected && fail "a mount that is down is none"
grep -q '^inline-threshold-exceeded connection 1 frame 10' /tmp/collected || fail "$(cat /tmp/collected)"
echo "library: the example finds inline-threshold-exceeded in frame 10"

# Nothing stays behind.
quietly apt-get -y -q purge "${names[@]}"
quietly apt-get -y -q autoremove --purge tshark g++ cmake make libpcap-dev
find / -xdev \( -path /proc -o -path /tmp -o -path "$PWD" -o -path /var \) -prune -o -print | grep -i rpcrdma && fail "left behind"
find /var/lib/dpkg -name '*rpcrdma*' | grep . && fail "left behind"
echo "purged: nothing of it is left"
