# SPDX-License-Identifier: GPL-2.0
# Runs one test for a long time in a VM, by run.sh. Sourced after scripts/common.sh.
# A complaint of the kernel fails the run, and so does anything left over after rmmod.
#
# need_number NAME VALUE	ends the script when VALUE is not a number
# long_test DIRECTORY NAME SECONDS	writes the test that run.sh shall find there; standard
#				input is the test's body
# long_run LOG PROGRESS OPTION...	runs run.sh with these options, its output in LOG. The
#				machine adds lines to PROGRESS in the run directory, which
#				are shown. Returns the status of run.sh. $last is the run
#				directory

last=$SDP_TOP/build/vm/last

need_number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1=$2 is no number"; }

long_test() {
	mkdir -p "$1"
	echo "timeout=$3" >"$1/settings"
	{
		echo "# SPDX-License-Identifier: GPL-2.0"
		echo "# Written by $0."
		cat
	} >"$1/$2.sh"
}

# show_progress PROCESS FILE: follows FILE as long as PROCESS lives.
show_progress() {
	until [ -s "$last/$2" ]; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 1
	done
	tail -q -n +1 -s 2 -f --pid="$1" "$last/$2"
}

long_run() {
	local log=$1 progress=$2 runner status=0
	shift 2
	rm -f "$last"
	SDP_SHORT='' "$SDP_TOP/selftests/vm/run.sh" "$@" >"$log" &
	runner=$!
	trap "kill $runner 2>/dev/null || true" EXIT
	show_progress $runner "$progress"
	wait $runner || status=$?
	trap - EXIT
	return $status
}
