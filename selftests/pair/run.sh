#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL]: two machines with KERNEL (6.12) and a cable between them.
# One runs pair.sh, the test, by the runner of selftests/vm. The other one is paused, killed and
# restored from a snapshot. It has no disk but its memory, as a snapshot requires.
#
#	pair.sh --- cable --- init.sh
#	   |                     |
#	   +-- asks -> host.sh --+  starts, pauses, kills, saves and restores
#
# Exit status 0 when nothing failed; a complaint of either kernel is a failure.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/pair
last=$SDP_TOP/build/vm/last
. "$SDP_TOP/selftests/vm/machine.sh"
. "$SDP_TOP/selftests/vm/image.sh"
. "$here/host.sh"

build_image() {
	local tree
	tree=$(mktemp -d)
	mkdir -p "$tree"/{bin,proc,sys,dev,tmp,lib64}
	cp /bin/busybox "$SDP_TOP/build/selftests/peer" "$tree/bin/"
	add_program "$tree" rdma
	add_program "$tree" ip
	install -m 755 "$here/init.sh" "$tree/init"
	# soft-RoCE requests its checksum by name; on this kernel that may be a module.
	add_modules "$kernel" "$tree/modules" virtio_pci virtio_net crypto-crc32 rdma_rxe rdma_cm
	cp "$module" "$tree/sdp.ko"
	pack "$tree" "$image"
}

"$SDP_TOP/scripts/setup.sh" vm build
name=${1:-6.12}
[ "$name" != debug ] || die "that kernel has no ACPI interrupts here, by which it would hear of a snapshot"
kernel=$("$SDP_TOP/scripts/kernels.sh" "$name")
module=$SDP_TOP/build/$(basename "$kernel"/lib/modules/*)/sdp.ko
files=$(mktemp -d)
image=$files/image.gz cable=$files/cable
step "test programs" make -s -j"$(nproc)" -C "$SDP_TOP/selftests/net/sdp"
step "module" make -s -C "$SDP_TOP" modules KERNEL="$name"
step "the other machine's file system" build_image
tell_tsc_khz || die "cc fails; run scripts/setup.sh vm"

rm -f "$last"
SDP_TESTS=$here "$SDP_TOP/selftests/vm/run.sh" -M "$module" -n "$cable" "$name" pair &
runner=$!
end() {
	kill "$runner" 2>/dev/null || true
	machine_kill
	rm -rf "$files"
}
trap end EXIT
serve "$runner"
status=0
wait "$runner" || status=$?
exit $status
