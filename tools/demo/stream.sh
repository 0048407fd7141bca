# SPDX-License-Identifier: GPL-2.0
# Sends a large file in both directions by socat with sockets of AF_SDP. Sourced by guest.sh.

transfer_limit=240
port=5000

# The rest of a sockaddr_in; socat itself puts the family (27) in front.
sockaddr() {
	local -a byte
	IFS=. read -ra byte <<<"$1"
	printf 'x%04x%02x%02x%02x%02x0000000000000000' $port "${byte[@]}"
}

buffers() {
	local net=/proc/sys/net/sdp
	echo "up to $(cat $net/recv_buffers) receive buffers of $(cat $net/recv_buffer_size) bytes"
}

stuck() {
	echo
	cat /proc/net/sdp
	fail "nothing has moved for 30 s; above is /proc/net/sdp as it is now"
}

# transfer RUN FILE: `server` (on B) and `client` (on A) are socat's two addresses each; FILE is
# the one that grows. Leaves the counters' growth in $shm/counters.RUN.
transfer() {
	local run=$1 file=$2 begin end pids=()
	echo "  B# socat -u ${server[*]}"
	echo "  A# socat -u ${client[*]}"
	counters >$shm/before
	timeout $transfer_limit socat -u "${server[@]}" 2>$shm/server.log &
	pids+=($!)
	lab_wait "socat to listen" listens_in $port /proc/net/sdp ||
		fail "socat on B: $(cat $shm/server.log)"
	begin=${EPOCHREALTIME/./}
	timeout $transfer_limit socat -u "${client[@]}" 2>$shm/client.log &
	pids+=($!)
	bar "$file" "$size" "${pids[@]}" || stuck
	wait "${pids[1]}" || fail "socat on A, status $?: $(cat $shm/client.log)"
	wait "${pids[0]}" || fail "socat on B, status $?: $(cat $shm/server.log)"
	end=${EPOCHREALTIME/./}
	counters_since $shm/before >$shm/counters."$run"
	{
		echo "Seconds $(as_millions $((end - begin)))"
		echo "Rate $(as_millions $((size * 1000000 / (end - begin))))"
	} >>$shm/counters."$run"
	[ ! -s $shm/table ] || show_table "/proc/net/sdp half way" $port
	compare "$file"
}

# compare FILE: with what was sent, whose checksum is known
compare() {
	local sum
	sum=$(sum_of "$1")
	echo "  sha256 sent      $sum_sent"
	echo "         received  $sum"
	[ "$sum" = "$sum_sent" ] || fail "the checksums differ: what came out is not what went in"
	echo "         the same"
}

# begin_lab has computed the number of bytes and the checksum.
stream() {
	local -a server client
	local messages
	cat <<-END

	  Now $(as_millions "$size") MB, the tar of $SDP_DEMO_TREE, from memory to memory,
	  by sockets of AF_SDP itself. 27 is its number; the hexadecimal digits are the rest of a
	  sockaddr_in: port $port and an IPv4 address.
	END
	headline "3. A sends to B, with the default of $(buffers)"
	server=("SOCKET-LISTEN:27:0:$(sockaddr 0.0.0.0)" "CREATE:at-b.tar")
	client=("OPEN:tree.tar" "SOCKET-CONNECT:27:0:$(sockaddr $SDP_B)")
	transfer 1 at-b.tar

	echo 65536 >/proc/sys/net/sdp/recv_buffer_size
	headline "4. B sends it back, with $(buffers), by sysctl"
	server=("OPEN:at-b.tar" "SOCKET-LISTEN:27:0:$(sockaddr 0.0.0.0)")
	client=("SOCKET-CONNECT:27:0:$(sockaddr $SDP_B)" "CREATE:back-at-a.tar")
	transfer 2 back-at-a.tar

	headline "What it took"
	printf '    %-40s%16s%16s\n' '' 'A to B' 'B to A'
	show_counters $shm/counters.1 $shm/counters.2
	echo
	messages=$(($(counter MsgsSent $shm/counters.1) / $(counter MsgsSent $shm/counters.2)))
	echo "  $(as_millions $((2 * size))) MB went through AF_SDP sockets, and every byte arrived."
	[ $messages -lt 2 ] ||
		echo "  With larger buffers the same bytes took $messages times fewer messages."
	cat <<-END
		  The figures are those of an emulated processor that computes what an RDMA adapter would
		  do by itself. They show what happens, not how fast it is on hardware.
	END
}
