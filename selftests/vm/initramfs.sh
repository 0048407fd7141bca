#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# initramfs.sh KERNELDIR: prints the path of the initramfs for boot.sh with that kernel.
# Builds it when the cache has none with these contents.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
. "$here/image.sh"
kernel=$1
release=$(basename "$kernel"/lib/modules/*)

build() {
	local image=$1 tree
	tree=$(mktemp -d)
	mkdir -p "$tree"/{bin,proc,sys,dev,lower,rw,new}
	cp /bin/busybox "$tree/bin/"
	install -m 755 "$here/initramfs-init.sh" "$tree/init"
	# The modules that are needed to reach the root file system.
	add_modules "$kernel" "$tree/modules" virtio_pci 9pnet_virtio 9p overlay
	pack "$tree" "$image"
}

key=$(cat "$here"/{initramfs-init,initramfs,image}.sh "$kernel/lib/modules/$release/modules.dep" |
	sha256sum | cut -c1-12)
image=$SDP_CACHE/initramfs/$release-$key.gz
if [ ! -e "$image" ]; then
	mkdir -p "${image%/*}"
	rm -f "$SDP_CACHE/initramfs/$release"-*
	build "$image"
fi
printf '%s\n' "$image"
