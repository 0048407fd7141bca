#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPython's tests of its module socket: see suite.py.
. "$(dirname "$0")/libsuites.sh"
