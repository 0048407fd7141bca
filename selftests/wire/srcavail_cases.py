# SPDX-License-Identifier: GPL-2.0
"""Test cases of selftest.py for srcavails.py.

In all of these connections the client is the source. small-declined has one SrcAvail, of which
nothing is read; small-rest-refused has one, of which the server reads a part; small-parts has
two, each read in two parts; small-cancelled has one that is cancelled.
"""
import copy

import decode
from case import ACK, ALONE, breaks, BUFS, CASES, keeps, MID, MSEQ, PSN, RETH
from srcavails import RDMA_RD_COMPL, SENDSM, SRC_AVAIL, SRC_CANCEL
from resize import DATA
from sample import BSDH, BTH, MAD_DATA

EXTENDED = BSDH + 16
# Offsets in SrcAvail, in RdmaRdCompl, and in a request for an RDMA read.
WHOLE, RKEY, PAYLOAD = EXTENDED, EXTENDED + 4, EXTENDED + 16
COUNT = EXTENDED
READ_VA, READ_RKEY = RETH, RETH + 8


def source_srcavails(case):
    return case.of_kind("client", SRC_AVAIL)


def reports(case):
    return case.of_kind("server", RDMA_RD_COMPL)


def sendsm(case):
    return case.of_kind("server", SENDSM)[0]


def responses(case, *opcodes):
    return case.of("client", *opcodes or decode.RESPONSES)


def not_having_heard(message, news):
    message.put(ACK, 4, news.get(MSEQ, 4) - 1)


# Changes that break no rule.

@breaks(None, on="small-parts")
def read_again(case):
    """A read whose response was lost is requested and answered again, with the same numbers."""
    read = case.reads("server")[0]
    answers = responses(case)[:2]
    for offset, frame in enumerate([read] + answers, 1):
        again = copy.deepcopy(frame)
        again.time = answers[-1].time + offset
        case.frames.append(again)


@breaks(None, on="small-parts")
def second_half_read_again(case):
    """It may ask for the remainder only; the first packet of that response is then also
    the last.
    """
    read, answer = copy.deepcopy(case.reads("server")[0]), copy.deepcopy(responses(case)[1])
    read.add(PSN, 3, 1)
    read.time, answer.time = answer.time + 1, answer.time + 2
    answer.put(BTH, 1, decode.RESPONSE_ONLY)
    case.frames += [read, answer]


@breaks(None, on="small-parts")
def cancel_crosses_the_end(case):
    case.insert("client", source_srcavails(case)[0], SRC_CANCEL)


@breaks(None, on="small-parts")
def packet_numbers_of_reads_wrap(case):
    """The server's packet numbers wrap at 2^24 in the response to its first read."""
    own = case.of("server", *decode.SENDS, decode.READ_REQUEST)
    shift = -case.reads("server")[0].get(PSN, 3) - 1
    for frame in own + responses(case):
        frame.add(PSN, 3, shift)
    case.cm("REQ").add(MAD_DATA + 44, 3, shift)


# Completeness of requests and responses.

@breaks("packets", on="small-parts")
def answer_lost(case):
    case.frames.remove(responses(case, decode.RESPONSE_FIRST)[0])


@breaks("packets", on="small-parts")
def answer_ends_too_soon(case):
    responses(case, decode.RESPONSE_FIRST)[0].put(BTH, 1, decode.RESPONSE_ONLY)


@breaks("packets", on="small-parts")
def read_lost(case):
    case.frames.remove(case.reads("server")[0])


@breaks("read_answers", on="small-parts", alone=True)
def answer_too_short(case):
    answer = responses(case, decode.RESPONSE_ONLY)[0]
    del answer.data[-8:-4]
    case.fit(answer)


@breaks("read_answers", on="small-parts")
def no_answer(case):
    case.frames.remove(responses(case)[-1])


@breaks("sends_and_rdma", on="small-parts", alone=True)
def answer_to_nothing(case):
    answer = copy.deepcopy(responses(case)[-1])
    answer.add(PSN, 3, 1000)
    case.frames.append(answer)


@breaks("writes_within", on="small-parts")
def rdma_write_instead(case):
    case.reads("server")[0].put(BTH, 1, decode.WRITE_ONLY)


# SrcAvail: its contents, and when it is sent.

@breaks("srcavail_forms", on="small-declined", alone=True)
def nothing_is_left(case):
    case.set_fact("rdma_threshold", 200)
    srcavail = source_srcavails(case)[0]
    srcavail.put(WHOLE, 4, len(srcavail.data) - 4 - PAYLOAD)


@breaks("srcavail_forms", on="small-declined", alone=True)
def nothing_went_along(case):
    case.set_fact("rdma_threshold", 200)
    srcavail = source_srcavails(case)[0]
    first = len(srcavail.data) - 4 - PAYLOAD
    case.set_fact("up", case.facts().up - first)
    srcavail.add(WHOLE, 4, -first)
    case.set_rest(srcavail, SRC_AVAIL, bytes(srcavail.data[EXTENDED:PAYLOAD]))


@breaks("srcavail_settings", on="small-declined", alone=True)
def offered_though_switched_off(case):
    case.set_fact("rdma_threshold", 0)


@breaks("srcavail_settings", on="small-declined", alone=True)
def advertised_below_the_threshold(case):
    case.set_fact("rdma_threshold", source_srcavails(case)[0].get(WHOLE, 4) + 1)


@breaks("srcavail_settings", on="small-parts", alone=True)
def read_though_switched_off(case):
    case.set_fact("rdma_read", 0)


@breaks("srcavails_single", on="small-parts", alone=True)
def two_at_once(case):
    not_having_heard(source_srcavails(case)[1], reports(case)[1])


@breaks("srcavail_order", on="small-declined", alone=True)
def data_overtakes(case):
    not_having_heard(case.data("client")[0], sendsm(case))


@breaks("srcavail_order", on="small-rest-refused", alone=True)
def data_after_a_part_was_read(case):
    not_having_heard(case.data("client")[0], sendsm(case))


@breaks("srcavail_order", on="small-parts", alone=True)
def disconn_overtakes(case):
    not_having_heard(case.disconn("client"), reports(case)[3])


@breaks("srcavail_keys", on="small-parts", alone=True)
def same_key_again(case):
    first, second = source_srcavails(case)
    for frame, at in [(second, RKEY)] + [(read, READ_RKEY) for read in case.reads("server")]:
        frame.put(at, 4, first.get(RKEY, 4))
    reports(case)[3].revoked = first.get(RKEY, 4)


@breaks("keys_revoked", on="small-parts", alone=True)
def key_left_to_the_owner(case):
    reports(case)[3].revoked = None


@breaks("keys_revoked", on="small-parts", alone=True)
def another_key_revoked(case):
    reports(case)[1].revoked += 1


@breaks("keys_revoked", on="small-parts", alone=True)
def revoked_before_the_last_report(case):
    reports(case)[0].revoked = source_srcavails(case)[0].get(RKEY, 4)


@breaks("keys_revoked", on="small-declined", alone=True)
def declined_and_not_revoked(case):
    sendsm(case).revoked = None


# Reads.

@breaks("reads_open", on="small-parts")
def read_before_the_srcavail(case):
    case.reads("server")[0].time = source_srcavails(case)[0].time - 1


@breaks("reads_open", on="small-parts")
def read_after_the_last_report(case):
    case.set_fact("rdma_threshold", 200)
    first = source_srcavails(case)[0]
    inlined = len(first.data) - 4 - PAYLOAD
    first.put(WHOLE, 4, inlined + reports(case)[0].get(COUNT, 4))


@breaks("reads_open", on="small-parts")
def read_after_sendsm(case):
    case.set_rest(reports(case)[0], SENDSM)


@breaks("reads_open", on="small-parts", alone=True)
def read_after_the_cancel_was_heard(case):
    cancel = case.insert("client", source_srcavails(case)[0], SRC_CANCEL)
    for report in reports(case)[:2]:
        report.put(ACK, 4, cancel.get(MSEQ, 4))


@breaks("reads_within", on="small-parts", alone=True)
def read_with_another_key(case):
    case.reads("server")[1].add(READ_RKEY, 4, 1)


@breaks("reads_within", on="small-parts", alone=True)
def read_with_the_key_before(case):
    first, second = source_srcavails(case)
    for read in case.reads("server")[2:]:
        read.put(READ_RKEY, 4, first.get(RKEY, 4))
    assert first.get(RKEY, 4) != second.get(RKEY, 4)


@breaks("reads_within", on="small-parts", alone=True)
def read_of_what_went_along(case):
    for read in case.reads("server")[:2]:
        read.add(READ_VA, 8, -1)


@breaks("reads_within", on="small-parts", alone=True)
def read_behind_the_end(case):
    case.reads("server")[1].add(READ_VA, 8, 1)


@breaks("reads_once", on="small-parts", alone=True)
def read_twice(case):
    case.reads("server")[1].add(READ_VA, 8, -1)


@breaks("reads_once", on="small-parts")
def read_with_a_gap(case):
    for read in case.reads("server")[:2]:
        read.add(READ_VA, 8, 1)


# Credit: what an end that has sent or received a SrcAvail may do with little of it.

@keeps("last_credit", on="small-parts")
def report_with_the_last_credit(case):
    report = reports(case)[1]
    case.make_last_credit("server", report)
    report.put(BUFS, 2, case.left_before("server", report) + 1)


@breaks("last_credit", on="small-parts")
def report_with_the_last_credit_grants_nothing(case):
    report = reports(case)[1]
    case.make_last_credit("server", report)
    report.put(BUFS, 2, case.left_before("server", report))


@breaks("last_credit", on="small-declined")
def refusal_with_the_last_credit_grants_nothing(case):
    case.make_last_credit("server", sendsm(case))
    sendsm(case).put(BUFS, 2, case.left_before("server", sendsm(case)))


@breaks("last_credit", on="small-parts")
def srcavail_with_the_last_credit(case):
    case.make_last_credit("client", source_srcavails(case)[1])


def update_to_a_mute_end(case, before):
    """It grants less than T."""
    update = case.insert("client", before, DATA)
    before.put(BUFS, 2, 0)
    update.put(BUFS, 2, 1)
    return update


@keeps("updates", on="small-parts")
def update_for_the_answer(case):
    update_to_a_mute_end(case, source_srcavails(case)[1])


@breaks("updates", on="small-parts")
def update_with_nothing_to_answer(case):
    update_to_a_mute_end(case, case.disconn("client"))


@breaks("updates", on="small-parts")
def update_with_the_last_credit_for_the_answer(case):
    update = update_to_a_mute_end(case, source_srcavails(case)[1])
    case.make_last_credit("client", update)


@breaks("updates", on="small-parts")
def update_while_the_other_can_answer(case):
    case.insert("client", source_srcavails(case)[1], DATA)


def update_of_the_sink(case, before, told, bufs):
    """It grants less than T."""
    update = case.insert("server", before, DATA)
    before.put(BUFS, 2, told)
    update.put(BUFS, 2, bufs)
    return update


@keeps("updates", on="small-parts")
def update_for_the_cancel(case):
    update_of_the_sink(case, reports(case)[0], 1, 2)


@breaks("updates", on="small-parts")
def update_not_enough_for_the_cancel(case):
    update_of_the_sink(case, reports(case)[0], 0, 1)


@breaks("updates", on="small-parts")
def update_while_the_source_can_cancel(case):
    update_of_the_sink(case, reports(case)[0], 2, 3)


@breaks("updates", on="small-parts")
def update_with_nothing_to_cancel(case):
    update_of_the_sink(case, reports(case)[-1], 1, 2)


@breaks("updates", on="small-parts")
def update_with_the_last_credit_for_the_cancel(case):
    case.make_last_credit("server", update_of_the_sink(case, reports(case)[0], 1, 2))


# The sink's reports.

@breaks("read_reports", on="small-parts", alone=True)
def reports_more_than_was_read(case):
    first, second = reports(case)[:2]
    first.add(COUNT, 4, 10)
    second.add(COUNT, 4, -10)


@breaks("read_reports", on="small-parts", alone=True)
def reports_before_the_answer(case):
    responses(case)[1].time = reports(case)[0].time + 1


@breaks("read_reports", on="small-parts", alone=True)
def reports_nothing(case):
    case.insert("server", reports(case)[0], RDMA_RD_COMPL, bytes(4))


@breaks("read_reports", on="small-parts", alone=True)
def reports_more_than_was_advertised(case):
    case.set_fact("up", case.facts().up + 1)
    reports(case)[3].add(COUNT, 4, 1)


@breaks("read_reports", on="small-rest-refused")
def declines_before_it_reports(case):
    report = reports(case)[0]
    case.set_fact("up", case.facts().up - report.get(COUNT, 4))
    case.set_rest(report, DATA)


@breaks("srcavail_answers", on="small-parts", alone=True)
def sendsm_to_nothing(case):
    case.insert("server", reports(case)[3], SENDSM)


@breaks("srcavail_answers", on="small-declined", alone=True)
def declines_twice(case):
    case.insert("server", sendsm(case), SENDSM)


@breaks("srcavail_answers", on="small-parts", alone=True)
def reports_to_nothing(case):
    case.set_fact("up", case.facts().up + 1)
    case.insert("server", reports(case)[3], RDMA_RD_COMPL, bytes([0, 0, 0, 1]))


@breaks("srcavail_ends", on="small-parts")
def not_read_to_its_end(case):
    case.set_fact("up", case.facts().up - 1)
    reports(case)[3].add(COUNT, 4, -1)


@breaks("srcavail_ends", on="small-declined")
def neither_read_nor_declined(case):
    sendsm(case).put(MID, 1, DATA)


@breaks("srcavail_cancels", on="small-declined", alone=True)
def cancels_what_is_over(case):
    case.insert("client", case.data("client")[-1], SRC_CANCEL)


@breaks("srcavail_cancels", on="small-cancelled")
def cancels_twice(case):
    case.insert("client", case.of_kind("client", SRC_CANCEL)[0], SRC_CANCEL)


@breaks("srcavail_rest", on="small-declined", alone=True)
def rest_is_not_sent(case):
    source_srcavails(case)[0].add(WHOLE, 4, 1)


@breaks(None, on="small-declined")
def rest_is_given_up(case):
    """A writer with a time limit may do that."""
    source_srcavails(case)[0].add(WHOLE, 4, 1)
    case.set_fact("sndtimeo", 100)


@breaks("payload", on="small-parts", alone=True)
def part_was_not_written(case):
    case.set_fact("up", case.facts().up - 1)


@breaks("disconn", on="small-parts")
def cancel_after_disconn(case):
    case.insert("client", case.disconn("client"), SRC_CANCEL)


@breaks("resize_requests", on="small-rest")
def smaller_right_after_a_report(case):
    """As if the other end had just read the last bytes by RDMA."""
    request = case.requests("client")[1]
    report = case.insert("server", case.heard("client", request), RDMA_RD_COMPL, bytes(4))
    report.time = request.time - 1
    request.put(ACK, 4, report.get(MSEQ, 4))


def shown(on, *words):
    """Cases whose connection should have shown something that is not there."""
    for word in words:
        def change(case, word=word):
            case.set_fact("srcavails", word)
        CASES.append(("srcavails_shown", on, f"no_{word}_in_{on}", change, ALONE))


shown("small-packets", "read", "parts", "declined", "rest", "cancelled", "both")
shown("small-parts", "none", "read", "declined")
shown("small-declined", "cancelled", "rest")
shown("small-rest-refused", "declined")

for counter in ("SrcAvailSent", "SrcAvailReceived", "SrcAvailRead", "SrcAvailRefused",
                "SrcAvailDeclined",
                "RdmaReadBytes", "RdmaReadBytesByPeer"):
    def counted_otherwise(case, name=counter):
        case.stat[name] = -1
    CASES.append(("counters", "small-rest-refused", counter, counted_otherwise, ALONE))
