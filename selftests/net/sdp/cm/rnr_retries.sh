#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# RNR retries: as many as the peer's REQ or REP asks for, but at most our own setting.
# At either end.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

retries=/sys/module/sdp_rnr_retries/parameters
settings=/proc/sys/net/sdp
need_lab
need_module rnr_retries
keeps $settings/{rnr_retry_count,flow_control}
restore() {
	peers_end
	rmmod sdp_rnr_retries
}
cleanup restore

# asked_is N: both queue pairs of the connection got a retry count of N, and no other queue pair
# got one
asked_is() {
	local i want=()
	for i in {0..7}; do want+=($((i == $1 ? 2 : 0))); done
	want=$(IFS=,; echo "${want[*]}")
	[ "$(<$retries/asked)" = "$want" ] || { echo "asked: $(<$retries/asked), not $want"; return 1; }
}

# wish OURS THEIRS RESULT WHAT: a connection with our setting and the peers' wish
wish() {
	echo "$1" >$settings/rnr_retry_count
	echo "$2" >$retries/wish
	echo 0,0,0,0,0,0,0,0 >$retries/asked
	echo 0 >$retries/said
	check "$4: a connection" transfer $SDP_B
	check "$4: REQ and REP wish for $2" [ "$(<$retries/said)" = 2 ]
	check "$4: both ends are to try $3 times" asked_is "$3"
}

# The queue pairs that devices keep exist by now.
check "data before" transfer $SDP_B
load_module rnr_retries
wish 3 7 3 "the peer wants for ever"
wish 3 4 3 "the peer wants one more"
wish 3 3 3 "the peer wants the same"
wish 3 1 1 "the peer wants fewer"
wish 3 0 0 "the peer wants none"
wish 0 7 0 "we want none"
wish 7 7 7 "both want for ever"
# With this scheme, messages wait for the peer's program by retries without limit, which we ask for
# ourselves.
echo nic >$settings/flow_control
wish 3 7 7 "the adapters hold back"
tap_done
