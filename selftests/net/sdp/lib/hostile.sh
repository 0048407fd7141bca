# SPDX-License-Identifier: GPL-2.0
# A hostile peer (modules/hostile.h), and an honest connection that streams beside it.
# A part of lib.sh.
#
# hostile_begin		loads sdp_hostile.ko
# hostile_end		checks that nothing is left, and unloads it
# commit CASE [COUNT]	runs a case against the newest listener
# listener_start [OPERATION...]	starts a listener at $port_here, by the process "server"; it
#				has room for $backlog and one more
# stands		succeeds when the peer's connection has not ended within a second
# queue_is N		succeeds when N connections wait at the newest listener
# still_accepts		succeeds when it accepts an honest client
# honest_start		checks that an honest connection starts to stream
# streaming		succeeds when it still streams
# pinned		prints how many pages of programs are pinned, by any user of pinning
# unpinned		succeeds when none are
# honest_end		checks that the honest connection has survived, and ends it
# only_honest		succeeds when there are no sockets but the honest pair and its listener
use peers netlab checks

run=/sys/kernel/debug/sdp_hostile/run
hostile_from=/sys/module/sdp_hostile/parameters/from
need_lab
need_module hostile

stands() {
	local got
	got=$(<${run%/run}/standing)
	[ "$got" = open ] || { echo "verdict: $got, expected: open"; return 1; }
}

# stat_refresh folds the per-CPU counts into the sums.
pinned() {
	echo 1 >/proc/sys/vm/stat_refresh
	awk '$1 == "nr_foll_pin_acquired" { n += $2 } $1 == "nr_foll_pin_released" { n -= $2 }
		END { print n }' /proc/vmstat
}
unpinned() { [ "$(pinned)" = 0 ]; }

hostile_begin() {
	# This file tells guest.sh that the violations counted in this test are not AF_SDP's own.
	touch "$SDP_RUN/hostile"
	load_module hostile
	check "data before" transfer "$SDP_B"
	objects_before=$(counts_at_rest)
}

objects_gone() {
	wait_for $patience connection_counts_are "$objects_before" && return
	connection_counts_are "$objects_before"
	rdma resource show qp
	return 1
}

hostile_end() {
	check "no socket is left" wait_for $patience no_sockets
	check "no RDMA object is left" objects_gone
	check "what AF_SDP has said was well formed, and no more than that" grep -q "malformed 0$" \
		/sys/kernel/debug/sdp_hostile/generate
	check "the hostile module goes" rmmod sdp_hostile
	check "the module is unused" wait_for $patience grep -qx 0 /sys/module/sdp/refcnt
	check "and works" transfer $SDP_B
}

backlog=4

listener_start() {
	next_port
	# The next port stays free.
	port=$((port + 1))
	peer server bind $SDP_B $((port - 1)) listen $backlog say up "$@"
	port_here=$((port - 1))
	says server $patience up >/dev/null || tap_not_ok "a listener" "$(show_peers)"
}

commit() { echo "$1 $port_here ${2:-}" >$run; }

queue_is() {
	awk -v state=$LISTEN -v port="$(printf ':%04X$' $port_here)" -v want="$(printf ':%08X$' "$1")" \
		'$4 == state && $2 ~ port && $5 ~ want { found = 1 } END { exit !found }' /proc/net/sdp
}

# An honest client after a hostile one, at the same listener
still_accepts() {
	peer after connect $SDP_B $port_here ended
	says after $patience connected && peers_end after
}

streaming() {
	local before
	before=$(sdpstat BytesReceived)
	wait_for $patience eval "[ \$(sdpstat BytesReceived) -gt $((before + 40000)) ]"
}

honest_start() {
	next_port
	honest_port=$port
	peer honest-server bind $SDP_B $port listen 5 say up accept drain
	says honest-server $patience up >/dev/null
	peer honest-client connect $SDP_B $port flow-until "$peers/stop" shutdown drain
	check "an honest connection" says honest-client $patience connected
	check "streams" streaming
}

honest_end() {
	local sent
	touch "$peers/stop"
	check "the honest connection has survived all that" says honest-client $patience "sent [0-9]+"
	sent=$(sed -n 's/^sent //p' "$peers/honest-client")
	check "and its data is complete" says honest-server $((2 * patience)) "end after $sent bytes"
	peers_end honest-client honest-server
}

only_honest() {
	awk -v port="$(printf ':%04X$' $honest_port)" \
		'NR > 1 && $2 !~ port && $3 !~ port { bad = 1 } END { exit bad }' /proc/net/sdp
}
