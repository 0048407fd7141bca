# SPDX-License-Identifier: GPL-2.0
# Settings of every machine under QEMU's software emulation.
# Sourced by scripts that boot a kernel.
#
# machine_cpu		argument of -cpu
# machine_parameters	kernel parameters
# tell_tsc_khz		adds the frequency of the guest's clock to the parameters; not for
#			instruction counting
# machine_program NAME	builds selftests/vm/NAME.c, if need be, and prints its path
# machine_cable PATH END	sets $machine_card: a network card at END (1, 2) of a cable; the
#			names of the cable's sockets start with PATH

# Without cmpxchg16b: after it QEMU 7.2 leaves garbage in the flags, and an interrupt at that
# moment crashed about one guest in a hundred. Kernels work without it.
machine_cpu=max,la57=off,cx16=off

# Limits that only a stuck kernel reaches, not one whose virtual CPU the host did not run. The
# runner reads the log by marks, and needs printk.devkmsg and log_buf_len for that.
# An oops ends the machine: the task that it ends may have held locks, and the rest would hang.
machine_parameters="console=ttyS0 panic=-1 oops=panic reboot=t loglevel=6 mitigations=off"
machine_parameters+=" no_timer_check"
machine_parameters+=" tsc=reliable clocksource=tsc random.trust_cpu=on slab_nomerge"
# With the same addresses in each process, the emulator translates code once, not once per process.
# Starting a process then takes at most half of the time.
machine_parameters+=" norandmaps"
machine_parameters+=" printk.devkmsg=on log_buf_len=8M watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60"

# The guest's time stamp counter is the host's, and the guest's kernel must know its frequency. On
# a busy host, the kernel's own measurement against an emulated timer was up to 40 times too low,
# and its clock ran that much too fast. With instruction counting the guest has a counter of its
# own.
tell_tsc_khz() {
	local program
	program=$(machine_program tsc_khz) || return
	machine_parameters+=" tsc_early_khz=$("$program")"
}

# The complete program is moved into its place, as another machine may be starting at the same
# time.
machine_program() {
	local source=$SDP_TOP/selftests/vm/$1.c program=$SDP_TOP/build/vm/$1 new
	if [ ! -x "$program" ] || [ "$source" -nt "$program" ]; then
		mkdir -p "$SDP_TOP/build/vm" && new=$(mktemp -p "$SDP_TOP/build/vm") || return
		cc -O1 -o "$new" "$source" || return
		mv "$new" "$program" || return
	fi
	echo "$program"
}

# A datagram carries one frame, so a frame is lost or delayed only when a machine has no room for
# it. Without a virtio header there are no offloads: each frame is as long as on a real cable.
machine_cable() {
	machine_card=(-netdev "dgram,id=cable,local.type=unix,local.path=$1.$2,remote.type=unix,remote.path=$1.$((3 - $2))"
		-device "virtio-net-pci,netdev=cable,mac=52:54:00:09:02:0$2")
}
