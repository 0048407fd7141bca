#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: run every part of the tests and add up the results.
#
# A part that fails does not keep the others from running. With SDP_SHORT=1 in
# the environment every part runs in its short form and prints what it leaves
# out in lines "short form: ...". They are repeated at the end.
set -uo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

passed=0 failed=0 skipped=0 summary= logs=() lane_pids=()
declare -A lanes=() beside_makes=()
# The format of `time` after each part; add_up parses it.
TIMEFORMAT='processor time %0U s and %0S s'

log_of() { echo "$SDP_LOGS/check-$(tr -c 'a-z0-9.\n' - <<<"$1").log"; }

# add_up NAME LOG STATUS SECONDS: add the result of a part to the totals.
# LOG has the line "N passed, N failed, N skipped"; the last one counts.
add_up() {
	local counts p f s work
	counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$2" | tail -n 1)
	read -r p f s <<<"$(tr -cd '0-9 \n' <<<"${counts:-0 0 0}" | awk '{print $1, $2, $3}')"
	# A part that failed, or printed no result, without counting a failure:
	# count one.
	if [ "$3" != 0 ] && [ "$f" = 0 ]; then f=1; fi
	if [ -z "$counts" ] && [ "$3" = 0 ]; then f=1; fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) logs+=("$2")
	work=$(sed -n 's/^processor time \([0-9]*\) s and \([0-9]*\) s$/\1 + \2/p' "$2" | tail -n 1)
	summary+=$(printf '  %-28s %6d passed %4d failed %4d skipped %5d s, works %4d s' \
		"$1" "$p" "$f" "$s" "$4" $((${work:-0})))$'\n'
}

# Repeats at the end what failed, in which part, and the reasons given.
show_failures() {
	local log
	for log in "${logs[@]}"; do
		awk '/^ *not ok |  FAIL(ED)?( |$)|^(FAIL|Error)/ { print; reasons = 3; next }
			/^ *# / && reasons-- > 0 { print; next }
			{ reasons = 0 }' "$log" | sed "s|^ *|failed: $(basename "$log" .log): |"
	done
}

# part NAME MAKE ARGUMENTS...: run one part now.
part() {
	local name=$1 log start=$SECONDS
	shift
	log=$(log_of "$name")
	say ""
	say "== $name"
	{ time make --no-print-directory "$@"; } 2>&1 | tee "$log"
	add_up "$name" "$log" "${PIPESTATUS[0]}" $((SECONDS - start))
}

# beside LANE NAME MAKE ARGUMENTS...: run a part in the background.
# The parts of a lane run one after the other, with one virtual machine at a
# time, while the parts of part() run. lanes_begin starts the lanes.
beside() {
	say "== $2: beside what follows, shown when that is over"
	lanes[$1]+="$2"$'\n'
	beside_makes[$2]=${*:3}
}

# run_lane LANE: run the parts of a lane; their names come on standard input.
# What needs no machine runs with "nice", so that it does not delay the machines,
# whose tests have time limits.
run_lane() {
	local name start nice=()
	[ "$1" != host ] || nice=(nice -n 10)
	while read -r name; do
		start=$SECONDS
		{
			# shellcheck disable=SC2086 # several words
			time SDP_VM_LOCK=vm-$1.lock "${nice[@]}" make --no-print-directory ${beside_makes[$name]}
			echo "status $? after $((SECONDS - start)) s"
		} >"$(log_of "$name")" 2>&1 </dev/null
	done
}

lanes_begin() {
	local lane
	for lane in "${!lanes[@]}"; do
		run_lane "$lane" <<<"${lanes[$lane]%$'\n'}" &
		lane_pids+=($!)
	done
}

lanes_end() {
	local lane name log status seconds
	wait "${lane_pids[@]}"
	for lane in "${!lanes[@]}"; do
		while read -r name; do
			log=$(log_of "$name")
			read -r status seconds < <(sed -n 's/^status \([0-9]*\) after \([0-9]*\) s$/\1 \2/p' \
				"$log" | tail -n 1)
			say ""
			say "== $name"
			grep -avE '^(status [0-9]* after|processor time) ' "$log"
			add_up "$name" "$log" "${status:-1}" "${seconds:-0}"
		done <<<"${lanes[$lane]%$'\n'}"
	done
}

part "style, by building" check-style PART=builds
# apt allows one process at a time, so all packages are installed up front.
scripts/setup.sh unit vm style build deb wire go suites in-tree-check
beside host "style, by reading" check-style PART=texts
beside host "engine, user space" check-unit
beside host "packages" check-deb
beside host "in the kernel tree" check-in-tree
# Two virtual machines run at a time and keep the host's two processors busy. A
# third would slow the others down by as much as it gains. SDP_TURNS lets the
# processors of a machine run in turns. Tests that depend on the order of events
# then do not depend on the host's load. In the full form the debug kernel, which
# detects races, has processors that run at once.
export SDP_TURNS=1
if [ -n "${SDP_SHORT:-}" ]; then
	beside debug "debug kernel" check-vm KERNEL=debug
	beside debug "kernel 6.1" check-vm KERNEL=6.1
	beside debug "without the policy" check-core
	lanes_begin
	part "kernel 6.12" check-vm KERNEL=6.12
	part "wire" check-wire
	part "engine, KUnit" check-kunit
	part "programs" check-programs
	part "other people's suites" check-suites
	part "the test runner" check-runner
else
	beside debug "debug kernel" check-vm KERNEL=debug SDP_TURNS=
	beside debug "programs" check-programs
	beside debug "the test runner" check-runner
	beside debug "engine, KUnit" check-kunit
	beside debug "wire" check-wire
	beside debug "without the policy" check-core
	lanes_begin
	part "kernel 6.12" check-vm KERNEL=6.12
	part "kernel 6.1" check-vm KERNEL=6.1
	part "other people's suites" check-suites
fi
lanes_end

printf '\n%s\n' "$summary"
if [ -n "${SDP_SHORT:-}" ]; then
	sed -n 's/^ *short form: /  /p' "${logs[@]}" | sort -u
	echo "this was the short form, which leaves that out; make check-all runs everything"
fi
echo "not part of this, or not in this length, for the time they take: make check-deep, check-load,"
echo "  check-pair, check-soak, check-syscalls, check-hostile, check-faults, check-races, check-coverage"
[ "$failed" = 0 ] || show_failures
echo "$((SECONDS / 60)) minutes $((SECONDS % 60)) seconds"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
