# SPDX-License-Identifier: GPL-2.0
# Sourced by run.sh on the host and guest.sh in the guest: which tests there are and how
# long each may take. SDP_TESTS is the directory of the tests' sources.

SDP_TESTS=${SDP_TESTS:-$SDP_TOP/selftests/net/sdp}

# Every script and program there is a test, unless its name starts with lib or is run. First
# the one that says whether anything works.
all_tests() {
	[ ! -e "$SDP_TESTS/smoke.sh" ] || echo smoke
	find "$SDP_TESTS" -maxdepth 1 \( -name '*.c' -o -name '*.sh' \) ! -name 'lib*' \
		! -name 'smoke.*' ! -name 'run.sh' \
		-printf '%f\n' | sed 's/\.[a-z]*$//' | sort -u
}

# head_of NAME: where a test says what it needs, in its first 40 lines
head_of() {
	local source=$SDP_TESTS/$1.sh
	[ -f "$source" ] || source=$SDP_TESTS/$1.c
	[ ! -f "$source" ] || head -n 40 "$source"
}

# In the short form ($SDP_SHORT not empty) a test runs on the kernels that it names, one at least:
# "short form: 6.1 debug"; if it names none, on all of them. It is the same in each run of the same
# sources: what is drawn there are seeds.
in_short_form() {
	local kernels
	kernels=$(sed -n 's/.*short form: \([^;(]*\).*/\1/p')
	[ -z "$kernels" ] || [[ " $kernels " == *" $1 "* ]]
}

# at_once YES NAME...: those whose matter is what processors do at once, and say so in their heads:
# "processors: at once"; or, if YES is not 1, the others
at_once() {
	local want=$1 name is
	shift
	for name in "$@"; do
		is=0
		[[ $(head_of "$name") != *'processors: at once'* ]] || is=1
		[ $is != "$want" ] || echo "$name"
	done
}

# Those that run on KERNEL when none is named. One that would take too long there says so:
# "only when named: debug".
usual_tests() {
	local name head
	for name in $(all_tests); do
		head=$(head_of "$name")
		if grep -q "only when named:.* $1" <<<"$head"; then continue; fi
		[ -z "${SDP_SHORT:-}" ] || in_short_form "$1" <<<"$head" || continue
		echo "$name"
	done
}

# Seconds that test NAME may take on a stock kernel; DEBUG=1 for the debug kernel, where
# everything takes longer: test_limit NAME DEBUG
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
