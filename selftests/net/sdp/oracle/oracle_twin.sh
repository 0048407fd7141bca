#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The twin, socket(AF_INET | AF_INET6, SOCK_STREAM, IPPROTO_SDP), behaves as TCP.
# All of the oracle's scenarios, over RDMA with IPv4 and over loopback with IPv6.
top=$(dirname "$0")/../../../..
exec "${SDP_BIN:-$top/build/selftests}/oracle" --twin --set rc4 --set lo6
