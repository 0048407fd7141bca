# SPDX-License-Identifier: GPL-2.0
"""Rules for SinkAvail, RDMA writes and what follows from them (C5-C8)."""
import sinkavails
import srcavails
import resize
from sinkavails import HELLO_ACK_HELD, HELLO_HELD, SINK_AVAIL, SINK_CANCEL, SINK_CANCEL_ACK
from modes import Half, MODE_CHANGE, name, PIPELINED
from resize import BSDH_LEN, DISCONN


def sinkavail_modes(connection, facts):
    """C5: the sink sends SinkAvail and SinkAvailCancel in Pipelined only, and to a source that has
    not closed.
    """
    for source, sink in connection.sides():
        closed = min((m.mseq for m in source.messages if m.mid == DISCONN), default=None)
        for m, mode in Half(connection, source).walk(sink):
            if m.mid not in (SINK_AVAIL, SINK_CANCEL):
                continue
            if mode != PIPELINED:
                yield f"{sink.name}: {m}: MID {m.mid:#x}, the mode is {name(mode)}"
            if closed and m.ack >= closed:
                yield f"{sink.name}: {m}: MID {m.mid:#x}, the {source.name} will send no more"


def sinkavail_sizes(connection, facts):
    """The memory of a SinkAvail has room for any message that could come instead."""
    for side, _ in connection.sides():
        for m, end in resize.walk(connection, facts, side):
            if m.mid == SINK_AVAIL and m.whole < end.recv_size - BSDH_LEN:
                yield f"{side.name}: {m}: a buffer of {m.whole}, receives have {end.recv_size}"


def sinkavails_most(connection, facts):
    """The number of outstanding SinkAvails does not exceed what the source can hold according to
    its Hello: by an extension, otherwise by MaxAdverts.
    """
    asked, answered = connection.request.private_data(), connection.reply.private_data()
    hold = {"client": asked[HELLO_HELD + 5] or asked[19],
            "server": answered[HELLO_ACK_HELD + 5] or answered[19]}
    for flow in sinkavails.flows(connection):
        for sinkavail in flow.sinkavails:
            out = flow.out(sinkavail.message)
            if len(out) >= hold[flow.source.name]:
                yield (f"{flow.sink.name}: {sinkavail.message}: {len(out)} buffers are out, the "
                       f"{flow.source.name} can hold {hold[flow.source.name]}")


def sinkavail_counts(connection, facts):
    """C7: NonDiscards is the number of messages with payload that the sink has received, without
    those that have discarded a SinkAvail.
    """
    for flow in sinkavails.flows(connection):
        for sinkavail in flow.sinkavails:
            m = sinkavail.message
            count = flow.non_discards(m.ack)
            if m.non_discards != count:
                yield f"{flow.sink.name}: {m}: NonDiscards is {m.non_discards}, not {count}"


def sinkavail_answers(connection, facts):
    """C8: a SinkAvail answers a SrcAvail only if no part of that was read, or will be."""
    for direction in srcavails.directions(connection):
        for srcavail in direction.srcavails:
            if not srcavail.overtaken:
                continue
            for what in srcavail.reads + srcavail.reports:
                if what.number < srcavail.end.number:
                    yield f"{direction.sink.name}: {srcavail.end} answers {srcavail}, after {what}"


def sinkavail_keys(connection, facts):
    """SinkAvails that are outstanding at the same time have different keys."""
    for flow in sinkavails.flows(connection):
        for sinkavail in flow.sinkavails:
            m = sinkavail.message
            for other in flow.out(m):
                if other.message.rkey == m.rkey:
                    yield f"{flow.sink.name}: {m} has the key {m.rkey:#x} of {other}"


def writes_within(connection, facts):
    """Writes go to the oldest SinkAvail that is not stale, with its key, contiguously from its
    beginning."""
    for flow in sinkavails.flows(connection):
        for write, oldest in flow.stray_writes:
            yield (f"{flow.source.name}: {write} with the key {write.rkey:#x}, " +
                   (f"the oldest is {oldest} with {oldest.message.rkey:#x}" if oldest else
                    "no buffer is there"))
        for filling in flow.fillings:
            m = filling.sinkavail.message
            following = m.va
            for write in filling.writes:
                if write.va != following:
                    yield f"{flow.source.name}: {write} to {write.va:#x}, {following:#x} is next"
                if not m.va <= write.va <= write.va + write.length <= m.va + m.whole:
                    yield (f"{flow.source.name}: {write} to {write.va:#x}, {filling.sinkavail} is "
                           f"{m.va:#x} to {m.va + m.whole:#x}")
                following = write.va + write.length


def writes_whole(connection, facts):
    """A write carries as many bytes as its header says."""
    for side, _ in connection.sides():
        for write in side.writes:
            if not write.complete or write.bytes != write.length:
                yield f"{side.name}: {write} carries {write.bytes}"


def write_reports(connection, facts):
    """RdmaWrCompl reports the bytes written for a SinkAvail, once for each."""
    for flow in sinkavails.flows(connection):
        for m in flow.stray_reports:
            yield f"{flow.source.name}: {m} reports {m.count}, and nothing was written"
        for filling in flow.fillings:
            if filling.report is None:
                yield f"{flow.source.name}: {filling.writes[-1]} is not reported"
            elif filling.report.count != filling.length:
                yield (f"{flow.source.name}: {filling.report} reports {filling.report.count}, "
                       f"{filling.length} were written")


def write_order(connection, facts):
    """The report of a write precedes all later data: payload, a SrcAvail, a change of the mode,
    the answer to a cancellation, and DisConn.
    """
    for flow in sinkavails.flows(connection):
        for filling in flow.fillings:
            begin = filling.last.mseq if filling.last else 0
            end = filling.report.mseq if filling.report else len(flow.source.messages) + 1
            for m in flow.source.messages:
                stream = (m.payload > 0 or m.mid in (srcavails.SRC_AVAIL, SINK_CANCEL_ACK, DISCONN)
                          or m.mid == MODE_CHANGE and flow.half.concerned(flow.source, m))
                if stream and begin < m.mseq < end:
                    yield f"{flow.source.name}: {m} before the report of {filling.writes[0]}"


def cancel_settled(connection, facts):
    """SinkAvailCancel is sent if any SinkAvail is outstanding. Until it is settled, there is no
    new SinkAvail and no other cancellation.
    """
    for flow in sinkavails.flows(connection):
        before = []
        for m in flow.sink.messages:
            out = flow.out(m)
            if m.mid in (SINK_AVAIL, SINK_CANCEL):
                for cancel in before:
                    if any(sinkavail.message.mseq < cancel.mseq for sinkavail in out):
                        yield (f"{flow.sink.name}: {m}: MID {m.mid:#x}, the cancel in frame "
                               f"{cancel.number} is not settled")
            if m.mid == SINK_CANCEL:
                if not out:
                    yield f"{flow.sink.name}: {m} takes buffers back, and none is out"
                before.append(m)


def cancel_answers(connection, facts):
    """SinkCancelAck is sent once if anything was cancelled, and before later data."""
    for flow in sinkavails.flows(connection):
        for m in flow.stray_answers:
            yield f"{flow.source.name}: {m} answers, and nothing was taken back"
        for cancel in flow.cancels:
            if not cancel.taken:
                continue
            if cancel.answer is None:
                yield (f"{flow.source.name}: no answer to the cancel in frame "
                       f"{cancel.message.number}")
                continue
            for m in flow.source.messages[cancel.before - 1:cancel.answer.mseq - 1]:
                if m.payload > 0 or m.mid in (srcavails.SRC_AVAIL, DISCONN):
                    yield (f"{flow.source.name}: {m} before the answer to the cancel in frame "
                           f"{cancel.message.number}")


RULES = (sinkavail_modes, sinkavail_sizes, sinkavails_most, sinkavail_counts, sinkavail_answers,
         sinkavail_keys,
         writes_within, writes_whole, write_reports, write_order, cancel_settled, cancel_answers)
