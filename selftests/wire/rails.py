#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rails.py FACTS CAPTURE...

Checks captures of one AF_SDP connection over several cables. The first cable has its request; by
the others rails have joined. FACTS has one line, as guest.sh writes it. The captures hold nothing
else.

Output: TAP, one point per rule, and at the end "N passed, N failed, N skipped". Exit status 0 when
no point failed.
"""
import argparse
import collections
import sys

import check
import decode
import rules

RAIL_ADDRS, RAIL_GONE, RAIL_ACK = 0x42, 0x43, 0x44
NOTES = (RAIL_ADDRS, RAIL_GONE, RAIL_ACK)
ID_AND_TOKEN = 20       # bytes
VERSION = 2
RAILS_MAX = 8


class Bundle:
    """A connection and its further rails."""

    def __init__(self, connections):
        self.first = [c for c in connections if c.request.service_id & 0xffff]
        self.joins = [c for c in connections if not c.request.service_id & 0xffff and c.reply]
        self.hello = self.first[0].request.private_data()
        self.hello_ack = self.first[0].reply.private_data()

    @property
    def rails(self):
        return self.first[:1] + self.joins

    def sent(self, by_client):
        """(rail, message) of one end, by any rail, in the order of time. A rail may have been
        joined from either address, so its client is always the connecting end."""
        found = [(rail, m) for rail, c in enumerate(self.rails)
                 for m in (c.client if by_client else c.server).messages]
        return sorted(found, key=lambda pair: pair[1].time)


def hello_says(bundle, facts):
    """Both ends say that they know rails; the lower number counts."""
    hello, ack = bundle.hello, bundle.hello_ack
    yield from rules.differ("Hello", [
        ("magic", hello[88:90], b"RL"), ("version", hello[90], VERSION),
        ("rails", hello[91], facts.rails)])
    yield from rules.differ("HelloAck", [
        ("magic", ack[44:48], b"RAIL"), ("version", ack[48], VERSION),
        ("rails", ack[49], facts.rails)])


def joins_belong(bundle, facts):
    """Each join has the connection's number and token, and a number of its own."""
    numbers = []
    for join in bundle.joins:
        hello = join.request.private_data()
        numbers.append(hello[69])
        yield from rules.differ("join", [
            ("magic", hello[64:68], b"JOIN"), ("version", hello[68], VERSION),
            ("number and token", hello[72:72 + ID_AND_TOKEN],
             bundle.hello_ack[52:52 + ID_AND_TOKEN])])
    if sorted(numbers) != list(range(1, facts.rails)):
        yield f"rails {sorted(numbers)} have joined"


def addresses_precede_joins(bundle, facts):
    """The accepting end announces its addresses, and the joins go to these."""
    told = [m for _, m in bundle.sent(False) if m.mid == RAIL_ADDRS]
    if not told:
        yield "no addresses are announced"
        return
    for join in bundle.joins:
        if float(join.request.time) < told[0].time:
            yield f"frame {join.request.number}: a join before that"


def notes_cost_nothing(bundle, facts):
    """Messages about rails have no place in the order, and grant nothing."""
    for by_client in (True, False):
        for _, m in bundle.sent(by_client):
            if m.mid in NOTES:
                yield from rules.differ(str(m), [("MSeq", m.mseq, 0), ("Bufs", m.bufs, 0)])


def in_order(bundle, by_client):
    return [(rail, m) for rail, m in bundle.sent(by_client) if m.mid not in NOTES]


def nothing_is_missing(bundle, facts):
    """By all rails together, each message number occurs; a repeated message is the same one."""
    for by_client in (True, False):
        seen = {}
        for _, m in in_order(bundle, by_client):
            first = seen.setdefault(m.mseq, m)
            if (first.mid, first.len, first.bytes) != (m.mid, m.len, m.bytes):
                yield f"{m}: differs from frame {first.number}"
        if seen and sorted(seen) != list(range(min(seen), min(seen) + len(seen))):
            yield f"of messages {min(seen)} to {max(seen)} there are only {len(seen)}"


def acknowledged_was_sent(bundle, facts):
    """No message acknowledges what its receiver had not sent by then."""
    for by_client in (True, False):
        other = in_order(bundle, not by_client)
        newest = at = 0
        for _, m in bundle.sent(by_client):
            while at < len(other) and other[at][1].time <= m.time:
                newest = max(newest, other[at][1].mseq)
                at += 1
            # Before the first message of the other end: what its Hello counts as.
            if at and m.ack > newest:
                yield f"{m}: MSeqAck is {m.ack}, and {newest} is the newest"


def all_carry(bundle, facts):
    """Each rail carries a part of the data."""
    carried = collections.Counter()
    for by_client in (True, False):
        for rail, m in in_order(bundle, by_client):
            carried[rail] += max(m.payload, 0)
    for rail, c in enumerate(bundle.rails):
        carried[rail] += sum(r.length for side in (c.client, c.server) for r in side.reads)
    for rail in range(facts.rails):
        if not carried[rail]:
            yield f"rail {rail} carries nothing"


def payload_is_whole(bundle, facts):
    """The messages have the bytes that the programs have moved, each once."""
    for by_client, want in ((True, facts.up), (False, facts.down)):
        lengths = {m.mseq: m.payload for _, m in in_order(bundle, by_client) if m.payload > 0}
        read = sum(r.length for c in bundle.rails
                   for side in ((c.server, c.client)[not by_client],) for r in side.reads)
        written = sum(w.length for c in bundle.rails
                      for side in ((c.client, c.server)[not by_client],) for w in side.writes)
        got = sum(lengths.values()) + read + written
        if got != want:
            yield f"{got} bytes from the {'client' if by_client else 'server'}, not {want}"


def key_of(m, number, attempt):
    """The key that a SrcAvail has for a rail, or None."""
    if m.keys is None:
        return m.rkey if number == 0 else None
    keys = m.keys.to_bytes(decode.KEYS_LEN, "big")
    if not keys[0] >> number & 1 or keys[4 + number] != attempt:
        return None
    at = 4 + RAILS_MAX + 4 * number
    return int.from_bytes(keys[at:at + 4], "big")


def reads_of(bundle, by_client, adverts):
    """(rail, RDMA read of one end, the SrcAvail that it is about or None)."""
    for rail, c in enumerate(bundle.rails):
        hello = c.request.private_data()
        number, attempt = (hello[69], hello[70]) if rail else (0, 0)
        for read in (c.client if by_client else c.server).reads:
            yield rail, read, next((m for m in adverts if m.va <= read.va and
                                    read.va + read.length <= m.va + m.whole and
                                    key_of(m, number, attempt) == read.rkey), None)


def reads_have_keys(bundle, facts):
    """Each RDMA read is of memory that a SrcAvail of the other end has advertised, by the key that
    it has for this rail; and no byte is read by two rails."""
    for by_client in (True, False):
        adverts = [m for _, m in in_order(bundle, not by_client) if m.mid == decode.MID_SRC_AVAIL]
        pieces = set()
        for rail, read, advert in reads_of(bundle, by_client, adverts):
            if advert is None:
                yield f"rail {rail}: {read} has no key for that"
            else:
                pieces.add((read.va, read.va + read.length, rail))
        for one, next_one in zip(sorted(pieces), sorted(pieces)[1:]):
            if one[1] > next_one[0] and one[2] != next_one[2]:
                yield f"rails {one[2]} and {next_one[2]} read the same bytes"


def several_read(bundle, facts):
    """If large writes go by RDMA, several rails read parts of one SrcAvail."""
    together = 0
    for by_client in (True, False):
        adverts = [m for _, m in in_order(bundle, not by_client) if m.keys is not None]
        readers = collections.defaultdict(set)
        for rail, _, advert in reads_of(bundle, by_client, adverts):
            readers[advert].add(rail)
        together += sum(len(rails) > 1 for advert, rails in readers.items() if advert)
    if facts.name.endswith("rdma") and not together:
        yield "no SrcAvail was read by several rails"


RULES = (hello_says, joins_belong, addresses_precede_joins, notes_cost_nothing,
         nothing_is_missing, acknowledged_was_sent, all_carry, payload_is_whole,
         reads_have_keys, several_read)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0])
    parser.add_argument("facts")
    parser.add_argument("captures", nargs="+")
    options = parser.parse_args()

    facts = check.read_facts(options.facts)[0]
    try:
        decoder = decode.decode(options.captures)
    except decode.DecodeError as error:
        sys.exit(f"error: {error}")
    bundle = Bundle(decoder.connections)
    tap = check.Tap()
    tap.point("rails: request", [] if len(bundle.first) == 1 else [f"{len(bundle.first)} requests"])
    tap.point("rails: strangers", [f"frame {p.number} belongs to no rail" for p in decoder.unknown])
    for rule in RULES:
        tap.point(f"rails: {rule.__name__}", list(rule(bundle, facts)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
