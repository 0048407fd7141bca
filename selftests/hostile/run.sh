#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [CASES [KERNEL]]: so many cases (100,000) drawn from a seed by a peer that breaks the rules
# of the wire, four fifths of them as the end that connects, against sockets in a VM with KERNEL
# (6.12), and a quarter as many as the end that accepts: selftests/net/sdp/generated.sh.
# SEED=n chooses what chance does, FIRST=n the number of the first case.
#
# It is the runner of selftests/vm with one test: any complaint of the kernel fails the run, and
# so does anything left after rmmod. A line each ten seconds tells how far it is; all of them are in
# build/hostile/. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

last=$SDP_TOP/build/vm/last
out=$SDP_TOP/build/hostile
cases=${1:-100000} kernel=${2:-6.12} seed=${SEED:-$((RANDOM + 1))}

[[ $cases =~ ^[1-9][0-9]*$ ]] || die "CASES=$cases is no number of cases"
[[ $seed =~ ^[0-9]+$ ]] || die "SEED=$seed is no number"

# The runner takes a test's time limit from its first lines. Ten cases a second are few; a quarter more
# come as a server.
write_test() {
	mkdir -p "$out/tests"
	ln -sfn "$SDP_TOP/selftests/net/sdp/hostile" "$out/tests/hostile"
	cat >"$out/tests/generated.sh" <<-END
		# SPDX-License-Identifier: GPL-2.0
		# Written by selftests/hostile/run.sh. timeout: $((cases / 8 + 600)) s
		SDP_CASES=$cases SDP_SEED=$seed SDP_FIRST=${FIRST:-0}
		. "$SDP_TOP/selftests/net/sdp/generated.sh"
	END
}

# The guest adds to it; what it says is shown as long as the runner lives.
show_progress() {
	until [ -s "$last/progress" ]; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 1
	done
	tail -q -n +1 -s 2 -f --pid="$1" "$last/progress"
}

"$SDP_TOP/scripts/setup.sh" vm build
write_test
step "test programs" make -s -C "$SDP_TOP/selftests/net/sdp"
say "$cases cases on $kernel, SEED=$seed"
rm -f "$last"
status=0
log=$SDP_LOGS/hostile.log
SDP_TESTS=$out/tests SDP_SHORT='' "$SDP_TOP/selftests/vm/run.sh" "$kernel" generated >"$log" &
runner=$!
trap 'kill $runner 2>/dev/null || true' EXIT
show_progress $runner
wait $runner || status=$?
trap - EXIT
sed '$d' "$log"
if [ -s "$last/generated.tap" ]; then
	grep -E '^# (SEED|[0-9]+ cases|cases|wrong|kind|errno|violation) ?' "$last/generated.tap" | sed 's/^# /  /' || true
	cp "$last/progress" "$last/generated.tap" "$out/"
fi
tail -n 1 "$log"
exit $status
