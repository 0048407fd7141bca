#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that asks to join connections as a rail without a right to, or speaks by several rails in
# ways that no socket does (H1, D6). A wrong request is refused and changes nothing. A wrong message
# ends its connection, by all rails, and is counted by its kind. An honest connection streams beside
# it.
export PEER_SECONDS=600
. "$(dirname "$0")/../lib/lib.sh" cases

settings=/proc/sys/net/sdp
keeps $settings/{rails,accept_buffers,idle_buffers}
restore() {
	peers_end
	rmmod sdp_hostile
}
cleanup restore
echo 8 >$settings/rails
echo 6 >$settings/accept_buffers
echo 12 >$settings/idle_buffers

# standing_is TEXT: how the connections of the last case stand, as "N HOW, N HOW"
standing_is() {
	local got
	got=$(sort ${run%/run}/standing | uniq -c | awk '{ $1 = $1; printf "%s%s", sep, $0; sep = ", " }')
	[ "$got" = "$1" ] || { echo "connections: $got, expected: $1"; return 1; }
}

# What the program at the listener does once it has the bytes of its case: words of peer.c.
more=()

# rails CASE STANDING COUNTED BYTES: the program at the listener gets that many bytes
rails() {
	local joined lost
	my_turn || return 0
	joined=$(sdpstat RailsJoined) lost=$(sdpstat RailsLost)
	if [ "$4" = 0 ]; then
		speak "$1" hold
	else
		speak "$1" take "$4" "${more[@]}" hold
		check "$1: $4 bytes have come" says server $patience taken
	fi
	check "$1: $2" wait_for $patience standing_is "$2"
	check "$1: counted as ${3:-nothing}" counted "$3"
	joined=$(($(sdpstat RailsJoined) - joined)) lost=$(($(sdpstat RailsLost) - lost))
	[ $# -lt 5 ] || check "$1: rails joined and lost: $5" test "$joined $lost" = "$5"
	echo end >$run
	peers_end server
}

# Requests that are refused. 8: no such service; 3: not now
requests() {
	rails rails-unknown "1 rejected 8" "" 0 "0 0"
	rails rails-token "1 open, 1 rejected 8" "" 0 "0 0"
	rails rails-id "1 open, 1 rejected 8" "" 0 "0 0"
	rails rails-number-0 "1 open, 1 rejected 8" "" 0 "0 0"
	rails rails-number-8 "1 open, 1 rejected 8" "" 0 "0 0"
	rails rails-number-255 "1 open, 1 rejected 8" "" 0 "0 0"
	rails rails-flood "1 open, 50 rejected 8" "" 100 "0 0"
	rails rails-silent "2 open" "" 100
	rails rails-too-many "8 open" "" 0
	echo 3 >$settings/rails
	rails rails-too-many "3 open, 5 rejected 3" "" 0
	echo 8 >$settings/rails
}

# What several rails may do.
meant() {
	rails rails-same-number "2 ended, 2 open" "" 100
	rails rails-overtakes "2 open" "" 300 "1 0"
	rails rails-twice "2 open" "" 200 "1 0"
	rails rails-gap "2 open" "" 100 "1 0"
	rails rails-gone "1 ended, 1 open" "" 200 "1 1"
	rails rails-addresses "1 open" "" 0 "0 0"
}

wrong() {
	rails rails-beyond "2 ended" BadSeq+1 0
	rails rails-lies "2 ended" BadAck+1 0
	rails rails-placed "2 ended" BadState+1 0
	rails rails-note-long "1 ended" BadLen+1 0
	rails rails-note-huge "1 ended" BadLen+1 0
	rails rails-note-unasked "1 ended" BadMid+1 0
	rails rails-keys-unasked "1 ended" BadFlags+1 0
	rails rails-keys-none "2 ended" BadField+1 0
}

# Keys for RDMA by several rails. What cannot be read is declined; a rail whose key is wrong ends.
keys() {
	# The reader wants more than came with the SrcAvail, so AF_SDP tries to read the rest.
	local more=(take 1)
	rails rails-keys-nobodys "2 open" "" 101 "1 0"
	rails rails-keys-old "2 open" "" 101 "1 0"
	rails rails-keys-wrong "1 ended, 1 open" "" 101 "1 1"
}

hostile_begin
honest_start
requests
meant
wrong
keys
echo end >$run
check "the honest connection streams beside all these" streaming
honest_end
hostile_end
tap_done
