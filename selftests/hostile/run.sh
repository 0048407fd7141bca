#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [CASES [KERNEL]]: so many cases (100,000) drawn from a seed by a peer that breaks the rules
# of the wire, as the end that connects, against sockets in a VM with KERNEL (6.12), and a quarter as
# many as the end that accepts: selftests/net/sdp/hostile/generated.sh.
# SEED=n chooses what chance does, FIRST=n the number of the first case.
#
# It is the runner of selftests/vm with one test: any complaint of the kernel fails the run, and
# so does anything left after rmmod. A line each ten seconds tells how far it is; all of them are in
# build/hostile/. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
. "$SDP_TOP/selftests/vm/long.sh"

out=$SDP_TOP/build/hostile
cases=${1:-100000} kernel=${2:-6.12} seed=${SEED:-$((RANDOM + 1))}

need_number CASES "$cases"
need_number SEED "$seed"

# Ten cases a second are few; a quarter more come as a server.
write_test() {
	mkdir -p "$out/tests"
	ln -sfn "$SDP_TOP/selftests/net/sdp/modules" "$out/tests/modules"
	long_test "$out/tests" generated $((cases / 8 + 600)) <<-END
		SDP_CASES=$cases SDP_SEED=$seed SDP_FIRST=${FIRST:-0}
		. "$SDP_TOP/selftests/net/sdp/hostile/generated.sh"
	END
}

"$SDP_TOP/scripts/setup.sh" vm build
write_test
step "test programs" make -s -C "$SDP_TOP/selftests/net/sdp"
say "$cases cases on $kernel, SEED=$seed"
status=0
log=$SDP_LOGS/hostile.log
SDP_TESTS=$out/tests long_run "$log" progress "$kernel" generated || status=$?
sed '$d' "$log"
if [ -s "$last/generated.tap" ]; then
	grep -E '^# (SEED|[0-9]+ cases|cases|wrong|kind|errno|violation|rings) ?' "$last/generated.tap" | sed 's/^# /  /' || true
	cp "$last/progress" "$last/generated.tap" "$out/"
fi
tail -n 1 "$log"
exit $status
