# SPDX-License-Identifier: GPL-2.0-or-later
# Systems of Debian releases, each in a folder of its own, for what has to be tried on another machine. Read by scripts that
# run as root; needs debootstrap.
# shellcheck shell=bash

debian_needs_root() {
  [ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "needs debootstrap (apt-get install debootstrap)" >&2; exit 2; }
}

# The mirror that this machine itself uses has the other releases too.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(SITE) $(COMPONENT) $(CODENAME)' 2>/dev/null |
    awk '$2 == "main" && $3 !~ /-/ { print $1; exit }')
  [ -n "$mirror" ] || { echo "no apt source of this machine serves Debian" >&2; return 1; }
  echo "$mirror"
}

# debian_quietly LOG COMMAND...: what it said stays in the file, and its end is shown when it fails.
debian_quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; echo "failed, see $log" >&2; return 1; }
}

# debootstrap made the few devices that are needed.
debian_enter() {
  mount -t proc proc "$1/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
}
debian_leave() {
  local part
  for part in dev/pts proc; do ! mountpoint -q "$1/$part" || umount "$1/$part"; done
}

# What reaches the mirror here has to reach it there.
debian_network() {
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
  { apt-config dump Acquire::http::Proxy; apt-config dump Acquire::https::Proxy; } >"$1/etc/apt/apt.conf.d/90proxy"
  # A mirror's copy of sid is soon older than it promises to be.
  echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/90valid"
}

# debian_inside ROOT COMMAND: in a clean environment, with nothing of this machine but the terminal's kind.
debian_inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    TERM="${TERM:-dumb}" chroot "$1" nice /bin/bash -c "$2" </dev/null
}

# debian_bare ROOT SUITE: a system with nothing in it, made once and kept as ROOT.tar. Entered.
debian_bare() {
  local root=$1 suite=$2 mirror
  debian_leave "$root"
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  if [ ! -f "$root.tar" ]; then
    mirror=$(debian_mirror) || return 1
    debian_quietly "$root-debootstrap.log" debootstrap --variant=minbase "$suite" "$root" "$mirror" || return 1
    tar -C "$root" --one-file-system -cf "$root.tar.part" . && mv "$root.tar.part" "$root.tar"
  else
    tar -C "$root" -xf "$root.tar"
  fi
  debian_network "$root"
  debian_enter "$root"
}

# debian_with ROOT SUITE PACKAGE...: a system with these packages, kept as long as it shall have the same. Entered.
debian_with() {
  local root=$1 suite=$2 stamp=$1.packages
  shift 2
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$*" ] && [ -d "$root/usr" ]; then
    debian_leave "$root"
    debian_network "$root"
    debian_enter "$root"
    return 0
  fi
  rm -f "$stamp"
  debian_bare "$root" "$suite" || return 1
  debian_quietly "$root-packages.log" debian_inside "$root" \
    "apt-get -q update && apt-get -y -q --no-install-recommends install $* && apt-get clean" || return 1
  echo "$*" >"$stamp"
}

# debian_builder FOLDER SUITE: the system in FOLDER/builder-SUITE, with what it takes to build and to pack. Entered. Whoever
# reads this has read cmake/packages.sh.
debian_builder() {
  debian_with "$1/builder-$2" "$2" "${BUILD_PACKAGES[@]}" dpkg-dev lintian ccache git ca-certificates python3
}
