#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the experiments of two papers, in one guest: the first page is on flow control, the second
# (PAGE=2) on delivery by datagrams. See Documentation/sdp-paper.rst and sdp-paper-datagrams.rst. It
# leaves a CSV file and a plot for each figure in build/paper or build/paper-2. It is
# tools/bench/run.sh with other tests and peers, and takes the same variables: TESTS, PEERS, ROUNDS,
# PLAIN, TIME, OUT; and those of experiments.sh and datagrams.sh. SMOKE=1 runs each experiment once
# with one size, to see whether it works.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/paper
page=${PAGE:-1}
case $page in
1)
	export OUT=${OUT:-$SDP_TOP/build/paper} REPORT=$here/credits.py
	export TESTS=${TESTS:-latency bandwidth progress space64 space256 microscope words}
	export PEERS=${PEERS:-smc sdpplain sdpcredit sdpcredit8 sdprdma sdprdmastill sdpnic \
sdpplain256 sdpcredit256 sdprdma256 sdpnic256}
	;;
2)
	export OUT=${OUT:-$SDP_TOP/build/paper-2} REPORT=$here/datagrams.py
	export TESTS=${TESTS:-roundtrip stores window nack keepalive}
	export PEERS=${PEERS:-tcp tcpmtu smc sdp sdpud tcpwait sdpwait sdpudwait sdpudfar}
	;;
*)
	die "PAGE is 1 or 2"
	;;
esac
if [ "${SMOKE:-0}" = 1 ]; then
	export ROUNDS=1 PAPER_SIZES=1024 SPACE_SIZES=1024 COMPUTES=1000 BURST_ROUNDS=2
	export DATA_SIZES=131072 TRIP_SIZES=64 STORE_SIZES=8064 WINDOWS=72 LOSSES=10
fi
export DATA_SIZES=${DATA_SIZES:-524288 1048576 2097152}
export DATA=$SDP_TOP/build/paper-data/text

# The data set: kernel headers, which any machine has that builds the module. One application
# treats them as text, the other one takes each byte as a pixel.
make_data() {
	local size most=0 headers tool=$SDP_TOP/build/paper-data/pipeline
	headers=$("$SDP_TOP/scripts/kernels.sh" 6.12)/build
	mkdir -p "$(dirname "$DATA")"
	cc -O2 -Wall -Wextra -Werror -o "$tool" "$here"/{pipeline,filters,ends}.c -lz
	for size in $DATA_SIZES; do
		most=$((size > most ? size : most))
	done
	headers=$(sed -n 's/^include \(.*\)\/Makefile$/\1/p' "$headers/Makefile")
	find "$headers/include" -name '*.h' -print0 | LC_ALL=C sort -z | xargs -0 cat >"$DATA.all"
	head -c "$most" "$DATA.all" >"$DATA"
	rm "$DATA.all"
	for size in $DATA_SIZES; do
		"$tool" prepare "$DATA" "$size"
	done
}

"$SDP_TOP/scripts/setup.sh" build bench
[ "$page" != 1 ] || step "data set" make_data
exec "$SDP_TOP/tools/bench/run.sh"
