# SPDX-License-Identifier: GPL-2.0
# Sourced after lib.sh by the tests that need processes at the ends of connections
# (peer/peer.c says what they can be told), and questions to /proc/net/sdp.
#
# peer NAME OPERATION...	starts one, in namespace $peer_in if that is set, on the processors of
#				the mask $peer_on if there is one; its process is ${peer_pid[NAME]}
# victim NAME ARGUMENT...	likewise, by peer/victim.c
# says NAME SECONDS TEXT	waits until it has printed TEXT, a whole line
# over NAME SECONDS		waits until it has ended
# reset_of NAME SECONDS		waits until it has ended with any of a connection's errors
# silence_noticed		of "client" flow, "server" drain one gets ETIMEDOUT, the other is over
# peers_end [NAME...]		kills those that are left, or all, and forgets them
# transfer ADDRESS		sends data both ways over a new connection, checked
# ms				the time of day in milliseconds
# connections COLUMN [STATE [PORT]]	a column of the sockets in a state, on a port
# no_sockets			succeeds when there are none

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=${SDP_BIN:-$here/../../../build/selftests}
[ -x "$programs/peer" ] || tap_skip_all "no $programs/peer; make it with make -C selftests/net/sdp"
# The tools that follow, by a program that is quick to start.
[ ! -d "$programs/quick" ] || PATH=$programs/quick:$PATH
declare -A peer_pid=()
peers=$(mktemp -d)
cleanup rm -rf "$peers"
cleanup peers_end
port=$((20000 + RANDOM % 1000 * 10))
# Everything that is waited for is there long before; the debug kernel is slow.
slow=$((1 + 3 * ${SDP_DEBUG:-0}))
patience=$((30 * slow))
export PEER_SECONDS=${PEER_SECONDS:-$((100 * slow))}
export PEER_FULL_MS=$((200 * slow)) PEER_REST_MS=$((50 * slow * slow))
peer_in=
peer_on=

ESTABLISHED=01 SYN_SENT=02 SYN_RECV=03 CLOSED=07 LISTEN=0A

peer() {
	local name=$1
	shift
	: >"$peers/$name"
	${peer_in:+ip netns exec "$peer_in"} ${peer_on:+taskset "$peer_on"} "$programs/peer" "$@" >"$peers/$name" 2>&1 &
	peer_pid[$name]=$!
	# Without the shell's remarks on how it ended.
	disown $!
}

victim() {
	local name=$1
	shift
	: >"$peers/$name"
	"$programs/victim" "$@" >"$peers/$name" 2>&1 &
	peer_pid[$name]=$!
	disown $!
}

# What the processes have printed, for the reader of a failure.
show_peers() { (cd "$peers" && grep -H . ./* 2>/dev/null); }

# printed NAME TEXT: it has, by now
printed() {
	local line lines
	mapfile -t lines <"$peers/$1"
	for line in "${lines[@]}"; do
		[[ ! $line =~ ^($2)$ ]] || return 0
	done
	return 1
}

says() {
	wait_for "$2" printed "$1" "$3" && return
	show_peers
	return 1
}

ended() { process_gone "${peer_pid[$1]}"; }

over() {
	wait_for "$2" ended "$1" && return
	echo "$1 is still there:"
	cat "/proc/${peer_pid[$1]}/stack"
	show_peers
	return 1
}

# What a connection's end by force may look like at its other end.
RESET='[a-z]*: (ECONNRESET|EPIPE|ENETDOWN|ETIMEDOUT|ECONNREFUSED)'

reset_of() { over "$1" "$2" && says "$1" 1 "$RESET"; }

# Nothing reaches "server" any more, neither data nor acknowledgements. Either end may find out
# first, and the other one then hears of it.
silence_noticed() {
	says client $((3 * patience)) "flow: E(TIMEDOUT|CONNRESET)" || return
	printed client "flow: ETIMEDOUT" || says server $patience "drain: ETIMEDOUT"
}

peers_end() {
	local name names=("$@")
	if [ $# = 0 ]; then
		names=("${!peer_pid[@]}")
		rm -f "$peers/go" "$peers/close"
	fi
	for name in "${names[@]}"; do
		kill -KILL "-${peer_pid[$name]}" "${peer_pid[$name]}" 2>/dev/null
		wait_for $patience ended "$name"
		unset "peer_pid[$name]"
		rm -f "$peers/$name"
	done
}

ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

next_port() { port=$((port + 1)); }

connections() {
	awk -v column="$1" -v state="${2:-}" -v port="$(printf ':%04X$' "${3:-0}")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; shift = 0; next }
		(state == "" || $4 == state) && (port == ":0000$" || $2 ~ port || $3 ~ port) {
			# Two pairs of titles stand for one field each.
			print $(at[column] - (at[column] > at["tx_queue"] ? 2 : 0))
		}' /proc/net/sdp
}

no_sockets() {
	local lines
	mapfile -t lines </proc/net/sdp
	[ ${#lines[@]} = 1 ]
}

# transfer ADDRESS [FROM ADDRESS]
transfer() {
	local status=0 bytes=300000
	next_port
	peer to bind "$1" $port listen 5 say up accept recv $bytes send $bytes drain
	says to $patience up &&
		peer from connect "$1" $port send $bytes recv $bytes shutdown drain &&
		says from $((2 * patience)) "end after $bytes bytes" && says to $patience "end after $bytes bytes" || status=1
	peers_end to from
	return $status
}
