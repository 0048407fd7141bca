# SPDX-License-Identifier: GPL-2.0
"""OpenMPI over TCP, by the tests for any MPI library in MPICH's source package"""
import os
import re

import process

# One in three collective operations: each one starts a job, which takes seconds.
SHARES = {"pt2pt": 1, "coll": 3}
# A job's processes wait for each other by polling; an emulated processor has no time for more.
MOST = 2
# It sends for minutes on an emulated processor.
LONG = ["sendflood"]
SETTINGS = {
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # All processes are on this machine, and no display is searched for.
    "OMPI_MCA_plm": "isolated",
    "HWLOC_COMPONENTS": "-gl",
}


class Suite:
    """A test is a program and its arguments. OpenMPI uses one interface for all processes, so only
    the loopback address is possible."""

    SLOW = re.compile("$^")
    ways = ["loop"]

    def __init__(self):
        self.directory = os.path.join(os.environ["SDP_SUITES"], "mpi")
        self.commands = {}

    def names(self):
        for kind, share in SHARES.items():
            with open(os.path.join(self.directory, kind, "testlist"), encoding="ascii") as file:
                lines = sorted(set(file))
            # Excludes tests for MPICH only, known failures, and those that need gigabytes
            lines = [line.split() for line in lines
                     if not re.match(r"\s*(#|$)|.*(env|mem|xfail|mpiversion)=|.*/", line)]
            there = [words for words in lines
                     if os.access(os.path.join(self.directory, kind, words[0]), os.X_OK)]
            for program, count, *rest in [w for w in there if w[0] not in LONG][::share]:
                arguments = [word[4:] for word in rest if word.startswith("arg=")]
                name = "-".join([f"{kind}/{program}"] + [a.strip("-") for a in arguments])
                self.commands[name] = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                                       str(min(int(count), MOST)), f"./{program}"] + arguments
        return list(self.commands)

    @staticmethod
    def top(name):
        return name

    def run(self, names, way, log, alone):
        verdicts = {}
        for name in names:
            where = os.path.join(self.directory, os.path.dirname(name))
            text = process.output_of(self.commands[name], log, where, SETTINGS)
            verdicts[name] = "pass" if re.search(r"^ ?No Errors$", text, re.M) else "fail"
        return verdicts
