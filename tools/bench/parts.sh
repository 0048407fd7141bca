# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What large transfers of AF_SDP consist of: the time that the kernel needs to pin memory, to
# register it and to copy, in a ping-pong. Sourced by guest.sh.
#
# ftrace measures the functions of a part from their call to their return. A part has the calls of
# both ends, and the time in which they sleep. The tracer itself takes some time of every call, so
# the ping-pong is a little slower than in the test modes.

PARTS_SIZES=${PARTS_SIZES:-16384 65536 1048576}
PARTS_PEERS="sdpmsg sdpread sdpwrite"
TRACING=/sys/kernel/tracing
declare -A PARTS=(
	[pin]="sdp_pin sdp_unpin"
	[region]="rc_map rc_unmap"
	[copy]="skb_copy_datagram_from_iter skb_copy_datagram_iter"
)

tracing_begin() {
	echo nop >$TRACING/current_tracer
	# shellcheck disable=SC2086 # lists of words
	printf '%s\n' ${PARTS[*]} >$TRACING/set_ftrace_filter
	echo 8192 >$TRACING/buffer_size_kb
	echo function_graph >$TRACING/current_tracer
	echo 1 >$TRACING/options/funcgraph-tail
	echo 1 >$TRACING/tracing_on
}

tracing_end() {
	echo 0 >$TRACING/tracing_on
	cat $TRACING/trace >$WORK/trace
	echo nop >$TRACING/current_tracer
	echo >$TRACING/set_ftrace_filter
}

# part_time FUNCTION...: the time of all calls in the trace, in microseconds. A line of the tracer
# has the time before "us |" and then "NAME [sdp]();" or, with others between them, "} /* NAME */".
part_time() {
	awk -v names=" $* " '
		match($0, / [0-9.]+ us /) {
			us = substr($0, RSTART, RLENGTH) + 0
			sub(/.*\|/, "")
			gsub(/[^A-Za-z0-9_ ]/, " ")
			split($0, word, " ")
			if (index(names, " " word[1] " "))
				sum += us
		}
		END { printf "%.1f", sum }' $WORK/trace
}

# measure_parts PEER SIZE ROUND: one run
measure_parts() {
	local peer=$1 size=$2 round=$3 count part words=
	count=$(mode_messages pingpong "$size")
	peer_prepare "$peer"
	tracing_begin
	one_run "$peer" $((count / 2)) "test=parts_all size=$size round=$round count=$count" \
		way "$peer" pingpong "$size" "$count" || failed "$peer"
	tracing_end
	peer_restore "$peer"
	for part in pin region copy; do
		# shellcheck disable=SC2086 # a list of words
		words=$(part_time ${PARTS[$part]})
		words=$(awk -v us="$words" -v n=$((2 * (count + WARM))) 'BEGIN { printf "%.2f", us / n }')
		record "run peer=$peer test=parts_$part size=$size round=$round count=$count value=$words"
		last+="   $part $words"
	done
}

parts_round() {
	local size PEERS=$PARTS_PEERS
	for size in $PARTS_SIZES; do
		rates_round "round $1 of $ROUNDS, ping-pong of $size bytes and its parts, us one way" \
			measure_parts "$size" "$1"
	done
}
