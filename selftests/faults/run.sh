#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: everything without memory, in full, on the debug kernel: each allocation of each call
# fails once, those of the policy, of netlink and sysctl, of a new device, a namespace and of the
# module as it is loaded; and at random under load. It is the runner of selftests/vm with these
# tests.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

log=$SDP_LOGS/faults.log
status=0
SDP_SHORT='' "$SDP_TOP/selftests/vm/run.sh" debug faults faults_ways policy_failing \
	faults_control |
	tee "$log" || status=$?
# What was counted in each case.
(cd "$SDP_TOP/build/vm/last" 2>/dev/null && awk '
	/^# [0-9]+ (allocations|connects)/ { sub(/^# /, ""); counted = counted "; " $0 }
	/^(not )?ok/ {
		name = $0
		sub(/^(not )?ok [0-9]+ /, "", name)
		if (counted != "")
			printf "  %-28s %s\n", name, substr(counted, 3)
		counted = ""
	}' faults.tap faults_ways.tap policy_failing.tap faults_control.tap) || true
tail -n 1 "$log"
exit $status
