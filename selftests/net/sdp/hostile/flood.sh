#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A flood of connection requests that are never completed: resources stay bounded.
# No more requests are held than the backlog allows, memory and queue pairs stay bounded, an honest
# connection streams on, and an honest client gets in, at the latest when the flood is over. With a
# backlog that has room for all, they are held until their time is over or the listener closes.
# Also the errors when a device has no free queue pairs.
# Some processes wait while all floods run.
export PEER_SECONDS=2000
. "$(dirname "$0")/../lib/lib.sh" hostile

attempts=$((1000 / slow))
# Number of requests that are held at once.
held=$((1900 / slow))
# A backlog of 4 admits 5.
room=5
# On each CPU one more may be visible whose place is already free.
seen=$((room + $(nproc)))
# A dropped request frees its queue pair a little later than its place: allow the same number again
# for those.
passing=$((2 * room))
# Memory of the attacker's own CM ids, which are on this machine too, and noise, in KiB.
memory_limit=$((48 * 1024))
# Memory of a held request in KiB: two CM ids, a socket, a queue pair and its receives.
each_limit=96

restore() {
	peers_end
	rmmod sdp_hostile
	echo "$somaxconn" >/proc/sys/net/core/somaxconn
}
somaxconn=$(</proc/sys/net/core/somaxconn)
connect_timeout=/proc/sys/net/sdp/connect_timeout_ms
keeps $connect_timeout
cleanup restore

# look: sets $now to the number of requests without their last message at the newest listener, all
# sockets, pages of their memory, KiB available on the machine, queue pairs
look() {
	# shellcheck disable=SC2207 # numbers
	now=($(awk -v state=$SYN_RECV -v port="$(printf ':%04X$' $port_here)" '
		FILENAME ~ "/sdp$" { sockets += FNR > 1; requests += $4 == state && $2 ~ port }
		FILENAME ~ "protocols$" && $1 == "SDP" { pages = $4 }
		$1 == "MemAvailable:" { left = $2 }
		END { print requests + 0, sockets + 0, pages + 0, left }' \
		/proc/net/sdp /proc/net/protocols /proc/meminfo) $(queue_pairs))
}

# sample: keeps the maximum of each number, and the minimum of the available memory.
sample() {
	local now i
	look
	for i in 0 1 2 4; do
		[ "${now[i]}" -le "${most[i]}" ] || most[i]=${now[i]}
	done
	[ "${now[3]}" -ge "${most[3]}" ] || most[3]=${now[3]}
	samples=$((samples + 1))
}

# Requests of an attacker that leaves may all be gone when a sample is taken.
requests_come() { sample && [ "${most[0]}" != 0 -o "$(sdpstat PassiveOpens)" -gt "$taken" ]; }
sockets_at_most() { look && [ "${now[1]}" -le "$1" ]; }
queue_pairs_at_most() { [ "$(queue_pairs)" -le "$1" ]; }

sample_while() {
	until process_gone "$1"; do
		sample
		pause 0.05
	done
}

# An honest client that repeats its request for longer than the flood lasts (TCP_SYNCNT).
honest_client() {
	peer late option 6 7 7 connect $SDP_B $port_here send 1000 recv 1000 shutdown drain
}

# attack CASE: half of the requests, and the others when the places are free again.
attack() {
	commit $1 $((attempts / 2)) && wait_for $patience queue_is 0 && commit $1 $((attempts / 2))
}

flood() {
	local name=$1 before most now full taken begin verdict writer samples=0 least=1
	[ $name != flood-leaving ] || least=0
	listener_start accept recv 1000 send 1000 shutdown drain hold
	look
	before=("${now[@]}") most=("${now[@]}") full=$(sdpstat BacklogFull) begin=$(ms)
	taken=$(sdpstat PassiveOpens)
	# A request without its last message is given up after this time, so that the flood gets many
	# places.
	echo 500 >$connect_timeout
	attack $name &
	writer=$!
	check "$name: requests come" wait_for $patience requests_come
	honest_client
	sample_while $writer
	check "$name: all $attempts are sent" wait $writer
	begin=$(($(ms) - begin))
	verdict=$(cat $run)
	echo "# $name, $begin ms; the second half: $verdict"
	echo "# the most in $samples looks: ${most[0]} requests, $((most[1] - before[1])) sockets," \
		"$((most[4] - before[4])) queue pairs, $((most[2] - before[2])) pages," \
		"$((before[3] - most[3])) KiB; sent away: $(($(sdpstat BacklogFull) - full))"
	check "$name: the honest connection streams" streaming
	check "$name: never more requests than places" [ ${most[0]} -le $seen -a ${most[0]} -ge $least ]
	# The honest client has two sockets and two queue pairs, the attacker one queue pair.
	check "$name: nor more sockets" [ $((most[1] - before[1])) -le $((passing + 2)) ]
	check "$name: nor more queue pairs" [ $((most[4] - before[4])) -le $((passing + 3)) ]
	check "$name: the sockets' memory is bounded" [ $((most[2] - before[2])) -le 512 ]
	check "$name: that of the machine is, too" [ $((before[3] - most[3])) -le $memory_limit ]
	# An attacker that leaves may be gone before the answer; one place was the honest client's.
	check "$name: the places were used more than once" \
		[ $(($(sdpstat PassiveOpens) - taken)) -gt $((room + 1)) ]
	check "$name: most are sent away" [ $(($(sdpstat BacklogFull) - full)) -gt $((attempts / 2)) ]
	check "$name: an honest client gets in" says late $((2 * patience)) "received 1000"
	check "$name: and is served" says late $patience "end after 1000 bytes"
	# The attacker keeps what it has, so the requests are given up by our side.
	check "$name: all places are free again" wait_for $((2 * patience)) queue_is 0
	put_back $connect_timeout
	peers_end server late
	check "$name: no socket is left but the honest ones" wait_for $patience sockets_at_most \
		$((before[1] - 1))
	echo end >$run
	check "$name: no queue pair is left" wait_for $patience queue_pairs_at_most "${before[4]}"
}

all_held() { look && [ "${now[0]}" -ge $held ]; }

# none_held SOCKETS QUEUE-PAIRS: their sockets and queue pairs are gone
none_held() { look && [ "${now[1]}" -le "$1" ] && [ "${now[4]}" -le "$2" ]; }

# hold_all NAME: fills a listener that has room for all. Sets $before to the numbers before that,
# and $sent to the time of the last answer.
hold_all() {
	# shellcheck disable=SC2034 # listener_start's
	local name=$1 backlog=2000 begin
	listener_start accept recv 1000 send 1000 shutdown drain hold
	look
	before=("${now[@]}") begin=$(ms)
	check "$name: $held requests are sent" commit flood-held $held
	sent=$(ms)
	check "$name: all of them are held at once" all_held
	echo "# $name: $(<$run), $((sent - begin)) ms; held at once: ${now[0]}, with" \
		"$((now[1] - before[1])) sockets, $((now[4] - before[4])) queue pairs," \
		"$((now[2] - before[2])) pages of the sockets' memory," \
		"$((before[3] - now[3])) KiB of the machine's: $(((before[3] - now[3]) / held)) KiB each"
	# The attacker has one queue pair, and its CM ids are on this machine, too.
	check "$name: no more queue pairs than requests" [ $((now[4] - before[4])) -le $((held + 1)) ]
	check "$name: the memory of each is bounded" \
		[ $(((before[3] - now[3]) / held)) -le $each_limit ]
	check "$name: the honest connection streams" streaming
	peer late connect $SDP_B $port_here send 1000 recv 1000 shutdown drain
	check "$name: an honest client gets in beside them" \
		says late $patience "end after 1000 bytes"
	check "$name: all of them are still held" all_held
	peers_end late
}

# left NAME SINCE: prints how long it took, and the numbers now. The attacker still has one queue
# pair.
left() {
	echo "# $1: free $(($(ms) - $2)) ms after that; $((now[1] - before[1])) sockets more than" \
		"before, $((now[4] - before[4])) queue pairs, $((before[3] - now[3])) KiB"
}

held_until_close() {
	local now before sent
	echo 600000 >$connect_timeout
	hold_all held-until-close
	sent=$(ms)
	peers_end server
	check "held-until-close: closing the listener frees all" wait_for $((2 * patience)) none_held \
		$((before[1] - 1)) $((before[4] + 1))
	left held-until-close "$sent"
	echo end >$run
}

# The server still has the honest client's socket.
held_for_a_time() {
	local now before sent limit=$((20000 * slow))
	echo $limit >$connect_timeout
	hold_all held-for-a-time
	check "held-for-a-time: $limit ms after that all are free" \
		wait_for $((limit / 1000 + patience)) none_held $((before[1] + 1)) $((before[4] + 2))
	left held-for-a-time "$sent"
	check "held-for-a-time: the honest connection streams" streaming
	check "held-for-a-time: the queue is empty" queue_is 0
	peers_end server
	check "held-for-a-time: nothing is left" wait_for $patience none_held $((before[1] - 1)) \
		$((before[4] + 1))
	echo end >$run
}

held_flood() {
	[ "$somaxconn" -ge 2000 ] || echo 2000 >/proc/sys/net/core/somaxconn
	held_until_close
	left_out "no requests that are held until their time is over"
	short_form || held_for_a_time
	put_back $connect_timeout
}

# client_told ERRNO WHY: a client on a device without queue pairs
client_told() {
	echo "va $2" >$regs
	peer refused connect $SDP_B $port_here
	check "no queue pair for a client ($2): $1" says refused $patience "connect: $1"
	echo none >$regs
	peers_end refused
}

# client_falls WHY: a client that a policy allows to use TCP falls back to TCP. There is no TCP
# listener, so the connect fails.
client_falls() {
	local settings=/proc/sys/net/sdp before
	before=$(sdpstat FellResources)
	echo "connect $SDP_B:19999 program bash both" >$settings/policy
	echo 1 >$settings/rewrite
	echo "va $1" >$regs
	check_not "no queue pair for a client by a policy ($1): TCP is asked" \
		bash -c "exec 3<>/dev/tcp/$SDP_B/19999"
	echo none >$regs
	echo 0 >$settings/rewrite
	echo >$settings/policy
	check "no queue pair for a client by a policy ($1): counted" \
		[ "$(sdpstat FellResources)" = $((before + 1)) ]
	check "no queue pair for a client by a policy ($1): the reason" \
		fell_for "bash connect $SDP_B:19999 no memory or queue pair"
}

fell_for() { tail -n 1 /proc/net/sdp_fallbacks | grep -q " $1\$"; }

no_queue_pairs() {
	local regs=/sys/kernel/debug/sdp_hostile/regs before
	listener_start hold
	client_told ENOBUFS table
	client_told ENOMEM memory
	if short_form; then
		left_out "no fall-back for want of queue pairs"
	else
		client_falls table
		client_falls memory
	fi
	before=$(sdpstat NoResources)
	echo vb table >$regs
	# It gives up after the time that TCP takes for one retransmission of its SYN.
	peer patient option 6 7 1 connect $SDP_B $port_here
	check "no queue pair for a listener: its clients ask again, in vain" \
		says patient $patience "connect: ETIMEDOUT"
	check "no queue pair for a listener: counted" [ "$(sdpstat NoResources)" -gt "$before" ]
	check "no queue pair for a listener: its queue is empty" queue_is 0
	peer patient option 6 7 7 connect $SDP_B $port_here ended
	pause 0.3
	echo none >$regs
	check "with queue pairs again, who goes on asking gets in" says patient $patience connected
	check "the honest connection streams beside that" streaming
	peers_end server patient
}

hostile_begin
honest_start
flood flood-silent
flood flood-leaving
held_flood
no_queue_pairs
honest_end
hostile_end
tap_done
