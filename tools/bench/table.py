#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""table.py RESULTS DIRECTORY: tables and plots of guest.sh's measurements.

Leaves in DIRECTORY: table.txt (also printed), table.rst, modes.csv (see modes.py), and for each
plot NAME.png, NAME.svg and the gnuplot script NAME.gp that drew it.
"""

import pathlib
import sys

import modes
import plots
from results import LOCAL_PEERS, MODES, PEERS, PROGRAMS, READERS, REMOTE_PEERS, Results, size_name

# AF_SDP, and its competitors.
COMPARISONS = (
    (("sdp", "sdpbig", "sdpud", "sdpauto", "sdpring"), ("rs", "smc", "verbs", "tcp", "tcpmtu")),
    (("sdploop",), ("unix", "tcplo")),
)

MORE_IS_BETTER = {"stream", "echo"}


class Table:
    """Rows of text, the first column left aligned, the others right aligned."""

    def __init__(self, title, header, rows, remark=""):
        self.title = title
        self.header = header
        self.rows = rows
        self.remark = remark

    def _widths(self):
        return [max(len(r[i]) for r in [self.header, *self.rows]) for i in range(len(self.header))]

    def _lines(self, gap):
        widths = self._widths()
        for row in [self.header, *self.rows]:
            cells = [row[0].ljust(widths[0])]
            cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
            yield gap.join(cells).rstrip()

    def text(self):
        lines = list(self._lines("   "))
        head = [self.title] + ([f"({self.remark})"] if self.remark else [])
        rule = "-" * max(len(line) for line in lines)
        return "\n".join([*head, rule, lines[0], rule, *lines[1:], ""])

    def rst(self):
        lines = list(self._lines("  "))
        rule = "  ".join("=" * w for w in self._widths())
        head = [self.title, "~" * len(self.title), ""]
        if self.remark:
            head += [self.remark[0].upper() + self.remark[1:] + ".", ""]
        return "\n".join([*head, rule, lines[0], rule, *lines[1:], rule, ""])


def number(value):
    """Such figures have three significant digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(results, test, peer, size):
    sample = results.samples.get((test, peer, size))
    if not sample:
        failed = any(key[:3] == (test, peer, size) for key in results.failures)
        return "failed" if failed else "-"
    if len(sample.values) == 1:
        return number(sample.median)
    return f"{number(sample.median)} ±{sample.spread_percent():.0f}%"


def connections_name(count):
    return f"{count} connection{'s' if count > 1 else ''}"


def by_size(results, title, test, among, remark="", sizes=None):
    sizes = sizes or results.sizes()
    rows = [[PEERS[p]] + [cell(results, test, p, s) for s in sizes]
            for p in results.peers(test, among)]
    return Table(title, [""] + [size_name(s) for s in sizes], rows, remark)


def by_mode(results, title, test, remark=""):
    sizes = results.sizes((test,))
    rows = [[MODES[p]] + [cell(results, test, p, s) for s in sizes]
            for p in results.peers(test, tuple(MODES))]
    return Table(title, [""] + [size_name(s) for s in sizes], rows, remark)


def readers(results):
    """Default settings, and messages only; a cell has both, and their ratio."""
    sizes = results.sizes(tuple(f"readers_{r}" for r in READERS))
    rows = []
    for reader, name in READERS.items():
        row = []
        for size in sizes:
            ours, copied = (results.median(f"readers_{reader}", p, size) for p in ("sdp", "sdpmsg"))
            row.append(f"{number(ours)} ({ours / copied:.2f})" if ours and copied else "-")
        if any(c != "-" for c in row):
            rows.append([name] + row)
    return Table("AF_SDP by how the reader reads: stream, MB/s", [""] +
                 [size_name(s) for s in sizes], rows,
                 "default settings; in brackets compared with messages alone")


def crossover(results):
    rows = [[MODES[p]] + [modes.crossover_name(results, t, p) for t in modes.TESTS]
            for p in modes.ZERO_COPY if any(results.peers(t, (p,)) for t in modes.TESTS)]
    return Table("Smallest size from which zero copy is level with messages, or ahead",
                 ["", "stream", "ping-pong"], rows,
                 "not more than 2 % behind, there and at every larger size;"
                 f" default of rdma_threshold: {modes.threshold_name(results)}")


def cost(results):
    """Busy time counts everything on the guest's one processor, which runs both ends."""
    sizes = results.sizes(("cost",))
    rows = [[PEERS[p]] + [cell(results, test, p, s) for test in ("cpu_cost", "cost") for s in sizes]
            for p in results.peers("cost")]
    return Table("Processor time of a streamed byte on one processor, ns", [""] +
                 [size_name(s) for s in sizes] + [f"{size_name(s)}: MB/s" for s in sizes], rows,
                 "programs and kernel, both ends and everything below them, without idle time")


def columns(results):
    """A column of a matrix, at both ends."""
    tests = (("columns_packed", "tcp", "TCP, packed"), ("columns_packed", "sdp", "AF_SDP, packed"),
             ("columns_program", "sdp", "AF_SDP, by a program"))
    sizes = results.sizes(("columns_packed", "columns_program"))
    rows = [[name] + [cell(results, test, peer, s) for s in sizes]
            for test, peer, name in tests if results.peers(test, (peer,))]
    return Table("Messages from and to a column of a matrix of 64 MiB, MB/s",
                 ["bytes of the column in a row"] + [size_name(s) for s in sizes], rows,
                 "packed: the program copies them together, and apart")


def rails(results):
    """Compared with one cable of that rate."""
    rows, shares = [], []
    for test, how in (("rails", "messages"), ("rails_rdma", "RDMA")):
        one = results.median(test, "sdp", 1)
        sizes = [(test, n, f"{n} cables" if n > 1 else "1 cable") for n in results.sizes((test,))]
        sizes.append((f"{test}_uneven", 2, "2 cables, one three times as fast"))
        for name, size, cables in sizes:
            rate = results.median(name, "sdp", size)
            if rate:
                rows.append([f"{cables}, {how}", number(rate), f"{rate / one:.2f}" if one else "-"])
        share = results.median(f"{test}_share", "sdp", 1)
        if share:
            shares.append(f"{share:.0f} % by {how}")
    return Table("AF_SDP by several cables, stream in MB/s", ["", "MB/s", "of one"], rows,
                 f"of two, the faster cable has carried {', '.join(shares)}" if shares else "")


def parts(results):
    """Pin, registration and copies in a ping-pong; what is left is the device's and the sockets'."""
    sizes = results.sizes(("parts_all",))
    rows = [[f"{PEERS[p]}, {size_name(s)}"] +
            [cell(results, f"parts_{part}", p, s) for part in ("all", "pin", "region", "copy")]
            for s in sizes for p in results.peers("parts_all")]
    return Table("Parts of a large transfer in a ping-pong, us one way",
                 ["", "all", "pin", "register", "copy"], rows,
                 "both ends; traced, which makes every call of a part slower")


def pinned(results):
    rows = [[PEERS[p], results.pinned[p].get("idle", "-"), results.pinned[p]["peak"],
             results.pinned[p]["after"]] for p in PEERS if p in results.pinned]
    return Table("Memory of programs that is pinned, KiB, both ends together",
                 ["", "idle connection", "stream of 1 MiB, at most", "after it"], rows,
                 "pages that the kernel has pinned for anybody; its own buffers are not counted")


def packets(results):
    sizes = results.sizes()
    rows = []
    for peer in results.peers("stream", REMOTE_PEERS):
        row = [results.packets_per_mb.get((peer, s)) for s in sizes]
        rows.append([PEERS[peer]] + ["-" if v is None else number(v) for v in row])
    return Table("Packets on the veth for a streamed MB", [""] + [size_name(s) for s in sizes],
                 rows, "both directions, acknowledgements included")


def ratio(results, test, ours, other, size):
    a, b = results.median(test, ours, size), results.median(test, other, size)
    if not a or not b:
        return "-"
    return f"{a / b if test in MORE_IS_BETTER else b / a:.2f}"


def ratios(results, test, title):
    sizes = results.sizes()
    rows = []
    for ours_all, others in COMPARISONS:
        for ours in results.peers(test, ours_all):
            for other in results.peers(test, others):
                rows.append([f"{PEERS[ours]} : {PEERS[other]}"] +
                            [ratio(results, test, ours, other, s) for s in sizes])
    return Table(title, [""] + [size_name(s) for s in sizes], rows,
                 "above 1: AF_SDP is ahead, below 1: behind")


def connections(results):
    rows = [[PEERS[p], cell(results, "connect", p, 0)] for p in results.peers("connect")]
    return Table("Connections per second", ["", "per second"], rows,
                 "one after the other: connect, one request, the server closes, the client closes")


def echo(results):
    counts = results.sizes(("echo",))
    rows = [[PEERS[p]] + [cell(results, "echo", p, n) for n in counts] +
            [cell(results, "cpu_echo", p, n) for n in counts] for p in results.peers("echo")]
    header = [""] + [connections_name(n) for n in counts] + [f"{n}: busy" for n in counts]
    return Table("Echo over many connections, exchanges per second", header, rows,
                 "one message under way on each connection, poll() at both ends;"
                 " busy: processor time of an exchange, us")


def programs(results):
    """Rates, and the processor time that they took."""
    tests = [t for t in PROGRAMS if results.peers(t)]
    peers = [p for p in PEERS if any(p in results.peers(t) for t in tests)]
    header = [""] + [PROGRAMS[t][0] for t in tests]
    rates = [[PEERS[p]] + [cell(results, t, p, 0) for t in tests] for p in peers]
    busy = [[PEERS[p]] + [cell(results, "cpu_" + t, p, 0) for t in tests] for p in peers]
    return [Table("Programs: requests per second, MB/s for 20 MiB", header, rates),
            Table("Programs: processor time of a request in us, of a byte in ns for 20 MiB", header,
                  busy, "client, server and everything below them; without the client's start")]


def idle_memory(results):
    rows = []
    for peer in (p for p in PEERS if results.idle.get(p)):
        steps = results.idle[peer]

        def mean(what, steps=steps):
            return sum(s[what] for s in steps) / len(steps)

        posted = number(mean("posted")) if mean("posted") else "-"
        rows.append([PEERS[peer], number(mean("bytes") / 1024), number(mean("slab") / 1024),
                     posted, str(sum(s["connections"] for s in steps))])
    return Table("Memory of an idle connection, both ends together",
                 ["", "KiB", "of it slab", "receives posted", "connections"], rows,
                 "all memory that they take: slab, pages for data, user space; the page cache is not counted")


def failures(results):
    def what(test, size):
        name = connections_name if test == "echo" else size_name
        return name(size) if size else "-"

    rows = [[PEERS[peer], test, what(test, size), reason, str(count)]
            for (test, peer, size, reason), count in sorted(results.failures.items())]
    return Table("Runs that failed", ["", "test", "of", "reason", "runs"], rows)


def all_tables(results):
    tables = [
        by_size(results, "Stream, MB/s", "stream", REMOTE_PEERS,
                "median of the rounds, half of their spread; 1 MB = 10^6 bytes"),
        by_size(results, "Ping-pong, us one way", "pingpong", REMOTE_PEERS,
                "median of the rounds' medians, half of their spread"),
        by_size(results, "Stream inside the host, MB/s", "stream", LOCAL_PEERS),
        by_size(results, "Ping-pong inside the host, us one way", "pingpong", LOCAL_PEERS),
        ratios(results, "stream", "Stream: AF_SDP compared"),
        ratios(results, "pingpong", "Ping-pong: AF_SDP compared"),
        by_size(results, "Processor time of a streamed byte, ns", "cpu", tuple(PEERS),
                "of both ends and everything below them"),
        ratios(results, "cpu", "Processor time of a streamed byte: AF_SDP compared"),
        connections(results),
        echo(results),
        *programs(results),
        idle_memory(results),
        by_mode(results, "AF_SDP by the way of large writes: stream, MB/s", "modes_stream"),
        by_mode(results, "AF_SDP by the way of large writes: ping-pong, us one way",
                "modes_pingpong"),
        readers(results),
        by_size(results, "Event-driven stream, MB/s", "events", tuple(PEERS),
                "both ends poll, and neither waits in a call", results.sizes(("events",))),
        crossover(results),
        cost(results),
        columns(results),
        parts(results),
        rails(results),
        pinned(results),
        packets(results),
        failures(results),
    ]
    return [t for t in tables if t.rows]


def heading(results):
    info = results.info
    clock = {"instructions": "guest time counts instructions, 1 ns each, of both ends together",
             "real": "real time"}.get(info.get("clock"), "unknown clock")
    lines = [
        f"Linux {info.get('kernel', '?')}, {info.get('cpus', '?')} CPUs, {results.device()} on a veth pair"
        f" with MTU {info.get('mtu', '?')}; rounds: {info.get('rounds', '?')}; {clock}.",
    ]
    if results.peers("stream", ("sdpbig",)):
        lines.append(f"Larger buffers: {info['recv_buffers']} receives of"
                     f" {info['recv_buffer_size']} bytes, {info['send_buffers']} sends.")
    return lines + [f"{note[0].upper()}{note[1:]}." for note in results.notes]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, out = Results(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not results.samples and not results.idle and not results.pinned:
        sys.exit(f"error: {sys.argv[1]} holds no figure; see what guest.sh printed")
    tables = all_tables(results)
    head = heading(results)
    if not results.complete:
        head.append("The run did not come to its end, figures are missing.")
    text = "\n".join([*head, "", *(t.text() for t in tables)])
    (out / "table.txt").write_text(text, encoding="utf-8")
    rst = "\n".join([".. SPDX-License-Identifier: GPL-2.0", "", *(f"| {line}" for line in head), "",
                     *(t.rst() for t in tables)])
    (out / "table.rst").write_text(rst, encoding="utf-8")
    print(text)
    modes.write_csv(results, out)
    plots.draw_all(results, out)


if __name__ == "__main__":
    main()
