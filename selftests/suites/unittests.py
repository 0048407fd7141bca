#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""unittests.py --list MODULE...: the tests of CPython's test modules, as lines "list NAME"
unittests.py FILE: runs those whose names FILE has, with lines "suite: VERDICT NAME"

$SUITE_HOST is the address that the tests use in place of "localhost", where they support that.
"""
import faulthandler
import importlib
import os
import signal
import sys
import unittest

from test import support
from test.support import socket_helper


def flat(suite):
    """The tests in a suite of suites"""
    if isinstance(suite, unittest.TestSuite):
        for part in suite:
            yield from flat(part)
    else:
        yield suite


class Result(unittest.TextTestResult):
    """Prints each verdict when it is known, on a line of its own."""

    def __init__(self, names):
        super().__init__(unittest.runner._WritelnDecorator(sys.stderr), False, 0)
        self.names = names
        self.bad = set()

    @staticmethod
    def say(verdict, name):
        sys.stderr.flush()
        os.write(1, f"\nsuite: {verdict} {name}\n".encode())

    def say_of(self, verdict, test):
        """The verdict of a fixture is for all its tests, whose names begin with the text in
        brackets"""
        name = test.id()
        if not isinstance(test, unittest.suite._ErrorHolder):
            self.say(verdict, name)
            return
        scope = name.partition("(")[2].rstrip(")")
        for one in self.names:
            if one.startswith(scope + "."):
                self.say(verdict, one)

    def startTest(self, test):
        super().startTest(test)
        self.say("begun", test.id())

    def fail(self, test, error):
        self.bad.add(test.id())
        os.write(1, self._exc_info_to_string(error, test).encode("utf-8", "replace"))

    def addError(self, test, err):
        self.fail(test, err)
        if isinstance(test, unittest.suite._ErrorHolder):
            self.say_of("fail", test)

    def addFailure(self, test, err):
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.fail(test, err)

    def addUnexpectedSuccess(self, test):
        self.bad.add(test.id())

    def addExpectedFailure(self, test, err):
        pass

    def addSkip(self, test, reason):
        self.say_of("skip", test)
        self.bad.discard(test.id())
        self.skipped.append((test.id(), reason))

    def stopTest(self, test):
        name = test.id()
        if name in self.bad:
            self.say("fail", name)
        elif not self.skipped or self.skipped[-1][0] != name:
            self.say("pass", name)
        super().stopTest(test)


def main():
    faulthandler.register(signal.SIGQUIT, chain=True)
    # No tests that need another host or take long, except in this module, which declares that it
    # does but does not.
    support.use_resources = ["network"]
    importlib.import_module("test.test_socketserver")
    support.use_resources = []
    # An emulated processor is slow.
    support.LOOPBACK_TIMEOUT = 30.0
    support.SHORT_TIMEOUT = 90.0
    if os.environ.get("SUITE_HOST"):
        socket_helper.HOST = socket_helper.HOSTv4 = os.environ["SUITE_HOST"]
    loader = unittest.TestLoader()
    if sys.argv[1] == "--list":
        for test in flat(loader.loadTestsFromNames(sys.argv[2:])):
            print("list", test.id())
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        names = file.read().split()
    unittest.TestSuite(loader.loadTestsFromNames(names)).run(Result(names))


if __name__ == "__main__":
    main()
