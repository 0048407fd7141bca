# SPDX-License-Identifier: GPL-2.0
"""Draws the benchmark's figures with gnuplot, each as PNG and SVG."""

import math
import pathlib
import subprocess

from results import LOCAL_PEERS, MODES, PEERS, PROGRAMS, REMOTE_PEERS, size_name

STYLE = pathlib.Path(__file__).with_name("style.gp")
# noenhanced: an underscore is no subscript; each `set terminal` starts with its own default for
# that.
FORMATS = {
    "png": ('pngcairo noenhanced size 1500,900 font "DejaVu Sans,18" background rgb "white"', 24),
    "svg": ('svg noenhanced size 1000,600 font "DejaVu Sans,12" background rgb "white"', 16),
}

# Colour, dash type, point type, width: AF_SDP stands out from its peers.
LOOKS = {
    "tcp": ("#9aa0a6", 1, 9, 2),
    "tcpmtu": ("#9aa0a6", "'-'", 8, 2),
    "rs": ("#1a73e8", 1, 5, 2),
    "smc": ("#12858d", 1, 13, 2),
    "verbs": ("#202124", "'.'", 2, 2),
    "sdp": ("#f29900", 1, 7, 3),
    "sdpbig": ("#d93025", 1, 7, 3),
    "sdpud": ("#188038", 1, 13, 3),
    "sdpauto": ("#188038", "'-'", 12, 3),
    "sdpring": ("#9334e6", 1, 11, 3),
    "sdploop": ("#d93025", 1, 7, 3),
    "unix": ("#1a73e8", 1, 5, 2),
    "tcplo": ("#9aa0a6", 1, 9, 2),
    "sdpmsg": ("#202124", 1, 5, 2),
    "sdpread": ("#1a73e8", 1, 9, 2),
    "sdpwrite": ("#d93025", 1, 7, 2),
}

# The default settings choose one of the others, so they are drawn over these.
BY_MODE = tuple(reversed(MODES))

PLOTS = (
    ("stream", "stream", REMOTE_PEERS, "One-way stream over {device}, MB/s"),
    ("pingpong", "pingpong", REMOTE_PEERS, "Ping-pong over {device}, µs one way"),
    ("cpu", "cpu", REMOTE_PEERS, "Processor time of a byte streamed over {device}, ns"),
    ("echo", "echo", REMOTE_PEERS, "Echo of 64 bytes over {device}, exchanges per second"),
    ("modes-stream", "modes_stream", BY_MODE, "AF_SDP by the way of large writes: stream, MB/s"),
    ("modes-pingpong", "modes_pingpong", BY_MODE,
     "AF_SDP by the way of large writes: ping-pong, µs one way"),
    ("stream-local", "stream", LOCAL_PEERS, "One-way stream inside the host, MB/s"),
    ("pingpong-local", "pingpong", LOCAL_PEERS, "Ping-pong inside the host, µs one way"),
)
MORE_IS_BETTER = {"stream", "echo", "modes_stream"}
NAMES_IN_ONE_LINE = 8
PROGRAMS_TITLE = "Programs over {device}: rate, where that of TCP is 1"


def positions(results, test):
    """The positions of a plot's points, each with its name, and what they are."""
    if test == "echo":
        return {n: str(n) for n in results.sizes(("echo",))}, "connections"
    tests = (test,) if test.startswith("modes_") else ("stream", "pingpong")
    return {s: size_name(s) for s in results.sizes(tests)}, "size of a message"


def points(results, test, peer):
    """(size, sample) of every position that has a figure."""
    return [(s, results.samples[test, peer, s]) for s in positions(results, test)[0]
            if (test, peer, s) in results.samples]


def y_tics(low, high):
    """1, 2 and 5 of each power of ten between the bounds; wide ranges without 2 and 5."""
    steps = (1, 2, 5) if high / low < 2000 else (1,)
    tics = [m * 10.0 ** e for e in range(-2, 7) for m in steps]
    return [t for t in tics if low <= t <= high]


def data_block(peer, series):
    lines = [f"{size} {s.median:.4g} {s.low:.4g} {s.high:.4g}" for size, s in series]
    return "\n".join([f"${peer} << END", *lines, "END"])


def curve(peer, names):
    colour, dash, point, width = LOOKS[peer]
    look = f'linecolor rgb "{colour}" linewidth {width}'
    line = f"with linespoints dashtype {dash} pointtype {point} pointsize 1.2 {look}"
    return (f"${peer} using 1:2:3:4 with yerrorbars pointtype -1 {look} notitle",
            f"${peer} using 1:2 {line} notitle",
            f'keyentry {line} title "{names[peer]}"')


def plot_command(series, names):
    """AF_SDP is drawn last, over the others; the key is sorted by the curves' last points."""
    drawn = sorted(series, key=lambda p: p.startswith("sdp"))
    listed = sorted(series, key=lambda p: -series[p][-1][1].median)
    parts = [part for p in drawn for part in curve(p, names)[:2]]
    parts += [curve(p, names)[2] for p in listed]
    return "plot " + ", \\\n     ".join(parts)


def subtitle(results, test):
    info = results.info
    clock = ", 1 ns an instruction" if info.get("clock") == "instructions" else ""
    rounds = info.get("rounds", "?")
    figures = "one round" if rounds == "1" else f"median and range of {rounds} rounds"
    return (f"{'higher' if test in MORE_IS_BETTER else 'lower'} is better; "
            f"Linux {info.get('kernel', '?')}{clock}; {figures}")


def script(results, test, among):
    """The gnuplot script without its output, or None when there is nothing to draw."""
    names, axis = positions(results, test)
    series = {p: points(results, test, p) for p in results.peers(test, among)}
    series = {p: s for p, s in series.items() if s}
    if not series or len(names) < 2:
        return None
    samples = [s for values in series.values() for _, s in values]
    low, high = min(s.low for s in samples) / 1.4, max(s.high for s in samples) * 1.4
    crowded = len(names) > NAMES_IN_ONE_LINE
    gap = "\\n" if crowded else " "
    x_tics = ", ".join(f'"{name.replace(" ", gap)}" {s}' for s, name in names.items())
    tics = ", ".join(f'"{t:g}" {t:g}' for t in y_tics(low, high))
    return "\n".join([
        STYLE.read_text(encoding="utf-8"),
        "set bmargin 5\nset xlabel offset 0,-0.9" if crowded else "",
        f'set label 2 "{subtitle(results, test)}" at graph 0, 1.05 left textcolor rgb "#5f6368"',
        f'set xlabel "{axis}"',
        f"set xrange [{min(names) / math.sqrt(2):g}:{max(names) * math.sqrt(2):g}]",
        f"set yrange [{low:.4g}:{high:.4g}]",
        f"set xtics ({x_tics})",
        f"set ytics ({tics})",
        *(data_block(p, s) for p, s in series.items()),
        plot_command(series, MODES if test.startswith("modes_") else PEERS),
        "",
    ])


def programs_script(results):
    """Bars: programs side by side, each peer's rate relative to TCP's."""
    tests = [t for t in PROGRAMS if results.median(t, "tcp", 0)]
    peers = [p for p in REMOTE_PEERS if p != "tcp" and
             any(results.median(t, p, 0) for t in tests)]
    if not peers:
        return None
    rows = []
    for test in tests:
        rates = [(results.median(test, p, 0) or 0) / results.median(test, "tcp", 0) for p in peers]
        rows.append(" ".join([f'"{PROGRAMS[test][0]}"', *(f"{rate:.3f}" for rate in rates)]))
    bars = [f'$rates using {i + 2}:xtic(1) title "{PEERS[p]}" linecolor rgb "{LOOKS[p][0]}"'
            for i, p in enumerate(peers)]
    return "\n".join([
        STYLE.read_text(encoding="utf-8"),
        "unset logscale",
        f'set label 2 "{subtitle(results, "stream")}" at graph 0, 1.05 left'
        ' textcolor rgb "#5f6368"',
        "set style data histograms",
        "set style histogram clustered gap 1",
        "set style fill solid noborder",
        "set xtics rotate by -20",
        "set bmargin 6",
        "set rmargin 34",
        "set yrange [0:*]",
        "\n".join(["$rates << END", *rows, "END"]),
        "plot 1 with lines linecolor rgb \"#9aa0a6\" title \"TCP\", " + ", ".join(bars),
        "",
    ])


def rail_rates(results, period=200000):
    """(seconds, MB/s of each cable), over at least so many microseconds each."""
    rates, before = [], results.rail[0]
    for now in results.rail[1:]:
        us = now["us"] - before["us"]
        if us >= period:
            rates.append((now["us"] / 1e6, *((now[c] - before[c]) / us for c in ("first", "second"))))
            before = now
    return rates


def rails_script(results):
    """The rates of two cables over time, while one fails and comes back."""
    if len(results.rail) < 10:
        return None
    rows = [f"{t:.2f} {a:.3f} {b:.3f}" for t, a, b in rail_rates(results)]
    return "\n".join([
        STYLE.read_text(encoding="utf-8"),
        "unset logscale",
        f'set label 2 "bytes of each cable by its interface; Linux {results.info.get("kernel", "?")}"'
        ' at graph 0, 1.05 left textcolor rgb "#5f6368"',
        'set xlabel "seconds"',
        "set yrange [0:*]",
        "set rmargin 24",
        "\n".join(["$rates << END", *rows, "END"]),
        'plot $rates using 1:($2+$3) with lines linewidth 3 linecolor rgb "#202124" title "both",'
        ' $rates using 1:2 with lines linewidth 2 linecolor rgb "#1a73e8" title "first cable",'
        ' $rates using 1:3 with lines linewidth 2 linecolor rgb "#d93025" title "second cable"',
        "",
    ])


def draw(out, name, title, body):
    heads = [f'set terminal {terminal}\nset output "{name}.{ending}"\n'
             f'set label 1 "{title}" at graph 0, 1.11 left font ",{points_high}"\n'
             for ending, (terminal, points_high) in FORMATS.items()]
    path = out / f"{name}.gp"
    path.write_text(f"{heads[0]}\n{body}\n{heads[1]}\nreplot\n", encoding="utf-8")
    subprocess.run(["gnuplot", path.name], cwd=out, check=True)
    print(f"plot: {out / name}.png and .svg")


def draw_all(results, out):
    """Writes the plots into directory out and prints their paths."""
    for name, test, among, title in PLOTS:
        body = script(results, test, among)
        if body:
            draw(out, name, title.format(device=results.device()), body)
        elif results.peers(test, among):
            print(f"no plot {name}: it needs two sizes at least")
    body = programs_script(results)
    if body:
        draw(out, "programs", PROGRAMS_TITLE.format(device=results.device()), body)
    body = rails_script(results)
    if body:
        draw(out, "rails", "AF_SDP by two cables, one of which fails and comes back, MB/s", body)
