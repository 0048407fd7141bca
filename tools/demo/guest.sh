#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: the demo's part in the guest. Needs SDP_MODULE, SDP_DEMO_TAR and SDP_DEMO_TREE.
set -uo pipefail
vm=$SDP_TOP/selftests/vm
. "$vm/netlab.sh"
. "$vm/checks.sh"
. "$SDP_TOP/tools/demo/show.sh"

# All files are in memory, so that no disk is measured.
cd $shm || exit 1
transfer_limit=240
port=5000

fail() {
	printf '\nFAILED: %s\n' "$*"
	exit 1
}

# socat puts the family (27) first by itself; this is the rest of a sockaddr_in.
sockaddr() {
	local -a byte
	IFS=. read -ra byte <<<"$1"
	printf 'x%04x%02x%02x%02x%02x0000000000000000' $port "${byte[@]}"
}

listening() {
	awk -v end=":$(printf %04X $port)\$" '$2 ~ end && $4 == "0A"' /proc/net/sdp | grep -q .
}

buffers() {
	local net=/proc/sys/net/sdp
	echo "$(cat $net/recv_buffers) receive buffers of $(cat $net/recv_buffer_size) bytes"
}

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

stuck() {
	echo
	cat /proc/net/sdp
	fail "nothing has moved for 30 s; above is /proc/net/sdp as it is now"
}

# transfer RUN FILE: `server` (on B) and `client` (on A) are socat's two addresses each; FILE
# is what grows. Leaves in $shm/counters.RUN what was counted meanwhile.
transfer() {
	local run=$1 file=$2 begin end pids=()
	echo "  B# socat -u ${server[*]}"
	echo "  A# socat -u ${client[*]}"
	counters >$shm/before
	timeout $transfer_limit socat -u "${server[@]}" 2>$shm/server.log &
	pids+=($!)
	lab_wait "socat to listen" listening || fail "socat on B: $(cat $shm/server.log)"
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
	[ ! -s $shm/table ] || show_table
	compare "$file"
}

# compare FILE: with what was sent, which was summed up before
compare() {
	local sum
	sum=$(sum_of "$1")
	echo "  sha256 sent      $sum_sent"
	echo "         received  $sum"
	[ "$sum" = "$sum_sent" ] || fail "the checksums differ: what came out is not what went in"
	echo "         the same"
}

begin_lab() {
	[ -n "${SDP_DEMO_TAR:-}" ] && cp "$SDP_DEMO_TAR" tree.tar || fail "copying the tar"
	lab_up || fail "the RDMA adapters, see above"
	# shellcheck disable=SC2046 # a list
	modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ') || fail "modprobe"
	checks_begin
	insmod "$SDP_MODULE" || fail "insmod $SDP_MODULE: $(dmesg | tail -n 5)"
	size=$(stat -c %s tree.tar)
	sum_sent=$(sum_of tree.tar)
}

end_lab() {
	local left
	rmmod sdp || fail "rmmod sdp: /proc/net/sdp says $(cat /proc/net/sdp)"
	left=$(leak_names sdp)
	[ -z "$left" ] || fail "rmmod left something: $left"
	check_log "the demo" || fail "the kernel complained"
	echo "  rmmod sdp: it left nothing behind, and the kernel log has no complaint."
}

declare -a server client
echo "  the guest is up; now the adapters, and insmod sdp.ko"
begin_lab
cat <<-END

	         A  rxa on va                      rxb on vb  B
	            $SDP_A   ================   $SDP_B
	                            a cable (veth)

	  To be sent, from memory to memory: $(as_millions "$size") MB, the tar of
	  $SDP_DEMO_TREE.
	  27 is the number of AF_SDP; the hexadecimal digits are the rest of a sockaddr_in: port
	  $port and an IPv4 address.
END

headline "1. A sends to B, with the default of $(buffers)"
server=("SOCKET-LISTEN:27:0:$(sockaddr 0.0.0.0)" "CREATE:at-b.tar")
client=("OPEN:tree.tar" "SOCKET-CONNECT:27:0:$(sockaddr $SDP_B)")
transfer 1 at-b.tar

echo 65536 >/proc/sys/net/sdp/recv_buffer_size
headline "2. B sends it back, with $(buffers), by sysctl"
server=("OPEN:at-b.tar" "SOCKET-LISTEN:27:0:$(sockaddr 0.0.0.0)")
client=("SOCKET-CONNECT:27:0:$(sockaddr $SDP_B)" "CREATE:back-at-a.tar")
transfer 2 back-at-a.tar

headline "What it took"
printf '    %-40s%16s%16s\n' '' 'A to B' 'B to A'
show_counters $shm/counters.1 $shm/counters.2
echo
messages=$(($(counter MsgsSent $shm/counters.1) / $(counter MsgsSent $shm/counters.2)))
cat <<-END
	  $(as_millions $((2 * size))) MB went through AF_SDP sockets, and every byte arrived.
	  With larger buffers the same bytes took $messages times fewer messages.
	  The figures are those of an emulated processor that computes what an RDMA adapter would
	  do by itself. They show what happens, not how fast it is on hardware.
END
end_lab
