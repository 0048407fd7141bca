#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# policy-guest.sh: the measurements of policy.sh, in its guest.
# Each state of the policy in each round has a server and clients of its own, TCP over lo. Leaves
# lines in $SDP_RUN/results:
#
#	info	the machine
#	run	round, state, test, value: megabytes per second (stream), microseconds
#	memory	bytes of one idle connection, both ends, by kind
#	end	the results are complete
#
# States: none (no module), off (rewrite=0 from the beginning), rules1, rules16 and rules256
# (rewrite=1 and that number of rules, the last of which says tcp), hooked (rewrite=0 again).
set -euo pipefail

ROUNDS=${ROUNDS:-5}
TESTS=${TESTS:-stream pingpong connect socket memory}
WORK=/dev/shm/bench
HOLD=200
settings=/proc/sys/net/sdp
port=7000

. "$SDP_TOP/selftests/vm/process.sh"
. "$SDP_TOP/tools/bench/idle.sh"

record() { printf '%s\n' "$*" >>"$SDP_RUN/results"; }
wanted() { [[ " $TESTS " == *" $1 "* ]]; }
# each NUMBER LINE: microseconds for one of NUMBER, from the line's seconds
each() { awk -v s="$(word seconds "$2")" -v n="$1" 'BEGIN { printf "%.4f", 1e6 * s / n }'; }
word() { sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" <<<"$2"; }

# Counted time leaps while the guest waits for a file of the host.
copy_into_memory() {
	mkdir -p $WORK
	cp "$BENCH_BIN/sockbench" "$(type -P sleep)" $WORK/
	PATH=$WORK:$PATH
	$WORK/sockbench inet socket 127.0.0.1 1 100 >/dev/null
}

# rules NUMBER: a possible policy of a cluster; only the last rule matches what is measured.
rules() {
	local i
	for ((i = 1; i < $1; i++)); do
		echo "any 10.$((i / 16)).$((i % 16 * 16)).0/24:$((5000 + i)) program daemon-$i both"
	done
	echo "any * ${2:-tcp}"
}

state_begin() {
	case $1 in
	none)	rmmod sdp ;;
	off)	insmod "$SDP_MODULE" ;;
	hooked)	echo 0 >$settings/rewrite ;;
	rules*)	rules "${1#rules}" >$WORK/policy
		cat $WORK/policy >$settings/policy
		echo 1 >$settings/rewrite ;;
	esac
}

server_ready() { grep -q ready $WORK/server; }

server_begin() {
	port=$((port + 1))
	$WORK/sockbench "${1:-inet}" server 127.0.0.1 $port >$WORK/server 2>&1 </dev/null &
	server=$!
	until server_ready; do sleep 0.01; done
}

server_end() {
	$WORK/sockbench "${1:-inet}" quit 127.0.0.1 $port
	wait $server
}

client() { $WORK/sockbench ${warm:+-w $warm} inet "$1" 127.0.0.1 $port "${@:2}"; }

measure() {
	local round=$1 state=$2 warm=
	server_begin
	warm=100
	! wanted stream || record "run round=$round state=$state test=stream" \
		"value=$(word mbps "$(client stream 65536 3000)")"
	! wanted pingpong || record "run round=$round state=$state test=pingpong" \
		"value=$(each 10000 "$(client pingpong 64 5000)")"
	warm=
	client connect 50 >/dev/null
	! wanted connect || record "run round=$round state=$state test=connect" \
		"value=$(each 1000 "$(client connect 1000)")"
	client socket 500 >/dev/null
	! wanted socket || record "run round=$round state=$state test=socket" \
		"value=$(each 10000 "$(client socket 10000)")"
	server_end
}

# idle_memory_of KIND FAMILY VERDICT: bytes per idle connection, both ends, after some first ones.
idle_memory_of() {
	local before after LIMIT=1000	# read by more_held
	cat >$settings/policy <<<"any * $3"
	server_begin "$2"
	coproc HELD { exec $WORK/sockbench "$2" hold 127.0.0.1 $port; }
	# shellcheck disable=SC2034,SC2153 # for more_held; set by coproc
	held_pid=$HELD_PID held_in=${HELD[1]} held_out=${HELD[0]}
	more_held 50
	read -r before _ <<<"$(memory_used)"
	more_held $HOLD
	read -r after _ <<<"$(memory_used)"
	record "memory kind=$1 bytes=$(((after - before) / HOLD))"
	exec {held_in}>&-
	wait "$held_pid" 2>/dev/null || true
	server_end "$2"
}

main() {
	local round state
	copy_into_memory
	: >"$SDP_RUN/results"
	# shellcheck disable=SC2046 # a list
	modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ')
	insmod "$SDP_MODULE"
	record "info kernel=$(uname -r) cpus=$(nproc) rounds=$ROUNDS"
	for ((round = 1; round <= ROUNDS; round++)); do
		for state in none off rules1 rules16 rules256 hooked; do
			state_begin $state
			measure $round $state
		done
		echo "round $round of $ROUNDS is done"
	done
	if wanted memory; then
		echo 1 >$settings/rewrite
		idle_memory_of TCP inet tcp
		idle_memory_of family-27 sdp tcp
		idle_memory_of rewritten inet sdp
		echo 0 >$settings/rewrite
	fi
	record end
}

main
