# SPDX-License-Identifier: GPL-2.0
"""Test cases of selftest.py for sinkavail_rules.py, and for other rules in Pipelined mode.

All of them change the conversation of conversation.py, in which the client is the source of
nearly all data. Advertisements are found by their keys.
"""
import decode
from sinkavails import SINK_AVAIL, SINK_CANCEL, SINK_CANCEL_ACK
from case import ACK, ALONE, breaks, BUFS, CASES, FLAGS, keeps, LEN, MID, MSEQ, RETH
from conversation import HELD, number, region, va_of
from modes import MODE_CHANGE
from srcavail_cases import COUNT, EXTENDED, not_having_heard, PAYLOAD, RKEY, shown, WHOLE
from srcavails import RDMA_RD_COMPL, REQ_PIPE, SENDSM, SRC_AVAIL
from resize import DATA, DISCONN, RDMA_WR_COMPL
from sample import BTH

ON = "pipelined"
NON_DISCARDS, SINK_PAYLOAD = EXTENDED + 16, EXTENDED + 20
WRITE_VA, WRITE_RKEY, WRITE_LEN = RETH, RETH + 8, RETH + 12


def buffer(case, key):
    return next(f for f in case.of_kind("server", SINK_AVAIL) if f.get(RKEY, 4) == key)


def srcavail(case, key):
    return next(f for f in case.of_kind("client", SRC_AVAIL) if f.get(RKEY, 4) == key)


def write(case, key):
    """The first packet of the last write into the memory of a SinkAvail."""
    return [f for f in case.of("client", decode.WRITE_FIRST, decode.WRITE_ONLY)
            if f.get(WRITE_RKEY, 4) == key][-1]


def report(case, key):
    """The RdmaWrCompl for the memory of a SinkAvail."""
    written = write(case, key)
    return next(f for f in case.of_kind("client", RDMA_WR_COMPL) if f.time > written.time)


def read_report(case, key):
    """The RdmaRdCompl for a SrcAvail."""
    number_of = srcavail(case, key).get(MSEQ, 4)
    return next(f for f in case.of_kind("server", RDMA_RD_COMPL) if f.get(ACK, 4) >= number_of)


def cancels(case):
    return case.of_kind("server", SINK_CANCEL)


def answer(case):
    return case.of_kind("client", SINK_CANCEL_ACK)[0]


def changes(case):
    return case.of_kind("client", MODE_CHANGE)


def more(case, count):
    case.set_fact("up", case.facts().up + count)


def insert_buffer(case, before, key, non_discards, length=3000):
    return case.insert("server", before, SINK_AVAIL, region(key, length) + number(non_discards))


def insert_data(case, before, count=10):
    more(case, count)
    return case.insert("client", before, DATA, bytes(count))


# SinkAvail, and when it is allowed.

@breaks("sinkavail_modes", on=ON)
def buffer_before_pipelined(case):
    insert_buffer(case, read_report(case, 0x1101), 0x2301, 1)


@breaks("sinkavail_modes", on=ON)
def buffer_after_pipelined(case):
    insert_buffer(case, read_report(case, 0x1106), 0x2301, 4)


@breaks("sinkavail_modes", on=ON)
def taken_back_after_pipelined(case):
    case.insert("server", read_report(case, 0x1106), SINK_CANCEL)


@breaks("sinkavail_modes", on=ON)
def buffer_for_who_has_closed(case):
    """The client closes where it left Pipelined."""
    case.set_rest(changes(case)[1], DISCONN)
    late = insert_buffer(case, buffer(case, 0x220d), 0x2301, 3)
    late.put(ACK, 4, case.disconn("client").get(MSEQ, 4))


@breaks("sinkavail_sizes", on=ON, alone=True)
def buffer_shorter_than_a_message(case):
    buffer(case, 0x2208).put(WHOLE, 4, case.facts().recv_buffer_size - 17)


@keeps("sinkavail_sizes", on=ON)
def buffer_as_long_as_a_message(case):
    buffer(case, 0x2208).put(WHOLE, 4, case.facts().recv_buffer_size - 16)


def insert_buffers(case, count):
    last = buffer(case, 0x2109)
    for key in range(0x2301, 0x2301 + count):
        last = insert_buffer(case, last, key, 3)


@breaks("sinkavails_most", on=ON, alone=True)
def more_than_the_source_can_hold(case):
    insert_buffers(case, HELD - 2 + 1)


@breaks(None, on=ON)
def as_many_as_the_source_can_hold(case):
    insert_buffers(case, HELD - 2)
    buffers = sum(len(list(case.of_kind(side, SINK_AVAIL))) for side in ("client", "server"))
    case.stat["SinkAvailSent"] = case.stat["SinkAvailReceived"] = buffers


@breaks("sinkavail_counts", on=ON)
def counts_a_message_that_has_discarded_one(case):
    for frame in case.of_kind("server", SINK_AVAIL):
        if frame.get(ACK, 4) >= case.data("client")[0].get(MSEQ, 4):
            frame.add(NON_DISCARDS, 4, 1)


@breaks("sinkavail_counts", on=ON)
def does_not_count_what_it_has_heard(case):
    buffer(case, 0x2105).put(NON_DISCARDS, 4, 2)


@breaks("sinkavail_counts", on=ON, alone=True)
def counts_what_it_has_not_heard(case):
    """In any case nothing is written to this one."""
    buffer(case, 0x220d).add(NON_DISCARDS, 4, 1)


@breaks("sinkavail_answers", on=ON)
def buffer_for_what_was_read(case):
    done = read_report(case, 0x1103)
    more(case, -done.get(COUNT, 4))
    case.set_rest(done, SINK_AVAIL, region(0x2301, 3000) + number(3))


@breaks("sinkavail_keys", on=ON)
def two_buffers_with_a_key(case):
    buffer(case, 0x2109).put(RKEY, 4, 0x2208)


@breaks("srcavail_keys", on=ON)
def key_of_the_buffer_before(case):
    buffer(case, 0x210a).put(RKEY, 4, 0x2109)


# Writes.

def move_write(case, key, to):
    """All writes for one SinkAvail go to another one, at the same offset."""
    for frame in case.of("client", decode.WRITE_FIRST, decode.WRITE_ONLY):
        if frame.get(WRITE_RKEY, 4) == key:
            frame.add(WRITE_VA, 8, va_of(to) - va_of(key))
            frame.put(WRITE_RKEY, 4, to)


@breaks("keys_revoked", on=ON, alone=True)
def written_and_not_revoked(case):
    case.of_kind("client", RDMA_WR_COMPL)[0].revoked = None


@breaks("keys_revoked", on=ON, alone=True)
def another_buffer_revoked(case):
    case.of_kind("client", RDMA_WR_COMPL)[1].revoked += 1


@breaks("writes_within", on=ON)
def write_with_another_key(case):
    write(case, 0x2105).add(WRITE_RKEY, 4, 1)


@breaks("writes_within", on=ON)
def write_with_the_key_of_an_srcavail(case):
    write(case, 0x2105).put(WRITE_RKEY, 4, 0x1104)


@breaks("writes_within", on=ON)
def write_into_the_second_first(case):
    move_write(case, 0x2101, 0x2202)


@breaks("writes_within", on=ON)
def write_into_what_was_reported(case):
    """It has room left, but it has ended."""
    move_write(case, 0x2105, 0x2202)


@breaks("writes_within", on=ON)
def write_into_what_was_discarded(case):
    move_write(case, 0x2105, 0x2103)


@breaks("writes_within", on=ON)
def write_into_what_is_stale(case):
    move_write(case, 0x2105, 0x2204)


@breaks("writes_within", on=ON)
def write_into_what_was_taken_back(case):
    move_write(case, 0x210a, 0x2208)


@breaks("writes_within", on=ON)
def write_that_had_not_heard_of_the_buffer(case):
    not_having_heard(report(case, 0x2105), buffer(case, 0x2105))


@breaks("writes_within", on=ON)
def write_after_the_mode_was_left(case):
    case.set_rest(srcavail(case, 0x1104), MODE_CHANGE, bytes([0x10, 0, 0, 0]))


@breaks("writes_within", on=ON, alone=True)
def write_not_from_the_beginning(case):
    write(case, 0x2105).add(WRITE_VA, 8, -1)
    buffer(case, 0x2105).add(EXTENDED + 8, 8, -2)
    buffer(case, 0x2105).add(WHOLE, 4, 2)


@breaks("writes_within", on=ON, alone=True)
def write_behind_the_end(case):
    buffer(case, 0x2105).add(WHOLE, 4, -1)


@breaks("writes_within", on=ON, alone=True)
def second_write_with_a_gap(case):
    write(case, 0x2202).add(WRITE_VA, 8, 1)


@breaks("writes_within", on=ON, alone=True)
def second_write_over_the_first(case):
    write(case, 0x2202).add(WRITE_VA, 8, -1)


@breaks("writes_whole", on=ON, alone=True)
def write_carries_less_than_it_says(case):
    write(case, 0x2202).add(WRITE_LEN, 4, 1)
    report(case, 0x2202).add(COUNT, 4, 1)
    more(case, 1)


@breaks("writes_whole", on=ON)
def write_does_not_end(case):
    last = case.of("client", decode.WRITE_LAST)[0]
    last.put(BTH, 1, decode.WRITE_MIDDLE)


@breaks("packets", on=ON)
def write_without_its_middle(case):
    case.frames.remove(case.of("client", decode.WRITE_MIDDLE)[0])


# Reports of writes.

@breaks("write_reports", on=ON, alone=True)
def reports_more_than_was_written(case):
    report(case, 0x2105).add(COUNT, 4, 1)
    more(case, 1)


@breaks("write_reports", on=ON, alone=True)
def reports_less_than_was_written(case):
    report(case, 0x2202).add(COUNT, 4, -1)
    more(case, -1)


@breaks("write_reports", on=ON, alone=True)
def reports_twice(case):
    case.insert("client", report(case, 0x2202), RDMA_WR_COMPL, number(100))
    more(case, 100)


@breaks("write_reports", on=ON, alone=True)
def reports_what_was_never_written(case):
    case.insert("client", case.data("client")[1], RDMA_WR_COMPL, number(1))
    more(case, 1)


@breaks("write_reports", on=ON)
def write_is_not_reported(case):
    case.set_rest(report(case, 0x210a), DATA)


@breaks("write_order", on=ON)
def data_before_the_report(case):
    done, data = report(case, 0x2202), case.data("client")[0]
    count, payload = done.get(COUNT, 4), data.get(LEN, 4) - 16
    case.set_rest(done, DATA, bytes(payload))
    case.set_rest(data, RDMA_WR_COMPL, number(count))


@breaks("write_order", on=ON)
def disconn_before_the_report(case):
    case.set_rest(report(case, 0x2202), DISCONN)


@breaks("write_order", on=ON)
def change_before_the_report(case):
    case.set_rest(report(case, 0x210a), MODE_CHANGE, bytes([0x10, 0, 0, 0]))


@breaks("write_order", on=ON)
def second_buffer_before_the_report(case):
    """One report, in place of the first one's, covers both writes."""
    case.set_rest(report(case, 0x2101), DATA, bytes(16))


# Cancellation.

@breaks("cancel_settled", on=ON, alone=True)
def nothing_is_out(case):
    case.insert("server", read_report(case, 0x1103), SINK_CANCEL)


@breaks("cancel_settled", on=ON, alone=True)
def taken_back_again(case):
    case.insert("server", cancels(case)[0], SINK_CANCEL)


@breaks("cancel_settled", on=ON)
def buffer_before_it_is_settled(case):
    not_having_heard(buffer(case, 0x210a), answer(case))


@breaks("cancel_answers", on=ON)
def cancel_is_not_answered(case):
    case.set_rest(answer(case), DATA)


@breaks("cancel_answers", on=ON, alone=True)
def cancel_is_answered_twice(case):
    case.insert("client", answer(case), SINK_CANCEL_ACK)


@breaks("cancel_answers", on=ON, alone=True)
def cancel_that_took_nothing_is_answered(case):
    late = case.insert("client", report(case, 0x210a), SINK_CANCEL_ACK)
    late.put(ACK, 4, cancels(case)[1].get(MSEQ, 4))
    late.time = cancels(case)[1].time + 1


@breaks("cancel_answers", on=ON)
def data_before_the_answer(case):
    before = case.sends("client")[answer(case).get(MSEQ, 4) - 2]
    late = insert_data(case, before)
    late.put(ACK, 4, answer(case).get(ACK, 4))
    late.time = answer(case).time - 1


@breaks("cancel_answers", on=ON)
def srcavail_before_the_answer(case):
    before = case.sends("client")[answer(case).get(MSEQ, 4) - 2]
    late = case.insert("client", before, SRC_AVAIL, region(0x1301, 3000))
    late.put(ACK, 4, answer(case).get(ACK, 4))
    late.time = answer(case).time - 1


# SrcAvail in Pipelined.

@breaks("srcavail_forms", on=ON)
def bytes_go_along_in_pipelined(case):
    first = srcavail(case, 0x1103)
    case.set_rest(first, SRC_AVAIL, bytes(first.data[EXTENDED:PAYLOAD]) + bytes(10))


@breaks("srcavail_forms", on=ON)
def nothing_goes_along_after_pipelined(case):
    last = srcavail(case, 0x1106)
    case.set_rest(last, SRC_AVAIL, bytes(last.data[EXTENDED:PAYLOAD]))


@breaks("srcavails_single", on=ON)
def srcavail_while_one_was_not_overtaken(case):
    """A stale SinkAvail does not end a SrcAvail."""
    buffer(case, 0x2105).put(NON_DISCARDS, 4, 2)


@breaks("srcavail_answers", on=ON)
def refusal_of_what_was_overtaken(case):
    """Overtaken by a SinkAvail that the server had sent before it received the SrcAvail."""
    refusal = case.insert("server", buffer(case, 0x2206), SENDSM)
    refusal.put(ACK, 4, srcavail(case, 0x1105).get(MSEQ, 4))


@breaks("reads_open", on=ON)
def read_of_what_was_overtaken(case):
    """As if the SinkAvail before it were not stale but the answer."""
    found = buffer(case, 0x2204)
    found.put(NON_DISCARDS, 4, 3)
    found.put(ACK, 4, srcavail(case, 0x1103).get(MSEQ, 4))
    not_having_heard(srcavail(case, 0x1103), found)
    found.time = srcavail(case, 0x1103).time + 1


@breaks("srcavail_order", on=ON)
def written_while_an_srcavail_is_out(case):
    buffer(case, 0x2105).put(NON_DISCARDS, 4, 2)


# Credit.

@keeps("last_credit", on=ON)
def report_of_a_write_with_the_last_credit(case):
    done = report(case, 0x2105)
    case.make_last_credit("client", done)
    done.put(BUFS, 2, case.left_before("client", done) + 1)


@breaks("last_credit", on=ON)
def report_of_a_write_with_the_last_credit_grants_nothing(case):
    done = report(case, 0x2105)
    case.make_last_credit("client", done)
    done.put(BUFS, 2, case.left_before("client", done))


@breaks("last_credit", on=ON)
def taken_back_with_the_last_credit_grants_nothing(case):
    case.make_last_credit("server", cancels(case)[0])
    cancels(case)[0].put(BUFS, 2, case.left_before("server", cancels(case)[0]))


@keeps("last_credit", on=ON)
def buffer_as_an_answer_with_the_last_credit(case):
    found = buffer(case, 0x2105)
    case.make_last_credit("server", found)
    found.put(BUFS, 2, case.left_before("server", found) + 1)


@breaks("last_credit", on=ON)
def buffer_with_the_last_credit(case):
    found = buffer(case, 0x210a)
    case.make_last_credit("server", found)
    found.put(BUFS, 2, case.left_before("server", found) + 1)


@breaks("last_credit", on=ON)
def buffer_with_payload_with_the_last_credit(case):
    """Also as an answer."""
    found = buffer(case, 0x2105)
    case.set_rest(found, SINK_AVAIL, bytes(found.data[EXTENDED:SINK_PAYLOAD]) + bytes(10))
    case.make_last_credit("server", found)
    found.put(BUFS, 2, case.left_before("server", found) + 1)


@keeps("grants", on=ON)
def one_receive_to_spare(case):
    last = case.sends("server")[-1]
    last.put(BUFS, 2, case.facts().recv_buffers + 1)


@breaks("grants", on=ON, alone=True)
def two_receives_to_spare(case):
    last = case.sends("server")[-1]
    last.put(BUFS, 2, case.facts().recv_buffers + 2)


@breaks("grants", on=ON, alone=True)
def one_to_spare_of_who_has_no_buffers(case):
    last = case.sends("client")[-1]
    last.put(BUFS, 2, case.facts().recv_buffers + 1)


# Modes.

def unwish(case, *keys):
    for key in keys:
        read_report(case, key).put(FLAGS, 1, 0)


@breaks("kinds", on=ON, alone=True)
def data_wishes_for_pipelined(case):
    case.data("client")[0].put(FLAGS, 1, REQ_PIPE)


@breaks("mode_learnt", on=ON)
def pipelined_too_early(case):
    case.set_fact("mode_after", 3)


@breaks("mode_learnt", on=ON, alone=True)
def pipelined_without_the_wish(case):
    unwish(case, 0x1101)


@breaks("mode_learnt", on=ON, alone=True)
def srcavails_after_enough_wishes(case):
    case.set_fact("mode_after", 1)


@breaks("mode_learnt", on=ON)
def leaves_though_there_was_a_write_in_between(case):
    """The last SinkAvail but one is filled instead of being discarded."""
    data = case.data("client")[-2]
    case.set_rest(data, RDMA_WR_COMPL, number(70))


@keeps("mode_learnt", on=ON)
def leaves_after_a_refusal(case):
    """One refusal is enough, but only one without the request for Pipelined."""
    case.set_rest(read_report(case, 0x1103), SENDSM)
    case.set_rest(srcavail(case, 0x1104), MODE_CHANGE, bytes([0x10, 0, 0, 0]))
    changes(case)[2].put(MID, 1, DATA)


@breaks("mode_learnt", on=ON)
def leaves_after_a_refusal_that_wishes_for_writes(case):
    refusal = read_report(case, 0x1103)
    case.set_rest(refusal, SENDSM)
    refusal.put(FLAGS, 1, REQ_PIPE)
    case.set_rest(srcavail(case, 0x1104), MODE_CHANGE, bytes([0x10, 0, 0, 0]))


@breaks("mode_changes", on=ON)
def from_pipelined_to_buffered(case):
    changes(case)[1].put(EXTENDED, 1, 0x00)


@breaks("mode_changes", on=ON)
def to_pipelined_twice(case):
    case.insert("client", changes(case)[0], MODE_CHANGE, bytes([0x20, 0, 0, 0]))


@breaks("mode_changes", on=ON)
def sink_changes_to_pipelined(case):
    case.insert("server", read_report(case, 0x1101), MODE_CHANGE, bytes([0xa0, 0, 0, 0]))


@breaks("mode_quiet", on=ON)
def to_pipelined_while_an_srcavail_is_out(case):
    not_having_heard(changes(case)[0], read_report(case, 0x1102))


# The end.

@breaks("disconn", on=ON)
def payload_with_a_buffer_after_disconn(case):
    last = buffer(case, 0x210a)
    case.set_rest(last, SINK_AVAIL, bytes(last.data[EXTENDED:SINK_PAYLOAD]) + bytes(10))
    case.set_fact("down", case.facts().down + 10)


@breaks("disconn", on=ON)
def report_of_a_write_after_disconn(case):
    case.insert("client", case.disconn("client"), RDMA_WR_COMPL, number(1))


@breaks("payload", on=ON, alone=True)
def written_bytes_missing(case):
    more(case, 1)


@breaks("payload", on=ON, alone=True)
def bytes_with_a_buffer_missing(case):
    case.set_fact("down", case.facts().down - 1)


shown(ON, "open", "both", "declined", "to-buffered")
for counter in ("BytesSent", "DataSent", "SrcAvailCrossed", "ModePipelined", "SinkAvailSent",
                "SinkAvailReceived", "RdmaWriteBytes", "RdmaWriteBytesByPeer"):
    def counted_otherwise(case, name=counter):
        case.stat[name] = -1
    CASES.append(("counters", ON, counter, counted_otherwise, ALONE))
