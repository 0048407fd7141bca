# SPDX-License-Identifier: GPL-2.0
# Real programs doing the same work over TCP and over SDP, with a comparison. Sourced.
#
#	. "$(dirname "$0")/libprograms.sh"
#	work() { serve ...; client "what" ...; result ...; }
#	each_case work [CASE...]
#	tap_done
#
# each_case FUNCTION [CASE...]	calls FUNCTION for each case with $way, $family, $address, $at (the
#			address that a server binds), $host and $host_at (the same for URLs) and
#			new ports $port and $port2; ends the servers; checks whether the bytes
#			went by SDP, and the counters; compares the results with TCP's. A CASE is
#			a way and the families to try, tcp first
# serve COMMAND...	starts a server with sockets of $family, and waits until it listens at
#			$port; it gets SIGTERM at the end of the case
# client WHAT COMMAND...	one point: a client with sockets of $family succeeds; its output is
#			in $out
# result WHAT VALUE	something that must be the same as with TCP
# moved BYTES		at least that many bytes of payload are moved in this case
# by_rdma BYTES		at least that many of them go by RDMA, where there is an RDMA device
# figure WHAT VALUE	a rate (more is better), to be shown beside TCP's
#
# Ways: rc (from $SDP_A to $SDP_B over the cable), rc6 (the same with IPv6), mapped (to
# ::ffff:$SDP_B by sockets of AF_INET6, the server bound to ::), loop (127.0.0.1), loop6 (::1).
#
# Families: what turns a program's TCP sockets into SDP sockets.
#	tcp	nothing
#	sdp, inet	a preload library: family 27, or IPPROTO_SDP
#	rule	net.sdp.policy and rewrite=1, no library: both ends by SDP or TCP
#	only	the same, both ends by SDP only
#	client	the policy is for connects only, so these fall back: the server uses TCP
#	server	the policy is for listeners only, so these have TCP clients
#	neither	the policy is for another port, so it leaves both ends to TCP
#
# Files are in $dir, which is in memory. SDP_FAMILIES and SDP_WAYS limit the cases.
. "$SDP_TOP/selftests/net/sdp/lib/lib.sh"

name=$(basename "$0" .sh)
dir=/dev/shm/programs-$name
preload=$dir/libsdp_preload.so
port=7100
# Only for programs that hang: a busy host may need minutes for what takes seconds.
client_limit=300 server_limit=300 fallback_ms=6000
out=$dir/out
settings=/proc/sys/net/sdp

# An emulated debug kernel is many times slower.
if [ "${SDP_DEBUG:-0}" = 1 ]; then
	fallback_ms=30000
	: "${SDP_FAMILIES:=tcp rule client}" "${SDP_WAYS:=rc}"
fi

mkdir -p "$dir"
cleanup rm -rf "$dir"
# Programs of other users could not read it in a tree that only root may enter.
install -m 644 "$SDP_BIN/libsdp_preload.so" "$preload"
cleanup policy_set ""
cleanup eval "echo $(<$settings/fallback_ms) >$settings/fallback_ms"

hex_port() { printf ':%04X' "$1"; }

# policy_set RULES: for programs started from now on; without rules the policy is off
policy_set() {
	echo "$1" >$settings/policy || tap_not_ok "the policy is taken" "$(<$settings/policy_error)"
	echo $((${#1} > 0)) >$settings/rewrite
}

# rules_of FAMILY: rules for the ports of the case only
rules_of() {
	local ports=$port-$port2 target=$address
	[ "$way" != mapped ] || target=$SDP_B # an IPv4 address covers its mapped one, too
	[[ $target != *:* ]] || target="[$target]"
	case $1 in
	rule)	echo "connect $target:$ports both; listen *:$ports both" ;;
	only)	echo "connect $target:$ports sdp; listen *:$ports sdp" ;;
	client)	echo "connect $target:$ports both" ;;
	server)	echo "listen *:$ports both" ;;
	neither) echo "any *:1 sdp" ;;
	esac
}

# set_family FAMILY: sets `via`, a prefix for commands
set_family() {
	family=$1
	via=(env)
	[[ $family != sdp && $family != inet ]] ||
		via=(env LD_PRELOAD="$preload" SDP_PRELOAD="$family")
	policy_set "$(rules_of "$family")"
}

by_sdp() { [[ $family == @(sdp|inet|rule|only) ]]; }

# listens_in TABLE...: a listener by both protocols is in both tables.
listens_in() {
	awk -v end="$(hex_port "$port")\$" '$2 ~ end && $4 == "0A" { n++ } END { exit !n }' "$@"
}

listening() {
	[[ $family == @(sdp|inet|only) ]] || listens_in /proc/net/tcp /proc/net/tcp6 || return
	[[ $family == @(tcp|client|neither) ]] || listens_in /proc/net/sdp
}

serve() {
	"${via[@]}" "$@" >>"$dir/server.log" 2>&1 </dev/null &
	server=$!
	servers+=($server)
	if wait_for $server_limit listening; then
		tap_ok "$label: the server listens"
	else
		tap_not_ok "$label: the server listens" "$(tail -n 20 "$dir/server.log")"
	fi
}

end_servers() {
	local pid status
	for pid in "${servers[@]}"; do
		kill "$pid" 2>/dev/null
		if ! wait_for 20 process_gone "$pid"; then
			tap_not_ok "$label: the server ends" "$(tail -n 20 "$dir/server.log")"
			kill -KILL "$pid"
		fi
		status=0
		wait "$pid" 2>/dev/null || status=$?
		result "exit status of the server: $status"
	done
	servers=()
}

client() {
	local what=$1 status=0
	shift
	timeout -k 5 $client_limit "${via[@]}" "$@" >"$out" 2>"$dir/client.log" </dev/null || status=$?
	if [ $status = 0 ]; then
		tap_ok "$label: $what"
	else
		tap_not_ok "$label: $what" "status $status of: $*
$(tail -n 15 "$out" "$dir/client.log" "$dir/server.log")"
	fi
	return $status
}

# stay COMMAND...: if the watcher has seen no connection, a client that stays until it has. What it
# reads from its input never comes, and does not end.
stay() {
	local i pid input
	by_sdp && [[ ! -s $dir/seen ]] || return 0
	[[ -p $dir/endless ]] || mkfifo "$dir/endless"
	exec {input}<>"$dir/endless"
	"${via[@]}" "$@" >/dev/null 2>&1 <&"$input" &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[[ ! -s $dir/seen ]] || break
		pause 0.1
	done
	kill $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	exec {input}>&-
	return 0
}

result() { echo "$*" >>"$dir/results.$family"; }

moved() { payload=$((payload + $1)); }

by_rdma() { rdma=$((rdma + $1)); }

figure() { echo "$name $way $family $2 $1" >>"$SDP_RUN/figures"; }

sum_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

# make_file FILE MEGABYTES: bytes that do not repeat
make_file() { head -c "$2"M /dev/urandom >"$1"; }

# watch: records the devices of established connections with an end at one of the case's ports.
watch() {
	local end lines line words
	end="@($(hex_port "$port")|$(hex_port "$port2"))"
	set -f
	while :; do
		mapfile -t lines </proc/net/sdp
		for line in "${lines[@]}"; do
			words=($line) # the state and both ends
			# shellcheck disable=SC2053 # a pattern
			[[ ${words[3]} != 01 || (${words[1]} != *$end && ${words[2]} != *$end) ]] ||
				echo "${words[11]}"
		done
		pause 0.1
	done >"$dir/seen" 2>/dev/null
}

# counters: SDP's counters and TCP's connects, one "name value" per line.
counters() {
	cat /proc/net/sdpstat
	awk '/^Tcp: [0-9]/ { print "TcpConnects", $6 }' /proc/net/snmp
}

# grown PATTERN: the growth of the counters whose names match, in this case
grown() {
	{ sed 's/ \([0-9]*\)$/ -\1/' "$dir/before"; counters; } |
		awk -v names="^($1)\$" '$1 ~ names { sum += $2 } END { print sum + 0 }'
}

# violations: counters of violations, which mean that the two ends disagreed.
violations() { awk '/^Bad/ && $2 { print; n++ } END { exit n > 0 }' /proc/net/sdpstat; }

bytes_by_rdma() { grown '(RdmaReadBytesByPeer|RdmaWriteBytes)'; }

# bytes_sent: sent in messages, read by the receiver by RDMA, or written to it by RDMA; as the ends
# that send count them, or those that receive, if that is more: a receiver that closes with unread
# bytes does not tell the sender any more what it has read.
bytes_sent() {
	local sent received
	sent=$(grown '(BytesSent|RdmaReadBytesByPeer|RdmaWriteBytes)')
	received=$(grown '(BytesReceived|RdmaReadBytes|RdmaWriteBytesByPeer)')
	echo $((sent > received ? sent : received))
}

check_sdp() {
	local sent fast device='^rx[ab]$'
	sent=$(bytes_sent) fast=$(bytes_by_rdma)
	[[ $way != loop* ]] || device='^loop$'
	check "$label: $sent bytes went by SDP, at least $payload" \
		test "$sent" -ge $payload -a $payload -gt 0
	if [[ $way == loop* || $rdma = 0 ]]; then
		echo "# $label: $fast bytes by RDMA"
	else
		check "$label: $fast bytes by RDMA, at least $rdma" test "$fast" -ge $rdma
	fi
	if grep -qvE "$device" "$dir/seen" || ! grep -qE "$device" "$dir/seen"; then
		tap_not_ok "$label: /proc/net/sdp shows connections by $device" \
			"$(sort "$dir/seen" | uniq -c)"
	else
		tap_ok "$label: /proc/net/sdp shows connections by $device"
	fi
	check "$label: no connection was TCP" test "$(grown TcpConnects)" = 0
	check "$label: no rule of the protocol was broken" violations
}

check_tcp() {
	check "$label: nothing of it went by SDP" test "$(bytes_sent)" = 0
	check "$label: /proc/net/sdp shows no connection" test ! -s "$dir/seen"
	check "$label: there were connections by TCP" test "$(grown TcpConnects)" -gt 0
}

none_fell() { [ "$1" = 0 ] || { tail -n 4 /proc/net/sdp_fallbacks && false; }; }

# check_policy: the policy's counters match its actions.
check_policy() {
	local connects listens accepts fell refused opened
	connects=$(grown PolicyConnects) listens=$(grown PolicyListens)
	accepts=$(grown PolicyAccepts) fell=$(grown 'Fell.*') refused=$(grown FellRefused)
	opened=$(grown TcpConnects)
	echo "# $label: $connects connects and $listens listeners by SDP, $accepts accepted," \
		"$refused refused and fell back, $opened connects by TCP"
	case $family in
	rule)	check "$label: connected, listened and accepted by the policy" \
			test "$connects" -gt 0 -a "$listens" -gt 0 -a "$accepts" -gt 0 ;;
	only)	check "$label: connected and listened by the policy" \
			test "$connects" -gt 0 -a "$listens" -gt 0 ;;
	server)	check "$label: listened by the policy, and nothing came by SDP" \
			test "$connects" = 0 -a "$listens" -gt 0 -a "$accepts" = 0 ;;
	*)	check "$label: nothing is SDP by the policy" test $((connects + listens + accepts)) = 0 ;;
	esac
	if [ "$family" != client ]; then
		check "$label: nothing fell back" none_fell "$fell"
		return
	fi
	check "$label: every connect was refused by SDP before it was TCP" \
		test "$opened" -gt 0 -a "$refused" -ge "$opened" -a "$fell" = "$refused"
	check "$label: /proc/net/sdp_fallbacks has it with its reason" grep -qF \
		"${host/"[::ffff:$SDP_B]"/$SDP_B}:$port the peer has no SDP listener" \
		/proc/net/sdp_fallbacks
}

# set_way WAY: sets the addresses
set_way() {
	way=$1
	case $way in
	rc)	address=$SDP_B ;;
	rc6)	address=$SDP_B6 ;;
	mapped)	address=::ffff:$SDP_B ;;
	loop)	address=127.0.0.1 ;;
	loop6)	address=::1 ;;
	esac
	at=$address
	[ "$way" != mapped ] || at=::
	host=$address host_at=$at
	[[ $host != *:* ]] || host="[$host]" host_at="[$host_at]"
}

one_case() {
	local watcher start=$SECONDS
	port=$((port + 2)) port2=$((port + 1)) payload=0 rdma=0 servers=()
	label="$way, $2"
	set_family "$2"
	: >"$dir/server.log" >"$dir/results.$family" >"$dir/seen"
	counters >"$dir/before"
	watch &
	watcher=$!
	"$1"
	end_servers
	kill $watcher
	wait $watcher 2>/dev/null
	if by_sdp; then check_sdp; else check_tcp; fi
	check_policy
	[ "$family" = tcp ] || check "$label: the results are those of TCP" \
		diff "$dir/results.tcp" "$dir/results.$family"
	echo "# $label: $((SECONDS - start)) s"
	cp "$dir/server.log" "$SDP_RUN/$name-$way-$family.log"
}

among() { [[ " $2 " == *" $1 "* ]]; }

each_case() {
	local work=$1 families one
	shift
	# The special properties of IPPROTO_SDP need one of the two ways only.
	[ $# -gt 0 ] || set -- "rc tcp sdp inet rule client" "loop tcp sdp rule"
	# On a busy processor a refusal takes longer.
	echo $fallback_ms >$settings/fallback_ms
	for one; do
		read -r way families <<<"$one"
		among "$way" "${SDP_WAYS:-$way}" || continue
		set_way "$way"
		for family in $families; do
			among "$family" "${SDP_FAMILIES:-$family}" || continue
			one_case "$work" "$family"
		done
	done
}
