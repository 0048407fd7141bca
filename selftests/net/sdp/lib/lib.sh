# SPDX-License-Identifier: GPL-2.0
# Functions for shell tests: TAP points, waiting, and the module's counters. Sourced.
#
#	. "$(dirname "$0")/../lib/lib.sh" PART...
#	check "what is asserted" COMMAND...
#	tap_done
#
# The parts: peers (processes at the ends of connections), hostile (a peer that breaks the rules),
# cases (what it says), cm (connections around a disturbance of the CM), cm_loss (CM messages that
# are lost), streams (two that must survive), and of selftests/vm: netlab (the RDMA devices), checks
# (RDMA objects, leaks).
#
# check		one point: ok if the command succeeds; prints its output if it fails
# check_not	one point: ok if the command fails
# tap_ok, tap_not_ok, tap_skip NAME [WHY]	a point whose result is known
# tap_skip_all WHY	ends a test that cannot run here
# tap_done	prints the plan and exits with the right status
# need_lab	ends the test as skipped if rxa and rxb are not there
# need_module NAME...	the same for kernel modules of the tests (modules/)
# load_module NAME [PARAMETER...]	loads one, or ends the test as skipped
# wait_for SECONDS COMMAND...	repeats the command until it succeeds
# cleanup COMMAND...	runs the command at exit, however the test ends; the last command runs first
# keeps FILE...		puts back at exit what is in these files
# put_back FILE		writes to the file now what keeps has read from it
# write_file TEXT FILE	for cleanup: writes a line
# in_background COMMAND...	starts it, sets $bg to its PID and kills it at exit
# pause SECONDS, process_gone PID	see selftests/vm/process.sh
# sdpstat NAME		a counter of /proc/net/sdpstat
# short_form		succeeds in `make check`, which does less than `make check-all`
# left_out WHAT		prints what the short form leaves out
# my_turn		in `make check`, distributes a test's cases among its kernels of `settings`
#			(check=6.1,6.1,debug: two of three to 6.1): succeeds when the next case
#			belongs to this kernel
#
# The functions start no process where the shell can do the work itself: in an emulated debug
# kernel starting a process takes half a second.
set -uo pipefail
lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
top=$(cd "$lib/../../../.." && pwd)
programs=${SDP_BIN:-$top/build/selftests}
. "$top/selftests/vm/process.sh"

tap_points=0 tap_failed=0 tap_passed=0 tap_turns=0 tap_dealt=() tap_cleanup=()
# Output of the current point's command.
tap_output=$(mktemp)

short_form() { [ -n "${SDP_SHORT:-}" ]; }
left_out() { ! short_form || echo "# short form: $*"; }

this_kernel() {
	case ${SDP_DEBUG:-0}$SDP_RELEASE in
	1*)	echo debug ;;
	06.1.*)	echo 6.1 ;;
	*)	echo 6.12 ;;
	esac
}

# find_turns: sets $tap_dealt to the list of kernels that get cases. A kernel that is not in it has
# all cases.
find_turns() {
	local name
	name=$(basename "$0" .sh)
	IFS=, read -ra tap_dealt < <(sed -n "s/^$name=.*check=\([^ \"]*\).*/\1/p" "$(dirname "$0")/settings")
	[[ " ${tap_dealt[*]} " == *" $(this_kernel) "* ]] || tap_dealt=("$(this_kernel)")
}

my_turn() {
	short_form || return 0
	[ ${#tap_dealt[@]} != 0 ] || find_turns
	tap_turns=$((tap_turns + 1))
	[ "${tap_dealt[tap_turns % ${#tap_dealt[@]}]}" = "$(this_kernel)" ]
}

tap_ok() {
	tap_points=$((tap_points + 1)) tap_passed=$((tap_passed + 1))
	echo "ok $tap_points $1"
}

tap_not_ok() {
	tap_points=$((tap_points + 1)) tap_failed=$((tap_failed + 1))
	echo "not ok $tap_points $1"
	[ $# -lt 2 ] || sed 's/^/# /' <<<"$2"
}

tap_skip() {
	tap_points=$((tap_points + 1))
	echo "ok $tap_points $1 # SKIP ${2:-}"
}

tap_skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

need_lab() {
	use netlab
	[ -n "${SDP_A:-}" ] && lab_intact ||
		tap_skip_all "no RDMA devices rxa and rxb; run it by selftests/vm/run.sh"
}

# module_file NAME: a module of the tests, built for this kernel
module_file() { echo "$programs/$(uname -r)/sdp_$1.ko"; }

need_module() {
	local name file
	for name in "$@"; do
		file=$(module_file "$name")
		[ -e "$file" ] ||
			tap_skip_all "no $file; make it with make -C selftests/net/sdp/modules KERNEL=..."
	done
}

load_module() {
	insmod "$(module_file "$1")" "${@:2}" || tap_skip_all "the module sdp_$1 cannot be loaded"
}

tap_done() {
	echo "1..$tap_points"
	[ $tap_failed = 0 ] || exit 1
	[ $tap_passed != 0 ] || exit 4
	exit 0
}

# failed_first FILE: the output of a command. Where that is a program's TAP, its failed points with
# their reasons come first, since a summary shows only the first lines.
failed_first() {
	grep -B 1 '^not ok' "$1"
	cat "$1"
}

check() {
	local name=$1 status=0
	shift
	"$@" >"$tap_output" 2>&1 || status=$?
	if [ $status = 0 ]; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "exit status $status of: $*"$'\n'"$(failed_first "$tap_output")"
	fi
}

check_not() {
	local name=$1
	shift
	if "$@" >"$tap_output" 2>&1; then
		tap_not_ok "$name" "succeeded: $*"$'\n'"$(<"$tap_output")"
	else
		tap_ok "$name"
	fi
}

wait_for() {
	local up end
	look_at_clock
	end=$((up + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		look_at_clock
		[ "$up" -lt $end ] || { echo "still not after its time: $*"; return 1; }
		pause 0.05
	done
}

cleanup() { tap_cleanup=("$(printf '%q ' "$@")" "${tap_cleanup[@]}"); }

write_file() { echo "$1" >"$2"; }

declare -gA kept=()

keeps() {
	local file
	for file in "$@"; do
		[ -z "${kept[$file]+kept}" ] || continue
		kept[$file]=$(<"$file")
		cleanup put_back "$file"
	done
}

put_back() { echo "${kept[$1]}" >"$1"; }

tap_exit() {
	local command
	for command in "${tap_cleanup[@]}"; do
		eval "$command" >/dev/null 2>&1
	done
	rm -f "$tap_output"
}
trap tap_exit EXIT
trap 'exit 143' TERM

in_background() {
	"$@" &
	bg=$!
	cleanup kill $bg
}

sdpstat() {
	local line lines
	mapfile -t lines </proc/net/sdpstat
	for line in "${lines[@]}"; do
		[[ $line != "$1 "* ]] || { echo "${line##* }"; return; }
	done
	return 1
}

# use PART...: sources parts of this library, each once
use() {
	local part file
	for part in "$@"; do
		[[ " $parts_used " != *" $part "* ]] || continue
		parts_used+=" $part"
		file=$lib/$part.sh
		[ -e "$file" ] || file=$top/selftests/vm/$part.sh
		. "$file"
	done
}

parts_used=
use "$@"
