#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Module parameters: rules from a file and the rewrite switch take effect at load time.
# Also files that are missing or contain no valid policy.
. "$(dirname "$0")/../lib/lib.sh"

settings=/proc/sys/net/sdp
patience=60
dir=$(mktemp -d)
cleanup rm -rf "$dir"
cleanup restore

loaded() { [ -d /sys/module/sdp ]; }

restore() {
	ip netns delete sdpparam
	rmmod sdp
	loaded || insmod "$SDP_MODULE"
}

# load PARAMETER...: reloads the module; $dir/log has the kernel log from here on
load() {
	mark="sdp parameters $$-$((++loads))"
	wait_for $patience rmmod sdp || return
	echo "$mark" >/dev/kmsg
	insmod "$SDP_MODULE" "$@" || return
	dmesg | sed "1,/$mark/d" | grep -o 'sdp: .*' >"$dir/log" || true
}
loads=0

says() { grep -qF -- "$1" "$dir/log" || { cat "$dir/log"; return 1; }; }
silent() { [ ! -s "$dir/log" ] || { cat "$dir/log"; return 1; }; }
value_is() { [ "$(cat $settings/"$1")" = "$2" ] || { cat $settings/"$1"; return 1; }; }
policy_is() { cmp $settings/policy "$1"; }
no_rules() { [ -z "$(cat $settings/policy)" ]; }

# connects_by NUMBER: a program connects to a port without a listener, for which a rule demands
# SDP; PolicyConnects grows by NUMBER.
connects_by() {
	local before after
	before=$(sdpstat PolicyConnects)
	! (exec 3<>/dev/tcp/127.0.0.1/9) 2>/dev/null || return
	after=$(sdpstat PolicyConnects)
	[ $((after - before)) = "$1" ] || { echo "$before, $after"; return 1; }
}

printf '# the rules\nconnect 127.0.0.1:9 sdp\n' >"$dir/good"
printf 'any *:1 sdp\n\n  listen * xyz\n' >"$dir/bad"
: >"$dir/empty"
head -c 16384 /dev/zero | tr '\0' '#' >"$dir/longest"
head -c 16385 /dev/zero | tr '\0' '#' >"$dir/longer"
printf 'any * sdp\0' >"$dir/nul"

check "a file and the switch" load policy_file="$dir/good" rewrite=1
check "nothing is said" silent
check "the rules are the file's" policy_is "$dir/good"
check "the switch is on" value_is rewrite 1
check "no mistake is told" value_is policy_error ""
check "a program's connect is by SDP" connects_by 1
check "the file's name is shown" grep -qxF "$dir/good" /sys/module/sdp/parameters/policy_file
check "another namespace" ip netns add sdpparam
check "has no rules" test -z "$(ip netns exec sdpparam cat $settings/policy)"
check "and is off" test "$(ip netns exec sdpparam cat $settings/rewrite)" = 0
ip netns delete sdpparam

check "a file alone" load policy_file="$dir/good"
check "its rules are there" policy_is "$dir/good"
check "the switch is off" value_is rewrite 0
check "a connect is by TCP" connects_by 0

check "a file with a mistake" load policy_file="$dir/bad" rewrite=1
check "the log has the place" says "sdp: $dir/bad:3:12: expected "
check "no rules are set" no_rules
check "policy_error has it" grep -q '^line 3, column 12: expected ' $settings/policy_error
check "the switch is on all the same" value_is rewrite 1
check "and a connect is by TCP" connects_by 0

check "no such file" load policy_file="$dir/none" rewrite=1
check "the log says so" says "sdp: cannot read policy file $dir/none (error -2)"
check "no rules are set then" no_rules

check "the longest file" load policy_file="$dir/longest"
check "is taken" policy_is "$dir/longest"
check "a longer file" load policy_file="$dir/longer"
check "is refused" says "sdp: cannot read policy file $dir/longer (error -27)"
check "an empty file" load policy_file="$dir/empty"
check "is not taken for a policy" says "sdp: cannot read policy file $dir/empty (error -22)"
check "a file with a NUL" load policy_file="$dir/nul"
check "has its place told" says "sdp: $dir/nul:1:10: expected "
check "a directory" load policy_file="$dir"
check "is none" says "sdp: cannot read policy file $dir (error "

check "without parameters" load
check "nothing is said then" silent
check "no rules" no_rules
check "the switch is off then" value_is rewrite 0
check "rewrite takes no other number" eval 'wait_for $patience rmmod sdp && ! insmod "$SDP_MODULE" rewrite=2'
check "and the module is not there" eval '! loaded'
check "loaded again" insmod "$SDP_MODULE"
tap_done
