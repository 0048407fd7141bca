#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# /init of the VM's initramfs.
# It mounts the host's root (9p, read-only) with a tmpfs overlay and the run directory (9p,
# writable), then executes the run directory's `init`.
b=/bin/busybox

give_up() {
	echo "initramfs: $*"
	$b poweroff -f
}

$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for m in /modules/*; do
	[ ! -f "$m" ] || $b insmod "$m" || echo "initramfs: cannot insert $m"
done

p9=trans=virtio,version=9p2000.L,msize=524288
$b mount -t 9p -o $p9,ro,cache=loose root /lower || give_up "cannot mount the host's root"
$b mount -t tmpfs -o size=70% tmpfs /rw || give_up "cannot mount a tmpfs"
$b mkdir /rw/upper /rw/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work overlay /new ||
	give_up "cannot mount the overlay"
$b mkdir -p /new/sdp-run
$b mount -t 9p -o $p9 run /new/sdp-run || give_up "cannot mount the run directory"
for d in proc sys dev; do
	$b mount -o move /$d /new/$d
done
exec $b switch_root /new /bin/bash /sdp-run/init
