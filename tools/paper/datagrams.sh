# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The experiments on delivery by datagrams, the second page. Sourced by experiments.sh.
#
#	roundtrip	ping-pong of small messages, there and back, by size
#	stores		bulk stores that wait for each other, and that do not, by size
#	window		a stream, by the packets that its receiver takes beyond an acknowledgment
#	nack		a stream, by the packets that the network loses, of 1000
#	keepalive	ping-pong, by the packets that the network loses, of 1000: nothing follows a
#			message that would show that it is missing
#
# Peers, besides those of the benchmark:
#
#	tcpwait sdpwait sdpudwait	their stores wait for each other
#	sdpudfar			datagrams, by a network with a delay
#
# Environment: TRIP_SIZES, STORE_SIZES, WINDOWS (packets), LOSSES (of 1000), FAR_US (one way).

TRIP_SIZES=${TRIP_SIZES:-1 4 16 64 256 1024 2048 4096}
STORE_SIZES=${STORE_SIZES:-64 256 1024 4096 8064 16384 65536 262144 1048576 4194304}
WINDOWS=${WINDOWS:-1 2 4 8 16 24 36 48 60 72 76}
LOSSES=${LOSSES:-0 1 2 5 10 20 50}
FAR_US=${FAR_US:-500}

DATAGRAM_TESTS="roundtrip stores window nack keepalive"
COUNTERS+=" DatagramsSent DatagramsAgain DatagramAcks DatagramNacks DatagramProbes"

sdp_settings+=(
	[sdpudwait]="service=ud"
	[sdpudfar]="service=ud"
)

datagram_name() {
	case $1 in
	tcpwait)	echo "TCP, each store waits" ;;
	sdpwait)	echo "AF_SDP, each store waits" ;;
	sdpudwait)	echo "AF_SDP, datagrams, each store waits" ;;
	sdpudfar)	echo "AF_SDP, datagrams, far away" ;;
	*)		return 1 ;;
	esac
}

# datagram_peer PEER TEST: whether an experiment has this peer
datagram_peer() {
	case $2 in
	roundtrip)	[[ $1 =~ ^(tcp|smc|sdp|sdpud)$ ]] ;;
	stores)		[[ $1 =~ ^(tcp|sdp|sdpud)(wait)?$ ]] ;;
	window)		[[ $1 =~ ^(sdpud|sdpudfar)$ ]] ;;
	*)		[[ $1 =~ ^(tcpmtu|sdp|sdpud)$ ]] ;;
	esac
}

network_is() {
	local dev
	modprobe sch_netem 2>/dev/null || true
	for dev in va vb; do
		# shellcheck disable=SC2086 # several words
		tc qdisc replace dev $dev root netem limit 10000 $1 && continue
		network_whole
		return 1
	done
}

network_whole() {
	local dev
	for dev in va vb; do
		tc qdisc del dev $dev root 2>/dev/null || true
	done
}

# in_network HOW COMMAND...: runs COMMAND while the network treats packets so, in both directions
in_network() {
	local how=$1 status=0
	shift
	[ -z "$how" ] || network_is "$how" || { echo "no netem" >"$OUTPUT"; return 1; }
	"$@" || status=$?
	network_whole
	return $status
}

# losing THOUSANDTHS: netem's words for so much loss
losing() { [ "$1" = 0 ] || awk -v n="$1" 'BEGIN { printf "loss %g%%", n / 10 }'; }

# position TEST ROUND AT UNIT COUNT LEAST ARGUMENT...: one position of an experiment, with each peer
position() {
	local test=$1 round=$2 at=$3 unit=$4 count=$5 least=$6 peer
	shift 6
	say "round $round of $ROUNDS, $test, $at $unit:"
	for peer in $PEERS; do
		datagram_peer "$peer" "$test" || continue
		paper_run "$peer" "$least" "test=$test size=$at round=$round count=$count" \
			"$test" "$peer" "$@"
		printf '  %-36s%s\n' "$(peer_name "$peer")" "$last"
	done
}

# Round trips

run_roundtrip() {
	local warm=$(($3 / 8))
	run_sockbench "$1" pingpong "$2" "$3"
}

there_and_back() {
	awk -v us="$(word "$1" "$(tail -n 1 "$OUTPUT")")" 'BEGIN { printf "value=%.1f", 2 * us }'
}

result_roundtrip() { echo "$(there_and_back p50_us)$(counted_words)"; }

# Stores

run_stores() {
	local waits=
	[[ $1 != *wait ]] || waits=-w
	limited stores $waits "$(peer_family "$1")" "$SDP_B" $((next_test_port++)) "$2" "$3"
}

result_stores() { echo "value=$(word mbps "$(tail -n 1 "$OUTPUT")")$(counted_words)"; }

stores_of() { echo $(($1 <= 4096 ? 1000 : 4096 * 1000 / $1 + 8)); }

# The window

# Packets of 1 KiB, so that a message has 36 of them, as a chunk of the paper.
run_window() {
	local setting=/proc/sys/net/sdp/datagram_window how='' status=0 warm=8 was
	[ "$1" != sdpudfar ] || how="delay ${FAR_US}us"
	was=$(<$setting) && echo "$2" >$setting || { echo "no such window" >"$OUTPUT"; return 1; }
	lab_mtu 1500
	in_network "$how" run_sockbench "$1" stream 65536 "$3" || status=$?
	lab_mtu "$LAB_MTU"
	echo "$was" >$setting
	return $status
}

result_window() { echo "$(result_sockbench "$1" stream)$(counted_words)"; }

# Loss

run_nack() {
	local warm=8
	in_network "$(losing "$2")" run_sockbench "$1" stream 65536 "$3"
}
result_nack() { result_window "$1"; }

run_keepalive() {
	local warm=10
	in_network "$(losing "$2")" run_sockbench "$1" pingpong 64 "$3"
}
result_keepalive() { echo "$(there_and_back mean_us)$(counted_words)"; }

datagram_round() {
	local round=$1 at
	for at in $(wanted roundtrip && echo "$TRIP_SIZES"); do
		position roundtrip "$round" "$at" bytes 400 400 "$at" 400
	done
	for at in $(wanted stores && echo "$STORE_SIZES"); do
		position stores "$round" "$at" bytes "$(stores_of "$at")" \
			$((at * $(stores_of "$at") / 10000)) "$at" "$(stores_of "$at")"
	done
	for at in $(wanted window && echo "$WINDOWS"); do
		position window "$round" "$at" packets 64 400 "$at" 64
	done
	for at in $(wanted nack && echo "$LOSSES"); do
		position nack "$round" "$at" "of 1000 lost" 128 800 "$at" 128
	done
	for at in $(wanted keepalive && echo "$LOSSES"); do
		position keepalive "$round" "$at" "of 1000 lost" 1000 1000 "$at" 1000
	done
}
