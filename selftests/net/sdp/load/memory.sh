#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Memory of all sockets: reported, charged to cgroups, and bounded by net.sdp.mem.
# No byte is lost when the bound is reached.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

limits=/proc/sys/net/sdp/mem
limits_before=$(cat $limits)
group=/sys/fs/cgroup/sdp-memory
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
rc=
[ -n "${SDP_A:-}" ] && lab_intact && rc=$SDP_B
# Pages that the kernel may hold back per CPU before it adds them to the sum: 1 MiB.
slack=$((256 * $(nproc)))
amount=$((1000000 / slow))

restore() {
	peers_end
	echo "$limits_before" >$limits
	echo $$ >/sys/fs/cgroup/cgroup.procs
	wait_for 10 rmdir $group
}
cleanup restore

# pages: pages of all SDP sockets, from /proc/net/protocols
pages() { awk '$1 == "SDP" { print $4 }' /proc/net/protocols; }
pages_at_most() { [ "$(pages)" -le "$1" ]; }

# hold_data WHERE ADDRESS: connections full of unread and unsent data
hold_data() {
	local i
	for i in 1 2 3 4 5 6; do
		next_port
		peer server-$i bind "$2" $port listen 2 say up accept hold
		says server-$i $patience up >/dev/null
		peer client-$i connect "$2" $port fill say full hold
	done
	for i in 1 2 3 4 5 6; do
		check "$1: connection $i is full" says client-$i $patience full
	done
}

visible() {
	hold_data "$1" "$2"
	check "$1: /proc/net/protocols has heard of the sockets" \
		awk '$1 == "SDP" && $3 >= 3 && $2 > 500 { found = 1 } END { exit !found }' /proc/net/protocols
	peers_end
	check "$1: and of their end" wait_for $patience pages_at_most $slack
	check "$1: no socket is left" wait_for $patience no_sockets
}

# With almost no memory allowed all data still arrives, only slowly.
starved() {
	local before
	hold_data "$1, for a shortage" "$2"
	echo "1 2 3" >$limits
	before=$(sdpstat MemoryShort)
	next_port
	peer server bind "$2" $port listen 2 say up accept recv $amount send $amount shutdown drain
	check "$1, 3 pages for all: a listener" says server $patience up
	peer client connect "$2" $port send $amount recv $amount shutdown drain
	check "$1, 3 pages for all: data arrives" says server $((2 * patience)) "received $amount"
	check "$1, 3 pages for all: and returns" says client $((2 * patience)) "received $amount"
	check "$1: the shortage is counted" [ "$(sdpstat MemoryShort)" -gt "$before" ]
	peers_end
	echo "$limits_before" >$limits
}

charged() { awk '$1 == "sock" { print $2 }' $group/memory.stat; }
charged_at_least() { [ "$(charged)" -ge "$1" ]; }
not_charged() { [ "$(charged)" = 0 ]; }

# The accepting process is in a cgroup, the other one is not: its unread data is charged to the
# cgroup.
cgroup_of_the_listener() {
	next_port
	echo $$ >$group/cgroup.procs
	peer server bind "$2" $port listen 2 say up accept hold
	echo $$ >/sys/fs/cgroup/cgroup.procs
	check "$1: a listener in a cgroup" says server $patience up
	peer client connect "$2" $port send 100000 say sent hold
	check "$1: data for it" says client $patience sent
	check "$1: is charged to the cgroup" wait_for $patience charged_at_least 100000
	peers_end
	check "$1: until the socket is gone" wait_for $patience not_charged
}

cgroup_of_the_writer() {
	next_port
	peer server bind "$2" $port listen 2 say up accept hold
	check "$1: a listener outside" says server $patience up
	echo $$ >$group/cgroup.procs
	peer client connect "$2" $port fill say full hold
	echo $$ >/sys/fs/cgroup/cgroup.procs
	check "$1: a writer in a cgroup" says client $patience full
	check "$1: what it has not got rid of is charged to the cgroup" \
		wait_for $patience charged_at_least 30000
	peers_end
	check "$1: until the socket is gone" wait_for $patience not_charged
}

check "the limits are three numbers" eval "[ \$(wc -w <$limits) = 3 ]"
for where in loop ${rc:+rc}; do
	address=127.0.0.1
	[ $where = loop ] || address=$rc
	visible $where "$address"
	starved $where "$address"
	if mkdir -p $group 2>/dev/null && [ -e $group/memory.stat ]; then
		cgroup_of_the_listener $where "$address"
		cgroup_of_the_writer $where "$address"
	else
		tap_skip "$where: charged to cgroups" "this kernel has no memory cgroups"
	fi
done
tap_done
