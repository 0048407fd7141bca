#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# races.sh [TEST...]: searches for data races in the module with KCSAN.
# The kernel is "watched" (scripts/watched.config). Runs the named tests of selftests/net/sdp, or
# those below, which have concurrent threads, processes, completions and timers. A KCSAN report is
# a complaint of the kernel and fails the run, as any other does. Prints how many accesses were
# watched; exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

tests=(threads writers stream readiness rdma pipelined modes ring resize scan
	zerocopy splice remapped faults_mid_call kills lifetime devices many netlink visible
	policy policy_async policy_load syscalls)
[ $# = 0 ] || tests=("$@")

status=0
"$SDP_TOP/selftests/vm/run.sh" -e SDP_RACES=1 watched "${tests[@]}" || status=$?
kcsan=$SDP_TOP/build/vm/last/kcsan
[ ! -e "$kcsan" ] || awk '
	/^setup_watchpoints:/	{ watched = $2 }
	/^data_races:/		{ races = $2 }
	END			{ print watched " accesses watched, " races " races seen" }' "$kcsan"
exit $status
