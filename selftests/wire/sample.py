#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""sample.py NAME,... FACTS CAPTURE...: print the named connections of a capture as text.

selftest.py works on such a sample, sample.txt. When the module's messages change permanently,
record it again from a run that passed:

    cd build/wire/last
    names=small-packets,refused,reset,small-rest,small-refused,small-crossing-1
    names=$names,small-declined,small-rest-refused,small-parts,small-cancelled,small-modes
    ../../../selftests/wire/sample.py $names facts va.pcap vb.pcap >sample.txt
    mv sample.txt ../../../selftests/wire/

Of the connections small-crossing-N, take one in which the requests do cross.

A line "connection" with its facts begins each connection. A line per frame follows: the time in
nanoseconds since the first one, and its bytes in hexadecimal.
"""
import os
import struct
import sys
import tempfile

import decode
import rules

PCAP_NANOSECONDS, ETHERNET = 0xa1b23c4d, 1

# Offsets in a frame of RoCE v2 over IPv4.
IP_TOS = 14 + 1
IP_LEN = 14 + 2
IP_SOURCE = 14 + 12
UDP_LEN = 14 + 20 + 4
BTH = 14 + 20 + 8
AETH = BTH + 12
BSDH = BTH + 12
MAD = BTH + 12 + 8
MAD_DATA = MAD + 24


class Frame:
    """One frame: its time and bytes.

    A Send with Invalidate is kept as a plain Send, so that all have the same form; `revoked` is
    the key that preceded the message, or None.
    """

    def __init__(self, time, data):
        self.time = time
        self.data = bytearray(data)
        self.revoked = None
        if self.opcode == decode.SEND_ONLY_INVALIDATE:
            self.revoked = self.get(BTH + 12, 4)
            del self.data[BTH + 12:BTH + 12 + decode.IETH_LEN]
            self.as_send(decode.SEND_ONLY, -decode.IETH_LEN)

    def as_send(self, opcode, longer):
        self.put(BTH, 1, opcode)
        self.add(IP_LEN, 2, longer)
        self.add(UDP_LEN, 2, longer)

    def wire(self):
        """Its bytes on the wire."""
        if self.revoked is None or self.opcode != decode.SEND_ONLY:
            return self.data
        frame = Frame(self.time, self.data)
        frame.data[BTH + 12:BTH + 12] = self.revoked.to_bytes(decode.IETH_LEN, "big")
        frame.as_send(decode.SEND_ONLY_INVALIDATE, decode.IETH_LEN)
        return frame.data

    def get(self, offset, size):
        return int.from_bytes(self.data[offset:offset + size], "big")

    def put(self, offset, size, value):
        self.data[offset:offset + size] = (value % (1 << 8 * size)).to_bytes(size, "big")

    def add(self, offset, size, value):
        self.put(offset, size, self.get(offset, size) + value)

    @property
    def opcode(self):
        return self.data[BTH]

    @property
    def source(self):
        return bytes(self.data[IP_SOURCE:IP_SOURCE + 4])

    @property
    def cm(self):
        """REQ, REP, ... or None."""
        if self.opcode != decode.UD_SEND_ONLY:
            return None
        return decode.CM_ATTRIBUTES.get(self.get(MAD + 16, 2))

    @property
    def private_data(self):
        return MAD_DATA + decode.PRIVATE_DATA[self.cm]


def write_pcap(path, frames):
    """Writes a capture file, in the order of time."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", PCAP_NANOSECONDS, 2, 4, 0, 0, 1 << 18, ETHERNET))
        for frame in sorted(frames, key=lambda frame: frame.time):
            seconds, nanoseconds = divmod(frame.time, 10 ** 9)
            data = frame.wire()
            file.write(struct.pack("<IIII", seconds, nanoseconds, len(data), len(data)) + data)


def read_pcap(path):
    """The frames of a capture file that tcpdump has written with nanoseconds."""
    with open(path, "rb") as file:
        data = file.read()
    if struct.unpack_from("<I", data)[0] != PCAP_NANOSECONDS:
        raise decode.DecodeError(f"{path}: not a capture with nanoseconds")
    at, frames = 24, []
    while at < len(data):
        seconds, nanoseconds, size, _ = struct.unpack_from("<IIII", data, at)
        frames.append(Frame(seconds * 10 ** 9 + nanoseconds, data[at + 16:at + 16 + size]))
        at += 16 + size
    return frames


def read_sample(path):
    """The connections of a sample: {name: (facts line, [Frame])}."""
    sample = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            word, rest = line.rstrip("\n").split(" ", 1)
            if word == "connection":
                frames = []
                sample[rules.Facts(rest).name] = (rest, frames)
            elif word != "#":
                frames.append(Frame(int(word), bytes.fromhex(rest)))
    return sample


def between(frames, connection, following):
    """The frames from a connection's request to the next one's."""
    return frames[connection.request.number - 1:following and following.request.number - 1]


def record(facts_path, captures, names):
    """Prints the sample."""
    with open(facts_path, encoding="ascii") as lines:
        facts = {rules.Facts(line).name: line.strip() for line in lines}
    with tempfile.TemporaryDirectory() as directory:
        merged = os.path.join(directory, "merged.pcap")
        decode.run(["mergecap", "-F", "nsecpcap", "-w", merged] + captures)
        connections = decode.decode([merged]).connections
        frames = read_pcap(merged)
    print("# SPDX-License-Identifier: GPL-2.0")
    for name in names:
        port = rules.Facts(facts[name]).port
        index = next(i for i, c in enumerate(connections) if c.request.service_id & 0xffff == port)
        own = between(frames, *(connections + [None])[index:index + 2])
        print("connection", facts[name])
        for frame in own:
            # Without the marks that guest.sh puts into the capture.
            if frame.get(BTH - 6, 2) == 4791:
                print(frame.time - own[0].time, frame.wire().hex())


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    record(sys.argv[2], sys.argv[3:], sys.argv[1].split(","))


if __name__ == "__main__":
    main()
