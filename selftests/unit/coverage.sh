#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# coverage.sh DIRECTORY NAME...: how much of each NAME.c do the unit tests execute?
#
# Runs the unit tests that were built with coverage in DIRECTORY. Prints TAP: a file passes if at
# least 95 % of its lines are executed.
set -euo pipefail

cd "$1"
shift
at_least=95

find . -name '*.gcda' -delete
for test in ./test_*; do
	case $test in
	*.o | *.d | *.gc*)	continue ;;
	esac
	"$test" >/dev/null 2>&1 || echo "# $test fails, what it covers may be incomplete"
done

n=0 status=0
for name in "$@"; do
	n=$((n + 1))
	line=$(gcov -n -b "$name.gcda" 2>/dev/null | awk -v file="/$name.c'" '
		/^File/ { mine = index($0, file) }
		mine && /^Lines executed/ { sub(/.*:/, ""); lines = $0 }
		mine && /^Taken at least once/ { sub(/.*:/, ""); branches = $0 }
		END { print lines "; " branches }')
	percent=${line%%.*}
	if [ "${percent:-0}" -ge $at_least ]; then
		echo "ok $n - coverage of $name.c"
	else
		echo "not ok $n - coverage of $name.c, below $at_least %"
		status=1
	fi
	echo "# $name.c: lines ${line%%;*}, branches ${line##*; }"
done
echo "1..$n"
exit $status
