#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""suite.py SUITE: another project's tests by TCP and by SDP, compared, as TAP

Runs in the guest. SUITE is a key of SUITES. Each way runs all its tests twice, with TCP sockets
and under a policy for every socket, both at the same address.

	loop	127.0.0.1 and ::1
	rc	the address of a soft-RoCE device, reached over the cable from the other one;
		for suites whose address can be set

One point per test and way: a test that passes by TCP passes by SDP. A failed test is repeated
alone with the same kind of sockets, since the emulator's clock makes tests fail that measure
time. A test that then passes each time counts as passed, and is named. A test that also fails
by TCP proves nothing about SDP and is a skipped point. The file `expected` lists the known
differences with their reasons.
"""
import collections
import fnmatch
import os
import re
import sys
import time

import cpython
import curl
import golang
import libuv
import mpi

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = "/proc/sys/net/sdp/"
# Number of times that a failed test is repeated alone.
AGAIN = 3

SUITES = {
    "go_net": lambda: golang.Suite("net"),
    "go_http": lambda: golang.Suite("net/http"),
    "python_socket": lambda: cpython.Suite(cpython.SOCKET),
    "python_asyncio": lambda: cpython.Suite(cpython.ASYNCIO),
    # Some of its servers always use localhost, and its certificates are for that name.
    "python_protocols": lambda: cpython.Suite(cpython.PROTOCOLS, ["loop"]),
    "uv": libuv.Suite,
    "curl": curl.Suite,
    "mpi": mpi.Suite,
}


class Tap:
    """Points, on standard output"""

    def __init__(self):
        self.points = self.failed = 0

    def point(self, good, name, why="", skip=""):
        self.points += 1
        self.failed += not good
        end = f" # SKIP {skip}" if skip else ""
        print(f"{'ok' if good else 'not ok'} {self.points} {name}{end}", flush=True)
        for line in why.splitlines():
            print("#", line)

    @staticmethod
    def say(text):
        print("#", text, flush=True)

    def done(self):
        print(f"1..{self.points}")
        return self.failed != 0


def write(name, text):
    with open(SETTINGS + name, "w", encoding="ascii") as file:
        file.write(text)


def set_policy(rules):
    """Sets the rules for sockets made from now on; without rules the policy is off."""
    write("rewrite", "0\n")
    write("policy", rules + "\n")
    if rules:
        write("rewrite", "1\n")


def counters():
    """SDP's counters, the fallbacks, and the packets of the clients' device"""
    counts = collections.Counter()
    with open("/proc/net/sdpstat", encoding="ascii") as file:
        for line in file:
            name, value = line.split()
            counts["Fell" if name.startswith("Fell") else name] += int(value)
    with open("/sys/class/infiniband/rxa/ports/1/hw_counters/sent_pkts", encoding="ascii") as file:
        counts["packets"] = int(file.read())
    return counts


class Expected:
    """The lines of `expected`: suite, way and test, which are patterns, and the reason"""

    def __init__(self, suite):
        self.lines = []
        with open(os.path.join(HERE, "expected"), encoding="ascii") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    words = line.split(None, 3)
                    if fnmatch.fnmatchcase(suite, words[0]):
                        self.lines.append((words[1], words[2], words[3].strip()))

    def reason(self, way, test):
        """Why TEST may fail by SDP; None if it may not"""
        for ways, tests, reason in self.lines:
            if fnmatch.fnmatchcase(way, ways) and fnmatch.fnmatchcase(test, tests):
                return reason
        return None


class Family:
    """All tests of a suite by one way and one kind of socket"""

    def __init__(self, suite, way, sdp, log):
        self.suite, self.way, self.sdp, self.log = suite, way, sdp, log
        self.verdicts = {}

    def run(self, names, alone=False):
        """One run: the verdicts of NAMES and of their subtests"""
        set_policy("any * both" if self.sdp else "")
        try:
            return self.suite.run(names, self.way, self.log, alone)
        finally:
            set_policy("")

    def run_all(self, names):
        """After a run that ended early, the next one starts behind the test that ended it."""
        left = list(names)
        while left:
            got = self.run(left)
            self.verdicts.update((n, v) for n, v in got.items() if v != "begun")
            begun = [n for n in left if got.get(n) == "begun"]
            rest = [n for n in left if n not in got]
            if len(rest) == len(left):
                begun, rest = rest[:1], rest[1:]
            for name in begun:
                alone = self.run([name], True)
                if alone.get(name) in (None, "begun"):
                    alone[name] = "fail"
                self.verdicts.update((n, v) for n, v in alone.items() if v != "begun")
            left = rest

    def again(self, name):
        """The results of NAME, run alone several times"""
        top = self.suite.top(name)
        verdicts = [self.run([top], True).get(name) for _ in range(AGAIN)]
        return [v if v in ("pass", "skip") else "fail" for v in verdicts]


class Comparison:
    """One way: by TCP, and by SDP"""

    def __init__(self, tap, name, suite, way, expected):
        self.tap, self.name, self.suite, self.way = tap, name, suite, way
        self.expected = expected
        self.counts = collections.Counter()

    def one_family(self, names, sdp):
        kind = "sdp" if sdp else "tcp"
        path = os.path.join(os.environ["SDP_RUN"], f"{self.name}-{self.way}-{kind}.log")
        before, start = counters(), time.monotonic()
        family = Family(self.suite, self.way, sdp, path)
        family.run_all(names)
        grown = counters()
        grown.subtract(before)
        sums = collections.Counter(family.verdicts.values())
        self.tap.say(f"{self.way}, {kind}: {sums['pass']} passed, {sums['fail']} failed, "
                     f"{sums['skip']} skip themselves, {time.monotonic() - start:.0f} s; "
                     f"by SDP {grown['PolicyConnects']} connects, {grown['PolicyListens']} "
                     f"listeners, {grown['PolicyAccepts']} accepted; {grown['Fell']} fell back")
        return family, grown

    def check_ways(self, tcp, sdp):
        """Each kind of socket was what it should be."""
        names = ("PolicyConnects", "PolicyListens", "PolicyAccepts")
        label = f"{self.name}, {self.way}: "
        self.tap.point(not sum(tcp[n] for n in names) and not tcp["BytesSent"],
                       label + "nothing was SDP by TCP")
        self.tap.point(all(sdp[n] for n in names) and sdp["BytesSent"] > 0,
                       label + "connected, listened and accepted by SDP")
        self.tap.point(sdp["PolicyConnects"] > sdp["Fell"],
                       label + "more connects by SDP than sockets that fell back")
        if self.way == "rc":
            self.tap.point(sdp["packets"] > 1000, label + "it went over the cable")

    def one_test(self, name, tcp, sdp):
        """The point of one test"""
        label = f"{self.name}, {self.way}: {name}"
        before, after = tcp.verdicts.get(name, "none"), sdp.verdicts.get(name, "none")
        listed = self.expected.reason(self.way, name)
        if before == "skip" and after in ("skip", "none"):
            self.counts["skip themselves"] += 1
            return
        if before == after == "pass":
            if listed:
                self.tap.say(f"{name} is listed as different, and has passed")
                self.counts["listed, and passed"] += 1
            self.tap.point(True, label)
            return
        if before == "none" and after != "fail":
            return  # a name that differs each time, as it has a port in it
        tcp_again = tcp.again(name) if before == "fail" else []
        if before == "fail" and "pass" not in tcp_again:
            self.tap.point(True, label, skip="fails by TCP as well")
            return
        sdp_again = sdp.again(name) if after != "pass" else []
        told = f"by TCP {' '.join([before] + tcp_again)}, by SDP {' '.join([after] + sdp_again)}"
        if all(v == "pass" for v in sdp_again) and after in ("pass", "fail"):
            self.counts["failed once, and passed each time when run again"] += 1
            self.tap.point(True, label, told)
        elif listed:
            self.counts["listed as different"] += 1
            self.tap.point(True, label, told, skip=listed)
        else:
            self.tap.point(False, label, told)

    def run(self, names):
        tcp, tcp_grown = self.one_family(names, False)
        passed = sum(v == "pass" for v in tcp.verdicts.values())
        self.tap.point(passed > len(tcp.verdicts) / 2,
                       f"{self.name}, {self.way}: more than half of it passes by TCP")
        sdp, sdp_grown = self.one_family(names, True)
        self.check_ways(tcp_grown, sdp_grown)
        for name in list(dict.fromkeys([*tcp.verdicts, *sdp.verdicts])):
            self.one_test(name, tcp, sdp)
        for what, count in self.counts.items():
            self.tap.say(f"{self.way}: {count} {what}")


def main():
    name = sys.argv[1]
    suite, tap, expected = SUITES[name](), Tap(), Expected(name)
    ways = os.environ.get("SDP_WAYS", "").split() or suite.ways
    only = os.environ.get("SDP_ONLY", "")
    names = [n for n in suite.names() if re.search(only, n)]
    if os.environ.get("SDP_SHORT"):
        names = [n for n in names if not suite.SLOW.match(n)]
        ways = suite.ways[:1]
        tap.say("short form: the tests that take longest, and addresses of devices")
    tap.point(bool(names), f"{name}: {len(names)} tests are there")
    for way in suite.ways:
        if way in ways:
            Comparison(tap, name, suite, way, expected).run(names)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
