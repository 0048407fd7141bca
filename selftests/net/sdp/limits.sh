#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Limits: as many connections one after the other as go, for a while, without growth; and readers
# that take a byte a second, or nothing, with what is written to them bounded and everybody else
# served. The rate is printed; it is not judged. timeout: 300 s; short form: none
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libpeers.sh"
. "$(dirname "$0")/../../vm/netlab.sh"
. "$(dirname "$0")/../../vm/checks.sh"

[ -n "${SDP_A:-}" ] && lab_intact || tap_skip_all "no RDMA devices rxa and rxb; run it by selftests/vm/run.sh"
# In full: a minute, as a server that is never left alone.
seconds=60 readers=20
! short_form && [ $slow = 1 ] || { seconds=10 readers=6; left_out "connections for 10 s, 6 slow readers"; }
# What the system itself keeps for later. The CM remembers each connection for some seconds.
growth=$((24 * 1024))

restore() { echo 60000 >/proc/sys/net/sdp/fin_timeout_ms; }
cleanup restore

# victim NAME ARGUMENT...: as peer() does
victim() {
	local name=$1
	shift
	: >"$peers/$name"
	"$programs/victim" "$@" >"$peers/$name" 2>&1 &
	peer_pid[$name]=$!
	disown $!
}

memory_left() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }
memory_back() { [ "$(memory_left)" -gt "$1" ]; }
pages() { awk '$1 == "SDP" { print $4 }' /proc/net/protocols; }

# in_a_row NAME ADDRESS
in_a_row() {
	local before objects
	next_port
	victim greeter greet "$2" $port
	says greeter $patience up >/dev/null
	# What the first ones make for good.
	"$programs/victim" hurry "$2" $port 4 2 >/dev/null
	check "$1: nothing is left of the first ones" wait_for $patience only_listeners
	before=$(memory_left) objects=$(connection_counts)
	check "$1: connections for $seconds s, each comes about" \
		"$programs/victim" hurry "$2" $port 4 $seconds
	sed 's/^/# '"$1"': /' "$tap_output"
	check "$1: no socket is left of them" wait_for $patience only_listeners
	check "$1: no RDMA object is left" wait_for $patience connection_counts_are "$objects"
	check "$1: no more memory is in use than before" \
		wait_for $((2 * patience)) memory_back $((before - growth))
	echo "# $1: $(((before - $(memory_left)))) KiB more in use"
	peers_end greeter
}

only_listeners() { awk -v listen=$LISTEN 'NR > 1 && $4 != listen { bad = 1 } END { exit bad }' /proc/net/sdp; }

# One writer for each, as the peer program has it.
slow_readers() {
	local i before bound
	next_port
	before=$(pages)
	for ((i = 0; i < 2 * readers; i++)); do
		peer "writer$i" bind "$SDP_B" $((port + i)) listen 5 say up accept fill hold
	done
	for ((i = 0; i < 2 * readers; i++)); do
		says "writer$i" $patience up >/dev/null
		victim "reader$i" slow "$SDP_B" $((port + i)) 1 $((i % 2))
	done
	for ((i = 0; i < 2 * readers; i++)); do
		check "reader $i of $((i % 2)) bytes a second: its writer has to wait" \
			says "writer$i" $((2 * patience)) filled
	done
	port=$((port + 2 * readers))
	# 4 MiB of send buffer and 6 MiB of receive buffer are the most that either may grow to.
	bound=$((2 * readers * 10 * 256))
	echo "# $(($(pages) - before)) pages for $((2 * readers)) connections, at most $bound"
	check "what is written to them is bounded" [ $(($(pages) - before)) -le $bound ]
	check "others are served" transfer "$SDP_B"
	check "others are served, by loopback" transfer 127.0.0.1
	for ((i = 0; i < 2 * readers; i++)); do
		[ ! -s "$peers/reader$i" ] || ! grep -q wrong "$peers/reader$i" ||
			tap_not_ok "reader $i" "$(<"$peers/reader$i")"
	done
	# Closed with data on its way: the orphans end by their time limit, or as the readers go.
	echo 1000 >/proc/sys/net/sdp/fin_timeout_ms
	peers_end
	check "no socket is left of them" wait_for $patience no_sockets
	# Each processor may keep 256 pages of the account to itself, or be as many short of them.
	check "and no memory" wait_for $patience eval '[ $(pages) -le $((before + 512 * $(nproc))) ]'
}

check "data before" transfer "$SDP_B"
in_a_row loopback 127.0.0.1
in_a_row RDMA "$SDP_B"
slow_readers
tap_done
