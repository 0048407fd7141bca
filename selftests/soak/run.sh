#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [MINUTES [KERNEL]]: a random mixed load for MINUTES (30) in a VM with KERNEL (6.12).
# Processes are killed, listeners closed, settings and the policy changed and devices removed at
# random; soak.sh describes it. SEED=n selects the random events.
#
# It is the runner of selftests/vm with one test: any complaint of the kernel fails the run, and so
# does anything left after rmmod. The samples and their plot are in build/soak/. Exit status 0 when
# nothing failed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
. "$SDP_TOP/selftests/vm/long.sh"

here=$SDP_TOP/selftests/soak
out=$SDP_TOP/build/soak
minutes=${1:-30} kernel=${2:-6.12} seed=${SEED:-$((RANDOM + 1))}

need_number MINUTES "$minutes"
need_number SEED "$seed"

# plot TERMINAL FILE: the columns of the samples are seconds, sockets, pages, slab in kB, free
# memory in kB, QPs, MRs, pinned pages.
plot() {
	(cd "$out" && gnuplot) <<-END
		set terminal $1
		set output "$2"
		set multiplot layout 6,1
		set lmargin 12
		set grid
		set yrange [0:*]
		unset key
		set title "sockets"
		plot "samples" using (\$1/60):2 with steps
		set title "memory of the sockets (/proc/net/protocols), pages"
		plot "samples" using (\$1/60):3 with lines
		set title "queue pairs"
		plot "samples" using (\$1/60):6 with steps
		set title "memory regions"
		plot "samples" using (\$1/60):7 with steps
		set title "pages pinned"
		plot "samples" using (\$1/60):8 with lines
		set title "slab and memory in use, MB more than at the start"
		set yrange [*:*]
		set key outside top center horizontal
		set xlabel "minutes"
		slab = 0; free = 0
		plot "samples" using (\$1/60):(slab = \$0 < 1 ? \$4 : slab, (\$4 - slab)/1024) \
			with lines title "slab", \
			"" using (\$1/60):(free = \$0 < 1 ? \$5 : free, (free - \$5)/1024) \
			with lines title "in use"
		unset multiplot
	END
	say "plot: $2"
}

plots() {
	command -v gnuplot >/dev/null || { say "no gnuplot here, so no plot"; return 0; }
	plot "pngcairo size 1000,1300" "$out/soak.png" && plot "svg size 1000,1300" "$out/soak.svg"
}

"$SDP_TOP/scripts/setup.sh" vm build
long_test "$out/tests" soak $((minutes * 60 + 300)) <<-END
	minutes=$minutes seed=$seed
	. "$here/soak.sh"
END
step "test programs" make -s -C "$SDP_TOP/selftests/net/sdp"
say "$minutes minutes on $kernel, SEED=$seed"
status=0
log=$SDP_LOGS/soak.log
SDP_TESTS=$out/tests long_run "$log" progress "$kernel" soak || status=$?
sed '$d' "$log"
if [ -s "$last/samples" ]; then
	cp "$last/samples" "$out/samples"
	plots || say "gnuplot failed"
fi
tail -n 1 "$log"
exit $status
