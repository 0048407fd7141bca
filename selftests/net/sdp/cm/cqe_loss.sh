#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Lost completions of queue pairs that end: connections and devices end within a bound.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

parameters=/sys/module/sdp_cqe_loss/parameters
need_lab
need_module cqe_loss
# Two bounds of 10 s, one after the other, plus the usual time.
lost_seconds=$((60 * slow))

restore() {
	peers_end
	rmmod sdp_cqe_loss
	lab_intact || { lab_down; lab_up; }
}
cleanup restore

lost() { echo "$(<$parameters/lost)"; }

# flowing N: N connections, with data on each
flowing() {
	queue=20 listens server $SDP_B fork "$1" accept drain || return
	peer client fork "$1" connect $SDP_B $port flow
	wait_for $patience eval '[ "$(grep -c ^flowing "$peers/client")" = '"$1"' ]'
}

check "devices that no test has used" lab_anew
data_before
load_module cqe_loss

check "all lost: data still arrives" transfer "$SDP_B"
check "completions were lost" wait_for $patience eval '[ "$(lost)" -gt 4 ]'
check "all lost: the sockets end" wait_for $lost_seconds no_sockets
check "all lost: so do queue pairs and the like" \
	wait_for $lost_seconds connection_counts_are "$objects_before"

echo 3 >$parameters/every
check "every third lost: eight connections in traffic" flowing 8
peers_end client
check "every third lost: the other ends hear of it" over server $lost_seconds
peers_end
check "every third lost: the sockets end" wait_for $lost_seconds no_sockets
check "every third lost: nothing is left" \
	wait_for $lost_seconds connection_counts_are "$objects_before"

echo 1 >$parameters/every
check "a device goes: four connections in traffic" flowing 4
check "a device goes: in time" timeout $lost_seconds rdma link delete rxa
check "a device goes: the calls end" over client $lost_seconds
peers_end
check "a device goes: nothing is left" wait_for $lost_seconds no_sockets
lab_device "" rxa va 0 1
check "and comes back: data" transfer "$SDP_B"
wait_for $lost_seconds no_sockets
rmmod sdp_cqe_loss
check "nothing lost any more: data" transfer "$SDP_B6"
check "nothing is left at the end" wait_for $lost_seconds connection_counts_are "$objects_before"
tap_done
