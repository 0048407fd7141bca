#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The module is there at all: the socket family, its files, its settings, and the lab.
. "$(dirname "$0")/../lib/lib.sh"

# try_socket TYPE PROTOCOL: perl is part of every Debian, and its socket() takes any family
try_socket() { perl -e 'socket(my $s, 27, $ARGV[0], $ARGV[1]) or die "$!\n"' "$1" "$2"; }

sock_stream=1 sock_dgram=2 ipproto_tcp=6 ipproto_udp=17

check "the module is loaded" test -d /sys/module/sdp
check "socket(27, SOCK_STREAM, 0)" try_socket $sock_stream 0
check "socket(27, SOCK_STREAM, IPPROTO_TCP)" try_socket $sock_stream $ipproto_tcp
check_not "socket(27, SOCK_STREAM, IPPROTO_UDP) is refused" try_socket $sock_stream $ipproto_udp
check_not "socket(27, SOCK_DGRAM, 0) is refused" try_socket $sock_dgram 0
check "/proc/net/sdp has a header with an inode column" grep -qE '^ *sl .* inode' /proc/net/sdp
check "/proc/net/sdpstat counts connections" sdpstat ActiveOpens
check "net.sdp.recv_buffers is 12" test "$(cat /proc/sys/net/sdp/recv_buffers 2>&1)" = 12
for device in rxa rxb; do
	check "RDMA device $device is active" grep -q ACTIVE /sys/class/infiniband/$device/ports/1/state
done
tap_done
