#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# libuv's tests that have sockets of TCP: see suite.py.
# timeout: 3600 s; short form: none
. "$(dirname "$0")/libsuites.sh"
