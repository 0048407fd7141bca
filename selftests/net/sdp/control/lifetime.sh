#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Lifetimes: of the module, killed processes' connections, namespaces, queues and orphans.
# The module stays while sockets exist. Connections of killed processes, queues of closed listeners
# and sockets in a namespace end. So do closed sockets whose peer does not read, and more of these
# than the limit allows.
. "$(dirname "$0")/../lib/lib.sh" peers netlab checks

settings=/proc/sys/net/sdp
max_orphans=$(<$settings/max_orphans)
keeps $settings/{max_orphans,fin_timeout_ms}
rc=
[ -n "${SDP_A:-}" ] && lab_intact && rc=$SDP_B

loaded() { [ -d /sys/module/sdp ]; }
references() { cat /sys/module/sdp/refcnt; }
unused() { [ "$(references)" = 0 ]; }

restore() {
	peers_end
	ip netns delete sdptest
	loaded || insmod "$SDP_MODULE"
	lab_down_ns
}
cleanup restore

# all_gone NAME: after killing, no socket may be left
all_gone() {
	peers_end
	check "$1: no socket is left" wait_for $patience no_sockets
	check "$1: the module is unused" wait_for $patience unused
}

refuses_to_unload() {
	check_not "rmmod is refused with $1" rmmod sdp
	check "and the module goes on: a new connection works" transfer 127.0.0.1
}

unload_refused() {
	local listening
	peer p open say up hold
	says p $patience up
	refuses_to_unload "an unused socket"
	peers_end
	listens p 127.0.0.1 hold
	listening=$port
	refuses_to_unload "a listener"
	peer q connect 127.0.0.1 $listening say queued hold
	check "a connection in the queue" says q $patience queued
	refuses_to_unload "a connection waiting to be accepted"
	peers_end
	all_gone "after refused rmmods"
}

# leftovers: prints RDMA objects, slab caches and files that are left.
leftovers() {
	local owned
	leak_names sdp
	owned=$(rdma_owned sdp)
	[ -z "$owned" ] || echo "RDMA objects: $owned"
	[ -z "${objects_without:-}" ] || rdma_counts_are "$objects_without"
}

nothing_left() {
	local output
	output=$(leftovers)
	[ -z "$output" ] || { echo "$output"; return 1; }
}

reload() {
	local round address rounds="1 2 3"
	! short_form || rounds=1
	check "rmmod works when nothing uses it" wait_for $patience rmmod sdp
	objects_without=$(rdma_counts)
	check "and leaves nothing" nothing_left
	for round in $rounds; do
		check "round $round: insmod" insmod "$SDP_MODULE"
		for address in 127.0.0.1 ::1 $rc; do
			check "round $round: data over $address" transfer "$address"
		done
		check "round $round: rmmod" wait_for $patience rmmod sdp
		check "round $round: nothing is left" nothing_left
	done
	check "loaded again for what follows" insmod "$SDP_MODULE"
}

# A listener's process is killed while it has connections of every kind.
kill_listener() {
	local how=$1 address=$2
	queue=4 listens server "$address" accept accept hold
	# Two are accepted, five wait in the queue, the others are told to retry.
	peer client fork 12 connect "$address" $port flow
	check "$how: listener with its queue full" wait_for $patience queue_full 5
	kill -KILL "${peer_pid[server]}"
	check "$how: every call of its peers ends" over client $((2 * patience))
	check "$how: each with an error" test "$(grep -cE "^$RESET$" "$peers/client")" = 12
	all_gone "$how: listener killed"
}

# A listener's receive queue column is the length of its accept queue.
queue_full() {
	awk -v state=$LISTEN -v want="$(printf ':%08X$' "$1")" \
		'$4 == state && $5 ~ want { found = 1 } END { exit !found }' /proc/net/sdp
}

# streams HOW ADDRESS: a connection on which "client" sends all the time
streams() {
	pair "$2" accept drain -- flow
	check "$1: streaming" says client $patience flowing
}

kill_receiver() {
	local how=$1
	streams "$@"
	kill -KILL "${peer_pid[server]}"
	check "$how: receiver killed, sender's call ends" reset_of client $patience
	all_gone "$how: receiver killed"
}

kill_sender() {
	local how=$1
	streams "$@"
	kill -KILL "${peer_pid[client]}"
	check "$how: sender killed, receiver has all that was sent, then the end" \
		says server $patience "end after [0-9]+ bytes"
	all_gone "$how: sender killed"
}

kill_both() {
	local how=$1 address=$2 round
	for round in 1 2 3 4 5; do
		queue=20 listens server "$address" accept accept accept flow
		peer client fork 10 connect "$address" $port flow
		[ $round -gt 3 ] || says client $patience flowing >/dev/null
		# Each round kills later; in the last rounds most are connecting.
		peers_end client server
	done
	all_gone "$how: both ends killed, five times"
}

kill_accepting() {
	local how=$1 address=$2
	listens server "$address" accept
	kill -KILL "${peer_pid[server]}"
	check "$how: killed in accept" over server $patience
	peer client connect "$address" $port
	check "$how: nobody listens any more" says client $patience "connect: ECONNREFUSED"
	all_gone "$how: killed in accept"
}

# There is no answer, so the requests stay pending.
kill_connecting() {
	ip neighbour replace $SDP_B lladdr 02:00:00:00:00:01 dev va nud permanent
	next_port
	peer client fork 10 connect $SDP_B $port
	check "rc: ten unanswered requests" wait_for $patience eval \
		'[ "$(connections dev $SYN_SENT $port | grep -c rxa)" = 10 ]'
	kill -KILL "-${peer_pid[client]}"
	all_gone "rc: killed in connect"
	lab_neighbour "" va 0 2 "$(lab_mac "" vb)"
}

close_listener() {
	local how=$1 address=$2
	queue=10 listens server "$address" wait "$peers/go" close say closed hold
	peer client fork 5 connect "$address" $port ended
	check "$how: five wait to be accepted" wait_for $patience queue_full 5
	check "$how: all of them know it" wait_for $patience eval \
		'[ "$(grep -c "^connected$" "$peers/client")" = 5 ]'
	touch "$peers/go"
	check "$how: close of the listener returns" says server $patience closed
	check "$how: their calls end" over client $patience
	check "$how: with ECONNRESET" test "$(grep -c '^ended: ECONNRESET$' "$peers/client")" = 5
	check "$how: nothing stays of the queue, although the process lives" \
		wait_for $patience no_sockets
	all_gone "$how: listener closed"
}

# A closed socket's data must make progress within fin_timeout_ms; otherwise its memory is freed.
orphan() {
	local how=$1 address=$2 orphans
	orphans=$(sdpstat OrphanTimeouts)
	echo 700 >$settings/fin_timeout_ms
	# It fills all that there is room for, also if the host holds the peer for a while.
	PEER_FULL_MS=$((1000 * slow)) pair "$address" accept wait "$peers/go" drain -- \
		wait "$peers/accepted" fill close say closed hold
	says server $patience accepted >/dev/null
	touch "$peers/accepted"
	check "$how: closed with unsent data" says client $((2 * patience)) closed
	rm -f "$peers/accepted"
	check "$how: a closed socket ends after fin_timeout_ms" wait_for $patience orphan_gone "$orphans"
	check "$how: OrphanTimeouts counts it" test "$(sdpstat OrphanTimeouts)" = $((orphans + 1))
	check "$how: its other end is closed, too, and it is gone" wait_for $patience orphan_left_one
	touch "$peers/go"
	check "$how: its peer learns that data is missing" reset_of server $patience
	echo 60000 >$settings/fin_timeout_ms
	all_gone "$how: orphan"
}

orphan_gone() { [ "$(sdpstat OrphanTimeouts)" -gt "$1" ]; }

# orphan_left_one: of the connection, only the end at $port is there, and it is closed
orphan_left_one() {
	awk -v port="$(printf ':%04X$' $port)" -v closed=$CLOSED '
		$2 ~ port && $4 == closed { there++ }
		$3 ~ port { bad = 1 }
		END { exit bad || there != 1 }' /proc/net/sdp
}

# closed_unsent N ADDRESS NAME: the process NAME closes N sockets whose peer does not read
closed_unsent() {
	local accepts=()
	while [ ${#accepts[@]} -lt "$1" ]; do
		accepts+=(accept)
	done
	rm -f "$peers/close"
	queue=20 listens "$3-server" "$2" "${accepts[@]}" say got wait "$peers/go" drain
	peer "$3" fork "$1" connect "$2" $port fill wait "$peers/close" close say closed hold
	says "$3-server" $((2 * patience)) got || return
	touch "$peers/close"
	wait_for $((2 * patience)) eval "[ \"\$(grep -c '^closed$' '$peers/$3')\" = $1 ]"
}

# Four sockets whose peer does not read are closed, and $limit of them may stay as orphans.
too_many_orphans() {
	local how=$1 address=$2 limit refused
	for limit in 2 0; do
		refused=$(sdpstat OrphansRefused)
		echo $limit >$settings/max_orphans
		check "$how: with room for $limit of 4 orphans, every close returns" \
			closed_unsent 4 "$address" client
		check "$how: the others are reset" \
			test "$(sdpstat OrphansRefused)" = $((refused + 4 - limit))
		check "$how: $limit are left" test "$(orphans_left)" = $limit
		all_gone "$how: $limit orphans of 4"
	done
	echo $max_orphans >$settings/max_orphans
}

orphans_left() { awk '$10 == 0 { n++ } END { print n + 0 }' /proc/net/sdp; }

# Another namespace has used the whole limit: this namespace still has its share, and no more.
orphans_of_others() {
	local refused
	ip netns add sdptest
	ip -n sdptest link set lo up
	echo 16 >$settings/max_orphans
	peer_in=sdptest
	check "another namespace closes 17 sockets with unsent data" closed_unsent 17 127.0.0.1 hoarder
	check "where 16 go on, as many as all may have, and one is reset" \
		ip netns exec sdptest grep -q '^OrphansRefused *1$' /proc/net/sdpstat
	peer_in=
	refused=$(sdpstat OrphansRefused)
	check "and two sockets are closed here" closed_unsent 2 127.0.0.1 client
	check "of which one goes on" test "$(orphans_left)" = 1
	check "and one is reset" test "$(sdpstat OrphansRefused)" = $((refused + 1))
	peers_end
	ip netns delete sdptest
	echo $max_orphans >$settings/max_orphans
	all_gone "a namespace with all orphans"
}

# A namespace ends with the last of its sockets; the end of a veth pair in it shows when.
namespace_ended() { [ ! -e /sys/class/net/sdpout ]; }

namespace_loopback() {
	ip netns add sdptest
	ip -n sdptest link set lo up
	ip link add sdpout type veth peer name sdpin netns sdptest
	peer_in=sdptest
	streams "a namespace" 127.0.0.1
	peer queued connect 127.0.0.1 $port ended
	check "a namespace: another one waits in the queue" says queued $patience connected
	peer_in=
	check "a namespace: its sockets are not seen from here" no_sockets
	peer other connect 127.0.0.1 $port
	check "a namespace: its listener is not reached from here" \
		says other $patience "connect: ECONNREFUSED"
	ip netns delete sdptest
	check_not "a deleted namespace lives on with its connections" namespace_ended
	check "and so do they" kill -0 "${peer_pid[client]}" "${peer_pid[server]}"
	kill -KILL "${peer_pid[client]}" "${peer_pid[server]}" "${peer_pid[queued]}"
	check "it ends with its processes" wait_for $((2 * patience)) namespace_ended
	all_gone "a namespace"
}

# namespace_rc VICTIM: RDMA connections between two namespaces, one of which ends
namespace_rc() {
	local victim=$1
	lab_up_ns || { tap_not_ok "namespaces with RDMA devices"; return; }
	peer_in=B
	check "rc in namespaces: a listener" listens server $SDP_NS_B accept drain
	peer_in=A
	peer client connect $SDP_NS_B $port flow
	check "rc in namespaces: streaming" says client $patience flowing
	peer_in=
	ip netns delete $victim
	if [ $victim = A ]; then
		kill -KILL "${peer_pid[client]}"
		check "rc in namespaces: A gone, the receiver's call ends" over server $patience
	else
		kill -KILL "${peer_pid[server]}"
		check "rc in namespaces: B gone, the sender's call ends" reset_of client $patience
	fi
	all_gone "rc in namespaces, $victim gone"
	check "rc in namespaces: the rest can be removed" lab_down_ns
}

left_out "one reload of three, half of the cases here, half on another kernel"
unload_refused
reload
for how in loopback rc; do
	address=127.0.0.1
	if [ $how = rc ]; then
		[ -n "$rc" ] || { tap_skip "everything over RDMA" "no devices rxa and rxb"; continue; }
		address=$rc
		kill_connecting
	fi
	for scenario in kill_receiver kill_sender kill_both kill_accepting kill_listener \
		close_listener orphan too_many_orphans; do
		my_turn && $scenario $how $address
	done
done
namespace_loopback
orphans_of_others
if [ -n "$rc" ] && lab_has_ns; then
	namespace_rc A
	namespace_rc B
else
	tap_skip "connections by RDMA in namespaces" "soft-RoCE works there from Linux 7 on, soft-iWARP never"
fi
check "afterwards: unload" wait_for $patience rmmod sdp
check "afterwards: nothing is left" nothing_left
check "afterwards: load" insmod "$SDP_MODULE"
check "afterwards: connections work" transfer ${rc:-127.0.0.1}
tap_done
