#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gui.sh PICTURE.png [CAPTURE FRAME]: opens a capture in Wireshark's window (on a virtual screen) with the plugin and the
# profile, goes to a frame, unfolds what the plugin draws there, and takes a picture. Fails when Wireshark complains or
# its window does not come. RPCRDMA_PLUGIN names the plugin, as for cmake/tshark-with-plugin.
set -euo pipefail
# shellcheck source=tests/plugin/screen.sh
. "$(dirname "$(readlink -f "$0")")/screen.sh"
picture=$(realpath -m "$1")
capture=$(realpath "${2:-$tree/captures/peers/rxe-upeer-inv-R00.pcap}")
frame=${3:-15}
start_screen 1500 1180
start_wireshark "$picture" "$(basename "$capture")" -g "$frame" -r "$capture" <<'END'
gui.byte_view_show: FALSE
gui.geometry_main_upper_pane: 320
gui.geometry_main_master_split: 320,740
column.width: "%m", 45, "%t", 80, "%s", 100, "%d", 100, "%p", 75, "%L", 60, "%Cus:rpcordma.xid", 100, "%Cus:rpcordma.connection", 90, "%Cus:rpcordma.credit.granted", 65, "%Cus:rpcordma.credit.outstanding", 55, "%Cus:rpcordma.finding", 270, "%i", 385
END
# Below InfiniBand stand the message, its octets, and the message with its chunks, which has the finding: the last and the
# first of them are unfolded.
xdotool windowfocus "$window" mousemove 400 500 click 1
xdotool key Home key Down key Down key Down key Down key Down key Down key Down key shift+Right
xdotool key Home key Down key Down key Down key Down key Down key shift+Right
sleep 1
take_picture "$picture"
