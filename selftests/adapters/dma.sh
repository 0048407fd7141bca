#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# dma.sh: tests of sockets on a soft-RoCE with DMA addresses, all of them through bounce buffers.
#
# Memory that the module does not map, sync or unmap as the DMA API wants it then has a wrong byte.
# The tests are those that do not ask for RDMA, which bounce buffers mostly prevent
# (Documentation/networking/sdp-adapters.rst).
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

tests=(smoke stream resize splice keepalive ud oracle)
rxe=$("$SDP_TOP/selftests/adapters/rxe-dma.sh" 6.12)
exec "$SDP_TOP/selftests/vm/run.sh" -a swiotlb=force -e SDP_RXE="$rxe" 6.12 "${tests[@]}"
