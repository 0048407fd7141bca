#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Network changes under connections: after each of them connects work again.
# Neighbour entries are lost, addresses are removed and come back, a link was down, the MTU
# shrinks, devices are deleted and created again under load. devices.sh tests what happens to the
# connections meanwhile.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

need_lab

settings=/proc/sys/net/sdp
keeps $settings/fin_timeout_ms
restore() {
	peers_end
	lab_down
	lab_up
}
cleanup restore

# lab_as_before: restores what lab_up has set: neighbours, and routes that vanish with an address or
# a link. The neighbours come last: a packet for an address that a soft-RoCE device does not have yet
# may crash the machine (address_removed.sh).
lab_as_before() {
	local v a b
	for v in -4 -6; do
		a=$SDP_A b=$SDP_B
		[ $v = -4 ] || a=$SDP_A6 b=$SDP_B6
		ip $v route replace "$b" dev va src "$a" table 101
		ip $v route replace "$a" dev vb src "$b" table 102
	done
	lab_wait "addresses to be usable" lab_no_tentative ""
	lab_wait "rxa to have its GIDs" lab_device_ready rxa 0 1
	lab_wait "rxb to have its GIDs" lab_device_ready rxb 0 2
	lab_neighbour "" va 0 2 "$(lab_mac "" vb)"
	lab_neighbour "" vb 0 1 "$(lab_mac "" va)"
}

# show_network: what is needed to examine a failure.
show_network() {
	ip -br address
	ip rule
	ip route show table 101
	ip route show table 102
	ip -6 route show table 101
	ip neighbour
	rdma link
}

shown() { "$@" || { show_network; return 1; }; }

# stream ADDRESS: starts a stream from A to B.
stream() {
	pair "$1" accept drain -- flow
	says client $patience flowing
}

# Without a neighbour entry a connect waits for ARP; the reply comes at once, sometimes before the
# server listens.
neighbours() {
	local round start longest=0 took
	ip neighbour delete $SDP_B dev va
	for round in {1..12}; do
		ip neighbour flush to $SDP_B dev va nud all 2>/dev/null
		start=$(ms)
		transfer $SDP_B >/dev/null || { tap_not_ok "neighbours: connect $round" "$(show_network)"; break; }
		took=$(($(ms) - start))
		[ $took -le $longest ] || longest=$took
	done
	check "neighbours: all connects in time (the longest took $longest ms)" \
		test $longest -lt $((10000 * slow))
	lab_as_before
}

addresses() {
	stream $SDP_B
	ip address delete $SDP_B/24 dev vb
	pause 0.5
	ip address add $SDP_B/24 dev vb
	lab_as_before
	peers_end
	check "addresses: of the accepting end, gone and back: nothing is left" wait_for $((2 * patience)) no_sockets
	check "addresses: it is connected to" shown transfer $SDP_B
	stream $SDP_B6
	# Nothing that is sent to the address arrives until it is back.
	ip -6 neighbour replace $SDP_A6 lladdr 02:00:00:00:00:01 dev vb nud permanent
	pause 0.2
	ip address delete $SDP_A6/64 dev va
	pause 0.5
	ip address add $SDP_A6/64 dev va nodad
	lab_as_before
	peers_end
	check "addresses: of the connecting end, gone and back: nothing is left" wait_for $((2 * patience)) no_sockets
	check "addresses: it connects" shown transfer $SDP_B6
}

# link_down_up DEVICE HOST: an interface that goes down loses its IPv6 addresses, routes and
# neighbours. No connection may exist: soft-RoCE's management queue pair breaks when a message
# cannot be sent for lack of a route, and then the device makes no connection until it is created
# again (devices.sh).
link_down_up() {
	local dev=$1 host=$2
	wait_for $((2 * patience)) no_sockets
	ip link set "$dev" down
	pause 0.5
	ip link set "$dev" up
	ip address add fd09::"$host"/64 dev "$dev" nodad
	lab_as_before
	check "$dev down and up: nothing is left" wait_for $((2 * patience)) no_sockets
	check "$dev down and up: connects by IPv4" shown transfer $SDP_B
	check "$dev down and up: connects by IPv6" shown transfer $SDP_B6
}

packet_sizes() {
	lab_mtu 1500
	check "packets of 1500 bytes: data" transfer $SDP_B
	stream $SDP_B
	lab_mtu "$LAB_MTU"
	check "longer ones again, with a stream: data" transfer $SDP_B6
	peers_end
	check "packet sizes: nothing is left" wait_for $((2 * patience)) no_sockets
}

remade() {
	local round device number netdev
	for round in 1 2 3 4; do
		device=rxa netdev=va number=1
		[ $((round % 2)) = 0 ] || { device=rxb netdev=vb number=2; }
		stream $SDP_B
		check "$device made anew under a stream ($round): it goes" \
			timeout $((20 * slow)) rdma link delete $device
		lab_device "" $device $netdev 0 $number
		check "$device made anew under a stream ($round): the next connect works" \
			shown transfer $SDP_B
		peers_end
	done
	check "devices made anew: nothing is left" wait_for $((2 * patience)) no_sockets
}

# When two ends no longer reach each other, neither learns that the other one has closed.
echo 5000 >$settings/fin_timeout_ms
check "data before" transfer $SDP_B
neighbours
addresses
link_down_up va 1
link_down_up vb 2
packet_sizes
remade
check "afterwards: IPv4" shown transfer $SDP_B
check "afterwards: IPv6" shown transfer $SDP_B6
tap_done
