# SPDX-License-Identifier: GPL-2.0
"""A conversation composed by hand, with exchanges that no recorded one has, for selftest.py.

The setup and the end of the connection come from a recorded one. Each call in between adds one
message, an RDMA write, or an RDMA read with its response. By default a message acknowledges all
that the other end has sent before it.

pipelined() breaks no rule: the client is the source, its half connection changes to Pipelined
and back, and every fate of a SrcAvail and of a SinkAvail occurs.

demanding() breaks no rule either: receives are posted as the client needs them.
"""
import copy

import decode
from sinkavails import SINK_AVAIL, SINK_CANCEL, SINK_CANCEL_ACK
from modes import MODE_CHANGE
from srcavails import RDMA_RD_COMPL, REQ_PIPE, SRC_AVAIL
from resize import DATA, DISCONN, RDMA_WR_COMPL
from sample import Frame, BTH, IP_LEN, MAD_DATA, UDP_LEN

PSN, BTH_LEN, MTU = BTH + 9, 12, 1024
STEP = 1000000
BUFS, FEW = 12, 3
PORT, DEMAND_PORT = 4999, 4996
MAX_ADVERTS, HELD = 1, 4
# Where Hello and HelloAck state the number of SinkAvails that their senders hold.
TOLD_HELD = {"REQ": 80, "REP": 36}
FIRST_VA = 0x7f0000000000


def number(value, size=4):
    return value.to_bytes(size, "big")


def va_of(key):
    return FIRST_VA + (key << 16)


def region(key, length):
    return number(length) + number(key) + number(va_of(key), 8)


def pieces(length):
    """(offset, length) of the packets for `length` bytes."""
    return [(at, min(MTU, length - at)) for at in range(0, max(length, 1), MTU)]


def opcode_of(index, count, opcodes):
    first, middle, last, only = opcodes
    if count == 1:
        return only
    return first if not index else last if index == count - 1 else middle


class Conversation:
    """The frames of one connection, and its facts. The methods are called in the order of time."""

    def __init__(self, line, recorded):
        self.begin = [copy.deepcopy(f) for f in recorded if f.cm in ("REQ", "REP", "RTU")]
        self.ends = [copy.deepcopy(f) for f in recorded if f.cm in ("DREQ", "DREP")]
        req, rep = self.begin[:2]
        req.put(MAD_DATA + 14, 2, PORT)
        # The path MTU is in the upper half of this byte.
        req.put(MAD_DATA + 50, 1, 3 << 4 | req.get(MAD_DATA + 50, 1) & 0x0f)
        for frame in (req, rep):
            frame.put(frame.private_data + 19, 1, MAX_ADVERTS)
            for at, byte in enumerate(b"HELD" + bytes([1, HELD]),
                                      frame.private_data + TOLD_HELD[frame.cm]):
                frame.put(at, 1, byte)
        sends = [f for f in recorded if f.opcode == decode.SEND_ONLY]
        self.templates = {
            "client": next(f for f in sends if f.source == req.source),
            "server": next(f for f in sends if f.source != req.source),
        }
        self.psn = {"client": rep.get(MAD_DATA + 20, 3), "server": req.get(MAD_DATA + 44, 3)}
        self.sent = {"client": 0, "server": 0}
        self.heard = {"client": 0, "server": 0}
        self.stream = {"client": 0, "server": 0}
        self.bufs = {"client": BUFS, "server": BUFS}
        self.line = line
        self.frames = list(self.begin)
        self.time = max(frame.time for frame in self.begin)

    def packet(self, side, opcode, psn, data):
        frame = Frame(0, self.templates[side].data[:BTH + BTH_LEN] + data + bytes(-len(data) % 4) +
                      bytes(4))
        self.time += STEP
        frame.time = self.time
        frame.put(BTH, 1, opcode)
        frame.put(BTH + 1, 1, frame.get(BTH + 1, 1) & 0xcf | -len(data) % 4 << 4)
        frame.put(PSN, 3, psn)
        frame.put(IP_LEN, 2, len(frame.data) - 14)
        frame.put(UDP_LEN, 2, len(frame.data) - 14 - 20)
        self.frames.append(frame)
        return frame

    def send(self, side, mid, rest=b"", payload=0, heard=None, flags=0, revoked=None):
        peer = "server" if side == "client" else "client"
        self.heard[side] = self.sent[peer] if heard is None else heard
        self.sent[side] += 1
        self.stream[side] += payload
        length = 16 + len(rest) + payload
        header = (bytes([mid, flags]) + number(self.bufs[side], 2) + number(length) +
                  number(self.sent[side]) + number(self.heard[side]))
        frame = self.packet(side, decode.SEND_ONLY, self.psn[side],
                            header + rest + bytes(payload))
        frame.revoked = revoked
        self.psn[side] += 1

    def data(self, payload, **how):
        self.send("client", DATA, payload=payload, **how)

    def srcavail(self, key, length, along=0):
        self.send("client", SRC_AVAIL, region(key, length), along)

    def read(self, key, length, skip=0, flags=0):
        """The server reads the memory of a SrcAvail, and reports it."""
        parts = pieces(length)
        reth = number(va_of(key) + skip, 8) + number(key) + number(length)
        self.packet("server", decode.READ_REQUEST, self.psn["server"], reth)
        for index, (_, size) in enumerate(parts):
            opcode = opcode_of(index, len(parts), decode.RESPONSES)
            aeth = bytes(4) if opcode != decode.RESPONSE_MIDDLE else b""
            self.packet("client", opcode, self.psn["server"] + index, aeth + bytes(size))
        self.psn["server"] += len(parts)
        self.stream["client"] += length
        self.send("server", RDMA_RD_COMPL, number(length), flags=flags, revoked=key)

    def change(self, byte, **how):
        self.send("client", MODE_CHANGE, bytes([byte, 0, 0, 0]), **how)

    def buffer(self, key, length, non_discards, payload=0, **how):
        self.send("server", SINK_AVAIL, region(key, length) + number(non_discards), payload, **how)

    def write(self, key, length, at=0):
        parts = pieces(length)
        for index, (_, size) in enumerate(parts):
            opcode = opcode_of(index, len(parts), decode.WRITES)
            reth = number(va_of(key) + at, 8) + number(key) + number(length)
            self.packet("client", opcode, self.psn["client"],
                        (reth if not index else b"") + bytes(size))
            self.psn["client"] += 1

    def fill(self, key, length, **how):
        """The client writes to the memory of a SinkAvail, and reports it."""
        self.write(key, length)
        self.stream["client"] += length
        self.send("client", RDMA_WR_COMPL, number(length), revoked=key, **how)

    def take_back(self, **how):
        self.send("server", SINK_CANCEL, **how)

    def close(self, side, **how):
        self.send(side, DISCONN, **how)

    def end(self):
        """(facts line, frames)."""
        for frame in self.ends:
            self.time += STEP
            frame.time = self.time
        facts = {"name": "pipelined", "port": PORT, "mode_after": 2, "max_adverts": MAX_ADVERTS,
                 "up": self.stream["client"], "down": self.stream["server"], "srcavails": "any",
                 "read": 1 << 20}
        pairs = [word.split("=") for word in self.line.split()]
        pairs += [("held", HELD)]
        return (" ".join(f"{key}={facts.get(key, value)}" for key, value in pairs),
                self.frames + self.ends)


def pipelined(line, recorded):
    """Keys of SrcAvails begin with 1, those of SinkAvails with 2."""
    c = Conversation(line, recorded)
    for key in (0x1101, 0x1102):
        c.srcavail(key, 3000, along=224)
        c.read(key, 2776, skip=224, flags=REQ_PIPE)
    c.change(0x20)
    # One is filled, and one in part, by two writes.
    c.buffer(0x2101, 3000, 2)
    c.buffer(0x2202, 3000, 2)
    c.fill(0x2101, 3000)
    c.write(0x2202, 400)
    c.stream["client"] += 400
    c.write(0x2202, 100, at=400)
    c.stream["client"] += 100
    c.send("client", RDMA_WR_COMPL, number(500), revoked=0x2202)
    # A message discards one. The next message makes one stale that had not acknowledged it.
    c.buffer(0x2103, 3000, 2)
    c.data(100)
    c.data(50)
    c.buffer(0x2204, 3000, 2, heard=c.sent["client"] - 1)
    # A SrcAvail is read; to another one a SinkAvail is the answer; another one crosses a
    # SinkAvail.
    c.srcavail(0x1103, 3000)
    c.read(0x1103, 3000)
    c.srcavail(0x1104, 3000)
    c.buffer(0x2105, 3000, 3)
    c.fill(0x2105, 3000)
    c.srcavail(0x1105, 3000)
    c.buffer(0x2206, 3000, 3, heard=c.sent["client"] - 1)
    c.fill(0x2206, 3000)
    # The server's last bytes go with a SinkAvail, and then its half is closed.
    c.buffer(0x2107, 3000, 3, payload=100)
    c.data(60)
    c.close("server")
    # Two are cancelled. Another one is not: it is filled before the source gets the cancellation.
    c.buffer(0x2208, 3000, 3)
    c.buffer(0x2109, 3000, 3)
    c.take_back()
    c.send("client", SINK_CANCEL_ACK)
    c.buffer(0x210a, 3000, 3)
    c.fill(0x210a, 3000)
    c.take_back(heard=c.sent["client"] - 1)
    # Two in a row are discarded, so the source leaves Pipelined; one more SinkAvail crosses that.
    for key in (0x220b, 0x210c):
        c.buffer(key, 3000, 3)
        c.data(70)
    c.buffer(0x220d, 3000, 3)
    c.change(0x10, heard=c.sent["server"] - 1)
    c.srcavail(0x1106, 3000, along=224)
    c.read(0x1106, 2776, skip=224)
    c.close("client")
    return c.end()


class Demanding(Conversation):
    """Both ends have few receives at first."""

    def __init__(self, line, recorded):
        super().__init__(line, recorded)
        self.begin[0].put(MAD_DATA + 14, 2, DEMAND_PORT)
        for frame in self.begin[:2]:
            frame.put(frame.private_data + 2, 2, FEW)
        self.bufs = {"client": FEW, "server": FEW}

    def server(self, bufs, payload=0):
        """A message of the server, which has so many receives posted."""
        self.bufs["server"] = bufs
        self.send("server", DATA, payload=payload)

    def end(self):
        line, frames = super().end()
        words = dict(word.split("=") for word in line.split())
        words.update(name="demand", port=DEMAND_PORT, idle_buffers=FEW, accept_buffers=FEW)
        return " ".join(f"{key}={value}" for key, value in words.items()), frames


def demanding(line, recorded):
    c = Demanding(line, recorded)
    # A dialogue: few are enough.
    for _ in range(4):
        c.data(100)
        c.server(FEW, payload=50)
    # Two in a row leave the client one credit: a demand, and all are posted. Then half of them are
    # used up, and so on.
    c.data(100)
    c.data(100)
    c.server(BUFS)
    for _ in range(2):
        for _ in range(BUFS // 2 + 1):
            c.data(100)
        c.server(BUFS)
    # After a pause those that are used up are not replaced, until there is a demand.
    c.time += 12 * 1000 * STEP
    c.data(100)
    c.server(BUFS - 1, payload=50)
    for _ in range(BUFS - 2):
        c.data(100)
    c.server(BUFS)
    c.close("server")
    c.close("client")
    return c.end()
