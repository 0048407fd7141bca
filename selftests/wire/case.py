# SPDX-License-Identifier: GPL-2.0
"""The recorded sample, and functions to find and change its frames, for selftest.py's cases."""
import copy

import decode
import rules
from sample import BSDH, BTH, IP_LEN, UDP_LEN

MID, FLAGS, BUFS, LEN, MSEQ, ACK = BSDH, BSDH + 1, BSDH + 2, BSDH + 4, BSDH + 8, BSDH + 12
PSN = BTH + 9
RETH = BTH + 12
ICRC_LEN = 4

# Rules that a change breaks: this one and maybe others; this one only; maybe others but not this
# one.
ALSO, ALONE, NOT = range(3)

CASES = []


def breaks(rule, on="small-packets", alone=False):
    """Decorator: the function changes a Case so that `rule` is broken; with alone=True, no other
    rule."""
    def remember(change):
        CASES.append((rule, on, change.__name__, change, ALONE if alone else ALSO))
        return change
    return remember


def keeps(rule, on):
    """Decorator: the function changes a Case in a way that `rule` allows, whatever other rules
    say."""
    def remember(change):
        CASES.append((rule, on, change.__name__, change, NOT))
        return change
    return remember


class Case:
    """The sample, to be changed; the methods find frames in one of its connections."""

    def __init__(self, connections, name):
        self.connections = copy.deepcopy(connections)
        self.name = name
        self.frames = self.connections[name][1]
        self.stat = {}
        self.added = 0

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
        """First packets of messages with payload; those without are updates()."""
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
        """First packets of messages longer than the initial receive size."""
        size = self.facts().recv_buffer_size
        return [f for f in self.data(side) if f.get(LEN, 4) > size]

    def heard(self, side, message):
        """The other side's newest header when `message` was sent."""
        peer = "server" if side == "client" else "client"
        return self.sends(peer)[message.get(ACK, 4) - 1]

    def told_before(self, side, news):
        """The newest number that `side` had allowed before it received the other side's `news`."""
        earlier = [f for f in self.sends(side) if f.get(ACK, 4) < news.get(MSEQ, 4)]
        if earlier:
            return earlier[-1].get(ACK, 4) + earlier[-1].get(BUFS, 2)
        hello = self.cm("REP" if side == "server" else "REQ")
        return hello.get(hello.private_data + 2, 2)

    def left_before(self, side, message):
        """The credit that `side` counts for the other end just before `message`."""
        number = message.get(MSEQ, 4)
        if number > 1:
            header = self.sends(side)[number - 2]
            return header.get(ACK, 4) + header.get(BUFS, 2) - message.get(ACK, 4)
        hello = self.cm("REP" if side == "server" else "REQ")
        return hello.get(hello.private_data + 2, 2) - message.get(ACK, 4)

    def make_last_credit(self, side, message):
        """Makes `message` the last one that `side` has credit for."""
        header = self.heard(side, message)
        header.put(BUFS, 2, message.get(MSEQ, 4) - header.get(ACK, 4))

    def empty_after(self, side, news):
        """Its first messages without payload after it has received the other side's `news`."""
        later = [f for f in self.updates(side) if f.get(ACK, 4) >= news.get(MSEQ, 4)]
        first = later[0].get(MSEQ, 4)
        return [f for number, f in enumerate(later, first) if f.get(MSEQ, 4) == number]

    def answered(self, side):
        """The messages of one side that acknowledge something."""
        return [f for f in self.sends(side) if f.get(ACK, 4)]

    def of_kind(self, side, mid):
        return [f for f in self.sends(side) if f.get(MID, 1) == mid]

    def reads(self, side):
        """Its requests for RDMA reads."""
        return self.of(side, decode.READ_REQUEST)

    def set_rest(self, frame, mid, rest=b""):
        """Turns a Send of one packet into another message, with `rest` behind its base header."""
        end = BSDH + 16
        frame.data[end:] = rest + frame.data[-ICRC_LEN:]
        frame.put(MID, 1, mid)
        frame.put(LEN, 4, 16 + len(rest))
        self.fit(frame)

    def fit(self, frame):
        """Sets the length fields of the packet from its size; there is no padding."""
        frame.put(IP_LEN, 2, len(frame.data) - 14)
        frame.put(UDP_LEN, 2, len(frame.data) - 14 - 20)
        frame.put(BTH + 1, 1, frame.get(BTH + 1, 1) & 0xcf)

    def insert(self, side, before, mid, rest=b""):
        """Inserts a message without payload after the one in `before`; later ones are
        renumbered.
        """
        peer = "server" if side == "client" else "client"
        later = [f for f in self.of(side, *decode.SENDS, *decode.WRITES, decode.READ_REQUEST)
                 if f.time > before.time]
        reads = [f for f in later if f.opcode == decode.READ_REQUEST]
        if reads:
            first = reads[0].get(PSN, 3)
            later += [f for f in self.of(peer, *decode.RESPONSES) if f.get(PSN, 3) >= first]
        for frame in later:
            frame.add(PSN, 3, 1)
            if frame.opcode in (decode.SEND_FIRST, decode.SEND_ONLY):
                frame.add(MSEQ, 4, 1)
        for frame in self.sends(peer):
            if frame.get(ACK, 4) > before.get(MSEQ, 4):
                frame.add(ACK, 4, 1)
        new = copy.deepcopy(before)
        new.time += 1
        new.revoked = None
        new.put(BTH, 1, decode.SEND_ONLY)
        new.add(PSN, 3, 1)
        new.add(MSEQ, 4, 1)
        self.set_rest(new, mid, rest)
        self.frames.append(new)
        self.added += 1
        return new
