#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rare races, made certain: one function waits until another runs on another processor.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

parameters=/sys/module/sdp_forced_race/parameters
need_lab
need_module forced_race
settings=/proc/sys/net/sdp
fin_timeout=$settings/fin_timeout_ms
keeps $fin_timeout
restore() {
	peers_end
	rmmod sdp_forced_race
	[ -d /sys/module/sdp ] || insmod "$SDP_MODULE"
	[ ! -e $settings/rewrite ] || echo 0 >$settings/rewrite
}
cleanup restore

# waits FUNCTION UNTIL MS: FUNCTION waits at its beginning until UNTIL begins, at most MS
waits() { insmod "$(module_file forced_race)" function="$1" until="$2" ms="$3"; }
next_waits() { echo 1 >$parameters/count; }
# pair_waits FIRST THEN MS THREAD: of FIRST="a b", a waits until b begins, in the thread of that
# name; then the same for the functions of THEN
pair_waits() {
	insmod "$(module_file forced_race)" function="${1% *},${2% *}" until="${1#* },${2#* }" \
		ms="$3" comm="$4"
}
held() { [ "$(<$parameters/held)" -ge 1 ]; }
met() { [ "$(<$parameters/met)" -ge 1 ]; }

# meet ROUND COUNT WAIT: repeats ROUND until COUNT pairs have met; WAIT loads the module again
meet() {
	local round
	for ((round = 1; round <= 8; round++)); do
		$1 || return
		peers_end
		echo "round $round: $(<$parameters/held) waited, $(<$parameters/met) met"
		[ "$(<$parameters/met)" != "$2" ] || return 0
		rmmod sdp_forced_race && $3 || return
	done
	return 1
}

# A listener is closed while it gets a connection request by loopback. The close and the request do
# not wait for each other, so the port is free at once.
port_free() {
	next_waits
	# It listens at the same port again, $port + 1: listens has not counted it up yet.
	listens server 127.0.0.1 wait "$peers/go" close \
		bind 127.0.0.1 $((port + 1)) listen 5 say again accept drain
	peer first connect 127.0.0.1 $port ended
	wait_for $patience held || return
	touch "$peers/go"
	says server $patience again
}

data_before

check "a request waits for a listen" waits sdp_options_inherit sdp_listen 5000
check "the port of a listener is free when it has closed" port_free
check "that was before the request had a place" met
check "the request is refused" says first $patience "connect: ECONNREFUSED"
peer second connect 127.0.0.1 $port send 5000 shutdown
check "the next listener takes requests" says server $patience "end after 5000 bytes"
peers_end
rmmod sdp_forced_race
check "nothing is left of that" wait_for $patience no_sockets

# An orphan's time limit expires just when a message for it arrives, which restarts the limit. The
# timer usually runs on the CPU that closed the socket, and waits there. If that CPU is also needed
# for arrivals the two do not meet, and the round is repeated.
orphan_round() {
	local timeouts
	rm -f "$peers/go"
	timeouts=$(sdpstat OrphanTimeouts)
	peer_on=1 listens server $SDP_B accept wait "$peers/go" drain
	peer_on=2 peer client connect $SDP_B $port fill
	next_waits
	over client $patience && wait_for $patience held || return
	touch "$peers/go"
	over server $patience
	met || return 0
	says server 1 "end after [0-9]+ bytes" && [ "$(sdpstat OrphanTimeouts)" = "$timeouts" ]
}
timer_waits() { waits sdp_orphan_timer sdp_orphan_progress 6000; }

echo 2000 >$fin_timeout
check "a closed socket's timer waits for what arrives" timer_waits
check "the socket goes on, as its time has begun anew" meet orphan_round 1 timer_waits
check "and ends when its bytes have arrived" wait_for $patience no_sockets
peers_end
rmmod sdp_forced_race
check "nothing is left" wait_for $((2 * patience)) connection_counts_are "$objects_before"

# A connect by both queues its work item for the deadline at the moment when the item runs because
# SDP has connected. Nothing then waits for the deadline, so the module can be removed before it.
attempt_round() {
	listens server $SDP_B accept drain || return
	# The thread may queue other work as well.
	echo 20 >$parameters/count
	peer client tcp connect $SDP_B $port send 5000 shutdown
	says server $patience "end after 5000 bytes"
}
attempt_waits() {
	pair_waits "queue_delayed_work_on sdp_attempt_work" "sdp_attempt_work sdp_attempt_wait" 1000 peer
}

if [ -e $settings/rewrite ]; then
	echo 5000 >$settings/fallback_ms
	echo "connect * program peer both" >$settings/policy
	echo 1 >$settings/rewrite
	check "a deadline's queueing waits for the work item, and that for the call" attempt_waits
	check "SDP connects at that moment" meet attempt_round 2 attempt_waits
	rmmod sdp_forced_race
	echo 0 >$settings/rewrite
	check "nothing of it keeps the module" wait_for $patience rmmod sdp
	# Until the deadline has passed: the kernel complains of a work item without its queue.
	pause 6
	check "loaded again" insmod "$SDP_MODULE"
fi
tap_done
