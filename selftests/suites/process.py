# SPDX-License-Identifier: GPL-2.0
"""Runs the programs of the suites. Their output goes to a log, and a silent one is killed."""
import os
import signal
import subprocess

# Seconds; an emulated processor takes about ten times as long as a real one.
SILENCE = 150
# For lists of tests, which are not kept
NO_LOG = "/dev/shm/suites-lists"


def output_of(command, log, cwd, env=None, silence=SILENCE):
    """The output of COMMAND. After SILENCE seconds without output it gets SIGQUIT, to print where
    it is, and is killed with all its children."""
    with open(log, "a+b") as file:
        file.write(f"==== {' '.join(command)[:300]}\n".encode())
        file.flush()
        begin = size = file.seek(0, os.SEEK_END)
        program = subprocess.Popen(command, cwd=cwd, env={**os.environ, **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        while program.poll() is None:
            try:
                program.wait(silence)
            except subprocess.TimeoutExpired:
                if os.fstat(file.fileno()).st_size == size:
                    end(program)
                size = os.fstat(file.fileno()).st_size
        kill_all(program)
        file.seek(begin)
        text = file.read().decode("utf-8", "replace")
        file.write(f"\n==== status {program.returncode}\n".encode())
    return text


def kill_all(program):
    """Kills it with its children, which are in its session"""
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end(program):
    """SIGQUIT makes Go and Python print their stacks."""
    program.send_signal(signal.SIGQUIT)
    try:
        program.wait(10)
    except subprocess.TimeoutExpired:
        kill_all(program)
        program.wait()
