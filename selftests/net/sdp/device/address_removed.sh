#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Removal of a local address that connections use, as in a fail-over to another host.
# With net.sdp.reset_removed these connections end and their programs are told; without it they
# stay. Connections with other addresses continue.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

need_lab

# An additional address of the lab's A, which is removed.
V=10.9.0.3 V6=fd09::3 L=10.9.77.1
setting=/proc/sys/net/sdp/reset_removed
fin_setting=/proc/sys/net/sdp/fin_timeout_ms
keeps $setting $fin_setting
restore() {
	peers_end
	ip netns delete removed
	ip address delete $L/32 dev lo
	ip address delete $L/32 dev va
	ip address delete $V/24 dev va
	ip -6 address delete $V6/64 dev va
	ip neighbour delete $V dev vb
	ip -6 neighbour delete $V6 dev vb
	ip rule delete pref 20 from $SDP_B to $V lookup 102
	ip -6 rule delete pref 20 from $SDP_B6 to $V6 lookup 102
	ip route delete $V dev vb table 102
	ip -6 route delete $V6 dev vb table 102
}
cleanup restore
# When two ends no longer reach each other, neither learns that the other one has closed.
echo 5000 >$fin_setting

# reached_at MAC: packets to the addresses are for this MAC address
reached_at() {
	ip neighbour replace $V lladdr "$1" dev vb nud permanent &&
		ip -6 neighbour replace $V6 lladdr "$1" dev vb nud permanent
}

# As lab_rules and lab_neighbour do for A: packets to the address use the cable.
way_there() {
	ip rule add pref 20 from $SDP_B to $V lookup 102 &&
		ip -6 rule add pref 20 from $SDP_B6 to $V6 lookup 102 &&
		ip route add $V dev vb src $SDP_B table 102 &&
		ip -6 route add $V6 dev vb src $SDP_B6 table 102 &&
		reached_at "$(lab_mac "" va)"
}

# has_gid TEXT: the device has the address, too
has_gid() {
	local gid
	for gid in /sys/class/infiniband/rxa/ports/1/gids/{0..7}; do
		[ "$(cat "$gid" 2>/dev/null)" != "$1" ] || return 0
	done
	return 1
}

has_gid_of() {
	if [ "$1" = $V ]; then
		has_gid 0000:0000:0000:0000:0000:ffff:0a09:0003
	else
		has_gid fd09:0000:0000:0000:0000:0000:0000:0003
	fi
}

add_address() {
	if [ "$1" = $V ]; then
		ip address add $V/24 dev va
	else
		ip address add $V6/64 dev va nodad
	fi
}

# No peer knows the address yet.
add() { add_address "$1" && wait_for $patience has_gid_of "$1"; }

# A defect of soft-RoCE: when a packet is for an address that is not in the device's table, it drops
# a reference that it does not have, to whatever address stands there. A packet that has passed IP
# just before the address goes is enough. So nobody reaches the address from a moment before its
# removal until it is back. CPU 0 handles all packets (lab_in_order), so none is left when a program
# has run there.
remove() {
	reached_at 02:00:00:00:00:01 && pause 0.2 && taskset 1 true || return
	if [ "$1" = $V ]; then ip address delete $V/24 dev va; else ip address delete $V6/64 dev va; fi
}

# readd ADDRESS: puts it back while it has no device, and makes the device anew. For another defect of
# soft-RoCE: Its management queue pair may break when a message cannot be sent for lack of a route.
# The message that ends a connection of a removed address is such a message.
readd() {
	peers_end
	wait_for $((2 * patience)) no_sockets && rdma link delete rxa || return
	add_address "$1" && lab_device "" rxa va 0 1 && wait_for $patience has_gid_of "$1" &&
		reached_at "$(lab_mac "" va)"
}

# Options by number: SO_KEEPALIVE, with an idle time, an interval and a count.
alive=(option 1 9 1 option 6 4 1 option 6 5 1 option 6 6 10)

# connections_of V B: an idle one, started by V; a stream to V; an idle one of other addresses
connections_of() {
	listens far "$2" accept "${alive[@]}" ended
	peer idle bind "$1" 0 connect "$2" $port say up ended
	listens reader "$1" accept swallow
	peer writer "${alive[@]}" bind "$2" 0 connect "$1" $port say up flow
	listens other "$2" accept recv 1000 say had hold
	peer third connect "$2" $port say up wait "$peers/go" send 1000 hold
	says idle $patience up && says writer $patience flowing && says third $patience up &&
		says reader $patience accepted && says far $patience accepted &&
		says other $patience accepted
}

standing() { [ "$(connections st $ESTABLISHED | wc -l)" = "$1" ]; }

still_there() { standing 4 && ! printed idle "ended.*" && ! printed far "ended.*"; }

counts() { [ "$(sdpstat AddressRemoved)" = "$1" ]; }

# Without keepalive, which could end a connection by itself.
kept() {
	local alive=() counted
	echo 0 >$setting
	counted=$(sdpstat AddressRemoved)
	check "$1: without the setting: connections" connections_of "$1" "$2"
	# A stream would end by itself, as nothing is acknowledged.
	peers_end writer reader
	check "$1: without the setting: two are left" wait_for $patience standing 4
	check "$1: without the setting: it is removed" remove "$1"
	# Long enough for the work that would end them.
	pause 1
	check "$1: without the setting: nobody is told" still_there
	touch "$peers/go"
	check "$1: without the setting: another connection goes on" says other $patience had
	check "$1: without the setting: none is counted" counts "$counted"
	check "$1: without the setting: it is put back, with a new device" readd "$1"
}

ends() {
	local counted
	echo 1 >$setting
	check "$1: connections" connections_of "$1" "$2"
	counted=$(sdpstat AddressRemoved)
	check "$1: it is removed" remove "$1"
	check "$1: the program of an idle one is told" says idle $patience "ended: ECONNABORTED"
	check "$1: the program of a stream is told" says reader $patience "swallow: ECONNABORTED"
	check "$1: two are counted" wait_for $patience counts $((counted + 2))
	check "$1: the peer of a stream finds out" reset_of writer $((2 * patience))
	check "$1: the peer of an idle one does" reset_of far $((2 * patience))
	touch "$peers/go"
	check "$1: the connection of another address goes on" says other $patience had
	check "$1: it is put back, with a new device" readd "$1"
	check "$1: it can be connected to" transfer "$1"
}

# Both ends are local, and one of them has the address.
pair_by_loopback() {
	ip address add $L/32 dev lo
	listens near $L accept recv 1000 say had ended
	peer from bind 127.0.0.1 0 connect $L $port say up wait "$peers/go" send 1000 ended
	says from $patience up && says near $patience accepted
}

by_loopback() {
	echo 0 >$setting
	check "by loopback: without the setting: a connection" pair_by_loopback
	ip address delete $L/32 dev lo
	pause 1
	touch "$peers/go"
	check "by loopback: without the setting: it goes on" says near $patience had
	peers_end
	echo 1 >$setting
	check "by loopback: a connection" pair_by_loopback
	touch "$peers/go"
	check "by loopback: its data" says near $patience had
	ip address delete $L/32 dev lo
	check "by loopback: the program is told" says near $patience "ended: ECONNABORTED"
	check "by loopback: the peer sees a reset" says from $patience "ended: ECONNRESET"
	peers_end
	check "by loopback: a connection, of an address that two interfaces have" pair_by_loopback
	ip address add $L/32 dev va
	ip address delete $L/32 dev lo
	pause 1
	touch "$peers/go"
	check "by loopback: it goes on" says near $patience had
	ip address delete $L/32 dev va
	check "by loopback: until the other one has lost it" says near $patience "ended: ECONNABORTED"
	peers_end
}

# The same when a namespace ends and its interfaces lose their addresses.
in_namespace() {
	ip netns add removed && ip -n removed link set lo up && ip -n removed address add $L/32 dev lo &&
		ip netns exec removed sh -c "echo 1 >$setting" || return
	peer_in=removed pair_there &&
		ip -n removed address delete $L/32 dev lo &&
		says near $patience "ended: ECONNABORTED" || return
	peers_end
	ip -n removed address add $L/32 dev lo && ip netns delete removed
}

pair_there() {
	listens near $L accept ended
	peer from bind 127.0.0.1 0 connect $L $port say up ended
	says from $patience up && says near $patience accepted
}

check "a way to the addresses" way_there
for v in "$V $SDP_B" "$V6 $SDP_B6"; do
	read -r mine theirs <<<"$v"
	check "$mine: it is added" add "$mine"
	kept "$mine" "$theirs"
	ends "$mine" "$theirs"
done
by_loopback
check "in a namespace that has the setting, and ends" in_namespace
check "nothing is left" wait_for $((2 * patience)) no_sockets
check "afterwards: data" transfer $SDP_B
tap_done
