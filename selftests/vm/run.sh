#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [-M MODULE.ko] [-m MEMORY] [-n CABLE] [-a CMDLINE] [-e VAR=VALUE]... KERNEL|all [TEST...]
#
# Builds the module and the tests for KERNEL (6.1, 6.12, debug, 7.3, watched; `all` is the first
# three in turn), boots it and runs the tests of selftests/net/sdp (or $SDP_TESTS) in it: the named
# ones, or all. The tests' output, the kernel log and captures are in build/vm/. -M loads that module and
# builds none; -m, -n, -a and -e are options of boot.sh. -e SDP_CASES='NAME...' limits the C tests
# to these cases.
#
# SDP_SHORT=1 in the environment selects the short form: fewer tests on each kernel, and fewer
# rounds and cases in some of them; each of those prints "# short form: ..." in its output.
# SDP_TURNS=1 makes a machine's processors run by turns (boot.sh); tests that need concurrent
# processors (tests.sh) then run in another machine.
#
# A machine that hangs or dies fails the test that was running; the remaining tests run in another
# machine. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/vm
short=${SDP_SHORT:-}
. "$here/tests.sh"
. "$here/process.sh"
. "$here/checks.sh"
# Seconds for booting, the lab and the final checks, in addition to the tests' own limits.
overhead=600

usage='run.sh [-M MODULE.ko] [-m MEMORY] [-n CABLE] [-a CMDLINE] [-e VAR=VALUE]...
 6.1|6.12|debug|7.3|watched|all [TEST...]'
module='' boot_options=()
while getopts M:m:n:a:e: option; do
	case $option in
	M)	module=$(realpath "$OPTARG") ;;
	m | n | a | e) boot_options+=("-$option" "$OPTARG") ;;
	*)	die "$usage" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || die "$usage"
kernel=$1
shift

check_names() {
	local name
	for name in "$@"; do
		grep -qxF -- "$name" <<<"$known" || die "no test '$name'; there are: $(tr '\n' ' ' <<<"$known")"
	done
}

# time_limit TEST...: seconds for the whole run: each test's limit, and the checks after it.
time_limit() {
	local sum=$overhead name
	for name in "$@"; do
		sum=$((sum + $(test_limit "$name" 1) + 30))
	done
	echo "$sum"
}

# totals FILE: the sums of points passed, failed and skipped
totals() { awk '{ p += $2; f += $3; s += $4 } END { print p + 0, f + 0, s + 0 }' "$1"; }

print_totals() {
	local passed failed skipped
	read -r passed failed skipped
	echo "$passed passed, $failed failed, $skipped skipped"
}

say_left_out() {
	local names
	names=$(comm -23 <(all_tests | sort) <(usual_tests "$1" | sort) | tr '\n' ' ')
	[ -z "$names" ] || echo "  ${short:+short form: }not run on $1 unless named: $names"
}

# say_shortened KERNEL RUN: prints the tests' "short form" lines; tests with the same text share a
# line.
say_shortened() {
	[ -n "$short" ] || return 0
	(cd "$2" && grep -Hs '^# short form: ' ./*.tap || true) | awk -v kernel="$1" '
		{ i = index($0, "# short form: "); what = substr($0, i + 14) }
		{ name = substr($0, 3, i - 8); names[what] = names[what] " " name }
		END { for (what in names) print "  short form: on " kernel "," names[what] ": " what }'
}

# watch_machine PROCESS RUN: kills boot.sh (PROCESS) when its machine stays in one step (guest.sh's
# `now`) for longer than that step may take: the machine hangs, or its clock does. Writes the step
# to the file `silent`.
watch_machine() {
	local up since=0 now place='' name seconds before
	look_at_clock
	while sleep 2 && kill -0 "$1" 2>/dev/null; do
		before=$up
		look_at_clock
		# A host that was suspended has not let the machine run.
		[ $((up - before)) -le 60 ] || since=$((since + up - before))
		now=$(cat "$2/now" 2>/dev/null) && [ -n "$now" ] || continue
		[ "$now" = "$place" ] || { place=$now since=$up; continue; }
		read -r name seconds <<<"$now"
		[ $((up - since)) -gt "$seconds" ] || continue
		echo "$now" >"$2/silent"
		kill "$1" 2>/dev/null || true
		return
	done
}

# last_words LOG: the first complaint of a kernel after the last mark of a test (checks.sh), and what
# follows; the last lines if there is none
last_words() {
	awk -v splats="$(IFS='|'; echo "${SPLATS[*]}")" '
		/sdp-vm mark / { found = 0 }
		{ line[NR] = $0 }
		!found && $0 ~ splats { found = NR }
		END {
			first = found ? found : NR - 9
			for (i = first > 1 ? first : 1; i <= NR && i < first + 30; i++)
				print "    # " line[i]
		}' "$1" 2>/dev/null || true
}

# run_machine TEST...: runs the tests in one machine, whose files are in $run. If the machine ended
# early, sets `left` to the tests that it did not start, and the test that was running has failed.
run_machine() {
	local status=0 boot watch place rest
	mkdir -p "$run"
	: >"$run/results"
	ln -sfn "$(basename "$run")" "$SDP_TOP/build/vm/last"
	SDP_TURNS=$turns setpriv --pdeathsig TERM "$here/boot.sh" -d "$run" -t "$(time_limit "$@")" \
		"${boot_options[@]}" -e SDP_MODULE="$ko" -e SDP_TESTS="$SDP_TESTS" -e SDP_SHORT="$short" \
		-e SDP_AFTERMATH="${SDP_AFTERMATH:-}" "$dir" "$here/guest.sh" "$@" &
	boot=$!
	watch_machine $boot "$run" &
	watch=$!
	wait $boot || status=$?
	kill $watch 2>/dev/null || true
	wait $watch 2>/dev/null || true
	left=()
	mapfile -t rest < <(printf '%s\n' "$@" | grep -vxF -f <(cut -d ' ' -f 1 "$run/results"))
	if [ $status -le 1 ] && grep -q '^no-splat ' "$run/results"; then
		left=("${rest[@]}")
		return
	fi
	# A guest that ended early is a failure even if every finished test passed.
	read -r place _ 2>/dev/null <"$run/now" || place=start
	printf '  %-28s FAIL\n' "machine-in-$place"
	if [ -e "$run/silent" ]; then
		echo "    # the machine said nothing for $(cut -d ' ' -f 2 "$run/silent") s, where it was in $place"
	else
		echo "    # the machine did not reach its end (status $status); it was in $place"
	fi
	last_words "$run/console.log"
	: >"$run/died"
	if [ "$place" = "${rest[0]:-}" ]; then
		left=("${rest[@]:1}")
	elif [ "$place" != start ] && [ "$place" != begin ]; then
		# A test had ended, and checks were running.
		left=("${rest[@]}")
	fi
	echo "machine-in-$place 0 1 0 0 0" >>"$run/results"
}

# next_machine: selects the tests that need a machine with concurrent processors ($later of
# run_kernel)
next_machine() { left=("${later[@]}") later=() turns=''; }

# run_kernel KERNEL TEST...: runs the tests on one kernel and adds their points to $sums
run_kernel() {
	local kernel=$1 dir release ko=$module run first left machine=1 turns=${SDP_TURNS:-} later=()
	shift
	dir=$("$SDP_TOP/scripts/kernels.sh" "$kernel")
	release=$(basename "$dir"/lib/modules/*)
	if [ -z "$ko" ]; then
		step "module for $release" flock "$lock" make -s -C "$SDP_TOP" modules KERNEL="$kernel"
		ko=$SDP_TOP/build/$release${SDP_WATCH:+-$SDP_WATCH}
		[ "${SDP_POLICY:-y}" != n ] || ko+=-core
		ko+=/sdp.ko
	fi
	[ ! -e "$SDP_TESTS/modules" ] ||
		step "test modules for $release" flock "$lock" make -s -j"$(nproc)" -C "$SDP_TESTS/modules" KERNEL="$kernel"
	[ -e "$ko" ] || die "the build left no $ko"
	first=$SDP_TOP/build/vm/$(date +%Y%m%d-%H%M%S)-$kernel-$$
	run=$first left=("$@")
	if [ "$turns" = 1 ]; then
		mapfile -t left < <(at_once 0 "$@")
		mapfile -t later < <(at_once 1 "$@")
		[ ${#left[@]} -gt 0 ] || next_machine
	fi
	: >"$kernel_sums"
	while :; do
		echo "kernel $release, files in $run"
		run_machine "${left[@]}"
		say_shortened "$kernel" "$run"
		cat "$run/results" >>"$kernel_sums"
		[ ${#left[@]} -gt 0 ] || next_machine
		[ ${#left[@]} -gt 0 ] || break
		machine=$((machine + 1)) run=$first-$machine
		echo "another machine goes on with ${left[0]}"
	done
	cat "$kernel_sums" >>"$sums"
	summary+=("$(printf '%-6s %s' "$kernel" "$(totals "$kernel_sums" | print_totals)")")
}

"$SDP_TOP/scripts/setup.sh" vm build
known=$(all_tests)
check_names "$@"
# Another run may be building the same programs: the lock serializes the builds.
mkdir -p "$SDP_TOP/build"
lock=$SDP_TOP/build/programs.lock
[ ! -e "$SDP_TESTS/Makefile" ] || step "test programs" flock "$lock" make -s -j"$(nproc)" -C "$SDP_TESTS"

sums=$(mktemp) kernel_sums=$(mktemp) summary=()
trap 'rm -f "$sums" "$kernel_sums"' EXIT
kernels=("$kernel")
[ "$kernel" != all ] || kernels=(6.1 6.12 debug)
for kernel in "${kernels[@]}"; do
	names=("$@")
	[ $# -gt 0 ] || mapfile -t names <<<"$(usual_tests "$kernel")"
	run_kernel "$kernel" "${names[@]}"
	[ $# -gt 0 ] || say_left_out "$kernel"
done

[ ${#kernels[@]} = 1 ] || printf '%s\n' "${summary[@]}"
totals "$sums" | print_totals
awk '$3 > 0 { bad = 1 } END { exit bad || NR == 0 }' "$sums"
