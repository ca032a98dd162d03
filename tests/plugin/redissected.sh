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
printed() { grep -cF -- "$1" "$screen_folder/said" || true; }
# comes TEXT TIMES [SECONDS]: whether that has been printed so many times before the time is over.
comes() {
  for _ in $(seq $((${3:-60} * 5))); do
    [ "$(printed "$1")" -lt "$2" ] || return 0
    sleep 0.2
  done
  return 1
}
must_come() { comes "$@" || { cat "$screen_folder/said"; echo "not printed $2 times: $1"; exit 1; }; }
# again STEP...: until the sentence is printed once more than before; a busy machine loses keys.
again() {
  local before
  before=$(printed "$sentence")
  for _ in $(seq 6); do
    "$@"
    ! comes "$sentence" $((before + 1)) 8 || return 0
  done
  must_come "$sentence" $((before + 1)) 1
}
# Some frame, whichever the list shows there when it is clicked on, is ignored: a sentence without it. Then none is.
ignore_frame() {
  xdotool windowfocus "$window" mousemove 300 160 click 1; sleep 1
  xdotool key ctrl+d; sleep 1
  xdotool key ctrl+alt+d
}
reload_file() { xdotool windowfocus "$window" key ctrl+r; }

echo "a file, its frames anew, and the file anew"
start_wireshark /dev/null "$(basename "$capture")" -r "$capture" -z rpcrdma,mounts </dev/null
must_come "$sentence" 1
again ignore_frame
again reload_file
end_wireshark

echo "frames that come slowly"
mkfifo -m 666 "$screen_folder/frames"
chmod 755 "$screen_folder"
(
  exec 3>"$screen_folder/frames"
  head -c 3000 "$capture" >&3
  comes "not known" 1 || true
  tail -c +3001 "$capture" >&3
) &
start_wireshark /dev/null frames -k -i "$screen_folder/frames" -z rpcrdma,mounts </dev/null
must_come "not known" 1
must_come "Capture stopped" 1
again ignore_frame
end_wireshark
