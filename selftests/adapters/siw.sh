#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# siw.sh KERNEL: build soft-iWARP, which Debian's kernels lack, and print its path.
#
# KERNEL is 6.1, 6.12 or debug.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/adapters
. "$here/lib-driver.sh"

dir=$(driver_build siw "$1" siw CONFIG_RDMA_SIW)
echo "$dir/siw.ko"
