#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPython's tests of asyncio with sockets: see suite.py.
. "$(dirname "$0")/libsuites.sh"
