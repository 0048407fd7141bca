#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test of suite.py with a fake suite and given verdicts of each run, as TAP

In CASES each test has its results by TCP and by SDP, run after run (the last one repeats),
whether it is listed as expected, and its expected point. A run ends at a test that is "begun";
the tests after it must run all the same.
"""
import collections
import contextlib
import io
import sys

import suite

Case = collections.namedtuple("Case", "name tcp sdp listed point")
CASES = [
    Case("same", "pass", "pass", False, "ok {n} {label}same"),
    Case("different", "pass", "fail", False, "not ok {n} {label}different"),
    Case("sometimes", "pass", "fail pass pass fail", False, "not ok {n} {label}sometimes"),
    Case("once", "pass", "fail pass", False, "ok {n} {label}once"),
    Case("listed", "pass", "fail", True, "ok {n} {label}listed # SKIP a reason"),
    Case("mended", "pass", "pass", True, "ok {n} {label}mended"),
    Case("neither", "fail", "fail", False, "ok {n} {label}neither # SKIP fails by TCP as well"),
    Case("tcp-once", "fail pass", "fail", False, "not ok {n} {label}tcp-once"),
    Case("skips", "skip", "skip", False, ""),
    Case("skips-by-sdp", "pass", "skip", False, "not ok {n} {label}skips-by-sdp"),
    Case("fails-by-sdp", "skip", "fail", False, "not ok {n} {label}fails-by-sdp"),
    Case("ends-it", "pass", "begun", False, "not ok {n} {label}ends-it"),
    Case("after-that", "pass", "pass", False, "ok {n} {label}after-that"),
    Case("ends-once", "pass", "begun pass", False, "ok {n} {label}ends-once"),
    Case("not-there", "pass", "none", False, "not ok {n} {label}not-there"),
]


class Suite:
    """Runs nothing"""

    ways = ["loop"]

    def __init__(self):
        self.runs = {"": collections.Counter(), "sdp": collections.Counter()}
        self.family = ""
        suite.set_policy = self.set_policy
        suite.counters = collections.Counter

    def set_policy(self, rules):
        self.family = "sdp" if rules else ""

    @staticmethod
    def top(name):
        return name

    def run(self, names, way, log, alone):
        verdicts = {}
        for case in CASES:
            if case.name not in names:
                continue
            runs = (case.sdp if self.family else case.tcp).split()
            turn = self.runs[self.family][case.name]
            self.runs[self.family][case.name] += 1
            verdict = runs[min(turn, len(runs) - 1)]
            if verdict != "none":
                verdicts[case.name] = verdict
            if verdict == "begun":
                break
        return verdicts


class Expected:
    """A fake list of expected failures"""

    @staticmethod
    def reason(way, test):
        return "a reason" if any(c.listed and c.name == test for c in CASES) else None


def main():
    tap, output = suite.Tap(), io.StringIO()
    with contextlib.redirect_stdout(output):
        inner = suite.Tap()
        suite.Comparison(inner, "none", Suite(), "loop", Expected()).run([c.name for c in CASES])
        bad = inner.done()
    lines = output.getvalue().splitlines()
    tap.point("not ok 3 none, loop: connected, listened and accepted by SDP" in lines,
              "a run in which nothing was SDP fails")
    points = [line for line in lines if "none, loop: " in line]
    for case in CASES:
        found = [p for p in points if f": {case.name}" in p.split(" # ")[0] + " " and
                 p.split(" # ")[0].endswith(f": {case.name}")]
        wanted = []
        if case.point:
            number = found[0].split("ok ")[1].split()[0] if found else "?"
            wanted = [case.point.format(n=number, label="none, loop: ")]
        tap.point(found == wanted, f"by TCP {case.tcp}, by SDP {case.sdp}"
                  f"{', listed' if case.listed else ''}: {case.name}", f"{found}, not {wanted}"
                  if found != wanted else "")
    tap.point("# mended is listed as different, and has passed" in lines,
              "what is listed and passes is named")
    tap.point(bad, "it is a failure in all")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
