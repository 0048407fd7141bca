# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The experiments of the paper on flow control, the first page. Sourced by tools/bench/guest.sh for
# run.sh.
# Each line of results has the module's counters in addition to its figure.
#
#	latency		ping-pong (fig. 6a), one way, and
#	bandwidth	a stream (fig. 6b), by message size
#	progress	bursts in both directions with computation (fig. 8); size: its microseconds
#	space64		how full the receiver's buffers of 64 KiB are during a stream (fig. 9),
#	space256	and those of 256 KiB
#	microscope	an application of five filters (fig. 10a) and
#	words		one of four (fig. 10b); size: bytes of the data set
#
# Environment: PAPER_SIZES, SPACE_SIZES, COMPUTES (microseconds), BURST_ROUNDS, BURST_BUFFER
# (SO_SNDBUF), DATA (file made by `pipeline prepare`), DATA_SIZES.

PAPER_SIZES=${PAPER_SIZES:-1 4 16 64 128 256 512 1024 2048 4096 8192 16384 32768 65536}
SPACE_SIZES=${SPACE_SIZES:-1 4 16 64 256 512 1024 2048 4096 8192 16384 32768}
COMPUTES=${COMPUTES:-0 250 500 1000 1500 2000 4000 10000}
BURST_ROUNDS=${BURST_ROUNDS:-10}
BURST_BUFFER=${BURST_BUFFER:-32768}
BURST=100 BURST_SIZE=4096
DATA_SIZES=${DATA_SIZES:-1048576}

PAPER_TESTS="latency bandwidth progress space64 space256 microscope words"
COUNTERS="MsgsSent DataSent CreditUpdatesSent CreditStalls PartialHeld"
tracing=/sys/kernel/tracing
next_test_port=21000
. "$SDP_TOP/tools/paper/datagrams.sh"
PAPER_TESTS+=" $DATAGRAM_TESTS"

# counters: the module's existing counters, by name.
counters() {
	awk -v wanted="$COUNTERS" 'BEGIN { split(wanted, w); for (i in w) want[w[i]] = 1 }
		$1 in want || $1 ~ /^(Ring|Rnr|Nic)/ { print $1, $2 }' /proc/net/sdpstat 2>/dev/null
}

counted_words() {
	counters | awk -v before="$counted_before" 'BEGIN {
			n = split(before, b)
			for (i = 1; i < n; i += 2) was[b[i]] = b[i + 1]
		}
		$2 != was[$1] { printf " %s=%d", $1, $2 - was[$1] }'
}

# paper_run PEER LEAST WORDS KIND ARGUMENT...: as one_run, with the peer's settings.
paper_run() {
	local peer=$1
	last=
	[ -z "${dead[$peer]:-}" ] || return 0
	peer_prepare "$peer"
	counted_before=$(counters)
	one_run "$@" || failed "$peer"
	peer_restore "$peer"
}

paper_messages() {
	local size=$2
	if [ "$1" = latency ]; then
		echo $((size <= 4096 ? 400 : 50 + 800 * 1024 / size))
	else
		echo $((size <= 1024 ? 4000 : size <= 8192 ? 2000 : 16777216 / size))
	fi
}

run_message() {
	local warm
	warm=$(($4 / 8))
	run_sockbench "$@"
}
result_message() { echo "$(result_sockbench "$@")$(counted_words)"; }

# by_size TEST ACTION ROUND: a test with each message size
by_size() {
	local test=$1 action=$2 round=$3 size peer count least
	for size in $PAPER_SIZES; do
		say "round $round of $ROUNDS, $test of $size bytes:"
		for peer in $PEERS; do
			peer_in_figure "$peer" "$test" || continue
			count=$(paper_messages "$test" "$size")
			least=$((count / 2))
			[ "$test" = latency ] || least=$((size * count / 10000))
			paper_run "$peer" $least "test=$test size=$size round=$round count=$count" \
				message "$peer" "$action" "$size" "$count"
			printf '  %-26s%s\n' "$(peer_name "$peer")" "$last"
		done
	done
}

# peer_in_figure PEER TEST: whether an experiment has this peer. Only a tracepoint tells how full a
# ring is.
peer_in_figure() {
	[[ ! $2 = space* || ! $1 =~ rdma|nic ]] || [ -e $tracing/events/sdp/sdp_ring ] || return 1
	case $2 in
	latency|bandwidth)	[[ $1 =~ ^(smc|sdpplain|sdpcredit|sdprdma|sdpnic)$ ]] ;;
	progress)		[[ $1 =~ ^(sdpplain|sdpcredit|sdprdma|sdprdmastill|sdpnic)$ ]] ;;
	space64)		[[ $1 =~ ^(sdpplain|sdpcredit8|sdprdma|sdpnic)$ ]] ;;
	space256)		[[ $1 = *256 ]] ;;
	*)			[[ $1 =~ ^(sdpplain|sdpcredit|sdprdma|sdpnic)$ ]] ;;
	esac
}

# Progress

run_progress() {
	limited progress -b "$BURST_BUFFER" "$(peer_family "$1")" "$SDP_B" $((next_test_port++)) \
		$BURST_SIZE $BURST "$2" "$BURST_ROUNDS"
}
result_progress() { echo "value=$(word round_us "$(tail -n 1 "$OUTPUT")")$(counted_words)"; }

peer_family() {
	case $1 in
	smc)	echo smc ;;
	tcp*)	echo inet ;;
	*)	echo sdp ;;
	esac
}

progress_round() {
	local round=$1 us peer
	for us in $COMPUTES; do
		say "round $round of $ROUNDS, bursts with $us us of computation, us there and back:"
		for peer in $PEERS; do
			peer_in_figure "$peer" progress || continue
			paper_run "$peer" $((2 * BURST * BURST_ROUNDS)) \
				"test=progress size=$us round=$round count=$BURST_ROUNDS" \
				progress "$peer" "$us"
			printf '  %-26s%s\n' "$(peer_name "$peer")" "$last"
		done
	done
}

# Space

trace_begin() {
	echo 0 >$tracing/tracing_on
	echo 16384 >$tracing/buffer_size_kb
	echo >$tracing/trace
	echo 1 >$tracing/events/sdp/sdp_msg_send/enable
	echo 1 >$tracing/events/sdp/sdp_msg_recv/enable
	[ ! -e $tracing/events/sdp/sdp_ring ] || echo 1 >$tracing/events/sdp/sdp_ring/enable
	echo 1 >$tracing/tracing_on
}

trace_end() {
	echo 0 >$tracing/tracing_on
	echo 0 >$tracing/events/sdp/enable
	cat $tracing/trace >"$WORK/trace"
	echo >$tracing/trace
}

run_space() {
	local status=0
	need_server "$1" || { echo "no server" >"$OUTPUT"; return 1; }
	trace_begin || return
	run_sockbench "$1" stream "$2" "$3" || status=$?
	trace_end
	return $status
}

result_space() {
	local bytes=$4 buffers=8
	echo "value=$(awk -v buffers=$buffers -v space="$bytes" \
		-f "$SDP_TOP/tools/paper/space.awk" "$WORK/trace")$(counted_words)"
}

# space_round TEST BYTES ROUND: one round of a test of space
space_round() {
	local test=$1 bytes=$2 round=$3 size peer count
	[ -e $tracing/trace ] || mount -t tracefs none $tracing || { note "$test: no tracefs"; return; }
	for size in $SPACE_SIZES; do
		say "round $round of $ROUNDS, buffers of $((bytes / 1024)) KiB, percent in use by messages of" \
			"$size bytes:"
		for peer in $PEERS; do
			peer_in_figure "$peer" "$test" || continue
			count=$((size <= 4096 ? 2000 : 8388608 / size))
			paper_run "$peer" $((size * count / 10000)) \
				"test=$test size=$size round=$round count=$count" \
				space "$peer" "$size" "$count" "$bytes"
			printf '  %-26s%s\n' "$(peer_name "$peer")" "$last"
		done
	done
}

# Filters

run_pipeline() {
	limited pipeline "$2" "$(peer_family "$1")" "$SDP_B" $next_test_port "$WORK/data.$3"
	next_test_port=$((next_test_port + 8))
}

# The result depends on the data only: another checksum is a failure.
result_pipeline() {
	local line sum
	line=$(tail -n 1 "$OUTPUT")
	sum=$(word sum "$line")
	[ "$sum" = "$expected" ] || { echo "fail=checksum-$sum-instead-of-$expected"; return; }
	echo "value=$(awk -v us="$(word us "$line")" 'BEGIN { printf "%.3f", us / 1000 }')" \
		"sum=$sum$(counted_words)"
}

# pipeline_round NAME ROUND: one round of an application
pipeline_round() {
	local name=$1 round=$2 bytes peer expected
	for bytes in $DATA_SIZES; do
		cp "$DATA.$bytes" "$WORK/data.$bytes"
		cp "$DATA.$bytes.z" "$WORK/data.$bytes.z"
		limited pipeline "$name" unix - 0 "$WORK/data.$bytes" || { note "$name fails"; return; }
		expected=$(word sum "$(tail -n 1 "$OUTPUT")")
		say "round $round of $ROUNDS, $name of $bytes bytes, ms:"
		for peer in $PEERS; do
			peer_in_figure "$peer" "$name" || continue
			paper_run "$peer" $((bytes / 10000)) \
				"test=$name size=$bytes round=$round count=1" pipeline "$peer" "$name" "$bytes"
			printf '  %-26s%s\n' "$(peer_name "$peer")" "$last"
		done
	done
}

paper_round() {
	local round=$1 name
	! wanted latency || by_size latency pingpong "$round"
	! wanted bandwidth || by_size bandwidth stream "$round"
	! wanted progress || progress_round "$round"
	! wanted space64 || space_round space64 65536 "$round"
	! wanted space256 || space_round space256 262144 "$round"
	for name in microscope words; do
		! wanted $name || pipeline_round $name "$round"
	done
	datagram_round "$round"
}
