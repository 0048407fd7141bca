# SPDX-License-Identifier: GPL-2.0
"""Each end's view of the receive sizes, just before each message that it sends.

A header's MSeqAck says exactly which messages its sender had received, so the resize handshake
(E1-E4) can be followed from each end's point of view, without the order of capture. The number
of posted receives is not on the wire; Bufs gives bounds:

	when a request arrives	at least as many are posted as the preceding header granted, less
				what has arrived since; at most as many as the next header grants,
				plus what arrives until then

Few receives of the first size are posted until the other end needs more. The credit that it has
left after a message is on the wire, but when the message arrived and how long a pause was is known
nearly only. So more than one number may be possible.

This file judges nothing; rules.py does.
"""
DATA, DISCONN, CHRCVBUF, CHRCVBUF_ACK = 0xff, 0x02, 0x0b, 0x0c
RDMA_WR_COMPL, RDMA_RD_COMPL = 0x05, 0x06

BSDH_LEN = 16
# Limit for all larger receives together, unless SO_RCVBUF is less; and the least useful number of
# them.
RECEIVES_BYTES = 512 * 1024
RECEIVES_LEAST = 3
# The module counts pauses in jiffies from the arrival of a message, which may be late: only half of
# a pause is certain.
PAUSE_CERTAIN = 0.5


def is_update(m):
    """An empty Data: a credit update, or a message that uses up a larger receive."""
    return m.mid == DATA and not m.payload


class End:
    """One end: its view of both directions.

    send_size		the other end's receive size: no message may be longer
    send_first		the same at first
    recv_size		its own receive size, as it has announced it
    asked		its request that awaits an answer
    void		its request that the other end's crossing request has made void (E4)
    owed		the other end's request that it has received and not answered
    ignored		the other end's request that crossed its own, and is void (E4)
    refusals		answers that were not what it had asked for
    since		number of its messages before the last answer that it has received
    paused_at		when it sent its last payload, or the other end reported its last read
    flush_to		up to this number its messages may be empty: they use up receives that
    			are larger than needed now
    used_up		numbers of the other end's messages that must have, and that may have, used
    			the last receive of the size before the request `owed`
    limits		numbers up to which its Hello and each message of it allow the other end to
			send
    demand		whether the other end needs all receives: the possible answers
    few			number of receives of the first size that it keeps posted without a
			demand, once it is accepted
    most		number of receives of the first size that it may have posted by now
    low_at		when the other end last had little credit left
    data_at		when the other end last sent Data with payload
    """

    def __init__(self, connection, facts, side):
        self.facts = facts
        self.side = side
        self.peer = connection.peer_of(side)
        self.connecting = side is connection.client
        self.send_size = self.send_first = self.recv_size = facts.recv_buffer_size
        self.asked = self.void = self.owed = self.ignored = None
        self.heard = self.refusals = self.since = self.flush_to = 0
        self.paused_at = None
        self.disconn_heard = False
        self.used_up = (0, None)
        self.told = connection.request.bufs if self.connecting else connection.reply.bufs
        # Known to be accepted. Until then a listener's receives may be its first few.
        self.accepted = self.connecting
        self.limits = [self.told]
        self.demand = {False}
        self.few = self.most = max(facts.hello_bufs,
                                   0 if self.connecting else facts.hello_ack_bufs)
        self.low_at = self.data_at = None
        # A size above recv_size of which receives may still be posted after a shrink.
        self.lingers = None
        self.granted = False

    def larger(self, size):
        """Number of receives that it keeps posted, if they have this size, a larger one."""
        return max(RECEIVES_LEAST, self.room_for(size))

    def small(self):
        """Numbers of receives of the first size that it may keep posted now."""
        found = {self.facts.recv_buffers if needed else self.few for needed in self.demand}
        return found if self.accepted else {self.few, self.facts.hello_ack_bufs}

    def receives(self):
        """Numbers of receives that it may keep posted now: nearly always one."""
        found = set()
        for size in self.sizes():
            if size > self.facts.recv_buffer_size:
                found.add(self.larger(max(size, self.lingers or 0)))
                continue
            found |= self.small()
            if self.lingers:
                found |= {min(self.larger(self.lingers), n) for n in self.small()}
        return found

    def room_for(self, size):
        room = RECEIVES_BYTES
        if self.facts.rcvbuf and not self.connecting:
            room = min(room, self.facts.rcvbuf)
        return min(room // (size - BSDH_LEN), self.facts.recv_buffers)

    def may_grow(self, size):
        """True if it would have enough receives of this size."""
        return (size <= self.facts.recv_buffer_max
                and self.facts.recv_buffer_max > self.facts.recv_buffer_size * 9 // 8
                and self.room_for(size) >= RECEIVES_LEAST)

    def grows(self):
        """True if it is asked for larger receives."""
        return self.owed is not None and self.owed.size > self.recv_size

    def sizes(self):
        """Sizes of the receives that it may post now."""
        found = {self.recv_size}
        if self.grows() and self.may_grow(self.owed.size):
            # If it refuses in the end, it may have tried for a while.
            found = {self.owed.size} if self.granted else found | {self.owed.size}
        elif self.owed is not None and not self.grows():
            found = {self.owed.size}
        return found

    def thresholds(self):
        """Possible values of T now: nearly always one."""
        return {self.facts.threshold(number) for number in self.receives()}

    def answer_due(self, m):
        """True if `m` certainly should have been the answer."""
        if self.owed is None or self.disconn_heard:
            return False
        if not self.grows() or not self.may_grow(self.owed.size):
            return True
        return self.used_up[1] is not None and m.ack >= self.used_up[1]

    def paused(self, since, m):
        """True if so much time may have passed that few receives are enough again."""
        return (since is not None and
                (m.time - since) * 1000 >= PAUSE_CERTAIN * self.facts.resize_idle_ms)

    def hear_demand(self, m):
        """How many receives it posts for the other end's further messages."""
        if m.mid == CHRCVBUF and m.size <= self.facts.recv_buffer_size:
            self.demand = {False}
            return
        sizes = self.sizes()
        if is_update(m) or m.mid == DISCONN or min(sizes) > self.facts.recv_buffer_size:
            return
        settled = len(sizes) == 1 and m.mid != CHRCVBUF
        left = self.limits[min(m.ack, len(self.limits) - 1)] - m.mseq
        needs = self.thresholds()
        pause = m.mid == DATA and self.paused(self.data_at, m)
        if left < max(needs):
            self.low_at = m.time
            self.most = self.facts.recv_buffers
            certain = left < min(needs) and settled and not pause
            self.demand = {True} if certain else self.demand | {True}
        if pause or left >= min(needs) and self.paused(self.low_at, m):
            self.demand = self.demand | {False}

    def hear(self, m, following):
        """`following`: what it has sent afterwards."""
        self.hear_demand(m)
        if m.mid == DATA and m.payload:
            self.data_at = m.time
        if m.mid == CHRCVBUF:
            self.hear_request(m, following)
        elif m.mid == CHRCVBUF_ACK:
            self.hear_answer(m)
        elif m.mid == DISCONN:
            self.disconn_heard = True
        elif m.mid == RDMA_RD_COMPL:
            self.paused_at = m.time

    def hear_request(self, m, following):
        if self.asked is not None and not self.connecting:
            self.ignored = m
            return
        if self.asked is not None:
            self.void, self.asked = self.asked, None
        self.owed, self.ignored = m, None
        self.used_up = (self.told, None)
        if m.size < self.recv_size:
            self.lingers = self.recv_size
        if m.size > self.facts.recv_buffer_size and self.may_grow(m.size):
            self.most = max(self.most, self.larger(m.size))
        answers = [n.size for n in following if n.mid == CHRCVBUF_ACK]
        self.granted = answers[:1] == [m.size]

    def hear_answer(self, m):
        if self.asked is None:
            return
        wanted = self.asked.size
        if wanted > self.send_size:
            self.refusals += m.size == self.send_size
        elif m.size == wanted:
            self.flush_to = m.ack + m.bufs
        self.send_size = max(self.send_size, min(m.size, self.facts.recv_buffer_max))
        self.asked = None
        self.since = -1

    def accept(self, m):
        """A grant that exceeds the first one shows that the connection is accepted."""
        grown = m.mid == CHRCVBUF_ACK and m.size > self.facts.recv_buffer_size
        if m.bufs > self.limits[0] or grown:
            self.accepted = True

    def send(self, m):
        if self.used_up[1] is None:
            self.used_up = (self.used_up[0], m.ack + m.bufs)
        if m.mid == CHRCVBUF:
            self.asked, self.void = m, None
            self.send_size = min(self.send_size, m.size)
        elif m.mid == CHRCVBUF_ACK and self.owed is not None:
            if m.size > self.recv_size:
                self.lingers = None
            self.recv_size = m.size
            self.owed = None
        if m.payload or m.mid == RDMA_WR_COMPL:
            self.paused_at = m.time
        self.told = m.ack + m.bufs
        self.limits.append(self.told)


def walk(connection, facts, side):
    """Each message of `side`, and its End as it was just before."""
    end = End(connection, facts, side)
    for index, m in enumerate(side.messages):
        for news in end.peer.messages[end.heard:m.ack]:
            end.hear(news, side.messages[index:])
        end.heard = max(end.heard, m.ack)
        if end.since < 0:
            end.since = index
        if end.used_up[1] is not None and m.ack >= end.used_up[1]:
            end.lingers = None
        end.accept(m)
        yield m, end
        end.send(m)
