# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Messages whose bytes lie in a column of a matrix of 64 MiB, at both ends: copied together and
# apart by the program, or by a gather/scatter program (SDP_PROGRAM). Sourced by guest.sh.
#
#	columns		stream by the width of the column: packed, by TCP and by AF_SDP; by a program

COLUMN_WIDTHS=${COLUMN_WIDTHS:-8 64 512 4096 65536}
COLUMN_SIZE=1048576	# bytes of a message

# measure_columns PEER WAY WIDTH ROUND: one run
measure_columns() {
	local peer=$1 way=$2 width=$3 count=40
	local warm=$WARM reader=unpack writer=pack	# read by run_sockbench, as width is
	[ "$way" = packed ] || reader=scatter writer=gather
	peer_prepare "$peer"
	one_run "$peer" 1000 "test=columns_$way size=$width round=$4 count=$count" \
		sockbench "$peer" stream $COLUMN_SIZE $count || failed "$peer"
	peer_restore "$peer"
}

columns_round() {
	local round=$1 width way peer shown
	has_peer sdp || return 0
	say "round $round of $ROUNDS, columns of a matrix: packed and by a program, MB/s"
	for width in $COLUMN_WIDTHS; do
		shown=
		for way in tcp:packed sdp:packed sdp:program; do
			peer=${way%:*}
			has_peer "$peer" && [ -z "${dead[$peer]:-}" ] || continue
			measure_columns "$peer" "${way#*:}" "$width" "$round"
			shown+="   $way $(printf %7s "$last")"
		done
		printf '  %10s %s\n' "$width" "$shown"
	done
}
