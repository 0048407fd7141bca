#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that violates the rules of rings, while an honest connection streams through rings.
# It writes anywhere, sends wrong immediate data, and sends wrong messages about rings. Its
# connection ends, and the violation is counted by its kind.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" cases

settings=/proc/sys/net/sdp
keeps $settings/{flow_control,idle_buffers}
restore() {
	peers_end
	rmmod sdp_hostile
}
cleanup restore

# A message beyond the grant would be judged by that and not by its fault.
echo 12 >$settings/idle_buffers

# The socket's first operation tells the peer that it is accepted; the peer then asks for a ring.
first="send 1"

# 20 tiny messages, each in a ring that was given back: unread data counts as the pages that it
# occupies.
held() {
	speak ring-held wait "$peers/go" memory hold
	check "ring-held: nothing happens" stands
	touch "$peers/go"
	check "ring-held: the socket knows its memory" says server $patience "unread memory [0-9]+"
	check "ring-held: it counts whole pages" test \
		"$(sed -n 's/^unread memory //p' "$peers/server")" -ge $((20 * 4096))
	check "ring-held: counted as no violation" counted ""
	echo end >$run
	peers_end server
	rm -f "$peers/go"
}

by_rdma() {
	echo rdma >$settings/flow_control
	as_meant ring-write swallow
	as_meant ring-anywhere swallow
	messages BadLen ring-elsewhere ring-short ring-bits ring-len
	messages BadMid ring-mid ring-srcavail
	messages BadFlags ring-flags
	messages BadSeq ring-mseq
	messages BadCredit ring-long
	messages BadState ring-none ring-other ring-ask-again ring-give-back-none ring-avail-twice
	messages BadField ring-ask-odd ring-ask-huge ring-avail-larger ring-avail-wraps
	messages BadAck ring-freed
	message ring-beyond "" "ended: E(CONNRESET|PROTO)"
	message ring-before "" "ended: E(CONNRESET|PROTO)"
	message ring-avail-key "" "flow: E(CONNRESET|PROTO)" flow
	unread ring-overrun BadCredit
	unread ring-ask-twice BadState
	held
	first="" messages BadState ring-avail-unasked
}

by_nic() {
	echo nic >$settings/flow_control
	as_meant nic-write swallow
	messages BadCredit nic-long
	messages BadState nic-srcavail nic-buffer
}

# Ends that support rings, and a peer that has not agreed on them.
by_credit() {
	messages BadMid msg-ring-ask msg-ring-avail
	messages BadFlags msg-ring-freed
}

echo rdma >$settings/flow_control
hostile_begin
honest_start
before_bytes=$(sdpstat RingBytesRead)
by_rdma
first="" by_credit
by_nic
echo end >$run
check "the honest connection streams beside all these" streaming
check "... by a ring" test "$(sdpstat RingBytesRead)" -gt $((before_bytes + 100000))
honest_end
hostile_end
tap_done
