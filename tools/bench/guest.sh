#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: the measurements, in the guest that run.sh boots. What it prints is for
# people; for table.py it leaves the file results in the run directory, whose lines are a
# kind and then words name=value:
#
#	info	what was measured on
#	note	text for whoever reads the table
#	run	one run: peer test size round value packets ...; instead of value fail=REASON
#	idle	memory of idle connections of one peer
#	round	this one is complete
#	end	nothing is missing
#
# Environment: BENCH_BIN (directory of sockbench and smcsetup), SDP_TOP, SDP_MODULE, ROUNDS,
# FIRST (round to begin with), SIZES, PEERS, HOLD (connections per step of the memory measurement), CONNECTS, LIMIT
# (guest seconds for one run or answer), and the larger buffers of the peer sdpbig:
# SDP_RECV_BUFFER_SIZE, SDP_RECV_BUFFERS, SDP_SEND_BUFFERS.
set -euo pipefail

SIZES=${SIZES:-64 256 1024 4096 16384 65536 1048576}
PEERS=${PEERS:-tcp tcpmtu rs smc verbs sdp sdpbig sdploop unix tcplo}
ROUNDS=${ROUNDS:-3} FIRST=${FIRST:-1} HOLD=${HOLD:-100} CONNECTS=${CONNECTS:-200} LIMIT=${LIMIT:-60}
BENCH_BIN=${BENCH_BIN:-$SDP_TOP/build/bench/bin}
SDP_MODULE=${SDP_MODULE:-}
WORK=/dev/shm/bench
MAX_FAILURES=8
MAX_CPU=60

. "$SDP_TOP/selftests/vm/netlab.sh"
. "$SDP_TOP/tools/bench/peers.sh"

say() { printf '%s\n' "$*"; }
record() { printf '%s\n' "$*" >>"$SDP_RUN/results"; }
note() { say "note: $*"; record "note $*"; }

# What netlab.sh does not need but the peers do.
packets() { cat "/sys/class/net/$1/statistics/tx_packets"; }
roce_packets() { cat /sys/class/infiniband/rxa/ports/1/hw_counters/sent_pkts; }

# limited OUTPUT COMMAND...: run COMMAND, its output into a file. Status 124 when it had to be
# killed; a command that cannot even be killed is left behind, not waited for. One that
# spins is held to MAX_CPU seconds, as its time does not leap (see run.sh).
limited() {
	local output=$1 status=0
	shift
	{ (
		ulimit -t $MAX_CPU
		exec timeout -k 2 "$LIMIT" "$@" >"$output" 2>&1 </dev/null
	); } 2>/dev/null || status=$?
	[ $status != 137 ] || status=124
	return $status
}

# patiently COMMAND...: until it succeeds, ever less often, for LIMIT seconds at most.
patiently() {
	local end=$((SECONDS + LIMIT)) tries=0
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep $((tries / 20)).05
		tries=$((tries + 1))
	done
}

# why STATUS OUTPUT: one word that says why a run failed.
why() {
	local last
	last=$(tail -n 1 "$2" | sed 's/^sockbench: //' | tr -s ' \t=' '-' | cut -c 1-80)
	[ "$1" != 124 ] || last=timeout
	echo "${last:-status-$1}"
}

# word NAME LINE: the value of NAME=value in LINE.
word() { sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" <<<"$2"; }

# Servers. One per peer; a failed run gets its peer a new one, on a new port.

declare -A server_pid=() server_port=() failures=() dead=()
next_port=7001

server_log() { echo "$WORK/server-$1"; }

start_server() {
	local peer=$1
	: >"$(server_log "$peer")"
	server_port[$peer]=$((next_port++))
	# shellcheck disable=SC2046 # a command and its words
	$(peer_command "$peer") server $(peer_target "$peer" "${server_port[$peer]}") \
		>"$(server_log "$peer")" 2>&1 </dev/null &
	server_pid[$peer]=$!
	disown	# or the shell tells of its end
	patiently server_settled "$peer" && server_ready "$peer" && return
	stop_server "$peer"
	return 1
}

server_ready() { grep -q ready "$(server_log "$1")"; }
server_settled() { server_ready "$1" || ! kill -0 "${server_pid[$1]}" 2>/dev/null; }

stop_server() {
	[ -n "${server_pid[$1]:-}" ] || return 0
	kill -9 "${server_pid[$1]}" 2>/dev/null || true
	unset "server_pid[$1]"
}

# need_server PEER: succeeds when its server runs, now started if need be.
need_server() {
	[ -z "${dead[$1]:-}" ] || return 1
	[ -z "${server_pid[$1]:-}" ] || return 0
	start_server "$1" && return
	dead[$1]="no server: $(why 1 "$(server_log "$1")")"
	note "$(peer_name "$1"): ${dead[$1]}; not measured any further"
	return 1
}

# failed PEER: after a failed run. Each may cost its whole time limit, so there is an end.
failed() {
	stop_server "$1"
	failures[$1]=$((${failures[$1]:-0} + 1))
	[ "${failures[$1]}" -ge $MAX_FAILURES ] || return 0
	dead[$1]="failed $MAX_FAILURES times"
	note "$(peer_name "$1") ${dead[$1]}; not measured any further"
}

# Runs

# messages PEER TEST SIZE: how many of them make a run.
messages() {
	local count=10
	if [ "$2" = stream ]; then
		if [ "$3" -le 256 ]; then count=20000
		elif [ "$3" -le 4096 ]; then count=$((2500 + 7500 * 1024 / $3))
		else count=$((2 + 40 * 1048576 / $3)); fi
		# Raw verbs do not gather small messages: all the same to them, but for the time.
		[ "$1" != verbs ] || count=$((count > 2000 ? 2000 : count))
	elif [ "$3" -le 4096 ]; then count=500
	elif [ "$3" -le 65536 ]; then count=$((100 + 200 * 16384 / $3)); fi
	echo $count
}

# rdma_used PEER TEST SIZE COUNT PACKETS: whether so many RoCE packets can have carried the
# data. A peer that falls back to TCP without a word is found out here.
rdma_used() {
	local least=$4
	peer_is_rdma "$1" || return 0
	[ "$2" = pingpong ] || least=$(($3 * $4 / 5000))
	[ "$5" -ge $((least / 2)) ]
}

# measure PEER TEST SIZE ROUND: one run and its line of results.
measure() {
	local peer=$1 test=$2 size=$3 round=$4 count output=$WORK/output status=0
	local sent back roce line value
	count=$(messages "$peer" "$test" "$size")
	peer_prepare "$peer"
	sent=$(packets va) back=$(packets vb) roce=$(roce_packets)
	run_"$(peer_tool "$peer")" "$peer" "$test" "$size" "$count" "$output" || status=$?
	roce=$(($(roce_packets) - roce)) sent=$(($(packets va) - sent)) back=$(($(packets vb) - back))
	peer_restore "$peer"
	line="run peer=$peer test=$test size=$size round=$round count=$count"
	if [ $status != 0 ]; then
		value=fail=$(why $status "$output")
		failed "$peer"
	elif ! rdma_used "$peer" "$test" "$size" "$count" "$roce"; then
		value=fail=not-over-rdma
	else
		value=$(result_"$(peer_tool "$peer")" "$test" "$size" "$output")
	fi
	record "$line $value packets=$sent back=$back roce=$roce"
	last=${value%% *}
}

run_sockbench() {
	local peer=$1 test=$2 size=$3 count=$4 output=$5
	need_server "$peer" || { echo "no server" >"$output"; return 1; }
	# shellcheck disable=SC2046
	limited "$output" $(peer_command "$peer") "$test" \
		$(peer_target "$peer" "${server_port[$peer]}") "$size" "$count"
}

result_sockbench() {
	local line
	line=$(tail -n 1 "$3")
	if [ "$1" = stream ]; then
		echo "value=$(word mbps "$line")"
	else
		echo "value=$(word p50_us "$line") p99=$(word p99_us "$line")"
	fi
}

connection_rate() {
	local peer=$1 round=$2 output=$WORK/output status=0 value
	[[ $peer =~ ^(verbs|tcpmtu)$ ]] && return
	peer_prepare "$peer"
	need_server "$peer" || { peer_restore "$peer"; return 0; }
	# shellcheck disable=SC2046
	limited "$output" $(peer_command "$peer") connect \
		$(peer_target "$peer" "${server_port[$peer]}") "$CONNECTS" || status=$?
	peer_restore "$peer"
	value=value=$(word per_second "$(tail -n 1 "$output")")
	[ $status = 0 ] || { value=fail=$(why $status "$output"); failed "$peer"; }
	record "run peer=$peer test=connect size=0 round=$round count=$CONNECTS $value"
	last=${value%% *}
}

# Every byte checked once, before anything is timed.
check_data() {
	local peer=$1 test output=$WORK/output status
	[ "$(peer_tool "$peer")" = sockbench ] || return 0
	peer_prepare "$peer"
	for test in stream pingpong; do
		need_server "$peer" || break
		status=0
		# shellcheck disable=SC2046
		limited "$output" $(peer_command "$peer" -c) $test \
			$(peer_target "$peer" "${server_port[$peer]}") 1499 500 || status=$?
		[ $status = 0 ] && continue
		note "$(peer_name "$peer"): data check by $test failed: $(why $status "$output")"
		failed "$peer"
	done
	peer_restore "$peer"
}

# SMC-R in use, seen on a live connection. Without that, it is not measured at all.
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

# Connections held open by one client process that is told how many more to open.

open_held() {
	# shellcheck disable=SC2046
	coproc HELD { exec $(peer_command "$1") hold $(peer_target "$1" "${server_port[$1]}") 2>&1; }
	# shellcheck disable=SC2153 # set by coproc
	held_pid=$HELD_PID held_in=${HELD[1]} held_out=${HELD[0]}
	disown "$held_pid"
}

more_held() {
	held_reply=
	echo "$1" >&"$held_in" && read -r -t "$LIMIT" held_reply <&"$held_out" &&
		[ "${held_reply%% *}" = hold ]
}

close_held() {
	exec {held_in}>&-
	patiently held_ended || { kill -9 "$held_pid"; return 1; }
}

held_ended() { ! kill -0 "$held_pid" 2>/dev/null; }

# Bytes in use by anything but the page cache, and of these the slab's. Pages kept on the
# per-CPU lists are free too, though not in MemFree: megabytes, and different every time.
memory_used() {
	awk -v page="$(getconf PAGESIZE)" '
		FILENAME == "/proc/meminfo" { kb[$1] = $2 }
		FILENAME == "/proc/zoneinfo" && $1 == "count:" { spare += $2 }
		END {
			used = kb["MemTotal:"] - kb["MemFree:"] - kb["Cached:"] - kb["Buffers:"]
			printf "%d %d\n", 1024 * used - spare * page, 1024 * kb["Slab:"]
		}' /proc/meminfo /proc/zoneinfo
}

# What earlier connections left behind is given back first: sockets are freed some time after
# their close, and the slab keeps empty pages. Wait until less than 100 KB go in 0.2 s.
settle() {
	local before=0 now=0 end=$((SECONDS + 20)) cache
	while [ $SECONDS -lt $end ]; do
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 >"$cache"
		done
		before=$now
		read -r now _ <<<"$(memory_used)"
		[ $((before - now)) -ge 100000 ] || [ "$before" = 0 ] || return 0
		sleep 0.2
	done
}

# All receives posted by AF_SDP sockets; 0 without it. Columns are counted from the end, and
# found by the header.
posted() {
	[ -e /proc/net/sdp ] || { echo 0; return; }
	awk 'NR == 1 {
			for (i = 1; i <= NF; i++)
				if ($i == "posted")
					from_end = NF - i
			next
		}
		{ sum += $(NF - from_end) }
		END { print sum + 0 }' /proc/net/sdp
}

# hold_plan PEER: connections opened before memory is looked at, which pay what is paid only
# once, and in each of two steps. The rsockets of librdmacm 44 hang with a sixth.
hold_plan() { [ "$1" = rs ] && echo 1 1 || echo 10 "$HOLD"; }

idle_memory() {
	local peer=$1 warm hold step total0 slab0 posted0 total slab now
	# An idle connection of TCP is the same on every path.
	[[ $peer =~ ^(verbs|tcpmtu|tcplo)$ ]] && return
	settle
	peer_prepare "$peer"
	need_server "$peer" || { peer_restore "$peer"; return 0; }
	open_held "$peer"
	read -r warm hold <<<"$(hold_plan "$peer")"
	more_held "$warm" || { held_failed "$peer"; return 0; }
	for step in 1 2; do
		read -r total0 slab0 <<<"$(memory_used)"
		posted0=$(posted)
		more_held "$hold" || { held_failed "$peer"; return 0; }
		read -r total slab <<<"$(memory_used)"
		now=$(posted)
		record "idle peer=$peer step=$step connections=$hold bytes=$(((total - total0) / hold))" \
			"slab=$(((slab - slab0) / hold)) posted=$(((now - posted0) / hold))"
	done
	say "  $(peer_name "$peer"): $(((total - total0) / hold)) bytes a connection, both ends"
	close_held || failed "$peer"
	peer_restore "$peer"
}

held_failed() {
	note "$(peer_name "$1"): could not hold the connections: ${held_reply:-no answer}"
	record "idle peer=$1 step=1 fail=$([ -n "$held_reply" ] && echo refused || echo timeout)"
	close_held || true
	failed "$1"
	peer_restore "$1"
}

# The whole

# Files come from the host, and while the guest waits for one, a clock that counts
# instructions leaps from timer to timer. So what runs while something is measured is in
# memory: programs, libraries, the loader, what libibverbs reads.
copy_into_memory() {
	local file loader programs=(timeout sleep env cat grep awk sed tail tr cut head modprobe ethtool
		ib_send_bw ib_send_lat "$BENCH_BIN/sockbench" "$BENCH_BIN/smcsetup")
	mkdir -p $WORK/bin $WORK/lib
	for file in "${programs[@]}" $(find /usr/lib/*/rsocket -name librspreload.so.1 2>/dev/null); do
		[ -e "$file" ] || file=$(type -P "$file") || continue
		cp -L "$file" $WORK/bin/
		ldd "$file" | awk '$2 == "=>" { print $3 }'
	done | sort -u | xargs cp -L -t $WORK/lib
	export PATH=$WORK/bin:$PATH LD_LIBRARY_PATH=$WORK/lib
	loader=$(realpath /lib64/ld-linux-x86-64.so.2)
	for file in /etc/libibverbs.d /usr/lib/*/libibverbs "$loader"; do
		[ -e "$file" ] || continue
		cp -r "$file" $WORK/
		mount --bind "$WORK/$(basename "$file")" "$file"
	done
}

set_up() {
	: >"$SDP_RUN/results"
	copy_into_memory
	lab_up || { say "the lab did not come up"; exit 1; }
	echo 0 >/sys/class/infiniband/rxa/ports/1/hw_counters/lifespan
	set_up_peers
	record "info kernel=$(uname -r) cpus=$(nproc) mtu=$(cat /sys/class/net/va/mtu) rounds=$ROUNDS" \
		"clock=${BENCH_CLOCK:-real} recv_buffer_size=$SDP_RECV_BUFFER_SIZE" \
		"recv_buffers=$SDP_RECV_BUFFERS send_buffers=$SDP_SEND_BUFFERS"
}

one_round() {
	local round=$1 size peer shown
	for size in $SIZES; do
		say "round $round of $ROUNDS, $size bytes:"
		for peer in $PEERS; do
			[ -z "${dead[$peer]:-}" ] || continue
			measure "$peer" stream "$size" "$round"
			shown=${last#*=}
			[ -z "${dead[$peer]:-}" ] || continue
			measure "$peer" pingpong "$size" "$round"
			printf '  %-26s stream %10s MB/s   ping-pong %10s us\n' "$(peer_name "$peer")" \
				"$shown" "${last#*=}"
		done
	done
	say "round $round of $ROUNDS, connections per second:"
	for peer in $PEERS; do
		last=
		[ -n "${dead[$peer]:-}" ] || connection_rate "$peer" "$round"
		[ -z "$last" ] || printf '  %-26s %10s\n' "$(peer_name "$peer")" "${last#*=}"
	done
}

each_peer() {
	local peer
	for peer in $PEERS; do
		[ -n "${dead[$peer]:-}" ] || "$@" "$peer"
	done
}

main() {
	local round line last=
	set_up
	[[ " $PEERS " != *" smc "* ]] || prove_smc
	say "memory of idle connections:"
	each_peer idle_memory
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
