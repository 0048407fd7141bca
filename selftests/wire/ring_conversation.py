# SPDX-License-Identifier: GPL-2.0
"""A conversation in which the client writes into the server's rings, for selftest.py.

ringed() breaks no rule, and everything that can happen to a ring does: it is asked for, filled
beyond its end and freed, by data of the other direction and by an update; a larger one replaces
it; it is given back; and the next one is refused.
"""
import decode
from conversation import BUFS, Conversation, number, opcode_of, pieces, region, va_of
from resize import DATA
from rings import FREED, IMM_ODD, RING_ASK, RING_AVAIL, SCHEMES
from sample import MAD_DATA

PORTS = {"rdma": 4998, "nic": 4997}
SIZE_MAX, WINDOW = 65536, 4096
FIRST, SECOND = 8192, 65536
KEY_FIRST, KEY_SECOND = 0x3101, 0x3202
WRITES = (decode.WRITE_FIRST, decode.WRITE_MIDDLE, decode.WRITE_LAST_IMMEDIATE,
          decode.WRITE_ONLY_IMMEDIATE)
# Where Hello and HelloAck have their ring fields.
TOLD = {"REQ": 68, "REP": 24}


class Ringed(Conversation):
    """Adds the client's ring: its key, bytes written, bytes read."""

    def __init__(self, line, recorded, scheme):
        super().__init__(line, recorded)
        told = b"RING" + bytes([1, SCHEMES[scheme], 0, 0]) + number(WINDOW)
        for frame in self.begin[:2]:
            for at, byte in enumerate(told, frame.private_data + TOLD[frame.cm]):
                frame.put(at, 1, byte)
        self.begin[0].put(MAD_DATA + 14, 2, PORTS[scheme])
        self.scheme = scheme
        self.key = self.size = self.head = 0
        self.odd = False

    def ask(self, size):
        self.send("client", RING_ASK, number(size))

    def answer(self, key, size):
        self.send("server", RING_AVAIL, region(key, size))
        if size:
            self.key, self.size, self.head, self.odd = key, size, 0, not self.odd

    def put(self, payload, heard=None):
        """The client writes a message into the ring."""
        self.heard["client"] = self.sent["server"] if heard is None else heard
        self.sent["client"] += 1
        self.stream["client"] += payload
        length = 16 + payload
        message = (bytes([DATA, 0]) + number(BUFS, 2) + number(length) +
                   number(self.sent["client"]) + number(self.heard["client"]) + bytes(payload))
        reth = number(va_of(self.key) + self.head % self.size,
                      8) + number(self.key) + number(length)
        immediate = number((IMM_ODD if self.odd else 0) | length)
        parts = pieces(length)
        for index, (at, size) in enumerate(parts):
            last = index == len(parts) - 1
            self.packet("client", opcode_of(index, len(parts), WRITES), self.psn["client"],
                        (b"" if index else reth) + (immediate if last else b"") +
                        message[at:at + size])
            self.psn["client"] += 1
        self.head += length

    def free(self, freed, payload=0):
        self.send("server", DATA, number(freed), payload=payload, flags=FREED)

    def end(self):
        line, frames = super().end()
        words = dict(word.split("=") for word in line.split())
        words.update(name=self.scheme, port=PORTS[self.scheme], flow_control=self.scheme,
                     ring_size=SIZE_MAX,
                     ring_window=WINDOW)
        return " ".join(f"{key}={value}" for key, value in words.items()), frames


def ringed(line, recorded):
    """Scheme rdma: the sink reports what is free."""
    c = Ringed(line, recorded, "rdma")
    c.data(100)
    c.ask(FIRST)
    c.answer(KEY_FIRST, FIRST)
    for payload in (500, 1, 2000, 1984, 2000):
        c.put(payload)
    # 6565 bytes are in the ring. Some are read, and data of the other direction reports that.
    c.free(2469, payload=40)
    # Beyond the end, which the writer need not care about.
    c.put(2000)
    c.put(1000)
    # More than half is not free, and that much is read: an update.
    c.free(6565)
    c.put(2000)
    # The ring is full, and a larger ring only has room for one more message.
    c.ask(SECOND)
    c.answer(KEY_SECOND, SECOND)
    c.put(9000)
    c.put(300)
    c.free(9016, payload=7)
    c.ask(0)
    c.data(60)
    c.ask(FIRST)
    c.answer(0, 0)
    c.data(20)
    c.close("server")
    c.close("client")
    return c.end()


def held_back(line, recorded):
    """Scheme nic: more messages than were granted, and no reports of what is free."""
    c = Ringed(line, recorded, "nic")
    c.data(100)
    c.ask(SECOND)
    c.answer(KEY_SECOND, SECOND)
    for _ in range(BUFS + 4):
        c.put(1000, heard=1)
    c.send("server", DATA, payload=5)
    c.put(4000)
    c.close("server")
    c.close("client")
    return c.end()
