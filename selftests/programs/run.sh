#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL [TEST...]]: unmodified programs over SDP, by the policy or a preload library.
# In a VM with KERNEL (6.12 if none is named). Each program does the same work over TCP, and the
# results are compared; the rates are shown in the table at the end. SDP_WAYS and SDP_FAMILIES in
# the environment limit the cases, see libprograms.sh.
#
# It is the runner of selftests/vm with this directory's tests: any complaint of the kernel fails
# the run, and so does anything left after rmmod. Exit status 0 when nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/programs

# Columns of `figures`: program, way, family, value, description.
table() {
	awk '
		{
			what = $1 ": "
			for (i = 5; i <= NF; i++)
				what = what (i > 5 ? " " : "") $i
			if (!(what in seen))
				order[++n] = what
			seen[what]
			value[what, $2, $3] = $4
		}
		function cell(what, way,	tcp, sdp) {
			tcp = value[what, way, "tcp"]
			sdp = value[what, way, "rule"]
			if (tcp == "" || sdp == "" || !(tcp + 0))
				return sprintf("%10s%10s%8s", tcp, sdp, "")
			return sprintf("%10d%10d%8.2f", tcp, sdp, sdp / tcp)
		}
		END {
			printf "  %-48s%28s%28s\n", "", "RDMA", "inside the host"
			printf "  %-48s%10s%10s%8s%10s%10s%8s\n", "", "TCP", "AF_SDP", "ratio", "TCP",
				"AF_SDP", "ratio"
			for (i = 1; i <= n; i++)
				printf "  %-48s%s%s\n", order[i], cell(order[i], "rc"),
					cell(order[i], "loop")
		}' "$1"
}

# In the short form only the Go program runs.
sets=(go)
[ -n "${SDP_SHORT:-}" ] || sets+=(programs)
[ $# -le 1 ] || sets=(go programs)
"$SDP_TOP/scripts/setup.sh" "${sets[@]}"
options=()
for variable in SDP_WAYS SDP_FAMILIES; do
	[ -z "${!variable:-}" ] || options+=(-e "$variable=${!variable}")
done
status=0
log=$SDP_LOGS/programs.log
SDP_TESTS=$here "$SDP_TOP/selftests/vm/run.sh" "${options[@]}" "${1:-6.12}" "${@:2}" |
	tee "$log" || status=$?
last=$(sed -n 's/^kernel .*, files in //p' "$log" | tail -n 1)
if [ -s "$last/figures" ]; then
	echo "rates (more is better) on an emulated processor that also does the adapter's work:"
	table "$last/figures"
	tail -n 1 "$log"
fi
exit $status
