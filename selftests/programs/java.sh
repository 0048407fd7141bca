#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Java: java.net and NIO, both ends. See own/Work.java.
# All its sockets are of AF_INET6, so IPv4 addresses are mapped.
. "$(dirname "$0")/libprograms.sh"

make_file "$dir/file" 2
java=(java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto
	-cp "$SDP_BIN/work-java" Work)

work() {
	serve "${java[@]}" server "$address" "$port" "$port2"
	client "java.net and NIO" "${java[@]}" client "$address" "$port" "$port2" "$dir/file"
	result "client: $(<"$out")"
	moved $((10 << 20))
	result "log: $(<"$dir/server.log")"
}

each_case work "rc tcp sdp rule client server" "rc6 tcp rule" "loop tcp rule" "loop6 tcp rule"
tap_done
