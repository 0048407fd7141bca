#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# coverage.sh [TEST...]: the share of the module's lines that the tests in the VM execute.
# Runs the named tests, or all of selftests/net/sdp, on the kernel "watched"
# (scripts/watched.config), then CALLS (100000) random system calls with KCOV; CALLS=0 leaves these
# out. The counts of earlier runs of the same build are in build/coverage/counts and are added;
# `make clean` removes them.
#
# Prints the share of each file. Fails below 85 % of all lines, or when a test fails.
# build/coverage/missed lists the lines that never ran.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
out=$SDP_TOP/build/coverage
last=$SDP_TOP/build/vm/last
calls=${CALLS:-100000} status=0 number=''
export SDP_WATCH=coverage
SDP_TESTS=$SDP_TOP/selftests/net/sdp
. "$here/tests.sh"

"$SDP_TOP/scripts/setup.sh" build vm
mapfile -t tests < <(all_tests)
[ $# = 0 ] || tests=("$@")

# collect: copies the counts that the guest of the last run saved.
collect() {
	number=$(find "$out/counts" -mindepth 1 -maxdepth 1 | wc -l)
	if [ -d "$last/gcov" ]; then
		cp -r "$last/gcov" "$out/counts/$number"
	else
		say "the guest has left no counts"
		status=1
	fi
}

mkdir -p "$out/counts"
"$here/run.sh" watched "${tests[@]}" || status=1
collect
if [ "$calls" != 0 ]; then
	"$SDP_TOP/selftests/syscalls/run.sh" "$calls" watched || status=1
	collect
fi
release=$(basename "$("$SDP_TOP/scripts/kernels.sh" watched)"/lib/modules/*)
python3 "$here/coverage.py" "$SDP_TOP" "$SDP_TOP/build/$release-$SDP_WATCH" "$out" || status=1
exit $status
