#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""check.py [-s SDPSTAT] FACTS CAPTURE...

Checks captures of AF_SDP connections against the rules of the wire protocol (rules.py). FACTS
has a line for each connection, as guest.sh writes it; each one must be in the captures, and no
other. SDPSTAT, a copy of /proc/net/sdpstat, is compared with the captures too.

Output: TAP, one point per rule and connection, and at the end "N passed, N failed, N skipped".
Exit status 0 when no point failed.
"""
import argparse
import collections
import sys

import sinkavails
import decode
import modes
import srcavails
import rings
import rules

SHOWN = 5


class Tap:
    """Prints points, each failed one with its first complaints."""

    def __init__(self):
        self.passed = self.failed = 0

    def point(self, name, complaints):
        ok = not complaints
        self.passed += ok
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.passed + self.failed} {name}")
        for line in complaints[:SHOWN]:
            print(f"#   {line}")
        if len(complaints) > SHOWN:
            print(f"#   and {len(complaints) - SHOWN} more")

    def end(self):
        print(f"1..{self.passed + self.failed}")
        print(f"{self.passed} passed, {self.failed} failed, 0 skipped")
        return 1 if self.failed or not self.passed else 0


def complaints(rule, connection, facts):
    """The complaints of a rule. A rule whose subject is missing has failed."""
    if rule in rules.TRAFFIC and not connection.reply:
        return ["there is no REP"]
    try:
        return list(rule(connection, facts))
    except (AttributeError, TypeError, ValueError) as error:
        return [f"a field is missing: {error}"]


def judge(decoder, facts):
    """(connection's name, rule's name, complaints) for every rule and every connection."""
    by_port = collections.defaultdict(list)
    for connection in decoder.connections:
        by_port[connection.request.service_id & 0xffff].append(connection)
    for fact in facts:
        found = by_port.pop(fact.port, [])
        missing = [] if len(found) == 1 else [f"{len(found)} requests for port {fact.port}"]
        yield fact.name, "request", missing
        for rule in rules.RULES[fact.end] if found else ():
            yield fact.name, rule.__name__, complaints(rule, found[0], fact)
    strangers = [f"a request for port {port}" for port in by_port]
    strangers += [f"frame {packet.number} belongs to no connection" for packet in decoder.unknown]
    yield "capture", "strangers", strangers


def counted(decoder):
    """The expected values of the module's counters, from the capture."""
    sides = [side for c in decoder.connections for side, _ in c.sides()]
    messages = [m for side in sides for m in side.messages]
    data = [m for m in messages if m.mid == rules.DATA]
    advertised = [srcavail for c in decoder.connections for _, _,
                  srcavail in srcavails.all_srcavails(c)]
    written = sum(r.length for side in sides for r in side.requests
                  if isinstance(r, decode.Write))
    # Both the sender and the receiver of a ModeChange count it.
    changes = collections.Counter(modes.new_mode(m) for m in messages
                                  if m.mid == modes.MODE_CHANGE)
    with_payload = [m for m in messages if m.payload > 0]
    put = [m for m in messages if m.put is not None]
    return {
        "ActiveOpens": len(decoder.connections),
        "PassiveOpens": sum(bool(c.reply) for c in decoder.connections),
        "ConnRefused": sum(bool(c.reject) for c in decoder.connections),
        "MsgsSent": len(messages),
        "DataSent": len(with_payload),
        "BytesSent": sum(m.payload for m in with_payload),
        "CreditUpdatesSent": sum(not m.payload for m in data),
        "ResizesAsked": sum(m.mid == rules.CHRCVBUF for m in messages),
        "ResizesAnswered": sum(m.mid == rules.CHRCVBUF_ACK for m in messages),
        "SrcAvailSent": len(advertised),
        "SrcAvailReceived": len(advertised),
        "SrcAvailRead": sum(o.end is not None and not o.declined and not o.overtaken
                           for o in advertised),
        "SrcAvailRefused": sum(o.declined for o in advertised),
        "SrcAvailCrossed": sum(o.overtaken for o in advertised),
        "SrcAvailDeclined": sum(m.mid == rules.SENDSM for m in messages),
        "ModeBuffered": 2 * changes[modes.BUFFERED],
        "ModeCombined": 2 * changes[modes.COMBINED],
        "ModePipelined": 2 * changes[modes.PIPELINED],
        "SinkAvailSent": sum(m.mid == sinkavails.SINK_AVAIL for m in messages),
        "SinkAvailReceived": sum(m.mid == sinkavails.SINK_AVAIL for m in messages),
        "RdmaWriteBytes": written,
        "RdmaWriteBytesByPeer": written,
        "RdmaReadBytes": sum(read.length for side in sides for read in side.reads),
        "RingWrites": len(put),
        "RingReads": len(put),
        "RingBytesWritten": sum(m.payload for m in put),
        "RingBytesRead": sum(m.payload for m in put),
        "RdmaReadBytesByPeer": sum(o.reported for o in advertised if o.end is not None),
    }


# Modules without rings do not have these.
RING_COUNTERS = ("RingWrites", "RingReads", "RingBytesWritten", "RingBytesRead")


def judge_counters(decoder, text):
    """The module's counters agree with the captures, and count no violation."""
    counters = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
    expected = counted(decoder)
    # A connection's last credit update is useless; the connection may end before it is sent.
    lost = counters.get("CreditUpdatesSent", 0) - expected["CreditUpdatesSent"]
    if 0 < lost <= len(decoder.connections):
        expected["CreditUpdatesSent"] += lost
        expected["MsgsSent"] += lost
    expected.update((name, 0) for name in counters if name.startswith("Bad"))
    wrong = list(rules.differ("sdpstat", [(n, counters.get(n), v) for n, v in expected.items()
                                          if n in counters or n not in RING_COUNTERS]))
    return "sdpstat", "counters", wrong


KINDS = {
    rules.DATA: "Data", rules.DISCONN: "DisConn", rules.CHRCVBUF: "ChRcvBuf",
    rules.CHRCVBUF_ACK: "ChRcvBufAck", rules.SRC_AVAIL: "SrcAvail",
    rules.RDMA_RD_COMPL: "RdmaRdCompl", rules.SENDSM: "SendSm",
    rules.SRC_CANCEL: "SrcAvailCancel", rules.MODE_CHANGE: "ModeChange",
    rules.SINK_AVAIL: "SinkAvail", rules.RDMA_WR_COMPL: "RdmaWrCompl",
    rules.SINK_CANCEL: "SinkAvailCancel", rules.SINK_CANCEL_ACK: "SinkCancelAck",
    rules.RING_ASK: "RingAsk", rules.RING_AVAIL: "RingAvail",
}
OF_RINGS = (rules.RING_ASK, rules.RING_AVAIL)


def judge_kinds(decoder, facts):
    """Every kind of message occurs in the captures: a rule without a subject proves nothing."""
    seen = {m.mid for c in decoder.connections for side, _ in c.sides() for m in side.messages}
    rings_used = any(fact.flow_control != "credit" for fact in facts)
    return "capture", "every kind of message", [
        f"there is no {name}" for mid, name in KINDS.items()
        if mid not in seen and (rings_used or mid not in OF_RINGS)]


def read_facts(path):
    with open(path, encoding="ascii") as lines:
        return [rules.Facts(line) for line in lines if line.strip()]


def summary(decoder):
    """Prints the number of connections, messages and so on."""
    sides = [side for c in decoder.connections for side, _ in c.sides()]
    messages = [m for side in sides for m in side.messages]
    print(f"# {len(decoder.connections)} connections, {len(messages)} messages, "
          f"{sum(m.packets > 1 for m in messages)} of them in several packets, "
          f"{sum(m.mid == rules.DATA and not m.payload for m in messages)} credit updates, "
          f"{sum(m.mid == rules.CHRCVBUF for m in messages)} requests for other sizes "
          f"and {sum(m.mid == rules.CHRCVBUF_ACK for m in messages)} answers, "
          f"{sum(side.repeated for side in sides)} packets sent again")
    kinds = collections.Counter(o.kind for c in decoder.connections
                                for _, _, o in srcavails.all_srcavails(c))
    print(f"# {sum(kinds.values())} srcavails and {sum(len(side.reads) for side in sides)} "
          "RDMA reads; of the srcavails are " +
          (", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())) or "none") +
          f"; {sum(m.mid == modes.MODE_CHANGE for m in messages)} changes of mode")
    fates = collections.Counter(sinkavail.fate for c in decoder.connections if c.reply
                                for flow in sinkavails.flows(c) for sinkavail in flow.sinkavails)
    print(f"# {sum(fates.values())} buffers and {sum(len(side.writes) for side in sides)} "
          "RDMA writes; of the buffers are " +
          (", ".join(f"{fate} {number}" for fate, number in sorted(fates.items())) or "none"))
    print(f"# {sum(m.mid == rings.RING_AVAIL and m.whole > 0 for m in messages)} rings, with "
          f"{sum(m.put is not None for m in messages)} messages in them; "
          f"{sum(m.freed is not None for m in messages)} messages say what has been read there")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0])
    parser.add_argument("-s", dest="sdpstat")
    parser.add_argument("facts")
    parser.add_argument("captures", nargs="+")
    options = parser.parse_args()

    facts = read_facts(options.facts)
    try:
        decoder = decode.decode(options.captures)
    except decode.DecodeError as error:
        sys.exit(f"error: {error}")
    tap = Tap()
    summary(decoder)
    for name, rule, wrong in judge(decoder, facts):
        tap.point(f"{name}: {rule}", wrong)
    name, rule, wrong = judge_kinds(decoder, facts)
    tap.point(f"{name}: {rule}", wrong)
    if options.sdpstat:
        with open(options.sdpstat, encoding="ascii") as file:
            name, rule, wrong = judge_counters(decoder, file.read())
        tap.point(f"{name}: {rule}", wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
