# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# AF_SDP over several cables, each of which has a rate limit, so that the cables are the limit and
# not the processor. Sourced by guest.sh.
#
#	rails	stream by number of cables, by messages and by RDMA; by two cables of different
#		rates, and what each carries; and the rates over time when one of two cables fails
#		and comes back

RAILS=${RAILS:-1 2 4}
RAIL_MBIT=${RAIL_MBIT:-50}
RAIL_SIZE=65536		# less than is read by RDMA with several rails
RAIL_RDMA_SIZE=1048576
RAIL_CABLES=3		# beside the first one
RAIL_FAILS=2 RAIL_RETURNS=5 RAIL_SECONDS=10

# cable_of N: its device at the sending end
cable_of() { [ "$1" = 0 ] && echo va || echo "va$1"; }

# limit_cable N MBIT: both directions
limit_cable() {
	local dev
	for dev in "$(cable_of "$1")" "$(cable_of "$1" | tr a b)"; do
		tc qdisc replace dev "$dev" root tbf rate "$2mbit" burst 64kb limit 4mb
	done
}

# cable_bytes N: in both directions. Both ends are on one host, and a rail may begin at either one.
cable_bytes() {
	local dev bytes sum=0
	for dev in "$(cable_of "$1")" "$(cable_of "$1" | tr a b)"; do
		bytes=$(<"/sys/class/net/$dev/statistics/tx_bytes") && sum=$((sum + bytes))
	done
	echo $sum
}

rails_up() {
	local i
	for ((i = 0; i <= RAIL_CABLES; i++)); do
		[ $i = 0 ] || lab_rail $i || return
		limit_cable $i "$RAIL_MBIT"
	done
}

rails_down() {
	local i
	for ((i = 1; i <= RAIL_CABLES; i++)); do lab_rail_down $i; done
	tc qdisc del dev va root
	tc qdisc del dev vb root
	echo "$rails_default" >/proc/sys/net/sdp/rails
}

# measure_rails TEST N ROUND MBIT SIZE: a stream of writes of SIZE by N cables, which have MBIT
# together; the rails join before the clock starts.
measure_rails() {
	local test=$1 n=$2 round=$3 size=$5 count=$(($4 * 4 * RAIL_SIZE / $5))
	local warm=$((size > RAIL_SIZE ? 8 : 32))	# read by run_sockbench
	echo "$n" >/proc/sys/net/sdp/rails
	one_run sdp 100 "test=$test size=$n round=$round count=$count" \
		sockbench sdp stream "$size" "$count" || failed sdp
	printf '  %-26s%s MB/s\n' "$n cables, $4 Mbit/s" "$last"
}

# uneven_rails TEST ROUND SIZE: by two cables, the second one three times as fast; what each has
# carried
uneven_rails() {
	local round=$2 a b
	limit_cable 1 $((3 * RAIL_MBIT))
	a=$(cable_bytes 0) b=$(cable_bytes 1)
	measure_rails "$1_uneven" 2 "$round" $((4 * RAIL_MBIT)) "$3"
	a=$(($(cable_bytes 0) - a)) b=$(($(cable_bytes 1) - b))
	record "run peer=sdp test=$1_share size=1 round=$round count=1 value=$((100 * b / (a + b)))"
	say "  the faster one has carried $((100 * b / (a + b))) %"
	limit_cable 1 "$RAIL_MBIT"
}

# sample_rails PID: records the bytes of both cables several times a second, and lets the second one
# fail and return.
sample_rails() {
	local start=${EPOCHREALTIME/./} now=0 cable=up
	until process_gone "$1"; do
		now=$((${EPOCHREALTIME/./} - start))
		if [ $cable = up ] && [ $now -ge ${RAIL_FAILS}000000 ]; then
			ip link set va1 down
			cable=down
		elif [ $cable = down ] && [ $now -ge ${RAIL_RETURNS}000000 ]; then
			lab_rail_up 1
			cable=back
		fi
		record "rail us=$now first=$(cable_bytes 0) second=$(cable_bytes 1)"
		sleep 0.1
	done
}

# Without the other cables, one of which would take the place of the second.
failing_rail() {
	local pid i
	for ((i = 2; i <= RAIL_CABLES; i++)); do lab_rail_down $i; done
	echo 2 >/proc/sys/net/sdp/rails
	need_server sdp || return 0
	# shellcheck disable=SC2046 # a command and its words
	limited $(peer_command sdp -w 32) stream $(peer_target sdp "${server_port[sdp]}") $RAIL_SIZE \
		$((RAIL_MBIT * 20 * RAIL_SECONDS / 6)) &
	pid=$!
	sample_rails $pid
	if wait $pid; then say "  one of two cables has failed and come back"; else
		note "a stream did not survive the failure of a cable: $(why 1 "$OUTPUT")"
	fi
}

rails_round() {
	local round=$1 n
	has_peer sdp || return 0
	say "round $round of $ROUNDS, stream by several cables of $RAIL_MBIT Mbit/s"
	rails_default=$(cat /proc/sys/net/sdp/rails)
	rails_up || { note "the cables did not come up"; rails_down; return 0; }
	for n in $RAILS; do measure_rails rails "$n" "$round" $((n * RAIL_MBIT)) $RAIL_SIZE; done
	uneven_rails rails "$round" $RAIL_SIZE
	say "the same by RDMA, with writes of $RAIL_RDMA_SIZE bytes"
	for n in $RAILS; do
		measure_rails rails_rdma "$n" "$round" $((n * RAIL_MBIT)) $RAIL_RDMA_SIZE
	done
	uneven_rails rails_rdma "$round" $RAIL_RDMA_SIZE
	[ "$round" != "$ROUNDS" ] || failing_rail
	rails_down
}
