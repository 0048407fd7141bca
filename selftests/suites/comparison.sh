#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Does suite.py see what it has to? See comparison.py, which needs neither suite nor sockets.
# timeout: 60 s; short form: 6.12
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "${0%/*}/comparison.py"
