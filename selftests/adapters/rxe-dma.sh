#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# rxe-dma.sh KERNEL: build a soft-RoCE with DMA addresses, and print its path.
#
# Stock soft-RoCE has no DMA device: the kernel gives it virtual addresses, so nobody notices a
# buffer that is not mapped, synced or unmapped as an adapter needs it. This one registers with a
# platform device (rxe_dma.c), and all that it accesses goes through the DMA API: with swiotlb=force
# through bounce buffers, where a missing sync is a wrong byte.
#
# The driver is changed in a few places. KERNEL is 6.12 or debug: before 6.12 the addresses are used
# in other ways.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/adapters
. "$here/lib-driver.sh"

# change FILE SED-COMMAND: FILE must change by it
change() {
	cp "$1" stock
	sed -i "$2" "$1"
	! cmp -s "$1" stock || { echo "$1 has nothing to change by $2"; return 1; }
	rm stock
}

change_driver() {
	cp "$here"/rxe_dma.[ch] .
	change Makefile 's/^\trxe\.o /&rxe_dma.o /'
	change rxe.h 's/#include "rxe_loc.h"/&\n#include "rxe_dma.h"/'
	change rxe_mr.c 's/ib_virt_dma_to_page(\([^)]*\))/pfn_to_page(PHYS_PFN(\1))/'
	change rxe_verbs.c 's/ib_virt_dma_to_ptr(\([^)]*\))/phys_to_virt(\1)/'
	change rxe_verbs.c 's/\(ib_register_device(dev, ibdev_name,\) NULL)/\1 rxe_dma_device())/'
	change rxe.c 's/^\trxe_net_exit();/&\n\trxe_dma_end();/'
}

dir=$(driver_build rxe-dma "$1" rxe CONFIG_RDMA_RXE change_driver)
echo "$dir/rdma_rxe.ko"
