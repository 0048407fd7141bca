#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Random cases of a peer that breaks the wire protocol (modules/gen.c), in either role.
# The cases have fields at their bounds and beyond, truncated, overlong, replayed and skipped
# messages, ignored credits, RDMA outside of what was advertised, impossible rings and wrong
# messages in rings, any Hello and HelloAck, and a peer that leaves at any step. Every violation
# ends its connection, no forbidden memory is accessed, calls fail only with errors of a
# connection, other connections are not disturbed, and nothing is left. SDP_SEED and SDP_CASES in
# the environment repeat or extend a run: make check-hostile.
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PEER_SECONDS=100000
. "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh" hostile

generate=/sys/kernel/debug/sdp_hostile/generate
usual=600
! short_form || usual=200
cases=${SDP_CASES:-$((usual / slow))}
seed=${SDP_SEED:-$((RANDOM * 32768 + RANDOM))}
first=${SDP_FIRST:-0}
progress=${SDP_RUN:-/tmp}/progress
# Number of concurrent writers, and of cases that each runs in a row. A case mostly waits.
writers=24 batch=25
[ $cases -ge $((writers * batch)) ] || batch=$(((cases + writers - 1) / writers))
writer_pids=()

settings=/proc/sys/net/sdp
keeps $settings/{fin_timeout_ms,connect_timeout_ms,idle_buffers}
restore() {
	kill "${writer_pids[@]}"
	peers_end
	echo stop >$generate
	rmmod sdp_hostile
}
cleanup restore
# A message beyond the grant would be judged by that and not by its fault.
echo 12 >$settings/idle_buffers

# honest_messages: number of messages that the honest server has received. The file is read at
# once, as sockets come and go meanwhile.
honest_messages() {
	local lines line words
	mapfile -t lines </proc/net/sdp
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		[[ ${words[1]} != *:$honest_hex || ${words[3]} != 01 ]] || { echo "${words[-1]}"; return; }
	done
	echo 0
}

honest_moves() {
	local before
	before=$(honest_messages)
	wait_for $patience eval "[ \$(honest_messages) -gt $((before + 2)) ]"
}

sum() {
	local words
	read -ra words <$generate
	local i
	for ((i = 0; i < ${#words[@]}; i += 2)); do
		[ "${words[i]}" != "$1" ] || echo "${words[i + 1]}"
	done
}

connect_batches() {
	local i=$1
	for (( ; i < cases; i += writers * batch)); do
		echo "connect $seed $((first + i)) $((cases - i < batch ? cases - i : batch)) $victims" \
			>$generate || return
	done
}

# watch CONDITION: until it is true, prints a line every ten seconds and checks the honest
# connection. If no case ends within two minutes, something hangs.
watch() {
	local next=$SECONDS now=0 last=0 moved=$SECONDS
	until eval "$1"; do
		pause 0.2
		[ $SECONDS -ge $next ] || continue
		next=$((SECONDS + 10))
		now=$(sum cases)
		echo "# after $SECONDS s: $now cases; honest messages $(honest_messages);" \
			"sockets $(connections st | wc -l), queue pairs $(queue_pairs)," \
			"$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo) MB left" |
			tee -a "$progress"
		honest_moves || { echo "# the honest connection stands still"; return 1; }
		[ "$now" = "$last" ] || { last=$now moved=$SECONDS; }
		[ $((SECONDS - moved)) -lt $((120 * slow)) ] || { echo "# no case ends"; return 1; }
	done
}

all_gone() {
	local pid
	for pid in "${writer_pids[@]}"; do
		process_gone "$pid" || return 1
	done
}

counted_violations() { awk '/^Bad/ { n += $2 } END { print n }' /proc/net/sdpstat; }

# The honest connection has no rings.
kinds() { grep -E '^(Bad|RingWrites |RingReads |RingsMade |RingsRefused )' /proc/net/sdpstat; }

# report VICTIM: prints the sums by kind of case, the results of calls, the violations, and the
# ring counters
report() {
	local took=$((SECONDS - begin))
	sed 's/^/# /' $generate
	echo "# $(sum cases) cases in $took s; violations counted: $(($(counted_violations) - violations_before))"
	kill -USR1 "${peer_pid[$1]}"
	says "$1" $patience "connections.*" && grep -h '^errno ' "$peers/$1" | sed 's/^/# /'
	join <(sort <<<"$kinds_before") <(kinds | sort) |
		awk '$3 > $2 { print "#", $1 ~ /^Bad/ ? "violation" : "rings", $1, $3 - $2 }'
}

# report_begin: resets the sums and remembers the counters.
report_begin() {
	echo reset >$generate
	begin=$SECONDS violations_before=$(counted_violations) kinds_before=$(kinds)
}

nothing_wrong() {
	[ "$(sum wrong)" = 0 ] && [ "$(sum malformed)" = 0 ] && return
	cat $generate
	return 1
}

victims_content() { ! grep -H wrong "$peers"/victim*; }

as_client() {
	local i
	next_port
	victims=$((port + 1)) port=$((port + 10))
	victim victim-server serve $SDP_B $victims
	says victim-server $patience up
	report_begin
	writer_pids=()
	for ((i = 0; i < writers; i++)); do
		connect_batches $((i * batch)) &
		writer_pids+=($!)
	done
	check "$cases cases as a client: the honest connection streams all the while" watch all_gone
	report victim-server
	check "all of them have run" [ "$(sum cases)" = "$cases" ]
	check "who had to end the connection has; no memory was reached; no wrong answer" nothing_wrong
	check "many had to" [ "$(sum ended)" -gt $((cases / 8)) ]
	check "each of these was a violation, or an error of the queue pair" \
		[ $(($(counted_violations) - violations_before)) -gt $((cases / 16)) ]
	check "those of which nothing was heard are over, too" unheard_are_over
	check "calls have no other errors, and no memory beside a read is written to" victims_content
	echo stop >$generate
	peers_end victim-server
	check "nothing is left of them" wait_for $((2 * patience)) only_honest
}

accepted_enough() { [ "$(sum cases)" -ge "$acceptances" ]; }

as_server() {
	acceptances=$((cases / 4))
	next_port
	report_begin
	echo "accept $seed $first $acceptances $port" >$generate
	victim victim-client call $SDP_A $port $writers
	says victim-client $patience up
	check "$acceptances cases as a server: the honest connection streams all the while" \
		watch accepted_enough
	report victim-client
	check "who had to end the connection has; no memory was reached; no wrong answer" nothing_wrong
	check "many had to" [ "$(sum ended)" -gt $((acceptances / 8)) ]
	check "those of which nothing was heard are over, too" unheard_are_over
	check "calls have no other errors, and no memory beside a read is written to" victims_content
	peers_end victim-client
	echo stop >$generate
	check "nothing is left of them" wait_for $((2 * patience)) only_honest
}

# none_stand: only the honest connections, listeners, sockets that are connecting, and closed ones
# are left.
none_stand() {
	awk -v port="$(printf ':%04X$' $honest_port)" -v quiet="$LISTEN $SYN_SENT $CLOSED" \
		'NR > 1 && $2 !~ port && $3 !~ port && !index(quiet, $4) { print; bad = 1 }
		END { exit bad }' /proc/net/sdp
}

unheard_are_over() {
	echo let-go >$generate
	wait_for $((2 * patience)) none_stand || none_stand
}

echo "# SEED=$seed CASES=$cases"
left_out "a third of the cases, drawn from another seed each time"
: >"$progress"
echo 1000 >/proc/sys/net/sdp/fin_timeout_ms
echo 2000 >/proc/sys/net/sdp/connect_timeout_ms
hostile_begin
[ -e $generate ] || tap_skip_all "no $generate"
honest_start
honest_hex=$(printf %04X $honest_port)
as_client
as_server
honest_end
hostile_end
tap_done
