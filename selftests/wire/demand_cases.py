# SPDX-License-Identifier: GPL-2.0
"""Cases for selftest.py: receives that are posted as the other end needs them."""
from case import breaks, BUFS, keeps
from conversation import BUFS as ALL, FEW

ON = "demand"


@breaks(None, on=ON)
def nothing_in_demand(case):
    pass


@breaks("hello", on=ON)
def all_receives_in_hello(case):
    req = case.cm("REQ")
    req.put(req.private_data + 2, 2, ALL)


@breaks("grants", on=ON, alone=True)
def more_receives_without_a_demand(case):
    case.data("server")[0].put(BUFS, 2, FEW + 1)


@breaks("grants", on=ON, alone=True)
def all_receives_of_who_has_heard_little(case):
    """Only the server had a demand."""
    case.sends("client")[-1].put(BUFS, 2, ALL)


@breaks("updates", on=ON, alone=True)
def few_receives_after_a_demand(case):
    """Right by T of 3 receives, not by T of 12."""
    case.updates("server")[-1].put(BUFS, 2, FEW)


@keeps("updates", on=ON)
def few_receives_before_accept(case):
    """The connection may not be accepted yet."""
    case.updates("server")[0].put(BUFS, 2, FEW)


@keeps("grants", on=ON)
def all_receives_after_the_pause(case):
    case.data("server")[-1].put(BUFS, 2, ALL)


@breaks("hello", on=ON)
def few_receives_though_all_were_set(case):
    case.set_fact("idle_buffers", ALL)


@keeps("updates", on=ON)
def updates_by_either_number(case):
    """The pause may have been shorter where it counts."""
    case.set_fact("resize_idle_ms", 1000000)
