#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# policy.sh: what the policy costs TCP connections that a rule leaves to TCP, and socket(2).
# One guest with one processor, counted instructions, interleaved rounds. All options are
# variables:
#
#	ROUNDS=5		every state once in each
#	TESTS="stream socket"	only these (stream pingpong connect socket memory)
#	TIME=1800		time limit of the guest in seconds
#	OUT=DIRECTORY		output directory instead of build/bench-policy
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/bench
out=$(realpath -m "${OUT:-$SDP_TOP/build/bench-policy}")
kernel=6.12

build_sockbench() {
	mkdir -p "$out/bin"
	(cd "$here" && cc -O2 -Wall -Wextra -Werror -pthread -I "$SDP_TOP/tools/lib" \
		-I "$SDP_TOP/include/uapi" -o "$out/bin/sockbench" \
		sockbench.c echo.c busy.c readers.c writers.c strides.c -luring)
}

"$SDP_TOP/scripts/setup.sh" vm build
step "sockbench" build_sockbench
release=$(basename "$("$SDP_TOP/scripts/kernels.sh" $kernel)"/lib/modules/*)
step "module for $release" make -C "$SDP_TOP" modules KERNEL=$kernel
arguments=(-i -c 1 -t "${TIME:-1800}" -d "$out/run" -a clearcpuid=cx16
	-e "SDP_MODULE=$SDP_TOP/build/$release/sdp.ko" -e "BENCH_BIN=$out/bin")
for name in ROUNDS TESTS; do
	[ -z "${!name:-}" ] || arguments+=(-e "$name=${!name}")
done
rm -f "$out/run/results"
status=0
"$SDP_TOP/selftests/vm/boot.sh" "${arguments[@]}" $kernel "$here/policy-guest.sh" || status=$?
[ -s "$out/run/results" ] || die "nothing was measured; see $out/run/console.log"
cp "$out/run/results" "$out/results"
python3 -B "$here/policy.py" "$out/results" | tee "$out/table.txt"
exit $status
