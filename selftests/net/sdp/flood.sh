#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Thousands of connection requests of which none is ever completed: no more are held than the
# backlog allows, memory and queue pairs stay bounded, an honest connection streams on beside
# them, and an honest client gets in, at the latest when the flood is over. timeout: 200 s
. "$(dirname "$0")/lib.sh"
# Some of them wait while all floods run.
export PEER_SECONDS=2000
. "$(dirname "$0")/libpeers.sh"
. "$(dirname "$0")/libhostile.sh"

attempts=$((2000 / slow))
# The listener's backlog of 4 is for 5.
room=5
# A request that is dropped takes its queue pair with it, a little later than its place.
passing=$((2 * room + 5))
# What the attacker's own CM ids take of the same machine, and noise.
memory_limit=$((48 * 1024))

restore() {
	peers_end
	rmmod sdp_hostile
	echo 30000 >/proc/sys/net/sdp/connect_timeout_ms
}
cleanup restore
# A request without its last message is given up after this; so the flood gets many places.
echo 500 >/proc/sys/net/sdp/connect_timeout_ms

# Requests without their last message at the newest listener
requests() {
	awk -v state=$SYN_RECV -v port="$(printf ':%04X$' $port_here)" \
		'$4 == state && $2 ~ port { n++ } END { print n + 0 }' /proc/net/sdp
}

sockets() { awk 'END { print NR - 1 }' /proc/net/sdp; }
pages() { awk '$1 == "SDP" { print $4 }' /proc/net/protocols; }
available() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }
queue_pairs() { rdma resource show | awk '{ for (i = 1; i < NF; i++) if ($i == "qp") n += $(i + 1) } END { print n + 0 }'; }

# Keeps the largest of each, and of the memory that is left the smallest.
sample() {
	local now
	now=$(requests) && [ "$now" -le "$most_requests" ] || most_requests=$now
	now=$(sockets) && [ "$now" -le "$most_sockets" ] || most_sockets=$now
	now=$(pages) && [ "$now" -le "$most_pages" ] || most_pages=$now
	now=$(queue_pairs) && [ "$now" -le "$most_qps" ] || most_qps=$now
	now=$(available) && [ "$now" -ge "$least_memory" ] || least_memory=$now
	samples=$((samples + 1))
}

sample_while() {
	while kill -0 "$1" 2>/dev/null; do
		sample
		pause 0.05
	done
}

# got WORD: the number after it in the flood's verdict
got() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" <<<"$verdict"; }

# An honest client that asks again for longer than the flood lasts: TCP_SYNCNT says how often.
honest_client() {
	peer late option 6 7 7 connect $SDP_B $port_here send 1000 recv 1000 shutdown drain
}

flood() {
	local name=$1 before_sockets before_pages before_qps before_memory full begin verdict writer
	listener_start accept recv 1000 send 1000 drain
	before_sockets=$(sockets) before_pages=$(pages) before_qps=$(queue_pairs)
	before_memory=$(available) full=$(sdpstat BacklogFull) begin=$(ms)
	most_requests=0 most_sockets=0 most_pages=0 most_qps=0 least_memory=$before_memory samples=0
	commit $name $attempts &
	writer=$!
	check "$name: requests come" wait_for $patience eval '[ "$(requests)" != 0 ]'
	honest_client
	sample_while $writer
	check "$name: all $attempts are sent" wait $writer
	begin=$(($(ms) - begin))
	verdict=$(cat $run)
	echo "# $name, ${begin} ms: $verdict"
	echo "# the most in $samples looks: $most_requests requests, $((most_sockets - before_sockets))" \
		"sockets, $((most_qps - before_qps)) queue pairs, $((most_pages - before_pages)) pages," \
		"$((before_memory - least_memory)) KiB; sent away: $(($(sdpstat BacklogFull) - full))"
	check "$name: the honest connection streams" streaming
	check "$name: never more requests than places" [ $most_requests -le $room -a $most_requests -gt 0 ]
	# The honest client has two sockets and two queue pairs, the attacker a queue pair.
	check "$name: nor more sockets" [ $((most_sockets - before_sockets)) -le $((passing + 2)) ]
	check "$name: nor more queue pairs" [ $((most_qps - before_qps)) -le $((passing + 3)) ]
	check "$name: the sockets' memory is bounded" [ $((most_pages - before_pages)) -le 512 ]
	check "$name: that of the machine is, too" [ $((before_memory - least_memory)) -le $memory_limit ]
	check "$name: nearly all are answered" [ "$(got lost)" -lt $((attempts / 10)) ]
	check "$name: the places were used more than once" [ "$(got replies)" -gt $((2 * room)) ]
	check "$name: an honest client gets in" says late $((2 * patience)) "received 1000"
	check "$name: and is served" says late $patience "end after 1000 bytes"
	# The attacker goes on holding what it has: that it is given up is our doing.
	check "$name: all places are free again" wait_for $((2 * patience)) queue_is 0
	peers_end server late
	check "$name: no socket is left but the honest ones" wait_for $patience eval \
		"[ \$(sockets) -lt $before_sockets ]"
	echo end >$run
	check "$name: no queue pair is left" wait_for $patience eval "[ \$(queue_pairs) -le $before_qps ]"
}

hostile_begin
honest_start
flood flood-silent
flood flood-leaving
honest_end
hostile_end
tap_done
