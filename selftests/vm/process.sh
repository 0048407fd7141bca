# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced in the guest, and by the runner: waiting, and looking after processes, without starting
# one for it; in an emulated debug kernel each takes half a second. All of it goes by the monotonic
# clock: bash's SECONDS and `read -t` follow the time of day, which a test may change by hours.
#
# pause SECONDS		waits so long; a fraction has at most two digits
# look_at_clock		$up is then how many seconds the machine has run
# process_gone PID	succeeds when it has ended

# Nothing in it that could be read means that ticker.c could not be made; pause() does without.
exec {pause_on}< <(exec "$SDP_TOP/build/vm/ticker" 50 2>/dev/null)

look_at_clock() {
	local rest
	IFS=. read -r up rest </proc/uptime
}

# hundredths_now: sets $hundredths, how many of a second the machine has run
hundredths_now() {
	local whole part rest
	IFS='. ' read -r whole part rest </proc/uptime
	hundredths=$((whole * 100 + 10#$part))
}

pause() {
	local hundredths end whole=${1%.*} part=00 line
	[[ $1 != *.* ]] || part=${1#*.}0
	hundredths_now
	end=$((hundredths + ${whole:-0} * 100 + 10#${part:0:2}))
	while [ $hundredths -lt $end ]; do
		read -r line <&"$pause_on" || { sleep "$1"; return; }
		hundredths_now
	done
}

# Now and then bash does not notice the end of a child before it waits for one or starts
# another: so a zombie has ended.
process_gone() {
	local line
	[ -n "$1" ] || return 0
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ ${line##*) } == [ZX]* ]]
}
