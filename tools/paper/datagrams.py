#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""datagrams.py RESULTS DIRECTORY: the figures on delivery by datagrams (figures.py)."""

import sys

sys.dont_write_bytecode = True

from figures import Figure, Page, ratio, run, size_name  # noqa: E402

NAMES = {
    "tcp": "TCP",
    "tcpwait": "TCP, each store waits",
    "tcpmtu": "TCP, MTU-size packets",
    "smc": "SMC-R v2",
    "sdp": "AF_SDP, queue pairs",
    "sdpwait": "AF_SDP, queue pairs, each store waits",
    "sdpud": "AF_SDP, datagrams",
    "sdpudwait": "AF_SDP, datagrams, each store waits",
    "sdpudfar": "AF_SDP, datagrams, far away",
}
LOOKS = {
    "tcp": ("#9aa0a6", 1, 5, 2),
    "tcpwait": ("#9aa0a6", "'-'", 4, 2),
    "tcpmtu": ("#9aa0a6", 1, 5, 2),
    "smc": ("#12858d", 1, 11, 2),
    "sdp": ("#1a73e8", 1, 7, 3),
    "sdpwait": ("#1a73e8", "'-'", 6, 2),
    "sdpud": ("#188038", 1, 13, 3),
    "sdpudwait": ("#188038", "'-'", 12, 2),
    "sdpudfar": ("#d93025", 1, 9, 2),
}
FIGURES = (
    Figure("roundtrip", "roundtrip", "Round trip of a small message, µs there and back",
           "size of a message", "us there and back", "lower", "x"),
    Figure("stores", "stores", "Bulk stores that wait for each other and that do not, MB/s",
           "size of a store", "MB/s", "higher", "xy"),
    Figure("window", "window", "A stream, by the window of its receiver, MB/s",
           "packets that the receiver takes beyond an acknowledgment", "MB/s", "higher", "",
           "packets"),
    Figure("nack", "nack", "A stream by a network that loses packets, MB/s",
           "lost of 1000 packets", "MB/s", "higher", "", "lost"),
    Figure("keepalive", "keepalive",
           "Ping-pong of 64 bytes by such a network, mean of a round trip, µs",
           "lost of 1000 packets", "us there and back", "lower", "", "lost"),
)
# Stores of at least so many bytes are very large.
LARGE = 1 << 20


def per(results, test, peer, size, name, other):
    """How many of one counter there are for one of another; None without any."""
    whole = results.counted((test, peer, size), other)
    return results.counted((test, peer, size), name) / whole if whole else None


def aims(results, row):
    """What the paper says, or lets expect."""
    for peer in ("sdp", "sdpud", "tcp"):
        row(f"very large stores: not waiting to waiting, {NAMES[peer]}", "0.95 - 1.05",
            [(ratio(results, "stores", peer, f"{peer}wait", s), size_name(s))
             for s in results.sizes(("stores",)) if s >= LARGE],
            lambda v: max(v, key=lambda x: abs(x[0] - 1)))
    row("round trips: acknowledgments by themselves for a packet, datagrams", "< 0.1",
        [(per(results, "roundtrip", "sdpud", s, "DatagramAcks", "DatagramsSent"), size_name(s))
         for s in results.sizes(("roundtrip",))], max)
    row("stream of chunks: packets for an acknowledgment, datagrams", "36",
        [(per(results, "window", "sdpud", 76, "DatagramsSent", "DatagramAcks"), "76 packets")], min)
    for peer in ("sdpud", "sdpudfar"):
        row(f"two chunks to the whole window: {NAMES[peer]}", ">= 0.95",
            [(window_ratio(results, peer), "72 packets")], min)
    row("packets sent again for a NACK, datagrams", "<= 76",
        [(per(results, "nack", "sdpud", s, "DatagramsAgain", "DatagramNacks"), f"{s} lost")
         for s in results.sizes(("nack",))], max)


def window_ratio(results, peer):
    whole, two = (results.median("window", peer, packets) for packets in (76, 72))
    return two / whole if whole and two else None


if __name__ == "__main__":
    run(Page(NAMES, LOOKS, FIGURES, aims), __doc__)
