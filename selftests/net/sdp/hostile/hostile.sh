#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that violates the wire protocol in every way that sdp_hostile.ko knows.
# Its connection ends, the violation is counted by its kind, and nothing else is disturbed: an
# honest connection streams all the time.
# Some processes wait while all the cases run.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" cases

settings=/proc/sys/net/sdp
keeps $settings/{connect_timeout_ms,fin_timeout_ms,accept_buffers,idle_buffers}
keeps $settings/{rdma_threshold,scan_ms}
restore() {
	peers_end
	rmmod sdp_hostile
}
cleanup restore
# Room for three messages even before accept(), and then for a dozen, whether the peer has shown
# that it needs them or not: otherwise a message would be judged by its credit and not by its fault.
echo 6 >$settings/accept_buffers
echo 12 >$settings/idle_buffers

# hello CASE COUNTED [REASON]: a Hello that is refused
hello() {
	my_turn || return 0
	bad_before=$(bad_counts)
	check "$1: said" commit "$1"
	check "$1: the request is rejected" verdict_is "rejected ${3:-28}"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
}

# hellos COUNTED CASE...: such Hellos
hellos() {
	local name
	for name in "${@:2}"; do hello "$name" "$1"; done
}

all_hellos() {
	listener_start hold
	hellos BadLen hello-short-len hello-zeroes no-private-data
	hellos BadMid hello-mid hello-garbage
	hellos BadFlags hello-flags
	hellos BadSeq hello-mseq
	hellos BadBufs hello-bufs-0 hello-bufs-65535
	hellos BadHello hello-version-1 hello-ip-version hello-adverts-0 hello-recvsize-0 \
		hello-recvsize-huge hello-port-0 hello-wrong-source hello-wrong-destination \
		hello-padding
	hello mtu-odd "" 26
	hello no-listener "" 8
	check "after all these the listener is there, and its queue empty" queue_is 0
	peers_end server
}

# Counted once, or more often if the REQ is repeated.
told_lies() { [[ $(bad_since) =~ ^BadHello\+[0-9]+$ ]]; }

# The CM itself may refuse addresses without a route: IB_CM_REJ_INVALID_GID.
not_taken() { told_lies || [ "$(verdict)" = "rejected 12" ]; }

# forged CASE ADDRESS [REFUSED]: a REQ and its Hello with addresses that the packet does not have,
# or that no packet can have. The listener is bound to ADDRESS. With REFUSED the CM may refuse it.
forged() {
	local way=told_lies
	[ $# -lt 3 ] || way=not_taken
	my_turn || return 0
	bad_before=$(bad_counts)
	next_port
	port=$((port + 1))
	peer server bind "$2" $((port - 1)) listen $backlog say up hold
	port_here=$((port - 1))
	says server $patience up >/dev/null || tap_not_ok "a listener" "$(show_peers)"
	check "$1: said" commit "$1"
	check "$1: refused" wait_for $patience $way
	check "$1: no connection comes of it" queue_is 0
	echo end >$run
	peers_end server
}

# The CM finds a route to 127.0.0.1 where route_localnet allows it (as on container hosts).
all_forged() {
	local localnet=/proc/sys/net/ipv4/conf/vb/route_localnet
	keeps $localnet
	echo 1 >$localnet
	forged forge-loopback 127.0.0.1
	forged forge-source-loopback $SDP_B
	forged forge-target-loopback 127.0.0.1
	put_back $localnet
	forged forge-loopback6 ::1 refused
	forged forge-source-any $SDP_B refused
	forged forge-source-multicast $SDP_B
	forged forge-source-broadcast $SDP_B
	forged forge-source-nowhere $SDP_B
	forged forge-target-elsewhere $SDP_A
}

all_messages() {
	messages BadLen msg-empty msg-short msg-no-header msg-too-long msg-wrong-len msg-huge-len \
		msg-chrcvbuf-hasty
	messages BadSeq msg-mseq-skip msg-mseq-repeat
	messages BadAck msg-ack-ahead msg-ack-back
	messages BadBufs msg-bufs-65535 msg-bufs-takes-back
	messages BadMid msg-unknown-mid msg-hello-again
	messages BadFlags msg-flags-reserved msg-oob-empty
	messages BadPayload msg-payload-on-control msg-srcavail-empty msg-srcavail-piece
	messages BadField msg-mode-field msg-srcavail-wrap msg-srcavail-huge
	messages BadState msg-rdcompl msg-sinkavail msg-mode msg-wrcompl msg-wrcompl-no-buffer \
		msg-sinkcancel msg-sinkcancel-ack msg-mode-again msg-chrcvbuf-ack msg-sendsm \
		msg-suspend-ack
	messages BadCredit msg-overrun
	# No scan may decline the SrcAvail before the second message has come.
	echo 600000 >$settings/scan_ms
	unread msg-srcavail-twice BadState
	unread msg-srcavail-data BadState
	unread msg-srcavail-disconn BadState
	echo 100 >$settings/scan_ms
	# The connection may end before the socket sends.
	message msg-chrcvbuf-twice BadState "(send|ended): EPROTO" send 1
	message msg-abort-early BadState "ended: ECONNRESET"
	# The end of the stream is delivered first, in order, and the error after it.
	message msg-after-disconn BadState "ended"
	message msg-second-disconn BadState "ended"
	messages BadMid ignores-dreq
	check "the last connection is freed all the same" wait_for $patience only_honest
}

# harmless WHAT CASE [RESULT COMMAND...]: a message after which COMMAND succeeds, and the connection
# stands until it is closed
harmless() {
	bad_before=$(bad_counts)
	listener_start accept ended
	check "$1: said" commit "$2"
	check "$1: nothing happens" stands
	[ $# = 2 ] || check "$1: $3" wait_for $patience "${@:4}"
	check "$1: counted as nothing" counted ""
	peers_end server
	check "$1: closed, and no DisConn comes: it is ended" verdict_is ended
}

# promises: advertisements and requests that the peer does not honour.
promises() {
	echo 1000 >$settings/fin_timeout_ms
	# A Suspend asks us to move the session, which no peer is obliged to do.
	harmless "a wish to move" msg-suspend

	# The peer advertises memory that cannot be read: a non-blocking reader does not wait for
	# it.
	echo 600000 >$settings/scan_ms
	listener_start accept wait "$peers/go" look hold
	check "a SrcAvail of a silent peer: said" commit msg-srcavail-silent
	touch "$peers/go"
	check "a SrcAvail of a silent peer: a look does not wait for it" says server $patience \
		"looked at 1"
	echo end >$run
	peers_end server
	rm -f "$peers/go"
	echo 100 >$settings/scan_ms
	echo 60000 >$settings/fin_timeout_ms
}

# The peer accesses more memory than was advertised: the adapter refuses that, which ends the
# connection.
keys() {
	local reset="ECONNRESET" chunk=16384
	echo $((chunk / 2)) >$settings/rdma_threshold
	echo 600000 >$settings/scan_ms
	# The regular use: the peer reads a SrcAvail, then a small write follows.
	as_meant key-read send $chunk send 10
	message key-read-late "" "ended: $reset" send $chunk send 10
	message key-read-before "" "send: $reset" send $chunk
	message key-read-beyond "" "send: $reset" send $chunk
	message key-write-srcavail "" "send: $reset" send $chunk
	# The peer writes to the memory of a SinkAvail.
	as_meant key-write swallow
	message key-write-late "" "swallow: $reset" swallow
	message key-write-before "" "swallow: $reset" swallow
	message key-write-beyond "" "swallow: $reset" swallow
	message key-read-buffer "" "swallow: $reset" swallow
	echo 65536 >$settings/rdma_threshold
	echo 100 >$settings/scan_ms
}

# left CASE SOCKET-SAYS: the peer leaves an established connection
left() {
	my_turn || return 0
	speak "$1" ended
	check "$1: the socket says $2" says server $patience "$2"
	check "$1: that is no violation" counted ""
	peers_end server
}

# The queue pair breaks before the connection is established. Depending on when that is noticed, a
# program may have accepted the connection. It ends in any case.
broken_early() {
	my_turn || return 0
	speak early-read-guessed hold
	check "early-read-guessed: the connection is ended" wait_for $patience is_over
	check "early-read-guessed: that is no violation" counted ""
	peers_end server
}

is_over() { [[ $(verdict) =~ ^(ended|rejected.*)$ ]]; }

# Sends find no receive: the adapter retries as often as the peer wants, possibly without limit,
# but no more often than rnr_retry_count.
no_receives() {
	local wish
	for wish in takes-nothing takes-nothing-twice; do
		listener_start accept flow hold
		check "$wish: said" commit $wish
		check "$wish: the writer is told" says server $((2 * patience)) \
			"flow: E(CONNRESET|TIMEDOUT)"
		check "$wish: the honest connection streams" streaming
		peers_end server
	done
	listener_start accept flow hold
	check "posts one receive now and then: bytes come" commit takes-one-by-one
	check "posts one receive now and then: the honest connection streams" streaming
	peers_end server
	check "posts one receive now and then: closed, it is ended" verdict_is ended
}

resize_answered() { [ "$(sdpstat ResizesAnswered)" = $((resizes_before + 1)) ]; }

established() { [ "$(connections st $ESTABLISHED $port_here)" = $ESTABLISHED ]; }

courses() {
	# The peer never answers our DisConn.
	echo 1000 >$settings/fin_timeout_ms
	harmless "an honest message" msg-honest "the connection is there" established
	# The peer asks for larger receives, and waits for the answer before it continues.
	resizes_before=$(sdpstat ResizesAnswered)
	harmless "asks for larger receives" msg-chrcvbuf "answered all the same" resize_answered
	# There was nothing to cancel.
	harmless "a cancel of nothing" msg-cancel

	# A SrcAvail with a key that does not exist: the reader's RDMA read fails.
	bad_before=$(bad_counts)
	# No scan may decline the SrcAvail, however long the reader takes.
	echo 600000 >$settings/scan_ms
	listener_start accept swallow hold
	check "a SrcAvail with a wrong key: said" commit msg-srcavail-key
	check "a SrcAvail with a wrong key: the connection is ended" verdict_is ended
	check "a SrcAvail with a wrong key: the reader is told" says server $patience \
		"swallow: ECONNRESET"
	check "a SrcAvail with a wrong key: counted as nothing" counted ""
	peers_end server
	echo 100 >$settings/scan_ms

	# The peer keeps sending to a closed socket, in messages that are answered.
	timeouts=$(sdpstat OrphanTimeouts)
	listener_start accept close hold
	check "talks to a closed socket for ever: until it is ended" commit chatters
	check "talks to a closed socket for ever: it is ended" verdict_is ended
	check "talks to a closed socket for ever: by the time limit" \
		[ "$(sdpstat OrphanTimeouts)" = $((timeouts + 1)) ]
	peers_end server

	short_form || no_receives

	listener_start accept ended
	check "a message instead of RTU: said" commit early-message
	check "a message instead of RTU: it counts as one" says server $patience accepted
	peers_end server
	check "closed, and no DisConn comes: it is freed too" wait_for $patience only_honest
	echo 60000 >$settings/fin_timeout_ms

	# An RDMA write of length 0 is legal as a keepalive probe and writes nothing. With
	# immediate data it must not pass for a message.
	message msg-write-imm BadLen "ended: EPROTO"

	# Only advertised keys give access to memory. A wrong key breaks the queue pair, and the
	# peer sends nothing more.
	message msg-write-guessed "" "ended: ECONNRESET"
	message msg-read-guessed "" "ended: ECONNRESET"
	broken_early

	# A peer may invalidate only keys that it was told of.
	message msg-revoke-none "" "ended: EPROTO"
	printf %s "$SDP_B" >$hostile_from
	message msg-revoke-foreign BadKey "ended: EPROTO"
	printf %s "$SDP_A" >$hostile_from

	left leaves-after-rtu "ended: ECONNRESET"
	left leaves-after-disconn "ended"
}

sdp_pairs() { rdma resource show qp | grep -c '\[sdp\]'; }

pairs_at_most() { [ "$(sdp_pairs)" -le "$1" ]; }

# goes CASE: the peer leaves, or falls silent, before the connection is established
goes() {
	check "$1: done" commit "$1"
	check "$1: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
}

half_way() {
	local pairs_before
	pairs_before=$(sdp_pairs)
	bad_before=$(bad_counts)
	listener_start hold
	goes leaves-after-req
	goes bad-early-message
	check "bad-early-message: counted" wait_for $patience counted "BadMid+1"
	check "late-bad-message: done" commit late-bad-message
	check "late-bad-message: counted" wait_for $patience counted "BadMid+2"
	check "late-bad-message: its queue pair goes before the peer's time is over" \
		wait_for 40 pairs_at_most "$pairs_before"
	check "late-bad-message: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	bad_before=$(bad_counts)
	goes leaves-after-rep
	goes no-rtu
	# The timeout that the peer asks for must not bind us for hours.
	echo 2000 >$settings/connect_timeout_ms
	check "no-rtu-for-hours: done" commit no-rtu-for-hours
	check "no-rtu-for-hours: our own time limit holds" wait_for $patience queue_is 0
	echo 30000 >$settings/connect_timeout_ms
	check "and the listener still accepts" still_accepts
	check "nothing of this was a violation" counted ""
	echo end >$run
	peers_end server
}

flood() {
	local full
	listener_start hold
	full=$(sdpstat BacklogFull)
	check "30 requests at once: done" commit req-flood
	check "30 requests at once: the queue takes one more than the backlog" queue_is 5
	check "30 requests at once: the others are sent away" \
		test "$(sdpstat BacklogFull)" = $((full + 25))
	check "30 requests at once: the honest connection streams" streaming
	echo end >$run
	check "30 requests at once: the queue empties when they go" wait_for $((2 * patience)) queue_is 0
	check "30 requests at once: the listener still accepts" still_accepts
	peers_end server
}

# The service id of the port is taken, so listen() is refused on RDMA. A loopback client that
# connected meanwhile must not be forgotten.
refused_listener() {
	next_port
	echo "accept 1 0 0 $port" >/sys/kernel/debug/sdp_hostile/generate
	check "a listener that one transport refuses: nobody waits there for ever" \
		timeout $((4 * patience)) "$programs/victim" knock 127.0.0.1 $port $((400 / slow))
	sed 's/^/# /' "$tap_output"
	echo stop >/sys/kernel/debug/sdp_hostile/generate
}

hostile_begin
left_out "not peers that post no receives; one case of six here, or five; the others on another kernel"
honest_start
all_hellos
all_forged
all_messages
check "the honest connection streams beside all these" streaming
courses
short_form || promises
left_out "no promises that are not kept"
keys
my_turn && half_way
my_turn && flood
my_turn && refused_listener
# Free the hostile peer's connection of the last case.
echo end >$run
honest_end
hostile_end
tap_done
