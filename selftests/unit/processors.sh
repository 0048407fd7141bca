#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# processors.sh [PROCESSOR...]: unit tests and simulators as programs of other processors.
#
# s390x is big-endian, armhf has 32 bits, arm64 is what many servers have. The programs are built by
# Debian's cross compilers and run under user-mode emulation, which is an order of magnitude slower,
# so the simulators make fewer steps than in check.sh. What the emulation cannot show is the order
# of memory accesses of several processors. Instead of a sanitizer's report, undefined behaviour
# ends a program. With SDP_SHORT=1 in the environment arm64 is left out.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/unit
seed=${SEED:-$(date +%s)}
# By processor: what its compiler is called, and its emulator.
declare -A compilers=([s390x]=s390x-linux-gnu [armhf]=arm-linux-gnueabihf [arm64]=aarch64-linux-gnu)
undefined="-fsanitize=undefined -fsanitize-undefined-trap-on-error"
declare -A emulators=([s390x]=s390x [armhf]=arm [arm64]=aarch64)

. "$here/report.sh"

# everything EMULATOR...: run all programs by an emulator, each also if another one has failed
everything() {
	local test status=0
	for test in "$build"/asan/test_*; do
		[[ $test == *.[od] ]] || "$@" "$test" || status=1
	done
	"$@" "$build/pair" --seed "$seed" --steps 300000 || status=1
	"$@" "$build/pair" --rings --seed "$seed" --steps 300000 || status=1
	"$@" "$build/rails" --seed "$seed" --schedules 20000 || status=1
	"$@" "$build/programs" --seed "$seed" --programs 20000 || status=1
	"$@" "$build/windows" --seed "$seed" --schedules 3000 || status=1
	return $status
}

# check PROCESSOR: build everything for it, and run it
check() {
	local name=${compilers[$1]}
	build=$SDP_TOP/build/unit-$1
	tap=$build/tap
	mkdir -p "$tap"
	step "programs for $1" make -s -C "$here" -j"$(nproc)" B="$build" CC="$name-gcc" \
		ASAN="-O1 $undefined" FAST="-O2 $undefined" \
		tests "$build"/{pair,rails,programs,windows}
	one "$1" everything "qemu-${emulators[$1]}-static" -L "/usr/$name"
}

chosen=("$@")
if [ $# = 0 ]; then
	chosen=(s390x armhf)
	[ -n "${SDP_SHORT:-}" ] || chosen+=(arm64)
fi
for processor in "${chosen[@]}"; do
	[ -n "${compilers[$processor]:-}" ] ||
		die "processors.sh: no processor '$processor'; there are: ${!compilers[*]}"
	check "$processor"
done
[ -z "${SDP_SHORT:-}" ] || echo "  short form: other processors: not arm64"
[ "$failed" = 0 ] || echo "  SEED=$seed repeats it"
sum
[ "$failed" = 0 ]
