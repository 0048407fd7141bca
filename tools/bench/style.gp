# SPDX-License-Identifier: GPL-2.0
# The style of the benchmark's plots; plots.py puts it at the head of each script.
set encoding utf8
set border 3 linecolor rgb "#9aa0a6" linewidth 1
set tics nomirror out scale 0.6 textcolor rgb "#3c4043"
set grid ytics xtics linetype 1 linecolor rgb "#e8eaed" linewidth 1, linetype 1 linecolor rgb "#e8eaed"
set xlabel textcolor rgb "#3c4043" offset 0,-0.3
set logscale x 2
set logscale y 10
unset mxtics
unset mytics
set key outside right center Left reverse spacing 1.5 samplen 3 textcolor rgb "#202124"
set errorbars small
set lmargin 8
set tmargin 5
set bmargin 4
