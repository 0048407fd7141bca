# SPDX-License-Identifier: GPL-2.0
# List of the tests, and the time limit of each.
# Sourced by run.sh on the host and by guest.sh in the guest. SDP_TESTS is the directory of the
# tests' sources.

SDP_TESTS=${SDP_TESTS:-$SDP_TOP/selftests/net/sdp}

# all_tests: the names of all tests. Every script and C program in SDP_TESTS is a test, unless its
# name starts with lib or is run.sh. smoke comes first: it shows whether anything works.
all_tests() {
	[ ! -e "$SDP_TESTS/smoke.sh" ] || echo smoke
	find "$SDP_TESTS" -maxdepth 1 \( -name '*.c' -o -name '*.sh' \) ! -name 'lib*' \
		! -name 'smoke.*' ! -name 'run.sh' \
		-printf '%f\n' | sed 's/\.[a-z]*$//' | sort -u
}

# head_of NAME: the first 40 lines of a test, where it states its needs
head_of() {
	local source=$SDP_TESTS/$1.sh
	[ -f "$source" ] || source=$SDP_TESTS/$1.c
	[ ! -f "$source" ] || head -n 40 "$source"
}

# in_short_form KERNEL: reads a test's head from standard input; succeeds if the short form
# ($SDP_SHORT not empty) runs the test on KERNEL.
# A head that says
# "short form: 6.1 debug"
# limits the test to these kernels; a head without that line allows all of them. The choice is the
# same in each run of the same sources: only seeds are random.
in_short_form() {
	local kernels
	kernels=$(sed -n 's/.*short form: \([^;(]*\).*/\1/p')
	[ -z "$kernels" ] || [[ " $kernels " == *" $1 "* ]]
}

# at_once YES NAME...: prints the named tests whose heads say "processors: at once", because they
# need processors that run concurrently. If YES is not 1, prints the other tests instead.
at_once() {
	local want=$1 name is
	shift
	for name in "$@"; do
		is=0
		[[ $(head_of "$name") != *'processors: at once'* ]] || is=1
		[ $is != "$want" ] || echo "$name"
	done
}

# usual_tests KERNEL: the tests that run on KERNEL when none is named. A test that would take too
# long on a kernel says so in its head: "only when named: debug". A test that needs the policy says
# "needs: policy", and is left out of a module built without it (SDP_POLICY=n).
usual_tests() {
	local name head
	for name in $(all_tests); do
		head=$(head_of "$name")
		if grep -q "only when named:.* $1" <<<"$head"; then continue; fi
		[ "${SDP_POLICY:-y}" != n ] || [[ $head != *'needs: policy'* ]] || continue
		[ -z "${SDP_SHORT:-}" ] || in_short_form "$1" <<<"$head" || continue
		echo "$name"
	done
}

# test_limit NAME DEBUG: the seconds that test NAME may take. DEBUG=1 multiplies the limit by 2.5
# for the debug kernel, where everything is slower.
test_limit() {
	local source=$SDP_TESTS/$1.sh limit=120 line n=0
	[ -f "$source" ] || source=$SDP_TESTS/$1.c
	[ -f "$source" ] || source=/dev/null
	while [ $((n++)) -lt 40 ] && read -r line; do
		[[ ! $line =~ timeout:\ ([0-9]+)\ s ]] || limit=${BASH_REMATCH[1]}
	done <"$source"
	[ "$2" = 0 ] || limit=$((limit * 5 / 2))
	echo "$limit"
}
