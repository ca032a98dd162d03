#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh CACHE: makes the guest system in CACHE: guest.img (ext4), vmlinuz, initrd.img. Needs root. Each step leaves a stamp, so
# that a run that was cut short goes on where it stopped; removing CACHE begins anew.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cache=$1
root=$cache/root
# The mirror that this machine itself uses for bookworm.
mirror=${LAB_MIRROR:-$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 2>/dev/null |
  awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')}
[ -n "$mirror" ] || { echo "guest.sh: no apt source of this machine serves bookworm; name a mirror in LAB_MIRROR" >&2; exit 2; }
log=$cache/guest.log
mkdir -p "$cache"

# kmod..zstd: what boots; nfs..tcpdump: what is recorded; g++..: what builds the peers and soft-iWARP.
packages=(kmod iproute2 initramfs-tools busybox zstd ca-certificates
  nfs-kernel-server nfs-common rpcbind rdma-core ibverbs-providers tcpdump
  g++ make xz-utils libibverbs-dev librdmacm-dev)

say() { printf '== guest: %s\n' "$1"; }

quietly() {
  if ! "$@" </dev/null >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "guest.sh: \"$*\" failed; the whole story is in $log" >&2
    return 1
  fi
}

inside() {
  quietly env LC_ALL=C DEBIAN_FRONTEND=noninteractive INITRD="${INITRD:-}" chroot "$root" "$@"
}

release_mounts() {
  ! mountpoint -q "$root/proc" || umount "$root/proc"
}
trap release_mounts EXIT

# done_once STAMP: is there something to do for this step?
wanted() { [ ! -e "$cache/stamp.$1" ]; }
finished() { touch "$cache/stamp.$1"; }

if wanted base; then
  say "a minimal Debian 12 by debootstrap"
  release_mounts
  rm -rf "$root"
  include=$(IFS=,; echo "${packages[*]}")
  quietly debootstrap --variant=minbase --include="$include" bookworm "$root" "$mirror"
  finished base
fi

mkdir -p "$root/proc"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"

if wanted kernel; then
  say "the kernel of bookworm-backports, its headers and its source"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no daemon starts in here
  chmod 755 "$root/usr/sbin/policy-rc.d"
  echo "deb $mirror bookworm-backports main" >"$root/etc/apt/sources.list.d/backports.list"
  # A small initrd: only what finds the disk. The rest is loaded from the disk.
  sed -i 's/^MODULES=.*/MODULES=list/' "$root/etc/initramfs-tools/initramfs.conf"
  printf 'virtio_pci\nvirtio_blk\next4\n' >"$root/etc/initramfs-tools/modules"
  inside apt-get -q update
  inside apt-get -q -y --no-install-recommends -t bookworm-backports install linux-image-amd64 linux-headers-amd64
  finished kernel
fi

if wanted siw; then
  kernel=$(basename "$(echo "$root"/lib/modules/*)")
  say "soft-iWARP as a module for $kernel: Debian leaves it out"
  # shellcheck disable=SC2016  # dpkg-query expands it
  version=$(chroot "$root" dpkg-query -W -f='${Version}' linux-image-amd64)
  series=${version%%-*}
  series=${series%.*}
  inside sh -c "cd /usr/src && apt-get -q download linux-source-$series=$version"
  rm -rf "$root/usr/src/siw"
  mkdir -p "$root/usr/src/siw"
  dpkg-deb --fsys-tarfile "$root"/usr/src/linux-source-"$series"_*.deb |
    tar -xO "./usr/src/linux-source-$series.tar.xz" |
    tar -xJ -C "$root/usr/src/siw" --strip-components=5 "linux-source-$series/drivers/infiniband/sw/siw"
  inside make -C "/lib/modules/$kernel/build" M=/usr/src/siw CONFIG_RDMA_SIW=m modules
  install -D -m 644 "$root/usr/src/siw/siw.ko" "$root/lib/modules/$kernel/updates/siw.ko"
  inside depmod "$kernel"
  rm -f "$root"/usr/src/linux-source-*.deb
  inside apt-get clean
  finished siw
fi

if wanted image || [ "$here/guest-init" -nt "$cache/guest.img" ]; then
  say "the disk image"
  kernel=$(basename "$(echo "$root"/lib/modules/*)")
  cp "$root/boot/vmlinuz-$kernel" "$cache/vmlinuz"
  cp "$root/boot/initrd.img-$kernel" "$cache/initrd.img"
  install -m 755 "$here/guest-init" "$root/sbin/lab-init"
  mkdir -p "$root/share" "$root/export" "$root/mnt/nfs"
  release_mounts
  rm -f "$cache/guest.img"
  quietly mke2fs -q -t ext4 -O ^has_journal -d "$root" "$cache/guest.img" 3G
  finished image
fi
release_mounts
say "ready in $cache ($(du -sh --apparent-size "$root" | cut -f1) of files)"
