# SPDX-License-Identifier: GPL-2.0
# Checks of the kernel's log, its taint flags, and leftovers of the module.
# guest.sh sources this file. check_log WHO and check_taint WHO examine what came since their last
# call and blame WHO: they print what they find and fail. check_rules does so for the protocol's
# rules. The leak_* functions print what is left over.

# Complaints of the kernel. No pattern may match what the kernel logs in normal operation. Fault
# injection prints a call trace, so a call trace alone is no complaint. The message of a reference
# tracker whose allocation failed ("memory allocation failure") is none either.
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

# log_since_mark: prints the kernel log since the last mark, and fails if it holds complaints. It
# fails too if the mark was overwritten, because the log buffer wrapped around.
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

# check_log WHO: complaints are also kept in the file splats.
check_log() {
	local who=$1 new status=0
	new=$(log_since_mark) || status=1
	log_mark "after $who"
	[ $status != 0 ] || return 0
	printf '=== during %s\n%s\n' "$who" "$new" >>"$SDP_RUN/splats"
	echo "  KERNEL COMPLAINT during $who (all of it in $SDP_RUN/splats):"
	grep -E -m 3 -A 12 "$(IFS='|'; echo "${SPLATS[*]}")" <<<"$new" | head -n 40 | sed 's|^|    # |'
	return 1
}

# violations FILE: a line "LOADED NAME COUNT" for each kind of protocol violation that FILE
# (/proc/net/sdpstat) has counted. LOADED identifies one load of the module: each load counts from
# zero.
violations() {
	[ ! -e "$1" ] || awk -v loaded="$(stat -c %i "/sys/module/$module" 2>/dev/null)" \
		'/^Bad/ && $2 { print loaded, $1, $2 }' "$1"
}

violations_before=

# check_rules FILE: prints the violations counted since the last call, and fails if there are any
check_rules() {
	local now status=0
	now=$(violations "$1")
	awk '{ name = $1 " " $2 } !later { before[name] = $3 }
		later && $3 > before[name] + 0 { print $2, "+" $3 - before[name]; bad = 1 }
		END { exit bad }' <(echo "$violations_before") later=1 <(echo "$now") || status=1
	violations_before=$now
	return $status
}

# Taint bits that only tell what was loaded: O out of tree, E unsigned, N an in-kernel test.
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

# lockdep turns itself off after its first complaint, and then accepts every lock order.
lockdep_blind() { grep -qs 'debug_locks: *0' /proc/lockdep_stats; }

KMEMLEAK=/sys/kernel/debug/kmemleak

# The kernel's automatic scans would blame the running test for memory lost during the boot.
kmemleak_begin() {
	[ -e $KMEMLEAK ] || return 0
	echo scan=off >$KMEMLEAK && echo scan >$KMEMLEAK && echo clear >$KMEMLEAK
}

# kmemleak never reports objects younger than 5 s. It reports an object only if two scans find it
# unchanged, because a single scan misses pointers that are being moved.
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

# save_symbols MODULE: saves the addresses of the module's functions. After rmmod kmemleak knows
# only numbers.
save_symbols() {
	awk -v module="[$1]" '$4 == module && tolower($2) == "t" { print $1, $3 }' /proc/kallsyms |
		sort >"$SDP_RUN/symbols"
}

# name_frames: adds the function's name to each stack frame that lay in the module.
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

# rdma_counts: the number of RDMA objects per device. CQs are not counted: ib_core keeps its pool
# of them until the device is removed. Sorted, because a device that was created again comes last.
rdma_counts() { rdma resource show | sed -E 's/ cq [0-9]+//; s/ +$//; s/^[0-9]+: //' | sort; }

same_counts() { [ "$1" = "$2" ] || { printf 'before, and now\n%s\n%s\n' "$1" "$2"; return 1; }; }

# rdma_counts_are COUNTS: succeeds when the counts are the same; otherwise prints both.
rdma_counts_are() { same_counts "$1" "$(rdma_counts)"; }

# connection_counts: the objects of connections. From its first connection on, a device has a queue
# pair for registrations and keeps memory regions for reuse, until the device or the module is
# removed. So take the first count after a connection.
connection_counts() { rdma_counts | sed -E 's/ mr [0-9]+//'; }

# links_over: succeeds when each device has no connected queue pair of the module beyond the one for
# registrations. A link outlives its socket until the peer has answered and its completions have
# arrived. Queue pairs for datagrams belong to no link: a device keeps them.
links_over() {
	local pairs
	pairs=$(rdma resource show qp) || return
	! grep -E 'type RC .*comm \[?sdp\]?( |$)' <<<"$pairs" | sed 's/^link \([^/]*\).*/\1/' | sort | uniq -d |
		grep -q .
}

# counts_at_rest: waits for links_over, then prints the counts for a later comparison.
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

# leak_names MODULE: prints caches, files and directories of the module that still exist.
leak_names() {
	local name=$1 path
	awk -v name="$name" 'tolower($1) ~ "^" name && $2 > 0 {
		print "slab cache " $1 " still holds " $2 " objects" }' /proc/slabinfo
	for path in /sys/module/$name /proc/net/$name /proc/net/${name}stat /proc/sys/net/$name \
		/sys/kernel/tracing/events/$name; do
		[ ! -e "$path" ] || echo "$path is still there"
	done
}

# leak_references: unloads the RDMA stack. A leaked reference prevents that. It also lets kmemleak
# see objects to which only the stack's tables pointed.
leak_references() {
	local m
	lab_down || echo "the lab cannot be taken down"
	# shellcheck disable=SC2086 # a list
	lab_unload && return
	echo "the RDMA stack cannot be unloaded, something still holds it:"
	for m in $LAB_MODULES; do
		grep "^$m " /proc/modules || true
	done
}
