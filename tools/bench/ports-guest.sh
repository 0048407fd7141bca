#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# ports-guest.sh: the measurements of ports.sh, in its guest.
# Leaves the lines of the program ports in $SDP_RUN/results.
set -euo pipefail

WORK=/dev/shm/bench

# Counted time leaps while the guest waits for a file of the host.
mkdir -p $WORK
cp "$BENCH_BIN/ports" $WORK/
# shellcheck disable=SC2046 # a list
modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ')
insmod "$SDP_MODULE"
echo 1000000 >/proc/sys/fs/file-max
ip link set lo up
# shellcheck disable=SC2086 # lists
for kind in ${KINDS:-tcp sdp}; do
	$WORK/ports $kind ${COUNTS:-10 1000 10000 100000} | tee -a "$SDP_RUN/results"
done
