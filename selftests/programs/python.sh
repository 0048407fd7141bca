#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Python: asyncio and blocking sockets, both ends. See own/work.py.
. "$(dirname "$0")/libprograms.sh"

make_file "$dir/file" 2
program="$SDP_TESTS/own/work.py"

work() {
	serve python3 "$program" server "$at" "$port" "$port2" "$dir/file"
	client "asyncio" python3 "$program" async "$address" "$port"
	result "asyncio: $(<"$out")"
	moved $((4 << 20))
	client "blocking" python3 "$program" block "$address" "$port2"
	result "blocking: $(<"$out")"
	moved $((5 << 20))
	result "the file: $(sum_of "$dir/file")"
	result "log: $(<"$dir/server.log")"
}

each_case work "rc tcp sdp inet rule client server" "loop tcp sdp rule" "loop6 tcp rule client"
tap_done
