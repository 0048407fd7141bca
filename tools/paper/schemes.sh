# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The paper's flow control schemes, as peers of the benchmark.
# Sourced by tools/bench/peers.sh.
#
#	sdpplain	the paper's credit scheme: one message for each send, 8 buffers of 8 KiB,
#			credit is returned when half of it is used
#	sdpcredit	AF_SDP's credit scheme with its default settings
#	sdpcredit8	the same with 8 buffers of 8 KiB, as the others have
#	sdprdma		RDMA-based flow control: a ring of 64 KiB
#	sdprdmastill	the same, flushed by the application's own calls only
#	sdpnic		NIC-assisted: a ring of 64 KiB, a virtual window of 8 KiB
#	...256		the same with 256 KiB: buffers and windows of 32 KiB
#
# Large writes are treated like small ones: the paper is about copied data only.

paper_8=8208 paper_32=32784	# bytes of payload and a header
paper_plain="coalesce=0 recv_buffers=8 recv_buffer_max=0 send_buffers=8 accept_buffers=8
	idle_buffers=8 rdma_threshold=0"
paper_fixed="recv_buffers=8 recv_buffer_max=0 accept_buffers=8 idle_buffers=8 rdma_threshold=0"

sdp_settings+=(
	[sdpplain]="recv_buffer_size=$paper_8 $paper_plain"
	[sdpcredit]="rdma_threshold=0"
	[sdpcredit8]="recv_buffer_size=$paper_8 $paper_fixed"
	[sdprdma]="flow_control=rdma ring_size=65536 rdma_threshold=0"
	[sdprdmastill]="flow_control=rdma ring_size=65536 ring_flush=0 rdma_threshold=0"
	[sdpnic]="flow_control=nic ring_size=65536 ring_window=8192 rdma_threshold=0"
	[sdpplain256]="recv_buffer_size=$paper_32 $paper_plain"
	[sdpcredit256]="recv_buffer_size=$paper_32 $paper_fixed"
	[sdprdma256]="flow_control=rdma ring_size=262144 rdma_threshold=0"
	[sdpnic256]="flow_control=nic ring_size=262144 ring_window=32768 rdma_threshold=0"
)

scheme_name() {
	case $1 in
	sdpplain*)	echo "credit, as in the paper" ;;
	sdpcredit*)	echo "credit, AF_SDP" ;;
	sdprdmastill)	echo "RDMA-based, no flush" ;;
	sdprdma*)	echo "RDMA-based" ;;
	sdpnic*)	echo "NIC-assisted" ;;
	*)		return 1 ;;
	esac
}
