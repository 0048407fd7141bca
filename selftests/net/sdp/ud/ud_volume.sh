#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# I1: a hundred million bytes by datagrams over each of several bad networks, every byte right. Over
# the worst one, which loses a fifth of all packets, a tenth of that.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

need_lab
modprobe sch_netem 2>/dev/null || tap_skip_all "this kernel has no netem"
service=/proc/sys/net/sdp/service
keeps $service
export PEER_SECONDS=600
amount=100000000

good_network() {
	tc qdisc del dev va root 2>/dev/null
	tc qdisc del dev vb root 2>/dev/null
}

restore() {
	peers_end
	good_network
}
cleanup restore

# volume BYTES NETEM-ARGUMENT...: BYTES in one direction; the network is bad in both
volume() {
	local bytes=$1 begin again nacks
	shift
	again=$(sdpstat DatagramsAgain) nacks=$(sdpstat DatagramNacks)
	check "$*: begins" tc qdisc replace dev va root netem limit 10000 "$@"
	tc qdisc replace dev vb root netem limit 10000 "$@"
	begin=$(ms)
	pair "$SDP_B" accept drain -- pieces 65536 send $bytes shutdown drain
	check "$*: $bytes bytes are right" says server $PEER_SECONDS "end after $bytes bytes"
	check "$*: the other end has ended well" says client $patience "end after 0 bytes"
	echo "# $*: $(($(ms) - begin)) ms; lost: $(tc -s qdisc show dev va |
		sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'); NACKs $(($(sdpstat DatagramNacks) - nacks))," \
		"again $(($(sdpstat DatagramsAgain) - again))"
	peers_end
	good_network
}

echo ud >$service
volume $amount loss 0.1%
volume $amount loss 1%
volume $amount loss 5%
volume $((amount / 10)) loss 20%
volume $amount duplicate 5%
volume $amount delay 1ms reorder 75% 50%
volume $amount corrupt 1%
volume $amount loss 1% duplicate 5% corrupt 1% delay 1ms reorder 75% 50%
check "nothing is left" wait_for $((2 * patience)) no_sockets
tap_done
