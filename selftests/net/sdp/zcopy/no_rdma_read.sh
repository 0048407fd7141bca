#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Devices without RDMA read, at one end or both (B5): large writes still go by RDMA.
# They are written into the memory that readers advertise by SinkAvail.
. "$(dirname "$0")/../lib/lib.sh" hostile

unread=/sys/kernel/debug/sdp_hostile/unread

restore() {
	peers_end
	rmmod sdp_hostile
}
cleanup restore

without_read() { echo "$1" >$unread; }

# moves READ NAME PROGRAM TEST...: RDMA reads happen (1) or not (0), and RDMA writes happen in any
# case
moves() {
	local read=$1 before written
	shift
	before=$(sdpstat RdmaReadBytes) written=$(sdpstat RdmaWriteBytesByPeer)
	check "$1" "$programs/$2" --set rc4 "${@:3}"
	check "$1: bytes are written by RDMA" test "$(sdpstat RdmaWriteBytesByPeer)" -gt "$written"
	check "$1: bytes read by RDMA: $read" \
		test $(($(sdpstat RdmaReadBytes) > before)) = "$read"
}

hostile_begin
# Until the writer knows that its peer's readers wait first, it sends SrcAvail, which is read.
moves 1 "with RDMA read" pipelined learns
without_read va
moves 0 "the device that connects has none" pipelined learns
without_read vb
moves 0 "neither has" pipelined learns small_between several_readers timed_out
without_read none
without_read vb
moves 0 "the device that accepts has none" pipelined learns
without_read none
moves 1 "both have it again" pipelined learns
hostile_end
tap_done
