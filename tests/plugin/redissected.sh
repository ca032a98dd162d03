#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# redissected.sh: Wireshark's window (on a virtual screen) knows the end of a file. Its `-z rpcrdma,mounts` prints what is known each
# time that the clock draws it: while frames come, that is nothing, and it must not end their being looked at; and when all
# frames are dissected anew, because one is ignored, all is known again. RPCRDMA_PLUGIN names the plugin, as for
# cmake/tshark-with-plugin.
set -euo pipefail
# shellcheck source=tests/plugin/screen.sh
. "$(dirname "$(readlink -f "$0")")/screen.sh"
capture=$tree/captures/kernel/rxe-nfs41-basic.pcap
sentence=$("$tree/cmake/tshark-with-plugin" -2 -q -r "$capture" -z rpcrdma,mounts | tail -n 1)
case $sentence in *calls*) ;; *) echo "no sentence about the mount: $sentence"; exit 1 ;; esac
start_screen 1200 760
# comes TEXT TIMES: until that has been printed so many times.
comes() {
  for _ in $(seq 100); do
    [ "$(grep -cF -- "$1" "$screen_folder/said" || true)" -lt "$2" ] || return 0
    sleep 0.2
  done
  cat "$screen_folder/said"
  echo "not printed $2 times: $1"
  exit 1
}
ignore_frame() { xdotool windowfocus "$window" mousemove 300 160 click 1; sleep 1; xdotool key ctrl+d; }

echo "a file, its frames anew, and the file anew"
start_wireshark /dev/null "$(basename "$capture")" -r "$capture" -z rpcrdma,mounts </dev/null
comes "$sentence" 1
ignore_frame
comes "$sentence" 2
xdotool key ctrl+r
comes "$sentence" 3
end_wireshark

echo "frames that come slowly"
mkfifo -m 666 "$screen_folder/frames"
chmod 755 "$screen_folder"
(
  exec 3>"$screen_folder/frames"
  head -c 3000 "$capture" >&3
  sleep 8
  tail -c +3001 "$capture" >&3
) &
start_wireshark /dev/null frames -k -i "$screen_folder/frames" -z rpcrdma,mounts </dev/null
comes "not known" 1
comes "Capture stopped" 1
sleep 2
ignore_frame
comes "$sentence" 1
end_wireshark
