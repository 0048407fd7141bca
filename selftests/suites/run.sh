#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL [SUITE...]]: the test suites of other projects, by TCP and by SDP, in a VM (6.12 if
# none is named). Nothing of them is in this tree: they are Debian's packages, and programs built
# from Debian's sources, in build/suites. suite.py says how the two are compared; `expected` lists
# the known differences. SDP_WAYS in the environment names the ways, SDP_ONLY is a regular
# expression for names of tests.
#
# It is the runner of selftests/vm with this directory's tests: any complaint of the kernel
# fails the run, and so does anything left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/suites
export SDP_SUITES=$SDP_TOP/build/suites
. "$here/libfetch.sh"

"$SDP_TOP/scripts/setup.sh" go suites
mkdir -p "$SDP_SUITES"
fetch_go
options=(-e "SDP_SUITES=$SDP_SUITES")
for variable in SDP_WAYS SDP_ONLY; do
	[ -z "${!variable:-}" ] || options+=(-e "$variable=${!variable}")
done
SDP_TESTS=$here "$SDP_TOP/selftests/vm/run.sh" "${options[@]}" "${1:-6.12}" "${@:2}"
