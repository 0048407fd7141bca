#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: everything without memory, in full, on the debug kernel: each allocation of each call
# fails once, those of the policy, of a new device, a namespace and of the module as it is loaded;
# and at random under load. It is the runner of selftests/vm with these tests.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

log=$SDP_LOGS/faults.log
status=0
SDP_SHORT='' "$SDP_TOP/selftests/vm/run.sh" debug faults policy_failing | tee "$log" || status=$?
(cd "$SDP_TOP/build/vm/last" 2>/dev/null && sed -n 's/^# \([0-9]* \(allocations\|connects\)\)/  \1/p' \
	faults.tap policy_failing.tap) || true
tail -n 1 "$log"
exit $status
