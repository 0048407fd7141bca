#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: the measurements, in the guest that run.sh boots.
# Its output is for people. For table.py it leaves the file results in the run directory, whose
# lines are a kind and then words name=value:
#
#	info	the machine
#	note	text for the reader of the table
#	run	one run: peer test round count value packets ..., and size or connections;
#		busy_us (of all processors) where it is known; read and written (by RDMA, percent)
#		in the tests modes_*; instead of value fail=REASON
#	idle	memory of idle connections of one peer
#	rail	a moment of a stream by two cables: microseconds, and bytes that each has carried
#	pinned	memory pinned by one peer, in KiB: on an idle connection, maximum in a stream,
#		after it
#	round	this round is complete
#	end	the results are complete
#
# Environment: SDP_SIW (netlab.sh), BENCH_BIN (directory of what run.sh builds), SDP_TOP, SDP_MODULE, ROUNDS, FIRST
# (first round), TESTS, SIZES, PEERS, HOLD (connections per step of the memory measurement),
# CONNECTS, ECHOES (exchanges), ECHO_SIZE, ECHO_CONNECTIONS, LIMIT (guest seconds for one run or
# answer), MODE_SIZES, READERS, READER_SIZES, EVENT_SIZES and COST_SIZES (see modes.sh), PARTS_SIZES (see
# parts.sh), COLUMN_WIDTHS (see columns.sh), RAILS and RAIL_MBIT (see rails.sh), the variables of
# tools/paper/experiments.sh and datagrams.sh, and the larger buffers of the peer sdpbig:
# SDP_RECV_BUFFER_SIZE, SDP_RECV_BUFFERS, SDP_SEND_BUFFERS.
set -euo pipefail

ALL_TESTS="stream pingpong connect echo redis nginx idle modes readers events columns cost parts"
ALL_TESTS+=" pinned rails"
TESTS=${TESTS:-$ALL_TESTS}
SIZES=${SIZES:-64 256 1024 4096 16384 65536 1048576}
PEERS=${PEERS:-tcp tcpmtu rs smc verbs sdp sdpbig sdpud sdpauto sdpring sdploop unix tcplo}
ROUNDS=${ROUNDS:-3} FIRST=${FIRST:-1} HOLD=${HOLD:-100} CONNECTS=${CONNECTS:-200} LIMIT=${LIMIT:-60}
ECHOES=${ECHOES:-2048} ECHO_SIZE=${ECHO_SIZE:-64} ECHO_CONNECTIONS=${ECHO_CONNECTIONS:-1 16 256}
BENCH_BIN=${BENCH_BIN:-$SDP_TOP/build/bench/bin}
SDP_MODULE=${SDP_MODULE:-}
WORK=/dev/shm/bench
OUTPUT=$WORK/output	# of the current run
MAX_FAILURES=8
MAX_CPU=60

. "$SDP_TOP/selftests/vm/process.sh"
. "$SDP_TOP/selftests/vm/netlab.sh"
for part in peers runs idle programs modes columns parts rails; do
	. "$SDP_TOP/tools/bench/$part.sh"
done
. "$SDP_TOP/tools/paper/experiments.sh"

say() { printf '%s\n' "$*"; }
record() { printf '%s\n' "$*" >>"$SDP_RUN/results"; }
note() { say "note: $*"; record "note $*"; }
wanted() { [[ " $TESTS " == *" $1 "* ]]; }

# Needed by the peers, but not by netlab.sh.
packets() { cat "/sys/class/net/$1/statistics/tx_packets"; }
# soft-iWARP does not count packets; those of its TCP connections are all that there are.
roce_packets() {
	local a b
	[ -z "${SDP_SIW:-}" ] || { echo $(($(packets va) + $(packets vb))); return; }
	read -r a </sys/class/infiniband/rxa/ports/1/hw_counters/sent_pkts
	read -r b </sys/class/infiniband/rxb/ports/1/hw_counters/sent_pkts
	echo $((a + b))
}

# limited COMMAND...: runs COMMAND with its output in $OUTPUT. Status 124 when it had to be killed;
# a command that cannot be killed is left behind. One that spins is limited to MAX_CPU seconds, as
# its time does not leap (see run.sh).
limited() {
	local status=0
	{ (
		ulimit -t $MAX_CPU
		exec timeout -k 2 "$LIMIT" "$@" >"$OUTPUT" 2>&1 </dev/null
	); } 2>/dev/null || status=$?
	[ $status != 137 ] || status=124
	return $status
}

# patiently COMMAND...: repeats it until it succeeds, at growing intervals, for at most LIMIT
# seconds.
patiently() {
	local end=$((SECONDS + LIMIT)) tries=0
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep $((tries / 20)).05
		tries=$((tries + 1))
	done
}

# why STATUS OUTPUT: one word with the reason of a failed run.
why() {
	local last
	last=$(tail -n 1 "$2" | sed 's/^sockbench: //' | tr -s ' \t=' '-' | cut -c 1-80)
	[ "$1" != 124 ] || last=timeout
	echo "${last:-status-$1}"
}

# word NAME LINE: the value of NAME=value in LINE.
word() { sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" <<<"$2"; }

# prove_smc: a live connection must show that SMC-R is in use; otherwise it is not measured.
prove_smc() {
	local shown=$WORK/smc
	need_server smc || return 0
	open_held smc
	more_held 1 || true
	if smcsetup check "${server_port[smc]}" >"$shown" 2>&1; then
		note "SMC-R: $(grep -o 'device=[^ ]*' "$shown" | sort -u | paste -sd ' ')"
	else
		note "SMC-R is not in use ($(tail -n 1 "$shown")), AF_SMC is not measured"
		dead[smc]="falls back to TCP"
	fi
	close_held
}

# The complete measurement

# Files come from the host, and while the guest waits for one, a clock that counts instructions
# leaps from timer to timer. So everything used during a measurement is in memory: programs,
# libraries, the loader, and files of libibverbs.
copy_into_memory() {
	local file loader programs=(timeout sleep env cat grep awk sed tail tr cut head modprobe ethtool ip tc
		ib_send_bw ib_send_lat redis-server redis-benchmark redis-cli nginx ab curl
		"$BENCH_BIN"/*)
	mkdir -p $WORK/bin $WORK/lib
	for file in "${programs[@]}" $(find /usr/lib/*/rsocket -name librspreload.so.1 2>/dev/null); do
		[ -e "$file" ] || file=$(type -P "$file") || continue
		cp -L "$file" $WORK/bin/
		ldd "$file" | awk '$2 == "=>" { print $3 }'
	done | sort -u | xargs cp -L -t $WORK/lib
	export PATH=$WORK/bin:$PATH LD_LIBRARY_PATH=$WORK/lib
	export OPENSSL_CONF=/dev/null
	loader=$(realpath /lib64/ld-linux-x86-64.so.2)
	for file in /etc/libibverbs.d /usr/lib/*/libibverbs "$loader"; do
		[ -e "$file" ] || continue
		cp -r "$file" $WORK/
		mount --bind "$WORK/$(basename "$file")" "$file"
	done
}

set_up() {
	local test
	for test in $TESTS; do
		[[ " $ALL_TESTS $PAPER_TESTS " == *" $test "* ]] ||
			{ say "no test '$test'"; exit 1; }
	done
	: >"$SDP_RUN/results"
	ulimit -n 8192	# an rsocket takes several descriptors
	copy_into_memory
	lab_up || { say "the lab did not come up"; exit 1; }
	[ -n "${SDP_SIW:-}" ] ||
		echo 0 | tee /sys/class/infiniband/rx[ab]/ports/1/hw_counters/lifespan >/dev/null
	set_up_peers
	record "info kernel=$(uname -r) device=$(lab_type) cpus=$(nproc) mtu=$(cat /sys/class/net/va/mtu) rounds=$ROUNDS" \
		"clock=${BENCH_CLOCK:-real} recv_buffer_size=$SDP_RECV_BUFFER_SIZE" \
		"recv_buffers=$SDP_RECV_BUFFERS send_buffers=$SDP_SEND_BUFFERS" \
		"rdma_threshold=${sdp_default[rdma_threshold]:-}"
}

sizes_round() {
	local round=$1 size peer test shown
	for size in $SIZES; do
		say "round $round of $ROUNDS, $size bytes: stream in MB/s, ping-pong in us"
		for peer in $PEERS; do
			shown=
			for test in stream pingpong; do
				wanted $test && [ -z "${dead[$peer]:-}" ] || continue
				measure "$peer" $test "$size" "$round"
				shown+="   $test $(printf %10s "$last")"
			done
			[ -z "$shown" ] || printf '  %-26s%s\n' "$(peer_name "$peer")" "$shown"
		done
	done
}

# rates_round TITLE FUNCTION ARGUMENT...: FUNCTION PEER ARGUMENT... for each peer.
rates_round() {
	local peer function=$2
	say "$1:"
	shift 2
	for peer in $PEERS; do
		last=
		[ -n "${dead[$peer]:-}" ] || "$function" "$peer" "$@"
		[ -z "$last" ] || printf '  %-26s %s\n' "$(peer_name "$peer")" "$last"
	done
}

one_round() {
	local round=$1 title="round $1 of $ROUNDS" n
	! wanted stream && ! wanted pingpong || sizes_round "$round"
	! wanted connect || rates_round "$title, connections per second" connection_rate "$round"
	for n in $(wanted echo && echo "$ECHO_CONNECTIONS"); do
		rates_round "$title, exchanges per second, connections: $n" echo_rate "$n" "$round"
	done
	! wanted redis || program_round redis "$round" "requests per second"
	! wanted nginx || program_round nginx "$round" "requests per second and MB/s"
	! wanted modes || modes_round "$round"
	! wanted readers || readers_round "$round"
	! wanted events || events_round "$round"
	! wanted cost || cost_round "$round"
	! wanted columns || columns_round "$round"
	! wanted parts || parts_round "$round"
	! wanted rails || rails_round "$round"
	paper_round "$round"
}

each_peer() {
	local peer
	for peer in $PEERS; do
		[ -n "${dead[$peer]:-}" ] || "$@" "$peer"
	done
}

measure_idle() {
	say "memory of idle connections:"
	each_peer idle_memory
}

main() {
	local round line last=
	set_up
	[[ " $PEERS " != *" smc "* ]] || prove_smc
	! wanted idle || measure_idle
	! wanted pinned || measure_pinned
	say "data check"
	each_peer check_data
	for ((round = FIRST; round <= ROUNDS; round++)); do
		one_round "$round"
		record "round $round"
	done
	{ dmesg | grep -E 'BUG:|WARNING:|Oops' || true; } | cut -c 1-100 | head -n 5 |
		while read -r line; do note "kernel log: $line"; done
	record "end"
}

main
