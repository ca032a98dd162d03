#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gui.sh PICTURE.png [CAPTURE FRAME]: opens a capture in Wireshark's window (on a virtual screen) with the plugin and the
# profile, goes to a frame, unfolds what the plugin draws there, and takes a picture. Fails when Wireshark complains or
# its window does not come. RPCRDMA_PLUGIN names the plugin, as for cmake/tshark-with-plugin.
set -euo pipefail
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
picture=$(realpath -m "$1")
capture=$(realpath "${2:-$tree/captures/peers/rxe-upeer-inv-R00.pcap}")
frame=${3:-15}
width=1500 height=1180
folder=$(mktemp -d)
screen_process='' wireshark_process=''
leave() {
  [ -z "$wireshark_process" ] || kill "$wireshark_process" 2>/dev/null || true
  [ -z "$screen_process" ] || kill "$screen_process" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap leave EXIT

# The virtual screen chooses a free number itself, and does not begin anew when the first program leaves it: Wireshark may
# come just then.
Xvfb -displayfd 3 -noreset -screen 0 "${width}x${height}x24" -nolisten tcp 3>"$folder/display" 2>"$folder/screen.log" &
screen_process=$!
for _ in $(seq 100); do [ ! -s "$folder/display" ] || break; sleep 0.1; done
[ -s "$folder/display" ] || { cat "$folder/screen.log"; echo "no virtual screen"; exit 1; }
DISPLAY=:$(cat "$folder/display")
export DISPLAY

# Widths of window and columns are what Wireshark remembers of earlier use.
mkdir "$folder/recent"
cat >"$folder/recent/recent_common" <<END
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: $width
gui.geometry_main_height: $height
gui.geometry_main_maximized: FALSE
END
cat >"$folder/recent/recent" <<'END'
gui.byte_view_show: FALSE
gui.geometry_main_upper_pane: 320
gui.geometry_main_master_split: 320,740
column.width: "%m", 45, "%t", 80, "%s", 100, "%d", 100, "%p", 75, "%L", 60, "%Cus:rpcordma.xid", 100, "%Cus:rpcordma.connection", 90, "%Cus:rpcordma.credit.granted", 65, "%Cus:rpcordma.credit.outstanding", 55, "%Cus:rpcordma.finding", 270, "%i", 385
END
RPCRDMA_PROGRAM=wireshark RPCRDMA_RECENT=$folder/recent XDG_RUNTIME_DIR='' QT_LOGGING_RULES='*=false' \
  "$tree/cmake/tshark-with-plugin" -C 'NFS over RDMA' -g "$frame" -r "$capture" >"$folder/said" 2>&1 &
wireshark_process=$!
window=
for _ in $(seq 300); do
  window=$(xdotool search --onlyvisible --name "$(basename "$capture")" 2>/dev/null | head -n 1) || true
  [ -z "$window" ] || break
  kill -0 "$wireshark_process" 2>/dev/null || break
  sleep 0.2
done
[ -n "$window" ] || { cat "$folder/said"; echo "Wireshark's window does not come"; import -window root "$picture" || true; exit 1; }
sleep 2
# Below InfiniBand stand the message, its octets, and the message with its chunks, which has the finding: the last and the
# first of them are unfolded.
xdotool windowfocus "$window" mousemove 400 500 click 1
xdotool key Home key Down key Down key Down key Down key Down key Down key Down key shift+Right
xdotool key Home key Down key Down key Down key Down key Down key shift+Right
sleep 1
kill -0 "$wireshark_process" || { cat "$folder/said"; echo "Wireshark is gone"; exit 1; }
import -window root +dither -colors 64 -define png:compression-level=9 "png8:$picture"
# (Wireshark speaks of wireless capture devices where it has none)
if grep -v 'nl80211' "$folder/said"; then echo "Wireshark complains"; exit 1; fi
