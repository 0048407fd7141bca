#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Keepalive notices a peer whose machine is gone, within the time that was set.
# A peer that is only silent is left alone.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

need_lab

# Options by number, for the program peer: LEVEL NAME
keepalive=(option 1 9) keepidle=(option 6 4) keepintvl=(option 6 5) keepcnt=(option 6 6)
syncnt=(option 6 7) linger2=(option 6 8) user_timeout=(option 6 18)
FIN_WAIT2=05

# cut: no packet from A reaches B any more, neither messages nor acknowledgements.
cut() { ip neighbour replace $SDP_B lladdr 02:00:00:00:00:01 dev va nud permanent; }
mend() { lab_neighbour "" va 0 2 "$(lab_mac "" vb)"; }

keeps /proc/sys/net/sdp/fin_timeout_ms
restore() {
	peers_end
	mend
}
cleanup restore
# The peer of an end that gave up may not learn of that, and has closed its socket. It must not
# delay the test for a minute.
echo 5000 >/proc/sys/net/sdp/fin_timeout_ms

established() { [ "$(connections st $ESTABLISHED $port | wc -l)" -ge 2 ]; }

# pair_with OPTIONS-OF-LISTENER -- OPERATIONS-OF-SERVER -- OPERATIONS-OF-CLIENT
# One of the client's operations is to_server.
pair_with() {
	local listener=() server=() client=()
	while [ "$1" != -- ]; do listener+=("$1"); shift; done
	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	next_port
	peer server "${listener[@]}" bind $SDP_B $port listen 5 say up accept "${server[@]}"
	says server $patience up >/dev/null
	while [ $# -gt 0 ]; do
		if [ "$1" = to_server ]; then client+=(connect $SDP_B $port); else client+=("$1"); fi
		shift
	done
	peer client "${client[@]}"
	wait_for $patience established >/dev/null || tap_not_ok "a connection" "$(show_peers)"
}

# within WHAT FROM TO COMMAND...: COMMAND succeeds at least FROM and at most TO ms after $began
within() {
	local what=$1 from=$2 to=$(($3 * slow)) took
	shift 3
	check "$what" "$@"
	took=$(($(ms) - began))
	check "$what: not before its time ($took ms)" test $took -ge "$from"
	check "$what: soon after it ($took ms)" test $took -le $to
}

nothing_left() {
	mend
	peers_end
	check "$1: nothing is left" wait_for $patience no_sockets
}

# 1 s idle, then one probe per second, three of them: 4 s in total.
peer_gone() {
	local before
	before=$(sdpstat SilentPeers)
	pair_with -- hold -- "${keepidle[@]}" 1 "${keepintvl[@]}" 1 "${keepcnt[@]}" 3 "${keepalive[@]}" 1 \
		to_server ended
	began=$(ms)
	cut
	within "the connecting end's keepalive" 2500 8000 says client $patience "ended: ETIMEDOUT"
	check "it is counted" test "$(sdpstat SilentPeers)" = $((before + 1))
	nothing_left "keepalive"
}

accepted_peer_gone() {
	pair_with "${keepidle[@]}" 1 "${keepintvl[@]}" 1 "${keepcnt[@]}" 3 "${keepalive[@]}" 1 -- ended -- \
		to_server hold
	began=$(ms)
	cut
	within "the accepted end's keepalive" 2500 8000 says server $patience "ended: ETIMEDOUT"
	nothing_left "keepalive, accepted end"
}

# Probes need nothing from the peer's software, and use no receive of it.
peer_stopped() {
	local probes messages
	pair_with -- hold -- "${keepidle[@]}" 1 "${keepintvl[@]}" 1 "${keepcnt[@]}" 1 "${keepalive[@]}" 1 \
		to_server ended
	kill -STOP "${peer_pid[server]}"
	probes=$(sdpstat KeepaliveProbes) messages=$(sdpstat MsgsReceived)
	check "a stopped peer is probed" wait_for $patience eval \
		"[ \$(sdpstat KeepaliveProbes) -ge $((probes + 4)) ]"
	check "its connection stands" established
	check "no message has been received for it" test "$(sdpstat MsgsReceived)" = "$messages"
	kill -CONT "${peer_pid[server]}"
	nothing_left "a stopped peer"
}

# A machine that returns in time keeps its connections.
peer_back() {
	pair_with -- recv 1000 hold -- "${keepidle[@]}" 1 "${keepintvl[@]}" 1 "${keepcnt[@]}" 60 \
		"${keepalive[@]}" 1 to_server wait "$peers/go" send 1000 hold
	cut
	pause 4
	check "away for 4 s: the connection stands" established
	mend
	touch "$peers/go"
	check "back again: data arrives" says server $patience "received 1000"
	rm -f "$peers/go"
	nothing_left "back again"
}

# Without the option no probe is sent.
not_asked() {
	local probes
	probes=$(sdpstat KeepaliveProbes)
	pair_with -- hold -- "${keepidle[@]}" 1 "${keepintvl[@]}" 1 "${keepcnt[@]}" 1 to_server \
		ended
	cut
	pause 4
	check "without SO_KEEPALIVE: no probe is sent" test "$(sdpstat KeepaliveProbes)" = "$probes"
	check "without SO_KEEPALIVE: the connection stands" established
	nothing_left "without SO_KEEPALIVE"
}

user_timeouts() {
	pair_with -- hold -- "${user_timeout[@]}" 2000 to_server wait "$peers/go" flow
	cut
	began=$(ms)
	touch "$peers/go"
	within "TCP_USER_TIMEOUT, sending" 1800 6000 says client $patience "flow: ETIMEDOUT"
	rm -f "$peers/go"
	nothing_left "TCP_USER_TIMEOUT, sending"

	# TCP_USER_TIMEOUT replaces the probe count.
	pair_with -- hold -- "${user_timeout[@]}" 3000 "${keepidle[@]}" 1 "${keepintvl[@]}" 1 \
		"${keepcnt[@]}" 100 "${keepalive[@]}" 1 to_server ended
	began=$(ms)
	cut
	# The last sign of life may be as old as a probe's interval.
	within "TCP_USER_TIMEOUT with keepalive" 1500 8000 says client $patience "ended: ETIMEDOUT"
	nothing_left "TCP_USER_TIMEOUT with keepalive"
}

idle_user_timeout() {
	# Nothing is in flight, so nothing can be overdue.
	pair_with -- hold -- "${user_timeout[@]}" 1000 to_server ended
	cut
	pause 3
	check "TCP_USER_TIMEOUT, idle: the connection stands" established
	nothing_left "TCP_USER_TIMEOUT, idle"
}

connects() {
	cut
	next_port
	began=$(ms)
	peer client "${syncnt[@]}" 1 connect $SDP_B $port
	within "TCP_SYNCNT 1" 2800 7000 says client $patience "connect: ETIMEDOUT"
	peers_end
	next_port
	began=$(ms)
	peer client "${user_timeout[@]}" 1500 connect $SDP_B $port
	within "TCP_USER_TIMEOUT, connecting" 1300 5000 says client $patience "connect: ETIMEDOUT"
	nothing_left "connecting"
}

half_closed() { [ "$(connections st $FIN_WAIT2 $port | wc -l)" = 1 ]; }
whole() { ! half_closed; }

orphans() {
	pair_with -- hold -- "${linger2[@]}" $((6 * slow)) to_server wait "$peers/go" close say closed hold
	began=$(ms)
	touch "$peers/go"
	says client $patience closed >/dev/null
	check "TCP_LINGER2: a closed end waits for its peer's" wait_for $patience half_closed
	within "TCP_LINGER2: only for a while" $((5000 * slow)) 12000 wait_for $patience whole
	nothing_left "TCP_LINGER2"
}

left_out "keepalive of the accepted end, peers that come back, and what does not end without it"
peer_gone
short_form || accepted_peer_gone
peer_stopped
short_form || peer_back
short_form || not_asked
user_timeouts
short_form || idle_user_timeout
connects
orphans
check "afterwards: a connection works" transfer $SDP_B
tap_done
