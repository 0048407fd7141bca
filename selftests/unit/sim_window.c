// SPDX-License-Identifier: GPL-2.0
/*
 * Simulator of a connection by datagrams, on a network that loses, doubles, reorders, delays and
 * marks them (I1 to I5).
 *
 *	windows [--schedules N] [--seed S]
 *
 * Two sides send each other messages of one packet or several. Each schedule draws the network, the
 * messages, when they are written and how fast they are read. A receiver has room for some packets
 * only and drops the rest, as the design expects. Each message has to be passed on once and in
 * order, and acknowledged in the end.
 *
 * If the network loses and reorders nothing, no timeout may expire; if it does not mark packets
 * either, nothing goes twice. In some schedules it is perfect: there are no more acknowledgments by
 * themselves than I2 says then, and nobody waits for one that is late. In others it is cut for
 * good: each side that waits for an acknowledgment has to notice. In others it loses a packet now
 * and then, more than a window apart, and nothing else: there is one NACK for each (I1). In others
 * a receiver drops all packets for a while, but answers Probes: that is no reason to end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "window.h"

#define MESSAGES	400
#define FLYING		4096
/* So many that chance alone does not end a connection on the worst network here. */
#define RETRIES		30

enum kind { MIXED, STREAM, PING_PONG, CUT, SPARSE, KINDS };

struct message {
	u64 at;			/* when it is written */
	u32 seq, packets;
};

struct flight {
	u64 at;			/* when it arrives */
	u32 order;		/* of two at the same time, the one that was sent first */
	bool marked;
	u8 to;
	u8 header[SDP_DATAGRAM_LEN];
	u32 message;		/* Data: the message that the packet is of */
};

struct side {
	struct sdp_window w;
	struct message list[MESSAGES];
	u32 messages;		/* how many there will be */
	u32 added, released;	/* of these, in order */
	u32 read;		/* messages passed on */
	u32 arriving;		/* packets of the one that is arriving */
	u64 link_free;		/* when its link can take the next packet */
	u64 reads_until;	/* when what has arrived has been read */
	u64 pumped_at;			/* what is written later has not been seen */
	u64 last_heard;
	u32 acks, nacks, probes, timeouts, hastened, again, packets, dropped;
	bool dead;
};

static struct side sides[2];
static struct flight heap[FLYING];
static u32 n_heap, order;
static u64 state, schedule, now, cut_at;
static u32 clock_base;
static enum kind kind;
/* Of 10,000 datagrams, how many are lost, doubled, late, marked. */
static u32 lose, twice, late, mark;
/* Microseconds: on the way; for a packet to be sent, and to be read; what "late" adds. */
static u32 latency, pace, reading, lateness;
/* Packets that a receiver has room for. */
static u32 room;
/* From one time to another a receiver has no memory for packets, and takes all else. */
static u64 deaf_from, deaf_until;
/* Of so many writes one waits for the acknowledgment of what was sent; 0: none does. */
static u32 hurry;
/* Of all packets one of so many is lost, and how many were; in SPARSE. */
static u32 every, given, lost;
static unsigned long late_packets, late_timeouts;
static unsigned long total, total_again, total_nacks, total_probes, total_dropped, total_lost;

static u32 draw(u32 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

#define NEED(condition)								\
	do {									\
		if (!(condition)) {						\
			printf("not ok 1 - schedule %llu, line %d: %s\n",	\
			       (unsigned long long)schedule, __LINE__, #condition); \
			exit(1);						\
		}								\
	} while (0)

static u32 clock_now(void)
{
	return clock_base + (u32)now;
}

static bool earlier(const struct flight *a, const struct flight *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_put(const struct flight *f)
{
	u32 i = n_heap++;

	NEED(n_heap <= FLYING);
	while (i && earlier(f, &heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = *f;
}

static struct flight heap_take(void)
{
	struct flight first = heap[0], last = heap[--n_heap];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < n_heap) {
		if (child + 1 < n_heap && earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!earlier(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

static bool cut(void)
{
	return kind == CUT && now >= cut_at;
}

static bool is_lost(const struct sdp_datagram *d)
{
	if (kind != SPARSE)
		return draw(10000) < lose;
	if (d->type != SDP_DATAGRAM_DATA || ++given % every)
		return false;
	lost++;
	return true;
}

/* Gives a datagram to the network. */
static void transmit(struct side *s, struct sdp_datagram *d, u32 message)
{
	struct flight f = { .to = s == sides, .message = message };
	u32 copies = is_lost(d) ? 0 : draw(10000) < twice ? 2 : 1;

	d->to = 17;
	d->from = 4;
	sdp_datagram_build(f.header, d);
	s->link_free = max(s->link_free, now) + pace;
	for (; copies && !cut(); copies--) {
		f.order = order++;
		f.at = s->link_free + latency + (draw(10000) < late ? draw(lateness) : 0);
		f.marked = draw(10000) < mark;
		heap_put(&f);
	}
}

/* The packet that is next. */
static void send_packet(struct side *s)
{
	struct sdp_datagram d;
	u32 i = s->added - 1;

	while (sdp_seq_after(s->list[i].seq, s->w.tx.sent))
		i--;
	if (s->w.tx.sent != s->w.tx.top)
		s->again++;
	else
		s->packets++;
	sdp_window_packet(&s->w, &d, s->list[i].seq, s->list[i].packets, clock_now());
	NEED(d.offset < d.packets);
	transmit(s, &d, i);
}

static void send_control(struct side *s, enum sdp_datagram_type type)
{
	struct sdp_datagram d;

	s->acks += type == SDP_DATAGRAM_ACK;
	s->nacks += type == SDP_DATAGRAM_NACK;
	s->probes += type == SDP_DATAGRAM_PROBE;
	sdp_window_control(&s->w, &d, type, clock_now());
	transmit(s, &d, 0);
}

/* In ping-pong, side 0 begins, and each message is the answer to the one before. */
static bool has_message(const struct side *s)
{
	if (s->added == s->messages || s->list[s->added].at > now)
		return false;
	return kind != PING_PONG || s->added < s->read + (s == sides);
}

/* I1, I3: the window, and two large messages. */
static void check_window(const struct side *s)
{
	u32 i, large = 0;

	for (i = s->released; i < s->added; i++)
		large += s->list[i].packets >= sdp_window_quarter(s->w.tx.window);
	NEED(large <= 2);
	NEED(s->w.tx.next - s->w.tx.acked <= s->w.tx.window);
	NEED(s->w.tx.sent - s->w.tx.acked <= s->w.tx.window);
}

static void pump(struct side *s)
{
	enum sdp_datagram_type type;
	u32 added = s->added;

	s->pumped_at = now;
	while (has_message(s) && sdp_window_tx_may_add(&s->w.tx, s->list[s->added].packets)) {
		s->list[s->added].seq = sdp_window_tx_add(&s->w.tx, s->list[s->added].packets);
		s->added++;
		check_window(s);
	}
	if (s->added != added && hurry && !draw(hurry) && !s->w.probe)
		s->hastened += sdp_window_hasten(&s->w);
	while (sdp_window_next(&s->w, clock_now(), &type)) {
		if (type == SDP_DATAGRAM_DATA)
			send_packet(s);
		else
			send_control(s, type);
	}
}

static void release(struct side *s)
{
	const struct message *m = &s->list[s->released];

	while (s->released < s->added && !sdp_seq_after(m->seq + m->packets, s->w.tx.acked)) {
		NEED(sides[s == sides].read > s->released);
		s->released++;
		m++;
	}
}

/* A packet has arrived. What it is of is known here, and has to be what the rules make of it. */
static void read_packet(struct side *s, const struct sdp_datagram *d, u32 message,
			enum sdp_packet what)
{
	const struct message *m = &sides[s == sides].list[message];

	NEED(m->seq == d->seq && m->packets == d->packets);
	switch (what) {
	case SDP_PACKET_AHEAD:
		NEED(message > s->read);
		break;
	case SDP_PACKET_AGAIN:
		NEED(message <= s->read);
		break;
	case SDP_PACKET_PART:
	case SDP_PACKET_WHOLE:
		NEED(message == s->read);
		s->arriving++;
		NEED((what == SDP_PACKET_WHOLE) == (s->arriving == m->packets));
		if (what == SDP_PACKET_WHOLE) {
			s->read++;
			s->arriving = 0;
		}
		break;
	default:
		NEED(!"a packet");
	}
}

static void arrive(const struct flight *f)
{
	struct side *s = &sides[f->to];
	struct sdp_datagram d;
	u32 bytes = SDP_DATAGRAM_LEN;
	enum sdp_packet what;

	if (s->dead || cut())
		return;
	/* The receiver is behind: its room is full. */
	if (s->reads_until > now && (s->reads_until - now) / max(reading, 1U) >= room) {
		s->dropped++;
		return;
	}
	if ((f->header[0] & 15) == SDP_DATAGRAM_DATA && now >= deaf_from && now < deaf_until) {
		s->dropped++;
		return;
	}
	s->reads_until = max(s->reads_until, now) + reading;
	bytes += (f->header[0] & 15) == SDP_DATAGRAM_DATA;
	NEED(sdp_datagram_parse(f->header, bytes, &d) == SDP_VALID);
	what = sdp_window_arrived(&s->w, &d, f->marked, clock_now());
	s->last_heard = now;
	if (d.type == SDP_DATAGRAM_DATA)
		read_packet(s, &d, f->message, what);
	else
		NEED(what == SDP_PACKET_NONE);
	release(s);
	pump(s);
}

/* I4: one Probe for each timeout, and the end when none was answered. */
static void timer(struct side *s)
{
	if (!sdp_window_expired(&s->w, clock_now())) {
		/* The timeout has doubled up to its limit, where it stays. */
		NEED(now - s->last_heard >= (RETRIES - 10) * (u64)SDP_RTO_MAX_US);
		s->dead = true;
		return;
	}
	s->timeouts += s->w.probe;
	pump(s);
}

/* When a timer expires or the application writes; "never" is the largest number. */
static u64 timer_at(const struct side *s)
{
	u64 at = ~0ULL;
	u32 us;

	if (s->dead)
		return at;
	if (sdp_window_wait(&s->w, clock_now(), &us))
		at = now + us;
	if (s->added < s->messages && s->list[s->added].at > s->pumped_at)
		at = min(at, s->list[s->added].at);
	return at;
}

/* The next thing happens; false when nothing will. */
static bool step(void)
{
	u64 at[2] = { timer_at(&sides[0]), timer_at(&sides[1]) }, first = min(at[0], at[1]);
	struct flight f;

	if (n_heap && heap[0].at <= first) {
		f = heap_take();
		now = f.at;
		arrive(&f);
		return true;
	}
	if (first == ~0ULL)
		return false;
	now = first;
	timer(&sides[at[1] < at[0]]);
	return true;
}

static u32 draw_packets(void)
{
	static const u32 most[] = { 1, 4, SDP_CHUNK_PACKETS_MAX };
	u32 i = draw(4);

	return i < 3 ? 1 + draw(most[i]) : SDP_CHUNK_PACKETS_MAX;
}

static void draw_network(void)
{
	static const u32 losses[] = { 0, 10, 100, 500, 1000, 2000 };

	latency = 1 + draw(draw(4) ? 200 : 20000);
	pace = draw(4) ? 1 + draw(10) : 1 + draw(200);
	reading = draw(3 * pace + 2);
	room = 8 + draw(100);
	lateness = 1 + draw(4 * latency);
	lose = losses[draw(6)];
	twice = draw(3) ? 0 : draw(500);
	late = draw(2) ? 0 : draw(2500);
	mark = draw(4) ? 0 : draw(500);
	if (kind == STREAM || kind == PING_PONG || kind == SPARSE) {
		lose = 0;
		twice = 0;
		late = 0;
		mark = 0;
		reading = 0;
		/* An answer comes in time to carry the acknowledgment. */
		latency = 1 + draw(200);
	}
	hurry = kind == STREAM || kind == PING_PONG || draw(3) ? 0 : 1 + draw(50);
	deaf_from = draw(100000);
	deaf_until = kind != MIXED || draw(8) ? 0 : deaf_from + draw(draw(2) ? 1000000 : 60000000);
	every = 2 * SDP_WINDOW_ACCEPTING + draw(200);
	given = 0;
	lost = 0;
}

static u32 draw_messages(u32 side)
{
	if (kind == STREAM || kind == SPARSE)
		return side ? 0 : MESSAGES;
	if (kind == PING_PONG && side)
		return sides[0].messages;
	if (side && !draw(3))
		return 0;
	return draw(50) ? 1 + draw(40) : MESSAGES;
}

/* When the application writes: all at the beginning, or one after the other, or with long rests. */
static void draw_times(struct side *s)
{
	u32 i, gap = draw(2) ? 0 : 1 + draw(draw(2) ? 100 : 20000), rest = draw(4) ? 0 : 3000;
	u64 at = 0;

	for (i = 0; i < s->messages; i++) {
		at += gap ? draw(gap) : 0;
		/* Half an hour: further than half of what the clock can count. */
		if (rest && !draw(20))
			at += (u64)draw(rest) * 1000000;
		s->list[i].at = at;
	}
}

static void begin(void)
{
	static const u32 windows[] = { SDP_WINDOW_CONNECTING, SDP_WINDOW_ACCEPTING };
	u32 base[2], takes[2], i, k, same = draw(3) ? 0 : draw_packets();

	memset(sides, 0, sizeof(sides));
	n_heap = 0;
	order = 0;
	now = 0;
	kind = draw(8) < 5 ? MIXED : 1 + draw(KINDS - 1);
	clock_base = (draw(2) ? 0U : 0x80000000U) - draw(draw(4) ? 1000000 : 1000);
	cut_at = draw(100000);
	draw_network();
	for (i = 0; i < 2; i++) {
		takes[i] = draw(4) ? windows[!i] : 1 + draw(40);
		base[i] = draw(4) ? draw(1000) : (draw(2) ? 0U : 0x80000000U) - draw(300);
	}
	for (i = 0; i < 2; i++) {
		struct sdp_window_config c = {
			.tx_seq = base[i], .rx_seq = base[!i], .tx_window = windows[i],
			.their_window = takes[!i], .rx_window = takes[i], .retries = RETRIES,
			.rtt = 2 * latency + pace,
		};

		sdp_window_init(&sides[i].w, &c);
		sides[i].messages = draw_messages(i);
		for (k = 0; k < sides[i].messages; k++)
			sides[i].list[k].packets = kind == PING_PONG ? 1 :
						   same ? same : draw_packets();
		draw_times(&sides[i]);
	}
}

static bool lossless(void)
{
	return !lose && !lost && !sides[0].dropped && !sides[1].dropped && kind != CUT;
}

/* Nobody waits for an answer that does not come by itself. Nothing goes twice without a reason. */
static void check_lossless(const struct side *s)
{
	/* A window of packets takes less than the shortest timeout. */
	if (latency <= 200 && pace <= 20) {
		NEED(late || !s->timeouts);
		late_packets += s->packets;
		late_timeouts += s->timeouts;
	}
	if (!late && !mark)
		NEED(!s->again && !s->nacks && s->probes == s->timeouts + s->hastened);
}

static u64 last_at(const struct side *s)
{
	return s->list[s->messages - 1].at;
}

/* I2. The last acknowledgment has no message to ride on. */
static void check_perfect(void)
{
	const struct side *a = &sides[0], *b = &sides[1];
	u32 window = b->w.rx.window, unasked = a->packets / sdp_window_quarter(window) + 1;
	u64 busy = (u64)a->packets * pace;

	if (kind == PING_PONG) {
		NEED(a->acks + b->acks <= 1 || last_at(a) || last_at(b));
		return;
	}
	if (window < SDP_WINDOW_CONNECTING)
		unasked += a->packets;
	NEED(b->acks <= unasked || last_at(a));
	/* A round trip for each quarter of the window, but none of the delayed acknowledgments. */
	NEED(now - last_at(a) <=
	     busy + (u64)unasked * (2 * latency + (window + 1) * pace) + SDP_ACK_DELAY_US);
}

/* I1: what is lost is asked for once. */
static void check_sparse(void)
{
	NEED(sides[1].nacks >= lost);
	/*
	 * A Probe may cross with a NACK, and is answered by another one. If a timeout was over
	 * while packets went again, its Probe is of the new round, and they go once more.
	 */
	NEED(sides[1].nacks <= lost + sides[0].probes);
	NEED(!sides[0].nacks);
	NEED(sides[0].again <= (lost + sides[0].timeouts) * SDP_WINDOW_ACCEPTING);
	total_lost += lost;
}

static void check_end(const struct side *s)
{
	if (kind == CUT) {
		NEED(s->dead || s->w.tx.acked == s->w.tx.top);
		NEED(!s->dead || s->w.tx.acked != s->w.tx.top);
		return;
	}
	NEED(!s->dead);
	NEED(s->released == s->messages && s->w.tx.acked == s->w.tx.next);
	NEED(sides[s == sides].read == s->messages);
	if (lossless())
		check_lossless(s);
}

static void run(void)
{
	u32 n;

	begin();
	pump(&sides[0]);
	pump(&sides[1]);
	for (n = 0; step(); n++)
		NEED(n < 2000000);
	check_end(&sides[0]);
	check_end(&sides[1]);
	if (kind == STREAM || kind == PING_PONG)
		check_perfect();
	if (kind == SPARSE)
		check_sparse();
	for (n = 0; n < 2; n++) {
		total += sides[n].packets;
		total_again += sides[n].again;
		total_nacks += sides[n].nacks;
		total_probes += sides[n].probes;
		total_dropped += sides[n].dropped;
	}
}

int main(int argc, char **argv)
{
	u64 schedules = 100000, seed = 1;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--schedules"))
			schedules = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
	}
	for (schedule = seed; schedule < seed + schedules; schedule++) {
		state = schedule * 0x9e3779b97f4a7c15ULL + 1;
		draw(2);
		run();
	}
	printf("# %llu schedules from %llu on, %lu packets, %lu again, %lu NACKs, %lu Probes\n",
	       (unsigned long long)schedules, (unsigned long long)seed, total, total_again,
	       total_nacks, total_probes);
	printf("# %lu packets found no room; %lu were lost one by one, a NACK each\n",
	       total_dropped, total_lost);
	/* Else nothing was shown. */
	NEED(schedules < 1000 || total_lost);
	/*
	 * What overtakes others is dropped, and of an earlier round no NACK tells of that. If
	 * nothing follows that would show it, a Probe has to. That is rare.
	 */
	NEED(late_timeouts <= late_packets / 1000 + 3);
	printf("ok 1 - each message once and in order, none stuck\n");
	return 0;
}
