# SPDX-License-Identifier: GPL-2.0
# Sourced after libpeers.sh by the tests under which streams go on, whatever happens to the machine:
# one by loopback and one by RDMA.
#
# ${addresses[@]}	of both, or of loopback only when there are no devices
# streams_begin		checks that they begin
# streams_move		waits until each of them has moved on; that is how a lost wake-up shows
# streams_end		checks that each has survived, and its data is complete
. "$here/../../vm/netlab.sh"
. "$here/../../vm/checks.sh"

addresses=(127.0.0.1) sinks=
[ -z "${SDP_A:-}" ] || ! lab_intact || addresses+=("$SDP_B")

# They live as long as the test: its rounds may take longer than what a peer does otherwise.
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

# Messages received by each of the streams' sinks.
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
