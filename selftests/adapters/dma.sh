#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# dma.sh KERNEL [TEST...]: tests of sockets on a soft-RoCE with DMA addresses, all of them through
# bounce buffers, in a VM with KERNEL (6.12).
#
# Memory that the module does not map, sync or unmap as the DMA API wants it then has a wrong byte.
# Without names, the tests are those that do not ask for rings or several rails with RDMA, which
# bounce buffers prevent (Documentation/networking/sdp-adapters.rst).
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

kernel=$1
shift
[ $# -gt 0 ] || set -- smoke stream resize splice keepalive ud oracle rdma modes background lent \
	mapped pipelined program read_ahead readers writers uring zerocopy
rxe=$("$SDP_TOP/selftests/adapters/rxe-dma.sh" "$kernel")
exec "$SDP_TOP/selftests/vm/run.sh" -a swiotlb=force -e SDP_RXE="$rxe" "$kernel" "$@"
