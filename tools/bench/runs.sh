# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# sockbench's servers, and single runs with their line of results. Sourced by guest.sh.

# Servers. One per peer; after a failed run a peer gets a new one, on a new port.

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
	disown	# so that the shell does not report its end
	patiently server_settled "$peer" && server_ready "$peer" && return
	stop_server "$peer"
	return 1
}

server_ready() { grep -q ready "$(server_log "$1")"; }
server_settled() { server_ready "$1" || process_gone "${server_pid[$1]}"; }

stop_server() {
	[ -n "${server_pid[$1]:-}" ] || return 0
	kill -9 "${server_pid[$1]}" 2>/dev/null || true
	unset "server_pid[$1]"
}

# need_server PEER: succeeds when its server runs; starts it if need be.
need_server() {
	[ -z "${dead[$1]:-}" ] || return 1
	[ -z "${server_pid[$1]:-}" ] || return 0
	start_server "$1" && return
	dead[$1]="no server: $(why 1 "$(server_log "$1")")"
	note "$(peer_name "$1"): ${dead[$1]}; not measured any further"
	return 1
}

# failed PEER: after a failed run. Each may take its whole time limit, so their number is limited.
failed() {
	stop_server "$1"
	failures[$1]=$((${failures[$1]:-0} + 1))
	[ "${failures[$1]}" -ge $MAX_FAILURES ] || return 0
	dead[$1]="failed $MAX_FAILURES times"
	note "$(peer_name "$1") ${dead[$1]}; not measured any further"
}

# Runs

# messages PEER TEST SIZE: number of messages of a run.
messages() {
	local count=10
	if [ "$2" = stream ]; then
		if [ "$3" -le 256 ]; then count=20000
		elif [ "$3" -le 4096 ]; then count=$((2500 + 7500 * 1024 / $3))
		else count=$((2 + 40 * 1048576 / $3)); fi
		# Raw verbs do not coalesce small messages: their number only changes the duration.
		[ "$1" != verbs ] || count=$((count > 2000 ? 2000 : count))
	elif [ "$3" -le 4096 ]; then count=500
	elif [ "$3" -le 65536 ]; then count=$((100 + 200 * 16384 / $3)); fi
	echo $count
}

# one_run PEER LEAST WORDS KIND ARGUMENT...: run_KIND ARGUMENT... leaves its output in $OUTPUT,
# result_KIND ARGUMENT... prints the figures in it; they become a line of results, with WORDS. Both
# ends of an RDMA peer must send at least LEAST RoCE packets, which detects silent fallbacks to
# TCP. `last` keeps the figures.
one_run() {
	local peer=$1 least=$2 words=$3 kind=$4 status=0 sent back roce value
	shift 4
	# soft-iWARP's packets are as long as TCP makes them.
	[ -z "${SDP_SIW:-}" ] || least=1
	sent=$(packets va) back=$(packets vb) roce=$(roce_packets)
	: >"$OUTPUT"
	run_"$kind" "$@" || status=$?
	roce=$(($(roce_packets) - roce)) sent=$(($(packets va) - sent)) back=$(($(packets vb) - back))
	if [ $status != 0 ]; then
		value=fail=$(why $status "$OUTPUT")
	elif peer_is_rdma "$peer" && [ $roce -lt "$least" ]; then
		value=fail=not-over-rdma status=1
	else
		value=$(result_"$kind" "$@")
	fi
	record "run peer=$peer $words $value packets=$sent back=$back roce=$roce"
	last=${value%% *}
	last=${last#*=}
	return $status
}

# run_sockbench PEER TEST ARGUMENT...: with $warm messages before, if that is set; with the reader
# $reader, the writer $writer, and columns of $width bytes, if they are set.
run_sockbench() {
	local peer=$1 test=$2
	shift 2
	need_server "$peer" || { echo "no server" >"$OUTPUT"; return 1; }
	# shellcheck disable=SC2046 # a command and its words
	limited $(peer_command "$peer" -u ${warm:+-w "$warm"} ${reader:+-r "$reader"} \
		${writer:+-W "$writer"} ${width:+-S "$width"}) "$test" $(peer_target "$peer" "${server_port[$peer]}") "$@"
}

result_sockbench() {
	local line busy
	line=$(tail -n 1 "$OUTPUT")
	busy=busy_us=$(word busy_us "$line")
	case $2 in
	stream)		echo "value=$(word mbps "$line") $busy" ;;
	pingpong)	echo "value=$(word p50_us "$line") p99=$(word p99_us "$line") $busy" ;;
	*)		echo "value=$(word per_second "$line") $busy" ;;
	esac
}

# measure PEER TEST SIZE ROUND: a stream or ping-pong.
measure() {
	local peer=$1 test=$2 size=$3 count least
	count=$(messages "$peer" "$test" "$size")
	least=$((count / 2))
	[ "$test" = pingpong ] || least=$((size * count / 10000))
	peer_prepare "$peer"
	one_run "$peer" $least "test=$test size=$size round=$4 count=$count" \
		"$(peer_tool "$peer")" "$peer" "$test" "$size" "$count" || failed "$peer"
	peer_restore "$peer"
}

connection_rate() {
	local peer=$1 round=$2
	[[ $peer =~ ^(verbs|tcpmtu)$ ]] && return
	peer_prepare "$peer"
	one_run "$peer" "$CONNECTS" "test=connect size=0 round=$round count=$CONNECTS" \
		sockbench "$peer" connect "$CONNECTS" || failed "$peer"
	peer_restore "$peer"
}

# echo_rate PEER CONNECTIONS ROUND: one run of echo
echo_rate() {
	local peer=$1 count=$ECHOES
	[ "$(peer_tool "$peer")" = sockbench ] || return 0
	peer_prepare "$peer"
	one_run "$peer" $((count / 2)) \
		"test=echo connections=$2 message=$ECHO_SIZE round=$3 count=$count" \
		sockbench "$peer" echo "$ECHO_SIZE" "$count" "$2" || failed "$peer"
	peer_restore "$peer"
}

# Checks every byte once, before anything is timed.
check_data() {
	local peer=$1 arguments status
	[ "$(peer_tool "$peer")" = sockbench ] || return 0
	peer_prepare "$peer"
	for arguments in "stream 1499 500" "pingpong 1499 500" "echo 1499 500 4"; do
		wanted "${arguments%% *}" || continue
		need_server "$peer" || break
		status=0
		# shellcheck disable=SC2046,SC2086
		limited $(peer_command "$peer" -c) ${arguments%% *} \
			$(peer_target "$peer" "${server_port[$peer]}") ${arguments#* } || status=$?
		[ $status = 0 ] && continue
		note "$(peer_name "$peer"): data check by ${arguments%% *} failed: $(why $status "$OUTPUT")"
		failed "$peer"
	done
	peer_restore "$peer"
}
