#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [CALLS [KERNEL]]: so many system calls at random (1,000,000) in a VM with KERNEL (6.12), on
# sockets of AF_SDP and such that the policy makes; main.c says how. SEED=n repeats what chance did,
# MINUTES=n (120) bounds it. On the kernel "watched" programs are kept that reach new code, by KCOV,
# and on it and the debug kernel allocations fail in between.
#
# It is the runner of selftests/vm with one test: any complaint of the kernel fails the run, and so
# does anything left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/syscalls
last=$SDP_TOP/build/vm/last
out=$SDP_TOP/build/syscalls
calls=${1:-1000000} kernel=${2:-6.12} seed=${SEED:-$((RANDOM * 32768 + RANDOM + 1))} minutes=${MINUTES:-120}

[[ $calls =~ ^[1-9][0-9]*$ ]] || die "CALLS=$calls is no number of calls"
[[ $seed =~ ^[0-9]+$ ]] || die "SEED=$seed is no number"
[[ $minutes =~ ^[1-9][0-9]*$ ]] || die "MINUTES=$minutes is no number of minutes"

# The runner takes a test's time limit from its first lines, and here it follows the minutes.
write_test() {
	mkdir -p "$out/tests"
	cat >"$out/tests/calls.sh" <<-END
		# SPDX-License-Identifier: GPL-2.0
		# Written by selftests/syscalls/run.sh. timeout: $((minutes * 60 + 600)) s
		exec bash "$SDP_TOP/selftests/net/sdp/syscalls.sh"
	END
}

# The program's lines, as long as the runner lives.
show_progress() {
	until [ -e "$last/calls.log" ]; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 1
	done
	tail -q -n +1 -s 2 -f --pid="$1" "$last/calls.log"
}

"$SDP_TOP/scripts/setup.sh" vm build
"$here/test.sh"
write_test
step "test programs" make -s -C "$SDP_TOP/selftests/net/sdp"
options=(-e SYSCALLS_CALLS="$calls" -e SYSCALLS_SEED="$seed" -e SYSCALLS_SECONDS=$((minutes * 60)))
case $kernel in
debug)		options+=(-e SYSCALLS_FAILURES=1) ;;
watched)	options+=(-e SYSCALLS_FAILURES=1 -e SYSCALLS_KCOV=1) ;;
esac
say "$calls calls on $kernel, SEED=$seed"
rm -f "$last"
status=0
log=$SDP_LOGS/syscalls.log
SDP_SHORT='' SDP_TESTS=$out/tests "$SDP_TOP/selftests/vm/run.sh" "${options[@]}" "$kernel" calls >"$log" &
runner=$!
trap 'kill $runner 2>/dev/null || true' EXIT
show_progress $runner
wait $runner || status=$?
trap - EXIT
cat "$log"
exit $status
