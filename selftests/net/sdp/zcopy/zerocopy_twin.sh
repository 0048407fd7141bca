#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# MSG_ZEROCOPY on the twin, over RDMA with IPv4 and over loopback with IPv6.
top=$(dirname "$0")/../../../..
exec "${SDP_BIN:-$top/build/selftests}/zerocopy" --twin --set rc4 --set lo6
