# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# report.sh: run the parts of a check, and print one line for each. To be sourced.
#
# The output of a part is TAP. It is kept in the directory $tap. A part's failures follow its line.
# $passed, $failed and $skipped are the sums.
#
# run NAME COMMAND...	run a part; nothing is printed
# report NAME		print its result
# one NAME COMMAND...	both
# notes NAME PATTERN	print the comment lines of a part that match the pattern
# sum			print the sums, as a check's last line

passed=0 failed=0 skipped=0

# count PATTERN FILE
count() { grep -cE "$1" "$2" || true; }

counts() { printf '%d passed, %d failed, %d skipped' "$@"; }

sum() {
	counts $passed $failed $skipped
	echo
}

run() {
	local name=$1 start=$SECONDS status=0
	shift
	"$@" >"$tap/$name" 2>"$tap/$name.err" || status=$?
	printf '%d %d\n' $status $((SECONDS - start)) >"$tap/$name.status"
}

# A part that fails without a "not ok" line counts as one failure.
report() {
	local name=$1 file=$tap/$1 status seconds p f s
	read -r status seconds <"$file.status"
	s=$(count '^ok .*# SKIP' "$file")
	p=$(($(count '^ok ' "$file") - s))
	f=$(count '^not ok ' "$file")
	if [ "$f" = 0 ] && { [ "$status" != 0 ] || [ $((p + s)) = 0 ]; }; then
		f=1
	fi
	printf '  %-12s %s, %d s\n' "$name" "$(counts "$p" "$f" "$s")" "$seconds"
	sed -n 's/^ok .*# SKIP/      skipped:/p' "$file"
	if [ "$f" != 0 ]; then
		grep '^not ok ' "$file" | sed 's/^/      /' || true
		head -n 50 "$file.err" | sed 's/^/      /'
		echo "      all of it: $file, $file.err"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

notes() { sed -n "s/^# \($2\)/               \1/p" "$tap/$1"; }

one() { run "$@"; report "$1"; }
