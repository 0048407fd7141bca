#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that breaks the rules of datagrams in every way that sdp_hostile_ud.ko knows.
# What cannot be of a connection's peer is dropped and counted, and disturbs nobody; what is, and is
# wrong, ends that connection alone. Floods cost no memory. An honest connection streams by the
# same queue pairs all the time. SDP_SEED and SDP_CASES in the environment repeat or extend the
# random datagrams.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" cases

need_module hostile_ud
run=/sys/kernel/debug/sdp_hostile_ud/run
heard=${run%/run}/heard
settings=/proc/sys/net/sdp
keeps $settings/{service,fin_timeout_ms}
restore() {
	peers_end
	rmmod sdp_hostile_ud
}
cleanup restore

datagrams=$((20000 / slow))
! short_form || datagrams=$((8000 / slow))
datagrams=${SDP_CASES:-$datagrams}
seed=${SDP_SEED:-$((RANDOM * 32768 + RANDOM))}

begin() {
	touch "$SDP_RUN/hostile"
	load_module hostile_ud
	echo ud >$settings/service
	check "data before" transfer "$SDP_B"
	objects_before=$(counts_at_rest)
}

came() { awk -v type="$1" '$1 == type { print $2 }' $heard; }

dropped() { sdpstat DatagramsDropped; }

# spoken CASE [COUNT]: runs a case against a new listener, whose program reads, unless $first has
# another operation
spoken() {
	bad_before=$(bad_counts) dropped_before=$(dropped)
	listener_start accept ${first:-swallow} hold
	check "$1: said" commit "$@"
}

# rejected REASON COUNTED CASE...: Opens that make no connection
rejected() {
	local name
	for name in "${@:3}"; do
		bad_before=$(bad_counts)
		listener_start hold
		check "$name: said" commit "$name"
		check "$name: refused" verdict_is "refused $1"
		check "$name: counted as ${2:-nothing}" counted "${2:+$2+1}"
		peers_end server
	done
}

# unopened CASE [COUNT]: Opens whose cookie is wrong
unopened() {
	bad_before=$(bad_counts)
	listener_start hold
	check "$1: said" commit "$@"
	check "$1: there is no connection" verdict_is nothing
	check "$1: nor a socket" queue_is 0
	check "$1: the Opens are challenged" wait_for $patience eval '[ "$(came challenge)" -gt 0 ]'
	peers_end server
}

# all_end COUNTED CASE...: the connection ends
all_end() {
	local name
	for name in "${@:2}"; do
		spoken "$name"
		check "$name: the connection is ended" verdict_is ended
		check "$name: counted as ${1:-nothing}" counted "${1:+$1+1}"
		peers_end server
	done
}

# unheeded LEAST CASE [COUNT]: the connection stands, and LEAST datagrams are dropped
unheeded() {
	spoken "${@:2}"
	check "$2: the connection stands" verdict_is stands
	check "$2: counted as nothing" counted ""
	check "$2: dropped, and counted: $1" test $(($(dropped) - dropped_before)) -ge "$1"
	echo end >$run
	peers_end server
}

all_unheeded() {
	local name
	for name in data-ok seq-old seq-ancient seq-last ack-old ack-ancient ack-of-no-probe \
		nack-of-no-probe data-round; do
		unheeded 0 $name
	done
	for name in type-unknown type-challenge type-open-ack type-open-reject flags-unknown \
		data-goes-on window-0 window-77 window-most packets-0 packets-37 packets-most \
		offset-beyond offset-most data-empty reset-with-body probe-no-number reset-number ack-round reset-round \
		header-short nothing version-other; do
		case $name in
		# They belong to the beginning of a connection.
		type-challenge | type-open-*) unheeded 0 $name ;;
		*) unheeded 1 $name ;;
		esac
	done
	for name in from-other from-0 reset-beyond reset-old data-from-other-qp \
		reset-from-other-qp; do
		unheeded 1 $name
	done
	# There is no such connection: a Reset is the answer, but not to a Reset.
	for name in to-other to-0 reset-to-other-qp; do unheeded 0 $name; done
}

all_ended() {
	all_end BadSeq seq-beyond seq-far packets-change probe-beyond message-skips
	all_end BadLen data-short data-too-much message-too-long
	all_end BadAck ack-ahead ack-far
	all_end BadMid message-unknown
	all_end "" reset reset-last reset-goes-on
}

all_opens() {
	unheeded 0 open-ok
	rejected 3 BadMid open-hello-mid open-hello-garbage
	rejected 3 BadBufs open-hello-bufs-0
	rejected 3 BadHello open-size-0 open-size-small open-size-huge open-service \
		open-hello-version open-hello-recvsize-0 open-hello-source \
		open-hello-target
	rejected 1 "" open-port-0
	unopened open-cookie-guessed 100
	unopened open-cookie-of-id
	unopened open-cookie-of-seq
	unopened open-cookie-of-qp
}

# The same Open makes one connection, however often it comes.
opened_again() {
	unheeded 0 open-again 200
	check "open-again: nothing but the honest connection is left" wait_for $patience only_honest
}

only_listener() {
	awk -v port="$(printf ':%04X$' $port_here)" '
		$2 ~ port { n++ }
		END { exit n != 1 }' /proc/net/sdp
}

# A connection that the peer does not confirm ends.
unconfirmed() {
	listener_start hold
	check "open-unconfirmed: said" commit open-unconfirmed
	check "open-unconfirmed: it waits to be confirmed" \
		wait_for $patience eval '! only_listener'
	check "open-unconfirmed: it ends" wait_for $((2 * patience)) only_listener
	peers_end server
}

# The peer says nothing any more.
fell_silent() {
	first=flow spoken silent
	check "silent: the socket says ETIMEDOUT" says server $((2 * patience)) "flow: ETIMEDOUT"
	peers_end server
}

unreclaimable() {
	awk '$1 == "SUnreclaim:" || $1 == "PageTables:" { n += $2 } END { print n }' /proc/meminfo
}

# floods CASE COUNT VERDICT: memory stays as it is, within 4 MB
floods() {
	local before
	before=$(unreclaimable)
	check "$1: said $2 times" commit "$1" "$2"
	check "$1: costs no memory ($(($(unreclaimable) - before)) KB)" \
		test $(($(unreclaimable) - before)) -lt $((4096 * slow))
	check "$1: $3" verdict_is "$3"
}

all_floods() {
	local before
	listener_start accept swallow hold
	floods open-flood $((20000 / slow)) nothing
	check "open-flood: no socket comes of it" queue_is 0
	floods strays $((5000 / slow)) nothing
	# Each may be answered once, and a Reset is not.
	check "strays: no more answers than questions" test "$(came reset)" -le $((4000 / slow))
	peers_end server
	unheeded $((900 / slow)) reset-guessed $((1000 / slow))
	unheeded 0 qkey-guessed 100
	before=$(sdpstat DatagramAcks)
	unheeded 0 flood-probe $((2000 / slow))
	echo "# $(($(sdpstat DatagramAcks) - before)) acknowledgments"
	unheeded 0 flood-data $((2000 / slow))
	before=$(sdpstat DatagramsAgain)
	first="send 100000" unheeded 0 flood-nack $((2000 / slow))
	before=$(($(sdpstat DatagramsAgain) - before))
	check "flood-nack: no more packets sent again than NACKs were heard: $before" \
		test $before -le $((2000 / slow))
}

# Random datagrams against several kinds of programs
generated() {
	local victims=$((port + 1)) i result
	port=$((port + 10))
	echo "# SEED=$seed CASES=$datagrams"
	victim victim-server serve $SDP_B $victims
	says victim-server $patience up
	bad_before=$(bad_counts)
	# The fifth of its listeners never accepts.
	for i in {0..3}; do
		check "random datagrams to the listener $i" eval \
			"echo 'generate $((victims + i)) $((datagrams / 4)) $((seed + i))' >$run"
		result=$(<$run)
		echo "# $result"
		check "many have ended a connection" eval '[[ $result =~ ended\ ([0-9]+) ]] &&
			[ ${BASH_REMATCH[1]} -ge $((datagrams / 1000)) ]'
		check "the honest connection streams" streaming
	done
	echo end >$run
	echo "# $(bad_since)"
	check "calls have no other errors, and no memory beside a read is written to" \
		eval '! grep -H wrong "$peers"/victim*'
	peers_end victim-server
	check "nothing is left of them" wait_for $((2 * patience)) only_honest
}

echo 1000 >$settings/fin_timeout_ms
begin
honest_start
all_opens
all_unheeded
all_ended
opened_again
unconfirmed
fell_silent
all_floods
generated
honest_end
check "what AF_SDP has said was well formed" test "$(came malformed)" = 0
check "no socket is left" wait_for $patience no_sockets
check "the hostile module goes" rmmod sdp_hostile_ud
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects_before"
check "and connections work" transfer $SDP_B
tap_done
