#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Random loss of CM messages under many concurrent short connections by IPv4 and IPv6.
# Some callers connect to a port without a listener. Each connection completes or fails with an
# errno, within a bound, and nothing is left. SDP_SEED=n determines which messages are lost.
. "$(dirname "$0")/../lib/lib.sh" cm_loss

seed=${SDP_SEED:-$RANDOM} bytes=5000
# Concurrent callers for each address, calls by each of them, and callers of a port without a
# listener.
callers=12 calls=$((20 / slow)) strangers=4
export PEER_SECONDS=$((200 * slow))
# Errors that a call may end with: an answer was lost, or the peer gave up meanwhile.
errnos='ETIMEDOUT|ECONNRESET|EPIPE'

serve() {
	peer "server$1" bind "$2" "$3" listen 64 say up fork $callers forgive repeat 1000 \
		accept recv $bytes send $bytes drain close
	says "server$1" $patience up
}

# call NAME ADDRESS PORT: starts the callers
call() {
	peer "callers$1" fork $callers forgive repeat $calls connect "$2" "$3" \
		send $bytes recv $bytes shutdown drain close
}

# lines TEXT FILE...: number of lines that equal TEXT, a regular expression
lines() {
	local text=$1
	shift
	cat "$@" | grep -c -x -E "$text"
}

# Callers and servers print nothing but the expected lines.
nothing_else() {
	! cat "$peers"/callers* "$peers"/server* | grep -v -x -E \
		"up|connected|accepted|forked|received $bytes|end after $bytes bytes|[a-z]*: ($errnos)" &&
		! grep -v -x -E 'forked|connect: (ECONNREFUSED|ETIMEDOUT)' "$peers/strangers"
}

# outcomes FILE...: the errors, with their numbers.
outcomes() { cat "$@" | grep -E '^[a-z]*: ' | sort | uniq -c | tr -s ' \n' ' ;'; }

all_over() { over callers4 "$1" && over callers6 "$1" && over strangers "$1"; }

# lossy SHARE CONNECT-MS: calls by IPv4 and IPv6 while SHARE percent of the messages are lost. Sets
# $failed to the number of failed calls, and $served to the number of their servers' errors.
lossy() {
	local share=$1 name="$1 % lost" begin whole all=$((2 * callers * calls))
	echo "$2" >$settings/connect_timeout_ms
	next_port
	check "$name: servers" eval "serve 4 $SDP_B $port && serve 6 $SDP_B6 $((port + 500))"
	echo "$seed" >$parameters/seed
	echo "$share" >$parameters/share
	begin=$(ms)
	call 4 $SDP_B $port
	call 6 $SDP_B6 $((port + 500))
	peer strangers fork $strangers forgive repeat $calls connect $SDP_B $((port + 900)) close
	check "$name: all calls end" all_over $PEER_SECONDS
	whole=$(lines "end after $bytes bytes" "$peers"/callers*)
	failed=$(lines "[a-z]*: ($errnos)" "$peers"/callers*)
	served=$(lines "[a-z]*: ($errnos)" "$peers"/server*)
	echo "# $name, seed $seed: $whole of $all whole, $failed failed, in $(($(ms) - begin)) ms;" \
		"callers: $(outcomes "$peers"/callers*) servers: $(outcomes "$peers"/server*)" \
		"strangers: $(outcomes "$peers"/strangers)"
	echo "# lost by chance: $(tr '\n' ';' <$parameters/chance)"
	check "$name: none is without an outcome" test $((whole + failed)) = $all
	check "$name: nor of those that nobody answers" \
		test "$(lines 'connect: (ECONNREFUSED|ETIMEDOUT)' "$peers/strangers")" = $((strangers * calls))
	check "$name: no byte is wrong or missing, and each errno is one of those expected" nothing_else
	check "$name: some are whole" test $whole -gt 0
	peers_end
	# The last messages get lost, too.
	check "$name: the sockets end in time" wait_for $((2 * patience)) no_sockets
	check "$name: nothing is left" wait_for $((3 * patience)) connection_counts_are "$objects_before"
	echo 0 >$parameters/share
	check "$name: afterwards a connection works" transfer $SDP_B
	check "$name: also by IPv6" transfer $SDP_B6
	wait_for $patience no_sockets
}

check "data before" transfer $SDP_B
check "data before, by IPv6" transfer $SDP_B6
deaf_begin
echo 5000 >$settings/fin_timeout_ms
lossy 25 30000
check "25 % lost: in 30 s each call gets through" test $failed = 0
check "25 % lost: and no server has an error" test $served = 0
lossy 60 4000
check "60 % lost: in 4 s some calls do not" test $failed -gt 0
# Neither end sends MRAs here.
check "messages of six kinds were lost" test "$(grep -c ' [1-9][0-9]* of ' $parameters/chance)" = 6
tap_done
