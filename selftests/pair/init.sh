#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# /init of the machine at the other end: an RDMA device on the cable, the module, and a shell.
# The test reaches the shell by TCP, and controls this machine with it.
busybox=/bin/busybox
for name in $($busybox --list); do
	[ -e "/bin/$name" ] || $busybox ln -s busybox "/bin/$name"
done
export PATH=/bin PEER_SECONDS=900
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do
	insmod "$module" || echo "other: cannot insert $module"
done
hostname other
ulimit -l unlimited
ip link set lo up
ip link set eth0 mtu 4200 up
ip address add 10.9.2.2/24 dev eth0
# A permanent entry, as this machine cannot answer while it stands still. The shell would use its
# built-in ip, which lacks this command.
/bin/ip neighbour replace 10.9.2.1 lladdr 52:54:00:09:02:01 dev eth0 nud permanent
rdma link add rxp type rxe netdev eth0 && insmod /sdp.ko && echo "other: ready"
exec nc -ll -p 9 -e /bin/sh
