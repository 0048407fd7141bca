#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Requests over InfiniBand: the IPoIB interface that has their GID is decisive.
# It decides which addresses are accepted, which namespace's listener gets the request, and which
# of the listeners bound to an interface. There is no InfiniBand port here: rxb's port claims to be
# one while a request is judged, and a kernel client answers which interface it is
# (modules/ipoib.c).
. "$(dirname "$0")/../lib/lib.sh" hostile

port_of=/sys/module/sdp_ipoib/parameters
need_module ipoib
restore() {
	peers_end
	rmmod sdp_ipoib
	rmmod sdp_hostile
	ip netns delete there
	ip link delete there-a
	lab_intact || { lab_down; lab_up; }
}
cleanup restore

# came_by INTERFACE [PROCESS]: requests come by INTERFACE, in the namespace of PROCESS; "-" is no
# interface
came_by() {
	echo "$1" >$port_of/interface
	echo "${2:-0}" >$port_of/pid
	echo 0 >$port_of/asked
	echo 0 >$port_of/answered
}

were() { [ "$(<$port_of/"$1")" -ge "$2" ]; }

# listens_here NAME ADDRESS [OPTION...]: a listener on $port_here of rxb's machine
listens_here() {
	peer "$1" "${@:3}" bind "$2" $port_here listen 5 say up accept recv 1000 send 1000 drain
	says "$1" $patience up
}

# reaches NAME: that listener accepts a client, and data goes over rxb both ways
reaches() {
	peer client connect $SDP_B $port_here send 1000 recv 1000 shutdown drain
	says client $patience "end after 1000 bytes" && says "$1" $patience "end after 1000 bytes"
}

# reaches_nobody ERRNO: a client is refused, and the listener accepts nothing.
reaches_nobody() {
	peer client connect $SDP_B $port_here
	says client $patience "connect: $1" && ! printed server accepted
}

here() {
	next_port
	port_here=$port
	check "$1" listens_here server "${2:-$SDP_B}" "${@:3}"
}

# The interface has the address, and the GID is the port's own.
true_ones() {
	came_by vb
	here "a listener"
	check "by the interface with the address: it is taken" reaches server
	check "... which was asked for" were answered 1
	peers_end
	came_by vb
	here "a listener by any address" 0.0.0.0
	check "by any address: it is taken" reaches server
	peers_end
}

no_interface() {
	came_by -
	here "a listener that no interface leads to"
	check "no interface has the GID: it is refused" reaches_nobody ECONNREFUSED
	check "... and was asked for" were asked 1
	peers_end
}

# Another interface of the machine has that GID. As in IP, any address of the machine is valid, but
# the route back must use that interface.
elsewhere() {
	came_by va
	here "a listener whose requests come by another interface"
	check "by another interface, by which a route leads back: it is taken" reaches server
	check "... which was asked for" were answered 1
	peers_end
	came_by lo
	here "a listener whose requests come by lo"
	check "by one by which no route leads back: it is refused" reaches_nobody EHOSTUNREACH
	check "... and was asked for" were answered 1
	peers_end
}

# The bound device by number: SO_BINDTOIFINDEX of SOL_SOCKET
bound() {
	local to by
	for to in va vb; do
		for by in va vb; do
			came_by $by
			here "a listener bound to $to" $SDP_B option 1 62 "$(</sys/class/net/$to/ifindex)"
			if [ $to = $by ]; then
				check "bound to $to, by $by: it is taken" reaches server
			else
				check "bound to $to, by $by: it is refused" reaches_nobody ECONNREFUSED
			fi
			peers_end
		done
	done
}

# The interface is in another namespace and has the address there: that namespace's listener gets
# the request.
elsewhere_listens() {
	local keeper
	check "another namespace" ip netns add there
	ip link add there-a type veth peer name there-b netns there
	ip link set there-a up
	ip -n there -batch - <<-EOT
		address add $SDP_B/24 dev there-b
		link set there-b up
		link set lo up
	EOT
	ip netns exec there sleep 600 &
	keeper=$!
	cleanup kill $keeper
	wait_for $patience eval "[ \$(readlink /proc/$keeper/ns/net) != $(readlink /proc/$$/ns/net) ]"
	came_by there-b $keeper
	here "a listener of ours"
	check "only ours listens: it is refused" reaches_nobody ECONNREFUSED
	peer_in=there
	check "a listener there" listens_here other $SDP_B
	peer_in=
	peers_end client
	check "both listen: it is taken there" reaches other
	check_not "... and not here" printed server accepted
	peers_end
	# There is still a route back.
	ip -n there address add 10.9.0.77/24 dev there-b
	ip -n there address del $SDP_B/24 dev there-b
	peer_in=there
	here "a listener there by any address" 0.0.0.0
	peer_in=
	check "nobody there has the address: it is refused" reaches_nobody ECONNREFUSED
	check "... and counted there" [ "$(ip netns exec there cat /proc/net/sdpstat | awk '$1 == "BadHello" { print $2 }')" = 1 ]
	peers_end
	kill $keeper
}

# forged CASE ADDRESS: a forged request is refused and counted; the listener is bound to ADDRESS
forged() {
	local before
	came_by vb
	before=$(sdpstat BadHello)
	here "$1: a listener" "$2"
	check "$1: said" commit "$1"
	check "$1: refused" wait_for $patience eval "[ \$(sdpstat BadHello) -gt $before ]"
	check "$1: which asked for the interface" were answered 1
	check "$1: no connection comes of it" queue_is 0
	echo end >$run
	peers_end
}

# The request's GIDs are forged as well: no IPoIB interface would have them.
forged_gid() {
	came_by vb
	here "a listener that GIDs are forged for"
	check "a forged GID: said" commit forge-target-elsewhere
	check "a forged GID: asked for" wait_for $patience were asked 1
	check "a forged GID: no interface has it" [ "$(<$port_of/answered)" = 0 ]
	check "a forged GID: no connection comes of it" queue_is 0
	echo end >$run
	peers_end
}

all_forged() {
	local localnet=/proc/sys/net/ipv4/conf/vb/route_localnet
	# As on container hosts, there is a route to 127.0.0.1.
	keeps $localnet
	echo 1 >$localnet
	forged_gid
	echo 1 >$port_of/any_gid
	forged forge-loopback 127.0.0.1
	forged forge-source-loopback $SDP_B
	forged forge-target-loopback 127.0.0.1
	forged forge-source-multicast $SDP_B
	forged forge-source-broadcast $SDP_B
	forged forge-source-nowhere $SDP_B
	echo 0 >$port_of/any_gid
	put_back $localnet
}

hostile_begin
load_module ipoib device=rxb
true_ones
no_interface
elsewhere
bound
elsewhere_listens
all_forged
check "the port is of RoCE again" rmmod sdp_ipoib
hostile_end
tap_done
