#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A CPU goes offline and online again, repeatedly, under streams and connects.
# By loopback and by RDMA: no stream stops, no byte is wrong, no timer of that CPU is lost, no
# counter loses what that CPU has counted, and at the end nothing is left.
. "$(dirname "$0")/../lib/lib.sh" streams

cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || tap_skip_all "no processor that can be taken away"
rounds=$((8 / slow))
! short_form || rounds=2
left_out "a processor goes and comes back twice"

fin_timeout=/proc/sys/net/sdp/fin_timeout_ms
keeps $cpu $fin_timeout

# grown: counters that only grow, summed over all CPUs, online or not.
grown() { grep -E '^((Msgs|Bytes)(Sent|Received)|(Active|Passive)Opens) ' /proc/net/sdpstat | sort; }

not_less() { join <(echo "$1") <(grown) | awk '$3 < $2 { print; bad = 1 } END { exit bad || NR < 6 }'; }

# waits_begin: receive calls with a time limit start on that CPU, and so do their connections'
# timers.
waits_begin() {
	local address i=0
	for address in "${addresses[@]}"; do
		listens "quiet$i" "$address" accept hold
		peer_on=2 peer "waits$i" open timeouts 1500 connect "$address" $port wait-out 100 hold
		says "waits$i" $patience connected || return
		i=$((i + 1))
	done
}

# waits_end: the calls end on another CPU. Each killed process leaves an orphan, which has a timer,
# too.
waits_end() {
	local i
	for ((i = 0; i < ${#addresses[@]}; i++)); do
		says "waits$i" $patience waited || return
		peers_end "waits$i" "quiet$i"
	done
}

# moves WHICH 0|1: takes the CPU offline or online
moves() {
	local before
	before=$(grown)
	echo "$2" >$cpu || return
	not_less "$before" || { echo "counters have lost something, $1"; return 1; }
	streams_move || { echo "a stream stands still, $1"; return 1; }
}

round() {
	waits_begin || return
	moves "without the processor" 0 || return
	waits_end || { echo "a time limit was missed"; return 1; }
	transfer "${addresses[-1]}" || { echo "no connection without the processor"; return 1; }
	moves "with it again" 1
}

# connects_begin: processes that connect all the time.
connects_begin() {
	local address i=0
	for address in "${addresses[@]}"; do
		next_port
		victim "greeter$i" greet "$address" $port
		says "greeter$i" $patience up >/dev/null
		victim "hurry$i" hurry "$address" $port 1 10000
		i=$((i + 1))
	done
}

none_wrong() { ! grep -H wrong "$peers"/hurry* "$peers"/greeter*; }

check "data before" transfer "${addresses[-1]}"
objects=$(counts_at_rest)
echo 2000 >$fin_timeout
streams_begin
connects_begin
opened=$(sdpstat PassiveOpens)
for ((i = 1; i <= rounds; i++)); do
	check "round $i of $rounds" round
done
opened=$(($(sdpstat PassiveOpens) - opened))
check "others have connected all the while" [ $opened -gt $((10 * rounds)) ]
echo "# $opened connections in $rounds rounds"
check "none of them failed" none_wrong
streams_end
peers_end
check "no socket is left" wait_for $patience no_sockets
check "no connection is counted that is none" wait_for $patience eval '[ $(sdpstat CurrEstab) = 0 ]'
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects"
tap_done
