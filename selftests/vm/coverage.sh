#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# coverage.sh [TEST...]: which lines of the module the tests in the VM run, named ones or all of
# selftests/net/sdp, on the kernel "watched" (scripts/watched.config). CALLS=n (100000) system calls
# at random come after them, with KCOV; 0: none. What runs of earlier, of the same build, have
# counted is added as long as it lies in build/coverage/counts; `make clean` removes it.
#
# Prints each file's share, and fails below 85 % of all lines, or when a test fails. Which lines
# have never run is in build/coverage/missed.
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

# What the guest has left of the last run.
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
