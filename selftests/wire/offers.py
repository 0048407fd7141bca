# SPDX-License-Identifier: GPL-2.0
"""Offers: what has to be true of SrcAvail and of all that follows from it.

The source offers a large write: SrcAvail carries its first bytes and says where all of it lies.
The sink reads the rest by RDMA, and reports how much (RdmaRdCompl), or wants it in messages
(SendSm); either may end the offer. SrcAvailCancel asks the sink for that end.

In Pipelined nothing goes along, and a buffer of the sink's that is not stale (adverts.py) ends the
offer, too: it is an answer, or has crossed the offer (C8).

Which messages an end had heard is what its headers acknowledge. An RDMA read has no header, so
for what it may follow the order of capture is taken: both ends have the same clock. What one
end has sent, reads and messages, has an order of its own, that of the packet numbers.

The count of RdmaRdCompl is taken as bytes read by RDMA, those in SrcAvail not included.
"""
import decode
from adverts import Flow, flows, RDMA_WR_COMPL, SINK_AVAIL
from modes import Half, PIPELINED
from resize import DATA, DISCONN

SENDSM, RDMA_RD_COMPL, SRC_CANCEL, SRC_AVAIL = 0x04, 0x06, 0x08, 0xfe
# On an answer: the sink's reader would rather have been written to.
REQ_PIPE = 0x04
# The low byte of a key is another one with each use; the rest tells registrations apart.
KEY_SHIFT = 8


class Offer:
    """One SrcAvail, and what the sink has made of it.

    reads		RDMA reads while it was open at the sink
    parts		how often something was read: several requests may follow one another
    reports		RdmaRdCompl
    end			the message that ends it: the report of its last byte, SendSm, or SinkAvail
    cancels		SrcAvailCancel, sent before its end was heard
    """

    def __init__(self, message):
        self.message = message
        self.reads = []
        self.parts = 0
        self.reports = []
        self.end = None
        self.cancels = []

    @property
    def rest(self):
        """What is to be read: all but the bytes that went along."""
        return self.message.whole - self.message.payload

    @property
    def first_va(self):
        return self.message.va + self.message.payload

    @property
    def end_va(self):
        return self.message.va + self.message.whole

    def contains(self, read):
        return self.first_va <= read.va < read.va + read.length <= self.end_va

    @property
    def reported(self):
        return sum(m.count for m in self.reports)

    @property
    def declined(self):
        return self.end is not None and self.end.mid == SENDSM

    @property
    def overtaken(self):
        return self.end is not None and self.end.mid == SINK_AVAIL

    @property
    def wants_writes(self):
        return self.end is not None and bool(self.end.flags & REQ_PIPE)

    @property
    def kind(self):
        """What became of it, in a word."""
        if self.end is None:
            return "open"
        if self.overtaken:
            return "overtaken"
        if self.cancels and self.end.ack < self.cancels[0].mseq:
            return "crossed"
        if self.declined and self.cancels:
            return "cancelled"
        if self.declined:
            return "rest" if self.reads else "declined"
        return "parts" if self.parts > 1 else "read"

    def out(self, m):
        """Is it out when the source sends `m`? It has not heard the end then."""
        return m.mseq > self.message.mseq and (self.end is None or m.ack < self.end.mseq)

    def open_at(self, m):
        """Is it open when the sink sends `m`? It has heard of it then, and has not ended it."""
        return m.ack >= self.message.mseq and (self.end is None or m.mseq <= self.end.mseq)

    def __str__(self):
        return f"the offer in frame {self.message.number}"


class Direction:
    """The offers of one end, the source, and what belongs to none.

    stray_reads		RDMA reads of the sink while no offer was open
    stray_answers	its RdmaRdCompl and SendSm, likewise
    stray_cancels	SrcAvailCancel of the source while, as far as it knew, none was out
    """

    def __init__(self, connection, source):
        self.source = source
        self.sink = connection.peer_of(source)
        self.offers = [Offer(m) for m in source.messages if m.mid == SRC_AVAIL]
        self.stray_reads, self.stray_answers, self.stray_cancels = [], [], []
        self.overtakes = {advert.message: advert for advert in Flow(connection, source).adverts
                          if advert.accepted} if self.offers else {}
        for before, request in zip([None] + self.sink.requests, self.sink.requests):
            if isinstance(request, decode.Read):
                self.add_read(request, not isinstance(before, decode.Read))
            elif request in self.overtakes:
                self.add_buffer(self.overtakes[request])
            elif isinstance(request, decode.Message) and request.mid in (RDMA_RD_COMPL, SENDSM):
                self.add_answer(request)
        for m in source.messages:
            if m.mid == SRC_CANCEL:
                self.add_cancel(m)

    def add_read(self, read, begins):
        come = [o for o in self.offers if o.message.end < read.number]
        if come and come[-1].end is None:
            come[-1].reads.append(read)
            come[-1].parts += begins or not come[-1].parts
        else:
            self.stray_reads.append(read)

    def add_answer(self, m):
        heard = [offer for offer in self.offers if offer.message.mseq <= m.ack]
        if not heard or heard[-1].end is not None:
            self.stray_answers.append(m)
            return
        offer = heard[-1]
        if m.mid == RDMA_RD_COMPL:
            offer.reports.append(m)
        if m.mid == SENDSM or offer.reported >= offer.rest:
            offer.end = m

    def add_buffer(self, advert):
        """It ends what is out when the source hears of it, whether the sink knew that or not."""
        for offer in self.offers:
            if offer.end is None and offer.message.mseq < advert.before:
                offer.end = advert.message

    def add_cancel(self, m):
        out = [offer for offer in self.offers if offer.out(m)]
        if out:
            out[-1].cancels.append(m)
        else:
            self.stray_cancels.append(m)

    def sent(self, first, last=None):
        """Bytes of the source, in messages, or written, after `first` and before `last`."""
        return sum(m.count if m.mid == RDMA_WR_COMPL else m.payload for m in self.source.messages
                   if m.mseq > first and (last is None or m.mseq < last))


def directions(connection):
    return [Direction(connection, side) for side, _ in connection.sides()]


def of_source(connection, side):
    """The offers that `side` has made."""
    return Direction(connection, side).offers


def all_offers(connection):
    """(source, sink, offer) of both directions."""
    return [(d.source, d.sink, o) for d in directions(connection) for o in d.offers]


def travelled(connection, side):
    """Bytes of `side` that have got to the other end, in whatever way."""
    carried = sum(m.payload for m in side.messages if m.mid in (DATA, SRC_AVAIL, SINK_AVAIL))
    written = sum(m.count for m in side.messages if m.mid == RDMA_WR_COMPL)
    sink = connection.peer_of(side)
    return carried + written + sum(m.count for m in sink.messages if m.mid == RDMA_RD_COMPL)


def offer_forms(connection, facts):
    """SrcAvail carries the first bytes, at least one, and more are to follow. In Pipelined it
    carries none.
    """
    for side, _ in connection.sides():
        for m, mode in Half(connection, side).walk(side):
            if m.mid != SRC_AVAIL:
                continue
            fits = not m.payload if mode == PIPELINED else m.payload >= 1
            if not fits or m.payload >= m.whole:
                yield f"{side.name}: {m}: {m.payload} bytes went along, of {m.whole}"


def offer_settings(connection, facts):
    """Writes from the threshold on are offered, none if it is 0; reading can be forbidden."""
    for side, sink, offer in all_offers(connection):
        if not facts.rdma_threshold or offer.message.whole < facts.rdma_threshold:
            yield (f"{side.name}: {offer.message} offers {offer.message.whole} bytes, the "
                   f"threshold is {facts.rdma_threshold}")
        if not facts.rdma_read and (offer.reads or offer.reports):
            yield f"{sink.name}: {offer} was read"


def offers_single(connection, facts):
    """One offer at a time: the next one goes when the end of the one before has been heard."""
    for direction in directions(connection):
        for before, offer in zip(direction.offers, direction.offers[1:]):
            if before.out(offer.message):
                yield f"{direction.source.name}: {offer.message} while {before} is out"


def offer_order(connection, facts):
    """Nothing of the stream overtakes an offer: no payload, nothing written, and no DisConn."""
    for side, _, offer in all_offers(connection):
        for m in side.messages:
            stream = m.mid in (DISCONN, RDMA_WR_COMPL) or m.mid != SRC_AVAIL and m.payload > 0
            if stream and offer.out(m):
                yield f"{side.name}: {m}: MID {m.mid:#x} while {offer} is out"


def offer_keys(connection, facts):
    """Each use of a registration, for an offer or for a read, gives it another key.

    Which one is a matter of chance: after a read or a write, for which the own memory's key does
    not show, it may be an earlier one.
    """
    for direction in directions(connection):
        keys = {}
        for request in direction.source.requests:
            if isinstance(request, (decode.Read, decode.Write)):
                keys.clear()
            elif isinstance(request, decode.Message) and request.mid in (SRC_AVAIL, SINK_AVAIL):
                registration = request.rkey >> KEY_SHIFT
                if keys.get(registration) == request.rkey:
                    yield f"{direction.source.name}: {request} has the key {request.rkey:#x} again"
                keys[registration] = request.rkey


def keys_revoked(connection, facts):
    """Who has no more use for the other's memory takes its key back, with its last word about it:
    the report of the last byte read, SendSm, or the report of what was written.
    """
    due = {}
    for direction in directions(connection):
        due.update((offer.end, offer.message.rkey) for offer in direction.offers
                   if offer.end is not None and not offer.overtaken)
    for flow in flows(connection):
        due.update((filling.report, filling.advert.message.rkey) for filling in flow.fillings)
    for side, _ in connection.sides():
        for m in side.messages:
            if m.revoked != due.get(m):
                yield f"{side.name}: {m} revokes {show(m.revoked)}, not {show(due.get(m))}"


def show(key):
    return "nothing" if key is None else f"{key:#x}"


def reads_open(connection, facts):
    """Nobody reads before an offer has come, after its end was sent, or its cancel heard."""
    for direction in directions(connection):
        for read in direction.stray_reads:
            yield f"{direction.sink.name}: {read} while nothing was offered"
        heard = 0
        for request in direction.sink.requests:
            if isinstance(request, decode.Message):
                heard = max(heard, request.ack)
            if not isinstance(request, decode.Read):
                continue
            for offer in direction.offers:
                if request in offer.reads and any(m.mseq <= heard for m in offer.cancels):
                    yield f"{direction.sink.name}: {request}: the cancel of {offer} was heard"


def reads_within(connection, facts):
    """A read lies within what was offered, behind the bytes that came along, with its key."""
    for _, sink, offer in all_offers(connection):
        for read in offer.reads:
            if read.rkey != offer.message.rkey:
                yield (f"{sink.name}: {read} with the key {read.rkey:#x}, {offer} has "
                       f"{offer.message.rkey:#x}")
            if not offer.contains(read):
                yield (f"{sink.name}: {read} from {read.va:#x}, {offer} leaves "
                       f"{offer.first_va:#x} to {offer.end_va:#x}")


def reads_once(connection, facts):
    """Each byte is read once, in order: a report says no more than how many have been."""
    for _, sink, offer in all_offers(connection):
        following = offer.first_va
        for read in offer.reads:
            # One that lies elsewhere is a matter of the rule before.
            if read.va != following and offer.contains(read):
                yield f"{sink.name}: {read} from {read.va:#x}, {following:#x} is next"
            following = read.va + read.length


def read_answers(connection, facts):
    """A read gets as many bytes as it has asked for."""
    for side, peer in connection.sides():
        for read in side.reads:
            if read.end is None or read.bytes != read.length:
                yield f"{peer.name}: {read.bytes} bytes in answer to {read}"


def report_faults(offer):
    come = reported = 0
    reads = list(offer.reads)
    for m in offer.reports:
        reported += m.count
        while reads and reads[0].end is not None and reads[0].end < m.number:
            come += reads.pop(0).length
        if not m.count or reported > come:
            yield f"{m} reports {m.count}, {reported} in all, and {come} have come"
    asked = sum(read.length for read in offer.reads)
    if offer.declined and reported != asked:
        yield f"{offer.end} declines {offer} after {reported} of {asked} bytes were reported"
    read = offer.end is not None and not offer.declined and not offer.overtaken
    if read and reported != offer.rest:
        yield f"{offer.end} ends {offer} with {reported} bytes, not {offer.rest}"


def read_reports(connection, facts):
    """RdmaRdCompl says what has come, and at the end of an offer all of it has been said."""
    for _, sink, offer in all_offers(connection):
        for fault in report_faults(offer):
            yield f"{sink.name}: {fault}"


def offer_answers(connection, facts):
    """RdmaRdCompl and SendSm are for an offer that is open; others the sink disregards."""
    for direction in directions(connection):
        for m in direction.stray_answers:
            yield f"{direction.sink.name}: {m}: MID {m.mid:#x} while nothing was offered"


def offer_ends(connection, facts):
    """Each offer comes to its end."""
    for side, _, offer in all_offers(connection):
        if offer.end is None:
            yield f"{side.name}: {offer} has no end"


def offer_cancels(connection, facts):
    """SrcAvailCancel goes once, and only while the source has not heard the end."""
    for direction in directions(connection):
        for m in direction.stray_cancels:
            yield f"{direction.source.name}: {m} cancels, and nothing is out"
        for offer in direction.offers:
            for m in offer.cancels[1:]:
                yield f"{direction.source.name}: {m} cancels {offer} again"


def offer_rest(connection, facts):
    """What was refused follows, before anything else is offered.

    A writer that gives up does not go on, so this is not for those that may.
    """
    if facts.sndtimeo:
        return
    for direction in directions(connection):
        following = [offer.message.mseq for offer in direction.offers[1:]] + [None]
        for offer, last in zip(direction.offers, following):
            rest = offer.rest - offer.reported
            sent = direction.sent(offer.message.mseq, last)
            if offer.declined and sent < rest:
                yield (f"{direction.source.name}: {sent} bytes after {offer} was refused, "
                       f"{rest} were left")


def both_out(connection):
    """Were there offers of both directions that nobody had answered, by the order of capture?"""
    spans = [[(o.message.number, o.end.number) for o in d.offers if o.end is not None]
             for d in directions(connection)]
    return any(a < d and c < b for a, b in spans[0] for c, d in spans[1])


def exchanges(connection):
    """What there was: the kinds of its offers, both, or none (see offers= in traffic.c)."""
    found = {offer.kind for _, _, offer in all_offers(connection)} or {"none"}
    return found | ({"both"} if both_out(connection) else set())


RULES = (offer_forms, offer_settings, offers_single, offer_order, offer_keys, keys_revoked,
         reads_open, reads_within, reads_once, read_answers, read_reports, offer_answers,
         offer_cancels, offer_rest)
