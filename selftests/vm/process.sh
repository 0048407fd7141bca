# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Waiting, and checks of processes, without starting a process. Sourced.
# In the guest and in the runner: in an emulated debug kernel, starting a process takes half a
# second. All functions use the monotonic clock: bash's SECONDS and `read -t` follow the time of
# day, which a test may change by hours.
#
# pause SECONDS		waits for that time; a fraction has at most two digits
# look_at_clock		sets $up to the machine's uptime in seconds
# process_gone PID	succeeds when the process has ended

# If ticker.c could not be built, this pipe is empty and pause() calls sleep instead.
exec {pause_on}< <(exec "$SDP_TOP/build/vm/ticker" 50 2>/dev/null)

look_at_clock() {
	local rest
	IFS=. read -r up rest </proc/uptime
}

# hundredths_now: sets $hundredths to the machine's uptime in hundredths of a second
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

# A zombie counts as ended: bash sometimes does not notice the end of a child before it waits for a
# child or starts another one.
process_gone() {
	local line
	[ -n "$1" ] || return 0
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ ${line##*) } == [ZX]* ]]
}
