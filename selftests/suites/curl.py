# SPDX-License-Identifier: GPL-2.0
"""curl's own tests, from Debian's source package: its program against its own servers"""
import os
import re

import process

# Tests that need the program only, with protocols over TCP
KEYWORD = re.compile(r"^(HTTP|FTP|SMTP|IMAP|POP3|TELNET|MQTT|GOPHER|RTSP|SOCKS\d\w*)$", re.M)
TOOL = re.compile("<tool>|<features>[^<]*(SSL|unix-sockets)|^(SSH|SCP|SFTP|TFTP)$", re.M)
# One in three tests is run, always the same ones: each has its servers' logs examined, which takes
# an emulated processor seconds.
SHARE = 3


class Suite:
    """Numbered tests. They use the address that their runner is given."""

    SLOW = re.compile("$^")
    ways = ["loop", "rc"]

    def __init__(self):
        source = os.path.join(os.environ["SDP_SUITES"], "curl", "source")
        with open(source, encoding="utf-8") as file:
            self.source = os.path.join(file.read().strip(), "tests")
        self.directory = os.path.join(os.environ["SDP_SUITES"], "curl", "tests")

    def names(self):
        found = []
        for name in os.listdir(os.path.join(self.source, "data")):
            if re.fullmatch(r"test\d+", name):
                with open(os.path.join(self.source, "data", name), encoding="latin-1") as file:
                    text = file.read()
                if KEYWORD.search(text) and not TOOL.search(text):
                    found.append(name[4:])
        return sorted(found, key=int)[::SHARE]

    @staticmethod
    def top(name):
        return name

    def run(self, names, way, log, alone):
        verdicts = self.run_once(names, way, log)
        # It does not report tests that it cannot run: never, or because a server did not start in
        # time, which it tries once.
        left = [name for name in names if name not in verdicts]
        if left and not alone:
            verdicts.update(self.run_once(left, way, log))
        return {name: verdicts.get(name, "skip") for name in names}

    def run_once(self, names, way, log):
        """The verdicts of the tests that were run"""
        command = ["perl", "-I", self.source, os.path.join(self.source, "runtests.pl"), "-n", "-a",
                   "-am", "-p"]
        if way == "rc":
            command += ["-o", f"HOSTIP={os.environ['SDP_B']}",
                        "-o", f"CLIENTIP={os.environ['SDP_A']}"]
        text = process.output_of(command + names, log, self.directory, {"srcdir": self.source})
        verdicts = {name: "fail" for name in re.findall(r"^ (\d+): .*FAILED", text, re.M)}
        verdicts.update((name, verdict.lower()) for verdict, name in
                        re.findall(r"^(PASS|FAIL): (\d+) - ", text, re.M))
        return verdicts
