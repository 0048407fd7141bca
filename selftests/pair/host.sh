# SPDX-License-Identifier: GPL-2.0
# Control of the machine at the other end, on behalf of the test. Sourced by run.sh.
# The test asks by a file in its run directory ("NUMBER WHAT"), and gets the answer in another one
# ("NUMBER STATUS TEXT").
#
# serve RUNNER	answers as long as process RUNNER lives; see carry_out() for the requests

machine_pid='' run='' starts=0

# machine_boot [QEMU-OPTION...]: starts the machine
machine_boot() {
	starts=$((starts + 1))
	console=$run/other-$starts.log
	rm -f "$files/monitor"
	mkfifo "$files/monitor"
	machine_cable "$cable" 2
	setpriv --pdeathsig KILL qemu-system-x86_64 -accel tcg,tb-size=256 -cpu "$machine_cpu" -smp 1 -m 768M \
		-display none -nodefaults -no-reboot -monitor stdio -serial "file:$console" \
		-device virtio-rng-pci -device vmgenid,guid=auto "${machine_card[@]}" \
		-kernel "$kernel/boot/vmlinuz" -initrd "$image" -append "$machine_parameters" "$@" \
		<"$files/monitor" >"$run/other-$starts.monitor" 2>&1 &
	machine_pid=$!
	# QEMU reads commands from the FIFO until its end; keeping it open lets more than one
	# command through.
	exec 8>"$files/monitor"
}

machine_kill() {
	[ -n "$machine_pid" ] || return 0
	kill -KILL "$machine_pid" 2>/dev/null || true
	wait "$machine_pid" 2>/dev/null || true
	machine_pid=''
}

tell_monitor() { echo "$1" >&8; }

# The test's machine continues meanwhile, and this machine continues afterwards.
machine_save() {
	rm -f "$files/snapshot"
	tell_monitor "migrate \"exec:cat >$files/snapshot.part && mv $files/snapshot.part $files/snapshot\""
	for _ in {1..600}; do
		[ ! -e "$files/snapshot" ] || { tell_monitor cont; return; }
		sleep 0.1
	done
	echo "no snapshot within 60 s: $(tail -n 1 "$run/other-$starts.monitor")"
	return 1
}

# The generation ID changes each time, as a hypervisor must do it.
machine_restore() {
	machine_kill
	machine_boot -incoming "exec:cat $files/snapshot"
}

# carry_out WHAT: executes a request, and prints the text of the answer
carry_out() {
	case $1 in
	start)		machine_boot ;;
	pause)		tell_monitor stop ;;
	resume)		tell_monitor cont ;;
	# The machine is not told of its pause, so its clock leaps.
	freeze)		kill -STOP "$machine_pid" ;;
	thaw)		kill -CONT "$machine_pid" ;;
	kill)		machine_kill ;;
	save)		machine_save ;;
	restore)	machine_restore ;;
	*)		echo "cannot $1"; return 1 ;;
	esac
}

serve() {
	local number what answered=0 status
	until [ -e "$last/ask" ]; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.2
	done
	run=$(realpath "$last")
	while kill -0 "$1" 2>/dev/null; do
		number='' what=''
		read -r number what <"$run/ask" || true
		if [ -n "$number" ] && [ "$number" != "$answered" ]; then
			status=0
			carry_out "$what" >"$files/said" 2>&1 || status=$?
			echo "$number $status $(tail -n 1 "$files/said")" >"$run/answer.part"
			mv "$run/answer.part" "$run/answer"
			answered=$number
		fi
		sleep 0.1
	done
}
