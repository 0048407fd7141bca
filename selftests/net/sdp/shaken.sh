#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A processor goes and comes back, and the clock leaps to and fro, under streams by RDMA and by
# loopback: no byte is wrong, and everything ends. timeout: 240 s; short form: none
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libpeers.sh"
. "$here/../../vm/netlab.sh"
. "$here/../../vm/checks.sh"

[ -n "${SDP_A:-}" ] && lab_intact || tap_skip_all "no RDMA devices rxa and rxb; run it by selftests/vm/run.sh"
cpu=/sys/devices/system/cpu/cpu1/online
settings=/proc/sys/net/sdp
threshold_before=$(<$settings/rdma_threshold)
leapt=0
restore() {
	peers_end
	[ ! -e $cpu ] || echo 1 >$cpu
	date -s "@$(($(date +%s) - leapt))"
	echo "$threshold_before" >$settings/rdma_threshold
}
cleanup restore
echo 16384 >$settings/rdma_threshold

# begin ADDRESS PIECES: a stream that lasts until the file says that it is enough
begin() {
	next_port
	peer "server-$1" bind "$1" $port listen 5 say up accept pieces "$2" drain
	says "server-$1" $patience up || return
	peer "client-$1" connect "$1" $port pieces "$2" flow-until "$peers/go" shutdown drain
	says "client-$1" $patience connected
}

streams=("$SDP_B" "$SDP_B6" 127.0.0.1)

begin_all() {
	begin $SDP_B 65536 && begin $SDP_B6 3000 && begin 127.0.0.1 16384
}

# end_all WHAT: both ends of each stream agree on how much it was
end_all() {
	local stream line
	touch "$peers/go"
	for stream in "${streams[@]}"; do
		check "$1: the stream to $stream ends" over "server-$stream" $((2 * patience))
		over "client-$stream" $patience
		line=$(grep '^sent ' "$peers/client-$stream")
		check "$1: all of it has arrived" printed "server-$stream" "end after ${line#sent } bytes"
	done
	peers_end
	check "$1: nothing is left" wait_for $((2 * patience)) no_sockets
}

processors() {
	local round
	[ -e $cpu ] || { tap_skip "a processor that goes" "there is none that can"; return; }
	begin_all
	for round in {1..6}; do
		echo 0 >$cpu || { tap_not_ok "the processor goes ($round)"; break; }
		check "without the processor ($round): a new connection" transfer $SDP_B
		echo 1 >$cpu
		pause 0.3
	done
	end_all "processors"
}

leap() {
	date -s "@$(($(date +%s) + $1))" >/dev/null
	leapt=$((leapt + $1))
}

clock() {
	local seconds
	begin_all
	# Never beyond the time that it is: the runner would think that the test's is over.
	for seconds in -7200 3600 3600 -31536000 31536000; do
		check "the clock leaps by $seconds s" leap "$seconds"
		check "after that: a new connection" transfer $SDP_B6
	done
	end_all "clock"
}

check "data before" transfer $SDP_B
wait_for $patience no_sockets
objects_before=$(connection_counts)
processors
clock
check "no RDMA object is left" wait_for $((2 * patience)) connection_counts_are "$objects_before"
tap_done
