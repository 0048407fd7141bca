# SPDX-License-Identifier: GPL-2.0
# Sourced by what boots a kernel under QEMU's software emulation: what every such machine has.
#
# machine_cpu		for -cpu
# machine_parameters	of the kernel
# tell_tsc_khz		adds to them how fast the guest's clock is, unless instructions are counted
# machine_program NAME	makes selftests/vm/NAME.c, if need be, and prints where the program is
# machine_cable PATH END	sets $machine_card: a network card at END (1, 2) of a cable, of which PATH
#			is the beginning of the names of its sockets

# No cmpxchg16b: QEMU 7.2 leaves garbage in the flags after it, and an interrupt at that moment
# ended one guest in about a hundred. Kernels do without.
machine_cpu=max,la57=off,cx16=off

# Limits that only a stuck kernel reaches, not one whose virtual CPU the host left
# waiting; printk.devkmsg and log_buf_len serve the runner, which reads the log by marks.
machine_parameters="console=ttyS0 panic=-1 reboot=t loglevel=6 mitigations=off no_timer_check"
machine_parameters+=" tsc=reliable clocksource=tsc random.trust_cpu=on slab_nomerge"
# At the same addresses in each process, code is translated once and not for each process: starting
# one then takes half of the time, or less.
machine_parameters+=" norandmaps"
machine_parameters+=" printk.devkmsg=on log_buf_len=8M watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60"

# The guest's time stamp counter is the host's, and its kernel has to know how fast that is: on
# a busy host its own measurement against an emulated timer was up to 40 times too low, and its
# clock ran so many times too fast until it ended. With -i it has a counter of its own.
tell_tsc_khz() {
	local program
	program=$(machine_program tsc_khz) || return
	machine_parameters+=" tsc_early_khz=$("$program")"
}

# Moved into its place when it is complete: another machine may be starting meanwhile.
machine_program() {
	local source=$SDP_TOP/selftests/vm/$1.c program=$SDP_TOP/build/vm/$1 new
	if [ ! -x "$program" ] || [ "$source" -nt "$program" ]; then
		mkdir -p "$SDP_TOP/build/vm" && new=$(mktemp -p "$SDP_TOP/build/vm") || return
		cc -O1 -o "$new" "$source" || return
		mv "$new" "$program" || return
	fi
	echo "$program"
}

# A datagram is a frame, so nothing is lost or delayed but what a machine has no room for. Without a
# virtio header there are no offloads: each frame is as long as on a real cable.
machine_cable() {
	machine_card=(-netdev "dgram,id=cable,local.type=unix,local.path=$1.$2,remote.type=unix,remote.path=$1.$((3 - $2))"
		-device "virtio-net-pci,netdev=cable,mac=52:54:00:09:02:0$2")
}
