#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# iperf3: a bulk of bytes in both directions, at once and by four streams.
# timeout: 240 s
. "$(dirname "$0")/libprograms.sh"

mega=24

# From iperf3's report: bytes that were sent, bits per second received, error message if any.
numbers() {
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
e = r["end"]
print(e["sum_sent"]["bytes"], int(e["sum_received"]["bits_per_second"]), r.get("error", "none"))
' "$out"
}

# transfer WHAT OPTION...
transfer() {
	local what=$1 sent rate error
	shift
	client "$what" iperf3 -c "$address" -p "$port" -n ${mega}M -J "$@" || return
	read -r sent rate error < <(numbers)
	result "$what: error $error, all sent: $((sent >= mega << 20))"
	moved $((mega << 20))
	figure "$what, Mbit/s" $((rate / 1000000))
}

work() {
	serve iperf3 -s -B "$address" -p "$port"
	transfer "to the server"
	transfer "from the server" -R
	transfer "four streams" -P 4
}

each_case work
tap_done
