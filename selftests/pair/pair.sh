#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Connections to a machine that stands still, dies, restarts, or resumes from a snapshot.
# If such an event ends a connection, both ends are told; every byte that arrives was sent; and the
# next connection works. Started by run.sh, which has the other machine.
PEER_SECONDS=900
. "$SDP_TOP/selftests/net/sdp/lib/lib.sh" peers netlab checks

other=10.9.2.2
asked=0

# ask WHAT: a request to the host about the other machine (host.sh)
ask() {
	local number status text
	asked=$((asked + 1))
	echo "$asked $1" >"$SDP_RUN/ask.part"
	mv "$SDP_RUN/ask.part" "$SDP_RUN/ask"
	wait_for 90 answered || return
	read -r number status text <"$SDP_RUN/answer"
	[ -z "$text" ] || echo "$text"
	return "$status"
}

answered() {
	local number status text
	read -r number status text <"$SDP_RUN/answer" && [ "$number" = "$asked" ]
}

# there COMMAND: prints the output of a command on the other machine; by TCP, which is not tested
# here
there() { timeout 20 bash -c "exec 3<>/dev/tcp/$other/9 && printf '%s\nexit\n' \"\$1\" >&3 && cat <&3" - "$1"; }

other_ready() { there "grep ^sdp /proc/modules" | grep -q .; }

# start_other: waits until its module answers, or start has failed
start_other() { ask start && wait_for 120 other_ready; }

# peer_there NAME OPERATION...: as peer(), at the other end
peer_there() {
	local name=$1
	shift
	there "rm -f /tmp/$name; peer $* </dev/null >/tmp/$name 2>&1 & echo" >/dev/null
}

printed_there() { there "grep -xE '$2' /tmp/$1" | grep -q .; }

says_there() {
	wait_for "$2" printed_there "$1" "$3" && return
	there "grep . /tmp/*"
	return 1
}

# listens_there NAME OPERATION...: a listener on the next port; the operations are the accepted
# connection's
listens_there() {
	local name=$1
	shift
	next_port
	peer_there "$name" bind $other $port listen 5 say up accept "$@" && says_there "$name" $patience up
}

# exchange [OPERATION...]: data both ways over a new connection; both ends begin with the
# operations
exchange() {
	local bytes=3000000 status=0
	listens_there to "$@" recv $bytes send $bytes drain || return
	peer from connect $other $port "$@" send $bytes recv $bytes shutdown drain
	says from $((2 * patience)) "end after $bytes bytes" &&
		says_there to $patience "end after $bytes bytes" || status=1
	peers_end from
	return $status
}

by_rdma() {
	local before=$(($(sdpstat RdmaReadBytesByPeer) + $(sdpstat RdmaWriteBytes)))
	exchange pieces 500000 && [ $(($(sdpstat RdmaReadBytesByPeer) + $(sdpstat RdmaWriteBytes))) -gt $before ]
}

# connect_all: streams in both directions, a conversation with pauses, and a connection with
# keepalive.
connect_all() {
	listens_there upward_end drain || return
	peer upward connect $other $port flow
	listens_there downward_end flow || return
	peer downward connect $other $port drain
	listens_there quiet_end recv 2000 send 1000 drain || return
	peer quiet connect $other $port send 1000 wait "$peers/go" send 1000 recv 1000 shutdown drain
	listens_there watched_end ended || return
	peer watched open option 6 4 1 option 6 5 1 option 6 6 3 option 1 9 1 connect $other $port ended
	says upward $patience flowing && says_there downward_end $patience flowing &&
		says watched $patience connected && says quiet $patience "connected"
}

# ends_alike NAME: either both ends of the connection have ended, or neither
ends_alike() {
	if ended "$1"; then
		printed "$1" "$RESET" && says_there "$1_end" $((2 * patience)) "$RESET"
	else
		! printed_there "$1_end" "$RESET" || over "$1" $patience
	fi
}

# stands_still HOW SECONDS BACK: HOW stops the machine, BACK continues it
stands_still() {
	local name
	check "$1 for $2 s: connections" connect_all
	listens_there late_end recv 1000 drain
	check "$1: the machine stands still" ask "$1"
	peer late connect $other $port send 1000 shutdown drain
	pause "$2"
	check "$1: it goes on" ask "$3"
	check "$1: its shell answers" wait_for 60 other_ready
	check "$1: a connect in that time connects or fails" over late $((2 * patience))
	for name in upward downward watched; do
		check "$1: $name goes on or ends at both ends" wait_for $((2 * patience)) ends_alike $name
		ended $name && echo "# $name has ended" || echo "# $name goes on"
	done
	touch "$peers/go"
	check "$1: a connection at rest goes on" says quiet $((2 * patience)) "end after 1000 bytes"
	peers_end
	there "killall peer" >/dev/null
	check "$1: afterwards, data" exchange
}

# set_retries COUNT: for both ends' adapters and later connections. With 7, the default, soft-RoCE
# retries without limit, and only TCP's limit of 925 s ends a connection to a machine that is gone.
set_retries() {
	echo "$1" >/proc/sys/net/sdp/retry_count && there "echo $1 >/proc/sys/net/sdp/retry_count"
}

# A sender whose data was all acknowledged may wait for credit; then it probes once a minute.
dies() {
	set_retries 3
	check "dies: connections" connect_all
	check "dies: the machine is gone" ask kill
	local start=$SECONDS
	check "dies: who sends hears of it" reset_of upward $((4 * patience))
	echo "# after $((SECONDS - start)) s"
	check "dies: who watches hears of it" reset_of watched $((2 * patience))
	next_port
	peer late connect $other $port
	check "dies: nobody to connect to" reset_or_unreachable late
	check "started anew" start_other
	touch "$peers/go"
	check "started anew: the connection at rest of before ends" reset_of quiet $((3 * patience))
	peers_end
	check "started anew: data" exchange
	echo 7 >/proc/sys/net/sdp/retry_count
}

reset_or_unreachable() { over "$1" $((3 * patience)) && says "$1" 1 "connect: E(TIMEDOUT|HOSTUNREACH)"; }

goes_back() {
	local name
	check "snapshot: connections" connect_all
	next_port
	peer_there listener bind $other $port listen 5 say up accept recv 1000 drain
	check "snapshot: a listener" says_there listener $patience up
	check "snapshot: taken" ask save
	check "snapshot: the machine goes on" wait_for 60 other_ready
	check "snapshot: data after it" exchange
	next_port
	check "snapshot: the machine is as it was then" ask restore
	check "snapshot: its shell answers" wait_for 120 other_ready
	# By the generation ID alone, as nothing is sent on it.
	check "snapshot: the other end of the one at rest" says_there quiet_end $patience "recv: ECONNRESET"
	for name in upward downward watched; do
		check "snapshot: $name ends" reset_of $name $((3 * patience))
		check "snapshot: ... at the other end" says_there ${name}_end $((2 * patience)) "$RESET"
	done
	touch "$peers/go"
	check "snapshot: the one at rest ends" reset_of quiet $((3 * patience))
	peer again connect $other $((port - 2)) send 1000 shutdown drain
	check "snapshot: the listener of then" says_there listener $patience "end after 1000 bytes"
	peers_end
	check "snapshot: data" exchange
}

# other_complaints: in the logs of all starts.
other_complaints() {
	! grep -h -v "ommand line:" "$SDP_RUN"/other-*.log | grep -E -A 12 "$(IFS='|'; echo "${SPLATS[*]}")"
}

other_unloads() { there "killall peer; sleep 1; rmmod sdp && echo gone" | grep gone; }

modprobe virtio_net
cleanup eval 'echo 7 >/proc/sys/net/sdp/retry_count'
cleanup eval '[ ! -e /sys/class/infiniband/rxp ] || rdma link delete rxp'
lab_end "" eth0 2 1 && lab_neighbour "" eth0 2 2 52:54:00:09:02:02 &&
	lab_device "" rxp eth0 2 1 || tap_skip_all "no device on the cable; run it by make check-pair"
check "the other machine" start_other
check "data between them" exchange
check "large writes go by RDMA" by_rdma
stands_still pause 30 resume
stands_still freeze 10 thaw
dies
goes_back
check "nothing is left here" wait_for $((3 * patience)) no_sockets
check "the other machine unloads the module" wait_for 120 other_unloads
check "the other kernel has nothing to complain of" other_complaints
tap_done
