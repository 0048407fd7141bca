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

# Those that run on KERNEL when none is named. One that would take too long there says so in
# its first 40 lines: "only when named: debug".
usual_tests() {
	local name source
	for name in $(all_tests); do
		source=$SDP_TESTS/$name.sh
		[ -f "$source" ] || source=$SDP_TESTS/$name.c
		head -n 40 "$source" | grep -q "only when named:.* $1" || echo "$name"
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
