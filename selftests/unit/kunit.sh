#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# kunit.sh [build]: the unit tests as KUnit suites. Builds sdp_kunit.ko for the debug
# kernel, boots that in a VM, loads the module and counts what the kernel's log says of
# its cases. With `build` it stops after building.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/unit
proto=$SDP_TOP/net/sdp/proto
policy=$SDP_TOP/net/sdp/policy
build=$SDP_TOP/build/unit/kunit

# suite NAME: a KUnit suite around test_NAME.c; its cases are that file's TEST() lines, so that
# none can be forgotten.
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

# Written only when different, so that nothing is built without need.
update() {
	cat >"$1.new"
	if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

prepare() {
	local test name
	mkdir -p "$build"
	ln -sf "$proto"/*.[ch] "$policy"/glob.[ch] "$policy"/rules*.[ch] \
		"$here"/test_*.c "$here"/*.h "$here/kunit/Kbuild" "$build"
	# Where the policy's ../proto/base.h is found from.
	ln -sfn "$proto" "$build/proto"
	for test in "$here"/test_*.c; do
		name=$(basename "$test" .c)
		suite "${name#test_}" | update "$build/suite_${name#test_}.c"
	done
}

# count PATTERN: lines of the kernel's log; a case is indented, its suite is not.
count() { grep -cE "$1" "$run/ktap" || true; }

kernel=$("$SDP_TOP/scripts/kernels.sh" debug)
prepare
step "KUnit module" make -j"$(nproc)" -C "$kernel/build" M="$build" modules
[ "${1:-}" != build ] || exit 0

run=$build/run
rm -rf "$run"
mkdir -p "$run"
status=0
"$SDP_TOP/selftests/vm/boot.sh" -d "$run" -t 600 debug \
	"$here/kunit/guest.sh" "$build/sdp_kunit.ko" || status=$?
touch "$run/ktap"

all=$(cat "$here"/test_*.c | grep -c '^TEST(')
skipped=$(count '^    ok [0-9]+ .*# SKIP')
passed=$(($(count '^    ok [0-9]+ ') - skipped))
# What did not get its turn, because the kernel or the module gave up, has failed.
failed=$((all - passed - skipped))
grep -E '^ok [0-9]+ sdp_|^# sdp_.*pass:' "$run/ktap" | sed 's/^/  /' || true
if [ $failed != 0 ]; then
	say "failed cases, as the kernel's log has them ($run/ktap):"
	grep -E -B 12 '^    not ok ' "$run/ktap" >&2 || say "none is named; $all were expected"
fi
# A complaint of the kernel, or a VM that did not end well, is one more.
if [ $status != 0 ]; then
	failed=$((failed + 1))
	say "the VM run ended with status $status; see $run"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ $failed = 0 ]
