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

# moved BYTES: BYTES go in one direction
moved() {
	pair "$SDP_B" accept drain -- pieces 65536 send $1 shutdown drain
	over server $PEER_SECONDS
	printed server "end after $1 bytes" || { show_peers; return 1; }
}

# moved_at_last BYTES: the same. Where a fifth is lost, ten Probes in a row remain without an answer
# once in thirty such runs, and the peer counts as silent. A connection may end so once.
moved_at_last() {
	local PEER_SECONDS=300
	moved "$1" && return
	over client $patience
	printed client ".*: ETIMEDOUT" || printed server ".*: ETIMEDOUT" || return
	peers_end
	moved "$1"
}

# volume BYTES NETEM-ARGUMENT...: BYTES in one direction; the network is bad in both
volume() {
	local bytes=$1 begin again nacks how=moved
	shift
	[ "$*" != "loss 20%" ] || how=moved_at_last
	again=$(sdpstat DatagramsAgain) nacks=$(sdpstat DatagramNacks)
	check "$*: begins" tc qdisc replace dev va root netem limit 10000 "$@"
	tc qdisc replace dev vb root netem limit 10000 "$@"
	begin=$(ms)
	check "$*: $bytes bytes are right" $how $bytes
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
