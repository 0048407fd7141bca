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

passed=0 failed=0 skipped=0 summary= logs=()
# What each part makes. The parts of @on_host need no machine; @on_machines, in
# this order, go to the machine that is free first.
declare -A makes=()
on_host=() on_machines=()
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
		awk '/^  (machine-in-.* FAIL$|KERNEL COMPLAINT)/ { print; reasons = 30; next }
			/^ *not ok |  FAIL(ED)?( |$)|^(FAIL|Error)/ { print; reasons = 3; next }
			/^ *# / && reasons-- > 0 { print; next }
			{ reasons = 0 }' "$log" | sed "s|^ *|failed: $(basename "$log" .log): |"
	done
}

# part NAME [MAKE ARGUMENTS...]: run one part now.
part() {
	local name=$1 log start=$SECONDS
	[ $# = 1 ] || makes[$name]=${*:2}
	log=$(log_of "$name")
	say ""
	say "== $name"
	# shellcheck disable=SC2086 # several words
	{ time make --no-print-directory ${makes[$name]}; } 2>&1 | tee "$log"
	add_up "$name" "$log" "${PIPESTATUS[0]}" $((SECONDS - start))
}

# host NAME MAKE ARGUMENTS...: a part that needs no machine.
host() {
	on_host+=("$1") makes[$1]=${*:2}
}

# machine NAME MAKE ARGUMENTS...: a part for the machine that is free first.
machine() {
	on_machines+=("$1") makes[$1]=${*:2}
}

# next_part: take the next of @on_machines and print it; fail after the last.
# All machines ask, so the number of the next one is in a file, under a lock.
next_part() {
	local n
	exec 9>"$SDP_LOGS/check-next.lock"
	flock 9
	n=$(<"$SDP_LOGS/check-next")
	echo $((n + 1)) >"$SDP_LOGS/check-next"
	exec 9>&-
	[ "$n" -lt "${#on_machines[@]}" ] && printf '%s\n' "${on_machines[$n]}"
}

# run_beside NAME [COMMAND...]: run a part in the background, by COMMAND.
run_beside() {
	local start=$SECONDS
	{
		# shellcheck disable=SC2086 # several words
		time "${@:2}" make --no-print-directory ${makes[$1]}
		echo "status $? after $((SECONDS - start)) s"
	} >"$(log_of "$1")" 2>&1 </dev/null
}

# "nice", so that these parts do not delay the machines, whose tests have time
# limits.
run_host() {
	local name
	for name in "${on_host[@]}"; do
		run_beside "$name" nice -n 10
	done
}

# run_machine_beside N: run the next parts in the background, one after the
# other, by the Nth machine.
run_machine_beside() {
	local name
	export SDP_VM_LOCK=vm-$1.lock
	while name=$(next_part); do
		echo "$name" >>"$SDP_LOGS/check-beside"
		run_beside "$name"
	done
}

# show_beside: show a part that has run in the background, and add it up.
show_beside() {
	local log status seconds
	log=$(log_of "$1")
	read -r status seconds < <(sed -n 's/^status \([0-9]*\) after \([0-9]*\) s$/\1 \2/p' \
		"$log" | tail -n 1)
	say ""
	say "== $1"
	grep -avE '^(status [0-9]* after|processor time) ' "$log"
	add_up "$1" "$log" "${status:-1}" "${seconds:-0}"
}

# run_all: run the parts of @on_host and @on_machines, by @machines machines at a
# time. What the first machine runs is shown at once, the rest when that is over.
run_all() {
	local name n pids=()
	printf '== %s: beside what follows, shown when that is over\n' "${on_host[@]}"
	echo 0 >"$SDP_LOGS/check-next"
	: >"$SDP_LOGS/check-beside"
	run_host &
	pids+=($!)
	for n in $(seq 2 "$machines"); do
		run_machine_beside "$n" &
		pids+=($!)
	done
	while name=$(next_part); do
		part "$name"
	done
	wait "${pids[@]}"
	for name in "${on_host[@]}"; do
		show_beside "$name"
	done
	while read -r name; do
		show_beside "$name"
	done <"$SDP_LOGS/check-beside"
}

part "style, by building" check-style PART=builds
# apt allows one process at a time, so all packages are installed up front.
scripts/setup.sh unit cross vm style build deb wire go suites in-tree-check
host "style, by reading" check-style PART=texts
host "engine, user space" check-unit
host "other processors" check-cross
host "packages" check-deb
host "in the kernel tree" check-in-tree
# Two virtual machines run at a time in the short form and keep the host's two
# processors busy: a third would slow the others down by as much as it gains. In
# the full form there are three, because each waits for half of its time (faults,
# retransmissions, rests). SDP_TURNS lets the processors of a machine run in
# turns. Tests that depend on the order of events then do not depend on the
# host's load. In the full form the debug kernel, which detects races, has
# processors that run at once. The longest parts are first.
machines=${SDP_SHORT:+2}
machines=${machines:-3}
export SDP_TURNS=1
machine "debug kernel" check-vm KERNEL=debug "SDP_TURNS=${SDP_SHORT:+1}"
machine "kernel 6.12" check-vm KERNEL=6.12
machine "kernel 6.1" check-vm KERNEL=6.1
machine "programs" check-programs
machine "other people's suites" check-suites
machine "adapters" check-adapters
machine "wire" check-wire
machine "engine, KUnit" check-kunit
machine "the test runner" check-runner
machine "without the policy" check-core
run_all

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
