# SPDX-License-Identifier: GPL-2.0
"""Tests of Go's standard library, from Debian's sources"""
import os
import re

import process

VERDICT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(|=== (RUN) +(\S+)")
WORDS = {"PASS": "pass", "FAIL": "fail", "SKIP": "skip", "RUN": "begun"}
# Tests that query Internet name servers, half a minute each, and tests that run the compiler
ELSEWHERE = re.compile("Test(Lookup|ResolverLookup|ResolveGoogle|DialGoogle|OmitHTTP2|CmdGo)")


class Suite:
    """The tests of one package. Their addresses are fixed, so there is one way."""

    # These take most of the time; two of them test network interfaces.
    SLOW = re.compile("Test(Splice|TCPSpurious|InterfaceArrival|PointToPoint|VariousDeadlines.)")
    ways = ["loop"]

    def __init__(self, package):
        self.program = os.path.join(os.environ["SDP_SUITES"], package.replace("/", "-") + ".test")
        with open(self.program + ".source", encoding="utf-8") as file:
            self.source = file.read().strip()

    def names(self):
        text = process.output_of([self.program, "-test.list", "."], process.NO_LOG, self.source)
        return [n for n in text.split()
                if re.match("(Test|Example|Fuzz)", n) and not ELSEWHERE.match(n)]

    @staticmethod
    def top(name):
        """Subtests run with their test."""
        return name.split("/")[0]

    def run(self, names, way, log, alone):
        command = [self.program, "-test.v", "-test.run", f"^({'|'.join(names)})$"]
        text = process.output_of(command, log, self.source)
        verdicts = {}
        for ended, name, began, begun in VERDICT.findall(text):
            if ended or begun not in verdicts:
                verdicts[name or begun] = WORDS[ended or began]
        return verdicts
