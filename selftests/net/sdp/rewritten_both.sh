#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As rewritten.sh, but SDP is tried, and TCP when it is not there: sockets listen by both, and a
# connect that SDP refuses is TCP's.
# timeout: 300 s; short form: 6.1; only when named: debug
exec bash "$(dirname "$0")/rewritten.sh" both
