#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that violates the wire protocol in every way that sdp_hostile.ko knows.
# Its connection ends, the violation is counted by its kind, and nothing else is disturbed: an
# honest connection streams all the time.
# Some processes wait while all the cases run.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" hostile

restore() {
	peers_end
	rmmod sdp_hostile
	echo 30000 >/proc/sys/net/sdp/connect_timeout_ms
	echo 60000 >/proc/sys/net/sdp/fin_timeout_ms
	echo 3 >/proc/sys/net/sdp/accept_buffers
	echo 65536 >/proc/sys/net/sdp/rdma_threshold
	echo 100 >/proc/sys/net/sdp/scan_ms
}
cleanup restore
# Room for three messages even before accept() posts the other receives: otherwise the third one
# would be judged by its credit and not by its fault.
echo 6 >/proc/sys/net/sdp/accept_buffers

violations() { grep ^Bad /proc/net/sdpstat; }

# violations_since: the violations counted since $violations_before, as "Name+N Name+N"
violations_since() {
	violations | paste -d ' ' - <(echo "$violations_before") |
		awk '$2 != $4 { printf "%s%s+%d", sep, $1, $2 - $4; sep = " " }'
}

verdict() { cat $run | sort | uniq -c | awk '{ printf "%s%s", sep, $2 ($3 == "" ? "" : " " $3); sep = ", " }'; }

verdict_is() {
	local got
	got=$(verdict)
	[ "$got" = "$1" ] || { echo "verdict: $got, expected: $1"; return 1; }
}

counted() {
	local got
	got=$(violations_since)
	[ "$got" = "$1" ] || { echo "counted: $got, expected: $1"; return 1; }
}

# hello CASE COUNTED [REASON]: a Hello that is refused
hello() {
	my_turn || return 0
	violations_before=$(violations)
	check "$1: said" commit "$1"
	check "$1: the request is rejected" verdict_is "rejected ${3:-28}"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
}

# message CASE COUNTED WHAT-THE-SOCKET-SAYS [WHAT-IT-DOES-BEFORE]...: a message that ends the
# connection
message() {
	my_turn || return 0
	violations_before=$(violations)
	# Keep the socket open: closing it at the end of the stream would end the connection before
	# later messages are checked.
	listener_start accept "${@:4}" ended hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: the socket says $3" says server $patience "$3"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
	peers_end server
}

# srcavail CASE COUNTED: a SrcAvail, then a violation; the program does not read
srcavail() {
	my_turn || return 0
	violations_before=$(violations)
	listener_start accept hold
	check "$1: said" commit "$1"
	check "$1: the connection is ended" verdict_is ended
	check "$1: counted as $2" counted "$2+1"
	peers_end server
}

all_hellos() {
	listener_start hold
	hello hello-short-len BadLen
	hello hello-zeroes BadLen
	hello no-private-data BadLen
	hello hello-mid BadMid
	hello hello-garbage BadMid
	hello hello-flags BadFlags
	hello hello-mseq BadSeq
	hello hello-bufs-0 BadBufs
	hello hello-bufs-65535 BadBufs
	hello hello-version-1 BadHello
	hello hello-ip-version BadHello
	hello hello-adverts-0 BadHello
	hello hello-recvsize-0 BadHello
	hello hello-recvsize-huge BadHello
	hello hello-port-0 BadHello
	hello hello-wrong-source BadHello
	hello hello-wrong-destination BadHello
	hello hello-padding BadHello
	hello mtu-odd "" 26
	hello no-listener "" 8
	check "after all these the listener is there, and its queue empty" queue_is 0
	peers_end server
}

# Counted once, or more often if the REQ is repeated.
told_lies() { [[ $(violations_since) =~ ^BadHello\+[0-9]+$ ]]; }

# The CM itself may refuse addresses without a route: IB_CM_REJ_INVALID_GID.
not_taken() { told_lies || [ "$(verdict)" = "rejected 12" ]; }

# forged CASE ADDRESS [REFUSED]: a REQ and its Hello with addresses that the packet does not have,
# or that no packet can have. The listener is bound to ADDRESS. With REFUSED the CM may refuse it.
forged() {
	local way=told_lies
	[ $# -lt 3 ] || way=not_taken
	my_turn || return 0
	violations_before=$(violations)
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
	local localnet=/proc/sys/net/ipv4/conf/vb/route_localnet before
	before=$(<$localnet)
	cleanup eval "echo $before >$localnet"
	echo 1 >$localnet
	forged forge-loopback 127.0.0.1
	forged forge-source-loopback $SDP_B
	forged forge-target-loopback 127.0.0.1
	echo "$before" >$localnet
	forged forge-loopback6 ::1 refused
	forged forge-source-any $SDP_B refused
	forged forge-source-multicast $SDP_B
	forged forge-source-broadcast $SDP_B
	forged forge-source-nowhere $SDP_B
	forged forge-target-elsewhere $SDP_A
}

all_messages() {
	local proto="ended: EPROTO"
	message msg-empty BadLen "$proto"
	message msg-short BadLen "$proto"
	message msg-no-header BadLen "$proto"
	message msg-too-long BadLen "$proto"
	message msg-wrong-len BadLen "$proto"
	message msg-huge-len BadLen "$proto"
	message msg-mseq-skip BadSeq "$proto"
	message msg-mseq-repeat BadSeq "$proto"
	message msg-ack-ahead BadAck "$proto"
	message msg-ack-back BadAck "$proto"
	message msg-bufs-65535 BadBufs "$proto"
	message msg-bufs-takes-back BadBufs "$proto"
	message msg-unknown-mid BadMid "$proto"
	message msg-hello-again BadMid "$proto"
	message msg-flags-reserved BadFlags "$proto"
	message msg-oob-empty BadFlags "$proto"
	message msg-payload-on-control BadPayload "$proto"
	message msg-mode-field BadField "$proto"
	message msg-srcavail-wrap BadField "$proto"
	message msg-srcavail-huge BadField "$proto"
	message msg-srcavail-empty BadPayload "$proto"
	srcavail msg-srcavail-twice BadState
	srcavail msg-srcavail-data BadState
	srcavail msg-srcavail-disconn BadState
	message msg-rdcompl BadState "$proto"
	message msg-sinkavail BadState "$proto"
	message msg-mode BadState "$proto"
	message msg-wrcompl BadState "$proto"
	message msg-wrcompl-no-buffer BadState "$proto"
	message msg-srcavail-piece BadPayload "$proto"
	message msg-sinkcancel BadState "$proto"
	message msg-sinkcancel-ack BadState "$proto"
	message msg-mode-again BadState "$proto"
	# The connection may end before the socket sends.
	message msg-chrcvbuf-twice BadState "(send|ended): EPROTO" send 1
	message msg-chrcvbuf-hasty BadLen "$proto"
	message msg-chrcvbuf-ack BadState "$proto"
	message msg-sendsm BadState "$proto"
	message msg-abort-early BadState "ended: ECONNRESET"
	message msg-overrun BadCredit "$proto"
	message msg-suspend-ack BadState "$proto"
	# The end of the stream is delivered first, in order, and the error after it.
	message msg-after-disconn BadState "ended"
	message msg-second-disconn BadState "ended"
	message ignores-dreq BadMid "$proto"
	check "the last connection is freed all the same" wait_for $patience only_honest
}

# only_honest: the hostile peer's sockets are gone; the honest pair and its listener are left.
only_honest() {
	awk -v port="$(printf ':%04X$' $honest_port)" \
		'NR > 1 && $2 !~ port && $3 !~ port { bad = 1 } END { exit bad }' /proc/net/sdp
}

# promises: advertisements and requests that the peer does not honour.
promises() {
	echo 1000 >/proc/sys/net/sdp/fin_timeout_ms
	# A Suspend asks us to move the session, which no peer is obliged to do.
	violations_before=$(violations)
	listener_start accept ended
	check "a wish to move: said" commit msg-suspend
	check "a wish to move: nothing happens" stands
	check "a wish to move: counted as nothing" counted ""
	peers_end server
	check "closed, and no DisConn comes: it is ended, as ever" verdict_is ended

	# The peer advertises memory that cannot be read: a non-blocking reader does not wait for
	# it.
	echo 600000 >/proc/sys/net/sdp/scan_ms
	listener_start accept wait "$peers/go" look hold
	check "a SrcAvail of a silent peer: said" commit msg-srcavail-silent
	touch "$peers/go"
	check "a SrcAvail of a silent peer: a look does not wait for it" says server $patience \
		"looked at 1"
	echo end >$run
	peers_end server
	rm -f "$peers/go"
	echo 100 >/proc/sys/net/sdp/scan_ms
	echo 60000 >/proc/sys/net/sdp/fin_timeout_ms
}

# as_meant CASE OPERATION...: regular use of keys
as_meant() {
	my_turn || return 0
	violations_before=$(violations)
	listener_start accept "${@:2}" hold
	check "$1: done" commit "$1"
	check "$1: nothing happens" stands
	check "$1: counted as nothing" counted ""
	peers_end server
}

# The peer accesses more memory than was advertised: the adapter refuses that, which ends the
# connection.
keys() {
	local reset="ECONNRESET" chunk=16384
	echo $((chunk / 2)) >/proc/sys/net/sdp/rdma_threshold
	echo 600000 >/proc/sys/net/sdp/scan_ms
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
	echo 65536 >/proc/sys/net/sdp/rdma_threshold
	echo 100 >/proc/sys/net/sdp/scan_ms
}

# left CASE SOCKET-SAYS: the peer leaves an established connection
left() {
	my_turn || return 0
	violations_before=$(violations)
	listener_start accept ended
	check "$1: done" commit "$1"
	check "$1: the socket says $2" says server $patience "$2"
	check "$1: that is no violation" counted ""
	peers_end server
}

# The queue pair breaks before the connection is established. Depending on when that is noticed, a
# program may have accepted the connection. It ends in any case.
broken_early() {
	my_turn || return 0
	violations_before=$(violations)
	listener_start accept hold
	check "early-read-guessed: done" commit early-read-guessed
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

courses() {
	violations_before=$(violations)
	# The peer never answers our DisConn.
	echo 1000 >/proc/sys/net/sdp/fin_timeout_ms
	listener_start accept ended
	check "an honest message: said" commit msg-honest
	check "an honest message: nothing happens" stands
	check "an honest message: the connection is there" wait_for $patience eval \
		'[ "$(connections st $ESTABLISHED $port_here)" = $ESTABLISHED ]'
	peers_end server
	check "closed, and no DisConn comes: it is ended" verdict_is ended

	# The peer asks for larger receives, and waits for the answer before it continues.
	listener_start accept ended
	resizes_before=$(sdpstat ResizesAnswered)
	check "asks for larger receives: said" commit msg-chrcvbuf
	check "asks for larger receives: answered all the same" wait_for $patience eval \
		'[ $(sdpstat ResizesAnswered) = $((resizes_before + 1)) ]'
	check "asks for larger receives: nothing else happens" stands
	peers_end server
	check "closed, and no DisConn comes: it is ended, too" verdict_is ended

	# There was nothing to cancel.
	listener_start accept ended
	check "a cancel of nothing: said" commit msg-cancel
	check "a cancel of nothing: nothing happens" stands
	peers_end server
	check "closed, and no DisConn comes: it is ended as well" verdict_is ended

	# A SrcAvail with a key that does not exist: the reader's RDMA read fails.
	violations_before=$(violations)
	# No scan may decline the SrcAvail, however long the reader takes.
	echo 600000 >/proc/sys/net/sdp/scan_ms
	listener_start accept swallow hold
	check "a SrcAvail with a wrong key: said" commit msg-srcavail-key
	check "a SrcAvail with a wrong key: the connection is ended" verdict_is ended
	check "a SrcAvail with a wrong key: the reader is told" says server $patience \
		"swallow: ECONNRESET"
	check "a SrcAvail with a wrong key: counted as nothing" counted ""
	peers_end server
	echo 100 >/proc/sys/net/sdp/scan_ms

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
	echo 60000 >/proc/sys/net/sdp/fin_timeout_ms

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

# The peer leaves, or falls silent, before the connection is established.
half_way() {
	local pairs_before
	pairs_before=$(sdp_pairs)
	violations_before=$(violations)
	listener_start hold
	check "leaves-after-req: done" commit leaves-after-req
	check "leaves-after-req: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	check "bad-early-message: done" commit bad-early-message
	check "bad-early-message: counted" wait_for $patience counted "BadMid+1"
	check "bad-early-message: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	check "late-bad-message: done" commit late-bad-message
	check "late-bad-message: counted" wait_for $patience counted "BadMid+2"
	check "late-bad-message: its queue pair goes before the peer's time is over" \
		wait_for 40 eval '[ "$(sdp_pairs)" -le "$pairs_before" ]'
	check "late-bad-message: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	violations_before=$(violations)
	check "leaves-after-rep: done" commit leaves-after-rep
	check "leaves-after-rep: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	check "no-rtu: done" commit no-rtu
	check "no-rtu: no place in the queue is lost" wait_for $((2 * patience)) queue_is 0
	# The timeout that the peer asks for must not bind us for hours.
	echo 2000 >/proc/sys/net/sdp/connect_timeout_ms
	check "no-rtu-for-hours: done" commit no-rtu-for-hours
	check "no-rtu-for-hours: our own time limit holds" wait_for $patience queue_is 0
	echo 30000 >/proc/sys/net/sdp/connect_timeout_ms
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
