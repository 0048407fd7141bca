#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# scale.sh: what a connection costs and gets among 10 to 10,000, by TCP, SMC-R and AF_SDP.
# Each kind has a guest of its own, with one processor and counted instructions; both ends are in
# it. Tables and plots in build/bench-scale. All options are variables:
#
#	KINDS="tcp sdpud"	only these (tcp smc sdp sdpud sdpauto sdpmixed, see scale.c)
#	COUNTS="10 50000"	connections, rising (10 100 1000 10000), 50,000 at most
#	MEMORY=12G		of the guest (8G): 50,000 with queue pairs take 7 GB
#	MODULE=FILE.ko		another module than the tree's
#	TIME=3600		time limit of each guest in seconds
#	OUT=DIRECTORY		output directory instead of build/bench-scale
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/bench
out=$(realpath -m "${OUT:-$SDP_TOP/build/bench-scale}")
kernel=6.12
status=0

build_scale() {
	mkdir -p "$out/bin"
	cc -O2 -Wall -Wextra -Werror -I "$SDP_TOP/include/uapi" -o "$out/bin/scale" "$here/scale.c"
	cc -O2 -Wall -Wextra -Werror -o "$out/bin/smcsetup" "$here/smcsetup.c"
}

# measure KIND: in a guest of its own, because the kernel keeps memory and queue pairs of
# connections that have ended, and the next kind would get them.
measure() {
	"$SDP_TOP/selftests/vm/boot.sh" -i -c 1 -m "${MEMORY:-8G}" -t "${TIME:-3600}" \
		-d "$out/run-$1" -a clearcpuid=cx16 -e "SDP_MODULE=$MODULE" -e "BENCH_BIN=$out/bin" \
		-e "KIND=$1" -e "COUNTS=${COUNTS:-10 100 1000 10000}" $kernel "$here/scale-guest.sh"
}

"$SDP_TOP/scripts/setup.sh" vm bench build
step "scale" build_scale
if [ -z "${MODULE:-}" ]; then
	release=$(basename "$("$SDP_TOP/scripts/kernels.sh" $kernel)"/lib/modules/*)
	step "module for $release" make -C "$SDP_TOP" modules KERNEL=$kernel
	MODULE=$SDP_TOP/build/$release/sdp.ko
fi
: >"$out/results"
for kind in ${KINDS:-tcp smc sdp sdpud sdpauto sdpmixed}; do
	rm -f "$out/run-$kind/results"
	measure "$kind" || { status=$? && say "$kind: see $out/run-$kind/console.log"; }
	[ ! -e "$out/run-$kind/results" ] || cat "$out/run-$kind/results" >>"$out/results"
done
[ -s "$out/results" ] || die "nothing was measured"
python3 -B "$here/scale.py" "$out/results" "$out" | tee "$out/table.txt"
exit $status
