# SPDX-License-Identifier: GPL-2.0
"""The SinkAvails of a sink (Pipelined mode), and what the source does with them (C5-C8).

SinkAvail says where a reader's buffer is. The source writes into the oldest one by RDMA and
reports the number of bytes (RdmaWrCompl), which ends it, however full it is. A message with
payload discards the oldest one. SinkAvailCancel cancels all of them; SinkCancelAck says that
there were some.

NonDiscards: both ends count the messages with payload that have discarded no SinkAvail. A
SinkAvail whose count differs from the source's is stale: data sent meanwhile precedes what
could be written, and the sink has not received it yet. The source drops the SinkAvail, and the
sink notices that when it receives the data.

A source's headers acknowledge what it has received, so its list of SinkAvails can be followed
exactly. An RDMA write has no header. It is assumed to come as early as makes it valid: not
before what the preceding message acknowledges, and not after what the next message
acknowledges.

This file judges nothing; sinkavail_rules.py does.
"""
import decode
from modes import COMBINED, Half, new_mode, PIPELINED
from resize import DISCONN, RDMA_WR_COMPL

SINK_AVAIL, SINK_CANCEL, SINK_CANCEL_ACK = 0xfd, 0x09, 0x0a
# Where Hello and HelloAck state the number of SinkAvails that their senders hold.
HELD_LEN, HELD_VERSION = 8, 1
HELLO_HELD, HELLO_ACK_HELD = 80, 36


class SinkAvail:
    """One SinkAvail and its fate.

    accepted	the source has added it to its list
    before	number of the source's message before which that, or the drop, happened; None:
    		never received
    fate	written, discarded, taken-back, left (the source left the mode, or has closed), stale,
    		late (as left, but before the source had received it), or open (as far as is known)
    over	the source's message that tells the sink so
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
        """True if it is outstanding when the sink sends `m`: the sink has not received its end."""
        return self.message.mseq < m.mseq and (self.over is None or m.ack < self.over.mseq)

    def __str__(self):
        return f"the buffer in frame {self.message.number}"


class Filling:
    """RDMA writes for one SinkAvail, and their report.

    last	the message before them
    """

    def __init__(self, sinkavail, last):
        self.sinkavail = sinkavail
        self.last = last
        self.writes = []
        self.report = None

    @property
    def length(self):
        return sum(write.length for write in self.writes)

    @property
    def following(self):
        """Address at which the next write must begin."""
        return self.sinkavail.message.va + self.length


class Cancel:
    """One SinkAvailCancel: what the source had when it received it, and its answer."""

    def __init__(self, message, taken, before):
        self.message = message
        self.taken = taken
        self.before = before
        self.answer = None


class Flow:
    """The SinkAvails of one sink, as the source handles them.

    sinkavails		all that were sent
    fillings		writes and their reports
    cancels		all that the source has received
    discards		messages of the source that have discarded a SinkAvail
    stray_writes	(write, the oldest SinkAvail or None): writes that did not go there
    stray_reports	RdmaWrCompl with nothing written
    stray_answers	SinkCancelAck with nothing cancelled
    """

    def __init__(self, connection, source):
        self.half = Half(connection, source)
        self.source, self.sink = self.half.source, self.half.sink
        self.sinkavails, self.fillings, self.cancels = [], [], []
        self.discards = set()
        self.stray_writes, self.stray_reports, self.stray_answers = [], [], []
        self.mode, self.left_by = COMBINED, None
        self.list, self.counted, self.heard, self.last = [], 0, 0, None
        self.go()
        # SinkAvails that the source has never acknowledged, too.
        self.sinkavails += [SinkAvail(m)
                            for m in self.sink.messages[self.heard:] if m.mid == SINK_AVAIL]
        for sinkavail in self.sinkavails:
            if not sinkavail.accepted:
                sinkavail.over = self.what_made_void(sinkavail)

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
        """Processes the sink's next message. False when there is none."""
        if self.heard >= len(self.sink.messages):
            return False
        m = self.sink.messages[self.heard]
        self.heard += 1
        if m.mid == SINK_AVAIL:
            self.hear_sinkavail(m)
        elif m.mid == SINK_CANCEL:
            self.cancels.append(Cancel(m, self.list, self.number()))
            self.list = []
        elif self.half.concerned(self.sink, m):
            self.mode = new_mode(m)
        return True

    def number(self):
        """Number of the message that the source sends next."""
        return self.last.mseq + 1 if self.last else 1

    def hear_sinkavail(self, m):
        sinkavail = SinkAvail(m)
        sinkavail.before = self.number()
        self.sinkavails.append(sinkavail)
        if self.mode != PIPELINED or self.left_by and m.ack < self.left_by.mseq:
            sinkavail.fate = "late"
        elif m.non_discards != self.counted:
            sinkavail.fate = "stale"
        else:
            sinkavail.accepted = True
            self.list.append(sinkavail)

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
        """Another mode, or the end: every SinkAvail is void."""
        self.mode = None if m.mid == DISCONN else new_mode(m)
        self.left_by = m
        for sinkavail in self.list:
            sinkavail.end("left", m)
        self.list = []

    def open_filling(self):
        return self.fillings[-1] if self.fillings and not self.fillings[-1].report else None

    def write(self, write, later):
        filling = self.open_filling()
        if filling and filling.sinkavail.message.rkey == write.rkey:
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
        filling.sinkavail.fate = "written"
        self.fillings.append(filling)

    def report(self, m):
        filling = self.open_filling()
        if not filling:
            self.stray_reports.append(m)
            return
        filling.report = filling.sinkavail.over = m

    def answer(self, m):
        due = [cancel for cancel in self.cancels if cancel.taken and not cancel.answer]
        if not due:
            self.stray_answers.append(m)
            return
        due[0].answer = m
        for sinkavail in due[0].taken:
            sinkavail.end("taken-back", m)

    def what_made_void(self, sinkavail):
        """The message that made the SinkAvail void: the first one with data elsewhere, or one that
        left the mode, among those that the sink had not received and that the source sent
        before it received the SinkAvail.
        """
        end = len(self.source.messages) if sinkavail.before is None else sinkavail.before - 1
        for m in self.source.messages[sinkavail.message.ack:end]:
            if m.payload > 0 and m not in self.discards or self.leaves(m):
                return m
        return None

    def leaves(self, m):
        """True if the source leaves Pipelined, or closes, with this message."""
        return m.mid == DISCONN or self.half.concerned(self.source, m)

    def non_discards(self, heard):
        """The sink's count after it has received `heard` messages."""
        return sum(m.payload > 0 and m not in self.discards for m in self.source.messages[:heard])

    def out(self, m):
        """The SinkAvails that are outstanding when the sink sends `m`."""
        return [sinkavail for sinkavail in self.sinkavails if sinkavail.out(m)]


def flows(connection):
    return [Flow(connection, side) for side, _ in connection.sides()]


def shown(connection):
    """Fates of the SinkAvails, in the words of traffic.c's srcavails=."""
    return {sinkavail.fate for flow in flows(connection) for sinkavail in flow.sinkavails}
