#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL [SUITE...]]: the test suites of other projects, by TCP and by SDP, in a VM.
# KERNEL is 6.12 if none is named. No part of the suites is in this tree: they are Debian packages,
# and programs built from Debian's sources, in $SDP_CACHE/suites and build/suites. suite.py
# describes the comparison; `expected` lists the known differences. SDP_WAYS in the environment
# selects the ways, SDP_ONLY is a regular expression for the names of tests.
#
# It is the runner of selftests/vm with this directory's tests: any complaint of the kernel fails
# the run, and so does anything left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/suites
export SDP_SUITES=$SDP_TOP/build/suites
. "$here/libfetch.sh"

"$SDP_TOP/scripts/setup.sh" go suites
mkdir -p "$SDP_SUITES"
# The short form runs only these two.
suites=("${@:2}")
[ $# -gt 1 ] || suites=(go_net python_socket)
[ $# -gt 1 ] || [ -n "${SDP_SHORT:-}" ] ||
	suites+=(go_http python_asyncio python_protocols uv curl mpi)
# wants NAME: succeeds if a suite to be run has this name, or a name that starts with it
wants() { [[ " ${suites[*]}" == *" $1"* ]]; }

! wants go_ || fetch_go
for suite in uv curl mpi; do
	! wants $suite || "$SDP_TOP/scripts/setup.sh" suite-sources
done
! wants uv || fetch_libuv
! wants curl || fetch_curl
! wants mpi || fetch_mpi
options=(-e "SDP_SUITES=$SDP_SUITES")
for variable in SDP_WAYS SDP_ONLY; do
	[ -z "${!variable:-}" ] || options+=(-e "$variable=${!variable}")
done
SDP_TESTS=$here "$SDP_TOP/selftests/vm/run.sh" "${options[@]}" "${1:-6.12}" "${@:2}"
