# SPDX-License-Identifier: GPL-2.0
# Functions for tests of the program sdp that need no module, no root and no VM. Sourced.
# They print TAP.
#
# expect NAME STATUS TEXT COMMAND...	it ends with STATUS and prints TEXT, on either stream
# usage NAME TEXT ARGUMENTS...		sdp rejects ARGUMENTS, with TEXT as the first line
# first_line COMMAND...			runs it: prints its first line, and has its status
# tools_done				prints the plan and ends with the right status
#
# $sdp is the program, $top the top of the tree. The current directory is a new one, $dir.
set -uo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sdp=$top/build/tools/sdp
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0 failed=0

make -s -C "$top/tools/sdp" || { echo "1..1"; echo "not ok 1 - build"; exit 1; }
cd "$dir" || exit 1

expect() {
	local name=$1 status=$2 text=$3 seen seen_status=0
	shift 3
	seen=$("$@" 2>&1) || seen_status=$?
	n=$((n + 1))
	if [ "$seen" = "$text" ] && [ "$seen_status" = "$status" ]; then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		printf '# wanted status %s, seen %s\n' "$status" "$seen_status"
		{ diff <(echo "$text") <(echo "$seen") || true; } | sed 's/^/# /'
	fi
}

first_line() {
	local out status=0
	out=$("$@" 2>&1) || status=$?
	head -n 1 <<<"$out"
	return $status
}

usage() {
	local name=$1 text=$2
	shift 2
	expect "$name" 2 "$text" first_line "$sdp" "$@"
}

tools_done() {
	echo "1..$n"
	exit $failed
}
