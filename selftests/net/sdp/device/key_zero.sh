#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Devices whose key 0 gives access to all memory: queue pairs allow no remote access.
# rdmavt devices have such a key. All data goes in messages, every byte is right, and keepalive,
# whose probe needs remote access, does not break the connection. Tested with both devices and with
# either one of them.
. "$(dirname "$0")/../lib/lib.sh" hostile

need_module key_zero
threshold=/proc/sys/net/sdp/rdma_threshold
keeps $threshold
restore() {
	peers_end
	rmmod sdp_hostile
	rmmod sdp_key_zero && lab_anew
}
cleanup restore
echo 16384 >$threshold

# Options by number, for the program peer: LEVEL NAME VALUE. One probe per second.
keepalive=(option 1 9 1 option 6 4 1 option 6 5 1 option 6 6 10)
piece=65536 amount=$((24 * 65536))

moved() { echo $(($(sdpstat RdmaReadBytes) + $(sdpstat RdmaWriteBytesByPeer))); }

# exchange WHAT: a connection with large writes both ways, repeated after some probes
exchange() {
	local probes
	next_port
	peer server "${keepalive[@]}" bind $SDP_B $port listen 5 say up accept pieces $piece \
		recv $amount send $amount wait "$peers/go" recv $amount send $amount drain
	check "$1: a listener" says server $patience up
	peer client "${keepalive[@]}" connect $SDP_B $port pieces $piece send $amount recv $amount \
		say once wait "$peers/go" send $amount recv $amount shutdown drain
	check "$1: every byte is right" says client $((2 * patience)) once
	probes=$(sdpstat KeepaliveProbes)
	check "$1: there are probes" wait_for $patience eval \
		"[ \$(sdpstat KeepaliveProbes) -ge $((probes + 24)) ]"
	touch "$peers/go"
	check "$1: and the connection lives" says client $((2 * patience)) "end after $((2 * amount)) bytes"
	rm -f "$peers/go"
	peers_end
}

# writes WHAT ERROR HOW: an RDMA write of length 0
writes() {
	listener_start accept ended hold
	check "$1: a peer writes" commit msg-write-imm
	check "$1: which is $3" says server $patience "ended: $2"
	peers_end
	echo end >$run
}

touch "$SDP_RUN/hostile"
load_module hostile

# opened WHAT DEVICE NUMBER: DEVICE has such a key, or all devices have it if it is empty
opened() {
	check "$1: a module that makes devices say it" insmod "$(module_file key_zero)" device="${2:-}"
	check "$1: the devices are made anew" lab_anew
	check "$1: it is said" [ "$(</sys/module/sdp_key_zero/parameters/said)" = "$3" ]
	moved_before=$(moved)
	exchange "$1"
	check "$1: all went in messages" [ "$(moved)" = "$moved_before" ]
}
closed() { check "$1: that module goes" rmmod sdp_key_zero; }

opened "key 0 opens all memory" "" 2
writes "key 0 opens all memory" ECONNRESET "refused by the adapter"
closed "key 0 opens all memory"
# With the client's device, the server would be the one that probes.
opened "the client's device" rxa 1
closed "the client's device"
opened "the server's device" rxb 1
writes "the server's device" ECONNRESET "refused by the adapter"
closed "the server's device"

check "the devices are made anew again" lab_anew
moved_before=$(moved)
exchange "other devices"
check "other devices: by RDMA" [ "$(moved)" -gt "$moved_before" ]
writes "other devices" EPROTO "let pass, and no message"
check "the hostile module goes" rmmod sdp_hostile
check "data after" transfer $SDP_B
tap_done
