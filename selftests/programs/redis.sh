#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# redis-server with redis-benchmark: single requests, pipelined ones, and one large value.
. "$(dirname "$0")/libprograms.sh"

requests=2500
make_file "$dir/value" 1

# benchmark PIPELINE: runs redis-benchmark with that many requests in flight
benchmark() {
	local test rate
	client "pipeline of $1" redis-benchmark -h "$address" -p "$port" -t set,get \
		-n $requests -c 20 -d 100 -P "$1" --csv || return
	while IFS=, read -r test rate _; do
		[ "$test" = test ] || figure "$test, pipeline of $1, requests/s" "${rate%%.*}"
	done < <(tr -d '"' <"$out")
	moved $((2 * requests * 100))
}

# The server's own counters of each command: calls and failures.
count_commands() {
	client "the server's counts" redis-cli -h "$address" -p "$port" info commandstats
	result "$(sed -nE 's/^cmdstat_(get|set):(calls=[0-9]+).*,(rejected.*)/\1 \2 \3/p' "$out" |
		tr -d '\r' | sort)"
}

large_value() {
	client "a value of 1 MB is set" bash -c \
		"redis-cli -h $address -p $port -x set large <$dir/value" || return
	client "and read again" redis-cli -h "$address" -p "$port" --raw get large
	# redis-cli adds a newline to the value.
	head -c -1 "$out" >"$dir/back"
	result "large value $(sum_of "$dir/back")"
	check "$label: it is what was set" cmp "$dir/value" "$dir/back"
	moved $((2 << 20))
	by_rdma $((1 << 20))
}

work() {
	# The server's IPv6 sockets accept IPv6 only, so a mapped address reaches an IPv4 socket.
	local bind=$at
	[ "$way" != mapped ] || bind=$SDP_B
	serve redis-server --bind "$bind" --port "$port" --save '' --appendonly no \
		--dir "$dir" --protected-mode no
	benchmark 1
	benchmark 16
	large_value
	count_commands
}

each_case work "rc tcp sdp inet rule only client server neither" "rc6 tcp rule" \
	"mapped tcp rule client" "loop tcp sdp rule" "loop6 tcp rule"
tap_done
