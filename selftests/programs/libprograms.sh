# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests of real programs: the same work over TCP and over SDP, compared.
#
#	. "$(dirname "$0")/libprograms.sh"
#	work() { serve ...; client "what" ...; result ...; }
#	each_case work
#	tap_done
#
# each_case FUNCTION	calls it for each way (rc: from $SDP_A to $SDP_B over the cable; loop:
#			127.0.0.1) and family (tcp, sdp: family 27, inet: IPPROTO_SDP), with
#			$way, $family, $address and a fresh $port set; ends the servers; checks
#			that the bytes went by SDP, or did not; compares the results with TCP's
# serve COMMAND...	starts a server with sockets of $family, until it listens at $port; the
#			case's end is SIGTERM for it
# client WHAT COMMAND...	one point: a client with sockets of $family succeeds; its output
#			is in $out
# result WHAT VALUE	something that has to be the same as with TCP
# moved BYTES		at least so many bytes of payload were moved in this case
# figure WHAT VALUE	a rate (more is better), to be shown beside TCP's
#
# Files are in $dir, which is in memory. SDP_FAMILIES narrows the families.
. "$SDP_TOP/selftests/net/sdp/lib.sh"

name=$(basename "$0" .sh)
dir=/dev/shm/programs-$name
preload=$SDP_BIN/libsdp_preload.so
port=7100
client_limit=60
out=$dir/out

mkdir -p "$dir"
cleanup rm -rf "$dir"

hex_port() { printf ':%04X' "$port"; }

# set_family FAMILY: `via` is what to put before a command
set_family() {
	family=$1
	via=(env)
	[ "$family" = tcp ] || via=(env LD_PRELOAD="$preload" SDP_PRELOAD="$family")
}

listening() {
	local files=(/proc/net/tcp /proc/net/tcp6)
	[ "$family" = tcp ] || files=(/proc/net/sdp)
	awk -v end="$(hex_port)\$" '$2 ~ end && $4 == "0A" { n++ } END { exit !n }' "${files[@]}"
}

serve() {
	"${via[@]}" "$@" >>"$dir/server.log" 2>&1 </dev/null &
	server=$!
	servers+=($server)
	if wait_for 60 listening; then
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

result() { echo "$*" >>"$dir/results.$family"; }

moved() { payload=$((payload + $1)); }

figure() { echo "$name $way $family $2 $1" >>"$SDP_RUN/figures"; }

sum_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

# make_file FILE MEGABYTES: bytes that do not repeat
make_file() { head -c "$2"M /dev/urandom >"$1"; }

# Note the devices of established connections that have an end at $port.
watch() {
	local local remote state dev end
	end=$(hex_port)
	while :; do
		while read -r _ local remote state _ _ _ _ _ _ _ dev _; do
			[[ $state != 01 || ($local != *$end && $remote != *$end) ]] || echo "$dev"
		done </proc/net/sdp
		sleep 0.1
	done >"$dir/seen" 2>/dev/null
}

# Counters that say that the two ends disagreed.
violations() { awk '/^Bad/ && $2 { print; n++ } END { exit n > 0 }' /proc/net/sdpstat; }

# In messages, and by RDMA: read by the receiver, or written to it.
bytes_sent() {
	awk '/^Bytes(Sent|Fetched|Written) / { sum += $2 } END { print sum + 0 }' /proc/net/sdpstat \
		2>/dev/null || echo 0
}

check_transport() {
	local sent=$(($(bytes_sent) - bytes_before)) device='^rx[ab]$'
	[ $way = rc ] || device='^loop$'
	if [ "$family" = tcp ]; then
		check "$label: nothing of it went by SDP" test $sent = 0
		return
	fi
	check "$label: $sent bytes went by SDP, at least $payload" \
		test $sent -ge $payload -a $payload -gt 0
	if grep -qvE "$device" "$dir/seen" || ! grep -qE "$device" "$dir/seen"; then
		tap_not_ok "$label: /proc/net/sdp shows connections by $device" \
			"$(sort "$dir/seen" | uniq -c)"
	else
		tap_ok "$label: /proc/net/sdp shows connections by $device"
	fi
	check "$label: no rule of the protocol was broken" violations
}

one_case() {
	local watcher start=$SECONDS
	set_family "$2"
	label="$way, $family"
	port=$((port + 1)) payload=0 servers=()
	: >"$dir/server.log" >"$dir/results.$family" >"$dir/seen"
	bytes_before=$(bytes_sent)
	watch &
	watcher=$!
	"$1"
	end_servers
	kill $watcher
	wait $watcher 2>/dev/null
	check_transport
	echo "# $label: $((SECONDS - start)) s"
	cp "$dir/server.log" "$SDP_RUN/$name-$way-$family.log"
}

each_case() {
	local families
	for way in rc loop; do
		address=$SDP_B families=${SDP_FAMILIES:-tcp sdp inet}
		# What IPPROTO_SDP does otherwise shows in one of the two ways.
		[ $way = rc ] || address=127.0.0.1 families=${SDP_FAMILIES:-tcp sdp}
		for family in $families; do
			one_case "$1" "$family"
			[ "$family" = tcp ] || check "$label: the results are those of TCP" \
				diff "$dir/results.tcp" "$dir/results.$family"
		done
	done
}
