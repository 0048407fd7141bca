#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# mutants.sh DIRECTORY [NAME...]: do the simulators notice mistakes?
#
# For each entry of mutants.list, a copy of the engine gets that mistake and is simulated:
# at random (pair), then exhaustively (search). One of them has to fail. What only a hostile peer
# would find is for a unit test to notice, and so is a mistake in the policy's rules. The product's source stays as it is; the copies are
# made in DIRECTORY. Prints TAP.
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
# Rings would have to be smaller in the engine, too, whose objects both simulators share here.
small=(-DSIM_MSGS=8 -DSIM_BYTES=112 -DSIM_SEGMENTS=4)
ksft=$("$here/../../scripts/kernels.sh" source)/tools/testing/selftests
engine=(wire credit resize srcavail_tx srcavail_rx sinkavail_rx sinkavail_tx piggyback mode ring conn
	engine engine_action engine_api engine_rdma engine_ring engine_send)
rules=(glob rules_target rules_parse rules_match)
pure=("${engine[@]}" "${rules[@]}")
sim=(sim sim_advert sim_buffer sim_ring sim_state judge judge_resize judge_advert judge_buffer judge_mode
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

# objects FROM TO NAME...: compile sources of FROM into TO, with the engine's headers in $headers.
objects() {
	local from=$1 to=$2 name
	shift 2
	for name in "$@"; do
		"$cc" "${flags[@]}" "${extra[@]}" -I"$headers" -c "$from/$name.c" -o "$to/$name.o" ||
			return 1
	done
}

# simulators DIRECTORY: the objects of both, but the engine's.
simulators() {
	local extra=() to=$1
	mkdir -p "$to/pair" "$to/search"
	objects "$here" "$to/pair" pair "${sim[@]}" || return 1
	extra=("${small[@]}")
	objects "$here" "$to/search" search "${sim[@]}"
}

# build FILE: in $dir, with the objects of the right engine for all that FILE does not touch.
# It is called as a condition, so no command that fails ends it by itself.
build() {
	local file=$1 base=$out/.base headers=$dir extra=() name list=()
	if [[ $file == *.h ]]; then
		base=$dir
		simulators "$dir" && objects "$dir" "$dir" "${pure[@]}" || return 1
	else
		objects "$dir" "$dir" "${file%.c}" || return 1
	fi
	for name in "${pure[@]}"; do
		[ -e "$dir/$name.o" ] && list+=("$dir/$name.o") || list+=("$base/$name.o")
	done
	if [[ $judge == test_* ]]; then
		"$cc" "${flags[@]}" -I"$dir" -I"$ksft" "$here/$judge.c" "${list[@]}" \
			-o "$dir/test.run"
		return
	fi
	"$cc" "$base"/pair/*.o "${list[@]}" -o "$dir/pair.run" &&
		"$cc" "$base"/search/*.o "${list[@]}" -o "$dir/search.run"
}

# found BY SECONDS COMMAND...: it fails, or works much longer than the right engine would. How long
# that lasts on a busy machine says nothing.
found() {
	local by=$1 seconds=$2
	shift 2
	# The limit of processor time also ends what the program has forked into a group of its own.
	! (ulimit -c 0 -t "$seconds" && exec timeout $((20 * seconds)) "$@") >"$dir/log" 2>&1 || return 1
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
	[ "$judge" = rule ] || rules=(--outcome)
	if [ "$judge" = rings ]; then
		found rings 60 "$dir/pair.run" --rings "${runs[@]}" ||
			echo "not ok - $name: pair --rings does not notice"
		return
	fi
	found pair 60 "$dir/pair.run" "${runs[@]}" "${rules[@]}" ||
		found search 300 "$dir/search.run" --no-rings --max-states 200000 "${rules[@]}" ||
		echo "not ok - $name: neither pair nor search notices"
}

check() {
	local name=$1 judge=$2 file=$3 program=$4 dir=$out/$1 why
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "$sources"/*.[ch] "$dir"
	sed -i -e "$program" "$dir/$file"
	if cmp -s "$sources/$file" "$dir/$file"; then
		echo "not ok - $name: changes nothing in $file; correct mutants.list"
	elif ! build "$file" 2>"$dir/log"; then
		echo "not ok - $name: does not compile, see $dir/log; correct mutants.list"
	else
		simulate
	fi
}

# share WHICH OF: every OFth entry.
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

# Engine and rules as they are, side by side like in each copy; the rules' ../proto is a link.
sources=$out/.sources
mkdir -p "$out/.base" "$sources"
cp "$proto"/*.[ch] "$policy"/glob.[ch] "$policy"/rules*.[ch] "$sources"
ln -sfn "$(realpath "$proto")" "$out/proto"
headers=$sources extra=()
simulators "$out/.base"
objects "$sources" "$out/.base" "${pure[@]}"

jobs=$(nproc) results=()
for ((i = 0; i < jobs; i++)); do
	share $i "$jobs" >"$out/.result.$i" &
	results+=("$out/.result.$i")
done
wait
awk '{ sub(/ok -/, "ok " NR " -"); print } END { print "1.." NR }' "${results[@]}" |
	tee "$out/.result"
! grep -q '^not ok' "$out/.result"
