#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [CALLS [KERNEL]]: 1,000,000 or CALLS random system calls in a VM with KERNEL (6.12).
# The calls are on sockets of AF_SDP and on TCP sockets that the policy turns into SDP; see main.c.
# SEED=n repeats the random choices, MINUTES=n (120) limits the time. On the kernels "debug" and
# "watched" programs that reach new code are kept, by KCOV, and some allocations fail.
#
# It is the runner of selftests/vm with one test: any complaint of the kernel fails the run, and so
# does anything left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
. "$SDP_TOP/selftests/vm/long.sh"

here=$SDP_TOP/selftests/syscalls
out=$SDP_TOP/build/syscalls
calls=${1:-1000000} kernel=${2:-6.12} seed=${SEED:-$((RANDOM * 32768 + RANDOM + 1))} minutes=${MINUTES:-120}

need_number CALLS "$calls"
need_number SEED "$seed"
need_number MINUTES "$minutes"

"$SDP_TOP/scripts/setup.sh" vm build
"$here/test.sh"
long_test "$out/tests" calls $((minutes * 60 + 600)) <<-END
	exec bash "$SDP_TOP/selftests/net/sdp/load/syscalls.sh"
END
step "test programs" make -s -C "$SDP_TOP/selftests/net/sdp"
options=(-e SYSCALLS_CALLS="$calls" -e SYSCALLS_SEED="$seed" -e SYSCALLS_SECONDS=$((minutes * 60)))
case $kernel in
debug | watched)
	options+=(-e SYSCALLS_FAILURES=1 -e SYSCALLS_KCOV=1)
	export SDP_WATCH=coverage
	;;
esac
say "$calls calls on $kernel, SEED=$seed"
status=0
log=$SDP_LOGS/syscalls.log
SDP_TESTS=$out/tests long_run "$log" calls.log "${options[@]}" "$kernel" calls || status=$?
cat "$log"
exit $status
