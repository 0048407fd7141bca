#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# soft-RoCE may complete an RDMA read before its last packet has come: the bytes are right.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

parameters=/sys/module/sdp_rxe_void_read/parameters
need_lab
need_module rxe_void_read

settings=/proc/sys/net/sdp
keeps $settings/{rdma_threshold,mode_after}
# Nothing that happens here turns large writes into messages permanently.
echo 16384 >$settings/rdma_threshold
echo 1000 >$settings/mode_after

# exchange BYTES READ-PIECE ADDRESS: large writes, read in pieces, both ways; fewer bytes on slow
# kernels
exchange() {
	local bytes=$(($1 / slow / slow)) pieces=$2 address=$3
	next_port
	peer server bind "$address" $port listen 5 say up accept pieces "$pieces" recv "$bytes" \
		pieces 65536 send "$bytes" drain
	says server $patience up || return
	peer client connect "$address" $port pieces 65536 send "$bytes" pieces "$pieces" \
		recv "$bytes" shutdown drain
	over client $((3 * patience)) && over server $patience || return
	if ! printed client "end after $bytes bytes" || ! printed server "end after $bytes bytes"; then
		show_peers
		return 1
	fi
	peers_end
}

check "data before" transfer "$SDP_B"
read_before=$(sdpstat RdmaReadBytes) objects_before=$(counts_at_rest)
check "bytes are right when reads are" exchange 2000000 4096 "$SDP_B"
check "it was read by RDMA" test $(($(sdpstat RdmaReadBytes) - read_before)) -gt $((200000 / slow / slow))
void_before=$(sdpstat RdmaReadsVoid)
load_module rxe_void_read
cleanup rmmod sdp_rxe_void_read
check "bytes are right when every third read is void" exchange 4000000 4096 "$SDP_B"
check "answers were lost" test "$(<$parameters/lost)" -gt $((20 / slow))
check "RdmaReadsVoid counts them" test $(($(sdpstat RdmaReadsVoid) - void_before)) -gt $((20 / slow))
echo 1 >$parameters/every
check "bytes are right when every read is void" exchange 1000000 4096 "$SDP_B6"
# The read data ends in a packet with few bytes: occasionally a seal that short equals the data by
# chance.
echo 2 >$parameters/every
check "bytes are right when packets are short" exchange 400000 4097 "$SDP_B"
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects_before"
tap_done
