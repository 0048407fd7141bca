# SPDX-License-Identifier: GPL-2.0
"""Rules for SrcAvail and all that follows from it.

The source announces a large write by SrcAvail, which carries its first bytes and says where all
of it is. The sink reads the remainder by RDMA and reports how much (RdmaRdCompl), or wants it
in messages (SendSm). Either may end the SrcAvail. SrcAvailCancel asks the sink to end it.

In Pipelined a SrcAvail carries no bytes. There, a SinkAvail that is not stale (sinkavails.py) ends
a SrcAvail too: it is an answer to it, or has crossed it (C8).

An end's headers acknowledge which messages it had received. An RDMA read has no header, so the
order of capture decides what it may follow: both ends have the same clock. The order of what
one end has sent, reads and messages, is that of the packet numbers.

The count of RdmaRdCompl is taken as bytes read by RDMA, without those in SrcAvail.
"""
import decode
from sinkavails import Flow, flows, RDMA_WR_COMPL, SINK_AVAIL
from modes import Half, PIPELINED
from resize import DATA, DISCONN

SENDSM, RDMA_RD_COMPL, SRC_CANCEL, SRC_AVAIL = 0x04, 0x06, 0x08, 0xfe
# Flag of an answer: the sink's reader asks for Pipelined.
REQ_PIPE = 0x04
# The low byte of a key changes with each use; the other bytes identify the region.
KEY_SHIFT = 8


class SrcAvail:
    """One SrcAvail, and what the sink has done with it.

    reads		RDMA reads while it was open at the sink
    parts		number of times that a part was read; one part may need several requests
    reports		RdmaRdCompl
    end			the message that ends it: the report of its last byte, SendSm, or SinkAvail
    cancels		SrcAvailCancel, sent before the source received its end
    """

    def __init__(self, message):
        self.message = message
        self.reads = []
        self.parts = 0
        self.reports = []
        self.end = None
        self.cancels = []

    @property
    def rest(self):
        """Bytes to be read: all but those in SrcAvail itself."""
        return self.message.whole - self.message.payload

    @property
    def first_va(self):
        return self.message.va + self.message.payload

    @property
    def end_va(self):
        return self.message.va + self.message.whole

    def contains(self, read):
        return self.first_va <= read.va < read.va + read.length <= self.end_va

    @property
    def reported(self):
        return sum(m.count for m in self.reports)

    @property
    def declined(self):
        return self.end is not None and self.end.mid == SENDSM

    @property
    def overtaken(self):
        return self.end is not None and self.end.mid == SINK_AVAIL

    @property
    def wants_writes(self):
        return self.end is not None and bool(self.end.flags & REQ_PIPE)

    @property
    def kind(self):
        """Its fate, in one word."""
        if self.end is None:
            return "open"
        if self.overtaken:
            return "overtaken"
        if self.cancels and self.end.ack < self.cancels[0].mseq:
            return "crossed"
        if self.declined and self.cancels:
            return "cancelled"
        if self.declined:
            return "rest" if self.reads else "declined"
        return "parts" if self.parts > 1 else "read"

    def out(self, m):
        """True if it is outstanding when the source sends `m`: the source has not received its
        end."""
        return m.mseq > self.message.mseq and (self.end is None or m.ack < self.end.mseq)

    def open_at(self, m):
        """True if it is open when the sink sends `m`: the sink has received it, and has not ended
        it."""
        return m.ack >= self.message.mseq and (self.end is None or m.mseq <= self.end.mseq)

    def __str__(self):
        return f"the srcavail in frame {self.message.number}"


class Direction:
    """The SrcAvails of one end, the source, and messages that belong to none.

    stray_reads		RDMA reads of the sink while no SrcAvail was open
    stray_answers	its RdmaRdCompl and SendSm, likewise
    stray_cancels	SrcAvailCancel of the source while none was outstanding in its view
    """

    def __init__(self, connection, source):
        self.source = source
        self.sink = connection.peer_of(source)
        self.srcavails = [SrcAvail(m) for m in source.messages if m.mid == SRC_AVAIL]
        self.stray_reads, self.stray_answers, self.stray_cancels = [], [], []
        self.overtakes = {sinkavail.message: sinkavail for sinkavail in Flow(connection,
                                                                             source).sinkavails
                          if sinkavail.accepted} if self.srcavails else {}
        for before, request in zip([None] + self.sink.requests, self.sink.requests):
            if isinstance(request, decode.Read):
                self.add_read(request, not isinstance(before, decode.Read))
            elif request in self.overtakes:
                self.add_buffer(self.overtakes[request])
            elif isinstance(request, decode.Message) and request.mid in (RDMA_RD_COMPL, SENDSM):
                self.add_answer(request)
        for m in source.messages:
            if m.mid == SRC_CANCEL:
                self.add_cancel(m)

    def add_read(self, read, begins):
        come = [o for o in self.srcavails if o.message.end < read.number]
        if come and come[-1].end is None:
            come[-1].reads.append(read)
            come[-1].parts += begins or not come[-1].parts
        else:
            self.stray_reads.append(read)

    def add_answer(self, m):
        heard = [srcavail for srcavail in self.srcavails if srcavail.message.mseq <= m.ack]
        if not heard or heard[-1].end is not None:
            self.stray_answers.append(m)
            return
        srcavail = heard[-1]
        if m.mid == RDMA_RD_COMPL:
            srcavail.reports.append(m)
        if m.mid == SENDSM or srcavail.reported >= srcavail.rest:
            srcavail.end = m

    def add_buffer(self, sinkavail):
        """The SinkAvail ends the SrcAvails that are outstanding when the source receives it,
        whether or not the sink knew them."""
        for srcavail in self.srcavails:
            if srcavail.end is None and srcavail.message.mseq < sinkavail.before:
                srcavail.end = sinkavail.message

    def add_cancel(self, m):
        out = [srcavail for srcavail in self.srcavails if srcavail.out(m)]
        if out:
            out[-1].cancels.append(m)
        else:
            self.stray_cancels.append(m)

    def sent(self, first, last=None):
        """Bytes that the source has sent or written after `first` and before `last`."""
        return sum(m.count if m.mid == RDMA_WR_COMPL else m.payload for m in self.source.messages
                   if m.mseq > first and (last is None or m.mseq < last))


def directions(connection):
    return [Direction(connection, side) for side, _ in connection.sides()]


def of_source(connection, side):
    """The SrcAvails that `side` has sent."""
    return Direction(connection, side).srcavails


def all_srcavails(connection):
    """(source, sink, srcavail) of both directions."""
    return [(d.source, d.sink, o) for d in directions(connection) for o in d.srcavails]


def travelled(connection, side):
    """Bytes of `side` that have reached the other end, in any way."""
    carried = sum(m.payload for m in side.messages if m.mid in (DATA, SRC_AVAIL, SINK_AVAIL))
    written = sum(m.count for m in side.messages if m.mid == RDMA_WR_COMPL)
    sink = connection.peer_of(side)
    return carried + written + sum(m.count for m in sink.messages if m.mid == RDMA_RD_COMPL)


def srcavail_forms(connection, facts):
    """SrcAvail carries the first bytes, at least one, and more must follow. In Pipelined it
    carries none.
    """
    for side, _ in connection.sides():
        for m, mode in Half(connection, side).walk(side):
            if m.mid != SRC_AVAIL:
                continue
            fits = not m.payload if mode == PIPELINED else m.payload >= 1
            if not fits or m.payload >= m.whole:
                yield f"{side.name}: {m}: {m.payload} bytes went along, of {m.whole}"


def srcavail_settings(connection, facts):
    """SrcAvail is used for writes from the threshold on, and never if that is 0; RDMA read may be
    disabled."""
    for side, sink, srcavail in all_srcavails(connection):
        if not facts.rdma_threshold or srcavail.message.whole < facts.rdma_threshold:
            yield (f"{side.name}: {srcavail.message} srcavails {srcavail.message.whole} bytes, the "
                   f"threshold is {facts.rdma_threshold}")
        if not facts.rdma_read and (srcavail.reads or srcavail.reports):
            yield f"{sink.name}: {srcavail} was read"


def srcavails_single(connection, facts):
    """One SrcAvail at a time: the source sends the next one when it has received the end of the
    last one."""
    for direction in directions(connection):
        for before, srcavail in zip(direction.srcavails, direction.srcavails[1:]):
            if before.out(srcavail.message):
                yield f"{direction.source.name}: {srcavail.message} while {before} is out"


def srcavail_order(connection, facts):
    """Nothing of the stream overtakes a SrcAvail: no payload, no RDMA write, and no DisConn."""
    for side, _, srcavail in all_srcavails(connection):
        for m in side.messages:
            stream = m.mid in (DISCONN, RDMA_WR_COMPL) or m.mid != SRC_AVAIL and m.payload > 0
            if stream and srcavail.out(m):
                yield f"{side.name}: {m}: MID {m.mid:#x} while {srcavail} is out"


def srcavail_keys(connection, facts):
    """Each use of a registration, for a SrcAvail or for a read, has another key.

    The new key is random: after a read or write whose local key is not on the wire, an earlier
    key may come back.
    """
    for direction in directions(connection):
        keys = {}
        for request in direction.source.requests:
            if isinstance(request, (decode.Read, decode.Write)):
                keys.clear()
            elif isinstance(request, decode.Message) and request.mid in (SRC_AVAIL, SINK_AVAIL):
                registration = request.rkey >> KEY_SHIFT
                if keys.get(registration) == request.rkey:
                    yield f"{direction.source.name}: {request} has the key {request.rkey:#x} again"
                keys[registration] = request.rkey


def keys_revoked(connection, facts):
    """An end that has finished with the other's memory invalidates its key by its final message
    about it: the report of the last byte read, SendSm, or the report of what was written.
    """
    due = {}
    for direction in directions(connection):
        due.update((srcavail.end, srcavail.message.rkey) for srcavail in direction.srcavails
                   if srcavail.end is not None and not srcavail.overtaken)
    for flow in flows(connection):
        due.update((filling.report, filling.sinkavail.message.rkey) for filling in flow.fillings)
    for side, _ in connection.sides():
        for m in side.messages:
            if m.revoked != due.get(m):
                yield f"{side.name}: {m} revokes {show(m.revoked)}, not {show(due.get(m))}"


def show(key):
    return "nothing" if key is None else f"{key:#x}"


def reads_open(connection, facts):
    """No read comes before a SrcAvail has arrived, after its end was sent, or after its
    cancellation has arrived."""
    for direction in directions(connection):
        for read in direction.stray_reads:
            yield f"{direction.sink.name}: {read} while nothing was advertised"
        heard = 0
        for request in direction.sink.requests:
            if isinstance(request, decode.Message):
                heard = max(heard, request.ack)
            if not isinstance(request, decode.Read):
                continue
            for srcavail in direction.srcavails:
                if request in srcavail.reads and any(m.mseq <= heard for m in srcavail.cancels):
                    yield f"{direction.sink.name}: {request}: the cancel of {srcavail} was heard"


def reads_within(connection, facts):
    """A read is within the SrcAvail's memory, behind the bytes in the SrcAvail, and has its key."""
    for _, sink, srcavail in all_srcavails(connection):
        for read in srcavail.reads:
            if read.rkey != srcavail.message.rkey:
                yield (f"{sink.name}: {read} with the key {read.rkey:#x}, {srcavail} has "
                       f"{srcavail.message.rkey:#x}")
            if not srcavail.contains(read):
                yield (f"{sink.name}: {read} from {read.va:#x}, {srcavail} leaves "
                       f"{srcavail.first_va:#x} to {srcavail.end_va:#x}")


def reads_once(connection, facts):
    """Each byte is read once, in order, and not more is reported than was read."""
    for _, sink, srcavail in all_srcavails(connection):
        following = srcavail.first_va
        for read in srcavail.reads:
            # A read elsewhere is a matter of the rule before.
            if read.va != following and srcavail.contains(read):
                yield f"{sink.name}: {read} from {read.va:#x}, {following:#x} is next"
            following = read.va + read.length


def read_answers(connection, facts):
    """The response to a read has as many bytes as requested."""
    for side, peer in connection.sides():
        for read in side.reads:
            if read.end is None or read.bytes != read.length:
                yield f"{peer.name}: {read.bytes} bytes in answer to {read}"


def report_faults(srcavail):
    come = reported = 0
    reads = list(srcavail.reads)
    for m in srcavail.reports:
        reported += m.count
        while reads and reads[0].end is not None and reads[0].end < m.number:
            come += reads.pop(0).length
        if not m.count or reported > come:
            yield f"{m} reports {m.count}, {reported} in all, and {come} have come"
    asked = sum(read.length for read in srcavail.reads)
    if srcavail.declined and reported != asked:
        yield f"{srcavail.end} declines {srcavail} after {reported} of {asked} bytes were reported"
    read = srcavail.end is not None and not srcavail.declined and not srcavail.overtaken
    if read and reported != srcavail.rest:
        yield f"{srcavail.end} ends {srcavail} with {reported} bytes, not {srcavail.rest}"


def read_reports(connection, facts):
    """RdmaRdCompl reports what has arrived; by the end of a SrcAvail all of that is reported."""
    for _, sink, srcavail in all_srcavails(connection):
        for fault in report_faults(srcavail):
            yield f"{sink.name}: {fault}"


def srcavail_answers(connection, facts):
    """RdmaRdCompl and SendSm answer an open SrcAvail; the source ignores others."""
    for direction in directions(connection):
        for m in direction.stray_answers:
            yield f"{direction.sink.name}: {m}: MID {m.mid:#x} while nothing was advertised"


def srcavail_ends(connection, facts):
    """Each SrcAvail ends."""
    for side, _, srcavail in all_srcavails(connection):
        if srcavail.end is None:
            yield f"{side.name}: {srcavail} has no end"


def srcavail_cancels(connection, facts):
    """SrcAvailCancel is sent once, and only while the source has not received the end."""
    for direction in directions(connection):
        for m in direction.stray_cancels:
            yield f"{direction.source.name}: {m} cancels, and nothing is out"
        for srcavail in direction.srcavails:
            for m in srcavail.cancels[1:]:
                yield f"{direction.source.name}: {m} cancels {srcavail} again"


def srcavail_rest(connection, facts):
    """Refused data follows in messages before the next SrcAvail.

    A writer that gives up does not continue, so connections with a time limit are exempt. A source
    that has cancelled its SrcAvail gets SendSm as the answer to that, and may advertise again.
    """
    if facts.sndtimeo:
        return
    for direction in directions(connection):
        following = [srcavail.message.mseq for srcavail in direction.srcavails[1:]] + [None]
        for srcavail, last in zip(direction.srcavails, following):
            rest = srcavail.rest - srcavail.reported
            sent = direction.sent(srcavail.message.mseq, last)
            if srcavail.declined and not srcavail.cancels and sent < rest:
                yield (f"{direction.source.name}: {sent} bytes after {srcavail} was refused, "
                       f"{rest} were left")


def both_out(connection):
    """True if there were unanswered SrcAvails in both directions at once, by the order of
    capture.
    """
    spans = [[(o.message.number, o.end.number) for o in d.srcavails if o.end is not None]
             for d in directions(connection)]
    return any(a < d and c < b for a, b in spans[0] for c, d in spans[1])


def exchanges(connection):
    """What occurred: the fates of the SrcAvails, both, or none (see srcavails= in traffic.c)."""
    found = {srcavail.kind for _, _, srcavail in all_srcavails(connection)} or {"none"}
    return found | ({"both"} if both_out(connection) else set())


RULES = (srcavail_forms, srcavail_settings, srcavails_single, srcavail_order, srcavail_keys,
         keys_revoked,
         reads_open, reads_within, reads_once, read_answers, read_reports, srcavail_answers,
         srcavail_cancels, srcavail_rest)
