# SPDX-License-Identifier: GPL-2.0
# PID 1 of the guest.
# boot.sh copies this file to its run directory as `init`, beside `env` (the variables) and `cmd`
# (the command to run). The command's exit status is written to `status`.
cd /
. /sdp-run/env

mkdir -p "$SDP_RUN" "/lib/modules/$SDP_RELEASE"
mount --move /sdp-run "$SDP_RUN"
mount --bind "$SDP_KERNEL/lib/modules/$SDP_RELEASE" "/lib/modules/$SDP_RELEASE"

ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
mount -t tmpfs tmpfs /run
mkdir -p /run/lock /run/netns /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
# configfs is a module on the stock kernels; nothing here needs it where it is missing.
modprobe -q configfs && mount -t configfs configfs /sys/kernel/config

ip link set lo up
echo sdp-vm >/proc/sys/kernel/hostname
ulimit -l unlimited
stty -F /dev/ttyS1 raw -echo

cut -d ' ' -f 1 /proc/uptime >"$SDP_RUN/boot-seconds"
cd "$SDP_TOP"
setsid bash "$SDP_RUN/cmd" </dev/null >/dev/ttyS1 2>&1
echo $? >"$SDP_RUN/status"
sync
busybox reboot -f
