// SPDX-License-Identifier: GPL-2.0
/*
 * The states of the matrix: how a socket gets into each of them.
 */
#include "matrix.h"

/* Limits the time of reads on @fd. */
static int prepare(int fd)
{
	set_timeout(fd, SO_RCVTIMEO, BLOCK_MS);
	return fd;
}

/* Limits the time of writes and connects, in states in which they wait in vain. */
static void limit_writing(int fd)
{
	set_timeout(fd, SO_SNDTIMEO, BLOCK_MS);
}

void hub_make(void)
{
	struct addr a = server_addr(0);
	int fd;

	hub = listener(16, &hub_at);
	listener(500, &spare_at);
	fd = fresh(0);
	need_errno(!bind(fd, &a.sa, a.len), "bind");
	nobody_at = name_of(fd);
	forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need_errno(forbidden != MAP_FAILED, "mmap");
}

static void adopt(struct cell *x, int client, int server)
{
	x->fd = prepare(x->state->accepted ? server : client);
	x->peer = prepare(x->state->accepted ? client : server);
}

static void end_writing(int fd)
{
	need_errno(!shutdown(fd, SHUT_WR), "shutdown");
}

static void await_end(int fd)
{
	need(poll_for(fd, POLLRDHUP, WAIT_MS), "no end of the stream");
}

static void await_error(int fd)
{
	need(poll_for(fd, 0, WAIT_MS) & POLLERR, "no error");
}

/* Both directions have ended, and this end has no connection any more. */
static void await_gone(int fd)
{
	long long end = now_ms() + WAIT_MS;
	struct addr a;

	do {
		need(now_ms() < end, "the connection does not end");
		pause_ms(1);
		a.len = sizeof(a.ss);
	} while (!getpeername(fd, &a.sa, &a.len));
}

static void dissolve(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	need_errno(!connect(fd, &none, sizeof(none)), "connect to nobody");
}

/* Steps without a connection. */

static void is_fresh(struct cell *x)
{
	x->fd = prepare(fresh(0));
}

static void binds(struct cell *x)
{
	struct addr a = client_addr(0);

	need_errno(!bind(x->fd, &a.sa, a.len), "bind");
}

static void binds_to_any(struct cell *x)
{
	struct addr a = wildcard_addr(0);

	need_errno(!bind(x->fd, &a.sa, a.len), "bind");
}

static void is_refused(struct cell *x)
{
	need(connect(x->fd, &nobody_at.sa, nobody_at.len) < 0 && errno == ECONNREFUSED,
	     "connect: %s", errno_text(errno));
}

static void is_refused_later(struct cell *x)
{
	set_nonblock(x->fd, true);
	connect(x->fd, &nobody_at.sa, nobody_at.len);
	await_error(x->fd);
}

static void takes_error(struct cell *x)
{
	need(try_int(x->fd, SOL_SOCKET, SO_ERROR) > 0, "no SO_ERROR");
}

/*
 * With RDMA a socket gets its address together with the path, soon after connect(). With TCP it has
 * one at once.
 */
static void await_own_address(int fd)
{
	struct addr any = wildcard_addr(0), name;
	long long end = now_ms() + WAIT_MS;

	do {
		name = name_of(fd);
		addr_set_port(&name, 0);
		need(now_ms() < end, "no address of its own");
		pause_ms(1);
	} while (name.len == any.len && !memcmp(&name.ss, &any.ss, any.len));
}

/* One listener for all cells, whose accept queue is always full. */
static void is_connecting(struct cell *x)
{
	static struct addr full;

	if (!full.len) {
		listener(0, &full);
		connect_to(fresh(0), &full);
	}
	limit_writing(x->fd);
	set_nonblock(x->fd, true);
	need(connect(x->fd, &full.sa, full.len) < 0 && errno == EINPROGRESS, "connect: %s",
	     errno_text(errno));
	set_nonblock(x->fd, false);
	await_own_address(x->fd);
}

static void listens(struct cell *x)
{
	x->fd = prepare(listener(4, NULL));
}

static void disconnects(struct cell *x)
{
	dissolve(x->fd);
}

static void has_one_waiting(struct cell *x)
{
	struct addr where;

	x->fd = prepare(listener(4, &where));
	x->peer = prepare(fresh(0));
	connect_to(x->peer, &where);
	need(poll_for(x->fd, POLLIN, WAIT_MS), "no connection to accept");
}

static void waiting_sends(struct cell *x)
{
	send_all(x->peer, "early", 5);
	rest(x);
}

/* The client ends its stream while it waits in the queue. What it sent can still be read. */
static void waiting_ends(struct cell *x)
{
	end_writing(x->peer);
}

/* The server has not called accept() yet, so the peer has no descriptor. */
static void is_the_waiting_one(struct cell *x)
{
	x->fd = x->peer;
	x->peer = -1;
}

static void loses_its_listener(struct cell *x)
{
	close(x->fd);
	is_the_waiting_one(x);
	await_error(x->fd);
}

static void is_accepted(struct cell *x)
{
	int fd = prepare(accept_from(x->fd));

	close(x->fd);
	x->fd = fd;
}

/* Steps with a connection. */

static void is_idle(struct cell *x)
{
	int c = fresh(0);

	connect_to(c, &hub_at);
	adopt(x, c, accept_from(hub));
}

static void connects(struct cell *x)
{
	connect_to(x->fd, &hub_at);
	x->peer = prepare(accept_from(hub));
}

/* Connected, but nobody has asked for the outcome of the non-blocking connect(). */
static void connects_by_polling(struct cell *x)
{
	set_nonblock(x->fd, true);
	connect(x->fd, &hub_at.sa, hub_at.len);
	need(poll_for(x->fd, POLLOUT, WAIT_MS), "no connection");
	x->peer = prepare(accept_from(hub));
}

static void unblocks(struct cell *x)
{
	set_nonblock(x->fd, true);
}

static void awaits_data(struct cell *x)
{
	await_bytes(x->fd, 5);
}

static void gets_data(struct cell *x)
{
	send_all(x->peer, "hello", 5);
	awaits_data(x);
}

static void gets_more(struct cell *x)
{
	send_all(x->peer, "world", 5);
	await_bytes(x->fd, 10);
}

static void awaits_end(struct cell *x)
{
	await_end(x->fd);
}

static void peer_ends(struct cell *x)
{
	end_writing(x->peer);
	await_end(x->fd);
}

static void closes_peer(struct cell *x)
{
	close(x->peer);
	x->peer = -1;
}

static void peer_closes(struct cell *x)
{
	closes_peer(x);
	await_end(x->fd);
}

static void ends(struct cell *x)
{
	end_writing(x->fd);
	await_end(x->peer);
	rest(x);
}

static void stops_reading(struct cell *x)
{
	need_errno(!shutdown(x->fd, SHUT_RD), "shutdown");
}

static void stops_both(struct cell *x)
{
	need_errno(!shutdown(x->fd, SHUT_RDWR), "shutdown");
	await_end(x->peer);
	rest(x);
}

static void is_over(struct cell *x)
{
	await_gone(x->fd);
	await_gone(x->peer);
}

static void peer_resets(struct cell *x)
{
	linger_zero(x->peer);
	closes_peer(x);
	await_error(x->fd);
}

static void receives_error(struct cell *x)
{
	char b[4];

	need(recv(x->fd, b, sizeof(b), 0) < 0, "recv after a reset");
}

static void peer_leaves_unread(struct cell *x)
{
	send_all(x->fd, "never read", 10);
	await_bytes(x->peer, 10);
	closes_peer(x);
	await_error(x->fd);
}

static void peer_disconnects(struct cell *x)
{
	dissolve(x->peer);
	await_error(x->fd);
	closes_peer(x);
}

/* Into a connection that the peer has closed: a reset follows the peer's end of stream. */
static void writes_to_nobody(struct cell *x)
{
	need(send(x->fd, "x", 1, MSG_NOSIGNAL) == 1, "send: %s", errno_text(errno));
	await_error(x->fd);
}

static void writes_in_vain(struct cell *x)
{
	need(send(x->fd, "x", 1, MSG_NOSIGNAL) < 0, "send into a broken connection");
}

/*
 * Connections that take no more bytes. It takes a while to be sure that nothing moves any more, so
 * a number of them are made at once.
 */
#define FULL_ONES	16

/* TCP may hold the last bytes before a closed window until its timer of 200 ms. */
static void fill_them(const struct pair *pairs, int count)
{
	struct pollfd pfds[FULL_ONES];
	long moved;
	int i;

	do {
		for (i = 0, moved = 0; i < count; i++) {
			moved += send_until_full(pairs[i].c);
			pfds[i] = (struct pollfd){ .fd = pairs[i].c, .events = POLLOUT };
		}
		if (moved)
			poll(pfds, count, 250 + quiet_ms());
	} while (moved);
}

/*
 * @first: what the peer sends, before the connection is full. Later it would carry an
 * acknowledgement and so make room.
 */
static void fill_after(struct cell *x, void (*first)(int peer))
{
	static struct pair ready[FULL_ONES];
	static int left;

	if (!left) {
		for (; left < FULL_ONES; left++) {
			ready[left] = pair_sized(8192);
			first(ready[left].s);
		}
		fill_them(ready, left);
	}
	left--;
	adopt(x, ready[left].c, ready[left].s);
	limit_writing(x->fd);
}

static void nothing(int peer)
{
	(void)peer;
}

static void hello(int peer)
{
	send_all(peer, "hello", 5);
}

static void is_full(struct cell *x)
{
	fill_after(x, nothing);
}

static void is_full_with_data(struct cell *x)
{
	fill_after(x, hello);
	awaits_data(x);
}

static void is_full_with_end(struct cell *x)
{
	fill_after(x, end_writing);
	await_end(x->fd);
}

const struct state states[] = {
	{ "fresh", S_FREE, { is_fresh } },
	{ "bound", S_FREE, { is_fresh, binds } },
	{ "bound to any", S_FREE, { is_fresh, binds_to_any } },
	{ "refused", S_FREE, { is_fresh, is_refused } },
	{ "refused, error unread", S_FREE | S_ERROR, { is_fresh, is_refused_later } },
	{ "refused, error read", S_FREE, { is_fresh, is_refused_later, takes_error } },
	{ "connecting", S_FREE, { is_fresh, is_connecting } },
	{ "listening", S_LISTEN, { listens } },
	{ "listening, one waits", S_LISTEN, { has_one_waiting } },
	{ "listening, one waits with data", S_LISTEN, { has_one_waiting, waiting_sends } },
	{ "listening, one waits and has ended", S_LISTEN,
	  { has_one_waiting, waiting_sends, waiting_ends } },
	{ "no longer listening", S_FREE, { listens, stops_reading } },
	{ "listener disconnected", S_FREE, { listens, disconnects } },
	{ "idle", S_LINK | S_ROOM, { is_idle } },
	{ "idle, accepted", S_LINK | S_ROOM, { is_idle }, true },
	{ "idle, bound before", S_LINK | S_ROOM, { is_fresh, binds, connects } },
	{ "idle, non-blocking", S_LINK | S_ROOM, { is_idle, unblocks } },
	{ "connected while polling", S_LINK | S_ROOM, { is_fresh, connects_by_polling } },
	{ "connected after a refusal", S_LINK | S_ROOM, { is_fresh, is_refused, connects } },
	{ "in the peer's queue", S_LINK, { has_one_waiting, is_the_waiting_one } },
	{ "listener closed before accept", S_LINK | S_ERROR,
	  { has_one_waiting, loses_its_listener } },
	{ "listener closed after accept", S_LINK | S_ROOM, { has_one_waiting, is_accepted } },
	{ "accepted with data", S_LINK | S_ROOM | S_INPUT,
	  { has_one_waiting, waiting_sends, is_accepted, awaits_data } },
	{ "accepted after the end", S_LINK | S_ROOM | S_INPUT,
	  { has_one_waiting, waiting_sends, waiting_ends, is_accepted, awaits_end, awaits_data } },
	{ "data", S_LINK | S_ROOM | S_INPUT, { is_idle, gets_data } },
	{ "data, accepted", S_LINK | S_ROOM | S_INPUT, { is_idle, gets_data }, true },
	{ "data in two pieces", S_LINK | S_ROOM | S_INPUT, { is_idle, gets_data, gets_more } },
	{ "peer's end", S_LINK | S_ROOM, { is_idle, peer_ends } },
	{ "peer's end, accepted", S_LINK | S_ROOM, { is_idle, peer_ends }, true },
	{ "data and peer's end", S_LINK | S_ROOM | S_INPUT, { is_idle, gets_data, peer_ends } },
	{ "peer closed", S_LINK | S_BREAK, { is_idle, peer_closes } },
	{ "peer closed, accepted", S_LINK | S_BREAK, { is_idle, peer_closes }, true },
	{ "data and peer closed", S_LINK | S_INPUT | S_BREAK, { is_idle, gets_data, peer_closes } },
	{ "SHUT_WR", S_LINK, { is_idle, ends } },
	{ "SHUT_WR, accepted", S_LINK, { is_idle, ends }, true },
	{ "SHUT_WR, data", S_LINK | S_INPUT, { is_idle, gets_data, ends } },
	{ "SHUT_RD", S_LINK | S_ROOM, { is_idle, stops_reading } },
	{ "SHUT_RD, data", S_LINK | S_ROOM | S_INPUT, { is_idle, gets_data, stops_reading } },
	{ "SHUT_RDWR", S_LINK, { is_idle, stops_both } },
	{ "both ended, own end first", S_LINK, { is_idle, ends, peer_ends, is_over } },
	{ "both ended, peer's end first", S_LINK, { is_idle, peer_ends, ends, is_over } },
	{ "both ended, accepted", S_LINK, { is_idle, peer_ends, ends, is_over }, true },
	{ "both ended, data", S_LINK | S_INPUT, { is_idle, gets_data, peer_ends, ends, is_over } },
	{ "reset", S_LINK | S_ERROR, { is_idle, peer_resets } },
	{ "reset, accepted", S_LINK | S_ERROR, { is_idle, peer_resets }, true },
	{ "reset, data", S_LINK | S_INPUT | S_ERROR, { is_idle, gets_data, peer_resets } },
	{ "reset, error read", S_LINK, { is_idle, peer_resets, takes_error } },
	{ "reset, data, error read", S_LINK | S_INPUT,
	  { is_idle, gets_data, peer_resets, takes_error } },
	{ "reset, error received", S_LINK, { is_idle, peer_resets, receives_error } },
	{ "reset, peer left data unread", S_LINK | S_ERROR, { is_idle, peer_leaves_unread } },
	{ "reset after SHUT_WR", S_LINK | S_ERROR, { is_idle, ends, peer_resets } },
	{ "reset by a disconnect", S_LINK | S_ERROR, { is_idle, peer_disconnects } },
	{ "broken", S_LINK | S_ERROR, { is_idle, peer_closes, writes_to_nobody } },
	{ "broken, accepted", S_LINK | S_ERROR, { is_idle, peer_closes, writes_to_nobody }, true },
	{ "broken, data", S_LINK | S_INPUT | S_ERROR,
	  { is_idle, gets_data, peer_closes, writes_to_nobody } },
	{ "broken, error read", S_LINK, { is_idle, peer_closes, writes_to_nobody, takes_error } },
	{ "broken, written to", S_LINK,
	  { is_idle, peer_closes, writes_to_nobody, writes_in_vain } },
	{ "disconnected", S_FREE, { is_idle, disconnects, closes_peer } },
	{ "disconnected, accepted", S_FREE, { is_idle, disconnects, closes_peer }, true },
	{ "disconnected, bound before", S_FREE,
	  { is_fresh, binds, connects, disconnects, closes_peer } },
	{ "disconnected from data", S_FREE,
	  { is_idle, gets_data, peer_ends, disconnects, closes_peer } },
	{ "reconnected", S_LINK | S_ROOM, { is_idle, disconnects, closes_peer, connects } },
	{ "full", S_LINK | S_FULL, { is_full } },
	{ "full, data", S_LINK | S_FULL | S_INPUT, { is_full_with_data } },
	{ "full, peer's end", S_LINK | S_FULL, { is_full_with_end } },
};

const size_t states_count = ARRAY_SIZE(states);
