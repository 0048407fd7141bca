#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh SET...: install the Debian packages of the named sets.
#
# Does nothing when all of them are installed. Sets: build, tool, vm, style,
# unit, cross, wire, bench, demo, kernel, next-kernel, programs, deb, go,
# suites, suite-sources, in-tree, in-tree-check.
set -euo pipefail
. "$(dirname "$0")/common.sh"

declare -A SETS=(
	[build]="build-essential bc kmod libelf-dev"
	[tool]="gcc libc6-dev make pkg-config libmnl-dev libjansson-dev"
	[vm]="qemu-system-x86 busybox-static kmod zstd xz-utils cpio iproute2 procps rdma-core gcc libc6-dev liburing-dev pkg-config libmnl-dev libjansson-dev python3"
	[kernel]="flex bison bc libelf-dev libssl-dev xz-utils kmod build-essential python3 rsync"
	[next-kernel]="mmdebstrap make kmod xz-utils zstd"
	[style]="sparse perl python3 python3-yaml python3-jsonschema python3-docutils gcc libc6-dev git"
	[in-tree]="git python3 unifdef"
	[in-tree-check]="git python3 unifdef python3-sphinx perl sparse"
	[unit]="gcc libc6-dev make pkg-config libmnl-dev libjansson-dev mandoc python3"
	[cross]="gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user-static make"
	[wire]="tshark tcpdump python3"
	[bench]="gnuplot-nox perftest librdmacm1 librdmacm-dev ibverbs-providers ibverbs-utils rdmacm-utils ethtool python3 gcc libc6-dev make zlib1g-dev redis-server redis-tools nginx apache2-utils curl"
	[demo]="socat tar coreutils iperf3 redis-server redis-tools nginx curl"
	[programs]="iperf3 redis-server redis-tools nginx wrk openssh-server openssh-client rsync postgresql curl python3 default-jdk-headless gcc libc6-dev make"
	[go]="golang-go gcc libc6-dev make"
	[suites]="libpython3.11-testsuite python3"
	[suite-sources]="cmake dpkg-dev perl zlib1g-dev openmpi-bin libopenmpi-dev gcc libc6-dev make"
	[deb]="build-essential debhelper dh-dkms lintian pkg-config libmnl-dev libjansson-dev xz-utils mmdebstrap"
)

want=()
for set in "$@"; do
	[ -n "${SETS[$set]:-}" ] || die "setup.sh: no set '$set'; there are: ${!SETS[*]}"
	read -ra list <<<"${SETS[$set]}"
	want+=("${list[@]}")
done
have_packages "${want[@]}" && exit 0

[ "$(id -u)" = 0 ] || die "these packages are needed; install them or run as root: ${want[*]}"
# Debian starts a service when its package is installed, unless this file
# forbids it. The tests start what they need in the virtual machine; on this
# machine no service may start.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi

apt_step "package lists" update
apt_step "packages for: $*" install -y --no-install-recommends "${want[@]}"
