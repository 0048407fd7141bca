# SPDX-License-Identifier: GPL-2.0
"""scale.py RESULTS DIRECTORY: prints the table of scale.sh, and draws its plots."""

import collections
import math
import pathlib
import sys

import plots
from results import Sample

KINDS = {
    "tcp": "TCP",
    "smc": "SMC-R v2",
    "sdp": "AF_SDP, queue pairs",
    "sdpud": "AF_SDP, datagrams",
    "sdpauto": "AF_SDP, auto",
    "sdpmixed": "AF_SDP, half of each",
}
COLUMNS = (
    ("connections", "connections", "{:,.0f}"),
    ("opened", "opened/s", "{:,.0f}"),
    ("qps", "queue pairs", "{:,.0f}"),
    ("memory", "KiB each", "{:.1f}"),
    ("latency", "us one way", "{:.1f}"),
    ("rate", "echoes/s", "{:,.0f}"),
    ("jain", "Jain's index", "{:.3f}"),
)
# Name of the plot, of the figure, title, and whether more is better.
PLOTS = (
    ("scale-memory", "memory", "An idle connection among so many, KiB, both ends", False),
    ("scale-opened", "opened", "Connections opened one after the other, per second", True),
    ("scale-latency", "latency", "64 bytes on one connection, the others idle, µs one way", False),
    ("scale-rate", "rate", "Echoes of 64 bytes on all connections, per second", True),
)


def read(path):
    """The figures of each kind: a list of dictionaries, by rising number of connections."""
    figures = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("scale "):
                continue
            _, kind, *rest = line.split()
            words = dict(word.split("=", 1) for word in rest)
            line = {name: float(text) for name, text in words.items() if name != "fail"}
            if "memory" in line:
                line["memory"] /= 1024
            line["fail"] = words.get("fail")
            figures[kind].append(line)
    return figures


def cells(kind, line):
    """One row of the table."""
    row = [KINDS[kind]]
    row += [form.format(line[name]) if name in line else "" for name, _, form in COLUMNS]
    if "least" in line:
        row.append(" / ".join(f"{line[name] / 1024:.1f}" for name in ("least", "median", "most")))
    note = f"{line['share']:.0f} % by datagrams" if "share" in line else ""
    return row + [""] * (len(COLUMNS) + 2 - len(row)) + [line["fail"] or note]


def print_table(figures):
    """All figures, one line for each kind and number."""
    rows = [["", *(title for _, title, _ in COLUMNS), "KiB when busy: least / median / most", ""]]
    rows += [cells(kind, line) for kind in KINDS for line in figures[kind]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        columns = [row[0].ljust(widths[0])]
        columns += [text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1])]
        print("  ".join([*columns, row[-1]]).rstrip())


def script(figures, name, more_is_better):
    """The gnuplot script of one figure without its output, or None with nothing to draw."""
    series = {kind: [(int(line["connections"]), Sample([line[name]]))
                     for line in figures[kind] if line.get(name)]
              for kind in KINDS if kind in plots.LOOKS}
    series = {kind: values for kind, values in series.items() if len(values) > 1}
    if not series:
        return None
    numbers = sorted({n for values in series.values() for n, _ in values})
    samples = [s.median for values in series.values() for _, s in values]
    low, high = min(samples) / 1.6, max(samples) * 1.6
    better = "higher" if more_is_better else "lower"
    return "\n".join([
        plots.STYLE.read_text(encoding="utf-8"),
        "set logscale x 10",
        f'set label 2 "{better} is better; Linux 6.12, 1 ns an instruction"'
        ' at graph 0, 1.05 left textcolor rgb "#5f6368"',
        'set xlabel "connections"',
        f"set xrange [{numbers[0] / math.sqrt(2):g}:{numbers[-1] * math.sqrt(2):g}]",
        f"set yrange [{low:.4g}:{high:.4g}]",
        "set xtics (" + ", ".join(f'"{n:,}" {n}' for n in numbers) + ")",
        "set ytics (" + ", ".join(f'"{t:g}" {t:g}' for t in plots.y_tics(low, high)) + ")",
        *(plots.data_block(kind, values) for kind, values in series.items()),
        plots.plot_command(series, KINDS),
        "",
    ])


def main():
    figures = read(sys.argv[1])
    print_table(figures)
    for plot, name, title, more_is_better in PLOTS:
        body = script(figures, name, more_is_better)
        if body:
            plots.draw(pathlib.Path(sys.argv[2]), plot, title, body)


main()
