#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A bad network: packets are lost, delayed, reordered, duplicated, corrupted or short.
# Messages and RDMA: every byte is right, or the connection ends with a matching errno. Afterwards
# a good network works as before, and nothing is left.
#
# With loss or reordering, soft-RoCE may mistake an acknowledgement for a part of an RDMA read's
# response. The module warns of that, which fails the run, so data moves by RDMA write there.
# NETWORK_READS=1 in the environment uses reads all the same. rxe_void_read.sh tests reads that end
# too early.
# How long an exchange takes depends on chance.
export PEER_SECONDS=$((400 * (1 + 3 * ${SDP_DEBUG:-0})))
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

need_lab
modprobe sch_netem 2>/dev/null || tap_skip_all "this kernel has no netem"
settings=/proc/sys/net/sdp
keeps $settings/{rdma_threshold,rdma_read,flow_control}
bytes=300000
# Errors that a connection may end with here.
end_errno='[a-z]*: (ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)'

# The kernel remembers a path MTU for ten minutes. soft-RoCE of 6.1 retries a longer packet at once
# and without end, and the kernel's answer to a packet that is in flight while the entry is flushed
# restores it.
mtus_forgotten() {
	ip route flush cache
	ip -6 route flush cache
	pause 0.2
	[[ "$(ip route show cache table all; ip -6 route show cache table all)" != *mtu* ]]
}

long_packets() {
	lab_mtu "$LAB_MTU"
	wait_for $patience mtus_forgotten
}

good_network() {
	tc qdisc del dev va root 2>/dev/null
	tc qdisc del dev vb root 2>/dev/null
	long_packets
}

restore() {
	peers_end
	good_network
}
cleanup restore
echo 16384 >$settings/rdma_threshold

# bad_network NETEM-ARGUMENT...: in both directions
bad_network() {
	tc qdisc replace dev va root netem limit 10000 "$@" &&
		tc qdisc replace dev vb root netem limit 10000 "$@"
}

# start NAME ADDRESS PIECES: an exchange in which both ends send and receive $bytes
start() {
	listens "$1-server" "$2" accept pieces "$3" send $bytes recv $bytes drain || return
	peer "$1-client" connect "$2" $port pieces "$3" recv $bytes send $bytes shutdown drain
}

# well NAME: both ends have everything; fails with status 2 when an end has neither everything nor
# an errno
well() {
	local end whole=0
	for end in "$1-server" "$1-client"; do
		if printed "$end" "end after $bytes bytes"; then
			whole=$((whole + 1))
		elif ! printed "$end" "$end_errno"; then
			echo "$end has ended neither with everything nor with an errno:"
			show_peers
			return 2
		fi
	done
	[ $whole = 2 ]
}

# An end of the stream without an error, but with bytes missing, is as bad as wrong bytes.
no_early_end() { ! grep -l "bytes missing" "$peers"/* && ! grep -l "wrong data" "$peers"/*; }

none_left() {
	wait_for $((2 * patience)) no_sockets && return
	cat /proc/net/sdp
	return 1
}

# scenario WHAT ALL|SOME NETEM-ARGUMENT...: messages and RDMA at once, IPv4 and IPv6
scenario() {
	local what=$1 how=$2 name names=(small large v6) whole=0 wrong=0 status
	shift 2
	check "$what: begins" bad_network "$@"
	start small "$SDP_B" 700
	start large "$SDP_B" 65536
	start v6 "$SDP_B6" 32768
	"${during[@]}"
	for name in "${names[@]}"; do
		for end in client server; do
			check "$what: $name ($end) ends" over "$name-$end" $((12 * patience))
		done
	done
	check "$what: no byte is wrong, and none is missing without an errno" no_early_end
	for name in "${names[@]}"; do
		status=0
		well "$name" || status=$?
		[ $status != 0 ] || whole=$((whole + 1))
		[ $status != 2 ] || wrong=$((wrong + 1))
	done
	check "$what: what is not whole has an errno" test $wrong = 0
	echo "# $what: $whole of ${#names[@]} whole; void reads so far: $(sdpstat RdmaReadsVoid)"
	[ "$how" = SOME ] || check "$what: all is whole" test $whole = ${#names[@]}
	peers_end
	good_network
	check "$what: a good network works again" transfer "$SDP_B"
	check "$what: nothing is left" none_left
}

reads() { echo "$1" >$settings/rdma_read; }

# Packets of 4 KiB do not fit for two seconds.
shorter() {
	wait_for $patience grep -q connected "$peers/small-client" "$peers/large-client"
	lab_mtu 1500
	pause 2
	long_packets
}

data_before
during=(true)
reads 1
scenario "no harm" ALL delay 0ms
scenario "delay" ALL delay 10ms
scenario "slow" ALL rate 8mbit
reads "${NETWORK_READS:-0}"
during=(shorter)
scenario "shorter packets for a while" SOME delay 1ms
during=(true)
scenario "loss of 0.1 %" SOME loss 0.1%
scenario "loss of 1 %" SOME loss 1%
scenario "loss of 5 %" SOME loss 5%
scenario "repetition" SOME duplicate 10%
scenario "overtaking" SOME delay 4ms reorder 75% 50%
scenario "varying delay" SOME delay 3ms 2ms
scenario "spoilt packets" SOME corrupt 1%
for scheme in rdma nic; do
	echo $scheme >$settings/flow_control
	scenario "loss of 1 %, rings by $scheme" SOME loss 1%
	scenario "overtaking, rings by $scheme" SOME delay 4ms reorder 75% 50%
done
put_back $settings/flow_control
scenario "everything" SOME delay 2ms 1ms loss 1% duplicate 1% corrupt 0.5% rate 40mbit
check "no RDMA object is left" wait_for $((2 * patience)) connection_counts_are "$objects_before"
tap_done
