#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# initramfs.sh KERNELDIR: print the path of the initramfs that boot.sh uses with that
# kernel, making it when the cache has none for these contents.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
kernel=$1
release=$(basename "$kernel"/lib/modules/*)

# The modules that reach the root file system, uncompressed, in the order to insert them.
add_modules() {
	local to=$1 module file name n=100
	mkdir -p "$to"
	for module in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe -d "$kernel" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		n=$((n + 1)) name=$(basename "$file")
		case $file in
		*.xz)	xz -dc "$file" >"$to/$n-${name%.xz}" ;;
		*.zst)	zstd -dqc "$file" >"$to/$n-${name%.zst}" ;;
		*)	cp "$file" "$to/$n-$name" ;;
		esac
	done
}

build() {
	local image=$1 tree
	tree=$(mktemp -d)
	mkdir -p "$tree"/{bin,proc,sys,dev,lower,rw,new}
	cp /bin/busybox "$tree/bin/"
	install -m 755 "$here/initramfs-init.sh" "$tree/init"
	add_modules "$tree/modules"
	(cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$image.$$"
	mv "$image.$$" "$image"
	rm -rf "$tree"
}

key=$(cat "$here"/initramfs{-init,}.sh "$kernel/lib/modules/$release/modules.dep" |
	sha256sum | cut -c1-12)
image=$SDP_CACHE/initramfs/$release-$key.gz
if [ ! -e "$image" ]; then
	mkdir -p "${image%/*}"
	rm -f "$SDP_CACHE/initramfs/$release"-*
	build "$image"
fi
printf '%s\n' "$image"
