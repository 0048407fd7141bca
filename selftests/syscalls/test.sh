#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test.sh: unit tests of the description's parser and of the arguments, with ASan and UBSan.
# Prints one TAP point.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$SDP_TOP/selftests/syscalls"

out=$SDP_TOP/build/syscalls
mkdir -p "$out"
gcc -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror \
	-D_GNU_SOURCE test_description.c lang.c types.c values.c table.c -o "$out/test_description"
# The parsed description is never freed.
if ASAN_OPTIONS=detect_leaks=0 "$out/test_description" >"$out/test_description.log" 2>&1; then
	echo "ok 1 - descriptions of system calls: $(tail -n 1 "$out/test_description.log")"
else
	echo "not ok 1 - descriptions of system calls"
	cat "$out/test_description.log" >&2
	exit 1
fi
