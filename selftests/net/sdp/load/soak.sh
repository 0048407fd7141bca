#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# One minute of everything at once, at random: selftests/soak/soak.sh.
# make check-soak runs it for any time.
minutes=1 seed=${SOAK_SEED:-$((RANDOM + 1))}
echo "# SOAK_SEED=$seed"
. "$(dirname "$0")/../../../soak/soak.sh"
