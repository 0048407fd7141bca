#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""selftest.py: the checker notices every violation.

Takes the recorded sample and conversations composed by hand (conversation.py), which break no
rule, and changes their bytes in one way at a time. The rule that the change breaks must
complain, and no complaint may be about another connection. Every rule must be broken by some
change. TAP on stdout.
"""
import copy
import os
import sys
import tempfile

import sinkavail_cases     # noqa: F401, it adds its cases to CASES
import check
import conversation
import decode
import demand_cases     # noqa: F401, it adds its cases to CASES
import mode_cases       # noqa: F401, it adds its cases to CASES
import srcavail_cases      # noqa: F401, it adds its cases to CASES
import ring_cases       # noqa: F401, it adds its cases to CASES
import ring_conversation
import rules
import sample
from case import ACK, ALONE, ALSO, breaks, BUFS, Case, CASES, FLAGS, LEN, MID, MSEQ, NOT, PSN, RETH
from sample import AETH, BSDH, BTH, IP_TOS, MAD_DATA

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = BSDH + 16
# Each case is tried together with these connections.
ALWAYS = ("small-packets", "refused", "reset")
SEND_ONLY_IMMEDIATE = 5
# Each case is in a network 10.x.y of its own, from this x.y on.
FIRST_NETWORK = 200 << 8
RETH_LENGTH = RETH + 12


def breaks_field(rule, what, kind, offset, size, on="small-packets"):
    """A change of one field of private data."""
    def change(case):
        frame = case.cm(kind)
        frame.add(frame.private_data + offset, size, 1)
    CASES.append((rule, on, f"{kind.lower()}_{what}", change, ALSO))


# Changes that break no rule.

@breaks(None)
def nothing(case):
    pass


@breaks(None)
def sent_again(case):
    first = case.of("client", decode.SEND_MIDDLE)[0]
    again = copy.deepcopy(first)
    again.time = first.time + 2000
    case.frames.append(again)


@breaks(None)
def request_sent_again(case):
    again = copy.deepcopy(case.cm("REQ"))
    again.time += 1000
    case.frames.append(again)


@breaks(None)
def packet_numbers_wrap(case):
    """All packet numbers of the client are shifted so that they wrap at 2^24 in the middle."""
    own = case.of("client", *decode.SENDS)
    shift = -own[len(own) // 2].get(PSN, 3)
    for frame in own:
        frame.add(PSN, 3, shift)
    case.cm("REP").add(MAD_DATA + 20, 3, shift)


HELLO_FIELDS = (
    ("mid", 0, 1), ("flags", 1, 1), ("bufs", 2, 2), ("len", 4, 4), ("mseq", 8, 4),
    ("mseqack", 12, 4), ("version", 16, 1), ("ipv_cap", 17, 1), ("reserved_18", 18, 1),
    ("max_adverts", 19, 1), ("des_rem_rcv_sz", 20, 4), ("local_rcv_sz", 24, 4),
    ("local_port", 28, 2), ("reserved_30", 30, 2), ("src_ip", 44, 4), ("src_ip_padding", 32, 1),
    ("dst_ip", 60, 4), ("dst_ip_padding", 59, 1), ("reserved_64", 64, 2),
    ("ext_max_adverts", 66, 2), ("reserved_68", 68, 1), ("held", 80, 4),
    ("reserved_91", 91, 1),
)
HELLO_ACK_FIELDS = (
    ("mid", 0, 1), ("flags", 1, 1), ("bufs", 2, 2), ("len", 4, 4), ("mseq", 8, 4),
    ("mseqack", 12, 4), ("version", 16, 1), ("reserved_17", 17, 1), ("reserved_18", 18, 1),
    ("max_adverts", 19, 1), ("act_rcv_sz", 20, 4), ("reserved_24", 24, 1), ("held", 36, 4),
    ("reserved_195", 195, 1),
)
for field in HELLO_FIELDS:
    breaks_field("hello", field[0], "REQ", *field[1:])
for field in HELLO_ACK_FIELDS:
    breaks_field("hello_ack", field[0], "REP", *field[1:])


@breaks("hello")
def req_minor_version_zero(case):
    req = case.cm("REQ")
    req.put(req.private_data + 16, 1, 0x20)


@breaks("request")
def no_req(case):
    case.frames.remove(case.cm("REQ"))


@breaks("strangers")
def unknown_req(case):
    req = copy.deepcopy(case.cm("REQ"))
    req.add(MAD_DATA, 4, 77)            # communication id
    req.add(MAD_DATA + 8, 8, 3)         # service id
    case.frames.append(req)


@breaks("strangers")
def unknown_queue_pair(case):
    case.sends("client")[0].add(BTH + 5, 3, 99)


@breaks("service_id")
def other_service_id_prefix(case):
    case.cm("REQ").put(MAD_DATA + 8, 6, 0x0106)


@breaks("service_id")
def rdma_cm_port_space(case):
    case.cm("REQ").add(MAD_DATA + 8, 6, 0x013f - 1)


@breaks("service_id", on="refused")
def other_gid(case):
    case.cm("REQ").add(MAD_DATA + 68, 4, 1)


@breaks("service_id")
def not_reliable(case):
    case.cm("REQ").put(MAD_DATA + 43, 1, case.cm("REQ").get(MAD_DATA + 43, 1) | 0x02)


@breaks("refusal", on="refused")
def other_reason(case):
    case.cm("REJ").put(MAD_DATA + 10, 2, 28)


@breaks("refusal", on="refused")
def no_rej(case):
    case.frames.remove(case.cm("REJ"))


@breaks("hello_ack")
def no_rep(case):
    case.frames.remove(case.cm("REP"))


@breaks("packets")
def first_packet_number(case):
    case.cm("REP").add(MAD_DATA + 20, 3, 1)


@breaks("packets")
def lost_middle(case):
    case.frames.remove(case.of("client", decode.SEND_MIDDLE)[0])


@breaks("packets")
def lost_last(case):
    case.frames.remove(case.of("client", decode.SEND_LAST)[-1])


@breaks("packets")
def first_twice(case):
    case.of("client", decode.SEND_MIDDLE)[0].put(BTH, 1, decode.SEND_FIRST)


@breaks("sequence")
def lost_message(case):
    case.frames.remove(case.updates("server")[0])


@breaks("traffic_class")
def class_of_client(case):
    case.data("client")[0].put(IP_TOS, 1, 8)


@breaks("traffic_class")
def class_of_server(case):
    for frame in case.of("server", decode.ACKNOWLEDGE):
        frame.put(IP_TOS, 1, 8)


def write_after_the_end(case, frame):
    write = copy.deepcopy(frame)
    write.put(BTH, 1, decode.WRITE_ONLY)
    write.time = max(other.time for other in case.frames) + 1
    case.frames.append(write)
    return write


@breaks(None)
def drained(case):
    """A DisConn has the length of what a write of length 0 has behind its BTH."""
    write_after_the_end(case, case.disconn("client")).put(RETH_LENGTH, 4, 0)


@breaks("writes_within")
def write_after_the_end_that_is_not_empty(case):
    write_after_the_end(case, case.disconn("client")).add(PSN, 3, 1)


@breaks("sends_and_rdma")
def empty_write_before_the_end(case):
    write_after_the_end(case, case.disconn("client")).put(RETH_LENGTH, 4, 0)
    case.frames[-1].time = case.disconn("client").time


@breaks("sends_and_rdma", on="reset")
def immediate_data(case):
    case.data("client")[0].put(BTH, 1, SEND_ONLY_IMMEDIATE)


@breaks("no_rnr")
def rnr_nak(case):
    case.of("server", decode.ACKNOWLEDGE)[1].put(AETH, 1, rules.RNR_NAK << 5 | 14)


@breaks("sinkavail_modes")
def sink_avail(case):
    case.data("server")[0].put(MID, 1, 0xfd)


@breaks("kinds")
def unknown_mid(case):
    case.data("client")[0].put(MID, 1, 0x42)


@breaks("kinds")
def urgent_pending(case):
    case.data("client")[1].put(FLAGS, 1, 2)


@breaks("kinds")
def reserved_flag(case):
    case.disconn("server").put(FLAGS, 1, 0x80)


@breaks("length")
def len_too_long(case):
    case.data("client")[0].add(LEN, 4, 1)


@breaks("length")
def len_too_short(case):
    case.data("server")[-1].add(LEN, 4, -4)


@breaks("length")
def len_of_disconn(case):
    case.disconn("client").put(LEN, 4, 0)


@breaks("length")
def other_padding(case):
    last = case.of("client", decode.SEND_LAST)[0]
    last.put(BTH + 1, 1, last.get(BTH + 1, 1) ^ 0x10)


@breaks("length")
def longer_than_the_buffer(case):
    case.set_fact("recv_buffer_size", 1000)


@breaks("sequence")
def number_skipped(case):
    case.data("client")[-1].add(MSEQ, 4, 1)


@breaks("sequence")
def number_repeated(case):
    case.disconn("server").add(MSEQ, 4, -1)


@breaks("sequence")
def begins_at_zero(case):
    for frame in case.sends("server"):
        frame.add(MSEQ, 4, -1)


@breaks("acknowledged")
def ack_ahead(case):
    case.data("client")[0].add(ACK, 4, 9)


@breaks("acknowledged")
def ack_one_ahead(case):
    case.disconn("server").put(ACK, 4, len(case.sends("client")) + 1)


@breaks("acknowledged")
def ack_back(case):
    case.disconn("server").put(ACK, 4, 0)


@breaks("grants")
def bufs_taken_back(case):
    case.disconn("server").put(BUFS, 2, 0)


@breaks("grants")
def bufs_above_all(case):
    case.data("server")[0].put(BUFS, 2, 13)


@breaks("credit")
def none_had_been_granted(case):
    last = case.data("client")[-1]
    case.heard("client", last).put(BUFS, 2, 0)


@breaks("credit")
def one_too_many(case):
    message = case.answered("client")[-1]
    header = case.heard("client", message)
    header.put(BUFS, 2, message.get(MSEQ, 4) - header.get(ACK, 4) - 1)


@breaks("credit")
def grant_was_not_heard(case):
    case.disconn("client").put(ACK, 4, 0)


@breaks("last_credit")
def data_with_the_last_credit(case):
    message = [f for f in case.data("client") if f.get(ACK, 4)][-1]
    case.make_last_credit("client", message)


@breaks("last_credit")
def disconn_with_the_last_credit(case):
    case.make_last_credit("server", case.disconn("server"))


@breaks("updates")
def grants_too_little(case):
    case.updates("server")[0].put(BUFS, 2, 8)


@breaks("updates")
def without_need(case):
    case.cm("REP").put(case.cm("REP").private_data + 2, 2, 12)


@breaks("payload")
def disconn_with_payload(case):
    case.data("server")[-1].put(MID, 1, rules.DISCONN)


@breaks("payload")
def bytes_missing(case):
    case.set_fact("up", 5001)


@breaks("payload", on="reset")
def bytes_too_many(case):
    case.set_fact("up", 299)


@breaks("payload", on="small-rest")
def answer_with_payload(case):
    message = case.data("client")[0]
    case.set_fact("up", case.facts().up - message.get(LEN, 4) + 16)
    message.put(MID, 1, rules.CHRCVBUF_ACK)


# The resize handshake. small-rest: the client's direction grows, shrinks, and does both again.

@breaks("resize_requests", on="small-rest")
def size_not_whole_pages(case):
    case.requests("client")[0].add(SIZE, 4, 256)


@breaks("resize_requests", on="small-rest")
def size_above_the_limit(case):
    case.set_fact("recv_buffer_max", case.requests("client")[0].get(SIZE, 4) - 1)


@breaks("resize_requests", on="small-rest")
def no_larger_size(case):
    case.requests("client")[0].put(SIZE, 4, case.facts().recv_buffer_size)


@breaks("resize_requests", on="small-rest")
def without_split_sends(case):
    case.set_fact("resize_after", 1000)


@breaks("resize_requests", on="small-rest")
def split_before_the_last_answer_only(case):
    """Its second growth, without a full message after its pause."""
    rest = case.answers("server")[1].get(MSEQ, 4)
    size = case.facts().recv_buffer_size
    for frame in case.data("client"):
        if frame.get(ACK, 4) >= rest and frame.get(LEN, 4) == size:
            frame.put(BTH + 1, 1, frame.get(BTH + 1, 1) ^ 0x10)


@breaks("resize_requests", on="small-refused")
def not_twice_as_many_after_a_refusal(case):
    """Not more than there are full messages, but more after doubling."""
    size = case.facts().recv_buffer_size
    full = sum(f.get(LEN, 4) == size for f in case.data("client"))
    case.set_fact("resize_after", full // 2 + 1)


@breaks("resize_requests", on="small-rest")
def second_request_before_the_answer(case):
    case.answers("server")[1].put(MID, 1, rules.DATA)


@breaks("resize_requests", on="small-rest")
def smaller_though_refused(case):
    """It has never been larger, so it cannot shrink."""
    case.answers("server")[0].put(SIZE, 4, case.facts().recv_buffer_size)


@breaks("resize_requests", on="small-rest")
def smaller_than_at_first(case):
    case.requests("client")[1].add(SIZE, 4, -16)


@breaks("resize_requests", on="small-rest")
def not_back_to_the_first_size(case):
    case.requests("client")[1].add(SIZE, 4, 16)


@breaks("resize_requests", on="small-rest")
def smaller_without_rest(case):
    case.set_fact("resize_idle_ms", 60000)


@breaks("resize_requests", on="small-rest")
def smaller_right_after_payload(case):
    request = case.requests("client")[1]
    sends = case.of("client", *decode.SENDS)
    request.time = sends[sends.index(request) - 1].time + 1


@breaks("resize_requests", on="small-crossing-1")
def another_size_after_crossing(case):
    case.requests("client")[1].add(SIZE, 4, 4096)


@breaks("resize_answers", on="small-rest")
def answer_to_nothing(case):
    case.requests("client")[0].put(MID, 1, rules.DATA)


@breaks("resize_answers", on="small-rest")
def answers_twice(case):
    case.updates("server")[-1].put(MID, 1, rules.CHRCVBUF_ACK)


@breaks("resize_answers", on="small-rest")
def answers_another_size(case):
    case.answers("server")[0].add(SIZE, 4, 4096)


@breaks("resize_answers", on="small-rest")
def answers_less_than_the_first_size(case):
    case.answers("server")[1].add(SIZE, 4, -16)


@breaks("resize_answers", on="small-rest")
def answer_before_the_smaller_are_used(case):
    """As if it had been sent at once, when the request had arrived."""
    request, answer = case.requests("client")[0], case.answers("server")[0]
    answer.put(ACK, 4, request.get(MSEQ, 4))


@breaks("resize_answers", on="small-rest")
def answer_one_too_early(case):
    answer = case.answers("server")[0]
    answer.put(ACK, 4, case.told_before("server", case.requests("client")[0]) - 1)


@breaks("resize_answers", on="small-rest")
def granted_without_room(case):
    case.set_fact("rcvbuf", 4096)


@breaks("resize_answers", on="small-refused")
def granted_instead_of_refused(case):
    """When all smaller receives are used up, so that nothing else is wrong."""
    request, answer = case.requests("client")[0], case.answers("server")[0]
    for frame in case.answers("server"):
        frame.put(SIZE, 4, request.get(SIZE, 4))
    answer.put(ACK, 4, case.told_before("server", request))


@breaks("resize_answers", on="small-rest")
def granted_beyond_the_limit(case):
    case.set_fact("recv_buffer_max", case.requests("client")[0].get(SIZE, 4) - 1)


@breaks("resize_answers", on="small-rest")
def larger_answer_never_comes(case):
    case.answers("server")[0].put(MID, 1, rules.DATA)


@breaks("resize_answers", on="small-rest")
def something_before_the_smaller_answer(case):
    answer = case.answers("server")[1]
    earlier = case.sends("server")[answer.get(MSEQ, 4) - 2]
    earlier.put(ACK, 4, answer.get(ACK, 4))


@breaks("resize_answers", on="small-refused")
def refusal_is_late(case):
    answer = case.answers("server")[1]
    earlier = case.sends("server")[answer.get(MSEQ, 4) - 2]
    earlier.put(ACK, 4, answer.get(ACK, 4))


@breaks("length", on="small-rest")
def longer_than_the_answer(case):
    case.answers("server")[0].put(SIZE, 4, case.facts().recv_buffer_size)


@breaks("length", on="small-rest")
def longer_before_the_answer(case):
    first = case.long_ones("client")[0]
    before = case.answers("server")[0].get(MSEQ, 4) - 1
    for frame in case.sends("client")[:first.get(MSEQ, 4)]:
        frame.put(ACK, 4, min(frame.get(ACK, 4), before))


@breaks("length", on="small-rest")
def longer_after_a_smaller_request(case):
    """The second growth was not answered: long messages belong to the time of the pause."""
    case.requests("client")[2].put(MID, 1, rules.DATA)


@breaks("grants", on="small-rest")
def more_large_receives_than_room(case):
    case.set_fact("rcvbuf", 4 * 4096)


@breaks("updates", on="small-rest")
def threshold_of_the_first_size(case):
    """With room for as many large receives as small ones T would not have changed."""
    case.set_fact("rcvbuf", 0)


@breaks("updates", on="small-rest")
def empty_ones_after_the_smaller_answer(case):
    """More than there were larger receives."""
    answer = case.answers("server")[1]
    answer.put(BUFS, 2, len(case.empty_after("client", answer)) - 1)


@breaks("updates", on="small-rest")
def empty_ones_after_a_refused_rest(case):
    answer = case.answers("server")[3]
    answer.put(SIZE, 4, case.answers("server")[2].get(SIZE, 4))
    for frame in case.updates("server"):
        if frame.get(MSEQ, 4) > answer.get(MSEQ, 4):
            frame.put(MID, 1, rules.DISCONN)


@breaks("updates", on="small-rest")
def threshold_of_the_first_size_while_growing(case):
    """The first update after the request: right by T of 12 receives, not by T of 6."""
    number = case.requests("client")[0].get(MSEQ, 4)
    update, following = [f for f in case.updates("server") if f.get(ACK, 4) > number][:2]
    target = case.facts().recv_buffers
    theirs = case.told_before("server", case.requests("client")[0]) - update.get(ACK, 4)
    update.put(ACK, 4, update.get(ACK, 4) + theirs - (target // 2 - 1))
    update.put(BUFS, 2, target)
    following.put(MID, 1, rules.DISCONN)


@breaks("updates", on="small-rest")
def threshold_of_the_larger_size_after_the_rest(case):
    """When all larger receives are used up: right by T of 6 receives, not by T of 12."""
    small = case.answers("server")[1].get(ACK, 4) + case.answers("server")[1].get(BUFS, 2)
    update = next(f for f in case.updates("server") if f.get(ACK, 4) > small)
    before = case.sends("server")[update.get(MSEQ, 4) - 2]
    before.put(MID, 1, rules.DISCONN)
    before.put(BUFS, 2, update.get(ACK, 4) - before.get(ACK, 4) + 2)
    update.put(BUFS, 2, 6)


@breaks("updates", on="small-rest")
def empty_one_with_the_last_credit(case):
    answer = case.answers("server")[1]
    number = answer.get(MSEQ, 4)
    empty = case.empty_after("client", answer)
    last = [frame for frame in empty if frame.get(ACK, 4) == number][-1]
    answer.put(BUFS, 2, last.get(MSEQ, 4) - answer.get(ACK, 4))
    for frame in empty[empty.index(last) + 1:]:
        frame.put(MID, 1, rules.DISCONN)


@breaks("resize_crossing", on="small-crossing-1")
def asks_and_owes(case):
    case.answers("client")[0].put(MID, 1, rules.CHRCVBUF)


@breaks("resize_crossing", on="small-crossing-1")
def client_did_not_give_way(case):
    """As if its request had been sent after it had received the server's."""
    request = case.requests("client")[0]
    request.put(ACK, 4, case.requests("server")[0].get(MSEQ, 4))


@breaks("resize_crossing", on="small-crossing-1")
def void_request_answered(case):
    """In place of the server's first data after it has received the request."""
    number = case.requests("client")[0].get(MSEQ, 4)
    next(f for f in case.data("server") if f.get(ACK, 4) >= number).put(
        MID, 1, rules.CHRCVBUF_ACK)


@breaks("resize_answers", on="small-crossing-1")
def crossing_request_not_answered(case):
    case.answers("client")[0].put(MID, 1, rules.DATA)


@breaks("resize_fixed", on="small-rest")
def asks_though_fixed(case):
    case.set_fact("recv_buffer_max", 0)
    for frame in case.answers("server"):
        frame.put(MID, 1, rules.DATA)


@breaks("resize_fixed", on="small-rest")
def asks_with_a_small_limit(case):
    case.set_fact("recv_buffer_max", case.facts().recv_buffer_size)


@breaks("resize_fixed", on="small-rest")
def grants_though_fixed(case):
    case.set_fact("recv_buffer_max", 0)
    for frame in case.requests("client"):
        frame.put(MID, 1, rules.DATA)


@breaks("resize_shown", on="small-rest")
def was_to_be_refused(case):
    case.set_fact("shows", "refused")


@breaks("resize_shown", on="small-refused")
def was_to_grow_in_the_end(case):
    case.set_fact("shows", "refused,grow")


@breaks("disconn")
def two_disconns(case):
    case.updates("server")[0].put(MID, 1, rules.DISCONN)


@breaks("disconn")
def no_disconn(case):
    case.disconn("client").put(MID, 1, rules.DATA)


@breaks("disconn")
def data_after_disconn(case):
    case.disconn("client").put(MID, 1, rules.DATA)
    case.data("client")[0].put(MID, 1, rules.DISCONN)


@breaks("disconn")
def other_side_first(case):
    case.set_fact("first", "server")


@breaks("ending")
def no_dreq(case):
    case.frames.remove(case.cm("DREQ"))


@breaks("ending")
def no_drep(case):
    case.frames.remove(case.cm("DREP"))


@breaks("ending")
def dreq_too_early(case):
    case.cm("DREQ").time = case.disconn("server").time - 1


@breaks("ending")
def dreq_without_disconn(case):
    case.disconn("client").put(MID, 1, rules.DATA)


@breaks("ending")
def dreq_from_the_second(case):
    message = case.disconn("client")
    message.put(ACK, 4, case.disconn("server").get(MSEQ, 4))


@breaks("ending")
def message_after_dreq(case):
    case.disconn("server").time = case.cm("DREQ").time + 1


@breaks("reset", on="reset")
def reset_with_disconn(case):
    case.sends("client")[-1].put(MID, 1, rules.DISCONN)


@breaks("reset", on="reset")
def reset_with_abort(case):
    case.sends("client")[-1].put(MID, 1, 0x03)


@breaks("reset", on="reset")
def reset_without_dreq(case):
    case.frames.remove(case.cm("DREQ"))


@breaks("reset", on="reset")
def reset_and_still_sending(case):
    case.sends("client")[-1].time = case.cm("DREQ").time + 1


@breaks("counters")
def counted_without_two_connections(case):
    case.stat["MsgsSent"] = len(case.sends("client") + case.sends("server"))


@breaks("counters")
def counted_no_updates(case):
    case.stat["CreditUpdatesSent"] = 0


@breaks("counters", on="small-rest")
def counted_no_requests(case):
    case.stat["ResizesAsked"] = 0


@breaks("counters", on="small-rest")
def counted_no_answers(case):
    case.stat["ResizesAnswered"] = 0


@breaks("counters")
def peer_found_wrong(case):
    case.stat["BadSeq"] = 1


@breaks(None, on="pipelined")
def nothing_in_pipelined(case):
    pass


def in_order(case):
    """All frames of a case."""
    offset, frames = 0, []
    for _, own in case.connections.values():
        frames += [sample.Frame(offset + frame.time, frame.wire()) for frame in own]
        offset = max(frame.time for frame in frames) + 1
    return frames


def readdress(connections, index):
    """The sample in a network of its own, so that one run of tshark decodes all cases."""
    here, there = bytes([10, 9, 0]), bytes([10, *divmod(FIRST_NETWORK + index, 256)])
    return {
        name: (line.replace("10.9.0.", "{}.{}.{}.".format(*there)),
               [sample.Frame(frame.time, frame.wire().replace(here, there)) for frame in frames])
        for name, (line, frames) in connections.items()
    }


def decode_all(cases):
    """A Decoder for each case."""
    frames, offset = [], 0
    for case in cases:
        own = in_order(case)
        frames += [sample.Frame(offset + frame.time, frame.wire()) for frame in own]
        offset = max(frame.time for frame in frames) + 1
    decoders = [decode.Decoder() for _ in cases]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "cases.pcap")
        sample.write_pcap(path, frames)
        for packet in decode.packets(path):
            network = int.from_bytes(packet.src.packed[1:3], "big")
            decoders[network - FIRST_NETWORK].add(packet)
    return decoders


def some(decoders, case):
    """A Decoder with the connections of a case only."""
    ports = [rules.Facts(line).port for line, _ in case.connections.values()]
    found = {c.request.service_id & 0xffff: c for d in decoders for c in d.connections}
    few = decode.Decoder()
    few.connections = [c for port, c in found.items() if port in ports]
    return few


def judge(case, decoder, stat):
    """The rules that complain: [(connection, rule, complaints)]."""
    facts = [rules.Facts(line) for line, _ in case.connections.values()]
    verdicts = list(check.judge(decoder, facts))
    text = "".join(f"{name} {value}\n" for name, value in {**stat, **case.stat}.items())
    verdicts.append(check.judge_counters(decoder, text))
    return [verdict for verdict in verdicts if verdict[2]]


def problem(rule, on, how, failed):
    """The checker's faults, judged by its complaints: a list of lines."""
    lines = [f"{name}: {broken}: {wrong[0]}" for name, broken, wrong in failed]
    if rule is None:
        return lines
    broken = {broken for _, broken, _ in failed}
    if how == NOT:
        return [line for line in lines if line.split(": ")[1] == rule]
    if rule not in broken:
        return ["not noticed; the complaints are:"] + lines
    # The change makes the counters wrong, too.
    if how == ALONE and broken - {rule, "counters"}:
        return ["other rules complain, too:"] + lines
    return [line for line in lines if line.split(":")[0] not in (on, "capture", "sdpstat")]


def kinds_not_missed(plain, facts):
    """Each kind of message must be missed when no connection has it, and no other kind."""
    everything = decode.Decoder()
    everything.connections = [c for decoder in plain for c in decoder.connections]
    yield from check.judge_kinds(everything, facts)[2]
    messages = [side.messages for c in everything.connections for side, _ in c.sides()]
    for mid, name in check.KINDS.items():
        hidden = [m for own in messages for m in own if m.mid == mid]
        for m in hidden:
            m.mid = None
        found = check.judge_kinds(everything, facts)[2]
        if found != [f"there is no {name}"]:
            yield f"without {name}: {found}"
        for m in hidden:
            m.mid = mid


def rules_without_a_case():
    known = {rule.__name__ for group in rules.RULES.values() for rule in group}
    known |= {"request", "strangers", "counters"}
    return sorted(known - {rule for rule, *_, how in CASES if how != NOT})


def main():
    recorded = sample.read_sample(os.path.join(HERE, "sample.txt"))
    base = recorded["small-parts"]
    connections = {**recorded, "pipelined": conversation.pipelined(*base),
                   "demand": conversation.demanding(*base),
                   "rdma": ring_conversation.ringed(*base),
                   "nic": ring_conversation.held_back(*base)}
    cases = []
    for index, (_, on, name, change, _) in enumerate(CASES):
        own = {key: value for key, value in connections.items()
               if key in ALWAYS + (on,) or name == "nothing" and key in recorded}
        case = Case(readdress(own, index), on)
        change(case)
        cases.append(case)
    try:
        decoders = decode_all(cases)
    except decode.DecodeError as error:
        sys.exit(f"error: {error}")
    # The unchanged sample, with which the module's counters agreed, and the composed
    # conversations.
    plain = [decoder for decoder, (_, _, name, *_) in zip(decoders, CASES)
             if name in ("nothing", "nothing_in_pipelined", "nothing_in_demand", "nothing_in_rings",
                         "nothing_held_back")]
    tap = check.Tap()
    for (rule, on, name, _, how), case, decoder in zip(CASES, cases, decoders):
        stat = {**check.counted(some(plain, case)), "BadSeq": 0}
        stat["MsgsSent"] += case.added
        tap.point(f"{rule or 'no rule'}: {name}",
                  problem(rule, on, how, judge(case, decoder, stat)))
    tap.point("every rule has a case", rules_without_a_case())
    facts = [rules.Facts(line) for line, _ in connections.values()]
    tap.point("every kind of message", list(kinds_not_missed(plain, facts)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
