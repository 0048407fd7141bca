# SPDX-License-Identifier: GPL-2.0
# Output of the demo: progress bars, tables and counters. Sourced by guest.sh.

shm=/dev/shm

headline() { printf '\n%s%s%s\n' "${SDP_DEMO_BOLD:+$'\e[1m'}" "$*" "${SDP_DEMO_BOLD:+$'\e[0m'}"; }

# commas NUMBER: 1234567 as 1,234,567
commas() { sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"; }

# as_millions NUMBER: with one decimal
as_millions() { echo "$(($1 / 1000000)).$(($1 / 100000 % 10))"; }

# listens_in PORT TABLE...: succeeds if there is a listener
listens_in() {
	awk -v end=":$(printf %04X "$1")\$" '$2 ~ end && $4 == "0A" { n++ } END { exit !n }' "${@:2}"
}

# bar FILE SIZE PID...: a bar that grows with FILE until the processes have ended. Half way it
# saves the connection table in $shm/table. Fails when nothing has moved for half a minute.
bar() {
	local file=$1 size=$2 now=0 before drawn=0 width=50 moved=$SECONDS
	shift 2
	rm -f $shm/table
	printf '  ['
	while kill -0 "$@" 2>/dev/null; do
		before=$now
		now=$(stat -c %s "$file" 2>/dev/null || echo 0)
		[ "$now" = "$before" ] || moved=$SECONDS
		[ $((SECONDS - moved)) -lt 30 ] || return
		[ $((now * 2)) -lt "$size" ] || [ -e $shm/table ] || cat /proc/net/sdp >$shm/table
		while [ $drawn -lt $((now * width / size)) ]; do
			printf '#'
			drawn=$((drawn + 1))
		done
		sleep 0.1
	done
	now=$(stat -c %s "$file" 2>/dev/null || echo 0)
	printf '%.*s' $((now * width / size - drawn)) "$(printf '#%.0s' {1..50})"
	printf '%*s] %d %%\n' $((width - now * width / size)) '' $((now * 100 / size))
}

# established PORT: number of lines in $shm/table with connections to the port
established() {
	awk -v end=":$(printf %04X "$1")\$" '$4 == "01" && ($2 ~ end || $3 ~ end) { n++ }
		END { print n + 0 }' $shm/table
}

# show_table WHAT PORT [MOST]: prints the lines of $shm/table with connections to the port, with
# readable addresses: the table has them in hexadecimal and in host byte order, and IPv4 addresses
# of IPv6 sockets are mapped.
show_table() {
	echo "  $1 (credit: messages that may be sent now):"
	awk -v end=":$(printf %04X "$2")\$" -v most="${3:-100}" '
		function address(text,  p) {
			split(text, p, ":")
			p[1] = substr(p[1], length(p[1]) - 7)
			return sprintf("%d.%d.%d.%d:%d", hex(p[1], 7), hex(p[1], 5), hex(p[1], 3),
				hex(p[1], 1), hex(p[2], 1, 4))
		}
		function hex(text, from, digits,  i, value) {
			for (i = from; i < from + (digits ? digits : 2); i++)
				value = value * 16 + index("0123456789ABCDEF", substr(text, i, 1)) - 1
			return value
		}
		BEGIN {
			split("ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE " \
				"CLOSE_WAIT LAST_ACK LISTEN CLOSING", state, " ")
			printf "    %-15s %-15s %-11s %-4s %6s %6s %6s %6s %9s\n", "local", "peer",
				"state", "dev", "credit", "posted", "sent", "rcvd", "to read"
		}
		$4 != "01" || ($2 !~ end && $3 !~ end) { next }
		++n <= most {
			split($5, queue, ":")
			printf "    %-15s %-15s %-11s %-4s %6d %6d %6d %6d %9d\n", address($2),
				address($3), state[hex($4, 1)], $12, $14, $15, $17, $18,
				hex(queue[2], 1, 8)
		}
		END { if (n > most) printf "    and %d more\n", n - most }' $shm/table
}

# counters: all counters, one "name value" per line.
counters() {
	local dev
	cat /proc/net/sdpstat
	awk '/^Tcp: [0-9]/ { print "TcpConnects", $6 }' /proc/net/snmp
	for dev in va vb; do
		echo "CableFrames $(cat /sys/class/net/$dev/statistics/tx_packets)"
		echo "CableBytes $(cat /sys/class/net/$dev/statistics/tx_bytes)"
	done
	# soft-iWARP counts no packets.
	for dev in $([ -n "${SDP_SIW:-}" ] || echo rxa rxb); do
		echo "RocePackets $(cat /sys/class/infiniband/$dev/ports/1/hw_counters/sent_pkts)"
	done
}

# counters_since BEFORE: the growth of each counter; both ends of the cable together
counters_since() {
	{ sed 's/ \([0-9]*\)$/ -\1/' "$1"; counters; } |
		awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }'
}

# counter NAME FILE: a value of that output
counter() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }

# show_counters FILE...: a column for each transfer's file
show_counters() {
	local label name file
	while IFS=: read -r label name; do
		[ -n "$name" ] || { echo "  $label"; continue; }
		grep -q "^$name " "$1" || continue
		printf '    %-40s' "$label"
		for file in "$@"; do
			printf '%16s' "$(commas "$(counter "$name" "$file")")"
		done
		echo
	done <<-'END'
		Throughput:
		seconds:Seconds
		MB/s:Rate
		SDP messages, both ends together:
		sent:MsgsSent
		that carried data:DataSent
		that only gave the peer new credit:CreditUpdatesSent
		Flow control and completions:
		times that data waited for credit:CreditStalls
		completions handled for sends:SendCompletions
		Wake-ups:
		of a reader that waited:WakeReadIssued
		spared, as no reader waited:WakeReadSkipped
		of a writer that waited:WakeWriteIssued
		spared, as no writer waited:WakeWriteSkipped
		On the cable, both ends together:
		bytes of payload:BytesSent
		bytes of Ethernet frames:CableBytes
		Ethernet frames:CableFrames
		RoCE packets, counted by the adapters:RocePackets
	END
}
