#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that violates the rules of rings, while an honest connection streams through rings.
# It writes anywhere, sends wrong immediate data, and sends wrong messages about rings. Its
# connection ends, and the violation is counted by its kind.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" hostile

settings=/proc/sys/net/sdp
restore() {
	peers_end
	rmmod sdp_hostile
	echo credit >$settings/flow_control
}
cleanup restore

violations() { grep ^Bad /proc/net/sdpstat; }

# violations_since: the violations counted since $before, as "Name+N Name+N"
violations_since() {
	violations | paste -d ' ' - <(echo "$before") |
		awk '$2 != $4 { printf "%s%s+%d", sep, $1, $2 - $4; sep = " " }'
}

verdict_is() {
	local got
	got=$(awk '{ printf "%s%s", sep, $0; sep = ", " }' $run)
	[ "$got" = "$1" ] || { echo "verdict: $got, expected: $1"; return 1; }
}

counted() {
	local got
	got=$(violations_since)
	[ "$got" = "$1" ] || { echo "counted: $got, expected: $1"; return 1; }
}

# The socket's first operation tells the peer that it is accepted; the peer then asks for a ring.
first="send 1"

# broken CASE COUNTED [SAYS [OPERATION...]]: the connection ends, with EPROTO unless SAYS is given
broken() {
	before=$(violations)
	listener_start accept $first "${@:4}" ended hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: the socket says ${3:-ended: EPROTO}" says server $patience "${3:-ended: EPROTO}"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
	peers_end server
}

# unread CASE COUNTED: the same, with data before that the program does not read
unread() {
	before=$(violations)
	listener_start accept send 1 hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: counted as $2" counted "$2+1"
	peers_end server
}

# as_meant CASE: the connection stays established
as_meant() {
	before=$(violations)
	listener_start accept send 1 swallow
	check "$1: done" commit "$1"
	check "$1: nothing happens" stands
	check "$1: counted as nothing" counted ""
	echo end >$run
	peers_end server
}

# 20 tiny messages, each in a ring that was given back: unread data counts as the pages that it
# occupies.
held() {
	before=$(violations)
	listener_start accept send 1 wait "$peers/go" memory hold
	check "ring-held: said" commit ring-held
	check "ring-held: nothing happens" stands
	touch "$peers/go"
	check "ring-held: the socket knows its memory" says server $patience "unread memory [0-9]+"
	check "ring-held: it counts whole pages" test \
		"$(sed -n 's/^unread memory //p' "$peers/server")" -ge $((20 * 4096))
	check "ring-held: counted as no violation" counted ""
	echo end >$run
	peers_end server
	rm -f "$peers/go"
}

by_rdma() {
	echo rdma >$settings/flow_control
	as_meant ring-write
	as_meant ring-anywhere
	broken ring-elsewhere BadLen
	broken ring-beyond "" "ended: E(CONNRESET|PROTO)"
	broken ring-before "" "ended: E(CONNRESET|PROTO)"
	broken ring-none BadState
	broken ring-other BadState
	broken ring-short BadLen
	broken ring-long BadCredit
	broken ring-bits BadLen
	broken ring-len BadLen
	broken ring-mid BadMid
	broken ring-flags BadFlags
	broken ring-mseq BadSeq
	broken ring-srcavail BadMid
	unread ring-overrun BadCredit
	held
	broken ring-ask-again BadState
	unread ring-ask-twice BadState
	broken ring-ask-odd BadField
	broken ring-ask-huge BadField
	broken ring-give-back-none BadState
	first="" broken ring-avail-unasked BadState
	broken ring-avail-larger BadField
	broken ring-avail-wraps BadField
	broken ring-avail-twice BadState
	broken ring-avail-key "" "flow: E(CONNRESET|PROTO)" flow
	broken ring-freed BadAck
}

by_nic() {
	echo nic >$settings/flow_control
	as_meant nic-write
	broken nic-long BadCredit
	broken nic-srcavail BadState
	broken nic-buffer BadState
}

# Ends that support rings, and a peer that has not agreed on them.
by_credit() {
	broken msg-ring-ask BadMid
	broken msg-ring-avail BadMid
	broken msg-ring-freed BadFlags
}

echo rdma >$settings/flow_control
hostile_begin
honest_start
before_bytes=$(sdpstat RingBytesRead)
by_rdma
first="" by_credit
by_nic
echo end >$run
check "the honest connection streams beside all these" streaming
check "... by a ring" test "$(sdpstat RingBytesRead)" -gt $((before_bytes + 100000))
honest_end
hostile_end
tap_done
