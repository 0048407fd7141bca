#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""figures.py RESULTS DIRECTORY: the paper's figures from the guest's measurements.

Leaves in DIRECTORY for each figure NAME.csv, NAME.png, NAME.svg and the gnuplot script NAME.gp;
and table.txt (also printed) and table.rst with all figures and their comparison with the paper.
"""

import collections
import csv
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import plots  # noqa: E402
from results import Results, size_name  # noqa: E402
from table import Table, number  # noqa: E402

SCHEMES = {
    "smc": "SMC-R v2",
    "sdpplain": "credit, as in the paper",
    "sdpcredit": "credit, AF_SDP",
    "sdpcredit8": "credit, AF_SDP",
    "sdprdma": "RDMA-based",
    "sdprdmastill": "RDMA-based, no flush",
    "sdpnic": "NIC-assisted",
}
LOOKS = {
    "smc": ("#12858d", 1, 13, 2),
    "sdpplain": ("#9aa0a6", 1, 5, 2),
    "sdpcredit": ("#202124", 1, 9, 2),
    "sdpcredit8": ("#202124", 1, 9, 2),
    "sdprdma": ("#1a73e8", 1, 7, 3),
    "sdprdmastill": ("#1a73e8", "'-'", 6, 2),
    "sdpnic": ("#d93025", 1, 11, 3),
}

Figure = collections.namedtuple("Figure", "name test title axis unit better log")
FIGURES = (
    Figure("fig6a-latency", "latency", "Figure 6a: ping-pong, µs one way", "size of a message",
           "us one way", "lower", "xy"),
    Figure("fig6b-bandwidth", "bandwidth", "Figure 6b: one-way stream, MB/s",
           "size of a message", "MB/s", "higher", "xy"),
    Figure("fig8-progress", "progress",
           "Figure 8: bursts of 100 messages of 4 KiB there and back, ms",
           "µs of computation after each burst", "us there and back", "lower", ""),
    Figure("fig9a-space", "space64", "Figure 9a: buffers of 64 KiB in use, percent",
           "size of a message", "percent", "higher", "x"),
    Figure("fig9b-space", "space256", "Figure 9b: buffers of 256 KiB in use, percent",
           "size of a message", "percent", "higher", "x"),
    Figure("fig10a-microscope", "microscope",
           "Figure 10a: read, decompress, clip, zoom, view, ms", "bytes of the picture", "ms",
           "lower", ""),
    Figure("fig10b-words", "words", "Figure 10b: read, extract, classify, merge, ms",
           "bytes of the text", "ms", "lower", ""),
)

# The paper's claims, as ratios with a minimum or a maximum.
MEDIUM = (256, 512, 1024, 2048, 4096)


def family(peer):
    """The scheme of a peer, regardless of its buffers."""
    return peer.removesuffix("256")


class PaperResults(Results):
    """Adds the module's counters: counters[test, peer, size][name] is a list of values."""

    def __init__(self, path):
        self.counters = collections.defaultdict(lambda: collections.defaultdict(list))
        super().__init__(path)

    def _take_run(self, words):
        if not words.get("value"):
            size = int(words["size"])
            self.failures[words["test"], words["peer"], size, words.get("fail", "none")] += 1
            return
        key = words["test"], words["peer"], int(words["size"])
        self._values[key].append(float(words["value"]))
        self.counters[key]["roce"].append(int(words["roce"]))
        self.counters[key]["count"].append(int(words["count"]))
        for name, value in words.items():
            if name[0].isupper():
                self.counters[key][name].append(int(value))

    def counted(self, key, name):
        values = self.counters[key].get(name)
        return statistics.median(values) if values else 0


def peers_of(results, test):
    seen = [p for t, p, _ in results.samples if t == test]
    return sorted(set(seen), key=lambda p: list(SCHEMES).index(family(p)))


def write_csv(results, figure, out):
    names = sorted({n for key, counters in results.counters.items() if key[0] == figure.test
                    for n in counters if n[0].isupper()})
    with open(out / f"{figure.name}.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scheme", "at", f"median ({figure.unit})", "low", "high", "times",
                       "packets", *names])
        for peer in peers_of(results, figure.test):
            for size in results.sizes((figure.test,)):
                key = figure.test, peer, size
                sample = results.samples.get(key)
                if sample:
                    rows.writerow([SCHEMES[family(peer)], size, sample.median, sample.low,
                                   sample.high, results.counted(key, "count"),
                                   results.counted(key, "roce"),
                                   *(results.counted(key, n) for n in names)])


def axis_lines(figure, sizes, samples):
    scale = 1000 if figure.test == "progress" else 1
    high = max(s.high for s in samples) / scale
    low = min(s.low for s in samples) / scale
    lines = []
    if "x" in figure.log:
        crowded = len(sizes) > plots.NAMES_IN_ONE_LINE
        gap = "\\n" if crowded else " "
        tics = ", ".join(f'"{size_name(s).replace(" ", gap)}" {s}' for s in sizes)
        lines += [f"set xtics ({tics})", f"set xrange [{sizes[0] / 1.4:g}:{sizes[-1] * 1.4:g}]"]
        lines += ["set bmargin 5\nset xlabel offset 0,-0.9"] if crowded else []
    else:
        lines += ["unset logscale x", f"set xrange [0:{sizes[-1] * 1.03:g}]"]
    if "y" in figure.log:
        tics = ", ".join(f'"{t:g}" {t:g}' for t in plots.y_tics(low / 1.4, high * 1.4))
        lines += [f"set ytics ({tics})", f"set yrange [{low / 1.4:.4g}:{high * 1.4:.4g}]"]
    else:
        lines += ["unset logscale y", f"set yrange [0:{max(high * 1.1, 1e-3):.4g}]"]
    return lines


def curve(peer):
    colour, dash, point, width = LOOKS[family(peer)]
    look = f'linecolor rgb "{colour}" linewidth {width}'
    return (f"${peer} using 1:2:3:4 with yerrorbars pointtype -1 {look} notitle, \\\n"
            f"     ${peer} using 1:2 with linespoints dashtype {dash} pointtype {point} "
            f'pointsize 1.2 {look} title "{SCHEMES[family(peer)]}"')


def draw(results, figure, out):
    sizes = results.sizes((figure.test,))
    if len(sizes) < 2:
        print(f"no plot {figure.name}: it needs two positions at least")
        return
    scale = 1000 if figure.test == "progress" else 1
    blocks, samples, peers = [], [], peers_of(results, figure.test)
    for peer in peers:
        lines = []
        for size in sizes:
            sample = results.samples.get((figure.test, peer, size))
            if sample:
                samples.append(sample)
                lines.append(" ".join(f"{v:.5g}" for v in (
                    size, sample.median / scale, sample.low / scale, sample.high / scale)))
        blocks.append("\n".join([f"${peer} << END", *lines, "END"]))
    info = results.info
    clock = ", 1 ns an instruction" if info.get("clock") == "instructions" else ", real time"
    rounds = info.get("rounds", "?")
    figures = "one round" if rounds == "1" else f"median and range of {rounds} rounds"
    remark = f"{figure.better} is better; Linux {info.get('kernel', '?')}{clock}; {figures}"
    body = "\n".join([
        plots.STYLE.read_text(encoding="utf-8"),
        f'set label 2 "{remark}" at graph 0, 1.05 left textcolor rgb "#5f6368"',
        f'set xlabel "{figure.axis}"',
        *axis_lines(figure, sizes, samples),
        *blocks,
        "plot " + ", \\\n     ".join(curve(p) for p in peers),
        "",
    ])
    plots.draw(out, figure.name, figure.title, body)


def table_of(results, figure):
    sizes = results.sizes((figure.test,))
    named = figure.axis.startswith(("size", "bytes"))
    header = ["scheme", *(size_name(s) if named else f"{s} us" for s in sizes)]
    rows = []
    for peer in peers_of(results, figure.test):
        cells = [results.median(figure.test, peer, s) for s in sizes]
        rows.append([SCHEMES[family(peer)], *("-" if c is None else number(c) for c in cells)])
    title = figure.title.replace("µ", "u")
    if figure.test == "progress":
        title = title.replace(", ms", ", us")
    return Table(title, header, rows)


def ratio(results, test, peer, other, size):
    ours, theirs = results.median(test, peer, size), results.median(test, other, size)
    return ours / theirs if ours and theirs else None


def compared(results):
    """The aims, as ratios at the sizes where they are the worst."""
    rows = []

    def row(what, aim, values, worst):
        values = [(v, s) for v, s in values if v is not None]
        if values:
            value, size = worst(values)
            rows.append([what, aim, f"{value:.3g}", size])

    for peer in ("sdprdma", "sdpnic"):
        name = SCHEMES[peer]
        for other, aim in (("sdpplain", ">= 8"), ("smc", ">= 1.3")):
            row(f"bandwidth, 256 B to 4 KiB: {name} to {SCHEMES[other]}", aim,
                [(ratio(results, "bandwidth", peer, other, s), size_name(s)) for s in MEDIUM], min)
        row(f"latency: {name} to credit, AF_SDP", "0.97 - 1.03",
            [(ratio(results, "latency", peer, "sdpcredit", s), size_name(s))
             for s in results.sizes(("latency",))], lambda v: max(v, key=lambda x: abs(x[0] - 1)))
        row(f"percent of 64 KiB in use at 512 B: {name}", "> 90",
            [(results.median("space64", peer, 512), "512 B")], min)
        for test in ("microscope", "words"):
            row(f"{test}: credit as in the paper to {name}", ">= 1.1",
                [(ratio(results, test, "sdpplain", peer, s), size_name(s))
                 for s in results.sizes((test,))], min)
    row("progress: NIC-assisted to credit as in the paper", "<= 1.05",
        [(ratio(results, "progress", "sdpnic", "sdpplain", s), f"{s} us")
         for s in results.sizes(("progress",))], max)
    row("progress: RDMA-based without flush to NIC-assisted", "> 1",
        [(ratio(results, "progress", "sdprdmastill", "sdpnic", s), f"{s} us")
         for s in results.sizes(("progress",)) if s >= 1000], max)
    return Table("What was aimed at", ["", "aim", "worst", "at"], rows)


def failures(results):
    rows = [[SCHEMES.get(family(peer), peer), test, str(size), reason, str(n)]
            for (test, peer, size, reason), n in sorted(results.failures.items())]
    return Table("Runs that failed", ["", "test", "at", "reason", "runs"], rows)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, out = PaperResults(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not results.samples:
        sys.exit(f"error: {sys.argv[1]} holds no figure; see what guest.sh printed")
    tables = []
    for figure in FIGURES:
        if any(key[0] == figure.test for key in results.samples):
            write_csv(results, figure, out)
            draw(results, figure, out)
            tables.append(table_of(results, figure))
    tables = [t for t in [*tables, compared(results), failures(results)] if t.rows]
    info = results.info
    head = [f"Linux {info.get('kernel', '?')}, {info.get('cpus', '?')} CPUs, soft-RoCE on a veth"
            f" pair with MTU {info.get('mtu', '?')}; clock: {info.get('clock', '?')};"
            f" rounds: {info.get('rounds', '?')}.", *results.notes]
    if not results.complete:
        head.append("The run did not come to its end, figures are missing.")
    text = "\n".join([*head, "", *(t.text() for t in tables)])
    (out / "table.txt").write_text(text, encoding="utf-8")
    rst = "\n".join([".. SPDX-License-Identifier: GPL-2.0", "", *(f"| {line}" for line in head), "",
                     *(t.rst() for t in tables)])
    (out / "table.rst").write_text(rst, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
