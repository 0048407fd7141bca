# SPDX-License-Identifier: GPL-2.0
# Cases of the hostile peer (modules/hostile.h): how its connection ends, and what is counted.
# A part of lib.sh. A case may be distributed (my_turn).
#
# bad_since	the violations counted since $bad_before, as "Name+N Name+N"
# verdict		how the connections of the last case have ended
# verdict_is, counted TEXT	succeed if these two are TEXT
# speak CASE OPERATION...	a new listener, whose program begins with $first and does these
#			operations; then the case
# message CASE COUNTED SAYS [OPERATION...]	a message that ends the connection, counted as a
#			violation of the kind COUNTED if that is not empty; the program then says SAYS
# messages COUNTED CASE...	such messages, and the program says EPROTO
# unread CASE COUNTED	the same, and the program does not read
# as_meant CASE OPERATION...	no violation: the connection stays established
use hostile

first=

bad_counts() { grep ^Bad /proc/net/sdpstat; }

bad_since() {
	bad_counts | paste -d ' ' - <(echo "$bad_before") |
		awk '$2 != $4 { printf "%s%s+%d", sep, $1, $2 - $4; sep = " " }'
}

verdict() { sort -u $run | awk '{ printf "%s%s", sep, $0; sep = ", " }'; }

verdict_is() {
	local got
	got=$(verdict)
	[ "$got" = "$1" ] || { echo "verdict: $got, expected: $1"; return 1; }
}

counted() {
	local got
	got=$(bad_since)
	[ "$got" = "$1" ] || { echo "counted: $got, expected: $1"; return 1; }
}

speak() {
	bad_before=$(bad_counts)
	listener_start accept $first "${@:2}"
	check "$1: said" commit "$1"
}

# Keep the socket open: closing it at the end of the stream would end the connection before later
# messages are checked.
message() {
	my_turn || return 0
	speak "$1" "${@:4}" ended hold
	check "$1: the connection is ended" verdict_is ended
	check "$1: the socket says $3" says server $patience "$3"
	check "$1: counted as ${2:-nothing}" counted "${2:+$2+1}"
	peers_end server
}

messages() {
	local name
	for name in "${@:2}"; do message "$name" "$1" "ended: EPROTO"; done
}

unread() {
	my_turn || return 0
	speak "$1" hold
	check "$1: the connection is ended" verdict_is ended
	check "$1: counted as $2" counted "$2+1"
	peers_end server
}

as_meant() {
	my_turn || return 0
	speak "$1" "${@:2}" hold
	check "$1: nothing happens" stands
	check "$1: counted as nothing" counted ""
	echo end >$run
	peers_end server
}
