#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""credits.py RESULTS DIRECTORY: the figures of the paper on flow control (figures.py)."""

import sys

sys.dont_write_bytecode = True

from figures import Figure, Page, ratio, run, size_name  # noqa: E402

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

FIGURES = (
    Figure("fig6a-latency", "latency", "Figure 6a: ping-pong, µs one way", "size of a message",
           "us one way", "lower", "xy"),
    Figure("fig6b-bandwidth", "bandwidth", "Figure 6b: one-way stream, MB/s",
           "size of a message", "MB/s", "higher", "xy"),
    Figure("fig8-progress", "progress",
           "Figure 8: bursts of 100 messages of 4 KiB there and back, ms",
           "µs of computation after each burst", "us there and back", "lower", "", "us", 1000),
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


def with_large(peers):
    """The same with buffers of 256 KiB, which are peers of their own."""
    return peers | {f"{peer}256": value for peer, value in peers.items()}


def aims(results, row):
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


if __name__ == "__main__":
    run(Page(with_large(SCHEMES), with_large(LOOKS), FIGURES, aims), __doc__)
