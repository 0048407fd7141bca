# SPDX-License-Identifier: GPL-2.0
"""Tests of CPython's standard library, from Debian's libpython3.11-testsuite"""
import os
import re

import process

PYTHON = "/usr/bin/python3.11"
SOCKET = ["test_socket"]
ASYNCIO = ["test_asyncio." + name for name in (
    "test_buffered_proto", "test_events", "test_sendfile", "test_server", "test_sock_lowlevel",
    "test_ssl", "test_streams")]
PROTOCOLS = ["test_asynchat", "test_asyncore", "test_docxmlrpc", "test_ftplib", "test_httplib",
             "test_httpservers", "test_imaplib", "test_poplib", "test_smtplib",
             "test_socketserver", "test_ssl", "test_telnetlib", "test_urllib2_localnet",
             "test_wsgiref", "test_xmlrpc"]
# Sockets other than TCP
OTHERS = re.compile("VSOCK|CAN|RDS|Bluetooth|QIPC|LinuxKernelCrypto|UDP|Udp|Unix|SCTP|SocketPair|"
                    "sendall_interrupted")
# Servers that wait for a client as long as unittests.py allows, half a minute each
WAITS = re.compile("imaplib_timeout_test|NewIMAPSSLTests.test_ssl_(raises|verified)")


class Suite:
    """The tests of some modules"""

    SLOW = re.compile("$^")
    ways = ["loop", "rc"]

    def __init__(self, modules, ways=None):
        self.ways = ways or self.ways
        self.modules = ["test." + m for m in modules]
        self.directory = "/dev/shm/suites-python"
        os.makedirs(self.directory, exist_ok=True)

    def command(self, *arguments):
        runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unittests.py")
        return [PYTHON, runner, *arguments]

    def names(self):
        text = process.output_of(self.command("--list", *self.modules), process.NO_LOG,
                                 self.directory)
        names = [line.split()[1] for line in text.splitlines() if line.startswith("list ")]
        return [name for name in names if not OTHERS.search(name) and not WAITS.search(name)]

    @staticmethod
    def top(name):
        return name

    def run(self, names, way, log, alone):
        env = {"SUITE_HOST": os.environ["SDP_B"]} if way == "rc" else {}
        with open(os.path.join(self.directory, "names"), "w", encoding="utf-8") as file:
            file.write("\n".join(names))
        text = process.output_of(self.command(file.name), log, self.directory, env)
        verdicts = {}
        for line in text.splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "suite:":
                verdicts[words[2]] = words[1]
        return verdicts
