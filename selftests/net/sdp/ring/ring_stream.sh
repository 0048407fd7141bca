#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Data integrity with rings: the stream test with the schemes rdma and nic.
# The counters show that its data went through rings.
. "$(dirname "$0")/../lib/lib.sh"

settings=/proc/sys/net/sdp
keeps $settings/{flow_control,ring_size}

# by SCHEME SIZE: the stream test with rings of that size
by() {
	local before
	echo "$1" >$settings/flow_control
	echo "$2" >$settings/ring_size
	before=$(sdpstat RingBytesRead)
	check "stream by $1, rings of $2 bytes" "$programs/stream"
	check "... and it went by rings" test $(($(sdpstat RingBytesRead) - before)) -gt 1000000
	grep -E '^(Ring|MsgsSent|BytesSent|Credit)' /proc/net/sdpstat | sed 's/^/# /'
	grep -H . /sys/class/infiniband/rx?/ports/1/hw_counters/*rnr* | sed 's/^/# /'
}
# The tracepoint's view of a full ring when the reader stops, at the writer and at the reader.
trace() {
	local tracing=/sys/kernel/tracing
	mountpoint -q $tracing || mount -t tracefs none $tracing
	[ -d $tracing/events/sdp/sdp_ring ] || { tap_skip "tracepoint sdp_ring" "this kernel has none"; return; }
	echo >$tracing/trace
	echo 1 >$tracing/events/sdp/sdp_ring/enable
	"$programs/ring" --set rc4 full_rdma >/dev/null
	echo 0 >$tracing/events/sdp/sdp_ring/enable
	check "tracepoint sdp_ring: what the writer knows" \
		grep -qE "sdp_ring: .* out=(16384|65536) out_used=1[56][0-9]{3} " $tracing/trace
	check "tracepoint sdp_ring: what the reader has" \
		grep -qE "sdp_ring: .* in=(16384|65536) in_used=1[56][0-9]{3}$" $tracing/trace
}
trace
by nic 65536
by rdma 65536
tap_done
