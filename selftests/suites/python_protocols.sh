#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPython's tests of modules with protocols over TCP: see suite.py.
. "$(dirname "$0")/libsuites.sh"
