#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Crossing and void advertisements (C7, C8), and a peer that falls silent in an exchange.
# The hostile peer follows a script and violates no rule. Every byte is right. When the peer falls
# silent after any step of an exchange, the call returns and no page stays pinned.
export PEER_SECONDS=300
. "$(dirname "$0")/../lib/lib.sh" hostile

settings=/proc/sys/net/sdp
keeps $settings/{rdma_threshold,mode_after,scan_ms,accept_buffers,idle_buffers,fin_timeout_ms}
restore() {
	peers_end
	rmmod sdp_hostile
}
cleanup restore
# As in modules/modes.c: one SrcAvail that a waiting reader reads makes the direction Pipelined.
large=16384 small=100 piece=4096
# A send buffer in which a large write has no room, so that its writer has to wait for the peer.
tight="option 1 7 $piece"
echo $((large / 2)) >$settings/rdma_threshold
echo 1 >$settings/mode_after
echo 600000 >$settings/scan_ms
echo 6 >$settings/accept_buffers
echo 12 >$settings/idle_buffers
# The peer never answers our DisConn.
echo 1000 >$settings/fin_timeout_ms

names="SrcAvailSent SrcAvailRead SrcAvailRefused SrcAvailCrossed SrcAvailCancelled SrcAvailReceived
SrcAvailDeclined SinkAvailSent SinkAvailReceived SinkAvailCancelled SinkAvailStale RdmaWriteBytes RdmaWriteBytesByPeer RdmaReadBytes Failures"
declare -A before
# remember: waits for the end of the case before, and remembers the counters.
remember() {
	local name
	echo end >$run
	wait_for $patience no_sockets
	for name in $names; do before[$name]=$(sdpstat "$name"); done
}

# counted TEXT: succeeds if exactly these counters have grown, as "NAME+N NAME+N"
counted() {
	local name now text=''
	for name in $names; do
		now=$(($(sdpstat "$name") - ${before[$name]}))
		[ $now = 0 ] || text+="${text:+ }$name+$now"
	done
	[ "$text" = "$1" ] || { echo "counted: $text, expected: $1"; return 1; }
}

no_pages_left() {
	wait_for $patience unpinned && return
	echo "$(pinned) pages are pinned"
	return 1
}

# meets CASE COUNTED INFO OPERATION...: all bytes are right, and the connection stays established
meets() {
	remember
	# shellcheck disable=SC2086 # several words
	listener_start accept $tight "${@:4}" info hold
	check "$1: bytes are right, and go the way they should" commit "$1"
	check "$1: SDP_INFO: $3" says server $patience "info $3"
	check "$1: counted: $2" counted "$2"
	check "$1: the connection stands" stands
	check "$1: no page is pinned" no_pages_left
	peers_end server
}

crossing() {
	local sent="SrcAvailSent+2 SrcAvailRead+1" crossed="SrcAvailCrossed+1 SinkAvailReceived+1"
	# The first SrcAvail is read each time. Mode 2 is Pipelined.
	meets mode-stale "$sent SrcAvailRefused+1 SinkAvailReceived+2 SinkAvailStale+1 RdmaWriteBytes+$large" \
		"tx_mode=2 learning=0 stale=1 srcavail=2 crossed=0" \
		send $large send $small recv 1 send $large recv 1 send $large
	meets mode-crossed "$sent $crossed RdmaWriteBytes+$large" \
		"tx_mode=2 learning=0 stale=0 srcavail=2 crossed=1" send $large recv 1 send $large
	meets mode-crossed-partly "$sent $crossed RdmaWriteBytes+$((large - piece))" \
		"tx_mode=2 learning=0 stale=0 srcavail=2 crossed=1" send $large recv 1 send $large
	meets mode-crosses "SrcAvailReceived+1 SinkAvailSent+1 RdmaWriteBytesByPeer+$large" \
		"tx_mode=1 learning=0 stale=0 srcavail=0 crossed=0" \
		recv 1 recv $large recv 1 send $small
}

# There may be several reports for one SinkAvail (wire section 8), or only one.
reports() {
	local info="tx_mode=1 learning=0 stale=0 srcavail=0 crossed=0"
	meets mode-several "SinkAvailSent+2 SinkAvailCancelled+1 RdmaWriteBytesByPeer+$large" "$info" \
		recv 1 recv $large recv 1 send $small
	meets mode-once "SinkAvailSent+3 SinkAvailCancelled+1 RdmaWriteBytesByPeer+$large" "$info" \
		recv 1 recv $large recv 1 send $small
	# It is a race whether the reader cancels the remainder before the excessive report
	# arrives.
	names=${names/SinkAvailCancelled/} silent mode-beyond "recv: E[A-Z]+" \
		"SinkAvailSent+1 RdmaWriteBytesByPeer+$piece Failures+1" recv 1 recv $large
}

# silent CASE SAYS COUNTED OPERATION...: the call returns with SAYS, and leaves nothing behind
silent() {
	remember
	listener_start accept "${@:4}" hold
	check "$1: done" commit "$1"
	check "$1: the call returns: $2" says server $((2 * patience)) "$2"
	check "$1: counted: $3" counted "$3"
	check "$1: no page is pinned" no_pages_left
	[ "${goes_on:-}" = "" ] || check "$1: the connection stands" stands
	peers_end server
}

# A killed program does not wait longer either.
killed() {
	remember
	listener_start accept "${@:2}"
	check "$1, killed: done" commit "$1"
	kill -KILL "${peer_pid[server]}"
	check "$1, killed: it ends" over server $((2 * patience))
	check "$1, killed: no page is pinned" no_pages_left
	peers_end server
}

silence() {
	# The reader's call ends by its time limit too; the next call returns the connection's
	# error.
	local lost="E(TIMEDOUT|CONNRESET)" wait="timeouts $((300 * slow))"
	local cancelled="SrcAvailSent+1 SrcAvailCancelled+1 Failures+1"
	local taken_back="SinkAvailSent+1 SinkAvailCancelled+1 Failures+1"
	silent srcavail-silent "send: ETIMEDOUT" "$cancelled" $wait send $large
	silent srcavail-silent-partly "send: ETIMEDOUT" "$cancelled" $wait send $large
	silent srcavail-gone "send: $lost" "$cancelled" $wait send $large
	silent buffer-silent "recv: EAGAIN" "$taken_back" recv 1 $wait recv $large
	silent buffer-silent-written "recv: EAGAIN" "$taken_back" recv 1 $wait recv $large
	silent buffer-gone "recv: E(AGAIN|TIMEDOUT|CONNRESET)" "$taken_back" recv 1 $wait recv $large
	silent msg-srcavail-silent "swallow: $lost" "SrcAvailReceived+1 Failures+1" swallow
	killed srcavail-silent send $large
	killed buffer-silent recv 1 recv $large
}

# A cancellation is answered: the connection continues.
answered() {
	# shellcheck disable=SC2086 # several words
	goes_on=1 silent srcavail-cancelled "info tx_mode=1 learning=0 stale=0 srcavail=1 crossed=0" \
		"SrcAvailSent+1 SrcAvailRefused+1 SrcAvailCancelled+1" $tight timeouts $((2000 * slow)) send $large info
	goes_on=1 silent srcavail-late "info tx_mode=1 learning=0 stale=0 srcavail=2 crossed=0" \
		"SrcAvailSent+2 SrcAvailRead+1 SrcAvailRefused+1 SrcAvailCancelled+1" send $large recv 1 info
	goes_on=1 silent buffer-cancelled "info tx_mode=1 learning=0 stale=0 srcavail=0 crossed=0" \
		"SinkAvailSent+1 SinkAvailCancelled+1" recv 1 timeouts $((300 * slow)) wait-out $large \
		timeouts 0 recv 1 info
}

hostile_begin
wait_for $patience no_sockets
crossing
reports
answered
silence
echo end >$run
hostile_end
tap_done
