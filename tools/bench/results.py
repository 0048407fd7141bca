# SPDX-License-Identifier: GPL-2.0
"""Reads the file of results that guest.sh writes."""

import collections
import statistics

DEVICES = {"rxe": "soft-RoCE", "siw": "soft-iWARP"}
PEERS = {
    "tcp": "TCP",
    "tcpmtu": "TCP, MTU-size packets",
    "rs": "rsockets",
    "smc": "SMC-R v2",
    "verbs": "raw verbs",
    "sdp": "AF_SDP, default buffers",
    "sdpbig": "AF_SDP, larger buffers",
    "sdpud": "AF_SDP, datagrams",
    "sdpauto": "AF_SDP, auto",
    "sdpring": "AF_SDP, rings",
    "sdploop": "AF_SDP loopback",
    "unix": "AF_UNIX",
    "tcplo": "TCP on lo",
    "sdpmsg": "AF_SDP, messages",
    "sdpread": "AF_SDP, read (Combined)",
    "sdpwrite": "AF_SDP, written (Pipelined)",
}
LOCAL_PEERS = ("sdploop", "unix", "tcplo")
REMOTE_PEERS = tuple(p for p in PEERS if p not in LOCAL_PEERS)

# The ways of AF_SDP's large writes: tests modes_stream and modes_pingpong.
MODES = {
    "sdpmsg": "messages",
    "sdpread": "read (Combined)",
    "sdpwrite": "written (Pipelined)",
    "sdp": "default settings",
}

# The ways to read and to write: tests readers_*.
READERS = {
    "recv": "recv()",
    "waitall": "recv(), MSG_WAITALL",
    "poll": "poll(), recv() without waiting",
    "pollrecv": "poll(), recv()",
    "map": "poll(), TCP_ZEROCOPY_RECEIVE",
    "readv": "readv(), 100 bytes first",
    "uring": "io_uring",
    "body": "recv() of 16 bytes, then of the rest",
    "threads": "recv() by three threads",
    "e_recv": "recv(), event-driven writer",
    "e_poll": "poll(), recv() without waiting, event-driven writer",
    "e_uring": "io_uring, event-driven writer",
    "z_recv": "recv(), event-driven writer, MSG_ZEROCOPY",
    "z_poll": "poll(), recv() without waiting, event-driven writer, MSG_ZEROCOPY",
    "f_recv": "recv(), event-driven writer, sendfile()",
    "f_poll": "poll(), recv() without waiting, event-driven writer, sendfile()",
    "e_map": "poll(), TCP_ZEROCOPY_RECEIVE, event-driven writer",
    "z_map": "poll(), TCP_ZEROCOPY_RECEIVE, event-driven writer, MSG_ZEROCOPY",
    "f_map": "poll(), TCP_ZEROCOPY_RECEIVE, event-driven writer, sendfile()",
}

# Real programs: name of the test, and its unit.
PROGRAMS = {
    "redis_set1": ("redis SET", "requests/s"),
    "redis_get1": ("redis GET", "requests/s"),
    "redis_set16": ("redis SET, 16 at once", "requests/s"),
    "redis_get16": ("redis GET, 16 at once", "requests/s"),
    "redis_setlarge": ("redis SET, 256 KiB", "requests/s"),
    "redis_getlarge": ("redis GET, 256 KiB", "requests/s"),
    "nginx_small": ("nginx, 1 KiB", "requests/s"),
    "nginx_large": ("nginx, 20 MiB", "MB/s"),
}


class Sample:
    """The rounds of one peer, test and size: median, and half of the spread around it."""

    def __init__(self, values):
        self.values = values
        self.median = statistics.median(values)
        self.low, self.high = min(values), max(values)

    def spread_percent(self):
        return 50 * (self.high - self.low) / self.median if self.median else 0


class Results:
    """What a run of the benchmark measured; samples are indexed by (test, peer, size).

    Size is the number of connections in the test echo, and 0 where there is none. Busy time has
    samples of its own: "cpu" for streams, "cpu_TEST" for other tests. by_rdma has the
    percentages of bytes read and written by RDMA, for the tests modes_*. rail has moments of the
    stream of the test rails: time and bytes of each cable.
    """

    def __init__(self, path):
        self.info = {}
        self.notes = []
        self.complete = False
        self.failures = collections.Counter()
        self.packets_per_mb = {}
        self.idle = collections.defaultdict(list)
        self.pinned = {}
        self.by_rdma = {}
        self.rail = []
        self._values = collections.defaultdict(list)
        self._packets = collections.defaultdict(list)
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                kind, _, rest = line.strip().partition(" ")
                if kind == "note":
                    self.notes += [rest] if rest not in self.notes else []
                else:
                    self._take(kind, dict(w.split("=", 1) for w in rest.split() if "=" in w))
        self.samples = {k: Sample(v) for k, v in self._values.items()}
        for key, values in self._packets.items():
            self.packets_per_mb[key] = statistics.median(values)

    def device(self):
        """What the RDMA peers went over."""
        return DEVICES.get(self.info.get("device", "rxe"), "unknown devices")

    def _take(self, kind, words):
        if kind == "info":
            self.info.update(words)
        elif kind == "end":
            self.complete = True
        elif kind == "idle" and "bytes" in words:
            self.idle[words["peer"]].append({k: int(v) for k, v in words.items() if k != "peer"})
        elif kind == "idle":
            self.failures[("idle", words["peer"], 0, words["fail"])] += 1
        elif kind == "pinned" and "peak" in words:
            self.pinned[words["peer"]] = words
        elif kind == "pinned":
            self.failures[("pinned", words["peer"], 0, words["fail"])] += 1
        elif kind == "rail":
            self.rail.append({k: int(v) for k, v in words.items()})
        elif kind == "run":
            self._take_run(words)

    def _take_run(self, words):
        size = int(words.get("size") or words["connections"])
        key = (words["test"], words["peer"], size)
        if "value" not in words or not words["value"]:
            self.failures[key + (words.get("fail", "no-figure"),)] += 1
            return
        self._values[key].append(float(words["value"]))
        if "read" in words:
            self.by_rdma[key] = int(words["read"]), int(words["written"])
        if words.get("busy_us"):
            self._take_busy(key, words)
        if words["test"] == "stream":
            packets = int(words["packets"]) + int(words["back"])
            self._packets[key[1:]].append(packets * 1e6 / (size * int(words["count"])))

    def _take_busy(self, key, words):
        """Nanoseconds per byte of bulk data, microseconds for anything else."""
        test, peer, size = key
        busy = float(words["busy_us"]) / int(words["count"])
        if test in ("stream", "cost"):
            name = "cpu" if test == "stream" else "cpu_cost"
            self._values[name, peer, size].append(busy * 1e3 / size)
        else:
            unit = 1e3 if test == "nginx_large" else 1
            self._values["cpu_" + test, peer, size].append(busy * unit)

    def sizes(self, tests=("stream", "pingpong")):
        return sorted({size for test, _, size in self.samples if test in tests})

    def peers(self, test, among=tuple(PEERS)):
        """The peers that have a figure of this test, or failed at it."""
        seen = {k[1] for k in self.samples if k[0] == test}
        seen |= {k[1] for k in self.failures if k[0] == test}
        return [p for p in among if p in seen]

    def median(self, test, peer, size):
        sample = self.samples.get((test, peer, size))
        return sample.median if sample else None


def size_name(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
