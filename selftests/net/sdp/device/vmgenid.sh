#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A virtual machine that resumes from a snapshot resets its RDMA connections.
# Their sequence numbers are old. Loopback connections and listeners continue.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

need_lab
# The debug kernel and the kernel "watched" have no VM generation IDs.
grep -q ' add_vmfork_randomness' /proc/kallsyms || tap_skip_all "a kernel that is not told of copies"
need_module vmgenid

data_before

listens loop_server 127.0.0.1 accept recv 1000 wait "$peers/go" recv 1000 drain
peer loop_client connect 127.0.0.1 $port send 1000 wait "$peers/go" send 1000 shutdown drain
says loop_server $patience "received 1000"
listens idle_server $SDP_B accept ended
peer idle_client connect $SDP_B $port ended
says idle_client $patience connected
pair $SDP_B6 accept drain -- flow
says client $patience flowing
listens listener $SDP_B accept drain

check "the machine hears that it is a copy" insmod "$(module_file vmgenid)"
for end in idle_server idle_client server client; do
	check "$end: its call ends" over $end $patience
	check "$end: with ECONNRESET" printed $end "[a-z]*: ECONNRESET"
done
touch "$peers/go"
check "a connection by loopback goes on" says loop_server $patience "end after 2000 bytes"
peer late_client connect $SDP_B $port send 1000 shutdown drain
check "a listener from before gets new ones" says listener $patience "end after 1000 bytes"
peers_end
check "afterwards: data" transfer $SDP_B
check "nothing is left" wait_for $patience no_sockets
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects_before"
rmmod sdp_vmgenid
tap_done
