#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A static Go program, which makes its system calls itself: net and net/http, both ends.
# See own/work.go.
. "$(dirname "$0")/libprograms.sh"

make_file "$dir/file" 3

work() {
	# Go listens at all addresses with a socket of AF_INET6.
	[ "$way" != mapped ] || at=
	serve "$SDP_BIN/work-go" server "$at" "$port" "$port2" "$dir/file"
	client "net" "$SDP_BIN/work-go" net "$address" "$port"
	result "net: $(<"$out")"
	moved $((9 << 20))
	client "net/http" "$SDP_BIN/work-go" http "$address" "$port2"
	result "http: $(<"$out")"
	moved $((6 << 20))
	by_rdma $((2 << 20))
	result "the file: $(sum_of "$dir/file")"
	result "log: $(<"$dir/server.log")"
}

interpreter() { readelf -l "$SDP_BIN/work-go" | grep INTERP; }

check_not "it is static" interpreter
if short_form; then
	left_out "one way"
	each_case work "rc tcp rule client"
else
	each_case work "rc tcp rule only client server" "rc6 tcp rule" "mapped tcp rule client" \
		"loop tcp rule client" "loop6 tcp rule"
fi
tap_done
