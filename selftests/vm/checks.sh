# SPDX-License-Identifier: GPL-2.0
# Sourced by guest.sh: what the kernel says and keeps besides what the tests report.
#
# check_log WHO and check_taint WHO look at what came since the last call and blame WHO;
# they print what they find and fail. check_rules does so for the protocol's rules. The leak_*
# functions print what is left over.

# Complaints of the kernel. Nothing here may match what the kernel logs in normal life;
# fault injection announces itself with a call trace, so that alone is not a complaint; nor is what a
# tracker of references says when it was refused memory ("memory allocation failure").
SPLATS=(
	'WARNING:' 'BUG:' 'KASAN' 'UBSAN' 'Oops' 'Kernel panic' 'general protection' 'kernel BUG at'
	'unable to handle' 'possible (recursive|circular|irq lock inversion)' 'inconsistent lock'
	'bad unlock balance' 'held lock freed' 'lock held when' 'nested lock was not taken'
	'[Ii]nvalid wait context' 'non-static key' 'suspicious RCU' 'DEBUG_LOCKS' 'sleeping function'
	'scheduling while atomic' 'INFO: task .* blocked' 'rcu.*(stall|self-detected)'
	'(soft|hard|workqueue) lockup' 'refcount_t:' 'ref_tracker: ([^m]|m[^e])'
	'list_(add|del) corruption' 'ODEBUG' 'Objects? remaining'
	'unreferenced object' 'leak detector disabled'
	'unregister_netdevice: waiting' 'bad page' 'Bad page' 'stack-protector' 'segfault at'
	'Attempt to release'
)

log_marks=0 log_last=

log_mark() {
	log_marks=$((log_marks + 1))
	log_last="sdp-vm mark $$-$log_marks:"
	echo "$log_last $*" >/dev/kmsg
}

# Print the kernel log since the last mark, and fail if there are complaints in it. A log
# that went around without the mark is a fault too.
log_since_mark() {
	dmesg | awk -v mark="$log_last" -v splats="$(IFS='|'; echo "${SPLATS[*]}")" '
		index($0, mark)	{ found = 1; next }
		found		{ print; bad += $0 ~ splats }
		END		{
			if (!found)
				print "BUG: the kernel log lost its beginning, log_buf_len is too small"
			exit !found || bad
		}'
}

# The part of the log that matters is also kept in a file of its own.
check_log() {
	local who=$1 new status=0
	new=$(log_since_mark) || status=1
	log_mark "after $who"
	[ $status != 0 ] || return 0
	printf '=== during %s\n%s\n' "$who" "$new" >>"$SDP_RUN/splats"
	echo "  KERNEL COMPLAINT during $who (all of it in $SDP_RUN/splats):"
	grep -E -m 3 -A 12 "$(IFS='|'; echo "${SPLATS[*]}")" <<<"$new" | head -n 40 | sed 's/^/    /'
	return 1
}

# A line "LOADED NAME COUNT" for each kind of violation of the protocol that FILE (/proc/net/sdpstat)
# has counted. LOADED tells apart the times that the module was loaded, as each counts anew.
violations() {
	[ ! -e "$1" ] || awk -v loaded="$(stat -c %i "/sys/module/$module" 2>/dev/null)" \
		'/^Bad/ && $2 { print loaded, $1, $2 }' "$1"
}

violations_before=

# check_rules FILE: what FILE has counted since the last call
check_rules() {
	local now status=0
	now=$(violations "$1")
	awk '{ name = $1 " " $2 } !later { before[name] = $3 }
		later && $3 > before[name] + 0 { print $2, "+" $3 - before[name]; bad = 1 }
		END { exit bad }' <(echo "$violations_before") later=1 <(echo "$now") || status=1
	violations_before=$now
	return $status
}

# Bits that only say what was loaded: O out of tree, E unsigned, N an in-kernel test.
TAINT_HARMLESS=$((1 << 12 | 1 << 13 | 1 << 18))

taint_before=0

check_taint() {
	local who=$1 now added
	read -r now </proc/sys/kernel/tainted
	added=$((now & ~TAINT_HARMLESS & ~taint_before))
	taint_before=$now
	[ $added != 0 ] || return 0
	printf '  KERNEL TAINTED during %s: bits 0x%x (%s)\n' \
		"$who" $added "see tainted-kernels.rst in the kernel's documentation"
	return 1
}

checks_begin() {
	read -r taint_before </proc/sys/kernel/tainted
	echo 60 >/proc/sys/kernel/hung_task_timeout_secs 2>/dev/null || true
	echo -1 >/proc/sys/kernel/hung_task_warnings 2>/dev/null || true
	log_mark "begin"
}

# After its first complaint lockdep is blind, and every lock order looks fine.
lockdep_blind() { grep -qs 'debug_locks: *0' /proc/lockdep_stats; }

KMEMLEAK=/sys/kernel/debug/kmemleak

# Its own scans would blame whichever test runs for what was lost during the boot.
kmemleak_begin() {
	[ -e $KMEMLEAK ] || return 0
	echo scan=off >$KMEMLEAK && echo scan >$KMEMLEAK && echo clear >$KMEMLEAK
}

# Objects younger than 5 s are never reported; an object is only reported if two scans
# find it unchanged, and pointers in flight make single findings unreliable.
leak_memory() {
	[ -e $KMEMLEAK ] || return 0
	if ! echo scan >$KMEMLEAK; then
		echo "kmemleak turned itself off, so nothing is known (dmesg says why)"
		return
	fi
	sleep 6
	echo scan >$KMEMLEAK
	name_frames <$KMEMLEAK
}

# Where the module's functions were: once it is unloaded kmemleak only knows numbers.
save_symbols() {
	awk -v module="[$1]" '$4 == module && tolower($2) == "t" { print $1, $3 }' /proc/kallsyms |
		sort >"$SDP_RUN/symbols"
}

# Replace the addresses of frames that lay in the module by its functions' names.
name_frames() {
	awk -v symbols="$SDP_RUN/symbols" '
		BEGIN {
			while ((getline line < symbols) > 0) {
				split(line, f, " ")
				at[++n] = f[1]
				name[n] = f[2]
			}
		}
		NF == 1 && $1 ~ /^0x[0-9a-f]+$/ && length($1) == 18 {
			found = ""
			for (i = 1; i <= n && "0x" at[i] <= $1; i++)
				found = name[i]
			if (found != "")
				$0 = $0 " (in or after " found ")"
		}
		{ print }'
}

# RDMA objects: whatever names the module as its owner, and every count above what it was
# before. CQs are not counted, ib_core keeps its pool until the device goes. A device that was
# made anew comes last, hence the order.
rdma_counts() { rdma resource show | sed -E 's/ cq [0-9]+//; s/ +$//; s/^[0-9]+: //' | sort; }

same_counts() { [ "$1" = "$2" ] || { printf 'before, and now\n%s\n%s\n' "$1" "$2"; return 1; }; }

# rdma_counts_are COUNTS: the same as then; if not, shows both.
rdma_counts_are() { same_counts "$1" "$(rdma_counts)"; }

# What connections have. From its first connection on a device has a queue pair for registering
# and keeps memory regions for the next time, until it or the module goes: take the first look
# after a connection.
connection_counts() { rdma_counts | sed -E 's/ mr [0-9]+//'; }

# No more than that: a link outlives its socket until its peer has answered and its completions are in.
links_over() {
	local pairs
	pairs=$(rdma resource show qp) || return
	! grep -E 'comm \[?sdp\]?( |$)' <<<"$pairs" | sed 's/^link \([^/]*\).*/\1/' | sort | uniq -d |
		grep -q .
}

# What it is after that; to be compared with later.
counts_at_rest() {
	wait_for $((60 * ${slow:-1})) links_over >&2
	connection_counts
}

connection_counts_are() { same_counts "$1" "$(connection_counts)"; }

queue_pairs() {
	rdma resource show | awk '{ for (i = 1; i < NF; i++) if ($i == "qp") n += $(i + 1) } END { print n + 0 }'
}

rdma_owned() {
	local kind
	for kind in qp cq pd mr cm_id; do
		rdma resource show $kind | grep -E "comm \[?$1\]?( |\$)" | sed "s/^/$kind: /"
	done
}

leak_rdma() {
	local owned
	owned=$(rdma_owned "$1")
	if [ -n "$owned" ]; then
		echo "RDMA objects of $1 are left:"
		echo "$owned"
	fi
	if ! rdma_counts_are "$rdma_before" >/dev/null; then
		echo "the counts of RDMA objects differ:"
		rdma_counts_are "$rdma_before" || true
	fi
}

# Nothing of the module's caches, files and directories may stay.
leak_names() {
	local name=$1 path
	awk -v name="$name" 'tolower($1) ~ "^" name && $2 > 0 {
		print "slab cache " $1 " still holds " $2 " objects" }' /proc/slabinfo
	for path in /sys/module/$name /proc/net/$name /proc/net/${name}stat /proc/sys/net/$name \
		/sys/kernel/tracing/events/$name; do
		[ ! -e "$path" ] || echo "$path is still there"
	done
}

# A reference that the module lost keeps the RDMA stack from being unloaded, and what only
# that stack's tables still pointed at becomes visible to kmemleak.
leak_references() {
	local m
	lab_down || echo "the lab cannot be taken down"
	# shellcheck disable=SC2086 # a list
	modprobe -r $LAB_MODULES && return
	echo "the RDMA stack cannot be unloaded, something still holds it:"
	for m in $LAB_MODULES; do
		grep "^$m " /proc/modules || true
	done
}
