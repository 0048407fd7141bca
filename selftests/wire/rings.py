# SPDX-License-Identifier: GPL-2.0
"""What a source knows of the ring that it writes into, and what its sink has told (G2, G4, G6).

RingAsk asks for a ring of a size. RingAvail says where it is, or that there is none. RingAsk of
size 0 gives it back. A message in a ring is an RDMA write with immediate data, directly behind
the one before. The immediate contains its length, and whether the ring is the first, third, ...
one. FREED on Data says how many bytes of the ring have been read.

A message's header acknowledges what its sender has received, so both views can be followed
exactly.

This file judges nothing; ring_rules.py does.
"""
from resize import DATA

RING_ASK, RING_AVAIL = 0x40, 0x41
FREED = 0x08
CREDIT, RDMA, NIC = "credit", "rdma", "nic"
SCHEMES = {CREDIT: 0, RDMA: 1, NIC: 2}
IMM_ODD = 0x80000000
SIZE_MIN, SIZE_MAX = 8192, 1 << 19
WORD = 1 << 32


class Ring:
    """One ring, as RingAvail announced it. Positions count from its creation.

    odd		it is the first, third, ... one
    head	bytes written into it, as far as the messages have been processed
    freed	of these, bytes that its source knows to have been read
    told	of these, bytes that its sink has reported as read
    """

    def __init__(self, message, odd):
        self.message = message
        self.size, self.va, self.rkey = message.whole, message.va, message.rkey
        self.odd = odd
        self.head = self.freed = self.told = 0

    def place(self):
        """Address of the next message. The ring's memory is mapped twice, so a message is
        contiguous."""
        return self.va + self.head % self.size

    def immediate(self, length):
        return (IMM_ODD if self.odd else 0) | length

    def __str__(self):
        return f"the ring in frame {self.message.number}"


class Source:
    """What the sending half of one end knows, just before each message that it sends.

    ring	the one that it may write into, or None
    asked	its RingAsk that awaits an answer
    answers	RingAvail of the other end -> the RingAsk that it answers, or None
    used	rings that it has written into, by the first message there
    """

    def __init__(self, side, peer):
        self.side = side
        self.peer = peer
        self.ring = self.asked = None
        self.odd = False
        self.heard = 0
        self.answers = {}
        self.used = {}

    def hear(self, m):
        if m.mid == RING_AVAIL:
            self.answers[m] = self.asked
            self.asked = None
            if m.whole:
                self.odd = not self.odd
                self.ring = Ring(m, self.odd)
        elif m.freed is not None and self.ring is not None:
            self.ring.freed = m.freed

    def send(self, m):
        if m.mid == RING_ASK:
            self.asked = m if m.size else self.asked
            if not m.size:
                self.ring = None
        if m.put is not None and self.ring is not None:
            if not self.ring.head:
                self.used[m] = self.ring
            self.ring.head += m.bytes

    def walk(self):
        """Each message that it has sent; the view is as it was just before."""
        for m in self.side.messages:
            for news in self.peer.messages[self.heard:m.ack]:
                self.hear(news)
            self.heard = max(self.heard, m.ack)
            yield m
            self.send(m)


class Sink:
    """What the receiving half of one end has told of its rings, just before each message.

    ring	the ring of the newest message that it has received, or None
    """

    def __init__(self, side, peer):
        self.side = side
        self.peer = peer
        source = Source(peer, side)
        for _ in source.walk():
            pass
        self.used = source.used
        self.ring = None
        self.heard = 0

    def hear(self, m):
        if m in self.used:
            ring = self.used[m]
            self.ring = Ring(ring.message, ring.odd)
        if m.mid == RING_ASK and not m.size:
            self.ring = None
        if m.put is not None and self.ring is not None:
            self.ring.head += m.bytes

    def walk(self):
        """Each message that it has sent; the view is as it was just before."""
        for m in self.side.messages:
            for news in self.peer.messages[self.heard:m.ack]:
                self.hear(news)
            self.heard = max(self.heard, m.ack)
            yield m
            if m.freed is not None and self.ring is not None:
                self.ring.told = m.freed

    def update_due(self, m):
        """True if it is an update that is due because of the ring. As with credits, it is due when
        the other end has less than half free, and gets half more.
        """
        ring = self.ring
        return (m.mid == DATA and m.freed is not None and ring is not None and
                ring.head - ring.told > ring.size // 2 and
                m.freed - ring.told >= ring.size // 2)


def shown(connection):
    """What happened to rings: ring, ring-grown, ring-over, ring-refused, ring-back."""
    found = set()
    for side, peer in connection.sides():
        source = Source(side, peer)
        for m in source.walk():
            if m.put is not None:
                found.add("ring")
            if m.mid == RING_ASK and not m.size:
                found.add("ring-back")
        found |= {"ring-refused" for n in source.answers if not n.whole}
        found |= {"ring-grown" for ring in source.used.values()
                  if ring.size > min(r.size for r in source.used.values())}
    return found
