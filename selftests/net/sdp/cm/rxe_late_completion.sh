#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Queue pairs outlive packets that soft-RoCE still handles when their connections end.
# Completion queues outlive ib_core's work on them when their device is removed.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

delayed=/sys/module/sdp_rxe_late_completion/parameters/delayed
need_lab
need_module rxe_late_completion

check "data before" transfer "$SDP_B"
objects_before=$(counts_at_rest)
load_module rxe_late_completion
cleanup rmmod sdp_rxe_late_completion

check "connections end in the middle of traffic" "$programs/many" --set rc4 closed_in_traffic
check "packets were late" test "$(<$delayed)" -gt 50
check "no RDMA object is left" wait_for $patience connection_counts_are "$objects_before"

# The queue pair for registrations and its completion queue are freed with the device.
slow=/sys/module/sdp_rxe_late_completion/parameters
goes_in_between() {
	echo 20000 >$slow/notify_us
	rdma link delete rxb
	echo 0 >$slow/notify_us
}
for round in 1 2 3; do
	check "a connection, whose device is to go" transfer "$SDP_B"
	check "the device goes" goes_in_between
	check "it comes back" lab_device "" rxb vb 0 2
done
# At least one in each round.
check "completion queues were late" test "$(<$slow/asked)" -ge 3
check "none was destroyed before" test "$(<$slow/early)" = 0
check "a connection works" transfer "$SDP_B"
tap_done
