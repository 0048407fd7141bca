# SPDX-License-Identifier: GPL-2.0
"""Captures of SDP over RoCE v2, decoded by tshark, as connections and their messages.

tshark decodes every field that it knows. This file only combines its packets: the CM exchange
into connections, the packets of one Send into a message. It judges nothing.

With -2 tshark knows from its first pass which queue pairs use SDP, and so decodes the Hello of
the request too. It calls an empty Data malformed, and shows the later packets of a long Send as
messages; both are ignored here.
"""
import ipaddress
import os
import subprocess
import tempfile

UD_SEND_ONLY, ACKNOWLEDGE = 100, 17
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0, 1, 2, 4
# All such messages are short. The key to be invalidated precedes the message.
SEND_ONLY_INVALIDATE = 23
SENDS = (SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 6, 7, 8, 10
WRITES = (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY)
# A write that ends with immediate data is a message in a ring of the other end.
WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE = 9, 11
ENDS_OF_MESSAGES = (WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE)
READ_REQUEST = 12
RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST, RESPONSE_ONLY = 13, 14, 15, 16
RESPONSES = (RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST, RESPONSE_ONLY)

# Bytes of a UDP datagram that are not payload of the Send: UDP, BTH and invariant CRC.
OVERHEAD = 8 + 12 + 4

# Heuristic dissectors that would take some of our payloads for their own protocols.
RIVALS = ("rpcordma", "smc", "smb_direct", "nvme-rdma", "lnet", "iser", "infiniband.eoib", "fcoib",
          "drbd")

CM_ATTRIBUTES = {0x10: "REQ", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}
# Offset of the private data in the data of these MADs.
PRIVATE_DATA = {"REQ": 140, "REP": 36}

FIELDS = {
    "number": "frame.number", "time": "frame.time_relative",
    "src4": "ip.src", "dst4": "ip.dst", "src6": "ipv6.src", "dst6": "ipv6.dst",
    "class4": "ip.dsfield", "class6": "ipv6.tclass",
    "udp_len": "udp.length", "udp": "udp.payload",
    "opcode": "infiniband.bth.opcode", "pad": "infiniband.bth.padcnt",
    "qpn": "infiniband.bth.destqp", "psn": "infiniband.bth.psn",
    "syndrome": "infiniband.aeth.syndrome",
    "rdma_va": "infiniband.reth.va", "rdma_rkey": "infiniband.reth.r_key",
    "rdma_len": "infiniband.reth.dmalen",
    "revoked": "infiniband.ieth",
    "attribute": "infiniband.mad.attributeid", "data": "infiniband.mad.data",
    "req_id": "infiniband.cm.req", "req_qpn": "infiniband.cm.req.localqpn",
    "req_psn": "infiniband.cm.req.startpsn", "service_id": "infiniband.cm.req.serviceid",
    "service_type": "infiniband.cm.req.transpsvctype", "mtu": "infiniband.cm.req.pppmtu",
    "gid_from4": "infiniband.cm.req.prim_localgid_ipv4",
    "gid_from6": "infiniband.cm.req.prim_localgid",
    "gid_to4": "infiniband.cm.req.prim_remotegid_ipv4",
    "gid_to6": "infiniband.cm.req.prim_remotegid",
    "rep_id": "infiniband.cm.rep", "rep_to": "infiniband.cm.rep.remotecommid",
    "rep_qpn": "infiniband.cm.rep.localqpn", "rep_psn": "infiniband.cm.rep.startpsn",
    "rtu_to": "infiniband.cm.rtu.remotecommid",
    "rej_to": "infiniband.cm.rej.remotecommid", "rej_reason": "infiniband.cm.rej.reason",
    "dreq_to": "infiniband.cm.dreq.remotecommid", "drep_to": "infiniband.cm.drsp.remotecommid",
    "mid": "infiniband_sdp.bsdh.mid", "flags": "infiniband_sdp.bsdh.flags",
    "bufs": "infiniband_sdp.bsdh.bufs", "len": "infiniband_sdp.bsdh.len",
    "mseq": "infiniband_sdp.bsdh.mseq", "ack": "infiniband_sdp.bsdh.mseqack",
    "major": "infiniband_sdp.hh.majv", "minor": "infiniband_sdp.hh.minv",
    "ipv": "infiniband_sdp.hh.ipv", "cap": "infiniband_sdp.hh.cap",
    "max_adverts": "infiniband_sdp.hh.maxadverts", "ext_adverts": "infiniband_sdp.hh.extmaxadverts",
    "wanted_size": "infiniband_sdp.hh.desremrcvsz", "recv_size": "infiniband_sdp.hh.localrcvsz",
    "local_port": "infiniband_sdp.hh.localport",
    "src_ip": "infiniband_sdp.hh.src_ip", "dst_ip": "infiniband_sdp.hh.dst_ip",
}
AS_TEXT = {"time", "revoked", "udp", "src4", "dst4", "src6", "dst6", "data", "gid_from4",
           "gid_from6",
           "gid_to4", "gid_to6", "src_ip", "dst_ip"}
BSDH = ("mid", "flags", "bufs", "len", "mseq", "ack")
BTH_LEN, BSDH_LEN, AETH_LEN, RETH_LEN, IETH_LEN, IMM_LEN = 12, 16, 4, 16, 4, 4
# Extended headers, for which tshark has no field names: (name, bytes) in their order.
EXTENDED = {
    0x05: (("count", 4),),                              # RdmaWrCompl
    0x06: (("count", 4),),                              # RdmaRdCompl
    0x07: (("change", 1), ("reserved", 3)),             # ModeChange
    0x0b: (("size", 4),),                               # ChRcvBuf
    0x0c: (("size", 4),),                               # ChRcvBufAck
    0x40: (("size", 4),),                               # RingAsk
    0x41: (("whole", 4), ("rkey", 4), ("va", 8)),       # RingAvail
    0xfd: (("whole", 4), ("rkey", 4), ("va", 8), ("non_discards", 4)),      # SinkAvail
    0xfe: (("whole", 4), ("rkey", 4), ("va", 8)),       # SrcAvail
}
EXTENDED_FIELDS = ("count", "change", "reserved", "size", "whole", "rkey", "va", "non_discards",
                   "freed", "keys")
# Flag on Data: how much of a ring has been read, in an extended header.
MID_DATA, FREED = 0xff, 0x08
# Flag on SrcAvail: a key for each rail, behind the others.
MID_SRC_AVAIL, KEYS, KEYS_LEN = 0xfe, 0x10, 44


class DecodeError(Exception):
    """The capture cannot be read; the text says what to do."""


class Packet:
    """One packet. Its attributes are the keys of FIELDS, None for a field that it does not have."""

    __slots__ = list(FIELDS) + ["src", "dst", "traffic_class", "cm"]

    def __init__(self, columns):
        for name, text in zip(FIELDS, columns):
            value = None
            if text:
                value = text if name in AS_TEXT else int(text, 0)
            setattr(self, name, value)
        self.src = ipaddress.ip_address(self.src4 or self.src6)
        self.dst = ipaddress.ip_address(self.dst4 or self.dst6)
        self.traffic_class = self.class6 if self.class4 is None else self.class4
        self.cm = CM_ATTRIBUTES.get(self.attribute) if self.opcode == UD_SEND_ONLY else None

    @property
    def ieth_len(self):
        return IETH_LEN if self.opcode == SEND_ONLY_INVALIDATE else 0

    def private_data(self):
        return bytes.fromhex(self.data)[PRIVATE_DATA[self.cm]:]

    def message(self):
        """The bytes of a Send in this packet, from its header on."""
        return bytes.fromhex(self.udp)[BTH_LEN + self.ieth_len:]


def layout(mid, flags):
    """The fields of the extended header that such a message has: ((name, bytes), ...)."""
    if mid == MID_DATA and flags is not None and flags & FREED:
        return (("freed", 4),)
    if mid == MID_SRC_AVAIL and flags is not None and flags & KEYS:
        return EXTENDED[mid] + (("keys", KEYS_LEN),)
    return EXTENDED.get(mid, ())


def base_header(data):
    """The fields of a base header, by their names, for messages that tshark does not decode as
    SDP."""
    sizes = (1, 1, 2, 4, 4, 4)
    at, found = 0, {}
    for name, size in zip(BSDH, sizes):
        found[name] = int.from_bytes(data[at:at + size], "big")
        at += size
    return found


class Message:
    """One Send, or one message written into a ring.

    `bytes` is the number of bytes transferred, `len` the header's Len. `number` is the frame in
    which it begins, `end` the one that completes it. Fields of an extended header that it does
    not have are None. `revoked` is the key that it invalidates at the other end (Send with
    Invalidate), or None. `put` is the Write that has put it into a ring, or None.
    """

    __slots__ = BSDH + EXTENDED_FIELDS + ("number", "end", "time", "bytes", "packets", "complete",
                                          "revoked", "put")

    def __init__(self, packet):
        self.take_header({name: getattr(packet, name) for name in BSDH}, packet.message())
        self.number = packet.number
        self.time = float(packet.time)
        self.revoked = self.put = None
        if packet.opcode == SEND_ONLY_INVALIDATE:
            self.revoked = int(packet.revoked.replace(":", ""), 16)
        self.bytes = 0
        self.packets = 0
        self.complete = False

    def take_header(self, base, data):
        for name in BSDH:
            setattr(self, name, base[name])
        for name in EXTENDED_FIELDS:
            setattr(self, name, None)
        at = BSDH_LEN
        for name, size in layout(self.mid, self.flags):
            setattr(self, name, int.from_bytes(data[at:at + size], "big"))
            at += size

    @classmethod
    def of_write(cls, write):
        """A message that a write with immediate data has put into a ring."""
        m = cls.__new__(cls)
        m.take_header(base_header(write.begin), write.begin)
        m.number, m.end, m.time = write.number, write.end, write.time
        m.bytes, m.packets, m.complete = write.bytes, write.packets, True
        m.revoked, m.put = None, write
        return m

    def add(self, packet):
        self.bytes += packet.udp_len - OVERHEAD - packet.pad - packet.ieth_len
        self.packets += 1
        self.end = packet.number
        self.complete = packet.opcode in (SEND_LAST, SEND_ONLY, SEND_ONLY_INVALIDATE)

    @property
    def payload(self):
        return self.bytes - BSDH_LEN - sum(size for _, size in layout(self.mid, self.flags))

    def __str__(self):
        return f"frame {self.number}, MSeq {self.mseq}"


class Read:
    """One RDMA read: the request, and the other end's response.

    It takes a packet number for each packet of the response. `end` is the frame of the last
    one, `bytes` the number of bytes so far.
    """

    def __init__(self, packet, mtu):
        self.number = packet.number
        self.psn = packet.psn
        self.va = packet.rdma_va
        self.rkey = packet.rdma_rkey
        self.length = packet.rdma_len
        self.packets = max(1, -(-self.length // mtu))
        self.answered = self.bytes = 0
        self.end = None

    def __str__(self):
        return f"frame {self.number}, a read of {self.length} bytes"


class Write:
    """One RDMA write: its address, its length, and how much it has carried.

    `begin` is the data of its first packet; `immediate` the immediate data of the last one, or
    None.
    """

    def __init__(self, packet):
        self.number = packet.number
        self.time = float(packet.time)
        self.va = packet.rdma_va
        self.rkey = packet.rdma_rkey
        self.length = packet.rdma_len
        self.bytes = 0
        self.packets = 0
        self.begin = b""
        self.immediate = None
        self.complete = False

    def add(self, packet):
        at = BTH_LEN
        if packet.opcode in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMMEDIATE):
            at += RETH_LEN
        data = bytes.fromhex(packet.udp)
        if packet.opcode in ENDS_OF_MESSAGES:
            self.immediate = int.from_bytes(data[at:at + IMM_LEN], "big")
            at += IMM_LEN
        self.bytes += packet.udp_len - OVERHEAD - packet.pad + BTH_LEN - at
        self.begin = self.begin or data[at:]
        self.packets += 1
        self.end = packet.number
        self.complete = packet.opcode in (WRITE_LAST, WRITE_ONLY) + ENDS_OF_MESSAGES

    def __str__(self):
        return f"frame {self.number}, a write of {self.length} bytes"


class Side:
    """What one end has sent, in order.

    messages	its Sends, and its messages in the other end's rings; a packet that was sent several
    		times counts once
    reads	its RDMA reads, counted likewise, with the other end's responses
    writes	its other RDMA writes, counted likewise
    requests	all of them, in order
    empty	frames of RDMA writes of length 0, which are unrelated to the other requests
    repeated	number of packets that were sent again
    faults	gaps in the packet numbers, or in the order First, Middle, Last
    strange	opcodes other than Sends, RDMA reads and writes, responses to the other end's reads,
    		and Acknowledge: (frame, opcode)
    acks	(frame, syndrome) of its acknowledgements
    classes	IP traffic class of its packets: class -> the first frame that has it
    """

    def __init__(self, name, address, psn):
        self.name = name
        self.address = address
        self.first_psn = psn
        self.next_psn = psn
        self.mtu = None
        self.messages = []
        self.reads = []
        self.writes = []
        self.requests = []
        self.empty = []
        self.repeated = 0
        self.faults = []
        self.strange = []
        self.acks = []
        self.classes = {}
        self.open = None

    def add(self, packet, peer):
        self.classes.setdefault(packet.traffic_class, packet.number)
        if packet.opcode == ACKNOWLEDGE:
            self.acks.append((packet.number, packet.syndrome))
        elif packet.opcode in SENDS or packet.opcode == SEND_ONLY_INVALIDATE:
            self.add_part(packet, SENDS, Message, self.messages)
        elif packet.opcode == WRITE_ONLY and not packet.rdma_len:
            self.empty.append(packet.number)
        elif packet.opcode in WRITES or packet.opcode in ENDS_OF_MESSAGES:
            self.add_part(packet, WRITES, Write, self.writes)
        elif packet.opcode == READ_REQUEST:
            self.add_read(packet)
        elif packet.opcode not in RESPONSES or not self.add_response(packet, peer.reads):
            self.strange.append((packet.number, packet.opcode))

    def is_new(self, packet, numbers):
        """True if this packet is sent for the first time. It takes `count` packet numbers."""
        ahead = (packet.psn - self.next_psn) & 0xffffff
        if ahead >= 0x800000:
            self.repeated += 1
            return False
        if ahead:
            self.faults.append(f"frame {packet.number}: packet number {packet.psn}, "
                               f"not {self.next_psn}")
        self.next_psn = (packet.psn + numbers) & 0xffffff
        return True

    def add_part(self, packet, opcodes, kind, found):
        """A packet of a Message, or of a Write, which may have several packets."""
        if not self.is_new(packet, 1):
            return
        first, _, _, only = opcodes
        begins = packet.opcode in (first, only, SEND_ONLY_INVALIDATE, WRITE_ONLY_IMMEDIATE)
        if begins != (self.open is None) or not begins and not isinstance(self.open, kind):
            self.faults.append(f"frame {packet.number}: a {kind.__name__.lower()} that begins or "
                               "goes on out of place")
        if begins or not isinstance(self.open, kind):
            self.open = kind(packet)
            found.append(self.open)
            self.requests.append(self.open)
        self.open.add(packet)
        if self.open.complete:
            if packet.opcode in ENDS_OF_MESSAGES:
                self.put_in_ring()
            self.open = None

    def put_in_ring(self):
        """The write that has just ended is a message."""
        message = Message.of_write(self.writes.pop())
        self.messages.append(message)
        self.requests[-1] = message

    def add_read(self, packet):
        read = Read(packet, self.mtu)
        if not self.is_new(packet, read.packets):
            return
        if self.open is not None:
            self.faults.append(f"frame {packet.number}: a read in the middle of something else")
        self.reads.append(read)
        self.requests.append(read)

    def add_response(self, packet, reads):
        """False when it is a response to no read."""
        for read in reversed(reads):
            index = (packet.psn - read.psn) & 0xffffff
            if index < read.packets:
                self.add_answer(packet, read, index)
                return True
        return False

    def add_answer(self, packet, read, index):
        # A requester that missed packets asks for them again; the response has the same numbers.
        if index < read.answered:
            self.repeated += 1
            return
        last = packet.opcode in (RESPONSE_LAST, RESPONSE_ONLY)
        if index > read.answered or last != (index == read.packets - 1):
            self.faults.append(f"frame {packet.number}: answer {index + 1} of {read.packets} "
                               f"to a read, after {read.answered}")
        read.bytes += packet.udp_len - OVERHEAD - packet.pad
        if packet.opcode != RESPONSE_MIDDLE:
            read.bytes -= AETH_LEN
        read.answered = index + 1
        if read.answered == read.packets:
            read.end = packet.number


class Connection:
    """One connection attempt: its request, and the result."""

    def __init__(self, request):
        self.request = request
        self.reply = None
        self.rtu = None
        self.reject = None
        self.ends = []          # (frame, "DREQ" or "DREP", Side)
        self.client = Side("client", request.src, None)
        self.server = Side("server", request.dst, request.req_psn)
        self.client.mtu = self.server.mtu = 128 << request.mtu

    def set_reply(self, packet):
        self.reply = packet
        self.client.first_psn = self.client.next_psn = packet.rep_psn

    def add(self, packet):
        side = self.side_at(packet.src)
        side.add(packet, self.peer_of(side))

    def side_at(self, address):
        return self.client if address == self.client.address else self.server

    def peer_of(self, side):
        return self.server if side is self.client else self.client

    def sides(self):
        return ((self.client, self.server), (self.server, self.client))


class Decoder:
    """Assigns packets to connections."""

    def __init__(self):
        self.connections = []
        self.by_id = {}         # by communication id and the address that chose it
        self.by_qpn = {}        # by queue pair and its address
        self.unknown = []       # packets that belong to no connection

    def add(self, packet):
        if packet.cm:
            self.add_cm(packet)
        elif packet.opcode != UD_SEND_ONLY:
            connection = self.by_qpn.get((packet.dst, packet.qpn))
            if connection:
                connection.add(packet)
            else:
                self.unknown.append(packet)

    def add_cm(self, packet):
        if packet.cm == "REQ":
            self.add_request(packet)
            return
        to = (packet.rep_to, packet.rtu_to, packet.rej_to, packet.dreq_to, packet.drep_to)
        to = next((comm for comm in to if comm is not None), None)
        connection = self.by_id.get((packet.dst, to))
        if connection is None:
            self.unknown.append(packet)
        elif packet.cm == "REP" and not connection.reply:
            connection.set_reply(packet)
            self.by_id[packet.src, packet.rep_id] = connection
            self.by_qpn[packet.src, packet.rep_qpn] = connection
        elif packet.cm == "RTU":
            connection.rtu = connection.rtu or packet
        elif packet.cm == "REJ":
            connection.reject = connection.reject or packet
        elif packet.cm in ("DREQ", "DREP"):
            connection.ends.append((packet.number, packet.cm, connection.side_at(packet.src)))

    def add_request(self, packet):
        # A repeated request is the same request.
        known = self.by_id.get((packet.src, packet.req_id))
        if known and known.request.req_qpn == packet.req_qpn:
            return
        connection = Connection(packet)
        self.connections.append(connection)
        self.by_id[packet.src, packet.req_id] = connection
        self.by_qpn[packet.src, packet.req_qpn] = connection


def run(command):
    """The output of a command; its messages matter only when it fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise DecodeError(f"no {command[0]} here; scripts/setup.sh wire installs it") from None
    except subprocess.CalledProcessError as error:
        raise DecodeError(f"{command[0]} failed: {error.stderr.strip()}") from None


def packets(capture):
    """All InfiniBand packets of one capture file, in the order of their times."""
    command = ["tshark", "-2", "-n", "-r", capture, "-Y", "infiniband", "-T", "fields",
               "-E", "separator=/t", "-E", "occurrence=f"]
    for rival in RIVALS:
        command += ["--disable-protocol", rival]
    for field in FIELDS.values():
        command += ["-e", field]
    for line in run(command).splitlines():
        yield Packet(line.split("\t"))


def decode(captures):
    """The connections in these captures, each of which may hold one direction only."""
    with tempfile.TemporaryDirectory() as directory:
        merged = os.path.join(directory, "merged.pcapng")
        run(["mergecap", "-w", merged] + list(captures))
        decoder = Decoder()
        for packet in packets(merged):
            decoder.add(packet)
    return decoder
