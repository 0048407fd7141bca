#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# iperf3: bulk data in both directions, at once and by four streams.
. "$(dirname "$0")/libprograms.sh"

mega=6

# numbers: from iperf3's report: bytes sent and received, bits per second received, error if any.
numbers() {
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
e = r["end"]
print(e["sum_sent"]["bytes"], e["sum_received"]["bytes"],
      int(e["sum_received"]["bits_per_second"]), r.get("error", "none"))
' "$out"
}

# transfer WHAT OPTION...: one run of the client
transfer() {
	local what=$1 sent received rate error
	shift
	client "$what" iperf3 -c "$address" -p "$port" -n ${mega}M -J "$@" || return
	read -r sent received rate error < <(numbers)
	result "$what: error $error, all sent: $((sent >= mega << 20))"
	# iperf3 ends when everything is written, so the last bytes may stay unread.
	moved "$received"
	figure "$what, Mbit/s" $((rate / 1000000))
}

work() {
	serve iperf3 -s -B "$at" -p "$port"
	transfer "to the server"
	transfer "from the server" -R
	transfer "four streams" -P 4
	by_rdma $((6 << 20))
}

each_case work "rc tcp sdp inet rule only client server neither" "rc6 tcp rule" \
	"mapped tcp rule client" "loop tcp sdp rule" "loop6 tcp rule"
tap_done
