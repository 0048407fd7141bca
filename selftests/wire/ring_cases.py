# SPDX-License-Identifier: GPL-2.0
"""Test cases of selftest.py for ring_rules.py, and for other rules in connections with rings.

They change the conversations of ring_conversation.py.
"""
import decode
from case import ACK, breaks, FLAGS, keeps, MID, RETH
from conversation import va_of
from srcavails import SRC_AVAIL
from resize import DATA, DISCONN
from ring_conversation import FIRST, KEY_FIRST, KEY_SECOND, SECOND, TOLD, WINDOW
from rings import FREED, RING_ASK, RING_AVAIL
from sample import BSDH

ON, NIC = "rdma", "nic"
EXTENDED = BSDH + 16
# Offsets in RingAsk; in RingAvail; of FREED.
SIZE = FREED_BYTES = EXTENDED
AVAIL_SIZE = EXTENDED
# Offsets in the first packet of a write: its address and, if it is the only one, the immediate.
PUT_VA, PUT_KEY, PUT_LEN, PUT_IMMEDIATE = RETH, RETH + 8, RETH + 12, RETH + 16


def puts(case, key=None):
    """First packets of messages in a ring."""
    return [f for f in case.of("client", decode.WRITE_FIRST, decode.WRITE_ONLY_IMMEDIATE)
            if key is None or f.get(PUT_KEY, 4) == key]


def small_puts(case, key=None):
    """First packets of those that have one packet only."""
    return [f for f in puts(case, key) if f.opcode == decode.WRITE_ONLY_IMMEDIATE]


def asks(case):
    return case.of_kind("client", RING_ASK)


def answers(case):
    return case.of_kind("server", RING_AVAIL)


def frees(case):
    return [f for f in case.sends("server") if f.get(MID, 1) == DATA and f.get(FLAGS, 1) & FREED]


@breaks(None, on=ON)
def nothing_in_rings(case):
    pass


@breaks(None, on=NIC)
def nothing_held_back(case):
    pass


# Ring fields of the Hellos, and whether rings are allowed.

@breaks("hello", on=ON, alone=True)
def another_scheme_in_hello(case):
    case.cm("REQ").add(case.cm("REQ").private_data + TOLD["REQ"] + 5, 1, 1)


@breaks("hello", on=ON, alone=True)
def another_window_in_hello(case):
    case.cm("REQ").add(case.cm("REQ").private_data + TOLD["REQ"] + 8, 4, WINDOW)


@breaks("hello_ack", on=ON, alone=True)
def another_scheme_in_hello_ack(case):
    case.cm("REP").add(case.cm("REP").private_data + TOLD["REP"] + 5, 1, 1)


@breaks("hello_ack", on="small-packets", alone=True)
def rings_without_being_known(case):
    case.cm("REP").put(case.cm("REP").private_data + TOLD["REP"], 4, 0x52494e47)


@breaks("ring_agreed", on=ON)
def rings_and_there_shall_be_none(case):
    case.set_fact("flow_control", "credit")


# RingAsk and RingAvail.

@breaks("ring_asks", on=ON, alone=True)
def asks_for_an_odd_size(case):
    asks(case)[0].put(SIZE, 4, FIRST + 4096)


@breaks("ring_asks", on=ON, alone=True)
def asks_for_more_than_there_is(case):
    asks(case)[1].put(SIZE, 4, 2 * SECOND)


@breaks("ring_asks", on=ON)
def asks_for_no_more_than_it_has(case):
    asks(case)[1].put(SIZE, 4, FIRST)


@breaks("ring_asks", on=ON)
def asks_twice(case):
    case.insert("client", asks(case)[1], RING_ASK, SECOND.to_bytes(4, "big"))


@breaks("ring_asks", on=ON)
def gives_back_what_there_is_not(case):
    case.insert("client", asks(case)[2], RING_ASK, bytes(4))


@breaks("ring_answers", on=ON)
def answers_with_more(case):
    answers(case)[1].put(AVAIL_SIZE, 4, 2 * SECOND)


@breaks("ring_answers", on=ON, alone=True)
def answers_before_it_is_asked(case):
    """It had not received the RingAsk; the other end has got an answer all the same."""
    answers(case)[0].add(ACK, 4, -1)


@breaks("ring_answers", on=ON)
def answers_twice(case):
    case.insert("server", answers(case)[2], RING_AVAIL, bytes(16))


# What lies in a ring, and where.

@breaks("ring_content", on=ON)
def disconn_in_a_ring(case):
    small_puts(case)[1].put(PUT_IMMEDIATE + 4, 1, DISCONN)


@breaks("ring_content", on=ON)
def another_length_than_is_written(case):
    small_puts(case)[1].add(PUT_IMMEDIATE + 8, 4, 1)


@breaks("ring_places", on=ON, alone=True)
def leaves_a_gap(case):
    puts(case)[2].add(PUT_VA, 8, 4)


@breaks("ring_places", on=ON, alone=True)
def begins_anew_at_the_end(case):
    """It should continue in the ring's second mapping."""
    behind = [f for f in puts(case, KEY_FIRST)
              if f.get(PUT_VA, 8) + f.get(PUT_LEN, 4) > va_of(KEY_FIRST) + FIRST]
    behind[0].put(PUT_VA, 8, va_of(KEY_FIRST))


@breaks("ring_places", on=ON, alone=True)
def goes_to_the_older_ring(case):
    small_puts(case, KEY_SECOND)[0].put(PUT_KEY, 4, KEY_FIRST)


@breaks("ring_places", on=ON, alone=True)
def says_another_length_in_the_immediate(case):
    small_puts(case)[0].add(PUT_IMMEDIATE, 4, 1)


@breaks("ring_places", on=ON, alone=True)
def says_another_ring_in_the_immediate(case):
    frame = small_puts(case)[0]
    frame.put(PUT_IMMEDIATE, 4, frame.get(PUT_IMMEDIATE, 4) ^ 1 << 31)


@breaks("ring_places", on=NIC)
def longer_than_a_window(case):
    case.set_fact("ring_window", WINDOW // 2)


@breaks("ring_places", on=ON)
def longer_than_a_quarter(case):
    """As if the second ring were as small as the first one."""
    answers(case)[1].put(AVAIL_SIZE, 4, FIRST * 2)


@breaks("ring_places", on=ON)
def in_a_ring_that_was_refused(case):
    answers(case)[0].put(AVAIL_SIZE, 4, 0)


# What has been read.

@breaks("ring_room", on=ON, alone=True)
def writes_over_what_is_not_read(case):
    frees(case)[0].put(FREED_BYTES, 4, 500)


@keeps("ring_room", on=ON)
def fills_all_that_is_free(case):
    frees(case)[0].add(FREED_BYTES, 4, -100)


@breaks("ring_freed", on=ON)
def frees_what_has_not_come(case):
    frees(case)[0].put(FREED_BYTES, 4, FIRST)


@breaks("ring_freed", on=ON, alone=True)
def frees_what_is_free(case):
    frees(case)[2].put(FREED_BYTES, 4, 0)


@breaks("ring_freed", on=NIC)
def frees_where_the_adapters_know(case):
    last = case.data("server")[-1]
    last.put(FLAGS, 1, FREED)


@breaks("updates", on=ON, alone=True)
def update_for_too_little(case):
    """Half of the ring justifies an update."""
    frees(case)[1].put(FREED_BYTES, 4, 2469 + FIRST // 2 - 1)


# Other rules.

@breaks("kinds", on=ON)
def freed_on_what_is_no_data(case):
    asks(case)[0].put(FLAGS, 1, FREED)


@breaks("ring_alone", on=NIC)
def advertises_where_messages_are_held_back(case):
    case.data("client")[0].put(MID, 1, SRC_AVAIL)


@breaks("credit", on=NIC)
def held_back_and_not_in_a_ring(case):
    """With the scheme rdma they would need credit."""
    case.set_fact("flow_control", "rdma")
