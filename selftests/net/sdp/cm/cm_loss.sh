#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Loss of CM messages: connect and close end within a bound and with the right result.
# Each kind of message is lost once, and then always.
. "$(dirname "$0")/../lib/lib.sh" cm_loss cm
declare -A number=([REQ]=16 [REJ]=18 [REP]=19 [RTU]=20 [DREQ]=21 [DREP]=22)
always=1000000

# lose MESSAGE COUNT: loses the next COUNT messages of that kind
lose() {
	echo 0 >$parameters/lost
	echo "${number[$1]}" >$parameters/attribute
	echo "$2" >$parameters/count
}

hear_again() { echo 0 >$parameters/count; }

aftermath() {
	check "$1: messages were lost" test "$(<$parameters/lost)" -ge 1
	all_ends "$1" hear_again
}

# fails WHAT ERRNO [listener]: a connect that must fail, with or without a listener
fails() {
	if [ "${3:-}" = listener ]; then
		listens server $SDP_B accept hold
	else
		next_port
	fi
	peer client connect $SDP_B $port
	check "$1: connect fails with $2" says client $((2 * patience)) "connect: $2"
}

# told_again COUNT: the DREQ that tells the peer of the end, or of a reset, is repeated as long as
# that may help.
told_again() {
	local what="$1 DREQ lost" timeouts

	timeouts=$(sdpstat OrphanTimeouts)
	lose DREQ "$1"
	connects "$what"
	check "$what: both ends are over" wait_for $patience no_sockets
	check "$what: because they were told" test "$(sdpstat OrphanTimeouts)" = "$timeouts"
	# They are sent when the sockets have gone.
	check "$what: as many were lost" wait_for $patience eval '[ "$(<$parameters/lost)" = '"$1"' ]'
	lose DREQ "$1"
	pair $SDP_B accept send 1000 drain -- hold
	check "$what: the client has something unread" wait_for $patience unread
	peers_end client
	check "$what: the other end hears of a reset" says server $patience "drain: ECONNRESET"
	aftermath "$what"
}

# /proc/net/sdp has both queues of a socket in one column.
unread() { connections tx_queue $ESTABLISHED | grep -q ':.*[1-9A-F]'; }

# A task that waits for the answer to a DREQ, for a long time, returns when its device is removed.
device_goes() {
	local what="every DREQ lost, a device goes"
	lose DREQ $always
	connects "$what"
	wait_for $patience eval '[ "$(<$parameters/lost)" -ge 1 ]'
	check "$what: nobody waits for an answer" timeout 3 rdma link delete rxa
	hear_again
	peers_end
	lab_device "" rxa va 0 1
	check "$what, and comes back: a connection works" transfer $SDP_B
	wait_for $patience no_sockets
}

requested() { [ -n "$(connections st $SYN_RECV)" ]; }

# A client may get the REP at the last moment, and its data then needs a listening end. So a
# listener's end of a connection waits longer than a client with the same settings.
outlasts() {
	local what="no REP is heard, then nothing" gone
	echo 8000 >$settings/connect_timeout_ms
	lose REP $always
	pair $SDP_B accept hold --
	check "$what: the request arrives" wait_for $patience requested
	echo 100 >$parameters/share
	check "$what: connect fails with ETIMEDOUT" says client $((2 * patience)) "connect: ETIMEDOUT"
	# When it was written, not when this script has seen it.
	gone=$(date -r "$peers/client" +%s%3N)
	check "$what: the other end gives up as well" wait_for $patience eval '! requested'
	check "$what: but later" test $(($(ms) - gone)) -ge 700
	echo 0 >$parameters/share
	aftermath "$what"
}

check "data before" transfer $SDP_B
deaf_begin
for times in 1 2; do
	told_again $times
done
echo 5000 >$settings/fin_timeout_ms
[ $slow != 1 ] || device_goes

for message in REQ REP RTU DREQ DREP; do
	lose $message 1
	connects "one $message lost"
	# The last ones are sent when the programs have exited.
	wait_for $patience eval '[ "$(<$parameters/lost)" = 1 ]'
	aftermath "one $message lost"
done
lose REJ 1
fails "one REJ lost" ECONNREFUSED
aftermath "one REJ lost"

for message in RTU DREQ DREP; do
	lose $message $always
	connects "every $message lost"
	wait_for $patience eval '[ "$(<$parameters/lost)" -ge 1 ]'
	aftermath "every $message lost"
done
echo 4000 >$settings/connect_timeout_ms
for message in REQ REP; do
	lose $message $always
	fails "every $message lost" ETIMEDOUT listener
	aftermath "every $message lost"
done
outlasts
echo 4000 >$settings/connect_timeout_ms
lose REJ $always
fails "every REJ lost" ETIMEDOUT
aftermath "every REJ lost"
tap_done
