#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The twin: socket(AF_INET | AF_INET6, SOCK_STREAM, IPPROTO_SDP) against TCP, all of the
# oracle's scenarios, over RDMA with IPv4 and over loopback with IPv6. timeout: 200 s
top=$(dirname "$0")/../../..
# The debug kernel needs minutes for each.
[ "${SDP_DEBUG:-0}" = 1 ] && sets=(--set lo6) || sets=(--set rc4 --set lo6)
exec "${SDP_BIN:-$top/build/selftests}/oracle" --twin "${sets[@]}"
