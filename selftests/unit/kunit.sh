#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# kunit.sh [build | MODULE.ko SOURCE...]: the unit tests as KUnit suites in the debug kernel.
#
# Builds sdp_kunit.ko, boots the debug kernel in a VM, loads the module, and counts the results of
# its cases in the kernel log. With `build` it stops after the build. With the path of a module that
# has suites it builds nothing, and loads that module; its run directory is beside it, and the
# SOURCEs of the suites name the cases that have to run.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/unit
proto=$SDP_TOP/net/sdp/proto
policy=$SDP_TOP/net/sdp/policy
build=$SDP_TOP/build/unit/kunit
suites=()

# suite NAME: print a KUnit suite that includes test_NAME.c. Its list of cases is made from the
# TEST() lines of that file, so it is complete.
suite() {
	echo "// SPDX-License-Identifier: GPL-2.0"
	echo "#include \"test_$1.c\""
	echo "static struct kunit_case cases[] = {"
	sed -n 's/^TEST(\(.*\))$/	KUNIT_CASE(\1),/p' "$here/test_$1.c"
	echo "	{}"
	echo "};"
	echo "static struct kunit_suite suite = { .name = \"sdp_$1\", .test_cases = cases };"
	echo "kunit_test_suite(suite);"
	echo "MODULE_DESCRIPTION(\"Unit tests of the SDP protocol engine and policy\");"
	echo "MODULE_LICENSE(\"GPL\");"
}

# update FILE: write standard input to FILE if it differs, to avoid needless builds.
update() {
	cat >"$1.new"
	if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

prepare() {
	local test name
	mkdir -p "$build"
	ln -sf "$proto"/*.[ch] "$policy"/glob.[ch] "$policy"/rules.h "$policy"/rules_*.[ch] \
		"$here"/test_*.c "$here"/*.h "$here/kunit/Kbuild" "$build"
	# For ../proto/base.h, which the policy's files include.
	ln -sfn "$proto" "$build/proto"
	for test in "$here"/test_*.c; do
		name=$(basename "$test" .c)
		suite "${name#test_}" | update "$build/suite_${name#test_}.c"
		suites+=("$build/suite_${name#test_}.c")
	done
}

# count PATTERN: number of matching lines in the kernel log. Lines of cases are indented, lines of
# suites are not.
count() { grep -cE "$1" "$run/ktap" || true; }

kernel=$("$SDP_TOP/scripts/kernels.sh" debug)
module=$build/sdp_kunit.ko
if [ "${1:-build}" = build ]; then
	prepare
	step "KUnit module" make -j"$(nproc)" -C "$kernel/build" M="$build" modules
	[ "${1:-}" != build ] || exit 0
else
	module=$1 suites=("${@:2}")
fi

run=$(dirname "$module")/run
rm -rf "$run"
mkdir -p "$run"
status=0
"$SDP_TOP/selftests/vm/boot.sh" -d "$run" -t 600 debug \
	"$here/kunit/guest.sh" "$module" || status=$?
touch "$run/ktap"

all=$(cat "${suites[@]}" | grep -c '^	KUNIT_CASE(')
skipped=$(count '^    ok [0-9]+ .*# SKIP')
passed=$(($(count '^    ok [0-9]+ ') - skipped))
# Cases that did not run, because the kernel or the module failed before them, count as failed.
failed=$((all - passed - skipped))
grep -E '^ok [0-9]+ sdp_|^# sdp_.*pass:' "$run/ktap" | sed 's/^/  /' || true
if [ $failed != 0 ]; then
	say "failed cases, as the kernel's log has them ($run/ktap):"
	grep -E -B 12 '^    not ok ' "$run/ktap" >&2 || say "none is named; $all were expected"
fi
# A warning of the kernel, or a VM that did not end regularly, counts as one more failure.
if [ $status != 0 ]; then
	failed=$((failed + 1))
	say "the VM run ended with status $status; see $run"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ $failed = 0 ]
