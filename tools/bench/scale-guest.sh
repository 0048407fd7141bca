#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# scale-guest.sh: the measurements of one kind of connections for scale.sh, in its guest.
# Leaves the lines of the program scale in $SDP_RUN/results. Environment: KIND, COUNTS, BENCH_BIN,
# SDP_MODULE.
set -euo pipefail

WORK=/dev/shm/bench

. "$SDP_TOP/selftests/vm/netlab.sh"
. "$SDP_TOP/tools/bench/peers.sh"

lab_up || { echo "the lab did not come up"; exit 1; }
# Counted time leaps while the guest waits for a file of the host.
mkdir -p $WORK
for program in rdma sed cat grep sleep; do
	cp "$(type -P $program)" $WORK/
done
cp "$BENCH_BIN"/* $WORK/
PATH=$WORK:$PATH
case $KIND in
sdp*)
	# shellcheck disable=SC2046 # a list
	modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ')
	insmod "$SDP_MODULE"
	;;
smc)
	set_up_smc
	;;
esac
echo 1000000 >/proc/sys/fs/file-max
rdma resource show >/dev/null
# shellcheck disable=SC2086 # a list
scale "$KIND" $COUNTS >"$SDP_RUN/results" &
until grep -q '^end$' "$SDP_RUN/results"; do
	kill -0 $! || exit 1
	sleep 0.5
done
cat "$SDP_RUN/results"
