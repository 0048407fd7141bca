#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: a demonstration of AF_SDP in a VM (no KVM needed).
# It installs what is missing, builds the module for Debian's stock 6.12, boots that kernel, and
# lets unmodified programs communicate between two soft-RoCE devices: iperf3, redis and nginx with
# a policy, by SDP and then by TCP; and socat, which sends the tar of a real directory tree through
# sockets of AF_SDP.
#
# DEVICE=siw takes soft-iWARP devices, whose driver is built, instead of soft-RoCE.
# SDP_DEMO_TREE names another directory to send. Exit status 0 when everything worked as shown.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/demo
out=$SDP_TOP/build/demo
device=${DEVICE:-rxe}
[ "$device" = rxe ] || [ "$device" = siw ] || die "DEVICE is rxe or siw, not $device"
least=$((50 << 20))
limit=600

bold=''
[ ! -t 1 ] || bold=1
headline() { printf '\n%s%s%s\n' "${bold:+$'\e[1m'}" "$*" "${bold:+$'\e[0m'}"; }

# Made on the host, because the guest would read every small file through a slow file system.
make_tar() { tar -C "$(dirname "$tree")" -cf "$out/tree.tar" "$(basename "$tree")"; }

cat <<-'END'
	AF_SDP: sockets, and below them RDMA instead of TCP.

	This boots a stock kernel in a VM, gives it two software RDMA adapters with a cable between
	them, and loads the module built here. Then Debian's own iperf3, redis and nginx, which have
	never heard of SDP, go by it and not by TCP; and socat sends a directory tree to and fro.
	All of it takes about three minutes once the packages and the kernel are there.
END
mkdir -p "$out"

headline "Preparing"
"$SDP_TOP/scripts/setup.sh" build vm demo
dir=$("$SDP_TOP/scripts/kernels.sh" 6.12)
release=$(basename "$dir"/lib/modules/*)
step "sdp.ko for $release" make -s -C "$SDP_TOP" modules KERNEL=6.12
# The common headers are the larger part of the headers that the module was built with.
tree=${SDP_DEMO_TREE:-/usr/src/linux-headers-${release%-amd64}-common}
[ -d "$tree" ] || die "no directory $tree to send; name one with SDP_DEMO_TREE=/some/directory"
siw=''
[ "$device" = rxe ] || siw=$("$SDP_TOP/selftests/adapters/siw.sh" 6.12)
step "tar of $(basename "$tree")" make_tar
[ "$(stat -c %s "$out/tree.tar")" -ge $least ] ||
	die "$tree is too small for a demo, it makes less than 50 MB"

headline "Booting $release (emulated in software: this takes about 15 s)"
status=0
"$SDP_TOP/selftests/vm/boot.sh" -t $limit -e SDP_MODULE="$SDP_TOP/build/$release/sdp.ko" \
	-e SDP_SIW="$siw" -e SDP_DEMO_TAR="$out/tree.tar" -e SDP_DEMO_TREE="$tree" \
	-e SDP_DEMO_BOLD="$bold" "$dir" "$here/guest.sh" || status=$?
[ $status = 0 ] || die "the demo failed (status $status); what went wrong is said above"

headline "What to try next"
cat <<-END
	  make check                      every test, on three kernels
	  make bench                      beside TCP, rsockets, SMC-R and raw verbs
	  make && sudo make install       on a machine with an RDMA adapter; then  modprobe sdp
	In a program of your own, without a policy: socket(27, SOCK_STREAM, 0), and the rest as with TCP.
END
