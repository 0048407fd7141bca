# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced in the guest: waiting, and looking after processes, without starting one for it; in
# an emulated debug kernel each takes half a second.
#
# pause SECONDS		waits so long
# look_at_clock		$up is then how many seconds the machine has run; bash's own count follows the
#			time of day, which a test may change
# process_gone PID	succeeds when it has ended

# A pipe that never has data: `read` with a time limit on it waits without a process.
exec {pause_on}<> <(:)

look_at_clock() {
	local rest
	IFS=. read -r up rest </proc/uptime
}

pause() { read -rt "$1" -u "$pause_on" || true; }

# Now and then bash does not notice the end of a child before it waits for one or starts
# another: so a zombie has ended.
process_gone() {
	local line
	[ -n "$1" ] || return 0
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ ${line##*) } == [ZX]* ]]
}
