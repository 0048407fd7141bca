#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh MODULE.ko: run the KUnit suites of a module, inside the VM.
#
# The suites run while the module is loaded. The kernel log is saved in $SDP_RUN/ktap. Then the
# module is unloaded, and the log and the taint flags are checked.
set -uo pipefail
. "$SDP_TOP/selftests/vm/checks.sh"

checks_begin
depends=$(modinfo -F depends "$1" | tr , ' ')
# shellcheck disable=SC2086 # a list
[ -z "$depends" ] || modprobe -a $depends || exit 1
insmod "$1" || exit 1
dmesg | sed -E 's/^\[ *[0-9.]+\] ?//' >"$SDP_RUN/ktap"
rmmod "$(basename "$1" .ko)" || exit 1
status=0
check_log KUnit || status=1
check_taint KUnit || status=1
exit $status
