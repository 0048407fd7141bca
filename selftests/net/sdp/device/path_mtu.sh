#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Interfaces with different MTUs at the two ends of an RDMA connection.
# The connecting end chooses the packet length. If the other end supports it the connection works.
# Otherwise it is refused with that reason, and a connect that may use TCP falls back to TCP.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

need_lab
settings=/proc/sys/net/sdp
keeps $settings/{rewrite,policy}
restore() {
	peers_end
	lab_mtu $LAB_MTU
	lab_wait "the devices" lab_intact
}
cleanup restore

# More than one packet, of any length, in each message.
amount=200000 short=1500

# connects WHAT CLIENT-OPERATION...: data both ways; the server is at $at
connects() {
	local what=$1
	shift
	next_port
	peer server "${server_is[@]}" bind "$at" $port listen 5 say up accept recv $amount send $amount drain
	check "$what: a listener" says server $patience up
	peer client "${server_is[@]}" connect "$at" $port send $amount recv $amount shutdown drain
	check "$what: the client gets everything" says client $patience "received $amount"
	check "$what: so does the server" says server $patience "received $amount"
	peers_end
}

server_is=()
check "the end that listens: a short MTU" ip link set vb mtu $short
check "the devices are there" wait_for $patience lab_intact
check "to the shorter one: a listener" listens server $SDP_B hold
peer client connect $SDP_B $port hold
check "to the shorter one: connect() says so" says client $patience "connect: EMSGSIZE"
peers_end

at=$SDP_A
connects "from the shorter one"

echo "connect $SDP_B both; listen $SDP_B both" >$settings/policy
echo 1 >$settings/rewrite
server_is=(tcp)
fell=$(sdpstat FellMtu)
at=$SDP_B
connects "by a policy"
check "by a policy: it is TCP, and the reason is counted" [ "$(sdpstat FellMtu)" = $((fell + 1)) ]
echo 0 >$settings/rewrite
server_is=()

check "the same MTU again" lab_mtu $LAB_MTU
check "the devices are there again" wait_for $patience lab_intact
connects "with the same MTU"
tap_done
