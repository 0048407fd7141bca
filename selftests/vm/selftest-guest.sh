#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# selftest-guest.sh: the guest's half of selftest.sh.
# Runs guest.sh several times on tests and module faults that must fail, and reports as TAP whether
# each was noticed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$SDP_TOP/selftests/net/sdp/lib/lib.sh"

export SDP_LAB=no SDP_TESTS=$SDP_RUN/tests SDP_UNLOAD_SECONDS=2 SDP_STAT=$SDP_RUN/stat
run=$SDP_RUN
mkdir -p "$SDP_TESTS"

# Only kmemleak and lockdep notice leaks and wrong lock orders, and only the debug kernel has them.
debug() { [ "$SDP_DEBUG" = 1 ]; }

# make_test NAME: writes a test whose body is standard input
make_test() {
	{
		printf '#!/usr/bin/env bash\n. %q\n' "$SDP_TOP/selftests/net/sdp/lib/lib.sh"
		printf 'fault() { echo $1 >/sys/module/bad/parameters/fault; }\n'
		cat
	} >"$SDP_TESTS/$1.sh"
}

make_test good <<<'check "nothing happens" fault none; tap_skip "a skipped point" why; tap_done'
make_test skipped <<<'tap_skip_all "not here"'
make_test notok <<<'check "this cannot be" false; check "this can" true; tap_done'
make_test liar <<<'echo 1..1; echo "not ok 1 but exit status 0"; exit 0'
make_test exit1 <<<'echo 1..1; echo "ok 1 fine"; exit 1'
make_test crash <<<'echo 1..2; echo "ok 1 fine"; kill -SEGV $BASHPID'
make_test noplan <<<'echo "ok 1 fine"; exit 0'
make_test empty <<<'echo 1..0; exit 0'
mkdir "$SDP_TESTS/short"
echo timeout=1 >"$SDP_TESTS/short/settings"
make_test short/hang <<<'echo 1..1; sleep 1000'
make_test warn <<<'check "a warning is provoked" fault warn; tap_done'
make_test lock <<<'check "both lock orders are taken" fault lock; tap_done'
make_test leak <<<'check "memory is lost" fault leak; tap_done'
make_test broken <<<'echo "BadLen 1" >"$SDP_STAT"; check "a rule is broken" true; tap_done'
make_test less <<<'echo "BadLen 2" >"$SDP_STAT"; check "the module was loaded anew" true; tap_done'
make_test hostile <<<'touch "$SDP_RUN/hostile"
echo "BadLen 3" >"$SDP_STAT"; check "a peer breaks it" true; tap_done'
make_test pin <<<'check "the module is pinned" fault pin; tap_done'

# guest NAME TEST...: one run of guest.sh with its files in a directory of its own
guest() {
	export SDP_RUN=$run/$1
	shift
	mkdir -p "$SDP_RUN"
	bash "$here/guest.sh" "$@" >"$SDP_RUN/output" 2>&1
	status=$?
}

# result NAME PASSED FAILED SKIPPED: succeeds when the last run recorded this result for NAME
result() { grep -q "^$1 $2 $3 $4 " "$SDP_RUN/results"; }

check_result() { check "$1: $2 passed, $3 failed, $4 skipped" result "$@"; }

guest harmless good skipped
check "a run without faults succeeds" test $status = 0
check_result good 1 0 1
check_result skipped 0 0 1
check_result rmmod 1 0 0
check_result no-leak 1 0 0
check_result no-splat 1 0 0

guest alone notok
check "a run with one failed test fails" test $status = 1

guest failing notok liar exit1 crash noplan empty leak warn good
check "a run with failing tests fails" test $status = 1
check_result notok 1 1 0
check_result liar 0 1 0
check_result exit1 1 1 0
check_result crash 1 1 0
check_result noplan 1 1 0
check_result empty 0 1 0
check_result leak 1 0 0
if debug; then
	check_result no-leak 0 1 0
	check "the leak is shown with the module's function" \
		grep -qE 'in or after (lose_memory|fault_set)' "$SDP_RUN/checks"
fi
check_result warn 1 0 0
check_result no-splat 0 1 0
check "the warning is blamed on its test" grep -q "COMPLAINT during warn" "$SDP_RUN/output"
check "the taint is blamed on its test" grep -q "TAINTED during warn" "$SDP_RUN/output"
blamed=$(grep -cE '(COMPLAINT|TAINTED) during' "$SDP_RUN/output")
check "no other test is blamed" test "$blamed" = 2
check_result good 1 0 1

guest hanging hang good
check "a run with a test that hangs fails" test $status = 1
check_result hang 0 1 0
check "the time limit is given as the reason" grep -q "did not end within" "$SDP_RUN/output"
check "what it has left behind is no other test's" test -z "$(grep '^good ' "$SDP_RUN/results")"
check_result rmmod 1 0 0
check_result no-splat 1 0 0

guest rules broken good hostile less good
check "a run with broken rules fails" test $status = 1
check_result rules-in-broken 0 1 0
check "the rule is named" grep -q "broken: BadLen +1;" "$SDP_RUN/output"
blamed=$(grep -c "rules of the protocol broken" "$SDP_RUN/output")
check "no other test is blamed" test "$blamed" = 1

# This run comes last, since lockdep is off afterwards; the run after it must fail for that reason.
guest locking pin lock
check_result rmmod 0 1 0
debug || tap_done
check "a run with a lock order violation fails" test $status = 1
check "the lock order is blamed on its test" grep -q "COMPLAINT during lock" "$SDP_RUN/output"
check "lockdep is what complained" grep -q "possible circular locking" "$SDP_RUN/splats"
echo unpin >/sys/module/bad/parameters/fault
rmmod bad
guest blind
check "a run with a blind lockdep fails" test $status = 1
check_result lockdep-on 0 1 0
check_result no-splat 1 0 0
tap_done
