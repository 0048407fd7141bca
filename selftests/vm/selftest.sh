#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# selftest.sh: test of the VM runner: it must notice every kind of fault.
# Boots the debug kernel once with failing tests and a module (bad/) that warns, leaks, pins itself
# and takes its locks in both orders. Also checks that a guest that dies or hangs is distinguished
# from one that ends.
#
# With SDP_SHORT=1 in the environment the faults run on 6.12: that takes one minute instead of
# three, but notices neither leaks nor wrong lock orders.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
. "$here/process.sh"
passed=0 failed=0

build_bad() {
	mkdir -p "$1"
	cp "$here/bad/bad.c" "$here/bad/Kbuild" "$1"
	make -C "$(realpath "$kernel/build")" M="$1" modules
}

point() {
	local name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $name"
	fi
}

# boot_status STATUS SCRIPT OPTION...: succeeds if booting 6.12 with SCRIPT ends in STATUS
boot_status() {
	local want=$1 script got=0
	script=$(mktemp --suffix=.sh)
	echo "$2" >"$script"
	shift 2
	"$here/boot.sh" "$@" 6.12 "$script" >"$script.log" 2>&1 || got=$?
	[ "$got" = "$want" ] || { echo "# status $got instead of $want"; sed 's/^/# /' "$script.log"; }
	rm -f "$script" "$script.log"
	[ "$got" = "$want" ]
}

# A guest whose first program runs in a circle is started again twice, with messages. It never
# boots, however long the host keeps boot.sh from looking.
starts_again() {
	local script got=0
	script=$(mktemp --suffix=.sh)
	echo 'exit 0' >"$script"
	SDP_BOOT_SECONDS=2 "$here/boot.sh" -a 'rdinit=/bin/busybox -- awk BEGIN{for(;;);}' \
		6.12 "$script" >"$script.log" 2>&1 || got=$?
	grep -q 'stood still while it booted.*try 3 of 3' "$script.log" || got=0
	[ $got != 0 ] || sed 's/^/# /' "$script.log"
	rm -f "$script" "$script.log"
	[ $got != 0 ]
}

# The guest's clock must keep the host's time, although the host is busy while the guest boots and
# measures its clock. The times of the two files are the host's. Only the processor on which the
# guest runs is kept busy, so that other work on the host is not disturbed.
clock_goes_right() {
	local script status=0 pids=() processor
	processor=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
	script=$(mktemp --suffix=.sh)
	cat >"$script" <<-'END'
		uptime() { read -r now _ </proc/uptime; }
		uptime; before=$now; touch "$SDP_RUN/first"; uptime; after=$now
		sleep 5
		uptime; least=$now; touch "$SDP_RUN/second"; uptime; most=$now
		host=$(stat -c %.3Y "$SDP_RUN/first" "$SDP_RUN/second")
		echo "$before $after $least $most" $host | tee /dev/stderr |
			awk '{ host = $6 - $5; exit !(host > ($3 - $2) * 0.98 - 0.1 && host < ($4 - $1) * 1.02 + 0.1) }'
	END
	for _ in 1 2 3; do
		timeout 60 taskset -c "$processor" sh -c 'while :; do :; done' &
		pids+=($!)
	done
	taskset -c "$processor" "$here/boot.sh" 6.12 "$script" >"$script.log" 2>&1 || status=$?
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	[ $status = 0 ] || sed 's/^/# /' "$script.log"
	rm -f "$script" "$script.log"
	return $status
}

# A run without test names, where one test exists and passes.
runs_unnamed() {
	local tests status=0
	tests=$(mktemp -d)
	printf '#!/usr/bin/env bash\necho "ok 1 fine"\necho 1..1\n' >"$tests/only.sh"
	SDP_TESTS=$tests "$here/run.sh" 6.12 >"$tests/log" 2>&1 || status=$?
	grep -qx '4 passed, 0 failed, 0 skipped' "$tests/log" || status=1
	[ $status = 0 ] || sed 's/^/# /' "$tests/log"
	rm -rf "$tests"
	return $status
}

# The first test sets the clock back by a day and ends while the runner waits for it. The second
# test stops the runner, so that the machine goes silent. The third test is fine and runs in
# another machine; it would anyway, as it needs concurrent processors while the other tests'
# processors run by turns. The fourth test runs before it and ends its kernel, whose words are told.
goes_on_elsewhere() {
	local tests status=0
	tests=$(mktemp -d)
	printf 'date -s "-1 day"\n[ "$SDP_TURNS" != 1 ] || echo "ok 1 fine"\necho 1..1\n' >"$tests/a_leap.sh"
	printf 'timeout=20\nc_fine="processors=at-once"\n' >"$tests/settings"
	# The test's parent is `timeout`, and the parent of that is the runner.
	printf 'read -r _ _ _ runner _ </proc/$PPID/stat\nkill -STOP $runner\nsleep 1000\n' \
		>"$tests/b_stuck.sh"
	printf '[ "$SDP_TURNS" = 1 ] || echo "ok 1 fine"\necho 1..1\n' \
		>"$tests/c_fine.sh"
	printf 'echo c >/proc/sysrq-trigger\nsleep 60\n' >"$tests/d_panics.sh"
	SDP_TURNS=1 SDP_AFTERMATH=5 SDP_TESTS=$tests "$here/run.sh" 6.12 >"$tests/log" 2>&1 || status=$?
	[ $status = 1 ] && grep -q '^  a_leap  *ok' "$tests/log" &&
		grep -qx '    # the machine said nothing for 45 s, where it was in b_stuck' "$tests/log" &&
		grep -q '^  machine-in-b_stuck  *FAIL$' "$tests/log" &&
		grep -q '^  machine-in-d_panics  *FAIL$' "$tests/log" &&
		grep -q '^    # .*Kernel panic - not syncing: sysrq' "$tests/log" &&
		grep -qx 'another machine goes on with c_fine' "$tests/log" &&
		grep -qx '5 passed, 2 failed, 0 skipped' "$tests/log" && status=0 || status=1
	[ $status = 0 ] || sed 's/^/# /' "$tests/log"
	rm -rf "$tests"
	return $status
}

# A process holds a lock of apt until the message about waiting is printed.
waits_for_apt() {
	local lock log=$SDP_LOGS/waits-for-apt holder status=0
	lock=$(mktemp)
	python3 - "$lock" "$log" <<-'END' &
		import fcntl, os, sys, time
		lock = open(sys.argv[1], "w")
		fcntl.lockf(lock, fcntl.LOCK_EX)
		open(sys.argv[2] + ".held", "w")
		while "waiting: another program" not in open(sys.argv[2]).read():
		    time.sleep(0.1)
	END
	holder=$!
	: >"$log"
	until [ -e "$log.held" ] || ! kill -0 $holder; do sleep 0.1; done
	(apt_locks=("$lock") && await_apt && echo "its turn") 2>"$log" >>"$log.turn" || status=1
	grep -q 'its turn' "$log.turn" && grep -q "waiting: another program.*$lock" "$log" || status=1
	(apt_locks=("$lock") && await_apt) 2>&1 | grep -q . && status=1
	kill $holder 2>/dev/null || true
	rm -f "$lock" "$log" "$log".*
	return $status
}

# The parent never waits for this child: the child has ended but its PID still exists.
zombie_is_gone() {
	local parent child='' end=$((SECONDS + 10)) status=1
	sh -c 'sleep 0 & exec sleep 60' &
	parent=$!
	while [ $SECONDS -lt $end ] && [ $status != 0 ]; do
		child=$(pgrep -P $parent || true)
		[ -z "$child" ] || process_gone "$child" && [ -d "/proc/$child" ] && status=0
	done
	! process_gone $parent || status=1
	kill $parent
	return $status
}

"$SDP_TOP/scripts/setup.sh" vm build
faulty=debug
[ -z "${SDP_SHORT:-}" ] || faulty=6.12
kernel=$("$SDP_TOP/scripts/kernels.sh" $faulty)
bad=$SDP_TOP/build/$(basename "$kernel"/lib/modules/*)-bad
step "module with faults" build_bad "$bad"

point "a lock of apt that somebody holds is waited for" waits_for_apt
point "a process that nobody has waited for has ended" zombie_is_gone
point "the script's exit status comes back" boot_status 7 'exit 7'
point "a guest that panics gives 99" boot_status 99 'echo c >/proc/sysrq-trigger; sleep 60'
point "a guest that hangs gives 124" boot_status 124 'sleep 1000' -t 15
point "a guest that stands still in its boot is started again" starts_again
point "a guest's clock goes as the host's, which is busy" clock_goes_right
point "a run of all tests, none of them named" runs_unnamed
point "a clock that leaps, a machine that hangs, and the tests after that" goes_on_elsewhere

run=$SDP_TOP/build/vm/$(date +%Y%m%d-%H%M%S)-selftest-$$
mkdir -p "$run"
say "faults in kernel $faulty (debug: about 3 minutes), files in $run"
"$here/boot.sh" -d "$run" -t 1800 -e SDP_MODULE="$bad/bad.ko" "$kernel" "$here/selftest-guest.sh" |
	tee "$run/tap" | sed -u 's/^/    /' || true
# The plan comes last: without it the script did not reach its end.
point "all faults were tried" grep -q '^1\.\.' "$run/tap"
passed=$((passed + $(grep -c '^ok ' "$run/tap" || true)))
failed=$((failed + $(grep -c '^not ok ' "$run/tap" || true)))
[ -z "${SDP_SHORT:-}" ] ||
	echo "  short form: that leaks and wrong lock orders are noticed, which takes the debug kernel"
printf '%d passed, %d failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
