#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that breaks the rules of rings: it writes anywhere, its immediate data lie, what it says of
# rings is not so. Its connection ends, the violation is counted by its kind, and an honest
# connection by rings streams beside it. timeout: 400 s; short form: 6.1; only when named: debug
. "$(dirname "$0")/lib.sh"
export PEER_SECONDS=2000
. "$(dirname "$0")/libpeers.sh"
. "$(dirname "$0")/libhostile.sh"

settings=/proc/sys/net/sdp
restore() {
	peers_end
	rmmod sdp_hostile
	echo credit >$settings/flow_control
}
cleanup restore

violations() { grep ^Bad /proc/net/sdpstat; }

# The violations counted since $before, as "Name+N Name+N"
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

# What the socket does at first: by that the peer knows that it is accepted, and asks for a ring.
first="send 1"

# broken CASE COUNTED [SAYS [OPERATION...]]: the connection ends, by EPROTO if nothing else is said
broken() {
	before=$(violations)
	listener_start accept $first "${@:4}" ended hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: the socket says ${3:-ended: EPROTO}" says server $patience "${3:-ended: EPROTO}"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
	peers_end server
}

# unread CASE COUNTED: likewise, but bytes come first, which nobody reads
unread() {
	before=$(violations)
	listener_start accept send 1 hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: counted as $2" counted "$2+1"
	peers_end server
}

# as_meant CASE: nothing happens
as_meant() {
	before=$(violations)
	listener_start accept send 1 swallow
	check "$1: done" commit "$1"
	check "$1: nothing happens" stands
	check "$1: counted as nothing" counted ""
	echo end >$run
	peers_end server
}

# 20 tiny messages, each in a ring that is over: what is unread counts as the pages that it holds.
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
	broken ring-offer BadMid
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
	broken nic-offer BadState
	broken nic-buffer BadState
}

# Those who know rings, and a peer that has not asked for any.
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
