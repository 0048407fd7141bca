#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A device that fails to register memory, in every way: RDMA transfers become messages.
# Every byte is right, the connection survives, no page stays pinned, and RDMA resumes when the
# device works again (A4, B4), also on established connections.
export PEER_SECONDS=600
. "$(dirname "$0")/../lib/lib.sh" hostile

regs=/sys/kernel/debug/sdp_hostile/regs
invalidate=/proc/sys/net/sdp/invalidate
need_module cqe_loss
keeps /proc/sys/net/sdp/{rdma_threshold,invalidate}
restore() {
	peers_end
	rmmod sdp_cqe_loss
	rmmod sdp_hostile
}
cleanup restore
echo 16384 >/proc/sys/net/sdp/rdma_threshold

# Memory in few pieces is transferred without a memory region, memory of large pieces with one.
piece=65536 amount=$((24 * 65536)) large=524288 large_amount=$((6 * 524288))
# Regions that a device may have beside those that it keeps, as in kills.c.
regions_more=8

registers() { echo none >$regs; }
registers_not() { echo "$1 $2" >$regs; }

moved() { echo $(($(sdpstat RdmaReadBytes) + $(sdpstat RdmaWriteBytesByPeer))); }

regions() { rdma resource show mr | wc -l; }

begin() { phases_begin 150 $piece $amount $large $large_amount; }

# exchange NAME: the connection's next phase
exchange() {
	moved_before=$(moved) maps_before=$(sdpstat MapsFailed)
	next_phase "$1" $((2 * patience))
	check "$1: no page is pinned" wait_for $patience unpinned
	connection_lives "$1"
}

by_rdma() {
	exchange "$1"
	check "$1: it goes by RDMA" [ "$(moved)" -gt "$moved_before" ]
}

# failing DEVICE HOW: the device fails in that way. If readers are late on a slow machine, an exchange
# goes in messages, and nothing is asked of the device: then it is repeated.
failing() {
	local until=$((SECONDS + 2 * patience))
	registers_not "$1" "$2"
	exchange "$1 fails to $2"
	while [ "$(<$regs)" = 0 ] && [ $SECONDS -lt $until ]; do
		pause 0.5
		exchange "$1 fails to $2, once more"
	done
	check "$1 fails to $2: it has" [ "$(<$regs)" -gt 0 ]
	check "$1 fails to $2: which is counted" [ "$(sdpstat MapsFailed)" -gt "$maps_before" ]
}

# Unusable regions are released, so that none are left when "alloc" begins.
without_regions() {
	failing "$1" map
	failing "$1" alloc
	registers
	by_rdma "$1 has regions again"
	failing "$1" post
	registers
	by_rdma "$1 takes requests again"
}

# The queue pair for registrations fails, and another one is created in the background, without a
# new connection. Until then data goes in messages.
by_rdma_again() {
	local until=$((SECONDS + 2 * patience))
	exchange "$1"
	while [ "$(moved)" = "$moved_before" ] && [ $SECONDS -lt $until ]; do
		pause 0.5
		exchange "$1"
	done
	check "$1: it goes by RDMA again" [ "$(moved)" -gt "$moved_before" ]
}

broken() {
	failing "$1" "$2"
	registers
	by_rdma_again "$1 has another queue pair"
}

# The completions of a request and of the drain are lost. Each has a time limit of ten seconds, for
# which nothing else waits.
lost() {
	local start
	check "completions are lost" insmod "$(module_file cqe_loss)"
	failing "$1" flush
	start=$(ms)
	check "another connection meanwhile" transfer $SDP_B
	check "it does not wait for what is lost" [ $(($(ms) - start)) -lt $((8000 * slow)) ]
	registers
	by_rdma_again "$1 has another queue pair"
	rmmod sdp_cqe_loss
}

# taken_back NAME TEST-OPERATOR: counts the messages with Send with Invalidate that va has sent
taken_back() {
	registers_not va revoke
	by_rdma "$1"
	check "$1: messages that do so $2 0" test "$(<$regs)" "$2" 0
	registers
}

# A peer that has finished with memory may invalidate the key just before the device would be told
# to. So the device is not told to.
too_late() {
	local device
	for device in va vb; do
		registers_not $device taken
		by_rdma "keys that $device would end too late"
		by_rdma "and once more"
		check "no key is ended that the peer may have taken" [ "$(<$regs)" = 0 ]
	done
	registers
}

# The final message for a key does not invalidate it.
kept() {
	peers_end
	echo 0 >$invalidate
	check "a connection without Send with Invalidate" begin
	taken_back "without it" -eq
	too_late
	echo 1 >$invalidate
}

# An adapter that requires the address in a local request to equal the mapping's.
same_base() {
	registers_not "$1" base
	by_rdma "$1 goes by the address of the mapping"
	by_rdma "$1 does so again"
	check "$1: no region for our own use has another address" [ "$(<$regs)" = 0 ]
	registers
}

# An adapter that rejects requests to invalidate a key: one is rejected, and no more are posted.
no_invalidation() {
	registers_not "$1" noinv
	by_rdma "$1 does not invalidate"
	by_rdma "$1 does not do so again"
	check "$1 is asked to invalidate once" [ "$(<$regs)" = 1 ]
	registers
}

# An adapter whose regions do not support our page size: new connections do not ask it to map.
no_pages() {
	registers_not "$1" pages
	check "a connection of an adapter without small pages" begin
	exchange "$1 has no small pages"
	check "$1 is not asked to map" [ "$(<$regs)" = 0 ]
	check "$1: all in messages" [ "$(moved)" = "$moved_before" ]
	registers
	peers_end
}

# A device whose writes the CPU caches do not see: no RDMA write to memory whose ends share a cache
# line with other data. Here all memory does, as lines appear to be 2 MiB long.
shared_lines() {
	registers_not "$1" lines
	exchange "lines are shared"
	check "lines are shared: it is looked at" [ "$(<$regs)" -gt 0 ]
	check "lines are shared: all in messages" [ "$(moved)" = "$moved_before" ]
	registers
	by_rdma "lines are not shared"
}

# A device that fails to deregister: the peer is disconnected, and the pages stay allocated until
# the device is removed and the deregistration is repeated.
kept_region() {
	echo 0 >$invalidate
	check "a connection whose regions are to be deregistered" begin
	registers_not va dereg
	touch "$peers/go-1"
	check "a region is not deregistered: the connection ends" reset_of client $patience
	check "a region is not deregistered: at the other end, too" reset_of server $patience
	check "a region is not deregistered: it was asked to" [ "$(<$regs)" -gt 0 ]
	check "a region is not deregistered: no page is pinned" wait_for $patience unpinned
	registers
	peers_end
	echo 1 >$invalidate
	check "a region is not deregistered: its device goes" timeout $((20 * slow)) rdma link delete rxa
	check "and comes" lab_device "" rxa va 0 1
	check "afterwards: a connection" begin
	by_rdma "afterwards"
	peers_end
}

hostile_begin
check "a connection" begin
by_rdma "at first"
taken_back "keys are taken back" -gt
regions_before=$(regions)
for device in va vb; do
	without_regions $device
	broken $device reg
	broken $device end
done
lost va
for device in va vb; do
	same_base $device
	no_invalidation $device
done
shared_lines va
peers_end
no_pages va
kept_region
kept
check "no more regions than before" [ "$(regions)" -le $((regions_before + regions_more)) ]
peers_end
hostile_end
tap_done
