#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sockets are closed while they are told that their device or machine has changed (A4).
# Sockets and links stay until that is done.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

parameters=/sys/module/sdp_close_event_race/parameters
need_lab
need_module close_event_race vmgenid

ends=6

restore() {
	peers_end
	rmmod sdp_vmgenid
	rmmod sdp_close_event_race
	lab_intact || { lab_down; lab_up; }
}
cleanup restore

late() { [ "$(<$parameters/late)" -ge "$1" ]; }
all_connected() { [ "$(grep -c '^connected' "$peers/client")" = $ends ]; }

# closed_by NAME COMMAND...: all connections are closed while COMMAND reports the event to the
# first of them
closed_by() {
	local what=$1 before teller
	shift
	queue=20 listens server "$SDP_B" fork $ends accept swallow
	peer client fork $ends connect "$SDP_B" $port wait "$peers/go"
	check "$what: connections" wait_for $patience all_connected
	before=$(<$parameters/late)
	echo 1 >$parameters/count
	"$@" &
	teller=$!
	check "$what: one is being told" wait_for $patience late $((before + 1))
	touch "$peers/go"
	check "$what: they are closed meanwhile" over client $patience
	check "$what: all have been told" wait_for $patience process_gone $teller
	check "$what: the other ends hear of it" over server $patience
	peers_end
	check "$what: the sockets end" wait_for $patience no_sockets
}

check "devices that no test has used" lab_anew
data_before
load_module close_event_race

# Kernels without VM generation IDs do not report a copied machine.
if grep -q ' add_vmfork_randomness' /proc/kallsyms; then
	closed_by "a copied machine" insmod "$(module_file vmgenid)"
	check "a copied machine: no RDMA object is left" \
		wait_for $patience connection_counts_are "$objects_before"
fi
closed_by "a device goes" rdma link delete rxa
lab_device "" rxa va 0 1
check "and comes back: data" transfer "$SDP_B"
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects_before"
tap_done
