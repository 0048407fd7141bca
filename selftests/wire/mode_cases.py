# SPDX-License-Identifier: GPL-2.0
"""Test cases of selftest.py for mode_rules.py.

In small-modes the client is the source of all data. It sends two SrcAvails, which are refused,
changes to Buffered, and sends its data in messages, until the server changes to Combined. Then
it sends some SrcAvails, which are read.
"""
from case import ACK, ALONE, breaks, CASES, keeps, MSEQ
from modes import MODE_CHANGE
from srcavail_cases import EXTENDED, not_having_heard, shown, source_srcavails
from srcavails import RDMA_RD_COMPL, SENDSM, SRC_CANCEL
from resize import DATA

TO_BUFFERED, TO_COMBINED = bytes([0x00, 0, 0, 0]), bytes([0x90, 0, 0, 0])
WHOLE = EXTENDED


def change(case, side):
    """Its first ModeChange."""
    return case.of_kind(side, MODE_CHANGE)[0]


def refusals(case):
    return case.of_kind("server", SENDSM)


def inserted_change(case, side, before, rest):
    return case.insert(side, before, MODE_CHANGE, rest)


# The message.

@breaks("mode_forms", on="small-modes")
def no_such_mode(case):
    change(case, "client").put(EXTENDED, 1, 0x30)


@breaks("mode_forms", on="small-modes", alone=True)
def reserved_bits(case):
    change(case, "client").put(EXTENDED, 1, 0x01)


@breaks("mode_forms", on="small-modes", alone=True)
def reserved_bytes(case):
    change(case, "server").put(EXTENDED + 3, 1, 1)


# Who changes which mode.

@breaks("mode_changes", on="small-modes")
def source_to_the_mode_it_has(case):
    change(case, "client").put(EXTENDED, 1, 0x10)


@breaks("mode_changes", on="small-modes")
def sink_to_buffered(case):
    change(case, "server").put(EXTENDED, 1, 0x80)


@breaks("mode_changes", on="small-modes")
def change_of_the_other_half(case):
    """The client changes its receiving half, which is in Combined already."""
    change(case, "client").put(EXTENDED, 1, 0x90)


@breaks("mode_changes", on="small-modes")
def source_ends_buffered(case):
    inserted_change(case, "client", change(case, "client"), bytes([0x10, 0, 0, 0]))


@breaks("mode_changes", on="small-modes")
def to_buffered_twice(case):
    inserted_change(case, "client", change(case, "client"), TO_BUFFERED)


@breaks("mode_changes", on="small-modes", alone=True)
def to_combined_twice(case):
    inserted_change(case, "server", change(case, "server"), TO_COMBINED)


@breaks("mode_changes", on="small-modes", alone=True)
def sink_speaks_before_it_has_heard(case):
    """The two changes cross."""
    inserted_change(case, "server", refusals(case)[-1], TO_COMBINED)


# Nothing is outstanding when a mode changes.

@breaks("mode_quiet", on="small-modes")
def source_changes_while_it_srcavails(case):
    not_having_heard(change(case, "client"), refusals(case)[-1])


@breaks("mode_quiet", on="small-modes")
def sink_changes_while_a_srcavail_is_open(case):
    srcavail = source_srcavails(case)[1]
    heard = [f for f in case.sends("server") if f.get(ACK, 4) < srcavail.get(MSEQ, 4)]
    new = inserted_change(case, "server", heard[-1], TO_COMBINED)
    new.put(ACK, 4, srcavail.get(MSEQ, 4))


@breaks("mode_srcavails", on="small-modes")
def srcavails_in_buffered(case):
    """Its first SrcAvail after the change to Combined, as if it had not received that."""
    srcavail = next(f for f in source_srcavails(case)
                 if f.get(ACK, 4) >= change(case, "server").get(MSEQ, 4))
    not_having_heard(srcavail, change(case, "server"))


@breaks("mode_srcavails", on="small-modes")
def combined_is_not_said(case):
    case.set_rest(change(case, "server"), DATA)


# What the source has learnt.

@breaks("mode_learnt", on="small-modes", alone=True)
def too_few_refusals(case):
    case.set_fact("mode_after", len(refusals(case)) + 1)


@breaks("mode_learnt", on="small-modes", alone=True)
def srcavails_after_enough_refusals(case):
    case.set_fact("mode_after", len(refusals(case)) - 1)


@keeps("mode_learnt", on="small-modes")
def refusals_may_be_of_what_was_taken_back(case):
    case.set_fact("mode_after", len(refusals(case)) - 1)
    case.set_fact("sndtimeo", 100)


@breaks("mode_learnt", on="small-modes")
def counts_what_was_taken_back(case):
    case.insert("client", source_srcavails(case)[0], SRC_CANCEL)


@breaks("mode_learnt", on="small-modes")
def one_was_read_in_between(case):
    srcavail, refusal = source_srcavails(case)[0], refusals(case)[0]
    rest = srcavail.get(WHOLE, 4) - (len(srcavail.data) - 4 - EXTENDED - 16)
    case.set_rest(refusal, RDMA_RD_COMPL, rest.to_bytes(4, "big"))


@breaks("mode_learnt", on="small-modes")
def counts_what_was_before_the_last_change(case):
    heard = next(f for f in case.sends("client")
                 if f.get(ACK, 4) >= change(case, "server").get(MSEQ, 4))
    inserted_change(case, "client", heard, TO_BUFFERED)


# What the sink wants.

@breaks("mode_wished", on="small-modes", alone=True)
def wished_by_a_small_reader(case):
    case.set_fact("read", case.facts().rdma_threshold - 1)


@breaks("mode_wished", on="small-modes")
def wished_though_reading_is_off(case):
    case.set_fact("rdma_read", 0)


@breaks("mode_wished", on="small-modes")
def wished_though_srcavail_is_off(case):
    case.set_fact("rdma_threshold", 0)


# At the end.

@breaks("disconn", on="small-modes")
def source_changes_after_its_disconn(case):
    inserted_change(case, "client", case.disconn("client"), TO_BUFFERED)


@keeps("disconn", on="small-modes")
def sink_changes_after_its_disconn(case):
    inserted_change(case, "server", case.disconn("server"), TO_COMBINED)


shown("small-parts", "to-buffered", "to-combined")
shown("small-modes", "cancelled")
for counter in ("ModeBuffered", "ModeCombined"):
    def counted_otherwise(case, name=counter):
        case.stat[name] = -1
    CASES.append(("counters", "small-modes", counter, counted_otherwise, ALONE))
