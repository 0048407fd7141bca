#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fuzz.sh SECONDS [keep]: libFuzzer on the codec, the engine, programs, windows of datagrams and the
# policy's rules.
#
# Runs each target for SECONDS, with ASan and UBSan. It starts with the inputs in corpus/. New
# inputs are kept in build/unit/fuzz and used by the next run. With `keep`, the smallest set of
# inputs that reaches the same code becomes the new corpus/. Prints TAP. Without clang all targets
# are skipped.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
proto=$here/../../net/sdp/proto
policy=$here/../../net/sdp/policy
out=$here/../../build/unit/fuzz
seconds=${1:-60} keep=${2:-}
targets=(fuzz_wire fuzz_engine fuzz_rings fuzz_rules fuzz_program fuzz_window)
sanitizers=fuzzer,address,undefined
flags=(-std=gnu11 -g -O1 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare
	"-fsanitize=$sanitizers" -fno-sanitize-recover=all -I"$proto" -I"$policy")
pure=("$proto"/*.c "$policy"/glob.c "$policy"/rules_*.c)

have_libfuzzer() {
	command -v clang >/dev/null || { missing="no clang here (package clang)"; return 1; }
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -x c - -fsanitize=fuzzer,address -o "$out/probe" 2>/dev/null ||
		{ missing="clang has no libFuzzer here (package libclang-rt-dev)"; return 1; }
}

# keep_corpus NAME DIRECTORY: pack the smallest set of inputs that reaches the same code.
keep_corpus() {
	local least=$out/$1.least
	rm -rf "$least" && mkdir -p "$least" "$here/corpus"
	"$out/$1" -merge=1 -max_len=600 "$least" "$2" >"$out/$1.merge.log" 2>&1 || return
	python3 "$here/corpus.py" pack "$least" "$here/corpus/$1"
}

# fuzz NUMBER NAME: build and run target NAME, and print its line of TAP.
fuzz() {
	local name=$2 log=$out/$2.log dir=$out/$2.corpus words=() source=$here/$2.c more=()
	[ "$name" != fuzz_rings ] || { source=$here/fuzz_engine.c more=(-DFUZZ_RINGS=1); }
	mkdir -p "$dir"
	[ ! -e "$here/corpus/$name" ] || python3 "$here/corpus.py" unpack "$here/corpus/$name" "$dir"
	[ ! -e "$here/$name.dict" ] || words=(-dict="$here/$name.dict")
	clang "${flags[@]}" "${more[@]}" "$source" "${pure[@]}" -o "$out/$name"
	if "$out/$name" "${words[@]}" -max_total_time="$seconds" -max_len=600 -artifact_prefix="$out/$name-" \
		-print_final_stats=1 "$dir" >"$log" 2>&1; then
		echo "ok $1 - $name"
		awk -v name="$name" '/number_of_executed_units/ { units = $2 } /DONE/ { cov = $4 }
			/INITED/ { first = $4 }
			END { printf "# %s: %d inputs, %d edges, %d of them by what was kept\n",
				name, units, cov, first }' "$log"
		[ "$keep" != keep ] || keep_corpus "$name" "$dir"
	else
		echo "not ok $1 - $name"
		grep -E 'not so:|runtime error:|ERROR:|Test unit written' "$log" >&2
		echo "# again: $out/$name FILE" >&2
		return 1
	fi
}

mkdir -p "$out"
echo "1..${#targets[@]}"
status=0
for i in "${!targets[@]}"; do
	if have_libfuzzer; then
		fuzz $((i + 1)) "${targets[$i]}" || status=1
	else
		echo "ok $((i + 1)) - ${targets[$i]} # SKIP $missing"
	fi
done
exit $status
