#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# ports.sh: cost of bind(), listen() and a connection at a port with many connections.
# SDP and TCP, by loopback, in one guest with one processor and counted instructions. All options
# are variables:
#
#	COUNTS="10 1000"	connections (10 1000 10000 100000)
#	KINDS="tcp sdp"		only these
#	MEMORY=4G		of the guest: 100,000 connections take 1.5 GB
#	MODULE=FILE.ko		another module than the tree's
#	TIME=7200		time limit of the guest in seconds
#	OUT=DIRECTORY		output directory instead of build/bench-ports
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/bench
out=$(realpath -m "${OUT:-$SDP_TOP/build/bench-ports}")
kernel=6.12

build_ports() {
	mkdir -p "$out/bin"
	cc -O2 -Wall -Wextra -Werror -o "$out/bin/ports" "$here/ports.c"
}

"$SDP_TOP/scripts/setup.sh" vm build
step "ports" build_ports
release=$(basename "$("$SDP_TOP/scripts/kernels.sh" $kernel)"/lib/modules/*)
if [ -z "${MODULE:-}" ]; then
	step "module for $release" make -C "$SDP_TOP" modules KERNEL=$kernel
	MODULE=$SDP_TOP/build/$release/sdp.ko
fi
arguments=(-i -c 1 -m "${MEMORY:-4G}" -t "${TIME:-7200}" -d "$out/run"
	-e "SDP_MODULE=$MODULE" -e "BENCH_BIN=$out/bin")
for name in COUNTS KINDS; do
	[ -z "${!name:-}" ] || arguments+=(-e "$name=${!name}")
done
rm -f "$out/run/results"
status=0
"$SDP_TOP/selftests/vm/boot.sh" "${arguments[@]}" $kernel "$here/ports-guest.sh" || status=$?
[ -s "$out/run/results" ] || die "nothing was measured; see $out/run/console.log"
cp "$out/run/results" "$out/results"
awk '
	BEGIN {
		print "microseconds, medians of 31  refused bind  bind  listen  connect until accept"
	}
	{
		for (i = 3; i <= NF; i++) {
			split($i, word, "=")
			value[word[1]] = word[2]
		}
		printf "%s, %6d connections      %12.1f %9.1f %7.1f %8.1f\n", $2,
			value["connections"], value["refused"], value["bind"], value["listen"],
			value["connect"]
	}' "$out/results" | tee "$out/table.txt"
exit $status
