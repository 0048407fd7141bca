# SPDX-License-Identifier: GPL-2.0
"""Figures of a page of experiments, from the guest's measurements.

A page (credits.py, datagrams.py) says which figures it has, and calls run(). That leaves in a
directory for each figure NAME.csv, NAME.png, NAME.svg and the gnuplot script NAME.gp; and table.txt
(also printed) and table.rst with all figures and their comparison with what was aimed at.
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

# One figure: the results of a test. Its positions are sizes, or numbers of @tick. In the plot
# values are divided by @divide; @log has the logarithmic axes.
Figure = collections.namedtuple("Figure", "name test title axis unit better log tick divide",
                                defaults=("", 1))


class Page:
    """Peers of a page by name and look (colour, dash, point and width), and its figures.

    aims(results, row) calls row() for each line of the table of aims.
    """

    def __init__(self, names, looks, figures, aims):
        self.names = names
        self.looks = looks
        self.figures = figures
        self.aims = aims

    def name(self, peer):
        return self.names.get(peer, peer)

    def peers_of(self, results, test):
        seen = {p for t, p, _ in results.samples if t == test}
        return sorted(seen, key=list(self.names).index)


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


def write_csv(page, results, figure, out):
    names = sorted({n for key, counters in results.counters.items() if key[0] == figure.test
                    for n in counters if n[0].isupper()})
    with open(out / f"{figure.name}.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scheme", "at", f"median ({figure.unit})", "low", "high", "times",
                       "packets", *names])
        for peer in page.peers_of(results, figure.test):
            for size in results.sizes((figure.test,)):
                key = figure.test, peer, size
                sample = results.samples.get(key)
                if sample:
                    rows.writerow([page.name(peer), size, sample.median, sample.low,
                                   sample.high, results.counted(key, "count"),
                                   results.counted(key, "roce"),
                                   *(results.counted(key, n) for n in names)])


def axis_lines(figure, sizes, samples):
    high = max(s.high for s in samples) / figure.divide
    low = min(s.low for s in samples) / figure.divide
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


def curve(page, peer):
    colour, dash, point, width = page.looks[peer]
    look = f'linecolor rgb "{colour}" linewidth {width}'
    return (f"${peer} using 1:2:3:4 with yerrorbars pointtype -1 {look} notitle, \\\n"
            f"     ${peer} using 1:2 with linespoints dashtype {dash} pointtype {point} "
            f'pointsize 1.2 {look} title "{page.name(peer)}"')


def draw(page, results, figure, out):
    sizes = results.sizes((figure.test,))
    if len(sizes) < 2:
        print(f"no plot {figure.name}: it needs two positions at least")
        return
    blocks, samples, peers = [], [], page.peers_of(results, figure.test)
    for peer in peers:
        lines = []
        for size in sizes:
            sample = results.samples.get((figure.test, peer, size))
            if sample:
                samples.append(sample)
                lines.append(" ".join(f"{v:.5g}" for v in (
                    size, *(v / figure.divide for v in (sample.median, sample.low, sample.high)))))
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
        "plot " + ", \\\n     ".join(curve(page, p) for p in peers),
        "",
    ])
    plots.draw(out, figure.name, figure.title, body)


def table_of(page, results, figure):
    sizes = results.sizes((figure.test,))
    header = ["scheme", *(f"{s} {figure.tick}" if figure.tick else size_name(s) for s in sizes)]
    rows = []
    for peer in page.peers_of(results, figure.test):
        cells = [results.median(figure.test, peer, s) for s in sizes]
        rows.append([page.name(peer), *("-" if c is None else number(c) for c in cells)])
    title = figure.title.replace("µ", "u")
    if figure.divide == 1000:
        title = title.replace(", ms", ", us")
    return Table(title, header, rows)


def ratio(results, test, peer, other, size):
    ours, theirs = results.median(test, peer, size), results.median(test, other, size)
    return ours / theirs if ours and theirs else None


def aimed_at(page, results):
    """The aims, at the positions where they are the worst."""
    rows = []

    def row(what, aim, values, worst):
        values = [(v, s) for v, s in values if v is not None]
        if values:
            value, size = worst(values)
            rows.append([what, aim, f"{value:.3g}", size])

    page.aims(results, row)
    return Table("What was aimed at", ["", "aim", "worst", "at"], rows)


def failures(page, results):
    rows = [[page.name(peer), test, str(size), reason, str(n)]
            for (test, peer, size, reason), n in sorted(results.failures.items())]
    return Table("Runs that failed", ["", "test", "at", "reason", "runs"], rows)


def run(page, usage):
    """Everything that a page is for, with the command line of its program."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    results, out = PaperResults(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not results.samples:
        sys.exit(f"error: {sys.argv[1]} holds no figure; see what guest.sh printed")
    tables = []
    for figure in page.figures:
        if any(key[0] == figure.test for key in results.samples):
            write_csv(page, results, figure, out)
            draw(page, results, figure, out)
            tables.append(table_of(page, results, figure))
    tables = [t for t in [*tables, aimed_at(page, results), failures(page, results)] if t.rows]
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
