# SPDX-License-Identifier: GPL-2.0
"""The flow-control mode of each half connection, as its ends see it (C1-C8).

A half is named by its source, the end that sends on it. Both halves begin in Combined. An end
changes the mode when it sends or receives ModeChange; its headers acknowledge what it has
received. So there are two views of each half, and a message is judged by its sender's view.

ModeChange names the receiver's sending or receiving half. That tells whether its sender is the
sink or the source.

This file judges nothing; mode_rules.py does.
"""
MODE_CHANGE = 0x07
BUFFERED, COMBINED, PIPELINED = 0, 1, 2
NAMES = {BUFFERED: "Buffered", COMBINED: "Combined", PIPELINED: "Pipelined"}

# ModeChange's byte: the receiver's sending half, so it comes from the sink; the mode; the rest.
FROM_SINK, MODE_SHIFT, MODE_MASK, REST_MASK = 0x80, 4, 0x70, 0x0f


def from_sink(m):
    return bool(m.change & FROM_SINK)


def new_mode(m):
    return (m.change & MODE_MASK) >> MODE_SHIFT


def name(mode):
    return NAMES.get(mode, f"mode {mode}")


class Half:
    """One half connection, and the changes that either end has sent."""

    def __init__(self, connection, source):
        self.source = source
        self.sink = connection.peer_of(source)

    def concerned(self, side, m):
        """True if the message `m` of `side` is a change of this half."""
        return m.mid == MODE_CHANGE and (side is self.sink) == from_sink(m)

    def walk(self, side):
        """Each message of `side`, and the mode of the half in its view just before."""
        mode, heard = COMBINED, 0
        peer = self.sink if side is self.source else self.source
        for m in side.messages:
            for news in peer.messages[heard:m.ack]:
                if self.concerned(peer, news):
                    mode = new_mode(news)
            heard = max(heard, m.ack)
            yield m, mode
            if self.concerned(side, m):
                mode = new_mode(m)

    def changes(self):
        """(sender, ModeChange, the mode before it in the sender's view)."""
        return [(side, m, mode) for side in (self.source, self.sink)
                for m, mode in self.walk(side) if self.concerned(side, m)]


def halves(connection):
    return [Half(connection, side) for side, _ in connection.sides()]


def shown(connection):
    """The changes that occurred, in the words of traffic.c's srcavails=."""
    return {f"to-{name(new_mode(m)).lower()}" for half in halves(connection)
            for _, m, _ in half.changes()}
