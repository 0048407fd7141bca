# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Large writes of AF_SDP by each of their ways, and their cost. Sourced by guest.sh.
#
#	modes	stream and ping-pong by message size: in messages, read, written, and with the
#		default settings, which choose
#	readers	stream by message size and by how the reader reads, in messages and with the
#		default settings: no reader may be slower by more than a tenth
#	events	stream of programs that never wait in a call: they poll(), and write and read by
#		calls that do not wait; all peers
#	cost	processor time per streamed byte, on one processor
#	pinned	memory of programs that is pinned during a stream, and after it
#
# A connection learns its mode, and the size and number of its buffers, from its first writes. All
# measurements come after that: WARM messages are sent before the clock starts.

MODE_SIZES=${MODE_SIZES:-4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304}
COST_SIZES=${COST_SIZES:-65536 1048576}
MODE_PEERS="sdpmsg sdpread sdpwrite"
READER_SIZES=${READER_SIZES:-4096 16384 65536 262144 1048576 4194304}
READERS=${READERS:-recv waitall poll pollrecv readv uring body threads e_recv e_poll e_uring
	z_recv z_poll f_recv f_poll map e_map z_map f_map}
# How the client writes: the beginning of a reader's name. Writers that call poll() for room.
declare -A WRITERS=([e]=nowait [z]=zerocopy [f]=sendfile)
EVENT_SIZES=${EVENT_SIZES:-65536 262144 1048576}
PINNED_SIZE=1048576
WARM=8

has_peer() { [[ " $PEERS " == *" $1 "* ]]; }

# mode_messages TEST SIZE: number of messages of a run. Fewer than mode_after of sdpread, as the
# mode would change after that many.
mode_messages() {
	local count
	if [ "$1" = stream ]; then
		count=$((2 + 40 * 1048576 / $2))
		echo $((count < 12 ? 12 : count > 900 ? 900 : count))
	else
		count=$((16 * 1048576 / $2))
		echo $((count < 12 ? 12 : count > 300 ? 300 : count))
	fi
}

# rdma_bytes: bytes that went by RDMA, as their readers count them: read, and written to them.
rdma_bytes() {
	awk '$1 == "RdmaReadBytes" { r = $2 } $1 == "RdmaWriteBytesByPeer" { w = $2 } END { print r + 0, w + 0 }' \
		/proc/net/sdpstat
}

run_way() {
	local warm=$WARM
	read -r read_before written_before <<<"$(rdma_bytes)"
	run_sockbench "$@"
}

# Checks which way the data went: a run is invalid if less than half of it went the intended way.
# Half, since the first bytes of a SrcAvail go in the message.
result_way() {
	local peer=$1 test=$2 bytes=$(($3 * ($4 + WARM))) by_read written shares
	[ "$test" = stream ] || bytes=$((2 * bytes))
	read -r by_read written <<<"$(rdma_bytes)"
	by_read=$((100 * (by_read - read_before) / bytes))
	written=$((100 * (written - written_before) / bytes))
	shares="read=$by_read written=$written"
	case $peer in
	sdpread)  [ $by_read -ge 50 ] || { echo "fail=read-only-$by_read% $shares"; return; } ;;
	sdpwrite) [ $written -ge 50 ] || { echo "fail=written-only-$written% $shares"; return; } ;;
	esac
	echo "$(result_sockbench "$@") $shares"
}

# measure_way PEER TEST SIZE ROUND: one run
measure_way() {
	local peer=$1 test=$2 size=$3 count least
	count=$(mode_messages "$test" "$size")
	least=$((count / 2))
	[ "$test" = pingpong ] || least=$((size * count / 10000))
	peer_prepare "$peer"
	one_run "$peer" $least "test=modes_$test size=$size round=$4 count=$count" \
		way "$peer" "$test" "$size" "$count" || failed "$peer"
	peer_restore "$peer"
}

modes_round() {
	local round=$1 size peer test shown
	has_peer sdp || return 0
	for size in $MODE_SIZES; do
		say "round $round of $ROUNDS, by the way of $size bytes: stream in MB/s, ping-pong in us"
		for peer in $MODE_PEERS sdp; do
			shown=
			for test in stream pingpong; do
				[ -z "${dead[$peer]:-}" ] || continue
				measure_way "$peer" $test "$size" "$round"
				shown+="   $test $(printf %14s "$last")"
			done
			printf '  %-26s%s\n' "$(peer_name "$peer")" "$shown"
		done
	done
}

# measure_reader PEER READER SIZE ROUND: one run
measure_reader() {
	local peer=$1 kind=$2 size=$3 count
	local warm=$WARM reader=${2#?_} writer=	# read by run_sockbench
	[ "$kind" = "$reader" ] || writer=${WRITERS[${kind%%_*}]}
	count=$(mode_messages stream "$size")
	peer_prepare "$peer"
	one_run "$peer" $((size * count / 10000)) \
		"test=readers_$kind size=$size round=$4 count=$count" \
		sockbench "$peer" stream "$size" "$count" || failed "$peer"
	peer_restore "$peer"
}

readers_round() {
	local round=$1 kind size peer shown
	has_peer sdp || return 0
	for kind in $READERS; do
		say "round $round of $ROUNDS, read by $kind: messages and default settings, MB/s"
		for size in $READER_SIZES; do
			shown=
			for peer in sdpmsg sdp; do
				[ -n "${dead[$peer]:-}" ] || measure_reader "$peer" "$kind" "$size" "$round"
				shown+=" $(printf %10s "$last")"
			done
			printf '  %10s %s\n' "$size" "$shown"
		done
	done
}

# measure_events PEER SIZE ROUND: one run
measure_events() {
	local peer=$1 size=$2 count
	local warm=$WARM reader=poll writer=nowait	# read by run_sockbench
	[ "$(peer_tool "$peer")" = sockbench ] || return 0
	count=$(mode_messages stream "$size")
	peer_prepare "$peer"
	one_run "$peer" $((size * count / 10000)) "test=events size=$size round=$3 count=$count" \
		sockbench "$peer" stream "$size" "$count" || failed "$peer"
	peer_restore "$peer"
	last+=" MB/s"
}

events_round() {
	local size PEERS=$PEERS
	! has_peer sdp || PEERS+=" sdpmsg"
	for size in $EVENT_SIZES; do
		rates_round "round $1 of $ROUNDS, event-driven stream of $size bytes" \
			measure_events "$size" "$1"
	done
}

# cost_peers: the peers of the tests cost and pinned.
cost_peers() {
	local peer
	for peer in tcp tcpmtu rs smc verbs; do
		! has_peer $peer || echo $peer
	done
	! has_peer sdp || echo "$MODE_PEERS"
}

# cost PEER SIZE ROUND: sockbench measures the busy time around what it times. perftest does not,
# so its start and end are measured with few messages, and subtracted.
cost() {
	local peer=$1 size=$2 count few=10 kind=sockbench words
	local warm=$WARM perftest_via=meter	# read by run_sockbench and run_perftest
	count=$(mode_messages stream "$size")
	words="test=cost size=$size round=$3 count=$count"
	peer_prepare "$peer"
	if [ "$peer" = verbs ]; then
		kind=metered count=$((count + few))
		run_perftest verbs stream "$size" $few || { failed verbs; return; }
		start_busy=$(word busy_us "$(tail -n 1 "$OUTPUT")")
	fi
	one_run "$peer" $((size * count / 10000)) "$words" \
		$kind "$peer" stream "$size" "$count" || failed "$peer"
	peer_restore "$peer"
	last+=" MB/s"
}

run_metered() { run_perftest "$@"; }
result_metered() {
	echo "$(result_perftest "$@")" \
		"busy_us=$(minus "$(word busy_us "$(tail -n 1 "$OUTPUT")")" "$start_busy")"
}

cost_round() {
	local round=$1 size PEERS=$PEERS
	PEERS=$(cost_peers | paste -sd ' ')
	processors 0
	for size in $COST_SIZES; do
		rates_round "round $round of $ROUNDS, stream of $size bytes on one processor" \
			cost "$size" "$round"
	done
	processors 1
}

# pinned_stream PEER: the stream of pinned_memory; its last line of output has the peak.
pinned_stream() {
	local peer=$1 count perftest_via=pinned
	count=$(mode_messages stream $PINNED_SIZE)
	if [ "$peer" = verbs ]; then
		run_perftest verbs stream $PINNED_SIZE "$count"
		return
	fi
	need_server "$peer" || return
	# shellcheck disable=SC2046 # a command and its words
	limited pinned $(peer_command "$peer") stream $(peer_target "$peer" "${server_port[$peer]}") \
		$PINNED_SIZE "$count"
}

# pinned_idle PEER: on one idle connection, in KiB; nothing for a peer without such connections.
pinned_idle() {
	[ "$(peer_tool "$1")" = sockbench ] && need_server "$1" || return 0
	open_held "$1"
	! more_held 1 || idle=$(($(pinned) - before))
	close_held || true
}

unpinned() { [ "$(pinned)" -le "$before" ]; }

pinned_memory() {
	local peer=$1 before idle='' after status=0 line
	peer_prepare "$peer"
	before=$(pinned)
	pinned_idle "$peer"
	pinned_stream "$peer" || status=$?
	for _ in {1..40}; do	# the other end closes a little later
		unpinned && break || sleep 0.05
	done
	after=$(($(pinned) - before))
	peer_restore "$peer"
	if [ $status != 0 ]; then
		record "pinned peer=$peer fail=$(why $status "$OUTPUT")"
		failed "$peer"
		return
	fi
	line=$(tail -n 1 "$OUTPUT")
	last=$(($(word peak_kb "$line") - before))
	record "pinned peer=$peer ${idle:+idle=$idle} peak=$last after=$after" \
		"looks=$(word looks "$line")"
	last+=" KiB, after it $after"
}

measure_pinned() {
	local PEERS=$PEERS
	PEERS=$(cost_peers | paste -sd ' ')
	rates_round "memory pinned in a stream of $PINNED_SIZE bytes" pinned_memory
}
