#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# DMA mappings that fail for a while or permanently, as with exhausted bounce buffers (A4).
# Messages wait, in order, and connections survive; every end comes in time, and a connection that
# nothing else ends within a minute is ended with an error of its own.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

unmapped=/sys/module/sdp_unmapped/parameters
settings=/proc/sys/net/sdp
tracing=/sys/kernel/tracing
need_lab
need_module unmapped

keeps $settings/{flow_control,fin_timeout_ms}
restore() {
	peers_end
	rmmod sdp_unmapped
	lab_intact || { lab_down; lab_up; }
}
cleanup restore

always=1000000000
small=900 small_amount=180000 large=65536 large_amount=$((24 * 65536))
most_failures=400
# A minute, and the time that the debug kernel adds.
for_ever=$((60 + 2 * patience))
undone=0

# fail KIND DEVICE COUNT [ONE-OF]: "sends" or "receives" of a device fail to be mapped
fail() {
	echo 0 >$unmapped/refused
	echo 0 >$unmapped/later
	echo "${4:-1}" >$unmapped/every
	echo "$2" >$unmapped/"$1"_on
	echo "$3" >$unmapped/"$1"
}

fail_no_more() {
	echo 0 >$unmapped/sends
	echo 0 >$unmapped/receives
}

were() { [ "$(<$unmapped/"$1")" -ge "$2" ]; }

# exchange WHAT: the connection's next phase, with failures
exchange() {
	next_phase "$1" $((3 * patience))
	echo "# $1: $(<$unmapped/refused) not mapped"
	check "$1: some were not mapped" were refused 5
	connection_lives "$1"
	fail_no_more
	undone=$((undone + $(<$unmapped/later)))
}

# Only long messages consist of several pieces.
exchanges() {
	local one_of
	echo "$1" >$settings/flow_control
	check "a connection by $1" phases_begin 20 $small $small_amount $large $large_amount
	for one_of in 2 5; do
		fail sends rxa $most_failures $one_of
		exchange "$1, one of $one_of sends of one end"
		fail receives rxb $most_failures $one_of
		exchange "$1, one of $one_of receives of the other"
	done
	fail sends rxa $most_failures 3
	fail receives rxa $most_failures 3
	exchange "$1, sends and receives of one end"
	peers_end
}

# ends SERVER-OPERATIONS CLIENT-OPERATIONS: a connection whose client is on rxa.
ends() {
	next_port
	eval "peer server bind $SDP_B $port listen 5 say up accept $1"
	says server $patience up && eval "peer client connect $SDP_B $port $2" && says client $patience connected
}

# unsent WHAT SERVER-OPERATIONS CLIENT-OPERATIONS: a connection of which nothing can be sent
unsent() {
	check "a connection $1" ends "$2" "wait $peers/go $3"
	fail sends rxa $always
	touch "$peers/go"
}

# over_in_time WHAT: nothing is left, and connections work. (A device's first connection creates
# objects that the device keeps.)
over_in_time() {
	peers_end
	check "$1: no socket is left" wait_for $((2 * patience)) no_sockets
	fail_no_more
	check "$1: afterwards a connection works" transfer $SDP_B
	wait_for $patience no_sockets
	check "$1: no RDMA object is left" wait_for $((2 * patience)) connection_counts_are "$objects_before"
}

# Nothing can be sent for a while; retries are not continuous.
standstill() {
	local start took refused
	check "a connection" ends "recv 50000 send 50000 drain" \
		"wait $peers/go send 50000 recv 50000 shutdown drain"
	watched=$port
	fail sends rxa $always
	start=$(ms)
	touch "$peers/go"
	check "nothing is mapped: it is tried again" wait_for $patience were refused 100
	refused=$(<$unmapped/refused) took=$(($(ms) - start))
	check "nothing is mapped: but not all the time ($refused times in $took ms)" \
		test "$refused" -le $((took / 8 + 50))
	check_not "nothing is mapped: nothing comes" printed server "received .*"
	connection_lives "nothing is mapped"
	fail_no_more
	check "it is mapped again: all comes" says server $patience "received 50000"
	check "it is mapped again: all comes back" says client $patience "end after 50000 bytes"
	check "it is mapped again: the end" says server $patience "end after 50000 bytes"
	over_in_time "a standstill"
}

# A socket is closed before its data is mapped.
closed() {
	unsent "to be closed" drain "send 50000 close hold"
	check "closed before anything is mapped" wait_for $patience were refused 20
	check_not "closed: nothing comes" printed server "end.*"
	fail_no_more
	check "closed: then all comes, and the end" says server $patience "end after 50000 bytes"
	over_in_time "closed"

	echo 3000 >$settings/fin_timeout_ms
	unsent "to be closed for ever" drain "send 50000 close hold"
	check "never mapped: who is closed has its time" says server $((2 * patience)) "$RESET"
	check "never mapped: it is over" wait_for $patience no_sockets
	put_back $settings/fin_timeout_ms
	over_in_time "closed for ever"
}

# A reset needs no message: close() with unread data, and the end of a process.
aborted() {
	unsent "to be reset" "send 1000 swallow" "send 50000 wait $peers/close close hold"
	check "reset before anything is mapped" wait_for $patience were refused 20
	touch "$peers/close"
	check "reset: the other end hears of it" reset_of server $patience
	over_in_time "reset"

	unsent "to be killed" "send 1000 swallow" flow
	check "killed before anything is mapped" wait_for $patience were refused 20
	peers_end client
	check "killed: the other end hears of it" reset_of server $patience
	over_in_time "killed"
}

# The device is removed while messages wait for a mapping.
removed() {
	unsent "whose device goes" drain flow
	check "before anything is mapped" wait_for $patience were refused 20
	check "its device goes" timeout $patience rdma link delete rxa
	check "its device has gone: it ends" reset_of client $patience
	check "and comes" lab_device "" rxa va 0 1
	# The other end has nothing to send, so it is not told.
	over_in_time "its device has gone"
}

# A limit set by the program: TCP_USER_TIMEOUT
limited() {
	unsent "with a time limit" drain "option 6 18 2000 flow"
	check "the limit is kept" says client $patience "flow: ETIMEDOUT"
	check "the other end hears of it" reset_of server $patience
	over_in_time "a time limit"
}

reason_traced() { [ "$(grep -c "errno=110 at DMA mapping failed" $tracing/trace)" = "$1" ]; }

# says_in_time: as says; on failure prints whether mapping is still being retried
says_in_time() {
	says "$@" && return
	echo "refused: $(<$unmapped/refused), NoMemory: $(sdpstat NoMemory)"
	sleep 1
	echo "refused: $(<$unmapped/refused), NoMemory: $(sdpstat NoMemory), a second later"
	cat /proc/net/sdp
	return 1
}

# One end can no longer send anything. Another end can no longer receive anything, and its peer
# waits for credit; the peer would wait forever.
never() {
	local start
	next_port
	peer deaf bind $SDP_B $port listen 5 say up accept drain
	check "never mapped: one who reads" says deaf $patience up
	peer heard connect $SDP_B $port wait "$peers/close" flow
	check "never mapped: another who does not stop to write" says heard $patience connected
	check "never mapped: a connection" ends drain "wait $peers/go flow"
	echo >$tracing/trace
	echo 1 >$tracing/events/sdp/sdp_error/enable
	fail receives rxb $always
	start=$(ms)
	touch "$peers/close"
	check "never mapped: no receive is" wait_for $patience were refused 50
	fail sends rxa $always
	touch "$peers/go"
	check "never sent: it ends" says_in_time client $for_ever "flow: ETIMEDOUT"
	check "never received: it ends" says_in_time deaf $for_ever "drain: ETIMEDOUT"
	check "never mapped: after a minute, not before" test $(($(ms) - start)) -ge 60000
	check "never sent: the other end hears of it" reset_of server $patience
	check "never received: the other end hears of it" reset_of heard $patience
	check "never mapped: the reason" reason_traced 2
	echo 0 >$tracing/events/sdp/sdp_error/enable
	over_in_time "never mapped"
}

check "devices that no test has used" lab_anew
data_before
load_module unmapped
mountpoint -q $tracing || mount -t tracefs none $tracing
for scheme in credit rdma nic; do exchanges $scheme; done
check "of messages in several pieces it was not always the first" test $undone -gt 0
put_back $settings/flow_control
standstill
closed
aborted
removed
limited
never
tap_done
