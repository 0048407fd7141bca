#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The policy leaves a kernel module's socket alone, even one made like a program's (J2).
# NVMe over TCP creates such sockets in 6.12 (modules/user.c).
. "$(dirname "$0")/../lib/lib.sh" peers

parameters=/sys/module/sdp_user/parameters
settings=/proc/sys/net/sdp
need_module user
keeps $settings/{rewrite,policy}
cleanup rmmod sdp_user

# Only SDP listens there.
listens server 127.0.0.1 accept hold
echo "connect 127.0.0.1:$port sdp" >$settings/policy
echo 1 >$settings/rewrite
[ "$(<$settings/rewrite)" = 1 ] || tap_skip_all "no rewriting on this kernel"

check "a module's socket connects" insmod "$(module_file user)" port=$port
check "... by TCP, and there is nobody" test "$(<$parameters/outcome)" = -111
check "... and is TCP's afterwards" test "$(<$parameters/protocol)" = 6
peer client tcp connect 127.0.0.1 $port hold
check "a program's goes by SDP" says client $patience connected
tap_done
