# SPDX-License-Identifier: GPL-2.0
"""Buffers that a sink advertises (Pipelined mode), and what the source makes of them (C5-C8).

SinkAvail says where a reader's buffer is. The source writes into the oldest one by RDMA, and
reports how much (RdmaWrCompl), which ends it, however full it is; a message with payload discards
the oldest one. SinkAvailCancel takes all of them back; SinkCancelAck says that some were.

NonDiscards: both ends count the messages with payload that have discarded none. A SinkAvail with
another count than the source has is stale: what has been sent meanwhile belongs before what could
be written, and the sink has not heard of it. The source drops it, and the sink finds out when it
hears that message.

What a source has heard is what its headers acknowledge, so its list of buffers can be followed
exactly. An RDMA write has no header: it is taken to have heard as little as makes it right, at
least what the message before it has, at most what the message after it has.

Nothing is judged here: that is for advert_rules.py.
"""
import decode
from modes import COMBINED, Half, new_mode, PIPELINED
from resize import DISCONN, RDMA_WR_COMPL

SINK_AVAIL, SINK_CANCEL, SINK_CANCEL_ACK = 0xfd, 0x09, 0x0a
# Where Hello and HelloAck tell of the buffers that their senders hold.
HELD_LEN, HELD_VERSION = 8, 1
HELLO_HELD, HELLO_ACK_HELD = 80, 36


class Advert:
    """One SinkAvail, and what became of it.

    accepted	the source has added it to its list
    before	... or dropped it, before it sent the message of this number; None: never heard
    fate	written, discarded, taken-back, left (the source left the mode, or has closed), stale,
		late (as left, but before the source had heard of it), or open (as far as is known)
    over	the message of the source that tells the sink so
    """

    def __init__(self, message):
        self.message = message
        self.accepted = False
        self.before = None
        self.fate = "open"
        self.over = None

    def end(self, fate, over):
        self.fate, self.over = fate, over

    def out(self, m):
        """Is it out when the sink sends `m`? It has not heard of the end then."""
        return self.message.mseq < m.mseq and (self.over is None or m.ack < self.over.mseq)

    def __str__(self):
        return f"the buffer in frame {self.message.number}"


class Filling:
    """RDMA writes into one buffer, and their report.

    last	the message before them
    """

    def __init__(self, advert, last):
        self.advert = advert
        self.last = last
        self.writes = []
        self.report = None

    @property
    def length(self):
        return sum(write.length for write in self.writes)

    @property
    def following(self):
        """Where the next write into it has to begin."""
        return self.advert.message.va + self.length


class Cancel:
    """One SinkAvailCancel: what the source had, when it heard of it, and its answer."""

    def __init__(self, message, taken, before):
        self.message = message
        self.taken = taken
        self.before = before
        self.answer = None


class Flow:
    """The buffers of one sink, as the source goes through them.

    adverts		all that were advertised
    fillings		writes and their reports
    cancels		all that the source has heard of
    discards		messages of the source that have discarded a buffer
    stray_writes	(write, the oldest buffer, if there is one): not into that
    stray_reports	RdmaWrCompl with nothing written
    stray_answers	SinkCancelAck with nothing taken back
    """

    def __init__(self, connection, source):
        self.half = Half(connection, source)
        self.source, self.sink = self.half.source, self.half.sink
        self.adverts, self.fillings, self.cancels = [], [], []
        self.discards = set()
        self.stray_writes, self.stray_reports, self.stray_answers = [], [], []
        self.mode, self.left_by = COMBINED, None
        self.list, self.counted, self.heard, self.last = [], 0, 0, None
        self.go()
        # And those that the source has never acknowledged.
        self.adverts += [Advert(m) for m in self.sink.messages[self.heard:] if m.mid == SINK_AVAIL]
        for advert in self.adverts:
            if not advert.accepted:
                advert.over = self.what_made_void(advert)

    def go(self):
        for index, request in enumerate(self.source.requests):
            if isinstance(request, decode.Message):
                while self.heard < request.ack and self.hear():
                    pass
                self.send(request)
                self.last = request
            elif isinstance(request, decode.Write):
                self.write(request, self.source.requests[index + 1:])

    def hear(self):
        """The next message of the sink. False when there is none."""
        if self.heard >= len(self.sink.messages):
            return False
        m = self.sink.messages[self.heard]
        self.heard += 1
        if m.mid == SINK_AVAIL:
            self.hear_advert(m)
        elif m.mid == SINK_CANCEL:
            self.cancels.append(Cancel(m, self.list, self.number()))
            self.list = []
        elif self.half.concerned(self.sink, m):
            self.mode = new_mode(m)
        return True

    def number(self):
        """Of the message that the source sends next."""
        return self.last.mseq + 1 if self.last else 1

    def hear_advert(self, m):
        advert = Advert(m)
        advert.before = self.number()
        self.adverts.append(advert)
        if self.mode != PIPELINED or self.left_by and m.ack < self.left_by.mseq:
            advert.fate = "late"
        elif m.non_discards != self.counted:
            advert.fate = "stale"
        else:
            advert.accepted = True
            self.list.append(advert)

    def send(self, m):
        if self.leaves(m):
            self.leave(m)
        elif m.mid == RDMA_WR_COMPL:
            self.report(m)
        elif m.mid == SINK_CANCEL_ACK:
            self.answer(m)
        if m.payload > 0 and self.list:
            self.list.pop(0).end("discarded", m)
            self.discards.add(m)
        elif m.payload > 0:
            self.counted += 1

    def leave(self, m):
        """Another mode, or the end: no buffer is any good any more."""
        self.mode = None if m.mid == DISCONN else new_mode(m)
        self.left_by = m
        for advert in self.list:
            advert.end("left", m)
        self.list = []

    def open_filling(self):
        return self.fillings[-1] if self.fillings and not self.fillings[-1].report else None

    def write(self, write, later):
        filling = self.open_filling()
        if filling and filling.advert.message.rkey == write.rkey:
            filling.writes.append(write)
            return
        limit = next((m.ack for m in later if isinstance(m, decode.Message)),
                     len(self.sink.messages))
        while self.heard < limit and not (self.list and self.list[0].message.rkey == write.rkey):
            if not self.hear():
                break
        if not self.list or self.list[0].message.rkey != write.rkey:
            self.stray_writes.append((write, self.list[0] if self.list else None))
            return
        filling = Filling(self.list.pop(0), self.last)
        filling.writes.append(write)
        filling.advert.fate = "written"
        self.fillings.append(filling)

    def report(self, m):
        filling = self.open_filling()
        if not filling:
            self.stray_reports.append(m)
            return
        filling.report = filling.advert.over = m

    def answer(self, m):
        due = [cancel for cancel in self.cancels if cancel.taken and not cancel.answer]
        if not due:
            self.stray_answers.append(m)
            return
        due[0].answer = m
        for advert in due[0].taken:
            advert.end("taken-back", m)

    def what_made_void(self, advert):
        """The first message that went into another place, or ended it all, of those that the sink
        had not heard, and that the source sent before it heard of the buffer.
        """
        end = len(self.source.messages) if advert.before is None else advert.before - 1
        for m in self.source.messages[advert.message.ack:end]:
            if m.payload > 0 and m not in self.discards or self.leaves(m):
                return m
        return None

    def leaves(self, m):
        """Does the source leave Pipelined with this message, or the connection?"""
        return m.mid == DISCONN or self.half.concerned(self.source, m)

    def non_discards(self, heard):
        """The sink's count, when it has heard so many messages."""
        return sum(m.payload > 0 and m not in self.discards for m in self.source.messages[:heard])

    def out(self, m):
        """The buffers that are out when the sink sends `m`."""
        return [advert for advert in self.adverts if advert.out(m)]


def flows(connection):
    return [Flow(connection, side) for side, _ in connection.sides()]


def shown(connection):
    """What became of buffers, as words of traffic.c's offers=."""
    return {advert.fate for flow in flows(connection) for advert in flow.adverts}
