# SPDX-License-Identifier: GPL-2.0
"""Rules for ModeChange: who changes the mode of a half, when, and why (C1-C8)."""
import sinkavails
import srcavails
from modes import (BUFFERED, COMBINED, halves, MODE_CHANGE, name, NAMES, new_mode, PIPELINED,
                   REST_MASK)

SOURCE_MAY = {(COMBINED, BUFFERED), (COMBINED, PIPELINED), (PIPELINED, COMBINED)}
SINK_MAY = {(BUFFERED, COMBINED)}


def mode_forms(connection, facts):
    """ModeChange names a half and a mode; its other bits are zero."""
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid != MODE_CHANGE:
                continue
            if new_mode(m) not in NAMES:
                yield f"{side.name}: {m}: there is no mode {new_mode(m)}"
            if m.change & REST_MASK or m.reserved:
                yield f"{side.name}: {m}: reserved bits in {m.change:#04x} {m.reserved:06x}"


def mode_changes(connection, facts):
    """C1: the source leaves Combined and Pipelined, the sink leaves Buffered. Combined is between
    the other two modes. A change to the current mode is not allowed.
    """
    for half in halves(connection):
        for side, m, mode in half.changes():
            may = SINK_MAY if side is half.sink else SOURCE_MAY
            if (mode, new_mode(m)) not in may:
                yield (f"{side.name}: {m}: the {'sink' if side is half.sink else 'source'} "
                       f"changes from {name(mode)} to {name(new_mode(m))}")


def mode_quiet(connection, facts):
    """No mode changes while a SrcAvail is outstanding at the source, or open at the sink."""
    for half in halves(connection):
        for side, m, _ in half.changes():
            for srcavail in srcavails.of_source(connection, half.source):
                if srcavail.out(m) if side is half.source else srcavail.open_at(m):
                    yield f"{side.name}: {m} changes the mode while {srcavail} is out"


def mode_srcavails(connection, facts):
    """SrcAvail is sent in Combined and in Pipelined only."""
    for half in halves(connection):
        for m, mode in half.walk(half.source):
            if m.mid == srcavails.SRC_AVAIL and mode == BUFFERED:
                yield f"{half.source.name}: {m} srcavails, the mode is {name(mode)}"


class Learnt:
    """What the source has learnt about the reader since the last change: for each mode, the number
    of transfers in a row that spoke for it. A refusal in Pipelined counts as a full series.

    A writer that may give up cancels its SrcAvails, and a cancelled one does not count. If the
    cancellation is not on the wire, because the answer came first, there are a minimum and a
    maximum.
    """

    def __init__(self, facts, mode):
        self.enough = facts.mode_after
        self.unsure = bool(facts.sndtimeo)
        self.mode = mode
        self.least = dict.fromkeys(NAMES, 0)
        self.most = dict.fromkeys(NAMES, 0)
        self.missed = 0

    def begins_anew(self, unsure=False, but=None):
        for mode in NAMES:
            if mode != but:
                self.least[mode] = 0
                self.most[mode] *= unsure

    def speaks_for(self, mode, unsure=False):
        self.begins_anew(unsure, but=mode)
        self.least[mode] += not unsure
        self.most[mode] += 1

    def ended(self, srcavail):
        self.missed += self.mode == PIPELINED and not srcavail.overtaken
        if srcavail.cancels or srcavail.overtaken:
            return
        if self.mode == COMBINED and srcavail.wants_writes:
            self.speaks_for(PIPELINED, self.unsure)
        elif self.mode == COMBINED and srcavail.declined:
            self.speaks_for(BUFFERED, self.unsure)
        elif not srcavail.declined:
            self.begins_anew(self.unsure)
        elif not srcavail.wants_writes:
            self.most[COMBINED] = self.enough
            self.least[COMBINED] = 0 if self.unsure else self.enough

    def at_most(self, mode):
        """The wire does not show whether a SinkAvail came a little late, or too late to count."""
        return max(self.most.get(mode, 0), self.missed if mode == COMBINED else 0)

    def wants_change(self):
        return max(self.least.values()) >= self.enough


def learning(connection, facts, half):
    """Each message of the source, and what it has learnt by then."""
    discards = sinkavails.Flow(connection, half.source).discards
    ends = [o for o in srcavails.of_source(connection, half.source) if o.end is not None]
    learnt, heard = Learnt(facts, COMBINED), 0
    for m in half.source.messages:
        for news in half.sink.messages[heard:m.ack]:
            for srcavail in ends:
                if srcavail.end is news:
                    learnt.ended(srcavail)
            if half.concerned(half.sink, news):
                learnt = Learnt(facts, new_mode(news))
        heard = max(heard, m.ack)
        yield m, learnt
        if half.concerned(half.source, m):
            learnt = Learnt(facts, new_mode(m))
        elif m in discards:
            learnt.speaks_for(COMBINED)
        elif m.mid == sinkavails.RDMA_WR_COMPL:
            learnt.begins_anew()
            learnt.missed = 0


def mode_learnt(connection, facts):
    """C2: the source changes the mode after mode_after transfers of the same kind in a row, and
    sends no SrcAvail before it does.

    To Buffered: SrcAvails that were refused. To Pipelined: SrcAvails whose answers ask for it.
    Back: messages that have discarded a SinkAvail; one refusal, after which learning starts
    anew; or SrcAvails that were answered, with no SinkAvail written to between them.
    """
    for half in halves(connection):
        for m, learnt in learning(connection, facts, half):
            alike = learnt.at_most(new_mode(m)) if half.concerned(half.source, m) else None
            if alike is not None and alike < facts.mode_after:
                yield (f"{half.source.name}: {m} changes to {name(new_mode(m))} after {alike} "
                       f"transfers, not {facts.mode_after}")
            if m.mid == srcavails.SRC_AVAIL and learnt.wants_change():
                yield (f"{half.source.name}: {m} srcavails after {max(learnt.least.values())} "
                       "transfers that were alike")


def mode_wished(connection, facts):
    """C3: the sink changes to Combined if its program reads that much at once, and RDMA read is
    allowed."""
    written = {"client": facts.up, "server": facts.down}
    for half in halves(connection):
        most = min(facts.read, written[half.source.name])
        large = facts.rdma_read and facts.rdma_threshold and most >= facts.rdma_threshold
        for side, m, _ in half.changes():
            if side is half.sink and new_mode(m) == COMBINED and not large:
                yield (f"{side.name}: {m} asks for SrcAvail, the program reads {most} "
                       f"bytes, the threshold is {facts.rdma_threshold}")


RULES = (mode_forms, mode_changes, mode_quiet, mode_srcavails, mode_learnt, mode_wished)
