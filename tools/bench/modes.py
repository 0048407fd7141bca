# SPDX-License-Identifier: GPL-2.0
"""Compares the ways of AF_SDP's large writes, as modes.sh measured them."""

import csv

from results import MODES, size_name

TESTS = ("modes_stream", "modes_pingpong")
ZERO_COPY = ("sdpread", "sdpwrite")
COPY = "sdpmsg"
LEVEL = 0.98  # relative to messages: runs differ by that much


def advantage(results, test, peer, size):
    """How much better than messages: 1 is equal. None where there is no figure."""
    ours, copied = results.median(test, peer, size), results.median(test, COPY, size)
    if not ours or not copied:
        return None
    return ours / copied if test == "modes_stream" else copied / ours


def crossover(results, test, peer):
    """The smallest size from which on it is equal to messages or better, up to the largest one."""
    found = None
    for size in reversed(results.sizes((test,))):
        better = advantage(results, test, peer, size)
        if better is None or better < LEVEL:
            break
        found = size
    return found


def crossover_name(results, test, peer):
    if not results.peers(test, (peer,)):
        return "-"
    size = crossover(results, test, peer)
    return size_name(size) if size else "none"


def threshold_name(results):
    threshold = results.info.get("rdma_threshold")
    return size_name(int(threshold)) if threshold else "unknown"


def write_csv(results, out):
    """modes.csv: one line for each figure, with the percentage that went by RDMA."""
    keys = [(t, p, s) for t in TESTS for p in MODES for s in results.sizes((t,))
            if (t, p, s) in results.samples]
    if not keys:
        return
    path = out / "modes.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["test", "unit", "way", "bytes", "median", "low", "high", "read_percent",
                       "written_percent"])
        for test, peer, size in keys:
            sample = results.samples[test, peer, size]
            unit = "MB/s" if test == "modes_stream" else "us one way"
            rows.writerow([test[6:], unit, MODES[peer], size, sample.median, sample.low,
                           sample.high, *results.by_rdma.get((test, peer, size), ("", ""))])
    print(f"figures by way: {path}")
