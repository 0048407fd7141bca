#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# libuv's tests with TCP sockets: see suite.py.
. "$(dirname "$0")/libsuites.sh"
