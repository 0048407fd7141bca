# SPDX-License-Identifier: GPL-2.0
# Programs that only know TCP use SDP by a policy, and TCP when the servers' side has none.
# Sourced by guest.sh.

work_limit=120
page=$shm/www/page

# policy RULES: sets it, and prints the command that a user would enter
policy() {
	echo "  # sysctl -w net.sdp.policy='$1' net.sdp.rewrite=1"
	sysctl -qw net.sdp.policy="$1" net.sdp.rewrite=1 ||
		fail "the policy: $(cat /proc/sys/net/sdp/policy_error)"
}

# server PORT COMMAND...: waits until it listens by TCP, and by SDP too if $by_sdp is set
server() {
	echo "  B# ${*:2}"
	"${@:2}" >$shm/server.log 2>&1 </dev/null &
	server_pid=$!
	lab_wait "$2 to listen" listens_in "$1" /proc/net/tcp /proc/net/tcp6 ||
		fail "$2: $(cat $shm/server.log)"
	if listens_in "$1" /proc/net/sdp; then
		[ -n "$by_sdp" ] || fail "$2 listens by SDP, and has no policy"
	else
		[ -z "$by_sdp" ] || fail "$2 does not listen by SDP"
	fi
}

server_end() {
	kill $server_pid
	wait $server_pid 2>/dev/null
}

# while_running PORT PID: keeps the connection table with most connections to the port
while_running() {
	local most=0 now
	: >$shm/table.best
	while kill -0 "$2" 2>/dev/null; do
		cat /proc/net/sdp >$shm/table
		now=$(established "$1")
		[ "$now" -lt $most ] || [ "$now" = 0 ] || { most=$now; cp $shm/table $shm/table.best; }
		sleep 0.1
	done
	cp $shm/table.best $shm/table
}

# shown_by DEVICE: the connection table has both ends, each with its own adapter.
shown_by() { [ "$(awk -v dev="$1" '$4 == "01" && $12 == dev' $shm/table | wc -l)" -gt 0 ]; }

# client PORT COMMAND...: runs it; its output is in $shm/client.log
client() {
	local pid
	echo "  A# ${*:2}"
	counters >$shm/before
	timeout $work_limit "${@:2}" >$shm/client.log 2>&1 </dev/null &
	pid=$!
	while_running "$1" $pid
	wait $pid || fail "$2, status $?: $(cat $shm/client.log)"
	counters_since $shm/before >$shm/counters
	if [ -n "$by_sdp" ]; then check_sdp "$@"; else check_tcp "$@"; fi
}

fell() { awk '/^Fell/ { sum += $2 } END { print sum + 0 }' $shm/counters; }
by_rdma() { awk '/^(BytesSent|RdmaReadBytesByPeer|RdmaWriteBytes) / { sum += $2 } END { print sum }' $shm/counters; }
count() { counter "$1" $shm/counters; }

# tcp_connects_are N: so many connections by TCP. soft-iWARP makes one of its own for each that it
# is asked for, and another when that was refused too fast to tell why.
tcp_connects_are() {
	local least=$(($1 + $(count PolicyConnects) + $(count FellRefused)))
	[ -n "${SDP_SIW:-}" ] || { [ "$(count TcpConnects)" = "$1" ]; return; }
	[ "$(count TcpConnects)" -ge $least ]
}

check_sdp() {
	tcp_connects_are 0 || fail "$2 has connected $(count TcpConnects) times by TCP"
	[ "$(fell)" = 0 ] || fail "$2 has fallen back: $(tail -n 1 /proc/net/sdp_fallbacks)"
	[ "$(count PolicyConnects)" -gt 0 ] || fail "$2 has not connected"
	shown_by rxa && shown_by rxb || fail "$2: not seen in /proc/net/sdp, by both adapters"
	show_table "/proc/net/sdp meanwhile" "$1" 4
	echo "  connections: $(count PolicyConnects) by SDP, 0 by TCP; bytes by SDP:" \
		"$(commas "$(by_rdma)")"
}

check_tcp() {
	[ "$(count FellRefused)" -gt 0 ] || fail "$2 has not fallen back"
	tcp_connects_are "$(count FellRefused)" ||
		fail "$2 has fallen back $(count FellRefused) times, and connected $(count TcpConnects)"
	[ "$(by_rdma)" = 0 ] && [ ! -s $shm/table ] || fail "$2: $(by_rdma) bytes went by SDP"
	echo "  connections: 0 by SDP, $(count FellRefused) by TCP. The last line of" \
		"/proc/net/sdp_fallbacks"
	echo "  (when, process, program, what it wanted, where, and why it is TCP):"
	tail -n 1 /proc/net/sdp_fallbacks | tee $shm/last | sed 's/^/    /'
	grep -q " ${2::15} connect $SDP_B:$1 the peer has no SDP listener\$" $shm/last ||
		fail "$2 is not the last that fell back"
}

# answer PATTERN LINES: prints the client's report of its work
answer() {
	tr '\r' '\n' <$shm/client.log | grep -E "$1" >$shm/answer
	[ "$(wc -l <$shm/answer)" = "$2" ] || fail "the answer: $(cat $shm/client.log)"
	sed 's/^ */  /' $shm/answer
}

web_config() {
	mkdir -p $shm/www
	head -c 20M tree.tar >"$page"
	cat >$shm/nginx.conf <<-END
		daemon off;
		user root;
		worker_processes 1;
		pid $shm/nginx.pid;
		error_log $shm/nginx.log;
		events { worker_connections 256; }
		http {
			sendfile on;
			access_log off;
			server { listen 80; root $shm/www; }
		}
	END
}

three_programs() {
	echo
	server 5201 iperf3 -s
	client 5201 iperf3 -c $SDP_B -n 64M
	answer 'receiver$' 1
	server_end
	echo
	server 6379 redis-server --bind $SDP_B --protected-mode no
	client 6379 redis-benchmark -h $SDP_B -t set,get -n 2000 -c 10 -q
	answer 'requests per second' 2
	server_end
	echo
	rm -f got
	server 80 nginx -c $shm/nginx.conf
	client 80 curl -sS -o got http://$SDP_B/page
	cmp got "$page" || fail "curl got something else than nginx has"
	echo "  $(commas "$(stat -c %s got)") bytes; sha256 of both files: $(sum_of got)"
	server_end
}

programs() {
	local by_sdp=yes server_pid
	web_config
	headline "1. iperf3, redis and nginx with curl, as they are, by SDP"
	policy 'connect 10.9.0.0/24 both; listen * both'
	three_programs
	by_sdp=
	headline "2. The same when B has no policy: A falls back to TCP"
	policy 'connect 10.9.0.0/24 both'
	three_programs
	cat <<-END

		  Each program did its work both ways. The rates are those of an emulated processor, which
		  also computes what the adapters would do by themselves.
	END
	echo 0 >/proc/sys/net/sdp/rewrite
}
