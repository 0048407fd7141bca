#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Unmodified programs (J2): every call on TCP sockets that the policy may turn into SDP.
# Before the decision, and as listeners by both, compared with plain TCP sockets.
top=$(dirname "$0")/../../../..
settings=/proc/sys/net/sdp
restore() {
	echo 0 >$settings/rewrite
	echo "" >$settings/policy
	echo "$was" >$settings/fallback_ms
}
trap restore EXIT
was=$(<$settings/fallback_ms)
if ! { echo 600000 >$settings/fallback_ms && echo "any * program sdp-side both" >$settings/policy && echo 1 >$settings/rewrite; }; then
	echo "1..1"
	echo "not ok 1 the policy is taken: $(cat $settings/policy_error)"
	exit 1
fi
"${SDP_BIN:-$top/build/selftests}/matrix" --policy --set rc4 --set lo6 \
	fresh bound "bound to any" connecting refused "refused, error unread" "refused, error read" \
	listening "listening, one waits" "no longer listening" "listener disconnected" \
	disconnected "disconnected, bound before" idle
