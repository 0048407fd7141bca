#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Unmodified programs (J2): TCP sockets that the policy turned into SDP, against plain TCP.
# All of the oracle's scenarios, over RDMA with IPv4 and over loopback with IPv6. One program has
# both ends: the rule selects by the thread's name.
verdict=${1:-sdp}
top=$(dirname "$0")/../../../..
settings=/proc/sys/net/sdp
restore() {
	echo 0 >$settings/rewrite
	echo "" >$settings/policy
}
trap restore EXIT
if ! { echo "any * program sdp-side $verdict" >$settings/policy && echo 1 >$settings/rewrite; }; then
	echo "1..1"
	echo "not ok 1 the policy is taken: $(cat $settings/policy_error)"
	exit 1
fi
[ "$verdict" = sdp ] && kind=policy || kind=both
"${SDP_BIN:-$top/build/selftests}/oracle" --$kind --set rc4 --set lo6
