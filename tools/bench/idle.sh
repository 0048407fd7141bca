# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The memory that idle connections take. Sourced by guest.sh.

# open_held PEER: a client process that holds connections open; it is told how many more to open.

open_held() {
	# shellcheck disable=SC2046
	coproc HELD { exec $(peer_command "$1") hold $(peer_target "$1" "${server_port[$1]}") 2>&1; }
	# shellcheck disable=SC2153 # set by coproc
	held_pid=$HELD_PID held_in=${HELD[1]} held_out=${HELD[0]}
	disown "$held_pid"
}

more_held() {
	held_reply=
	echo "$1" >&"$held_in" && read -r -t "$LIMIT" held_reply <&"$held_out" &&
		[ "${held_reply%% *}" = hold ]
}

close_held() {
	exec {held_in}>&-
	patiently held_ended || { kill -9 "$held_pid"; return 1; }
}

held_ended() { process_gone "$held_pid"; }

# memory_used: bytes in use except for the page cache, and those of the slab. Pages on the per-CPU
# lists are free, though not in MemFree: megabytes, which vary each time.
memory_used() {
	awk -v page="$(getconf PAGESIZE)" '
		FILENAME == "/proc/meminfo" { kb[$1] = $2 }
		FILENAME == "/proc/zoneinfo" && $1 == "count:" { spare += $2 }
		END {
			used = kb["MemTotal:"] - kb["MemFree:"] - kb["Cached:"] - kb["Buffers:"]
			printf "%d %d\n", 1024 * used - spare * page, 1024 * kb["Slab:"]
		}' /proc/meminfo /proc/zoneinfo
}

# settle: memory of earlier connections is released first: sockets are freed some time after their
# close, and the slab keeps empty pages. Waits until less than 100 KB are freed in 0.2 s.
settle() {
	local before=0 now=0 end=$((SECONDS + 20)) cache
	while [ $SECONDS -lt $end ]; do
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 >"$cache"
		done
		before=$now
		read -r now _ <<<"$(memory_used)"
		[ $((before - now)) -ge 100000 ] || [ "$before" = 0 ] || return 0
		sleep 0.2
	done
}

# posted: all receives posted by AF_SDP sockets; 0 without the module. The header tells the column,
# counted from the end.
posted() {
	[ -e /proc/net/sdp ] || { echo 0; return; }
	awk 'NR == 1 {
			for (i = 1; i <= NF; i++)
				if ($i == "posted")
					from_end = NF - i
			next
		}
		{ sum += $(NF - from_end) }
		END { print sum + 0 }' /proc/net/sdp
}

# hold_plan PEER: number of connections opened before the first measurement, which pay the one-time
# costs, and in each of two steps. The rsockets of librdmacm 44 hang with a sixth connection.
hold_plan() { [ "$1" = rs ] && echo 1 1 || echo 10 "$HOLD"; }

idle_memory() {
	local peer=$1 warm hold step total0 slab0 posted0 total slab now
	# An idle TCP connection is the same on every path.
	[[ $peer =~ ^(verbs|tcpmtu|tcplo)$ ]] && return
	settle
	peer_prepare "$peer"
	need_server "$peer" || { peer_restore "$peer"; return 0; }
	open_held "$peer"
	read -r warm hold <<<"$(hold_plan "$peer")"
	more_held "$warm" || { held_failed "$peer"; return 0; }
	for step in 1 2; do
		read -r total0 slab0 <<<"$(memory_used)"
		posted0=$(posted)
		more_held "$hold" || { held_failed "$peer"; return 0; }
		read -r total slab <<<"$(memory_used)"
		now=$(posted)
		record "idle peer=$peer step=$step connections=$hold bytes=$(((total - total0) / hold))" \
			"slab=$(((slab - slab0) / hold)) posted=$(((now - posted0) / hold))"
	done
	say "  $(peer_name "$peer"): $(((total - total0) / hold)) bytes a connection, both ends"
	close_held || failed "$peer"
	peer_restore "$peer"
}

held_failed() {
	note "$(peer_name "$1"): could not hold the connections: ${held_reply:-no answer}"
	record "idle peer=$1 step=1 fail=$([ -n "$held_reply" ] && echo refused || echo timeout)"
	close_held || true
	failed "$1"
	peer_restore "$1"
}
