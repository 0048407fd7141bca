#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Lack of memory when the CM sends a message, or is told of one (A4).
# What can wait is retried, a disconnect uses the kernel's reserve, and without the reserve
# everything still ends in time.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks cm

scarce=/sys/module/sdp_cm_no_memory/parameters deaf=/sys/module/sdp_cm_loss/parameters
need_lab
need_module cm_no_memory cm_loss
fin_timeout=/proc/sys/net/sdp/fin_timeout_ms
keeps $fin_timeout
restore() {
	peers_end
	rmmod sdp_cm_loss
	rmmod sdp_cm_no_memory
	lab_intact || { lab_down; lab_up; }
}
cleanup restore
always=1000000

# Options by number, for the program peer: LEVEL NAME
keepalive=(option 1 9 1 option 6 4 1 option 6 5 1 option 6 6 3)

# short_of WHAT COUNT [RESERVE]: the next COUNT allocations of that kind fail
short_of() {
	echo 0 >$scarce/refused
	echo 0 >$scarce/spared
	echo "${3:-0}" >$scarce/reserve
	echo "$2" >$scarce/"$1"
}

plenty() {
	local what
	for what in dreq rtu notify rtr; do echo 0 >$scarce/$what; done
}

were() { [ "$(<$scarce/"$1")" -ge "$2" ]; }

aftermath() { all_ends "$1" plenty; }

# resets [OPTION...]: a client exits before it has read everything, while the server only waits for
# the end
resets() {
	next_port
	peer server "$@" bind $SDP_B $port listen 5 say up accept send 1000 ended
	says server $patience up
	peer client connect $SDP_B $port recv 500
	says client $patience "received 500" && over client $patience
}

check "devices that no test has used" lab_anew
data_before
load_module cm_no_memory
load_module cm_loss
echo 5000 >$fin_timeout

short_of rtu 3
connects "three RTUs"
check "three RTUs: there was no memory" wait_for $patience were refused 3
aftermath "three RTUs"

short_of dreq $always 1
check "DREQ of the reserve: a reset" resets
check "DREQ of the reserve: it was" wait_for $patience were spared 1
check "DREQ of the reserve: who only waits hears of it" says server $patience "ended: ECONNRESET"
connects "DREQ of the reserve"
check "DREQ of the reserve: all" were refused 0
aftermath "DREQ of the reserve"

# It cannot be repeated, like the RST of a TCP that gets no memory.
short_of dreq $always
check "no DREQ: a reset" resets "${keepalive[@]}"
check "no DREQ: there was no memory" wait_for $patience were refused 1
check "no DREQ: keepalive finds out" says server $patience "ended: ETIMEDOUT"
connects "no DREQ"
aftermath "no DREQ"

# Longer than the CM repeats its REP: 16 times, one second each.
echo 20 >$deaf/attribute
echo $always >$deaf/count
short_of notify 3
pair $SDP_B accept recv 1000 wait "$peers/go" send 1000 drain -- \
	send 1000 recv 1000 shutdown drain
check "no RTU, and no word of it: the first bytes" says server $patience "received 1000"
check "no RTU, and no word of it: there was no memory" wait_for $patience were refused 3
check_not "no RTU, and no word of it: no end" wait_for 25 eval 'ended client || [ "$(connections st $ESTABLISHED $port | wc -l)" -lt 2 ]'
touch "$peers/go"
check "no RTU, and no word of it: bytes back" says client $patience "end after 1000 bytes"
check "no RTU, and no word of it: the end" says server $patience "end after 1000 bytes"
echo 0 >$deaf/count
aftermath "no RTU, and no word of it"

# The first connection of a device creates that queue pair during its handshake. That fails here,
# so the next connection creates it.
rdma link delete rxb
check "a device is made anew" lab_device "" rxb vb 0 2
short_of rtr 1
before=$(ms)
check "no queue pair for registering memory: a connection" transfer $SDP_B
took=$(($(ms) - before))
check "no queue pair for registering memory: there was no memory" were refused 1
check "no queue pair for registering memory: nobody waited for that ($took ms)" test $took -lt $((8000 * slow))
check "no queue pair for registering memory: another connection" transfer $SDP_B
aftermath "no queue pair for registering memory"
tap_done
