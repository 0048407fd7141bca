#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: measures AF_SDP and its peers in one guest; makes tables and plots in build/bench.
# tools/bench/peers.sh has the peers and their names. All options are variables:
#
#	DEVICE=siw		over soft-iWARP, which is built, instead of soft-RoCE
#	PEERS="sdp rs"		only these (all)
#	TESTS="stream redis"	only these (stream pingpong connect echo redis nginx idle modes
#				readers events columns cost parts pinned rails; from modes on:
#				tools/bench/modes.sh, columns.sh, parts.sh, rails.sh)
#	SIZES="64 65536"	only these message sizes (64 256 1024 4096 16384 65536 1048576)
#	MODE_SIZES="4096 65536"	the same for modes (4096 and its doubles up to 4194304)
#	READERS="poll readv" READER_SIZES=65536	the same for readers (all; 4096 to 4194304)
#	EVENT_SIZES=65536	the same for events (65536 262144 1048576)
#	COST_SIZES=65536	the same for cost (65536 1048576)
#	PARTS_SIZES=65536	the same for parts (16384 65536 1048576)
#	COLUMN_WIDTHS=512	only columns of so many bytes (8 64 512 4096 65536)
#	RAILS="1 2"		only so many cables (1 2 4)
#	RAIL_MBIT=100		rate of each (50)
#	ROUNDS=3		every size and peer once in each
#	PLAIN=1			real time instead of counted instructions
#	TIME=7200		time limit of the guest in seconds
#	MODULE=FILE.ko		another module for 6.12 than the tree's
#	REPORT=PROGRAM		reads the results (table.py)
#	OUT=DIRECTORY		output directory; a former run there is kept
#	SDP_RECV_BUFFER_SIZE SDP_RECV_BUFFERS SDP_SEND_BUFFERS	the larger buffers
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/tools/bench
out=$(realpath -m "${OUT:-$SDP_TOP/build/bench}")
kernel=6.12		# the stock kernel on which all peers work, SMC-R included

DEVICE=${DEVICE:-rxe}
case $DEVICE in
rxe)	PEERS=${PEERS:-tcp tcpmtu rs smc verbs sdp sdpbig sdpud sdpauto sdpring sdploop unix tcplo} ;;
siw)	PEERS=${PEERS:-tcp tcpmtu rs verbs sdp sdpbig sdploop unix tcplo} ;;
*)	die "DEVICE is rxe or siw, not $DEVICE" ;;
esac
PLAIN=${PLAIN:-0} TIME=${TIME:-7200} ROUNDS=${ROUNDS:-3}
module='' siw='' first=1
died=99			# exit status of boot.sh

build_tools() {
	local name
	local -A sources=([sockbench]="sockbench.c echo.c busy.c readers.c writers.c strides.c" [smcsetup]="smcsetup.c"
		[meter]="meter.c busy.c" [pinned]="pinned.c"
		[progress]="../paper/progress.c ../paper/ends.c"
		[stores]="../paper/stores.c ../paper/ends.c"
		[pipeline]="../paper/pipeline.c ../paper/filters.c ../paper/ends.c")
	rm -rf "$out/bin"
	mkdir -p "$out/bin"
	for name in "${!sources[@]}"; do
		# shellcheck disable=SC2086 # several files
		(cd "$here" && cc -O2 -Wall -Wextra -Werror -pthread \
			-I "$SDP_TOP/tools/lib" -I "$SDP_TOP/include/uapi" -o "$out/bin/$name" \
			${sources[$name]} -lz -luring)
	done
	make -C "$SDP_TOP/selftests/programs" OUT="$out/bin" "$out/bin/libsdp_preload.so"
}

# find_module: sets $module to $MODULE, or to the tree's module, which it builds
find_module() {
	local directory release
	if [ -n "${MODULE:-}" ]; then
		module=$(realpath -e "$MODULE") || die "there is no $MODULE"
		return
	fi
	directory=$("$SDP_TOP/scripts/kernels.sh" $kernel)
	release=$(basename "$directory"/lib/modules/*)
	step "module for $release" make -C "$SDP_TOP" modules KERNEL=$kernel
	module=$SDP_TOP/build/$release/sdp.ko
	[ -e "$module" ] || die "make modules KERNEL=$kernel left no $module"
}

# with_time: prefixes the guest's output with the elapsed time.
with_time() {
	local line started=
	while IFS= read -r line; do
		started=${started:-$SECONDS}
		printf '[%5d s] %s\n' $((SECONDS - started)) "$line"
	done
}

measure() {
	# Without cx16: QEMU, at least up to 7.2, leaves garbage in the flags between the slab's
	# cmpxchg16b and the next arithmetic instruction, and an interrupt there ends in a double
	# fault.
	local name arguments=(-t "$TIME" -d "$out/run" -a clearcpuid=cx16)
	# While the guest is idle, also while it waits for the host, counted time leaps from timer
	# to timer, by about 1000 s per second: limits must be long.
	[ -z "$siw" ] || arguments+=(-e "SDP_SIW=$siw" -e "LAB_MTU=${LAB_MTU:-4200}")
	[ "$PLAIN" = 1 ] || arguments+=(-i -e BENCH_CLOCK=instructions -e LIMIT=10000)
	for name in PEERS TESTS SIZES MODE_SIZES READERS READER_SIZES COST_SIZES PARTS_SIZES COLUMN_WIDTHS RAILS RAIL_MBIT ROUNDS HOLD CONNECTS \
		ECHOES ECHO_SIZE ECHO_CONNECTIONS LIMIT PAPER_SIZES SPACE_SIZES COMPUTES BURST_ROUNDS \
		BURST_BUFFER DATA DATA_SIZES TRIP_SIZES STORE_SIZES WINDOWS LOSSES FAR_US \
		SDP_RECV_BUFFER_SIZE SDP_RECV_BUFFERS SDP_SEND_BUFFERS; do
		[ -z "${!name:-}" ] || arguments+=(-e "$name=${!name}")
	done
	"$SDP_TOP/selftests/vm/boot.sh" "${arguments[@]}" -e "SDP_MODULE=$module" \
		-e "BENCH_BIN=$out/bin" -e "FIRST=$first" $kernel "$here/guest.sh" | with_time
}

# next_round: if a guest dies, only its last round is lost.
next_round() {
	local log
	first=$((1 + $(awk '$1 == "round" { last = $2 } END { print last + 0 }' "$out/results")))
	log=$out/died-$try.log
	cp "$out/run/console.log" "$log"
	echo "note a guest died in round $first, see $log" >>"$out/results"
}

"$SDP_TOP/scripts/setup.sh" vm bench build
step "benchmark programs" build_tools
[ "$DEVICE" != siw ] || siw=$("$SDP_TOP/selftests/adapters/siw.sh" $kernel)
[[ " $PEERS" != *" sdp"* ]] || find_module
rm -f "$out"/*.png "$out"/*.svg "$out"/*.gp "$out"/table.* "$out"/*.csv "$out"/results \
	"$out"/died-*.log
touch "$out/results"
for try in 1 2 3; do
	rm -f "$out/run/results"
	status=0
	measure || status=$?
	[ ! -e "$out/run/results" ] || cat "$out/run/results" >>"$out/results"
	[ $status = $died ] || break
	next_round
	[ $try -lt 3 ] && [ $first -le "$ROUNDS" ] || break
	say "another guest goes on with round $first"
done
[ $status = 0 ] || say "the guest ended with status $status, its log is $out/run/console.log"
[ -s "$out/results" ] || die "nothing was measured; see $out/run/console.log"
python3 -B "${REPORT:-$here/table.py}" "$out/results" "$out"
say "tables: $out/table.txt and .rst; the results of every run: $out/results"
exit $status
