#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A third of curl's tests of its program: see suite.py.
. "$(dirname "$0")/libsuites.sh"
