# SPDX-License-Identifier: GPL-2.0
"""The recorded sample, and how its frames are found, for the cases of selftest.py."""
import copy

import decode
import rules
from sample import BSDH

MID, FLAGS, BUFS, LEN, MSEQ, ACK = BSDH, BSDH + 1, BSDH + 2, BSDH + 4, BSDH + 8, BSDH + 12


class Case:
    """The sample, to be changed; the methods find frames in one of its connections."""

    def __init__(self, connections, name):
        self.connections = copy.deepcopy(connections)
        self.name = name
        self.frames = self.connections[name][1]
        self.stat = {}

    def facts(self):
        return rules.Facts(self.connections[self.name][0])

    def set_fact(self, key, value):
        line, frames = self.connections[self.name]
        words = [f"{key}={value}" if word.startswith(key + "=") else word for word in line.split()]
        self.connections[self.name] = (" ".join(words), frames)

    def cm(self, kind):
        return next(frame for frame in self.frames if frame.cm == kind)

    def of(self, side, *opcodes):
        client = self.frames[0].source
        return [frame for frame in self.frames if frame.opcode in opcodes
                and (frame.source == client) == (side == "client")]

    def sends(self, side):
        """First packets of its messages."""
        return self.of(side, decode.SEND_FIRST, decode.SEND_ONLY)

    def data(self, side):
        """First packets of messages with payload; without: credit updates."""
        return [f for f in self.sends(side) if f.get(MID, 1) == rules.DATA and f.get(LEN, 4) > 16]

    def updates(self, side):
        return [f for f in self.sends(side) if f.get(MID, 1) == rules.DATA and f.get(LEN, 4) == 16]

    def disconn(self, side):
        return next(f for f in self.sends(side) if f.get(MID, 1) == rules.DISCONN)

    def requests(self, side):
        return [f for f in self.sends(side) if f.get(MID, 1) == rules.CHRCVBUF]

    def answers(self, side):
        return [f for f in self.sends(side) if f.get(MID, 1) == rules.CHRCVBUF_ACK]

    def long_ones(self, side):
        """First packets of messages longer than the first size."""
        size = self.facts().recv_buffer_size
        return [f for f in self.data(side) if f.get(LEN, 4) > size]

    def heard(self, side, message):
        """The header of the other side that was the newest one when `message` was sent."""
        peer = "server" if side == "client" else "client"
        return self.sends(peer)[message.get(ACK, 4) - 1]

    def told_before(self, side, news):
        """The newest number that one side had allowed before it heard the other's `news`."""
        earlier = [f for f in self.sends(side) if f.get(ACK, 4) < news.get(MSEQ, 4)]
        if earlier:
            return earlier[-1].get(ACK, 4) + earlier[-1].get(BUFS, 2)
        hello = self.cm("REP" if side == "server" else "REQ")
        return hello.get(hello.private_data + 2, 2)

    def empty_after(self, side, news):
        """Its first messages without payload after it has heard the other's `news`."""
        later = [f for f in self.updates(side) if f.get(ACK, 4) >= news.get(MSEQ, 4)]
        first = later[0].get(MSEQ, 4)
        return [f for number, f in enumerate(later, first) if f.get(MSEQ, 4) == number]

    def answered(self, side):
        """The messages of one side that were sent after it had heard something."""
        return [f for f in self.sends(side) if f.get(ACK, 4)]
