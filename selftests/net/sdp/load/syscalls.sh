#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Random system calls by processes and threads that share sockets (selftests/syscalls/).
# The sockets are of AF_SDP, and TCP sockets that the policy turns into SDP. A call must end, and
# after the processes' exit nothing may be left. The runner checks for complaints of the kernel and
# for leaks. `make check-syscalls CALLS=n` makes more calls.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

# selftests/syscalls/run.sh sets SYSCALLS_CALLS, SYSCALLS_SEED and SYSCALLS_SECONDS; otherwise the
# number of calls is small.
calls=${SYSCALLS_CALLS:-60000} seed=${SYSCALLS_SEED:-$((RANDOM + 1))} most=${SYSCALLS_SECONDS:-60}
if short_form; then
	calls=5000 most=20
	left_out "5000 calls, or as many as there are in 20 s"
fi
options=("-n" "$calls" "-s" "$seed" "-t" "$most" "-w" $((100 * slow)))
description=$top/selftests/syscalls/sdp.txt

need_lab
[ -x "$programs/calls" ] || tap_skip_all "no $programs/calls; make it with make -C selftests/syscalls"

keeps /proc/sys/net/sdp/fin_timeout_ms

# For unknown names of congestion controls, devices and the like the kernel would start modprobe,
# which takes longer than all the rest.
keeps /proc/sys/kernel/modprobe
echo >/proc/sys/kernel/modprobe

check "data before" transfer "$SDP_B"
objects=$(counts_at_rest)
# The kernel's own report of each injected failure would fill the log.
if [ -n "${SYSCALLS_FAILURES:-}" ]; then
	options+=("-f")
	for verbose in /sys/kernel/debug/{failslab,fail_page_alloc}/verbose; do
		[ ! -e "$verbose" ] || echo 0 >"$verbose"
	done
fi
[ -z "${SYSCALLS_KCOV:-}" ] || options+=("-k")
status=0
"$programs/calls" "${options[@]}" "$description" "$programs/calls.constants" |
	tee "${SDP_RUN:-/tmp}/calls.log" || status=$?
check "every call and every process ended" [ $status = 0 ]
# Orphans end soon, whatever settings their connections began with.
check "no socket is left" wait_for $((5 * patience)) no_sockets
check "RDMA objects are as before" eval \
	'wait_for $((3 * patience)) connection_counts_are "$objects" || connection_counts_are "$objects"'
for address in 127.0.0.1 ::1 "$SDP_B" "$SDP_B6"; do
	check "afterwards data over $address" transfer "$address"
done
tap_done
