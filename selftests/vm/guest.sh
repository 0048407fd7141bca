#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh TEST...: runs tests in the guest, with the lab up and $SDP_MODULE loaded.
# After each test and at the end it checks the kernel log, the taint flags, the protocol's counters
# and leaks. Called by run.sh.
#
# Each test gets one line on stdout and one in $SDP_RUN/results: name, points passed, failed,
# skipped, seconds, seconds of processor time. The test's output is in $SDP_RUN/NAME.tap.
# $SDP_RUN/now names the current step and the seconds that it may take: run.sh kills a machine that
# takes longer. Exit status 0 when nothing failed.
#
# SDP_RAILS: net.sdp.rails for all tests.
#
# Variables for the runner's own test: SDP_TESTS (directory of the scripts), SDP_LAB=no (no lab),
# SDP_STAT (the protocol's counters), and SDP_UNLOAD_SECONDS (how long rmmod may take).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tests.sh"
. "$here/process.sh"
. "$here/netlab.sh"
. "$here/checks.sh"

SDP_LAB=${SDP_LAB:-yes}
# Orphaned connections need up to net.sdp.fin_timeout_ms (60 s) to end.
SDP_UNLOAD_SECONDS=${SDP_UNLOAD_SECONDS:-100}
# $patience: seconds that setting up the lab or a check for leftovers may take, even on a busy host
# and the debug kernel. $aftermath: the seconds after a test's own limit until it has ended.
patience=300
aftermath=${SDP_AFTERMATH:-$patience}
module=$(basename "$SDP_MODULE" .ko)
module=${module//-/_}
stat=${SDP_STAT:-/proc/net/${module}stat}
export SDP_BIN=$SDP_TOP/build/selftests

failed=0 splats=0
: >"$SDP_RUN/results"

# look_at_work: sets $work to the seconds of processor time used since the machine's start
look_at_work() {
	local cpu user nice system idle wait irq softirq rest
	read -r cpu user nice system idle wait irq softirq rest </proc/stat
	work=$(((user + nice + system + irq + softirq) / 100))
}

# now_at NAME SECONDS: records the next step, and how long it may take
now_at() {
	echo "$1 $2" >"$SDP_RUN/now"
	look_at_clock
	look_at_work
	at_since=$up at_work=$work
}

# report NAME PASSED FAILED SKIPPED: prints and records a result, with the time since now_at
report() {
	local verdict=ok up work
	look_at_clock
	look_at_work
	[ "$2" -gt 0 ] || verdict=skip
	[ "$3" -eq 0 ] || { verdict=FAIL; failed=1; }
	printf '%s %d %d %d %d %d\n' "$@" $((up - at_since)) $((work - at_work)) >>"$SDP_RUN/results"
	printf '  %-28s %-4s %5d points %4d s\n' "$1" $verdict $(($2 + $3 + $4)) $((up - at_since))
}

# check NAME SECONDS COMMAND...: one point, failed if COMMAND prints anything. COMMAND may take
# SECONDS.
check() {
	local name=$1 output
	now_at "$name" "$2"
	shift 2
	output=$("$@" 2>&1)
	if [ -z "$output" ]; then
		report "$name" 1 0 0
	else
		report "$name" 0 1 0
		printf '=== %s\n%s\n' "$name" "$output" >>"$SDP_RUN/checks"
		head -n 40 <<<"$output" | sed 's/^/    /'
	fi
}

check_kernel() {
	check_log "$1" || splats=$((splats + 1))
	check_taint "$1" || splats=$((splats + 1))
}

test_file() {
	local source=${test_source[$1]:-}
	if [[ $source == *.sh ]]; then
		echo "$SDP_TESTS/$source"
	else
		echo "$SDP_BIN/$1"
	fi
}

# wait_ended PID SECONDS: waits until the process has ended. It fails if the process is still there
# after SECONDS, that is, if even SIGKILL did not end it.
wait_ended() {
	local pid=$1 up end
	look_at_clock
	end=$((up + $2))
	until process_gone "$pid"; do
		look_at_clock
		[ "$up" -lt $end ] || return 1
		pause 0.1
	done
}

show_stacks() {
	local pid
	for pid in $(pgrep -s "$1"); do
		echo "    process $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline")) is in:"
		sed 's/^/      /' "/proc/$pid/stack"
	done
}

# count_points FILE: planned, passed, failed and skipped points of a TAP file. The plan is -1 when
# the file has none.
count_points() {
	awk 'BEGIN { plan = -1 }
		/^1\.\.[0-9]+/		{ split($1, p, "."); plan = p[3] + 0 }
		/^not ok [0-9]+/	{ failed++ }
		/^ok [0-9]+/		{ if (toupper($0) ~ /# *SKIP/) skipped++; else passed++ }
		END			{ print plan, passed + 0, failed + 0, skipped + 0 }' "$1"
}

# failed_points FILE: the first 20 failed points of a TAP file, each with its reasons. A C test
# prints the reasons before the point, a script after it.
failed_points() {
	awk '/^# .* took [0-9]+ ms$/	{ behind = 0; next }
		/^# / && behind		{ if (behind > 1) { print; behind-- } next }
		/^# /			{ said[n++ % 3] = $0; next }
		/^not ok/ && ++points <= 20 {
			print
			for (i = n > 3 ? n - 3 : 0; i < n; i++)
				print said[i % 3]
			n = 0; behind = 4; next
		}
					{ n = 0; behind = 0 }' "$1"
}

# was_killed STATUS: is that the status of a test that has run out of time?
was_killed() { [ "$1" = 124 ] || [ "$1" = 137 ]; }

# test_problem STATUS PLAN PASSED FAILED SKIPPED LIMIT: what is wrong with a test beyond its "not
# ok" lines
test_problem() {
	local status=$1 plan=$2 passed=$3 failed=$4 skipped=$5
	if was_killed "$status"; then
		echo "did not end within $6 s"
	elif [ "$plan" -lt 0 ]; then
		echo "exit status $status and no plan line (1..N)"
	elif [ "$plan" != $((passed + failed + skipped)) ]; then
		echo "exit status $status after $((passed + failed + skipped)) of $plan points"
	elif [ "$plan" = 0 ] && [ "$status" != 4 ]; then
		echo "tested nothing"
	elif [ "$status" = 4 ] && [ $((passed + failed)) -gt 0 ]; then
		echo "exit status 4 (all skipped), but not all was"
	elif [ "$status" != 0 ] && [ "$status" != 4 ] && [ "$failed" = 0 ]; then
		echo "exit status $status without a failed point"
	fi
}

run_test() {
	local name=$1 file limit out=$SDP_RUN/$1.tap pid status=0 problem
	local plan passed not_ok skipped command=()
	find_tests
	file=$(test_file "$name")
	limit=$(test_limit "$name" "$SDP_DEBUG")
	now_at "$name" $((limit + 20 + aftermath))
	[[ $file != *.sh ]] || command=(bash)
	rm -f "$SDP_RUN/hostile"
	(cd "$SDP_TESTS" && exec setsid timeout -k 5 "$limit" "${command[@]}" "$file") \
		>"$out" 2>&1 </dev/null &
	pid=$!
	if ! wait_ended $pid $((limit + 20)); then
		report "$name" 0 1 0
		echo "    cannot be killed, the rest is run in another machine; its processes:"
		show_stacks $pid
		check_kernel "$name"
		return 1
	fi
	{ wait $pid || status=$?; } 2>/dev/null
	pkill -KILL -s $pid
	read -r plan passed not_ok skipped < <(count_points "$out")
	problem=$(test_problem $status "$plan" "$passed" "$not_ok" "$skipped" "$limit")
	[ -z "$problem" ] || not_ok=$((not_ok + 1))
	# A test that prints `1..0 # SKIP why` counts as one skipped point.
	[ "$plan" != 0 ] || [ $not_ok != 0 ] || skipped=1
	report "$name" "$passed" "$not_ok" "$skipped"
	if [ $not_ok != 0 ]; then
		[ -z "$problem" ] || echo "    $problem"
		failed_points "$out" | sed 's/^/    /'
		echo "    the end of $out:"
		tail -n 12 "$out" | sed 's/^/    | /'
	fi
	check_kernel "$name"
	# It has restored neither settings nor devices, and may have the module unloaded.
	if was_killed $status; then
		echo "    the rest is run in another machine"
		return 1
	fi
	check_lab "$name"
	check_peers "$name"
}

# check_peers NAME: the protocol's rules may be broken only in a test with a hostile peer. Such a
# test creates the file $SDP_RUN/hostile.
check_peers() {
	local broken=$SDP_RUN/broken
	check_rules "$stat" >"$broken" || [ -e "$SDP_RUN/hostile" ] || {
		report "rules-in-$1" 0 1 0
		echo "    $1 had rules of the protocol broken: $(tr '\n' ';' <"$broken")"
	}
}

# check_lab NAME: a test may remove devices, but must restore them. If it did not, the next test
# gets a new lab.
check_lab() {
	[ "$SDP_LAB" = yes ] || return 0
	lab_intact && return
	report "lab-after-$1" 0 1 0
	echo "    $1 left the lab changed: $(rdma link | tr '\n' ';')"
	lab_down && lab_up
}

load_module() {
	local depends
	depends=$(modinfo -F depends "$SDP_MODULE" | tr , ' ')
	# shellcheck disable=SC2086 # a list
	[ -z "$depends" ] || modprobe -a $depends
	insmod "$SDP_MODULE" || return
	[ -z "${SDP_RAILS:-}" ] || echo "$SDP_RAILS" >/proc/sys/net/$module/rails
}

# unload_module: retries rmmod, which the kernel refuses while orphans end. Prints the reason if
# that lasts longer than SDP_UNLOAD_SECONDS.
unload_module() {
	local up end pid
	look_at_clock
	end=$((up + SDP_UNLOAD_SECONDS))
	save_symbols "$module"
	while :; do
		rmmod "$module" 2>"$SDP_RUN/rmmod" &
		pid=$!
		if ! wait_ended $pid "$SDP_UNLOAD_SECONDS"; then
			echo "rmmod hangs in:"
			cat /proc/$pid/stack
			return
		fi
		wait $pid && return
		look_at_clock
		[ "$up" -lt $end ] || break
		pause 0.2
	done
	echo "after $SDP_UNLOAD_SECONDS s: $(cat "$SDP_RUN/rmmod")"
	echo "users: $(cat "/sys/module/$module/refcnt")"
	grep -i "^$module" /proc/slabinfo
	cat "/proc/net/$module" "/proc/net/${module}stat" 2>/dev/null
}

leaks() {
	leak_names "$module"
	if [ "$SDP_LAB" = yes ]; then
		leak_rdma "$module"
		leak_references
	fi
	leak_memory
}

# no_splat: the final verdict on the kernel log, after the module and the lab are gone.
no_splat() { [ $splats = 0 ] || echo "$splats complaints, see above and $SDP_RUN/splats"; }

# save_coverage: copies the module's gcov counts, if the kernel has them (scripts/watched.config),
# under the names of its objects. These files have no size until they are read.
save_coverage() {
	local gcov=/sys/kernel/debug/gcov file
	[ -d $gcov ] || return 0
	(cd $gcov && find . -path '*/net/sdp/*.gcda') | while read -r file; do
		mkdir -p "$SDP_RUN/gcov/${file%/*}"
		cat "$gcov/$file" >"$SDP_RUN/gcov/$file"
	done
}

# With SDP_RACES set, KCSAN searches for data races. It can watch the module's accesses only, so
# these settings watch more of them than the default does, and each for longer: the other virtual
# processor may not be running meanwhile. Measured with two processors on a busy host, it ran
# during one in 130 watches of 40 us, and during one in four watches of 200 us.
kcsan=/sys/kernel/debug/kcsan
races_begin() {
	local set=/sys/module/kcsan/parameters
	[ -n "${SDP_RACES:-}" ] || return 0
	echo 300 >$set/skip_watch && echo 300 >$set/udelay_task && echo 100 >$set/udelay_interrupt &&
		echo on >$kcsan || report kcsan-on 0 1 0
}

# races_watched: a run in which KCSAN watched no access proves nothing, so it fails.
races_watched() {
	cat $kcsan >"$SDP_RUN/kcsan" || echo "no KCSAN in this kernel"
	! grep -q '^setup_watchpoints: 0$' "$SDP_RUN/kcsan" || echo "no access was watched"
}

begin() {
	now_at begin $patience
	if [ "$SDP_LAB" = yes ]; then
		lab_up || { report lab 0 1 0; return 1; }
		rdma_before=$(rdma_counts)
	fi
	kmemleak_begin
	races_begin
	checks_begin
	if lockdep_blind; then
		report lockdep-on 0 1 0
		echo "    lockdep gave up before the tests: dmesg in $SDP_RUN/console.log says why"
	fi
	load_module && return
	report insmod 0 1 0
	dmesg | tail -n 15
	return 1
}

begin || exit 1
check_kernel insmod
for name in "$@"; do
	run_test "$name" || break
done
check rmmod $((2 * SDP_UNLOAD_SECONDS + patience)) unload_module
check_kernel rmmod
[ -d "/sys/module/$module" ] || check no-leak $patience leaks
check_kernel "the leak check"
check no-splat $patience no_splat
[ -z "${SDP_RACES:-}" ] || check races-watched $patience races_watched
save_coverage
exit $failed
