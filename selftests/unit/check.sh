#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: all checks of the engine and of the policy's rules that need no kernel.
#
# Prints one line for each part, the failures of the part below it, and the sum at the end. The
# complete output of the parts is in build/unit/tap. With SDP_SHORT=1 in the environment the checks
# are shorter, and the output says what they leave out.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/unit
build=$SDP_TOP/build/unit
tap=$build/tap
# Every run draws other schedules. A failure prints the seed that repeats it.
seed=${SEED:-$(date +%s)}
if [ -z "${SDP_SHORT:-}" ]; then
	fuzz_seconds=${FUZZ_SECONDS:-5} steps=${STEPS:-20000000} states=() every=1 small= windows=1000000
else
	fuzz_seconds=${FUZZ_SECONDS:-2} steps=${STEPS:-10000000} states=(--max-states 100000) every=4 small=3 \
		windows=100000
fi

. "$here/report.sh"

mkdir -p "$tap"
rm -f "$tap"/*
step "programs" make -s -C "$here" -j"$(nproc)" programs
step "programs for coverage" make -s -C "$here" -j"$(nproc)" coverage

# In the background, because it takes longest and uses one CPU.
run search "$build/search" "${states[@]}" &

for test in "$build"/asan/test_*; do
	[[ $test == *.[od] ]] || one "$(basename "$test")" "$test"
done
one pair "$build/pair" --seed "$seed" --steps "$steps"
notes pair '[0-9].*'
one pair.rings "$build/pair" --rings --seed "$seed" --steps "$steps"
notes pair.rings '[0-9r].*'
one pair.nic "$build/pair.asan" --rings --both 2 --seed "$seed" --steps $((steps / 10))
notes pair.nic '[0-9r].*'
one pair.asan "$build/pair.asan" --seed $((seed + 1000000)) --steps $((steps / 4))
notes pair.asan '[0-9].*'
one rails "$build/rails" --seed "$seed" --schedules 10000000
notes rails '[0-9].*'
one rails.all "$build/rails.all" --all $small
notes rails.all '[0-9].*'
one programs "$build/programs" --seed "$seed" --programs 1000000
notes programs '[0-9].*'
one windows "$build/windows" --seed "$seed" --schedules $windows
notes windows '[0-9].*'
one policy-tool "$here/../tools/policy.sh"
one tool "$here/../tools/program.sh"
one descriptions "$here/../syscalls/test.sh"
EVERY=$every one mutants "$here/mutants.sh" "$build/mutants"
one fuzz "$here/fuzz.sh" "$fuzz_seconds"
notes fuzz '.*'
wait
report search
notes search '.*'
one coverage make -s -C "$here" coverage
notes coverage '.*'

if [ -n "${SDP_SHORT:-}" ]; then
	echo "  short form: $steps random steps, ${states[1]} states of each small pair at most, three" \
		"small connections by rails, one" \
		"planted mistake in $every (SEED=$seed), $fuzz_seconds s of each fuzzer"
fi
sum
[ $failed = 0 ]
