#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Test of suite.py with given verdicts: it must draw the right conclusions.
# See comparison.py, which needs no suite and no sockets.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "${0%/*}/comparison.py"
