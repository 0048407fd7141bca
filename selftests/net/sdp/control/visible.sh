#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What an administrator sees: the connection table, the counters and the tracepoints.
# Also the range of every setting, and that settings do what their names say. Those for peers that
# do not answer or do not read are tested in device/devices.sh (connect_timeout_ms, retry_count) and
# control/lifetime.sh (fin_timeout_ms).
. "$(dirname "$0")/../lib/lib.sh" peers netlab

settings=/proc/sys/net/sdp
tracing=/sys/kernel/tracing
need_lab

# Name, default, minimum, maximum.
every_setting="
recv_buffers 12 3 1024
idle_buffers 3 3 1024
recv_buffer_size 1536 256 65552
recv_buffer_max 65552 0 65552
resize_after 3 1 10000
resize_idle_ms 10000 100 3600000
rdma_threshold 65536 -1 1073741824
rdma_read 1 0 1
invalidate 1 0 1
rails 1 1 8
rail_wait_ms 0 0 3600000
mode_after 3 1 1000
reader_wait_ms 8 1 60000
scan_ms 100 10 3600000
scan_count 2 1 10000
datagram_window 76 1 76
ring_size 65536 0 524288
ring_window 4096 256 65536
ring_flush 1 0 1
send_buffers 12 4 1024
accept_buffers 3 3 1024
credit_threshold 0 0 1024
coalesce 1 0 1
connect_timeout_ms 30000 100 3600000
fin_timeout_ms 60000 100 3600000
retry_count 7 1 7
rnr_retry_count 3 0 7
rmem_max 6291456 4096 1073741824
wmem_max 4194304 4096 1073741824
reset_removed 0 0 1
rewrite 0 0 1
fallback_ms 1000 10 3600000
fallback_memory_ms 60000 0 3600000
"

setting() { echo "$2" >$settings/"$1"; }
value() { cat $settings/"$1"; }
default_of() { awk -v name="$1" '$1 == name { print $2 }' <<<"$every_setting"; }
reset_setting() { setting "$1" "$(default_of "$1")"; }

restore() {
	peers_end
	echo 0 >$tracing/events/sdp/enable
	ip netns delete sdpview
}
cleanup restore

# line STATE PORT: the table's lines with this state and local port; peer_line: with this remote
# port; `field N`: column N of the first line.
line() { awk -v state="$1" -v port="$(printf ':%04X$' "$2")" '$4 == state && $2 ~ port' /proc/net/sdp; }
peer_line() { awk -v state="$1" -v port="$(printf ':%04X$' "$2")" '$4 == state && $3 ~ port' /proc/net/sdp; }
field() { awk -v n="$1" 'NR == 1 { print $n }'; }

# matches TEXT PATTERN: compares, and prints both on failure
matches() { [[ $1 =~ ^$2$ ]] || { echo "this: $1"; echo "is not as: $2"; return 1; }; }

v4='[0-9A-F]{8}:[0-9A-F]{4}' v6='[0-9A-F]{32}:[0-9A-F]{4}'

# line_pattern ADDRESS STATE DEVICE: a pattern for a line of the table, in the order of its columns
line_pattern() {
	local address=$1 state=$2 dev=$3
	echo " *[0-9]+: $address $address $state [0-9A-F]{8}:[0-9A-F]{8} [0-9A-F]{2}:[0-9A-F]{8}" \
		"[0-9A-F]{8} +[0-9]+ +[0-9]+ [0-9]+ [0-9]+ $dev C/C [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+"
}

# table NAME ADDRESS PATTERN DEVICE-OF-SERVER DEVICE-OF-CLIENT: with 1000 unread bytes
table() {
	local name=$1 address=$2 pattern=$3 server client
	pair "$address" accept wait "$peers/go" recv 1000 hold -- send 1000 say sent hold
	check "$name: a connection" says client $patience sent
	says server $patience accepted >/dev/null
	check "$name: the unread bytes show" wait_for $patience unread_bytes 1000
	server=$(line $ESTABLISHED $port) client=$(peer_line $ESTABLISHED $port)
	check "$name: columns of the listener" matches "$(line $LISTEN $port)" \
		"$(line_pattern "$pattern" $LISTEN -)"
	check "$name: columns of the accepted end" matches "$server" \
		"$(line_pattern "$pattern" $ESTABLISHED "$4")"
	check "$name: columns of the connected end" matches "$client" \
		"$(line_pattern "$pattern" $ESTABLISHED "$5")"
	check "$name: each end's names are the other's, crossed" \
		test "$(field 2 <<<"$server")$(field 3 <<<"$server")" = \
		"$(field 3 <<<"$client")$(field 2 <<<"$client")"
	check "$name: the inode is that of the process's file" \
		socket_of client "$(field 10 <<<"$client")"
	check "$name: at least one message was sent" test "$(field 17 <<<"$client")" -ge 1
	check "$name: and as many received" \
		test "$(field 18 <<<"$server")" -ge "$(field 17 <<<"$client")"
	touch "$peers/go"
	check "$name: read" says server $patience "received 1000"
	check "$name: nothing is unread then" unread_bytes 0
	peers_end
}

unread_bytes() { [ "$(line $ESTABLISHED $port | field 5)" = "00000000:$(printf %08X "$1")" ]; }

socket_of() { find "/proc/${peer_pid[$1]}/fd" -lname "socket:\[$2\]" | grep -q .; }

table_per_namespace() {
	ip netns add sdpview
	ip -n sdpview link set lo up
	peer_in=sdpview
	pair 127.0.0.1 accept hold -- hold
	peer_in=
	check "a namespace: its connection" says client $patience connected
	check "a namespace has a table of its own" \
		test "$(ip netns exec sdpview cat /proc/net/sdp | wc -l)" = 4
	check "and is not in this one's" wait_for $patience no_sockets
	check "a namespace has counters of its own" test "$(ip netns exec sdpview \
		awk '$1 == "ActiveOpens" { print $2 }' /proc/net/sdpstat)" = 1
	peers_end
}

# grows NAME... -- COMMAND...: the command increases these counters
grows() {
	local -A before=()
	local names=() name
	while [ "$1" != -- ]; do
		names+=("$1")
		before[$1]=$(sdpstat "$1") || return
		shift
	done
	shift
	"$@" || return
	for name in "${names[@]}"; do
		[ "$(sdpstat "$name")" -gt "${before[$name]}" ] || { echo "$name stays $(sdpstat "$name")"; return 1; }
	done
}

refused() {
	next_port
	peer lost connect "$1" $port
	says lost $patience "connect: ECONNREFUSED" || return
	peers_end lost
}

# The server reads only when told to, so the writer runs out of credit before.
stalled_stream() {
	pair "$1" accept wait "$peers/go" drain -- fill shutdown drain
	says client $((2 * patience)) filled || return
	touch "$peers/go"
	over client $((2 * patience)) && over server $((2 * patience))
	peers_end
}

reset_connection() {
	pair "$1" accept wait "$peers/go" ended -- send 1000 ended
	says server $patience accepted >/dev/null &&
		wait_for $patience unread_bytes 1000 && kill -KILL "${peer_pid[server]}" &&
		reset_of client $patience || return
	peers_end
}

current() { [ "$(sdpstat CurrEstab)" = "$1" ]; }

counters() {
	check "every line of sdpstat is a name and a number" \
		eval '! grep -qvxE "[A-Z][A-Za-z]+ +[0-9]+" /proc/net/sdpstat'
	check "data moves its counters" grows ActiveOpens PassiveOpens MsgsSent MsgsReceived BytesSent \
		BytesReceived DataSent SendCompletions CreditUpdatesSent CreditUpdatesReceived \
		WakeReadIssued -- transfer $SDP_B
	check "nobody listens: ConnRefused" grows ConnRefused -- refused $SDP_B
	check "a slow reader: CreditStalls" grows CreditStalls WakeWriteIssued -- stalled_stream $SDP_B
	check "killed with unread data: Aborts, Failures" grows Aborts Failures -- reset_connection $SDP_B
	check "nobody is established" wait_for $patience current 0
	pair $SDP_B accept hold -- hold
	check "two ends are: CurrEstab" wait_for $patience current 2
	peers_end
	check "nobody is established again" wait_for $patience current 0
}

# Without record-cmd: it patches the scheduler, and the emulator sometimes crashes a kernel that
# does that.
trace_start() {
	echo 0 >$tracing/options/record-cmd
	: >$tracing/trace && echo 1 >$tracing/events/sdp/"$1"/enable
}

# traced PATTERN...: the trace has a line for each pattern
traced() {
	local pattern
	for pattern in "$@"; do
		grep -qE "$pattern" $tracing/trace || {
			echo "no line with: $pattern; but:"
			grep -v '^#' $tracing/trace | tail -n 10
			return 1
		}
	done
}

# trace_point EVENT COMMAND -- PATTERN...: traces one event while COMMAND runs
trace_point() {
	local event=$1 scenario=()
	shift
	while [ "$1" != -- ]; do
		scenario+=("$1")
		shift
	done
	shift
	trace_start "$event"
	"${scenario[@]}" >/dev/null
	check "tracepoint $event" traced "$@"
	echo 0 >$tracing/events/sdp/"$event"/enable
}

# The server answers with a byte, so that there is a message in each direction; orderly end.
exchange() {
	pair $SDP_B accept recv 100 send 1 shutdown drain -- send 100 recv 1 shutdown drain
	over client $patience && over server $patience
	peers_end
}

# A reader with small buffers, then with large ones.
modes_change() { "$programs/rdma" --set rc4 learns_large_again; }

large_tracepoints() {
	trace_point sdp_mode modes_change -- \
		"sdp_mode:.*sending half combined -> buffered by this end" \
		"sdp_mode:.*receiving half combined -> buffered by the peer" \
		"sdp_mode:.*receiving half buffered -> combined by this end" \
		"sdp_mode:.*sending half buffered -> combined by the peer"
	trace_point sdp_scan "$programs/scan" --set rc4 nobody_reads -- \
		"sdp_scan:.*peer=[0-9]+ [0-9]+ advertised bytes unread after 2 scans"
}

tracepoints() {
	[ -d $tracing/events/sdp ] || { tap_skip "tracepoints" "this kernel has none"; return; }
	trace_point sdp_state exchange -- "sdp_state:.*peer=[0-9]+ tcp-state 7 -> 2" \
		"sdp_state:.*tcp-state 2 -> 1 conn=established" "sdp_state:.*7 -> 3 conn=hello-received" \
		"sdp_state:.*3 -> 1 " "sdp_state:.*-> 7"
	trace_point sdp_msg_send exchange -- "sdp_msg_send:.*mid=0xff .*bufs=[0-9]+ len=116 mseq=[0-9]+ ack=[0-9]+ credit=[0-9]+" \
		"sdp_msg_send:.*mid=0x02 .*len=16 "
	trace_point sdp_msg_recv exchange -- "sdp_msg_recv:.*mid=0xff .*len=116 mseq=[0-9]+ ack=[0-9]+ " \
		"sdp_msg_recv:.*mid=0x02 "
	trace_point sdp_credit_stall stalled_stream $SDP_B -- \
		"sdp_credit_stall:.*after mseq=[0-9]+ waiting=[0-9]+ bytes"
	short_form || large_tracepoints
	trace_point sdp_error reset_connection $SDP_B -- \
		"sdp_error:.*errno=104 at closed by reset" "sdp_error:.*errno=104 at connection ended by the peer"
	trace_point sdp_error refused $SDP_B -- "sdp_error:.*errno=111 at rejected"
}

invalid() { [[ $( (LC_ALL=C; echo "$2" >$settings/"$1") 2>&1) == *"Invalid argument"* ]]; }

one_setting() {
	local name=$1 default=$2 least=$3 most=$4 there
	keeps $settings/"$name"
	check "$name is $default" test "$(value "$name")" = "$default"
	check "$name may be $least" setting "$name" "$least"
	check "$name may be $most" setting "$name" "$most"
	check "$name may not be $((least - 1))" invalid "$name" $((least - 1))
	check "$name may not be $((most + 1))" invalid "$name" $((most + 1))
	check "$name may not be a word" invalid "$name" many
	check "$name keeps its value when it is refused" test "$(value "$name")" = "$most"
	there=$(ip netns exec sdpview cat $settings/"$name")
	check "$name is another one in another namespace" test "$there" = "$default"
	reset_setting "$name"
}

# with SETTING VALUE COMMAND...: runs the command with that setting
with() {
	local name=$1 status=0
	setting "$name" "$2"
	"${@:3}" || status=$?
	reset_setting "$name"
	return $status
}

# connection_is COMMAND...: COMMAND examines a connection
connection_is() {
	local status=0
	pair $SDP_B accept hold -- say stands hold
	says client $patience stands >/dev/null && says server $patience accepted >/dev/null
	wait_for $patience "$@" || { status=1; cat /proc/net/sdp; }
	peers_end
	return $status
}

posted_is() {
	[ "$(line $ESTABLISHED $port | field 15)" = "$1" ] && [ "$(peer_line $ESTABLISHED $port | field 15)" = "$1" ]
}

# posted_are SERVER CLIENT
posted_are() {
	waiting_posted "$1" && [ "$(peer_line $ESTABLISHED $port | field 15)" = "$2" ]
}

# Before accept(), accept_buffers receives are posted; accept() posts the others.
accept_posts() {
	local status=0
	pair $SDP_B wait "$peers/go" accept hold -- hold
	wait_for $patience waiting_posted "$1" || { status=1; cat /proc/net/sdp; }
	touch "$peers/go"
	wait_for $patience posted_is 12 || { status=1; cat /proc/net/sdp; }
	peers_end
	return $status
}

waiting_posted() { [ "$(line $ESTABLISHED $port | field 15)" = "$1" ]; }

# Before accept() no other receives are posted even if the client needs them. accept() posts them if
# it has. The client has no need of its own.
need_before_accept() {
	local status=0
	pair $SDP_B wait "$peers/go" accept hold -- pieces 1000 send "$1" say sent hold
	says client $patience sent >/dev/null && wait_for $patience unread_bytes "$1" &&
		wait_for $patience posted_are 3 3 || { status=1; cat /proc/net/sdp; }
	touch "$peers/go"
	says server $patience accepted >/dev/null && wait_for $patience posted_are "$2" 3 ||
		{ status=1; cat /proc/net/sdp; }
	peers_end
	return $status
}

# The longest message of a stream is as long as the peer's receive buffers.
longest_message() {
	trace_start sdp_msg_send
	transfer $SDP_B || return
	echo 0 >$tracing/events/sdp/sdp_msg_send/enable
	sed -n 's/.*mid=0xff.* len=\([0-9]*\) .*/\1/p' $tracing/trace | sort -n | tail -n 1 | grep -x "$1"
}

updates_are() { [ $(($(sdpstat CreditUpdatesSent) - before)) = "$1" ]; }

# With credit for all of 12 receives from the beginning, the client gets the first credit update when
# the server has read message N, not before. With coalesce 0, each write is a message.
update_after() {
	local status=0 before n=$(($1 - 1))
	pair $SDP_B accept recv $n recv 1 hold -- \
		pieces 1 wait "$peers/go" send $n wait "$peers/close" send 1 hold
	says server $patience accepted >/dev/null && wait_for $patience credit_seen 12 || status=1
	before=$(sdpstat CreditUpdatesSent)
	touch "$peers/go"
	says server $patience "received $n" >/dev/null && updates_are 0 || status=1
	touch "$peers/close"
	wait_for $patience updates_are 1 || status=1
	[ $status = 0 ] || { sdpstat CreditUpdatesSent; cat /proc/net/sdp; }
	peers_end
	return $status
}

# The receives that one end has posted are what the other one may send.
credit_seen() { [ "$(peer_line $ESTABLISHED $port | field 14)" = "$1" ]; }

machine_is_global() {
	local seen
	seen=$(ip netns exec sdpview ls $settings)
	grep -qx recv_buffers <<<"$seen" && ! grep -qxE "mem|max_orphans|unprivileged_rewrite" <<<"$seen"
}

left_out "no tracepoints of large writes"
table "rc IPv4" $SDP_B "$v4" rxb rxa
table "rc IPv6" $SDP_B6 "$v6" rxb rxa
table "loopback IPv4" 127.0.0.1 "$v4" loop loop
table "loopback IPv6" ::1 "$v6" loop loop
table_per_namespace
counters
tracepoints
while read -r name default least most; do
	[ -z "$name" ] || one_setting "$name" "$default" "$least" "$most"
done <<<"$every_setting"
# word_setting NAME WORD...: a setting that is one of these words; the last one is the default.
word_setting() {
	local name=$1 word default=${*: -1}
	keeps $settings/$name
	check "$name is $default" test "$(value $name)" = $default
	for word in "${@:2}"; do
		check "$name may be $word" setting $name $word
		check "$name is $word then" test "$(value $name)" = $word
	done
	check "$name may not be another word" invalid $name window
	check "$name may not be a number" invalid $name 1
	check "$name keeps its value when it is refused" test "$(value $name)" = $default
}

# rail_devices is a list of names, of at most 255 characters.
rail_devices() {
	local long
	long=$(printf '%0255d' 0)
	keeps $settings/rail_devices
	check "rail_devices is empty" test -z "$(value rail_devices)"
	check "rail_devices takes names" setting rail_devices "mlx5_0 rxe1"
	check "rail_devices has them" test "$(value rail_devices)" = "mlx5_0 rxe1"
	check "rail_devices takes 255 characters" setting rail_devices "$long"
	check "rail_devices may not have 256" invalid rail_devices "${long}1"
	check "rail_devices keeps its value when it is refused" test "$(value rail_devices)" = "$long"
	check "rail_devices may be empty again" setting rail_devices ""
}
word_setting flow_control rdma nic credit
word_setting service ud rc
rail_devices
# Settings of the whole machine are tested elsewhere: mem (three numbers) in load/memory.sh,
# max_orphans in lifetime.sh, unprivileged_rewrite by the program policy, which also tests the
# policy's text.
others=$'mem\nmax_orphans\nunprivileged_rewrite\npolicy\npolicy_error\nflow_control\nservice\nrail_devices'
check "no other settings than these, those of the machine and the policy" \
	test "$(ls $settings | sort | tr '\n' ' ')" = \
	"$( (awk 'NF { print $1 }' <<<"$every_setting"; echo "$others") | sort | tr '\n' ' ')"
check "mem, max_orphans and unprivileged_rewrite are not seen in other namespaces" machine_is_global
check "max_orphans is 4096 at least" test "$(value max_orphans)" -ge 4096
check "max_orphans is not negative" invalid max_orphans -1
check "unprivileged_rewrite is 1" test "$(value unprivileged_rewrite)" = 1
check "unprivileged_rewrite is not 2" invalid unprivileged_rewrite 2
check "idle_buffers: both ends post as many" connection_is posted_is 3
check "idle_buffers: another number" with idle_buffers 7 connection_is posted_is 7
check "idle_buffers: not more than recv_buffers" \
	with recv_buffers 5 with idle_buffers 7 connection_is posted_is 5
check "recv_buffers: both ends post as many if all are to be posted" \
	with idle_buffers 1024 with recv_buffers 20 connection_is posted_is 20
check "recv_buffers: they are the peer's credit" \
	with idle_buffers 1024 with recv_buffers 30 connection_is credit_seen 30
check "accept_buffers: posted before accept" \
	with idle_buffers 12 with accept_buffers 7 accept_posts 7
check "accept_buffers: no more for a client that needs more, until accept" \
	need_before_accept 20000 12
check "accept_buffers: no more after accept for a client that does not" need_before_accept 1000 3
check "recv_buffer_size: the longest message" \
	with recv_buffer_max 0 with recv_buffer_size 4096 longest_message 4096
check "credit_threshold: half of the receives" \
	with accept_buffers 12 with coalesce 0 update_after 7
check "credit_threshold: nearly all receives" \
	with accept_buffers 12 with coalesce 0 with credit_threshold 11 update_after 11
check "send_buffers: a stream with few of them" with send_buffers 4 transfer $SDP_B
check "afterwards all is as it was" transfer $SDP_B
tap_done
