#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh SET...: install the Debian packages that the named sets need, if any is
# missing. Sets: build, vm, style, unit, wire, bench, demo, kernel.
set -euo pipefail
. "$(dirname "$0")/common.sh"

declare -A SETS=(
	[build]="build-essential bc kmod libelf-dev"
	[vm]="qemu-system-x86 busybox-static kmod zstd xz-utils cpio iproute2 procps rdma-core gcc libc6-dev liburing-dev"
	[kernel]="flex bison bc libelf-dev libssl-dev xz-utils kmod build-essential python3 rsync"
	[style]="sparse perl python3 git"
	[unit]="gcc libc6-dev make"
	[wire]="tshark tcpdump python3"
	[bench]="gnuplot-nox perftest librdmacm1 librdmacm-dev ibverbs-providers ibverbs-utils rdmacm-utils ethtool python3 gcc libc6-dev"
	[demo]="socat tar coreutils"
)

want=()
for set in "$@"; do
	[ -n "${SETS[$set]:-}" ] || die "setup.sh: no set '$set'; there are: ${!SETS[*]}"
	read -ra list <<<"${SETS[$set]}"
	want+=("${list[@]}")
done
have_packages "${want[@]}" && exit 0

[ "$(id -u)" = 0 ] || die "these packages are needed; install them or run as root: ${want[*]}"
export DEBIAN_FRONTEND=noninteractive
step "package lists" apt-get -q update
step "packages for: $*" apt-get -q install -y --no-install-recommends "${want[@]}"
