#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Connections by datagrams behave as all others: programs of other tests, with net.sdp.service=ud.
. "$(dirname "$0")/../lib/lib.sh"
need_lab

service=/proc/sys/net/sdp/service
keeps $service

# by NAME...: a program, with its options
by() {
	local before
	before=$(sdpstat DatagramsSent)
	check "$* by datagrams" "$programs/$1" "${@:2}"
	check "... and that went by datagrams" test "$(sdpstat DatagramsSent)" -gt "$before"
	grep -E '^(Datagram|MsgsSent|BytesSent)' /proc/net/sdpstat | sed 's/^/# /'
}

echo ud >$service
by stream --set rc4 --set rc6
by oracle --set rc4
by readiness --set rc4
by coalesce --set rc4
by reconnect --set rc4
by writers --set rc4 messages interrupted killed reset_messages
by threads --set rc4
by pollers --set rc4
by autotune --set rc4
tap_done
