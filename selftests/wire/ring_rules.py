# SPDX-License-Identifier: GPL-2.0
"""Rules for rings and the messages in them (G2, G4, G6)."""
from sinkavails import SINK_AVAIL
from srcavails import SRC_AVAIL
from resize import DATA
from rings import CREDIT, FREED, NIC, RDMA, RING_ASK, RING_AVAIL, SIZE_MAX, SIZE_MIN, Sink, Source


def is_ring_size(size):
    return SIZE_MIN <= size <= SIZE_MAX and not size & size - 1


def ring_agreed(connection, facts):
    """Rings are used only if both ends support them and want them."""
    if facts.ring_size and facts.flow_control != CREDIT:
        return
    for side, _ in connection.sides():
        for m in side.messages:
            used = (m.mid in (RING_ASK, RING_AVAIL) or m.put is not None or
                    m.flags is not None and m.flags & FREED)
            if used:
                yield f"{side.name}: {m} is about a ring, and there shall be none"


def ask_faults(source, facts, m):
    if source.asked is not None:
        yield f"asks again, {source.asked} has no answer yet"
    if not m.size:
        if source.ring is None:
            yield "gives back a ring that there is not"
        return
    if not is_ring_size(m.size) or m.size > facts.ring_size:
        yield f"asks for {m.size} bytes, there are up to {facts.ring_size}"
    if source.ring is not None and m.size <= source.ring.size:
        yield f"asks for {m.size} bytes, there are {source.ring.size}"


def ring_asks(connection, facts):
    """RingAsk: one at a time, with a valid size that exceeds the current ring's; or 0."""
    for side, peer in connection.sides():
        source = Source(side, peer)
        for m in source.walk():
            if m.mid == RING_ASK:
                for fault in ask_faults(source, facts, m):
                    yield f"{side.name}: {m} {fault}"


def ring_answers(connection, facts):
    """RingAvail answers a RingAsk, with at most the requested size; or with none."""
    for side, peer in connection.sides():
        # Headers do not show answers that the other end has never received.
        heard = max((m.ack for m in peer.messages), default=0)
        source = Source(peer, side)
        for _ in source.walk():
            pass
        for m in side.messages[:heard]:
            if m.mid != RING_AVAIL:
                continue
            asked = source.answers.get(m)
            if asked is None:
                yield f"{side.name}: {m} answers no RingAsk"
            elif m.ack < asked.mseq:
                yield f"{side.name}: {m} answers {asked} before it has heard it"
            elif m.whole and (m.whole > asked.size or not is_ring_size(m.whole)):
                yield f"{side.name}: {m} has a ring of {m.whole} bytes, {asked.size} were asked for"


def ring_content(connection, facts):
    """A ring carries Data with payload only, and as many bytes as the write says."""
    for side, _ in connection.sides():
        for m in side.messages:
            if m.put is None:
                continue
            if m.mid != DATA or m.payload < 1:
                yield f"{side.name}: {m}: MID {m.mid:#x} with {m.payload} bytes in a ring"
            if m.len != m.put.length:
                yield f"{side.name}: {m}: Len is {m.len}, {m.put.length} bytes were written"


def message_max(ring, facts):
    return facts.ring_window if facts.flow_control == NIC else ring.size // 4


def place_faults(ring, facts, m):
    if ring is None:
        yield "lies in a ring, and there is none"
        return
    if m.put.rkey != ring.rkey or m.put.va != ring.place():
        yield (f"goes to {m.put.rkey:#x}:{m.put.va:#x}, not {ring.rkey:#x}:{ring.place():#x} "
               f"in {ring}")
    if m.put.immediate != ring.immediate(m.put.length):
        yield f"has immediate {m.put.immediate:#x}, not {ring.immediate(m.put.length):#x}"
    if m.put.length > message_max(ring, facts):
        yield f"has {m.put.length} bytes, more than {message_max(ring, facts)}"


def ring_places(connection, facts):
    """Each message lies directly behind the last one of the same ring, the first one at its
    beginning. The immediate says which ring and how long (G2). No message is longer than a
    quarter of the ring, or a window.
    """
    for side, peer in connection.sides():
        source = Source(side, peer)
        for m in source.walk():
            if m.put is not None:
                for fault in place_faults(source.ring, facts, m):
                    yield f"{side.name}: {m} {fault}"


def ring_room(connection, facts):
    """Scheme rdma: nothing is written over bytes that the sink has not reported as read."""
    if facts.flow_control != RDMA:
        return
    for side, peer in connection.sides():
        source = Source(side, peer)
        for m in source.walk():
            ring = source.ring
            if m.put is None or ring is None:
                continue
            used = ring.head - ring.freed + m.bytes
            if used > ring.size:
                yield f"{side.name}: {m} makes {used} bytes, {ring} has {ring.size}"


def ring_freed(connection, facts):
    """FREED grows, and does not exceed what has arrived in the current ring."""
    for side, peer in connection.sides():
        sink = Sink(side, peer)
        for m in sink.walk():
            if m.freed is None:
                continue
            ring = sink.ring
            if facts.flow_control == NIC or ring is None:
                yield f"{side.name}: {m} frees {m.freed} bytes, and nothing has to be freed"
            elif not ring.told < m.freed <= ring.head:
                yield (f"{side.name}: {m} frees {m.freed} bytes after {ring.told}, {ring.head} "
                       f"have come in {ring}")


def ring_alone(connection, facts):
    """Scheme nic: no advertisements, as an answer could be held back behind data (G4)."""
    if facts.flow_control != NIC:
        return
    for side, _ in connection.sides():
        for m in side.messages:
            if m.mid in (SRC_AVAIL, SINK_AVAIL):
                yield f"{side.name}: {m} advertises memory"


RULES = (ring_agreed, ring_alone, ring_asks, ring_answers, ring_content, ring_places, ring_room,
         ring_freed)
