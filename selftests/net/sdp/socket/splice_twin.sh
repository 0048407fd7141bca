#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# splice(2), sendfile(2) and the like on the twin.
# Over RDMA with IPv4 and over loopback with IPv6.
top=$(dirname "$0")/../../../..
exec "${SDP_BIN:-$top/build/selftests}/splice" --twin --set rc4 --set lo6
