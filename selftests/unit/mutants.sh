#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# mutants.sh DIRECTORY [NAME...]: do the simulators and unit tests find planted mistakes?
#
# For each entry of mutants.list, a copy of the engine gets that mistake. Then it is simulated, at
# random (pair) and exhaustively (search), and one of the simulators has to fail. Mistakes in rails,
# in gather/scatter programs and in the windows of datagrams have simulators of their own (sim_rails,
# sim_program, sim_window). An entry can also name the unit test that has to fail: for a mistake that
# shows only with a hostile peer, or one in the policy's rules. The copies are made in DIRECTORY.
# With NAMEs only these entries run; with EVERY=n in the environment only every n-th entry runs, and
# of the others it is only seen that they still change something. Prints TAP.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
proto=$here/../../net/sdp/proto
policy=$here/../../net/sdp/policy
out=$1
shift
only=("$@")
every=${EVERY:-1} entries=0
cc=${CC:-gcc}
flags=(-std=gnu11 -O1 -w)
# Without smaller rings, because both simulators share the engine's objects, with its limits, here.
small=(-DSIM_MSGS=8 -DSIM_BYTES=112 -DSIM_SEGMENTS=4)
ksft=$("$here/../../scripts/kernels.sh" source)/tools/testing/selftests
engine=(wire wire_rails credit resize srcavail_tx srcavail_rx sinkavail_rx sinkavail_tx piggyback mode ring conn
	engine engine_action engine_api engine_rdma engine_ring engine_send)
rails=(order rail rails stripe)
programs=(program program_sum)
windows=(chunk datagram opening service window window_tx window_rx congestion rto)
rules=(glob rules_target rules_parse rules_match)
pure=("${engine[@]}" "${rails[@]}" "${programs[@]}" "${windows[@]}" "${rules[@]}")
sim=(sim sim_srcavail sim_sinkavail sim_ring sim_state judge judge_resize judge_srcavail judge_sinkavail judge_mode
     judge_ring)

chosen() {
	local name
	entries=$((entries + 1))
	[ ${#only[@]} -gt 0 ] || return $((entries % every != 0))
	for name in "${only[@]}"; do
		[ "$name" != "$1" ] || return 0
	done
	return 1
}

# objects FROM TO NAME...: compile FROM/NAME.c to TO/NAME.o, with the engine's headers in $headers.
objects() {
	local from=$1 to=$2 name
	shift 2
	for name in "$@"; do
		"$cc" "${flags[@]}" "${extra[@]}" -I"$headers" -c "$from/$name.c" -o "$to/$name.o" ||
			return 1
	done
}

# simulators DIRECTORY: compile both simulators, without the engine.
simulators() {
	local extra=() to=$1
	mkdir -p "$to/pair" "$to/search"
	objects "$here" "$to/pair" pair "${sim[@]}" || return 1
	extra=("${small[@]}")
	objects "$here" "$to/search" search "${sim[@]}"
}

# build FILE: build the test programs in $dir after a change of FILE. Objects that FILE does not
# change are taken from the unchanged engine. The function is called as a condition, where `set -e`
# has no effect, so it checks each command.
build() {
	local file=$1 base=$out/.base headers=$dir extra=() name list=() source=
	if [[ $file == *.h ]]; then
		base=$dir
		simulators "$dir" && objects "$dir" "$dir" "${pure[@]}" || return 1
	else
		objects "$dir" "$dir" "${file%.c}" || return 1
	fi
	for name in "${pure[@]}"; do
		[ -e "$dir/$name.o" ] && list+=("$dir/$name.o") || list+=("$base/$name.o")
	done
	case $judge in
	rails)		source=sim_rails ;;
	programs)	source=sim_program ;;
	windows)	source=sim_window ;;
	esac
	if [ -n "$source" ]; then
		"$cc" "${flags[@]}" -I"$dir" "$here/$source.c" "${list[@]}" -o "$dir/$judge.run"
		return
	fi
	if [[ $judge == test_* ]]; then
		"$cc" "${flags[@]}" -I"$dir" -I"$ksft" "$here/$judge.c" "${list[@]}" \
			-o "$dir/test.run"
		return
	fi
	"$cc" "$base"/pair/*.o "${list[@]}" -o "$dir/pair.run" &&
		"$cc" "$base"/search/*.o "${list[@]}" -o "$dir/search.run"
}

# found BY SECONDS COMMAND...: succeed if the command fails, or uses much more processor time than
# with the unchanged engine. Elapsed time is no measure on a busy machine.
found() {
	local by=$1 seconds=$2
	shift 2
	# The limit of processor time also ends children of the program in another process group; the
	# one of 50 MB ends a loop around a failing EXPECT.
	! (ulimit -c 0 -t "$seconds" -f 51200 && exec timeout $((20 * seconds)) "$@") >"$dir/log" 2>&1 || return 1
	why=$(sed -n 's/^# FAULT after [0-9]* steps: //p; s/^not ok [0-9]* //p' "$dir/log" |
		head -n 1)
	echo "ok - $name # $by: ${why:-no fault, but it crashed or went on for ever}"
}

simulate() {
	local runs=(--seed 1 --steps 8000000) rules=()
	if [[ $judge == test_* ]]; then
		found "$judge" 60 "$dir/test.run" || echo "not ok - $name: $judge does not notice"
		return
	fi
	if [ "$judge" = rails ]; then
		found rails 30 "$dir/rails.run" --schedules 20000 ||
			echo "not ok - $name: the simulator of rails does not notice"
		return
	fi
	if [ "$judge" = programs ]; then
		found programs 30 "$dir/programs.run" --programs 100000 ||
			echo "not ok - $name: no program is done wrong"
		return
	fi
	if [ "$judge" = windows ]; then
		found windows 30 "$dir/windows.run" --schedules 20000 ||
			echo "not ok - $name: the simulator of windows does not notice"
		return
	fi
	[ "$judge" = rule ] || rules=(--outcome)
	if [ "$judge" = rings ]; then
		found rings 60 "$dir/pair.run" --rings "${runs[@]}" ||
			echo "not ok - $name: pair --rings does not notice"
		return
	fi
	found pair 60 "$dir/pair.run" "${runs[@]}" "${rules[@]}" ||
		found search 300 "$dir/search.run" --no-rings --max-states 600000 "${rules[@]}" ||
		echo "not ok - $name: neither pair nor search notices"
}

# none_idle: report each entry, chosen or not, that changes nothing.
none_idle() {
	local name judge file program
	while IFS='|' read -r name judge file program; do
		if [[ $name != '#'* ]] &&
		   sed -e "$program" "$sources/$file" | cmp -s - "$sources/$file"; then
			echo "not ok - $name: changes nothing in $file; correct mutants.list"
		fi
	done <"$here/mutants.list"
}

check() {
	local name=$1 judge=$2 file=$3 program=$4 dir=$out/$1 why
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "$sources"/*.[ch] "$dir"
	sed -i -e "$program" "$dir/$file"
	# none_idle() has reported it.
	if cmp -s "$sources/$file" "$dir/$file"; then
		return
	elif ! build "$file" 2>"$dir/log"; then
		echo "not ok - $name: does not compile, see $dir/log; correct mutants.list"
	else
		simulate
	fi
}

# share WHICH OF: check every OF-th entry, beginning with number WHICH.
share() {
	local n=0 name judge file program
	while IFS='|' read -r name judge file program; do
		if [[ $name == '#'* ]] || ! chosen "$name"; then
			continue
		fi
		n=$((n + 1))
		[ $((n % $2)) != "$1" ] || check "$name" "$judge" "$file" "$program"
	done <"$here/mutants.list"
}

# The unchanged engine and rules in one directory, like each copy. ../proto of the rules is a link.
sources=$out/.sources
mkdir -p "$out/.base" "$sources"
cp "$proto"/*.[ch] "$policy"/glob.[ch] "$policy"/rules.h "$policy"/rules_*.[ch] "$sources"
ln -sfn "$(realpath "$proto")" "$out/proto"
headers=$sources extra=()
simulators "$out/.base"
objects "$sources" "$out/.base" "${pure[@]}"

none_idle >"$out/.result.idle"
jobs=$(nproc) results=("$out/.result.idle")
for ((i = 0; i < jobs; i++)); do
	share $i "$jobs" >"$out/.result.$i" &
	results+=("$out/.result.$i")
done
wait
awk '{ sub(/ok -/, "ok " NR " -"); print } END { print "1.." NR }' "${results[@]}" |
	tee "$out/.result"
! grep -q '^not ok' "$out/.result"
