// SPDX-License-Identifier: GPL-2.0
/*
 * Random cases: the connecting end, and the results of all cases.
 *
 * Commands, written to /sys/kernel/debug/sdp_hostile/generate:
 *
 *	connect SEED FIRST COUNT PORT	run COUNT cases from number FIRST on, each to one of the
 *					nine listeners whose ports begin at PORT; returns when
 *					they are over. Several writers may do so at once.
 *	accept SEED FIRST COUNT PORT	from now on, run COUNT cases with connections to PORT
 *	let-go				end the connections that are held. Those remain that the
 *					peer had to end without our hearing of it: the peer must
 *					have none of them left
 *	stop				accept no more, and end all connections
 *	reset				clear the sums
 *
 * Reading returns the sums in one line, a line for each kind of case, and one for each failed
 * case, as far as there is room.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "gen.h"

/*
 * By agreement with the victim, each of its listeners behaves differently. Port offsets with a
 * higher weight appear twice.
 */
static const u8 ports[] = { 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8 };

/* Number of connections that are held open without traffic. */
#define HELD_MOST	16
/* Number of connections kept whose end was not heard of. */
#define UNHEARD_MOST	200
#define VERDICT_SECONDS	30
#define WRONG_TEXT	2048

#define GEN_KIND_NAME(kind, name) name,
static const char * const kind_names[] = { GEN_KINDS(GEN_KIND_NAME) };
static const char * const end_names[GEN_ENDS] = {
	[GEN_REFUSED] = "refused", [GEN_LEFT] = "left", [GEN_ENDED] = "ended",
	[GEN_BROKE] = "broke", [GEN_HELD] = "held", [GEN_NO_ANSWER] = "silent",
	[GEN_UNHEARD] = "unheard",
	[GEN_WRONG] = "wrong",
};

static DEFINE_SPINLOCK(sums_lock);
static u32 sums[GEN_KIND_COUNT][GEN_ENDS];
static u32 sum_steps;
static char wrong_text[WRONG_TEXT];
static size_t wrong_len;

static DEFINE_MUTEX(held_lock);
static LIST_HEAD(held);
static u32 held_count;
static LIST_HEAD(unheard);
static u32 unheard_count;

/**
 * gen_begin() - initialize a case and its random state
 * @g: case
 * @seed: seed of all cases
 * @number: number of the case
 */
void gen_begin(struct gen *g, u64 seed, u32 number)
{
	memset(g, 0, sizeof(*g));
	g->number = number;
	prandom_seed_state(&g->rnd, seed + (u64)number * 0x9E3779B97F4A7C15ULL);
}

/**
 * gen_draw() - draw a random number
 * @g: case
 * @below: upper bound, exclusive
 *
 * Return: the number.
 */
u32 gen_draw(struct gen *g, u32 below)
{
	return (u64)prandom_u32_state(&g->rnd) * below >> 32;
}

static u32 get_field(const u8 *p, u32 size)
{
	u32 value = 0;

	while (size--)
		value = value << 8 | *p++;
	return value;
}

/**
 * gen_spoil() - overwrite a field with a bound, a value beyond one, a neighbour, or any value
 * @g: case
 * @p: the field, in network order
 * @size: its size in bytes, at most 4
 */
void gen_spoil(struct gen *g, u8 *p, u32 size)
{
	u32 value = get_field(p, size), bits = 8 * size;

	switch (gen_draw(g, 10)) {
	case 0:
		value = 0;
		break;
	case 1:
		value = U32_MAX;
		break;
	case 2:
		value++;
		break;
	case 3:
		value--;
		break;
	case 4:
		value ^= 1U << gen_draw(g, bits);
		break;
	case 5:
		value = 1U << gen_draw(g, bits);
		break;
	case 6:
		value = (1U << gen_draw(g, bits)) - 1;
		break;
	case 7:
		value = 1U << (bits - 1);
		break;
	case 8:
		value = gen_draw(g, 64);
		break;
	default:
		value = gen_draw(g, U32_MAX);
		break;
	}
	while (size--)
		p[size] = value, value >>= 8;
}

static void add_end(const struct gen *g, enum gen_end end)
{
	spin_lock(&sums_lock);
	sums[g->kind][end]++;
	sum_steps += g->step;
	if (end == GEN_WRONG)
		wrong_len += scnprintf(wrong_text + wrong_len, WRONG_TEXT - wrong_len,
				       "wrong: case %u, step %u, %u bytes: %s\n", g->number,
				       g->step, g->bytes, g->why ?: "no resources");
	spin_unlock(&sums_lock);
}

/* True if the last message has arrived, also if the peer's adapter refused it. */
static bool arrived(const struct gen *g, int err)
{
	switch (g->h->sent_status) {
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_REM_OP_ERR:
		return err == -EIO;
	default:
		return !err;
	}
}

/**
 * gen_verdict() - check whether the peer has ended the connection, if it had to
 * @g: case that has sent everything
 * @err: result of the last send
 *
 * Return: the result to be counted.
 */
enum gen_end gen_verdict(struct gen *g, int err)
{
	if (err && err != -EIO && err != -ETIMEDOUT && err != -EINVAL)
		return GEN_WRONG;
	if (!g->why || !arrived(g, err))
		return err ? GEN_BROKE : GEN_LEFT;
	if (hostile_over(g->h, VERDICT_SECONDS))
		return GEN_ENDED;
	/*
	 * The DREQ may be lost, or was never sent: a peer whose CM timeout is shorter than our
	 * answers take has given up before. But a destroyed queue pair accepts no message. If our
	 * own queue pair has failed, only a check of the peer's sockets can tell.
	 */
	if (err)
		return GEN_UNHEARD;
	return hostile_send(g->h, 0) ? GEN_ENDED : GEN_WRONG;
}

/*
 * Keeps the connection open without traffic. The oldest one kept is freed when there are too
 * many.
 */
static void hold(struct hostile *h)
{
	struct hostile *old = NULL;

	mutex_lock(&held_lock);
	list_add_tail(&h->node, &held);
	if (++held_count > HELD_MOST) {
		old = list_first_entry(&held, struct hostile, node);
		list_del(&old->node);
		held_count--;
	}
	mutex_unlock(&held_lock);
	if (old)
		hostile_free(old);
}

static void free_all(struct list_head *list, u32 *n)
{
	struct hostile *h, *next;

	mutex_lock(&held_lock);
	list_for_each_entry_safe(h, next, list, node) {
		list_del(&h->node);
		hostile_free(h);
	}
	*n = 0;
	mutex_unlock(&held_lock);
}

/* Keeps the connection, so that only the peer can end it on the other side. */
static bool keep_unheard(struct hostile *h)
{
	bool room;

	mutex_lock(&held_lock);
	room = unheard_count < UNHEARD_MOST;
	if (room) {
		unheard_count++;
		list_add_tail(&h->node, &unheard);
	}
	mutex_unlock(&held_lock);
	return room;
}

/**
 * gen_over() - finish a case: count it, and end its connection unless it is to be kept
 * @g: case
 * @end: its result
 */
void gen_over(const struct gen *g, enum gen_end end)
{
	if (end == GEN_UNHEARD && !keep_unheard(g->h))
		end = GEN_WRONG;
	add_end(g, end);
	if (end == GEN_HELD)
		hold(g->h);
	else if (end != GEN_UNHEARD && g->h)
		hostile_free(g->h);
}

/* Offsets and sizes of the fields of a Hello. */
static const u8 hello_fields[][2] = {
	{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 1 }, { 17, 1 },
	{ 18, 1 }, { 19, 1 }, { 20, 4 }, { 24, 4 }, { 28, 2 }, { 30, 2 }, { 32, 4 }, { 40, 4 },
	{ 44, 4 }, { 48, 4 }, { 56, 4 }, { 60, 4 }, { 64, 2 }, { 66, 2 }, { 68, 4 }, { 72, 1 },
	{ 73, 1 }, { 74, 2 }, { 76, 4 }, { 88, 4 },
};

static void spoil_hello(struct gen *g, struct hostile_req *what)
{
	u32 n = 1 + gen_draw(g, 2), i;

	switch (gen_draw(g, 8)) {
	case 0:		/* too short, with an unchanged Len */
		g->kind = GEN_HELLO_SHORT;
		i = gen_draw(g, SDP_HELLO_LEN + 1);
		memset(what->private + i, 0, SDP_HELLO_LEN - i);
		what->private_len = i;
		break;
	case 1:		/* a wrong Len */
		g->kind = GEN_HELLO_LEN;
		put_unaligned_be32(gen_draw(g, 2 * SDP_HELLO_LEN), what->private + 4);
		break;
	case 2:		/* any version */
		g->kind = GEN_HELLO_VERSION;
		what->private[16] = gen_draw(g, 256);
		what->private[17] = gen_draw(g, 256);
		break;
	case 3:
		g->kind = GEN_HELLO_RANDOM;
		prandom_bytes_state(&g->rnd, what->private, SDP_HELLO_LEN);
		break;
	default:
		g->kind = GEN_HELLO_FIELDS;
		while (n--) {
			i = gen_draw(g, ARRAY_SIZE(hello_fields));
			gen_spoil(g, what->private + hello_fields[i][0], hello_fields[i][1]);
		}
		break;
	}
}

/* True if the peer must refuse the Hello. On RoCE its addresses must be those of the path. */
static bool hello_wrong(const struct hostile_req *what, const struct hostile_req *honest)
{
	struct sdp_hello hello;

	return sdp_hello_parse(what->private, SDP_HELLO_LEN, &hello) || hello.ip_version != 4 ||
	       memcmp(what->private + 32, honest->private + 32, 32);
}

/* Sets a field of the REQ that belongs to the CM to any value. */
static void spoil_req(struct gen *g, struct ib_cm_req_param *req)
{
	switch (gen_draw(g, 8)) {
	case 0:
		req->responder_resources = gen_draw(g, 256);
		break;
	case 1:
		req->initiator_depth = gen_draw(g, 256);
		break;
	case 2:
		req->remote_cm_response_timeout = gen_draw(g, 32);
		break;
	case 3:
		req->local_cm_response_timeout = gen_draw(g, 32);
		break;
	case 4:
		req->retry_count = gen_draw(g, 8);
		break;
	case 5:
		req->flow_control = gen_draw(g, 2);
		break;
	case 6:
		req->srq = gen_draw(g, 2);
		break;
	default:
		break;
	}
}

/* The CM's retries are few, so that it soon notices when the peer is gone. */
static int send_request(struct gen *g, const struct hostile_req *what)
{
	struct ib_cm_req_param req;

	hostile_req_param(g->h, what, &req);
	req.max_cm_retries = 2;
	req.rnr_retry_count = gen_draw(g, 10) ? gen_draw(g, 2) : 7;
	if (gen_draw(g, 4) == 0)
		spoil_req(g, &req);
	return hostile_send_req(g->h, &req);
}

static enum gen_end case_hello(struct gen *g, struct hostile_req *what)
{
	struct hostile_req honest = *what;
	int err;

	spoil_hello(g, what);
	err = send_request(g, what);
	if (!err)
		err = hostile_answer(g->h);
	if (err == -ECONNREFUSED)
		return g->h->end == HOSTILE_REJECTED ? GEN_REFUSED : GEN_NO_ANSWER;
	if (err)
		return GEN_WRONG;
	if (!hello_wrong(what, &honest))
		return GEN_LEFT;
	g->why = "a wrong Hello was taken";
	return GEN_WRONG;
}

/* Evaluates both ends' ring fields when the HelloAck has arrived. */
static void agree(struct gen *g, const struct hostile_req *what)
{
	struct sdp_hello own;

	sdp_hello_parse(what->private, SDP_HELLO_LEN, &own);
	gen_rings_agree(g, &own);
}

/* Leaves, or sends nothing more, at any step of the exchange. */
static enum gen_end case_course(struct gen *g, const struct hostile_req *what)
{
	static const u8 kinds[] = {
		GEN_GOES_AT_ONCE, GEN_NO_RTU, GEN_REJECTS, GEN_GOES, GEN_TALKS_EARLY,
		GEN_DISCONNECTS, GEN_SILENT, GEN_RIGHT,
	};
	u32 how = gen_draw(g, ARRAY_SIZE(kinds));
	int err = send_request(g, what);

	g->kind = kinds[how];

	if (err || !how)
		return err ? GEN_WRONG : GEN_LEFT;
	err = hostile_answer(g->h);
	if (err)
		return err == -ECONNREFUSED ? GEN_REFUSED : GEN_NO_ANSWER;
	agree(g, what);
	switch (how) {
	case 1:		/* no RTU */
		return GEN_HELD;
	case 2:
		ib_send_cm_rej(g->h->cm, gen_draw(g, 40), NULL, 0, what->private,
			       gen_draw(g, SDP_HELLO_LEN));
		return GEN_LEFT;
	case 3:
		return GEN_LEFT;
	default:
		break;
	}
	err = hostile_ready(g->h);
	if (err)
		return GEN_BROKE;
	if (how > 4)
		ib_send_cm_rtu(g->h->cm, what->private, gen_draw(g, 2) ? SDP_HELLO_LEN : 0);
	if (how == 5)
		ib_send_cm_dreq(g->h->cm, what->private, SDP_HELLO_LEN);
	if (how == 6)
		return GEN_HELD;
	/*
	 * A message in place of the RTU, or just after it. In place of the RTU, our own CM does
	 * not accept the DREQ that may come, so it is unknown whether the peer has ended the
	 * connection.
	 */
	err = how == 4 || how == 7 ? gen_talk(g) : 0;
	if (how == 4)
		g->why = err == -EFAULT ? g->why : NULL;
	return gen_verdict(g, err);
}

static enum gen_end case_messages(struct gen *g, const struct hostile_req *what)
{
	enum gen_end end;
	int err;

	g->kind = GEN_RIGHT;
	err = send_request(g, what) ?: hostile_answer(g->h);
	if (err)
		return err == -ECONNREFUSED ? GEN_REFUSED : GEN_NO_ANSWER;
	g->limit = HOSTILE_BUFS;
	agree(g, what);
	err = hostile_ready(g->h) ?: ib_send_cm_rtu(g->h->cm, NULL, 0);
	if (err)
		return GEN_BROKE;
	end = gen_verdict(g, gen_talk(g));
	if (end == GEN_LEFT && gen_draw(g, 8) == 0)
		return GEN_HELD;
	/* Sometimes the peer gets no answer to its DREQ. */
	g->h->no_drep = gen_draw(g, 16) == 0;
	return end;
}

/* Draws whether this end supports rings, and with which scheme. */
static void wish(struct gen *g, struct hostile_req *what)
{
	struct sdp_hello hello;

	sdp_hello_parse(what->private, SDP_HELLO_LEN, &hello);
	gen_rings_wish(g, &hello);
	sdp_hello_build(what->private, &hello);
}

static void one_case(struct hostile *lane, u64 seed, u32 number, u16 port)
{
	enum gen_end end = GEN_WRONG;
	struct hostile_req what;
	struct gen g;
	u32 kind;

	gen_begin(&g, seed, number);
	g.h = hostile_make();
	if (!g.h)
		return gen_over(&g, GEN_WRONG);
	g.limit = HOSTILE_BUFS;
	hostile_honest_req(&what, port + ports[gen_draw(&g, ARRAY_SIZE(ports))]);
	wish(&g, &what);
	kind = gen_draw(&g, 100);
	if (!hostile_borrow(g.h, lane))
		end = kind < 25 ? case_hello(&g, &what) : kind < 40 ? case_course(&g, &what) :
		      case_messages(&g, &what);
	gen_over(&g, end);
}

static struct hostile *main_lane;

static int gen_connect(u64 seed, u32 first, u32 count, u16 port)
{
	u32 i;

	if (!main_lane)
		return -ENOTCONN;
	for (i = 0; i < count && !signal_pending(current); i++)
		one_case(main_lane, seed, first + i, port);
	return 0;
}

/* Resolves address and route once for all cases, as that takes longer than a case. */
static int make_lane(u16 port)
{
	struct hostile *h;
	int err;

	if (main_lane)
		return 0;
	h = hostile_make();
	if (!h)
		return -ENOMEM;
	err = hostile_resolve(h, in_aton(hostile_from), in_aton(hostile_to), port);
	if (err)
		hostile_free(h);
	else
		main_lane = h;
	return err;
}

static void stop(void)
{
	gen_accept_stop();
	free_all(&held, &held_count);
	free_all(&unheard, &unheard_count);
	if (main_lane)
		hostile_free(main_lane);
	main_lane = NULL;
}

static void reset(void)
{
	spin_lock(&sums_lock);
	memset(sums, 0, sizeof(sums));
	sum_steps = 0;
	wrong_len = 0;
	spin_unlock(&sums_lock);
}

/**
 * hostile_gen_command() - execute a command
 * @text: command as described in this file's head
 *
 * Return: 0 or an errno.
 */
int hostile_gen_command(char *text)
{
	static DEFINE_MUTEX(lock);
	unsigned long long seed;
	u32 first, count, port;
	char what[16];
	int err = 0, n;

	n = sscanf(text, "%15s %llu %u %u %u", what, &seed, &first, &count, &port);
	if (n == 1) {
		mutex_lock(&lock);
		if (!strcmp(what, "stop"))
			stop();
		else if (!strcmp(what, "let-go"))
			free_all(&held, &held_count);
		else if (!strcmp(what, "reset"))
			reset();
		else
			err = -EINVAL;
		mutex_unlock(&lock);
		return err;
	}
	if (n != 5)
		return -EINVAL;
	mutex_lock(&lock);
	err = make_lane(port);
	if (!err && !strcmp(what, "accept"))
		err = gen_accept(seed, first, count, port);
	mutex_unlock(&lock);
	if (!err && !strcmp(what, "connect"))
		err = gen_connect(seed, first, count, port);
	return err;
}

static int report_ends(char *text, size_t room, const u32 *ends)
{
	u32 i;
	int n = 0;

	for (i = 0; i < GEN_ENDS; i++)
		n += scnprintf(text + n, room - n, " %s %u", end_names[i], ends[i]);
	return n;
}

/**
 * hostile_gen_report() - write the sums and the failed cases
 * @text: buffer
 * @room: its size in bytes
 *
 * Return: bytes written.
 */
int hostile_gen_report(char *text, size_t room)
{
	u32 ends[GEN_ENDS] = {}, cases = 0, kind, i;
	int n;

	spin_lock(&sums_lock);
	for (kind = 0; kind < GEN_KIND_COUNT; kind++)
		for (i = 0; i < GEN_ENDS; i++)
			ends[i] += sums[kind][i];
	for (i = 0; i < GEN_ENDS; i++)
		cases += ends[i];
	n = scnprintf(text, room, "cases %u steps %u", cases, sum_steps);
	n += report_ends(text + n, room - n, ends);
	n += scnprintf(text + n, room - n, " malformed %d\n", atomic_read(&hostile_malformed));
	for (kind = 0; kind < GEN_KIND_COUNT; kind++) {
		if (!memchr_inv(sums[kind], 0, sizeof(sums[kind])))
			continue;
		n += scnprintf(text + n, room - n, "kind %s", kind_names[kind]);
		n += report_ends(text + n, room - n, sums[kind]);
		n += scnprintf(text + n, room - n, "\n");
	}
	n += scnprintf(text + n, room - n, "%.*s", (int)wrong_len, wrong_text);
	spin_unlock(&sums_lock);
	return n;
}

/**
 * gen_lane() - return the connection that resolved the path
 *
 * Return: a connection that has device and protection domain, or NULL.
 */
struct hostile *gen_lane(void)
{
	return main_lane;
}

/**
 * hostile_gen_exit() - end all cases
 */
void hostile_gen_exit(void)
{
	stop();
	gen_accept_exit();
}
