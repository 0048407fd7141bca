#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh MODULE.ko: in the VM. Load the KUnit module, which runs its suites while it
# loads, leave what the kernel said in $SDP_RUN/ktap, unload it and look for complaints.
set -uo pipefail
. "$SDP_TOP/selftests/vm/checks.sh"

checks_begin
insmod "$1" || exit 1
dmesg | sed -E 's/^\[ *[0-9.]+\] ?//' >"$SDP_RUN/ktap"
rmmod sdp_kunit || exit 1
status=0
check_log KUnit || status=1
check_taint KUnit || status=1
exit $status
