#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As oracle_policy.sh, with rules that allow both: SDP is tried first, then TCP.
# Sockets listen by both, and a connect that SDP refuses becomes TCP's.
exec bash "$(dirname "$0")/oracle_policy.sh" both
