# SPDX-License-Identifier: GPL-2.0
"""Makes a table of policy-guest.sh's results: medians, and distances from those without module."""

import collections
import statistics
import sys

STATES = {
    "none": "no module",
    "off": "loaded, rewrite=0",
    "rules1": "rewrite=1, 1 rule",
    "rules16": "rewrite=1, 16 rules",
    "rules256": "rewrite=1, 256 rules",
    "hooked": "rewrite=0 again",
}
TESTS = {
    "stream": "stream of 64 KiB, MB/s",
    "pingpong": "ping-pong of 64 B, us",
    "connect": "connect and close, us",
    "socket": "socket and close, us",
}


def read(path):
    values = collections.defaultdict(list)
    memory, complete = {}, False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            kind, *rest = line.split()
            words = dict(word.split("=", 1) for word in rest)
            if kind == "run":
                values[words["test"], words["state"]].append(float(words["value"]))
            elif kind == "memory":
                memory[words["kind"]] = int(words["bytes"])
            complete |= kind == "end"
    return values, memory, complete


def cell(values, test, state):
    """The median, its distance from that without module, and half of the spread, in percent."""
    samples = values[test, state]
    if not samples:
        return ""
    median = statistics.median(samples)
    spread = 50 * (max(samples) - min(samples)) / median
    plain = statistics.median(values[test, "none"])
    return f"{median:.4g} {100 * (median / plain - 1):+.2f} % (+-{spread:.2f})"


def main():
    values, memory, complete = read(sys.argv[1])
    tests = [t for t in TESTS if (t, "none") in values]
    rows = [["state"] + [TESTS[t] for t in tests]]
    rows += [[name] + [cell(values, t, s) for t in tests] for s, name in STATES.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
    for kind, size in memory.items():
        print(f"memory of an idle connection, both ends, {kind}: {size} bytes")
    if not complete:
        print("the run did not reach its end")


main()
