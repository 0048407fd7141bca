# SPDX-License-Identifier: GPL-2.0
"""libuv's own tests, from Debian's source package: those with TCP sockets"""
import os
import re
import shutil

import process

OURS = re.compile("(tcp|poll_|ipc_|shutdown_|callback_stack|clos|connect|delayed_accept|emfile|"
                  "getsockname_tcp|handle_fileno|multiple_listen|not_|readable_|ref|"
                  "socket_buffer_size|spawn_(tcp_server|inherit|and)|watcher_cross_stop)")


class Suite:
    """Each test is a process of its own, with helpers. The addresses are compiled in."""

    SLOW = re.compile("$^")
    ways = ["loop"]

    def __init__(self):
        self.directory = "/dev/shm/suites-libuv"
        os.makedirs(self.directory, exist_ok=True)
        os.chmod(self.directory, 0o777)
        # A directory in which an unprivileged user may start it
        self.program = shutil.copy(
            os.path.join(os.environ["SDP_SUITES"], "libuv", "uv_run_tests_a"), self.directory)

    def output(self, name, log):
        # The tests refuse to run as root, and have time limits of seconds for a real processor.
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", self.program,
                   name]
        return process.output_of(command, log, self.directory,
                                 {"UV_TEST_TIMEOUT_MULTIPLIER": "8"})

    def names(self):
        lines = self.output("--list", process.NO_LOG).splitlines()
        return [line.split()[0] for line in lines if OURS.match(line)]

    @staticmethod
    def top(name):
        return name

    def run(self, names, way, log, alone):
        verdicts = {}
        for name in names:
            text = self.output(name, log)
            found = re.search(r"^(ok|not ok) 1 - \S+( # SKIP)?", text, re.M)
            verdicts[name] = "fail"
            if found and found[1] == "ok":
                verdicts[name] = "skip" if found[2] else "pass"
        return verdicts
