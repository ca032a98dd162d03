#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# windows.sh FOLDER: opens each of Wireshark's windows that shows what the plugin tells (on a virtual screen) and takes a
# picture of it, FOLDER/wireshark-NAME.png. Fails when a window does not come. RPCRDMA_PLUGIN names the plugin, as for
# cmake/tshark-with-plugin.
set -euo pipefail
# shellcheck source=tests/plugin/screen.sh
. "$(dirname "$(readlink -f "$0")")/screen.sh"
folder=$(realpath -m "$1")
capture=$tree/captures/kernel/rxe-nfs41-reconnect.pcap
start_screen 1200 760

# The menus' entries are found by their places: what Wireshark 4.0 puts there.
keys() { xdotool key Escape mousemove 400 300 click 1 key "$1"; sleep 1; shift; xdotool key "$@"; }
flow_type() { xdotool mousemove "$1" "$2" click 1; sleep 1; xdotool type NFS; xdotool key Return; sleep 2; }

# find_window TITLE: the number of the window whose name has TITLE, when it is there within twenty seconds.
find_window() {
  for _ in $(seq 100); do
    local number
    number=$(xdotool search --onlyvisible --name "$1" 2>/dev/null | head -n 1) || true
    [ -z "$number" ] || { echo "$number"; return; }
    sleep 0.2
  done
}

# show NAME TITLE STEPS [ARGUMENT...]: the window whose name has TITLE, after STEPS in the main window. When it does not come,
# Wireshark is started again: on a busy machine keys are lost while it builds its menus, and what the others opened is in the way.
show() {
  local name=$1 title=$2 steps=$3 found=
  shift 3
  echo "$name"
  for _ in $(seq 5); do
    start_wireshark "$folder/wireshark-$name.png" "$(basename "$capture")" -r "$capture" "$@" <"$tree/plugin/profile/NFS over RDMA/recent"
    eval "$steps"
    found=$(find_window "$title")
    [ -z "$found" ] || break
    import -window root "$folder/wireshark-$name.png"
    end_wireshark
  done
  [ -n "$found" ] || { echo "no window called $title"; exit 1; }
  xdotool windowmove "$found" 60 60 windowsize "$found" 1080 560
  sleep 2
  [ "$name" != flow ] || flow_type 640 560
  take_picture "$folder/wireshark-$name.png"
  end_wireshark
}

show mounts 'NFS over RDMA mounts' true -z rpcrdma,table-of-mounts
show connections 'NFS over RDMA connections' true -z rpcrdma,connections
show conversations Conversations 'keys alt+s Down Down Down Return'
show flow Flow 'keys alt+s Up Up Up Up Up Up Up Up Up Up Up Up Return'
show objects Export 'keys alt+f Up Up Up Right Down Down Down Down Return'
show graphs 'I/O Graph' 'keys alt+s Down Down Down Down Down Down Return'
