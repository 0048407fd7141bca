#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# boot.sh [OPTION...] KERNEL SCRIPT [ARGUMENT...]: runs SCRIPT as root in a VM with KERNEL.
#
# KERNEL is 6.1, 6.12, debug, 7.3, or a directory as scripts/kernels.sh prints it. The VM is QEMU's
# software emulation. The guest's root file system is the host's, with a tmpfs on top: every file
# has the same path as on the host. What the guest writes is lost at the end, except in the run
# directory, which is shared and writable.
#
#	-i		instruction counting: guest time is 1 ns per instruction, for figures
#			that do not depend on the host's load; finds few races
#	-c CPUS		number of virtual CPUs (2)
#	-s		the virtual CPUs run by turns, in one thread of the host
#	-m MEMORY	memory (2G, debug 3G)
#	-t SECONDS	time limit for the whole run (300)
#	-a CMDLINE	more kernel parameters
#	-n PATH		a network card, end 1 of the cable PATH (machine.sh)
#	-e VAR=VALUE	environment of SCRIPT, may be repeated
#	-d DIRECTORY	run directory; by default a new one in build/vm, which keeps the last 10
#
# SCRIPT's output is printed as it comes. SCRIPT finds the run directory in $SDP_RUN and may leave
# files there; console.log there is the kernel's log.
#
# Exit status: SCRIPT's; 124 after the time limit; 99 when the guest died; 98 when it could not be
# started.
#
# Environment:
# - SDP_BOOT_SECONDS: processor time that a boot may take before the guest is started again (180;
#   debug three times that).
# - SDP_VM_LOCK: name of the lock to wait for. Only one VM runs at a time, and others wait for its
#   lock. A VM in which nothing is measured may name another lock to run at the same time.
# - SDP_TURNS=1: -s for every machine.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
. "$here/machine.sh"
runs=$SDP_TOP/build/vm
keep_runs=10

usage() { sed -n '3,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2; exit 98; }

cannot() { say "error: $*"; exit 98; }

cpus=2 memory='' limit=300 cmdline='' run='' icount=0 turns=${SDP_TURNS:-} guest_env=() machine_card=()
while getopts isc:m:t:a:n:e:d: option; do
	case $option in
	i)	icount=1 ;;
	s)	turns=1 ;;
	c)	cpus=$OPTARG ;;
	m)	memory=$OPTARG ;;
	t)	limit=$OPTARG ;;
	a)	cmdline=$OPTARG ;;
	n)	machine_cable "$OPTARG" 1 ;;
	e)	guest_env+=("$OPTARG") ;;
	d)	run=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
kernel=$1 script=$2
shift 2

[ -d "$kernel" ] || kernel=$("$SDP_TOP/scripts/kernels.sh" "$kernel")
kernel=$(realpath "$kernel")
[ -e "$kernel/boot/vmlinuz" ] ||
	cannot "$kernel holds no boot/vmlinuz; make one with scripts/kernels.sh"
release=$(basename "$kernel"/lib/modules/*)
[ -f "$script" ] || cannot "no script $script"
script=$(realpath "$script")

debug=0 boot_seconds=${SDP_BOOT_SECONDS:-180}
! grep -qs '^CONFIG_KASAN=y' "$kernel/build/.config" || { debug=1 boot_seconds=$((boot_seconds * 3)); }

if [ $debug = 1 ]; then
	memory=${memory:-3G}
	# With KASAN, ACPI's interrupt routing tables take minutes, and nothing here needs them.
	machine_parameters+=" acpi=noirq kasan_multi_shot workqueue.watchdog_thresh=60"
fi
memory=${memory:-2G}

# On a busy host, virtual CPUs spend much time in spinlocks that are held by virtual CPUs which the
# host does not run. With -s this cannot happen, but fewer races occur.
thread=multi
[ "$turns" != 1 ] || thread=single
accel=(-accel "tcg,thread=$thread,tb-size=512")
if [ "$icount" = 1 ]; then
	accel=(-accel tcg,thread=single,tb-size=512 -icount shift=0,sleep=off)
	# With instruction counting, 6.1 with two virtual CPUs stops early in its boot.
	[[ $release != 6.1.* ]] || cpus=1
else
	# The emulator executes "rep movsb" byte by byte. Without ERMS, kernels copy and clear 8
	# bytes at a time. Instruction counting (-i) keeps ERMS, as any current machine has it.
	machine_cpu+=,erms=off
fi

[ "$icount" = 1 ] || [ "$(uname -m)" != x86_64 ] || tell_tsc_khz ||
	cannot "cc fails; run scripts/setup.sh vm"
# Shells in the guest wait with the ticker (process.sh).
machine_program ticker >/dev/null || cannot "cc fails; run scripts/setup.sh vm"

make_run_directory() {
	[ -n "$run" ] || run=$runs/$(date +%Y%m%d-%H%M%S)-$(basename "$script" .sh)-$$
	mkdir -p "$run"
	run=$(realpath "$run")
	rm -f "$run/status" "$run/done" "$run/boot-seconds" "$run"/console-*.log
	: >"$run/console.log"
	cp "$here/boot-init.sh" "$run/init"
	printf 'exec bash %q' "$script" >"$run/cmd"
	[ $# -eq 0 ] || printf ' %q' "$@" >>"$run/cmd"
	echo >>"$run/cmd"
	{
		printf 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'
		printf 'export HOME=/root LANG=C.UTF-8 TERM=dumb SDP_DEBUG=%d\n' $debug
		printf 'export SDP_RUN=%q SDP_TOP=%q\n' "$run" "$SDP_TOP"
		printf 'export SDP_KERNEL=%q SDP_RELEASE=%q SDP_TURNS=%q\n' "$kernel" "$release" "$turns"
		[ ${#guest_env[@]} -eq 0 ] || printf 'export %q\n' "${guest_env[@]}"
	} >"$run/env"
}

# Removes finished runs, except the newest ones and those whose machine died (run.sh). Removes any
# run that is a day old. Younger unfinished runs may be waiting for the lock.
remove_old_runs() {
	local old
	[ -d "$runs" ] || return 0
	find "$runs" -mindepth 2 -maxdepth 2 -name done -printf '%T@ %h\n' | sort -rn |
		tail -n +$((keep_runs + 1)) |
		while read -r _ old; do [ -e "$old/died" ] || rm -rf "$old"; done
	find "$runs" -mindepth 1 -maxdepth 1 -type d -mmin +1440 -exec rm -rf {} +
}

# The lock file names its holder, for the message to those that wait.
take_turn() {
	local lock=$SDP_CACHE/${SDP_VM_LOCK:-vm.lock}
	exec 9>>"$lock"
	if ! flock -n 9; then
		say "waiting for another VM to end: $(cat "$lock")"
		flock 9
	fi
	echo "$(basename "$script") on $release, process $$, since $(date +%T), at most $limit s" >"$lock"
}

start_qemu() {
	local root=local,path=/,security_model=none,multidevs=remap
	local share=local,path=${run//,/,,},security_model=none,multidevs=remap
	exec setpriv --pdeathsig TERM timeout --foreground -k 5 "$limit" qemu-system-x86_64 "${accel[@]}" \
		-cpu "$machine_cpu" -smp "$cpus" -m "$memory" \
		-display none -nodefaults -no-reboot -monitor none \
		-serial "file:$run/console.log" -serial stdio -device virtio-rng-pci \
		-fsdev "$root,id=root,readonly=on" -device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "$share,id=run" -device virtio-9p-pci,fsdev=run,mount_tag=run \
		"${machine_card[@]}" -kernel "$kernel/boot/vmlinuz" -initrd "$initramfs" \
		-append "$machine_parameters $cmdline" </dev/null
}

show_console() {
	say "--- the last lines of $run/console.log"
	tail -n 30 "$run/console.log" | tr -d '\r' >&2
	say "---"
}

for tool in qemu-system-x86_64 busybox modprobe cpio flock; do
	command -v "$tool" >/dev/null || cannot "no $tool here; run scripts/setup.sh vm"
done
initramfs=$("$here/initramfs.sh" "$kernel")
make_run_directory "$@"
qemu=''
end() {
	if [ -n "$qemu" ] && kill "$qemu" 2>/dev/null; then
		wait "$qemu" || true
	fi
	touch "$run/done"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
take_turn
remove_old_runs

# emulator_seconds PID: seconds of processor time that the emulator has used
emulator_seconds() {
	local pid ticks
	pid=$(pgrep -P "$1" -f qemu-system) || { echo 0; return; }
	ticks=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | awk '{ print $12 + $13 }')
	echo $((${ticks:-0} / $(getconf CLK_TCK)))
}

# watch_boot PID: kills a guest that hangs in its boot, so that run_guest's caller starts it again.
# The emulator sometimes hangs there with both processors busy. The limit is in the emulator's own
# processor time, so a busy host does not matter: a boot takes 10 to 20 seconds of it, the debug
# kernel's about 60.
watch_boot() {
	while [ ! -s "$run/boot-seconds" ] && kill -0 "$1" 2>/dev/null; do
		if [ "$(emulator_seconds "$1")" -ge "$boot_seconds" ]; then
			touch "$run/stood-still"
			kill "$1"
			return
		fi
		sleep 2 9>&-
	done
}

# QEMU runs in the background, so that a signal to this script ends the guest at once. If this
# script is killed by SIGKILL, the kernel signals `timeout` (--pdeathsig).
run_guest() {
	local watch
	ended=0
	rm -f "$run/stood-still" "$run/boot-seconds"
	start_qemu &
	qemu=$!
	watch_boot $qemu &
	watch=$!
	wait $qemu || ended=$?
	qemu=''
	kill $watch 2>/dev/null || true
	wait $watch || true
}

# The emulator sometimes crashes a kernel that patches its own code during the boot, long before
# any code of this project runs: int3 in sched_clock_cpu().
crashed_in_boot() {
	[ $ended != 124 ] && [ ! -s "$run/boot-seconds" ] && grep -q '] Oops: int3' "$run/console.log"
}

# emulator_failed: succeeds on the emulator's own faults, which a second try usually does not meet.
# Sets $what to the fault.
emulator_failed() {
	if [ -e "$run/stood-still" ]; then
		what="stood still while it booted"
	elif crashed_in_boot; then
		what="crashed while it booted"
	else
		return 1
	fi
}

start=$SECONDS
run_guest
for try in 2 3; do
	emulator_failed || break
	say "the emulated kernel $what, before any test; try $try of 3"
	mv "$run/console.log" "$run/console-$((try - 1)).log"
	: >"$run/console.log"
	run_guest
done

if [ -s "$run/status" ]; then
	exit "$(cat "$run/status")"
elif [ $ended = 124 ] || [ $((SECONDS - start)) -ge "$limit" ]; then
	say "the guest did not end within $limit s; give it more with -t, or see what it waited for:"
	show_console
	exit 124
elif [ ! -s "$run/boot-seconds" ] && [ ! -s "$run/console.log" ]; then
	cannot "qemu ended with status $ended before the kernel printed anything"
fi
say "the guest died before its script ended:"
show_console
exit 99
