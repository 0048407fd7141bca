#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: run every part of the tests, show how it goes, add up. A part that fails does
# not keep the others from running.
set -uo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

passed=0 failed=0 skipped=0 summary=

# part NAME MAKE ARGUMENTS...: its last line is "N passed, N failed, N skipped".
part() {
	local name=$1 log start=$SECONDS counts status p f s
	shift
	log=$SDP_LOGS/check-$(tr -c 'a-z0-9.\n' - <<<"$name").log
	say ""
	say "== $name"
	make --no-print-directory "$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	read -r p f s <<<"$(tr -cd '0-9 \n' <<<"${counts:-0 0 0}" | awk '{print $1, $2, $3}')"
	# A part that failed without counting a failure has failed as a whole.
	if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; fi
	if [ -z "$counts" ] && [ "$status" = 0 ]; then f=1; fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	summary+=$(printf '  %-28s %6d passed %4d failed %4d skipped %5d s' \
		"$name" "$p" "$f" "$s" $((SECONDS - start)))$'\n'
}

part "style" check-style
part "engine, user space" check-unit
part "engine, KUnit" check-kunit
part "wire" check-wire
part "kernel 6.12" check-vm KERNEL=6.12
part "kernel 6.1" check-vm KERNEL=6.1
part "debug kernel" check-vm KERNEL=debug
part "the test runner" check-runner

printf '\n%s\n' "$summary"
echo "not part of this, for the time they take: make check-programs, check-load, check-soak"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
