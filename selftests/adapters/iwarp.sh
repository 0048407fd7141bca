#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# iwarp.sh KERNEL [TEST...]: tests of sockets over soft-iWARP, in a VM with KERNEL.
#
# Without names, those that do not ask for what iWARP lacks: rings, rails, datagrams, RDMA of the
# program's memory (Documentation/networking/sdp-adapters.rst). The debug kernel's lockdep reports
# soft-iWARP itself as soon as TCP is used beside it: siw_qp_llp_data_ready() takes a lock of its
# TCP socket that TCP takes in softirq. So tests that use TCP as well are not run there.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

kernel=$1
shift
if [ $# = 0 ]; then
	set -- smoke stream resize splice keepalive options readiness lifetime
	[ "$kernel" = debug ] || set -- "$@" threads oracle
fi
siw=$("$SDP_TOP/selftests/adapters/siw.sh" "$kernel")
exec "$SDP_TOP/selftests/vm/run.sh" -e SDP_SIW="$siw" "$kernel" "$@"
