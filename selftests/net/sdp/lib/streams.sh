# SPDX-License-Identifier: GPL-2.0
# Two streams, by loopback and by RDMA, that must survive the test's disturbances.
# A part of lib.sh.
#
# ${addresses[@]}	their addresses, or that of loopback only when there are no devices
# streams_begin		checks that they start
# streams_move		waits until each of them has made progress; this detects lost wake-ups
# streams_end		checks that each has survived, and that its data is complete
use peers netlab checks

addresses=(127.0.0.1) sinks=
[ -z "${SDP_A:-}" ] || ! lab_intact || addresses+=("$SDP_B")

# They live as long as the test: its rounds may take longer than the default lifetime of a peer.
streams_begin() {
	local address i=0 PEER_SECONDS=1000
	for address in "${addresses[@]}"; do
		next_port
		peer "sink$i" bind "$address" $port listen 5 say up accept drain
		says "sink$i" $patience up >/dev/null
		peer "source$i" connect "$address" $port flow-until "$peers/stop" shutdown drain
		check "a stream by $address" says "source$i" $patience connected
		sinks+=$(printf ':%04X' $port)
		i=$((i + 1))
	done
}

# Messages received by each stream's sink.
streams_received() {
	awk -v ports="$sinks" '$4 == "01" {
		split($2, at, ":")
		if (index(ports, ":" at[2]))
			print $2 "-" $3, $NF
	}' /proc/net/sdp | sort
}

streams_more_than() {
	join <(echo "$1") <(streams_received) |
		awk -v all=${#addresses[@]} '$3 > $2 { n++ } END { exit n < all }'
}

streams_move() {
	local before
	before=$(streams_received)
	wait_for $patience streams_more_than "$before"
}

streams_end() {
	local i sent
	touch "$peers/stop"
	for ((i = 0; i < ${#addresses[@]}; i++)); do
		check "stream $i has survived all that" says "source$i" $patience "sent [0-9]+"
		sent=$(sed -n 's/^sent //p' "$peers/source$i")
		check "and its data is complete: $sent bytes" \
			says "sink$i" $((2 * patience)) "end after $sent bytes"
	done
}
