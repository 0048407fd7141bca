#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Limits: a high rate of connections, a backlog that stays full, and very slow readers.
# Connections follow each other for a minute, by loopback 60,000 of them at least, without memory
# growth. A listener's backlog is full all the time. Readers take a byte per second, or nothing,
# for minutes: the data written to them is bounded, and others are served. Rates are printed, with
# TCP's, but not judged.
# Writers live as long as their readers.
export PEER_SECONDS=1000
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

need_lab
# Enough callers that no processor is idle.
callers=16
# The full form: one minute, like a server that always has a client.
seconds=60 thousands=60 readers=20 slowly=100
! short_form && [ $slow = 1 ] || {
	seconds=10 thousands=0 readers=6 slowly=5
	left_out "connections for 10 s, 6 slow readers"
}
# KiB that the system itself may keep. The CM remembers each connection for some seconds.
growth=$((24 * 1024))

keeps /proc/sys/net/sdp/fin_timeout_ms

memory_left() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }
memory_back() { [ "$(memory_left)" -gt "$1" ]; }

# uses: what uses the machine's memory, in KiB: caches of kernel objects, and other kinds
uses() {
	awk 'NR > 2 { print $1, int($3 * $4 / 1024) }' /proc/slabinfo
	awk '/^(Cached|Shmem|SUnreclaim|PageTables|VmallocUsed|Percpu):/ { print $1, $2 }' /proc/meminfo
}

# grown: what uses over 1 MiB more than $peers/uses says
grown() {
	awk 'NR == FNR { was[$1] = $2; next }
		$2 - was[$1] > 1024 { print "# " $1, $2 - was[$1], "KiB more" }' "$peers/uses" <(uses)
}

# returns_to KIB: the memory comes back; if it does not, what has it is printed
returns_to() {
	wait_for $((2 * patience)) memory_back "$1" >/dev/null && return
	grown
	return 1
}

pages() { awk '$1 == "SDP" { print $4 }' /proc/net/protocols; }

# idle_since TIME: percentage of the processors' time since then that was idle.
processor_time() { awk '$1 == "cpu" { print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat; }

idle_since() {
	local before=($1) now
	now=($(processor_time))
	echo $((100 * (now[0] - before[0]) / (now[1] - before[1] + 1)))
}

# by_tcp NAME ADDRESS: the rate of the same program by TCP on this machine.
by_tcp() {
	next_port
	VICTIM_TCP=1 victim tcp-greeter greet "$2" $port
	says tcp-greeter $patience up >/dev/null
	VICTIM_TCP=1 "$programs/victim" hurry "$2" $port $callers $((seconds / 6)) | sed "s/^/# $1, TCP: /"
	peers_end tcp-greeter
}

# row_of NAME ADDRESS LEAST [WORD]: connections one after the other; sets $before to the memory before
# them
row_of() {
	local time
	uses >"$peers/uses"
	before=$(memory_left) time=$(processor_time)
	check "$1: connections for $seconds s, each comes about${4:+ $4}" \
		"$programs/victim" hurry "$2" $port $callers $seconds "$3"
	sed 's/^/# '"$1"': /' "$tap_output"
	echo "# $1: processors idle $(idle_since "$time") % of the time"
}

# in_a_row NAME ADDRESS LEAST: connections one after the other, LEAST of them at least
in_a_row() {
	local before objects
	next_port
	victim greeter greet "$2" $port
	says greeter $patience up >/dev/null
	# The first connections create objects that are kept.
	"$programs/victim" hurry "$2" $port $callers 2 >/dev/null
	check "$1: nothing is left of the first ones" wait_for $patience only_listeners
	objects=$(counts_at_rest)
	row_of "$@"
	check "$1: no socket is left of them" wait_for $patience only_listeners
	check "$1: no RDMA object is left" wait_for $patience connection_counts_are "$objects"
	# What connections leak grows with each row of them. The machine itself may keep something once.
	returns_to $((before - growth)) || row_of "$1" "$2" "$3" again
	check "$1: no more memory is in use than before" returns_to $((before - growth))
	echo "# $1: $(((before - $(memory_left)))) KiB more in use"
	peers_end greeter
}

# crowd ADDRESS PORT SINCE: clients connect, until more than $seconds requests have been sent away
# since BacklogFull was SINCE; a slow machine needs longer for as many.
crowd() {
	local end=$((SECONDS + 4 * patience))
	while "$programs/victim" hurry "$1" "$2" 24 $((seconds / 3)) || return; do
		[ $(($(sdpstat BacklogFull) - $3)) -le $seconds ] && [ $SECONDS -lt $end ] || return 0
	done
}

# More clients want to connect than the listener has room for: each of them gets in, in time.
at_the_backlog() {
	local before objects full
	next_port
	victim tardy tardy "$2" $port 20
	says tardy $patience up >/dev/null
	"$programs/victim" hurry "$2" $port 4 1 >/dev/null
	wait_for $patience only_listeners >/dev/null
	uses >"$peers/uses"
	objects=$(counts_at_rest) before=$(memory_left) full=$(sdpstat BacklogFull)
	check "$1: a full backlog for $((seconds / 3)) s, each gets in" crowd "$2" $port $full
	sed 's/^/# '"$1"', full backlog: /' "$tap_output"
	full=$(($(sdpstat BacklogFull) - full))
	check "$1: it was full" [ $full -gt $seconds ]
	echo "# $1: $full requests were sent away"
	check "$1: no socket is left of those" wait_for $patience only_listeners
	check "$1: no RDMA object is left of those" wait_for $patience connection_counts_are "$objects"
	check "$1: no memory either" returns_to $((before - growth))
	peers_end tardy
}

only_listeners() { awk -v listen=$LISTEN 'NR > 1 && $4 != listen { bad = 1 } END { exit bad }' /proc/net/sdp; }

# served_for SECONDS: other connections are made and transfer data all the time.
served_for() {
	local end=$((SECONDS + $1))
	while [ $SECONDS -lt $end ]; do
		transfer "$SDP_B" || return
	done
}

# One writer for each reader: a process of the program peer has one connection.
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
	# The limits of the buffers' growth are 4 MiB for sending and 6 MiB for receiving.
	bound=$((2 * readers * 10 * 256))
	echo "# $(($(pages) - before)) pages for $((2 * readers)) connections, at most $bound"
	check "what is written to them is bounded" [ $(($(pages) - before)) -le $bound ]
	check "others are served for $slowly s" served_for $slowly
	check "others are served, by loopback" transfer 127.0.0.1
	echo "# after $slowly s $(($(pages) - before)) pages"
	check "what is written to them is bounded still" [ $(($(pages) - before)) -le $bound ]
	check "all of them stand" [ "$(connections st $ESTABLISHED | wc -l)" = $((4 * readers)) ]
	for ((i = 0; i < 2 * readers; i++)); do
		[ ! -s "$peers/reader$i" ] || ! grep -q wrong "$peers/reader$i" ||
			tap_not_ok "reader $i" "$(<"$peers/reader$i")"
	done
	# Closed with data in flight: the orphans end by their time limit, or when the readers
	# exit.
	echo 1000 >/proc/sys/net/sdp/fin_timeout_ms
	peers_end
	check "no socket is left of them" wait_for $patience no_sockets
	# Each CPU may hold back up to 256 pages of the account, in either direction.
	check "and no memory" wait_for $patience eval '[ $(pages) -le $((before + 512 * $(nproc))) ]'
}

check "data before" transfer "$SDP_B"
by_tcp loopback 127.0.0.1
in_a_row loopback 127.0.0.1 $((1000 * thousands))
by_tcp "the cable" "$SDP_B"
in_a_row RDMA "$SDP_B" 0
at_the_backlog loopback 127.0.0.1
at_the_backlog RDMA "$SDP_B"
slow_readers
tap_done
