#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A minute of everything at once, by a seed of chance: selftests/soak/soak.sh, which make check-soak
# does for as long as is wanted. timeout: 300 s; short form: 6.12; only when named: debug
minutes=1 seed=${SOAK_SEED:-$((RANDOM + 1))}
echo "# SOAK_SEED=$seed"
. "$(dirname "$0")/../../soak/soak.sh"
