#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A network that loses, delays, overtakes, repeats and spoils packets, is slow, or carries shorter
# ones than before, under messages and RDMA: every byte is right, or the connection ends with an
# errno that says so; afterwards a good network works as before, and nothing is left.
#
# Where packets are lost or overtake each other soft-RoCE may take an acknowledgement for part of an
# RDMA read's answer. It warns of that, which fails the run; so there bytes move by RDMA write. With
# NETWORK_READS=1 in the environment they are read all the same; void_reads.sh shows what comes of
# reads that end too early. timeout: 700 s; short form: 6.12; only when named: debug
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libpeers.sh"
. "$here/../../vm/netlab.sh"
. "$here/../../vm/checks.sh"

[ -n "${SDP_A:-}" ] && lab_intact || tap_skip_all "no RDMA devices rxa and rxb; run it by selftests/vm/run.sh"
modprobe sch_netem 2>/dev/null || tap_skip_all "this kernel has no netem"
settings=/proc/sys/net/sdp
threshold_before=$(<$settings/rdma_threshold) read_before=$(<$settings/rdma_read)
flow_before=$(<$settings/flow_control)
bytes=300000
# What a connection may end with here.
end_errno='[a-z]*: (ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)'

# The kernel remembers for ten minutes how long packets to a place may be. Soft-RoCE of 6.1 tries a
# longer one again at once, without end, and what the kernel answers to one that is under way when it
# forgets makes it remember again.
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
	echo "$threshold_before" >$settings/rdma_threshold
	echo "$read_before" >$settings/rdma_read
	echo "$flow_before" >$settings/flow_control
}
cleanup restore
echo 16384 >$settings/rdma_threshold

# bad_network NETEM-ARGUMENT...: both ways
bad_network() {
	tc qdisc replace dev va root netem limit 10000 "$@" &&
		tc qdisc replace dev vb root netem limit 10000 "$@"
}

# start NAME ADDRESS PIECES: both ends of an exchange send and receive that many bytes
start() {
	next_port
	peer "$1-server" bind "$2" $port listen 5 say up accept pieces "$3" send $bytes recv $bytes drain
	says "$1-server" $patience up || return
	peer "$1-client" connect "$2" $port pieces "$3" recv $bytes send $bytes shutdown drain
}

# well NAME: both ends have everything; fails with status 2 when that is wrong
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

# Ends without an error and with bytes missing would be as bad as wrong ones.
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
			check "$what: $name ($end) ends" over "$name-$end" $((4 * patience))
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

# Packets of 4 KiB do not fit for a while.
shorter() {
	wait_for $patience grep -q connected "$peers/small-client" "$peers/large-client"
	lab_mtu 1500
	pause 2
	long_packets
}

check "data before" transfer "$SDP_B"
wait_for $patience no_sockets
objects_before=$(counts_at_rest)
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
echo "$flow_before" >$settings/flow_control
scenario "everything" SOME delay 2ms 1ms loss 1% duplicate 1% corrupt 0.5% rate 40mbit
check "no RDMA object is left" wait_for $((2 * patience)) connection_counts_are "$objects_before"
tap_done
