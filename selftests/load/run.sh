#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL [CONNECTIONS]]: the load tests in a guest of 4 GB (6.12 if none is named).
# There are 10,000 idle connections by loopback, then 10,000 over soft-RoCE; both ends are in the
# guest. Their cost, and the fairness among the busy ones, is printed at the end.
#
# It is the runner of selftests/vm: any complaint of the kernel fails the run, and so does anything
# left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

last=$SDP_TOP/build/vm/last
log=$SDP_LOGS/load.log
status=0
rm -f "$last"
"$SDP_TOP/selftests/vm/run.sh" -m 4G -e SDP_LOAD="${2:-10000}" "${1:-6.12}" load flood | tee "$log" ||
	status=$?
if [ -s "$last/load.tap" ]; then
	echo "figures, on an emulated processor that also does the adapter's work:"
	sed -n 's/^# \([0-9]* \(busy\|conn\)\|each\|an idle\|Memory\|\/proc\|nothing\)/  \1/p; s/^ok [0-9]* /after that: /p' \
		"$last/load.tap"
	tail -n 1 "$log"
fi
exit $status
