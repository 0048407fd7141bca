# SPDX-License-Identifier: GPL-2.0
"""The rules for a connection on the wire: one function per rule.

A rule takes the captured connection and the facts that programs and settings state, and yields
a line for each violation. Where a rule needs to know what one end had received from the other,
it uses the header's MSeqAck: that is exact, while the order of capture is only an upper bound.
The one rule that checks MSeqAck itself uses the order of capture.
"""
import ipaddress

import sinkavail_rules
import sinkavails
import mode_rules
import modes
import srcavails
import resize
import ring_rules
import rings
from sinkavails import (HELD_LEN, HELD_VERSION, HELLO_ACK_HELD, HELLO_HELD, RDMA_WR_COMPL,
                        SINK_AVAIL,
                     SINK_CANCEL, SINK_CANCEL_ACK)
from modes import MODE_CHANGE
from srcavails import RDMA_RD_COMPL, REQ_PIPE, SENDSM, SRC_AVAIL, SRC_CANCEL
from resize import CHRCVBUF, CHRCVBUF_ACK, DATA, DISCONN
from rings import FREED, NIC, RING_ASK, RING_AVAIL, SCHEMES

HELLO, HELLO_ACK = 0x00, 0x01
HELLO_LEN, HELLO_ACK_LEN, BSDH_LEN = 92, 196, 16
SIZE_GRAIN = 4096
SERVICE_ID = 0x10000
MAJOR, MINOR = 2, 2
# Where Hello and HelloAck have their ring fields.
RINGS_LEN, RINGS_VERSION = 12, 1
HELLO_RINGS, HELLO_ACK_RINGS = 68, 24
CAP_INVALIDATE = 1
REJ_INVALID_SERVICE_ID = 8
RNR_NAK = 1

NUMBERS = ("port", "client_port", "tos", "up", "down", "recv_buffers", "idle_buffers",
           "recv_buffer_size", "accept_buffers", "credit_threshold", "recv_buffer_max",
           "resize_after", "resize_idle_ms", "rcvbuf", "sndtimeo", "rdma_threshold", "rdma_read",
           "mode_after", "max_adverts", "read")
WORDS = ("name", "client", "server", "first", "end", "shows", "srcavails")
# Facts that connections recorded before rings or rails existed do not have.
RINGS = {"flow_control": "credit", "ring_size": 0, "ring_window": 0, "held": 0,
         "rails": 1}
MESSAGES = (DATA, DISCONN, CHRCVBUF, CHRCVBUF_ACK, SRC_AVAIL, RDMA_RD_COMPL, SENDSM, SRC_CANCEL,
            MODE_CHANGE, SINK_AVAIL, RDMA_WR_COMPL, SINK_CANCEL, SINK_CANCEL_ACK, RING_ASK,
            RING_AVAIL)

# Messages of a receiver, which it may send after its own half is closed.
OF_SINKS = (CHRCVBUF_ACK, RDMA_RD_COMPL, SENDSM, SINK_AVAIL, SINK_CANCEL, RING_AVAIL)
# Messages for which a reader or a writer waits: these may use the last credit if they grant
# something.
AWAITED = (RDMA_RD_COMPL, SENDSM, RDMA_WR_COMPL, SINK_CANCEL, SINK_CANCEL_ACK)


class Facts:
    """One line of the facts file."""

    def __init__(self, line):
        pairs = dict(pair.split("=", 1) for pair in line.split())
        for name in NUMBERS:
            setattr(self, name, int(pairs[name]))
        for name in WORDS:
            setattr(self, name, pairs[name])
        for name, default in RINGS.items():
            setattr(self, name, type(default)(pairs.get(name, default)))
        self.client_ip = ipaddress.ip_address(self.client)
        self.server_ip = ipaddress.ip_address(self.server)

    @property
    def hello_bufs(self):
        """Receives that an end keeps posted while the other end needs no more."""
        if self.flow_control == NIC or self.rails > 1:
            return self.recv_buffers
        return min(self.idle_buffers, self.recv_buffers)

    @property
    def hello_ack_bufs(self):
        """The same of the listener's end before accept()."""
        return min(self.accept_buffers, self.recv_buffers)

    @property
    def sizes_are_fixed(self):
        return self.recv_buffer_max <= self.recv_buffer_size * 9 // 8

    def threshold(self, target):
        """T of the credit accounting, of an end that keeps `target` receives posted."""
        return max(2, min(self.credit_threshold or target // 2, target - 1))


def differ(what, pairs):
    """A complaint for each (field, found, expected) that differs."""
    for field, found, expected in pairs:
        if found != expected:
            yield f"{what}: {field} is {found}, not {expected}"


def is_zero(what, data, *ranges):
    for first, end in ranges:
        if any(data[first:end]):
            yield f"{what}: reserved bytes {first} to {end - 1} are not zero"


def rings_known(facts):
    """The ring fields of a Hello or HelloAck, in bytes that are otherwise reserved."""
    if not facts.ring_size:
        return bytes(RINGS_LEN)
    return (b"RING" + bytes([RINGS_VERSION, SCHEMES[facts.flow_control], 0, 0]) +
            facts.ring_window.to_bytes(4, "big"))


def held_known(facts):
    """The number of SinkAvails that the sender holds, likewise."""
    if not facts.held:
        return bytes(HELD_LEN)
    return b"HELD" + bytes([HELD_VERSION, facts.held, 0, 0])


def as_ipv6(address):
    """As in a Hello: an IPv4 address is in the last four bytes, the others are zero."""
    return ipaddress.IPv6Address(int(address))


def first_bufs(connection, side):
    """Receives that this end has granted in its Hello or HelloAck."""
    return connection.request.bufs if side is connection.client else connection.reply.bufs


def grant(connection, side, heard):
    """The newest sequence number that `side` may use after it has received `heard` messages."""
    peer = connection.peer_of(side)
    heard = min(heard, len(peer.messages))
    if not heard:
        return first_bufs(connection, peer)
    header = peer.messages[heard - 1]
    return header.ack + header.bufs


def credit_before(connection, side, message):
    """The number of messages that `side` could send just before it sent this one."""
    return grant(connection, side, message.ack) - (message.mseq - 1)


def service_id(connection, facts):
    """The request is for this service, between these addresses."""
    req = connection.request
    yield from differ("REQ", [
        ("service id", hex(req.service_id), hex(SERVICE_ID | facts.port)),
        ("transport", req.service_type, 0),
        ("sender", req.src, facts.client_ip),
        ("receiver", req.dst, facts.server_ip),
        ("local GID", ipaddress.ip_address(req.gid_from4 or req.gid_from6), facts.client_ip),
        ("remote GID", ipaddress.ip_address(req.gid_to4 or req.gid_to6), facts.server_ip),
    ])


def hello(connection, facts):
    """Every field of the Hello, at the beginning of the request's private data."""
    req = connection.request
    data = req.private_data()
    yield from differ("Hello", [
        ("size", len(data), HELLO_LEN),
        ("MID", req.mid, HELLO), ("Flags", req.flags, 0),
        ("Bufs", req.bufs, facts.hello_bufs), ("Len", req.len, HELLO_LEN),
        ("MSeq", req.mseq, 0), ("MSeqAck", req.ack, 0),
        ("MajV", req.major, MAJOR), ("MinV", req.minor, MINOR),
        ("IPV", req.ipv, facts.client_ip.version), ("Cap", req.cap, CAP_INVALIDATE),
        ("MaxAdverts", req.max_adverts, facts.max_adverts), ("ExtMaxAdverts", req.ext_adverts, 0),
        ("DesRemRcvSz", req.wanted_size, facts.recv_buffer_size),
        ("LocalRcvSz", req.recv_size, facts.recv_buffer_size),
        ("LocalPort", req.local_port, facts.client_port),
        ("SrcIP", int.from_bytes(data[32:48], "big"), int(facts.client_ip)),
        ("DstIP", int.from_bytes(data[48:64], "big"), int(facts.server_ip)),
        ("SrcIP by tshark", ipaddress.ip_address(req.src_ip), as_ipv6(facts.client_ip)),
        ("DstIP by tshark", ipaddress.ip_address(req.dst_ip), as_ipv6(facts.server_ip)),
        ("rings", data[HELLO_RINGS:HELLO_RINGS + RINGS_LEN].hex(), rings_known(facts).hex()),
        ("held", data[HELLO_HELD:HELLO_HELD + HELD_LEN].hex(), held_known(facts).hex()),
    ])
    yield from is_zero("Hello", data, (18, 19), (30, 32), (64, 66),
                       (HELLO_HELD + HELD_LEN, HELLO_LEN))


def hello_ack(connection, facts):
    """Every field of the HelloAck. tshark decodes only its base header."""
    rep = connection.reply
    data = rep.private_data()
    yield from differ("HelloAck", [
        ("size", len(data), HELLO_ACK_LEN),
        ("MID", rep.mid, HELLO_ACK), ("Flags", rep.flags, 0),
        ("Bufs", rep.bufs, facts.hello_ack_bufs), ("Len", rep.len, HELLO_ACK_LEN),
        ("MSeq", rep.mseq, 0), ("MSeqAck", rep.ack, 0),
        ("version", hex(data[16]), hex(MAJOR << 4 | MINOR)), ("Cap", data[17], CAP_INVALIDATE),
        ("MaxAdverts", data[19], facts.max_adverts),
        ("ActRcvSz", int.from_bytes(data[20:24], "big"), facts.recv_buffer_size),
        ("rings", data[HELLO_ACK_RINGS:HELLO_ACK_RINGS + RINGS_LEN].hex(),
         rings_known(facts).hex()),
        ("held", data[HELLO_ACK_HELD:HELLO_ACK_HELD + HELD_LEN].hex(), held_known(facts).hex()),
    ])
    yield from is_zero("HelloAck", data, (18, 19), (HELLO_ACK_HELD + HELD_LEN, HELLO_ACK_LEN))


def refusal(connection, facts):
    """Without a listener: REJ with "invalid service id", and nothing else."""
    if connection.reply:
        yield "there is a REP"
    if not connection.reject:
        yield "there is no REJ"
        return
    yield from differ("REJ", [("reason", connection.reject.rej_reason, REJ_INVALID_SERVICE_ID)])
    for side, _ in connection.sides():
        if side.messages:
            yield f"the {side.name} has sent messages"


def packets(connection, facts):
    """Packet numbers start at those in REQ and REP and have no gap: the capture is complete."""
    if connection.reject:
        yield f"there is a REJ, reason {connection.reject.rej_reason}"
    for side, _ in connection.sides():
        for fault in side.faults:
            yield f"{side.name}: {fault}"
        if side.open:
            yield f"{side.name}: the last Send is not complete"


def traffic_class(connection, facts):
    """IP_TOS of the connecting end is the traffic class of all packets, in both directions."""
    for side, _ in connection.sides():
        for found, frame in side.classes.items():
            if found != facts.tos:
                yield f"{side.name}: traffic class {found:#x} in frame {frame}, not {facts.tos:#x}"


def sends_and_rdma(connection, facts):
    """Only Sends, RDMA reads and writes, responses and acknowledgements: no Send with immediate
    data, and no response without a read.

    A write of length 0 comes after the end only. The kernel posts it to drain a stopped queue
    pair; soft-RoCE may send it if it was just looking for work.
    """
    for side, _ in connection.sides():
        ended = min((frame for frame, _, end in connection.ends if end is side), default=None)
        for number, opcode in side.strange:
            yield f"{side.name}: frame {number} has opcode {opcode}"
        for number in side.empty:
            if ended is None or number < ended:
                yield f"{side.name}: frame {number} is a write of nothing"


def no_rnr(connection, facts):
    """No message finds no receive; except with scheme nic, where the adapters handle that (G4)."""
    if facts.flow_control == NIC:
        return
    for side, _ in connection.sides():
        for number, syndrome in side.acks:
            if syndrome >> 5 == RNR_NAK:
                yield f"{side.name}: frame {number} is an RNR NAK"


def allowed_flags(m):
    if m.mid == DATA:
        return FREED
    return REQ_PIPE if m.mid in (RDMA_RD_COMPL, SENDSM) else 0


def kinds(connection, facts):
    """The messages are Data, DisConn, those about SrcAvail, SinkAvail, rings, receive sizes and
    modes, and no others. The flags are the request for Pipelined on an answer to SrcAvail, and
    FREED on Data.
    """
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid is None:
                yield f"{side.name}: tshark does not see SDP in {m}"
            elif m.mid not in MESSAGES or m.flags & ~allowed_flags(m):
                yield f"{side.name}: {m} has MID {m.mid:#x}, Flags {m.flags:#x}"


def length(connection, facts):
    """Len is the length of the Send, and at most the receiver's buffer size (E2).

    That size is what the receiver has answered, or what the sender has asked for if that is
    less. A message in a ring needs no buffer.
    """
    for side, _ in connection.sides():
        for m, end in resize.walk(connection, facts, side):
            if m.len != m.bytes:
                yield f"{side.name}: {m}: Len is {m.len}, the Send has {m.bytes} bytes"
            if not BSDH_LEN <= m.bytes or m.put is None and m.bytes > end.send_size:
                yield f"{side.name}: {m}: {m.bytes} bytes for buffers of {end.send_size}"


def sequence(connection, facts):
    """MSeq begins at 1 and grows by one."""
    for side, _ in connection.sides():
        for expected, m in enumerate(side.messages, 1):
            if m.mseq != expected:
                yield f"{side.name}: frame {m.number}: MSeq is {m.mseq}, not {expected}"


def acknowledged(connection, facts):
    """MSeqAck never goes back and is never ahead of what the other end had sent."""
    for side, peer in connection.sides():
        last = sent = 0
        for m in side.messages:
            while sent < len(peer.messages) and peer.messages[sent].number < m.number:
                sent += 1
            if m.ack > sent:
                yield f"{side.name}: {m}: MSeqAck is {m.ack}, but the {peer.name} had sent {sent}"
            if m.ack < last:
                yield f"{side.name}: {m}: MSeqAck is {m.ack} after {last}"
            last = m.ack


def grants(connection, facts):
    """Bufs is at most the number of posted receives, and a grant is never withdrawn.

    There are few until the other end has needed more, or larger ones. Of larger receives there
    are fewer than of small ones, once all have that size (E3). An end with outstanding
    SinkAvails may have one more, to be granted when it cancels them. So may an end with a ring,
    to be granted with the last credit when it reports what is free (G2).
    """
    for side, _ in connection.sides():
        limit, spare = first_bufs(connection, side), 0
        for m, end in resize.walk(connection, facts, side):
            size = m.size if m.mid == CHRCVBUF_ACK else end.recv_size
            most = end.most
            if size > facts.recv_buffer_size:
                most = end.larger(size)
            if m.bufs > most + spare:
                yield f"{side.name}: {m}: Bufs is {m.bufs}, there are {most} of {size} bytes"
            spare = spare or m.mid == SINK_AVAIL or m.mid == RING_AVAIL and not by_nic(facts)
            if m.ack + m.bufs < limit:
                yield f"{side.name}: {m} allows {m.ack + m.bufs} after {limit}"
            limit = m.ack + m.bufs


def by_nic(facts):
    """True if the adapters ensure that each message finds a receive (G4)."""
    return facts.flow_control == NIC


def credit(connection, facts):
    """No message without credit, except with scheme nic."""
    for side, _ in connection.sides():
        for m in side.messages:
            if not by_nic(facts) and credit_before(connection, side, m) < 1:
                yield (f"{side.name}: {m}, but what it had received allows no more than "
                       f"{grant(connection, side, m.ack)}")


def standing(connection, side):
    """(message, the other end's credit as `side` counts it) just before each message."""
    bufs, ack = first_bufs(connection, side), 0
    for m in side.messages:
        yield m, max(bufs - (m.ack - ack), 0)
        bufs, ack = m.bufs, m.ack


def last_credit(connection, facts):
    """The last credit is used only by an empty Data, a credit update; or by a message for which a
    reader or writer waits, if that has no payload and grants something, as an update would. A
    SinkAvail counts as such a message where it answers a SrcAvail.
    """
    for side, peer in connection.sides():
        ends = [srcavail.end for srcavail in srcavails.of_source(connection, peer)]
        for m, theirs in standing(connection, side):
            answers = m.mid in AWAITED or m.mid == SINK_AVAIL and m in ends and not m.payload
            answers = answers and m.bufs > theirs
            if (credit_before(connection, side, m) == 1 and not resize.is_update(m) and
                    not answers and not by_nic(facts)):
                yield (f"{side.name}: {m}: MID {m.mid:#x} with {m.payload} bytes "
                       f"takes the last credit, and raises the other's from {theirs} to {m.bufs}")


def updates(connection, facts):
    """A credit update is sent when the other end has less than T, and grants T or more (D4).

    There may be other empty messages. Those that use up larger receives, which the other end
    had posted before it answered with a smaller size: not more than these. One to an end
    without credit that has to answer the sender's own SrcAvail. One to an end whose SrcAvail is
    open and whose last credit is not enough to cancel it, if it is enough then. None of these
    uses the last credit. And one that reports what has been read in a ring.
    """
    for side, peer in connection.sides():
        own = srcavails.of_source(connection, side)
        of_peer = srcavails.of_source(connection, peer)
        sink = rings.Sink(side, peer)
        walk = zip(resize.walk(connection, facts, side), standing(connection, side), sink.walk())
        for (m, end), (_, theirs), _ in walk:
            needs = sorted(end.thresholds())
            due = any(theirs < need and m.bufs >= theirs + need for need in needs)
            uses_up = m.mseq <= end.flush_to
            mute = not theirs and m.bufs and any(srcavail.out(m) for srcavail in own)
            bound = theirs < 2 <= m.bufs and any(srcavail.open_at(m) for srcavail in of_peer)
            spare = credit_before(connection, side, m) > 1
            if (resize.is_update(m) and not due and
                    not (spare and (uses_up or mute or bound)) and not sink.update_due(m)):
                yield (f"{side.name}: {m} raises the credit from {theirs} to {m.bufs} "
                       f"(T is {' or '.join(map(str, needs))})")


def request_larger(side, facts, end, m):
    """Complaints about a request that is larger than the current size."""
    if (m.size - BSDH_LEN) % SIZE_GRAIN and m.size != facts.recv_buffer_max:
        yield f"asks for {m.size}, which is not a header and whole pages"
    if m.size > facts.recv_buffer_max:
        yield f"asks for {m.size}, more than {facts.recv_buffer_max}"
    # A split send has filled a message. A full message may still wait for credit, so it may be
    # sent after the request. Each refusal doubles the number that is needed. The first full
    # message after an answer may have been split because the last one was full by the size before.
    # SrcAvail carries as much as is thought fit, so a full one does not count.
    full = sum(n.mid == DATA and n.bytes == end.send_size for n in side.messages[end.since:])
    need = (facts.resize_after << end.refusals) - (end.since > 0)
    if full < need:
        yield f"asks for {m.size}, and no more than {full} messages are full, not {need}"


def request_smaller(facts, end, m):
    """Complaints about a request that is not larger than the current size."""
    if m.size != end.send_first or m.size == end.send_size:
        yield f"asks for {m.size}, the size is {end.send_size}, and was {end.send_first} at first"
    # The module counts from the moment when it posts a message, in jiffies, and either message may
    # be late on the wire: only half of the time is certain.
    pause = (m.time - end.paused_at) * 1000 if end.paused_at is not None else 0
    if pause < facts.resize_idle_ms / 2:
        yield f"asks for {m.size} after {pause:.0f} ms, not {facts.resize_idle_ms}"


def request_faults(side, facts, end, m):
    if end.asked is not None:
        yield f"is a second request, {end.asked} has no answer yet"
    if end.void is not None:
        # A request that became void by a crossing one is repeated unchanged.
        yield from differ("again", [("size", m.size, end.void.size)])
    elif m.size > end.send_size:
        yield from request_larger(side, facts, end, m)
    else:
        yield from request_smaller(facts, end, m)


def resize_requests(connection, facts):
    """E1: larger receives are requested after sends were split, the first size after a pause."""
    for side, _ in connection.sides():
        for m, end in resize.walk(connection, facts, side):
            if m.mid == CHRCVBUF:
                for fault in request_faults(side, facts, end, m):
                    yield f"{side.name}: {m} {fault}"


def answer_faults(end, m):
    if end.owed is None:
        if end.ignored is None:
            yield "answers no request"
        return
    if m.size not in (end.owed.size, end.recv_size):
        yield f"answers {m.size} to {end.owed.size}, the size is {end.recv_size}"
    if m.size <= end.recv_size:
        return
    if not end.may_grow(m.size):
        yield f"answers {m.size}, there is no room for so many"
    # At least all smaller receives that it had granted before it received the request.
    if m.ack < end.used_up[0]:
        yield (f"answers {m.size} after message {m.ack}, but receives up to {end.used_up[0]} "
               f"have {end.recv_size}")


def resize_answers(connection, facts):
    """E2: an answer follows a request; for a larger size it follows the last use of a smaller
    receive.

    When it is due, only messages that end a SrcAvail or the use of a SinkAvail may precede it,
    as a reader or writer waits for these.
    """
    for side, _ in connection.sides():
        for m, end in resize.walk(connection, facts, side):
            if m.mid == CHRCVBUF_ACK:
                for fault in answer_faults(end, m):
                    yield f"{side.name}: {m} {fault}"
            elif m.mid in (RDMA_RD_COMPL, SENDSM, RDMA_WR_COMPL, SINK_CANCEL_ACK):
                continue
            elif m.bufs and credit_before(connection, side, m) > 1 and end.answer_due(m):
                yield f"{side.name}: {m} goes before the answer to {end.owed}"


def resize_crossing(connection, facts):
    """E4: an end that owes an answer sends no request; of crossing requests, the server's
    counts.
    """
    for side, _ in connection.sides():
        for m, end in resize.walk(connection, facts, side):
            if m.mid == CHRCVBUF and end.owed is not None:
                yield f"{side.name}: {m} asks, and owes the answer to {end.owed}"
            if m.mid == CHRCVBUF_ACK and end.owed is None and end.ignored is not None:
                yield f"{side.name}: {m} answers {end.ignored}, which its own has made void"


def resize_fixed(connection, facts):
    """E5: with fixed sizes there are no requests, and the answer is the current size."""
    if not facts.sizes_are_fixed:
        return
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid == CHRCVBUF:
                yield f"{side.name}: {m} asks for {m.size}"
            if m.mid == CHRCVBUF_ACK and m.size != facts.recv_buffer_size:
                yield f"{side.name}: {m} answers {m.size}"


def resize_shown(connection, facts):
    """The client's requests had the results that this connection was made to show."""
    if facts.shows == "any":
        return
    found = []
    for m, end in resize.walk(connection, facts, connection.server):
        if m.mid == CHRCVBUF_ACK and end.owed is not None:
            what = "grow" if m.size > end.recv_size else "shrink"
            what = "refused" if m.size == end.recv_size else what
            found += [what] if found[-1:] != [what] else []
    if found[:len(facts.shows.split(","))] != facts.shows.split(","):
        yield f"there is {','.join(found) or 'nothing'}, not {facts.shows}"


def srcavails_shown(connection, facts):
    """Each exchange and change of mode that this connection was made to show has occurred."""
    found = sorted(srcavails.exchanges(connection) | modes.shown(connection) |
                   sinkavails.shown(connection) | rings.shown(connection))
    for name in facts.srcavails.split(","):
        if name not in found + ["any"]:
            yield f"there is {', '.join(found)}, but not {name}"


def payload(connection, facts):
    """Only Data, SrcAvail and SinkAvail carry payload. Together with the bytes read and written by
    RDMA, it is what the program wrote.
    """
    written = {"client": facts.up, "server": facts.down}
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid not in (DATA, SRC_AVAIL, SINK_AVAIL) and m.payload:
                yield f"{side.name}: {m}: MID {m.mid:#x} has {m.payload} bytes of payload"
        total = srcavails.travelled(connection, side)
        if total != written[side.name]:
            yield f"{side.name}: {total} bytes travelled, {written[side.name]} were written"


def disconn(connection, facts):
    """Each end sends one DisConn, and after it nothing but credit updates, answers and messages of
    a sink.

    Its sender may still receive data, read SrcAvails, change the other half's mode to Combined,
    and send SinkAvails.
    """
    firsts = {}
    for side, _ in connection.sides():
        found = [i for i, m in enumerate(side.messages) if m.mid == DISCONN]
        if len(found) != 1:
            yield f"{side.name}: {len(found)} DisConns"
        if not found:
            continue
        firsts[side.name] = side.messages[found[0]].number
        for m in side.messages[found[0] + 1:]:
            still = m.mid in OF_SINKS or m.mid == MODE_CHANGE and modes.from_sink(m)
            if m.payload or not resize.is_update(m) and not still:
                yield f"{side.name}: {m} after its DisConn"
    if facts.first != "any" and firsts and min(firsts, key=firsts.get) != facts.first:
        yield f"the {facts.first} closed first, but its DisConn is the second"


def ending(connection, facts):
    """DREQ comes from the end whose DisConn was first, after both; DREP answers it.

    DREQ uses the CM's own queue pair, and so may overtake a credit update, the answer to a
    request, a ModeChange or a SinkAvail that its sender had queued before it received the
    other's DisConn.
    """
    if [kind for _, kind, _ in connection.ends][:1] != ["DREQ"]:
        yield "there is no DREQ"
        return
    if not any(kind == "DREP" for _, kind, _ in connection.ends):
        yield "there is no DREP"
    sent = {side.name: [m for m in side.messages if m.mid == DISCONN]
            for side, _ in connection.sides()}
    if not all(sent.values()):
        yield "a DREQ without both DisConns"
        return
    number, _, asker = connection.ends[0]
    other = connection.peer_of(asker)
    mine, theirs = sent[asker.name][0], sent[other.name][0]
    if number < max(mine.number, theirs.number):
        yield f"frame {number}: DREQ before both DisConns"
    # It had received the other's DisConn when it sent its own, which was the second.
    if mine.ack >= theirs.mseq:
        yield f"frame {number}: DREQ from the {asker.name}, whose DisConn was the second"
    for side, peer in connection.sides():
        for m in side.messages:
            queued = (resize.is_update(m) or
                      m.mid in (CHRCVBUF_ACK, MODE_CHANGE, SINK_AVAIL, SINK_CANCEL, RING_AVAIL))
            early = queued and m.ack < sent[peer.name][0].mseq
            if m.number > number and not early:
                yield f"{side.name}: {m} after the DREQ in frame {number}"


def reset(connection, facts):
    """A reset from the client: DREQ, with no DisConn and no AbortConn before it."""
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid not in (DATA, CHRCVBUF, CHRCVBUF_ACK, RING_ASK, RING_AVAIL):
                yield f"{side.name}: {m} has MID {m.mid:#x}"
    if not connection.ends or connection.ends[0][1] != "DREQ":
        yield "there is no DREQ"
        return
    number, _, asker = connection.ends[0]
    yield from differ("DREQ", [("sender", asker.name, "client")])
    if any(m.number > number for m in asker.messages):
        yield f"the {asker.name} has sent messages after its DREQ in frame {number}"


SET_UP = (service_id, hello)
TRAFFIC = (hello_ack, packets, traffic_class, sends_and_rdma, no_rnr, kinds, length, sequence,
           acknowledged, grants, credit, last_credit, updates, payload, resize_requests,
           resize_answers, resize_crossing, resize_fixed, resize_shown, srcavails_shown)
TRAFFIC += srcavails.RULES + mode_rules.RULES + sinkavail_rules.RULES + ring_rules.RULES
RULES = {
    "close": SET_UP + TRAFFIC + (srcavails.srcavail_ends, disconn, ending),
    "reset": SET_UP + TRAFFIC + (reset,),
    "refused": SET_UP + (refusal,),
}
