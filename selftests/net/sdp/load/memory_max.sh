#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A cgroup at its memory.max: calls wait or report a lack of memory, and no byte is lost.
# Processes in the cgroup send, receive and connect. The errors are ENOBUFS, ENOMEM or ENFILE. When
# there is memory again they continue. What a socket must have is charged beyond the limit, as with
# TCP, so the kernel may kill a process that needs a page then. Processes outside are served all
# the time, and at the end nothing is charged.
. "$(dirname "$0")/../lib/lib.sh" streams

group=/sys/fs/cgroup/sdp-memory-max
echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
mkdir -p $group 2>/dev/null
[ -e $group/memory.max ] || tap_skip_all "this kernel has no memory cgroups"
# A CPU charges up to 64 pages in advance, and may have them left.
room=$((64 * 4096 * $(nproc)))
amount=$((2000000 / slow)) pairs=3

restore() {
	peers_end
	echo $$ >/sys/fs/cgroup/cgroup.procs
	wait_for 10 rmdir $group
}
cleanup restore

# inside COMMAND...: runs the command with new processes in the cgroup
inside() {
	echo $$ >$group/cgroup.procs
	"$@"
	echo $$ >/sys/fs/cgroup/cgroup.procs
}

current() { cat $group/memory.current; }
events() { awk -v name="$1" '$1 == name { print $2 }' $group/memory.events; }
charged() { awk '$1 == "sock" { print $2 }' $group/memory.stat; }
not_charged() { [ "$(charged)" = 0 ]; }
pages() { awk '$1 == "SDP" { print $4 }' /proc/net/protocols; }

outside_begin() {
	next_port
	peer outside-sink bind "$1" $port listen 5 say up accept drain
	says outside-sink $patience up >/dev/null
	outside_port=$(printf ':%04X$' $port)
	peer outside-source connect "$1" $port flow-until "$peers/stop" shutdown drain
	says outside-source $patience connected
}

outside_messages() {
	awk -v port="$outside_port" '$2 ~ port && $4 == "01" { print $NF }' /proc/net/sdp
}

outside_moves() {
	local before
	before=$(outside_messages)
	wait_for $patience eval "[ \$(outside_messages) -gt $((before + 2)) ]"
}

# pair_messages: messages that the pairs have sent and received; constant while no program reads
pair_messages() {
	awk -v outside="$outside_port" \
		'$4 == "01" && $2 !~ outside && $3 !~ outside { print $2, $(NF - 1), $NF }' /proc/net/sdp
}

pairs_stand() {
	local before
	before=$(pair_messages)
	pause 0.5
	[ "$(pair_messages)" = "$before" ]
}

outside_end() {
	local sent
	touch "$peers/stop"
	says outside-source $patience "sent [0-9]+" || return
	sent=$(sed -n 's/^sent //p' "$peers/outside-source")
	says outside-sink $patience "end after $sent bytes" && peers_end outside-source outside-sink
	rm -f "$peers/stop"
}

# pairs_begin ADDRESS PIECE: connections inside the cgroup, whose buffers have grown. Both ends are
# stopped before they send more.
pairs_begin() {
	local i address=$1 piece=$2
	for ((i = 0; i < pairs; i++)); do
		next_port
		inside peer reader$i pieces "$piece" bind "$address" $port listen 2 say up accept \
			recv $amount send 1000 recv $amount send 1000 hold
		says reader$i $patience up >/dev/null
		inside peer writer$i pieces "$piece" connect "$address" $port send $amount recv 1000 \
			say grown wait "$peers/go" send $amount recv 1000 say done hold
		says writer$i $patience grown >/dev/null || tap_not_ok "a connection" "$(show_peers)"
		kill -STOP "${peer_pid[reader$i]}" "${peer_pid[writer$i]}"
	done
}

# go_on NAME: continues these processes of all pairs
go_on() {
	local i
	for ((i = 0; i < pairs; i++)); do
		kill -CONT "${peer_pid[$1$i]}"
	done
}

scarce() { echo $(($(current) + room)) >$group/memory.max; }
plenty() { echo max >$group/memory.max; }

failed='^(send|recv|connect|accept|open|bind|listen|wrong: [a-z]*): '

# was_killed NAME: the kernel has killed it for lack of memory: it has ended without reporting a
# failed call.
was_killed() { [ -n "${peer_pid[$1]:-}" ] && ended "$1" && ! grep -qE "$failed" "$peers/$1"; }

# Every failed call reports a lack of memory; no call waits forever. A killed process' connection
# may also end.
none_failed_otherwise() {
	local i over='none'
	for ((i = 0; i < pairs; i++)); do
		! was_killed reader$i || over+="|writer$i"
		! was_killed writer$i || over+="|reader$i"
	done
	! grep -HE "$failed" "$peers"/* | grep -vE ': E(NOBUFS|NOMEM|NFILE)$' |
		grep -vE "/($over):(send|recv): (end|ECONNRESET|EPIPE)"
}

# All pairs are done, except those of which a process was killed.
all_done() {
	local i
	for ((i = 0; i < pairs; i++)); do
		ended reader$i || ended writer$i || says writer$i $patience done || return
	done
}

# moving WHAT ADDRESS PIECE: memory is scarce while no program reads; then all data is read before
# the limit is lifted
moving() {
	local most
	pairs_begin "$2" "$3"
	outside_begin "$2" >/dev/null
	scarce
	most=$(cat $group/memory.max)
	touch "$peers/go"
	go_on writer
	check "$1: who has memory goes on" outside_moves
	check "$1: the writers wait" wait_for $patience pairs_stand
	echo "# $1: $(current) of $most bytes, $(charged) of them by sockets; limit met $(events max) times"
	check "$1: not much more is charged than there may be" \
		[ "$(current)" -le $((most + pairs * 1048576)) ]
	go_on reader
	check "$1: who has memory goes on, beside readers without" outside_moves
	if ! wait_for $((patience / 3)) all_done >/dev/null; then
		echo "# $1: not all can go on with so little"
		plenty
	fi
	check "$1: all bytes arrive" all_done
	check "$1: no call has failed" none_failed_otherwise
	echo "# $1: $(events oom_kill) processes killed so far"
	plenty
	check "$1: the others have lost nothing" outside_end
	peers_end
	rm -f "$peers/go"
	check "$1: nothing is charged in the end" wait_for $patience not_charged
}

# Sockets and connections need memory that is not available; some processes may be killed.
connecting() {
	outside_begin "$2" >/dev/null
	next_port
	victim greeter greet "$2" $port
	says greeter $patience up >/dev/null
	inside victim hurry hurry "$2" $port 4 1000
	scarce
	check "$1: who has memory goes on beside connects without" outside_moves
	check "$1: ... for a while" outside_moves
	plenty
	check "$1: calls have no other errors" none_failed_otherwise
	echo "# $1: limit met $(events max) times, $(events oom_kill) processes killed so far"
	peers_end hurry greeter
	check "$1: the others have lost nothing" outside_end
	check "$1: nothing is charged in the end" wait_for $patience not_charged
	check "$1: a connection works" inside transfer "$2"
}

for address in "${addresses[@]}"; do
	where=rc
	[ $address != 127.0.0.1 ] || where=loop
	check "$where: data before" transfer "$address"
	objects=$(counts_at_rest) before=$(pages)
	moving "$where, messages" "$address" 5000
	moving "$where, large writes" "$address" 262144
	connecting "$where" "$address"
	check "$where: no socket is left" wait_for $patience no_sockets
	check "$where: no RDMA object is left" wait_for $patience connection_counts_are "$objects"
	check "$where: no page is left" wait_for $patience eval '[ $(pages) -le $((before + 512 * $(nproc))) ]'
done
tap_done
