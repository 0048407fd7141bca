#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Suspend and resume under streams, waiting readers, and a SrcAvail that no program reads.
# All processes and the freezable kernel threads stop. The kernel's test mode (/sys/power/pm_test)
# is used, without devices, since the virtual machine has its files from a device. Connections
# survive, and the scanner, which has to find the SrcAvail, continues.
. "$(dirname "$0")/../lib/lib.sh" streams

rehearsal=/sys/power/pm_test
delay=/sys/module/suspend/parameters/pm_test_delay
grep -qsw freezer $rehearsal && grep -qw freeze /sys/power/state ||
	tap_skip_all "this kernel cannot be suspended, or not for a rehearsal"
advertised=$((1 << 17))

cleanup write_file none $rehearsal
keeps /proc/sys/net/sdp/scan_ms

# suspended: for two seconds.
suspended() { echo freezer >$rehearsal && echo freeze >/sys/power/state; }

# srcavail_begin: a large write whose reader does something else.
srcavail_begin() {
	listens idle "$SDP_B" accept wait "$peers/read" scans recv $advertised hold
	# The write has no room in the send buffer (SO_SNDBUF is 7), so it waits.
	peer writer pieces $advertised option 1 7 16384 connect "$SDP_B" $port send $advertised \
		say sent hold
}

srcavail_end() {
	check "$1: the scanner has found the SrcAvail" says writer $patience sent
	touch "$peers/read"
	# On a busy host, the streams' readers may be late as well.
	check "$1: it fired once" says idle $patience "scans fired 1"
	check "$1: the bytes are there" says idle $patience "received $advertised"
	rm -f "$peers/read"
	peers_end writer idle
}

# A reader with a time limit: the freezer, which wakes all waiters, interrupts the call, or it waits
# to its end; the same must happen with TCP, which runs beside it.
wait_begin() {
	local tcp
	for tcp in "" tcp; do
		next_port
		peer quiet$tcp $tcp bind "${addresses[-1]}" $port listen 5 say up accept hold
		says quiet$tcp $patience up >/dev/null
		peer waits$tcp $tcp open timeouts 10000 connect "${addresses[-1]}" $port wait-out 100 hold
		says waits$tcp $patience connected >/dev/null
	done
}

wait_end() {
	local over="waited|wait-out: EINTR"
	says waits $patience "$over" && says waitstcp $patience "$over" || return
	cmp "$peers/waits" "$peers/waitstcp" || return
	peers_end waits waitstcp quiet quiettcp
}

# round NAME: one suspend and resume, with all checks
round() {
	[ ${#addresses[@]} = 1 ] || srcavail_begin
	wait_begin
	check "$1: suspended, and awake" suspended
	check "$1: the streams go on" streams_move
	check "$1: who waits with a time limit has waited, as with TCP" wait_end
	[ ${#addresses[@]} = 1 ] || srcavail_end "$1"
	check "$1: a connection works" transfer "${addresses[-1]}"
}

[ ! -w $delay ] || { keeps $delay && echo 2 >$delay; }
check "data before" transfer "${addresses[-1]}"
objects=$(counts_at_rest)
echo 500 >/proc/sys/net/sdp/scan_ms
streams_begin
for i in 1 2 3; do
	round "round $i"
done
streams_end
peers_end
check "no socket is left" wait_for $patience no_sockets
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects"
tap_done
