# SPDX-License-Identifier: GPL-2.0
# List of the tests, where each is, and what its folder's `settings` says about it.
# Sourced by run.sh on the host and by guest.sh in the guest. SDP_TESTS is the directory of the
# tests' sources: tests, and folders of tests.
#
# A script NAME.sh is the test NAME. A folder with a main.c is one C program, named by its path
# (policy/guard: policy_guard). In other folders each C file is a program of its own. The folders
# lib and modules have no tests; run.sh and lib* are none.
#
# A file `settings` has lines of the form that kselftest reads:
#
#	timeout=240				seconds that a test of this folder may take, 120 without it
#	NAME="check=6.12,debug needs=policy"	words about the test NAME:
#
# check=KERNELS		the kernels on which the short form ($SDP_SHORT not empty) runs the test; all
#			without it. The choice is the same in each run of the same sources. A kernel
#			that is listed twice gets twice as many of the cases (lib.sh: my_turn).
#			`none`: the short form leaves it out
# named=KERNELS		kernels on which the test takes too long, so that it runs there only when named
# needs=policy		left out of a module built without the policy (SDP_POLICY=n)
# processors=at-once	needs processors that run concurrently
# timeout=SECONDS	instead of the folder's

SDP_TESTS=${SDP_TESTS:-$SDP_TOP/selftests/net/sdp}

# test_sources: a line "NAME FILE" for each test; FILE is below SDP_TESTS
test_sources() {
	find "$SDP_TESTS" -mindepth 1 \( -path "$SDP_TESTS/lib" -o -path "$SDP_TESTS/modules" \) -prune -o \
		\( -name '*.c' -o -name '*.sh' \) ! -name 'lib*' ! -name run.sh -printf '%P\n' | sort | awk -F/ '
		function folder(path) { sub(/\/?[^\/]*$/, "", path); return path }
		{ file[NR] = $0; if ($NF == "main.c") program[folder($0)] = 1 }
		END {
			for (i = 1; i <= NR; i++) {
				name = file[i]
				if (name ~ /\/main\.c$/) {
					name = folder(name)
					gsub("/", "_", name)
				} else if (name ~ /\.c$/ && folder(name) in program) {
					continue
				} else {
					sub(/.*\//, "", name)
					sub(/\.[a-z]*$/, "", name)
				}
				print name, file[i]
			}
		}'
}

# find_tests: fills $test_source, from the names of the tests to their files, once
declare -A test_source=()
find_tests() {
	local name file
	[ ${#test_source[@]} = 0 ] || return 0
	while read -r name file; do
		test_source[$name]=$file
	done < <(test_sources)
}

# all_tests: the names of all tests; smoke is the first, which shows whether anything works
all_tests() {
	find_tests
	[ -z "${test_source[smoke]:-}" ] || echo smoke
	printf '%s\n' "${!test_source[@]}" | grep -vx smoke | sort
}

# settings_of NAME: the file of the folder in which the test is
settings_of() {
	local path
	find_tests
	path=${test_source[$1]:-}
	[[ $path == */* ]] && path=${path%%/*}/ || path=
	echo "$SDP_TESTS/${path}settings"
}

# word_of NAME WORD: the value of a word about a test, or nothing
word_of() {
	local file
	file=$(settings_of "$1")
	[ ! -e "$file" ] || sed -n "s/^$1=\"\(.*[ ]\)\{0,1\}$2=\([^ \"]*\).*/\2/p" "$file"
}

# at_once YES NAME...: prints the named tests that need processors that run concurrently. If YES is
# not 1, prints the other tests instead.
at_once() {
	local want=$1 name is
	shift
	for name in "$@"; do
		is=0
		[ "$(word_of "$name" processors)" != at-once ] || is=1
		[ $is != "$want" ] || echo "$name"
	done
}

# usual_tests KERNEL: the tests that run on KERNEL when none is named
usual_tests() {
	local name kernels
	for name in $(all_tests); do
		[[ ",$(word_of "$name" named)," != *",$1,"* ]] || continue
		[ "${SDP_POLICY:-y}" != n ] || [ "$(word_of "$name" needs)" != policy ] || continue
		kernels=$(word_of "$name" check)
		[ -z "${SDP_SHORT:-}" ] || [ -z "$kernels" ] || [[ ",$kernels," == *",$1,"* ]] || continue
		echo "$name"
	done
}

# test_limit NAME DEBUG: the seconds that test NAME may take: its own word, or what its folder says.
# DEBUG=1 multiplies the limit by 2.5 for the debug kernel, where everything is slower.
test_limit() {
	local limit
	limit=$(word_of "$1" timeout)
	limit=${limit:-$(sed -n 's/^timeout=//p' "$(settings_of "$1")" 2>/dev/null)}
	limit=${limit:-120}
	[ "$2" = 0 ] || limit=$((limit * 5 / 2))
	echo "$limit"
}
