#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the tests of this folder, one after the other, and the sum of their points.
#
# With SDP_SHORT=1 in the environment: on 6.12 only, a few tests.
set -uo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/adapters
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

part() {
	echo "== $1"
	shift
	"$here/$@" 2>&1 | tee -a "$log"
	[ "${PIPESTATUS[0]}" = 0 ] || bad=1
}

if [ -n "${SDP_SHORT:-}" ]; then
	part "bounce buffers, 6.12" dma.sh 6.12 smoke stream rdma lent
	part "soft-iWARP, 6.12" iwarp.sh 6.12 smoke stream resize keepalive
	echo "  short form: adapters: a few tests, on 6.12 only"
else
	part "bounce buffers, 6.12" dma.sh 6.12
	for kernel in 6.1 6.12 debug; do part "soft-iWARP, $kernel" iwarp.sh $kernel; done
fi
awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
	END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped" }' "$log"
exit $bad
