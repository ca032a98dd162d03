# SPDX-License-Identifier: GPL-2.0-or-later
# For scripts that source it: Wireshark's window with the plugin and the profile, on a virtual screen.
# shellcheck shell=bash
tree=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
screen_folder=$(mktemp -d)
screen_process='' wireshark_process=''
end_wireshark() {
  [ -z "$wireshark_process" ] || kill "$wireshark_process" 2>/dev/null || true
  [ -z "$wireshark_process" ] || wait "$wireshark_process" 2>/dev/null || true
  wireshark_process=''
}
leave_screen() {
  end_wireshark
  [ -z "$screen_process" ] || kill "$screen_process" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$screen_folder"
}
trap leave_screen EXIT

# start_screen WIDTH HEIGHT
start_screen() {
  screen_width=$1 screen_height=$2
  # It chooses a free number itself, and does not begin anew when the first program leaves it: Wireshark may come just then.
  Xvfb -displayfd 3 -noreset -screen 0 "$1x$2x24" -nolisten tcp 3>"$screen_folder/display" 2>"$screen_folder/screen.log" &
  screen_process=$!
  for _ in $(seq 600); do [ ! -s "$screen_folder/display" ] || break; sleep 0.1; done
  [ -s "$screen_folder/display" ] || { cat "$screen_folder/screen.log"; echo "no virtual screen"; exit 1; }
  DISPLAY=:$(cat "$screen_folder/display")
  export DISPLAY
}

# start_wireshark PICTURE TITLE ARGUMENT...: waits for a window with TITLE in its name, leaves its number in $window. Lines of
# "recent" settings come from standard input. PICTURE is taken when no window comes.
start_wireshark() {
  local picture=$1 title=$2
  shift 2
  mkdir -p "$screen_folder/recent"
  # Widths of window and columns are what Wireshark remembers of earlier use.
  cat >"$screen_folder/recent/recent_common" <<END
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: $screen_width
gui.geometry_main_height: $screen_height
gui.geometry_main_maximized: FALSE
END
  cat >"$screen_folder/recent/recent"
  RPCRDMA_PROGRAM=wireshark RPCRDMA_RECENT=$screen_folder/recent XDG_RUNTIME_DIR='' QT_LOGGING_RULES='*=false' \
    "$tree/cmake/tshark-with-plugin" -C 'NFS over RDMA' "$@" >"$screen_folder/said" 2>&1 &
  wireshark_process=$!
  window=
  for _ in $(seq 300); do
    window=$(xdotool search --onlyvisible --name "$title" 2>/dev/null | head -n 1) || true
    [ -z "$window" ] || break
    kill -0 "$wireshark_process" 2>/dev/null || break
    sleep 0.2
  done
  [ -n "$window" ] || { cat "$screen_folder/said"; echo "Wireshark's window does not come"; import -window root "$picture" || true; exit 1; }
  sleep 2
}

# take_picture PICTURE: of the whole screen. Wireshark has to live, and must not have complained.
take_picture() {
  kill -0 "$wireshark_process" || { cat "$screen_folder/said"; echo "Wireshark is gone"; exit 1; }
  import -window root +dither -colors 64 -define png:compression-level=9 "png8:$1"
  # (Wireshark speaks of wireless capture devices where it has none)
  if grep -v 'nl80211' "$screen_folder/said"; then echo "Wireshark complains"; exit 1; fi
}
