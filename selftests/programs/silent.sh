#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Many non-blocking connects to a peer that does not answer SDP: all fall back in time.
# Nothing else in the program has to wait meanwhile: Go needs few threads, and the single thread of
# asyncio continues.
. "$(dirname "$0")/libprograms.sh"

connects=40
# The policy remembers these ports for a minute, so other tests do not use them.
port=7900
make_file "$dir/file" 1

device_back() { [ -e /sys/class/infiniband/rxb ] || lab_device "" rxb vb 0 2; }
cleanup device_back
. "$SDP_TOP/selftests/vm/netlab.sh"

# dials COUNTER COMMAND...: all connects fall back for the reason of COUNTER
dials() {
	local counter=$1 begin
	shift
	counters >"$dir/before"
	begin=${EPOCHREALTIME/./}
	client "$connects connects, $counter" "$@"
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "# $label: $took ms; $(<"$dir/client.log")"
	check "$label: $counter, each of them" \
		test "$(grown "$counter")" = $connects -a "$(grown 'Fell.*')" = $connects
	check "$label: and all are TCP" test "$(grown TcpConnects)" = $connects
}

# silent WHAT SERVER... -- CLIENT...: the server's end has no device; the second time that is
# remembered
silent() {
	local server=() took first
	label=$1 port=$((port + 2)) port2=$((port + 1)) servers=()
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	family=client
	: >"$dir/server.log"
	serve "${server[@]}" "$address" $port $port2 "$dir/file"
	policy_set "$(rules_of client)"
	dials FellTimeout "$@" "$address" $port $connects $((wait_ms * 2 / 3))
	first=$took
	check "$label: it took the time that SDP is given" test $first -ge $wait_ms
	dials FellRemembered "$@" "$address" $port $connects $((wait_ms * 2 / 3))
	policy_set ""
	end_servers
}

wait_ms=3000
[ "${SDP_DEBUG:-0}" = 0 ] || wait_ms=20000
echo $wait_ms >$settings/fallback_ms
set_way rc
set_family tcp
check "the peer's device is gone" rdma link delete rxb
python=(python3 "$SDP_TESTS/own/work.py")
silent "Go" "$SDP_BIN/work-go" server -- "$SDP_BIN/work-go" dials
silent "asyncio" "${python[@]}" server -- "${python[@]}" dials
check "the peer's device is back" device_back
tap_done
