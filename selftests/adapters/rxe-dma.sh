#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# rxe-dma.sh SERIES: build a soft-RoCE with DMA addresses, and print its path.
#
# Stock soft-RoCE has no DMA device: the kernel gives it virtual addresses, so nobody notices a
# buffer that is not mapped, synced or unmapped as an adapter needs it. This one registers with a
# platform device (rxe_dma.c), and all that it accesses goes through the DMA API: with swiotlb=force
# through bounce buffers, where a missing sync is a wrong byte.
#
# The driver's source is that of the very kernel. Debian's package of it is fetched, the driver
# alone is unpacked, changed in a few places, and built outside the repository. SERIES is a stock
# kernel of the test matrix, 6.12 or later: before that the addresses are used in other ways.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/adapters
series=$1
release=$(basename "$("$SDP_TOP/scripts/kernels.sh" "$series")")
package=linux-source-$series
version=$(dpkg-query -W -f '${Version}' "linux-headers-$release")
key=$(cat "$here"/rxe{-dma.sh,_dma.[ch]} | sha256sum | cut -c1-12)
dir=$SDP_CACHE/rxe-dma-$version-$key

# unpack: the driver of the source package, into ./rxe
unpack() {
	local source=$package/drivers/infiniband/sw/rxe
	apt-get download "$package=$version"
	dpkg-deb --fsys-tarfile "$package"_*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ "$source"
	mv "$source" rxe
	rm -r "$package" "$package"_*.deb
}

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

build() {
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	cd "$dir.new"
	unpack
	cd rxe
	change_driver
	make -C "/usr/src/linux-headers-$release" M="$PWD" CONFIG_RDMA_RXE=m modules
	cd /
	mv "$dir.new" "$dir"
}

[ -e "$dir/rxe/rdma_rxe.ko" ] || { rm -rf "$dir"; step "soft-RoCE with DMA for $release" build; }
echo "$dir/rxe/rdma_rxe.ko"
