# SPDX-License-Identifier: GPL-2.0
# Processes at the ends of connections (peer/peer.c), and queries of /proc/net/sdp.
# A part of lib.sh.
#
# peer NAME OPERATION...	starts a process, in namespace $peer_in if that is set, on the
#				CPUs of the mask $peer_on if that is set; its PID is
#				${peer_pid[NAME]}
# victim NAME ARGUMENT...	starts a process of peer/victim.c
# listens NAME ADDRESS OPERATION...	starts a process that listens at the next $port, with a queue
#				of 5 or $queue, before its operations; waits until it is up
# pair ADDRESS OPERATION... -- OPERATION...	a listener, "server", and "client", which connects
# says NAME SECONDS TEXT	waits until it has printed TEXT, a whole line
# over NAME SECONDS		waits until it has ended
# reset_of NAME SECONDS		waits until it has ended with any of a connection's errors
# silence_noticed		one of "client" (flow) and "server" (drain) gets ETIMEDOUT,
#				and the other one ends
# peers_end [NAME...]		kills the named ones that are left, or all, and forgets them
# transfer ADDRESS		sends data both ways over a new connection, and checks it
# data_before			checks that data passes, and sets $objects_before (checks.sh) when
#				nothing is left of it
# phases_begin N PIECE AMOUNT LARGE LARGE_AMOUNT	a connection by RDMA for N phases, in each
#				of which both ends send AMOUNT bytes in writes of PIECE, and then
#				LARGE_AMOUNT in writes of LARGE
# next_phase NAME SECONDS	checks that the data of the next phase is right
# connection_lives NAME		checks that both ends at port $watched, which phases_begin sets, are
#				established
# ms				the time of day in milliseconds
# connections COLUMN [STATE [PORT]]	a column of the sockets in a state, on a port
# no_sockets			succeeds when there are none

[ -x "$programs/peer" ] || tap_skip_all "no $programs/peer; make it with make -C selftests/net/sdp"
# A multi-call program with the tools used below, which starts quickly.
[ ! -d "$programs/quick" ] || PATH=$programs/quick:$PATH
declare -gA peer_pid=()
peers=$(mktemp -d)
cleanup rm -rf "$peers"
cleanup peers_end
port=$((20000 + RANDOM % 900 * 10))
# A time limit that is far longer than any wait takes; the debug kernel is slow.
slow=$((1 + 3 * ${SDP_DEBUG:-0}))
patience=$((30 * slow))
export PEER_SECONDS=${PEER_SECONDS:-$((100 * slow))}
export PEER_FULL_MS=$((200 * slow)) PEER_REST_MS=$((50 * slow * slow))
peer_in=
peer_on=
watched=

ESTABLISHED=01 SYN_SENT=02 SYN_RECV=03 CLOSED=07 LISTEN=0A

peer() {
	local name=$1
	shift
	: >"$peers/$name"
	${peer_in:+ip netns exec "$peer_in"} ${peer_on:+taskset "$peer_on"} "$programs/peer" "$@" >"$peers/$name" 2>&1 &
	peer_pid[$name]=$!
	# So that the shell prints nothing about its end.
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

# show_peers: all output of the processes, for the examination of a failure.
show_peers() { (cd "$peers" && grep -H . ./* 2>/dev/null); }

# printed NAME TEXT: succeeds if it has printed TEXT by now
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

# What a process may report when the other end of its connection was killed or reset.
RESET='[a-z]*: (ECONNRESET|EPIPE|ENETDOWN|ETIMEDOUT|ECONNREFUSED)'

reset_of() { over "$1" "$2" && says "$1" 1 "$RESET"; }

# No packet reaches "server" any more, neither data nor acknowledgements. Either end may notice it
# first; the other one is then told.
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

data_before() {
	check "data before" transfer "$SDP_B"
	wait_for $patience no_sockets
	objects_before=$(counts_at_rest)
}

# Between the phases no process waits with pages pinned.
phases_begin() {
	local i there=() back=()
	rm -f "$peers"/go-*
	phase=0
	for ((i = 1; i <= $1; i++)); do
		there+=(wait "$peers/go-$i" pieces "$2" send "$3" recv "$3"
			pieces "$4" send "$5" recv "$5" say "phase $i")
		back+=(wait "$peers/go-$i" pieces "$2" recv "$3" send "$3"
			pieces "$4" recv "$5" send "$5")
	done
	listens server "$SDP_B" accept "${back[@]}" hold || return
	watched=$port
	peer client connect "$SDP_B" $port "${there[@]}" hold
	says client $patience connected
}

next_phase() {
	phase=$((phase + 1))
	touch "$peers/go-$phase"
	check "$1: every byte is right, both ways" says client "$2" "phase $phase"
}

connection_lives() {
	check "$1: the connection lives" \
		test "$(connections dev $ESTABLISHED "$watched" | wc -l)" = 2
}

ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

next_port() { port=$((port + 1)); }

connections() {
	awk -v column="$1" -v state="${2:-}" -v port="$(printf ':%04X$' "${3:-0}")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; shift = 0; next }
		(state == "" || $4 == state) && (port == ":0000$" || $2 ~ port || $3 ~ port) {
			# Two pairs of titles share one column each.
			print $(at[column] - (at[column] > at["tx_queue"] ? 2 : 0))
		}' /proc/net/sdp
}

no_sockets() {
	local lines
	mapfile -t lines </proc/net/sdp
	[ ${#lines[@]} = 1 ]
}

listens() {
	local name=$1 address=$2
	shift 2
	next_port
	peer "$name" bind "$address" $port listen "${queue:-5}" say up "$@"
	says "$name" $patience up
}

pair() {
	local address=$1 server=()
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	listens server "$address" "${server[@]}"
	peer client connect "$address" $port "$@"
}

# transfer ADDRESS: see the head
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
