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

static void linger_none(int fd)
{
	struct linger now = { .l_onoff = 1 };

	need_errno(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), "SO_LINGER");
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

static void close_peer(struct cell *x)
{
	close(x->peer);
	x->peer = -1;
}

static void reset_by_peer(struct cell *x)
{
	linger_none(x->peer);
	close_peer(x);
}

static void take_error(int fd)
{
	need(try_int(fd, SOL_SOCKET, SO_ERROR) > 0, "no SO_ERROR");
}

/* States without a connection. */

static void is_fresh(struct cell *x)
{
	x->fd = prepare(fresh(0));
}

static void is_bound(struct cell *x)
{
	struct addr a = client_addr(0);

	is_fresh(x);
	need_errno(!bind(x->fd, &a.sa, a.len), "bind");
}

static void is_bound_to_any(struct cell *x)
{
	struct addr a = wildcard_addr(0);

	is_fresh(x);
	need_errno(!bind(x->fd, &a.sa, a.len), "bind");
}

static void is_refused(struct cell *x)
{
	is_fresh(x);
	need(connect(x->fd, &nobody_at.sa, nobody_at.len) < 0 && errno == ECONNREFUSED,
	     "connect: %s", errno_text(errno));
}

static void is_refused_unread(struct cell *x)
{
	is_fresh(x);
	set_nonblock(x->fd, true);
	connect(x->fd, &nobody_at.sa, nobody_at.len);
	await_error(x->fd);
}

static void is_refused_read(struct cell *x)
{
	is_refused_unread(x);
	take_error(x->fd);
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
	is_fresh(x);
	limit_writing(x->fd);
	set_nonblock(x->fd, true);
	need(connect(x->fd, &full.sa, full.len) < 0 && errno == EINPROGRESS, "connect: %s",
	     errno_text(errno));
	set_nonblock(x->fd, false);
	await_own_address(x->fd);
}

static void is_listening(struct cell *x)
{
	x->fd = prepare(listener(4, NULL));
}

static void has_listened(struct cell *x)
{
	is_listening(x);
	need_errno(!shutdown(x->fd, SHUT_RD), "shutdown");
}

static void was_unlistened(struct cell *x)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	is_listening(x);
	need_errno(!connect(x->fd, &none, sizeof(none)), "connect to nobody");
}

static void queue_one(struct cell *x)
{
	struct addr where;

	x->fd = prepare(listener(4, &where));
	x->peer = prepare(fresh(0));
	connect_to(x->peer, &where);
	need(poll_for(x->fd, POLLIN, WAIT_MS), "no connection to accept");
}

static void queue_with_data(struct cell *x)
{
	queue_one(x);
	send_all(x->peer, "early", 5);
	rest(x);
}

/* The client ends its stream while it waits in the queue. What it sent can still be read. */
static void queue_with_end(struct cell *x)
{
	queue_with_data(x);
	end_writing(x->peer);
}

/* States with a connection. */

static void is_idle(struct cell *x)
{
	int c = fresh(0);

	connect_to(c, &hub_at);
	adopt(x, c, accept_from(hub));
}

static void is_bound_and_idle(struct cell *x)
{
	struct addr a = client_addr(0);
	int c = fresh(0);

	need_errno(!bind(c, &a.sa, a.len), "bind");
	connect_to(c, &hub_at);
	adopt(x, c, accept_from(hub));
}

static void is_unblocked(struct cell *x)
{
	is_idle(x);
	set_nonblock(x->fd, true);
}

static void has_data(struct cell *x)
{
	is_idle(x);
	send_all(x->peer, "hello", 5);
	await_bytes(x->fd, 5);
}

static void has_two_pieces(struct cell *x)
{
	has_data(x);
	send_all(x->peer, "world", 5);
	await_bytes(x->fd, 10);
}

static void has_end(struct cell *x)
{
	is_idle(x);
	end_writing(x->peer);
	await_end(x->fd);
}

static void has_data_and_end(struct cell *x)
{
	has_data(x);
	end_writing(x->peer);
	await_end(x->fd);
}

static void has_closed_peer(struct cell *x)
{
	is_idle(x);
	close_peer(x);
	await_end(x->fd);
}

static void has_data_and_closed_peer(struct cell *x)
{
	has_data(x);
	close_peer(x);
	await_end(x->fd);
}

static void has_ended(struct cell *x)
{
	is_idle(x);
	end_writing(x->fd);
	await_end(x->peer);
	rest(x);
}

static void has_ended_with_data(struct cell *x)
{
	has_data(x);
	end_writing(x->fd);
	await_end(x->peer);
	rest(x);
}

static void has_stopped_reading(struct cell *x)
{
	is_idle(x);
	need_errno(!shutdown(x->fd, SHUT_RD), "shutdown");
}

static void has_stopped_reading_data(struct cell *x)
{
	has_data(x);
	need_errno(!shutdown(x->fd, SHUT_RD), "shutdown");
}

static void has_stopped_both(struct cell *x)
{
	is_idle(x);
	need_errno(!shutdown(x->fd, SHUT_RDWR), "shutdown");
	await_end(x->peer);
	rest(x);
}

static void both_ended_here_first(struct cell *x)
{
	has_ended(x);
	end_writing(x->peer);
	await_gone(x->fd);
	await_gone(x->peer);
}

static void both_ended_there_first(struct cell *x)
{
	has_end(x);
	end_writing(x->fd);
	await_gone(x->fd);
	await_gone(x->peer);
}

static void both_ended_with_data(struct cell *x)
{
	has_data_and_end(x);
	end_writing(x->fd);
	await_gone(x->fd);
	await_gone(x->peer);
}

static void is_reset(struct cell *x)
{
	is_idle(x);
	reset_by_peer(x);
	await_error(x->fd);
}

static void is_reset_with_data(struct cell *x)
{
	has_data(x);
	reset_by_peer(x);
	await_error(x->fd);
}

static void is_reset_read(struct cell *x)
{
	is_reset(x);
	take_error(x->fd);
}

static void is_reset_with_data_read(struct cell *x)
{
	is_reset_with_data(x);
	take_error(x->fd);
}

static void is_reset_received(struct cell *x)
{
	char b[4];

	is_reset(x);
	need(recv(x->fd, b, sizeof(b), 0) < 0, "recv after a reset");
}

/* The peer closes with unread data. */
static void is_reset_unread(struct cell *x)
{
	is_idle(x);
	send_all(x->fd, "never read", 10);
	await_bytes(x->peer, 10);
	close_peer(x);
	await_error(x->fd);
}

static void is_reset_after_own_end(struct cell *x)
{
	has_ended(x);
	reset_by_peer(x);
	await_error(x->fd);
}

/* A reset after the peer's end of stream. */
static void is_broken(struct cell *x)
{
	has_closed_peer(x);
	need(send(x->fd, "x", 1, MSG_NOSIGNAL) == 1, "send: %s", errno_text(errno));
	await_error(x->fd);
}

static void is_broken_with_data(struct cell *x)
{
	has_data_and_closed_peer(x);
	need(send(x->fd, "x", 1, MSG_NOSIGNAL) == 1, "send: %s", errno_text(errno));
	await_error(x->fd);
}

static void is_broken_read(struct cell *x)
{
	is_broken(x);
	take_error(x->fd);
}

static void is_broken_written(struct cell *x)
{
	is_broken(x);
	need(send(x->fd, "x", 1, MSG_NOSIGNAL) < 0, "send into a broken connection");
}

static void disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	need_errno(!connect(fd, &none, sizeof(none)), "connect to nobody");
}

static void is_disconnected(struct cell *x)
{
	is_idle(x);
	disconnect(x->fd);
	close_peer(x);
}

static void is_disconnected_bound(struct cell *x)
{
	is_bound_and_idle(x);
	disconnect(x->fd);
	close_peer(x);
}

static void is_disconnected_with_data(struct cell *x)
{
	has_data_and_end(x);
	disconnect(x->fd);
	close_peer(x);
}

static void peer_has_disconnected(struct cell *x)
{
	is_idle(x);
	disconnect(x->peer);
	await_error(x->fd);
	close_peer(x);
}

static void is_reconnected(struct cell *x)
{
	is_disconnected(x);
	connect_to(x->fd, &hub_at);
	x->peer = prepare(accept_from(hub));
}

static void is_connected_after_refusal(struct cell *x)
{
	is_refused(x);
	connect_to(x->fd, &hub_at);
	x->peer = prepare(accept_from(hub));
}

static void is_connected_by_waiting(struct cell *x)
{
	int c = fresh(0);

	set_nonblock(c, true);
	connect(c, &hub_at.sa, hub_at.len);
	need(poll_for(c, POLLOUT, WAIT_MS), "no connection");
	set_nonblock(c, false);
	adopt(x, c, accept_from(hub));
}

/* Connected, but nobody has asked for the outcome of the non-blocking connect(). */
static void has_waited(struct cell *x)
{
	is_connected_by_waiting(x);
	set_nonblock(x->fd, true);
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
	await_bytes(x->fd, 5);
}

static void is_full_with_end(struct cell *x)
{
	fill_after(x, end_writing);
	await_end(x->fd);
}

/* The server has not called accept() yet, so the peer has no descriptor. */
static void waits_in_queue(struct cell *x)
{
	struct addr where;

	listener(4, &where);
	x->fd = prepare(fresh(0));
	connect_to(x->fd, &where);
}

static void lost_its_listener(struct cell *x)
{
	struct addr where;
	int fd = listener(4, &where);

	x->fd = prepare(fresh(0));
	connect_to(x->fd, &where);
	need(poll_for(fd, POLLIN, WAIT_MS), "no connection to accept");
	close(fd);
	await_error(x->fd);
}

static void accepted_without_listener(struct cell *x)
{
	struct addr where;
	int fd = listener(4, &where);

	x->peer = prepare(fresh(0));
	connect_to(x->peer, &where);
	x->fd = prepare(accept_from(fd));
	close(fd);
}

static void accepted_with_data(struct cell *x)
{
	int fd;

	queue_with_data(x);
	fd = prepare(accept_from(x->fd));
	close(x->fd);
	x->fd = fd;
	await_bytes(fd, 5);
}

static void accepted_after_end(struct cell *x)
{
	int fd;

	queue_with_end(x);
	fd = prepare(accept_from(x->fd));
	close(x->fd);
	x->fd = fd;
	await_end(fd);
	await_bytes(fd, 5);
}

const struct state states[] = {
	{ "fresh", is_fresh, S_FREE },
	{ "bound", is_bound, S_FREE },
	{ "bound to any", is_bound_to_any, S_FREE },
	{ "refused", is_refused, S_FREE },
	{ "refused, error unread", is_refused_unread, S_FREE | S_ERROR },
	{ "refused, error read", is_refused_read, S_FREE },
	{ "connecting", is_connecting, S_FREE },
	{ "listening", is_listening, S_LISTEN },
	{ "listening, one waits", queue_one, S_LISTEN },
	{ "listening, one waits with data", queue_with_data, S_LISTEN },
	{ "listening, one waits and has ended", queue_with_end, S_LISTEN },
	{ "no longer listening", has_listened, S_FREE },
	{ "listener disconnected", was_unlistened, S_FREE },
	{ "idle", is_idle, S_LINK | S_ROOM },
	{ "idle, accepted", is_idle, S_LINK | S_ROOM, true },
	{ "idle, bound before", is_bound_and_idle, S_LINK | S_ROOM },
	{ "idle, non-blocking", is_unblocked, S_LINK | S_ROOM },
	{ "connected while polling", has_waited, S_LINK | S_ROOM },
	{ "connected after a refusal", is_connected_after_refusal, S_LINK | S_ROOM },
	{ "in the peer's queue", waits_in_queue, S_LINK },
	{ "listener closed before accept", lost_its_listener, S_LINK | S_ERROR },
	{ "listener closed after accept", accepted_without_listener, S_LINK | S_ROOM },
	{ "accepted with data", accepted_with_data, S_LINK | S_ROOM | S_INPUT },
	{ "accepted after the end", accepted_after_end, S_LINK | S_ROOM | S_INPUT },
	{ "data", has_data, S_LINK | S_ROOM | S_INPUT },
	{ "data, accepted", has_data, S_LINK | S_ROOM | S_INPUT, true },
	{ "data in two pieces", has_two_pieces, S_LINK | S_ROOM | S_INPUT },
	{ "peer's end", has_end, S_LINK | S_ROOM },
	{ "peer's end, accepted", has_end, S_LINK | S_ROOM, true },
	{ "data and peer's end", has_data_and_end, S_LINK | S_ROOM | S_INPUT },
	{ "peer closed", has_closed_peer, S_LINK | S_BREAK },
	{ "peer closed, accepted", has_closed_peer, S_LINK | S_BREAK, true },
	{ "data and peer closed", has_data_and_closed_peer, S_LINK | S_INPUT | S_BREAK },
	{ "SHUT_WR", has_ended, S_LINK },
	{ "SHUT_WR, accepted", has_ended, S_LINK, true },
	{ "SHUT_WR, data", has_ended_with_data, S_LINK | S_INPUT },
	{ "SHUT_RD", has_stopped_reading, S_LINK | S_ROOM },
	{ "SHUT_RD, data", has_stopped_reading_data, S_LINK | S_ROOM | S_INPUT },
	{ "SHUT_RDWR", has_stopped_both, S_LINK },
	{ "both ended, own end first", both_ended_here_first, S_LINK },
	{ "both ended, peer's end first", both_ended_there_first, S_LINK },
	{ "both ended, accepted", both_ended_there_first, S_LINK, true },
	{ "both ended, data", both_ended_with_data, S_LINK | S_INPUT },
	{ "reset", is_reset, S_LINK | S_ERROR },
	{ "reset, accepted", is_reset, S_LINK | S_ERROR, true },
	{ "reset, data", is_reset_with_data, S_LINK | S_INPUT | S_ERROR },
	{ "reset, error read", is_reset_read, S_LINK },
	{ "reset, data, error read", is_reset_with_data_read, S_LINK | S_INPUT },
	{ "reset, error received", is_reset_received, S_LINK },
	{ "reset, peer left data unread", is_reset_unread, S_LINK | S_ERROR },
	{ "reset after SHUT_WR", is_reset_after_own_end, S_LINK | S_ERROR },
	{ "reset by a disconnect", peer_has_disconnected, S_LINK | S_ERROR },
	{ "broken", is_broken, S_LINK | S_ERROR },
	{ "broken, accepted", is_broken, S_LINK | S_ERROR, true },
	{ "broken, data", is_broken_with_data, S_LINK | S_INPUT | S_ERROR },
	{ "broken, error read", is_broken_read, S_LINK },
	{ "broken, written to", is_broken_written, S_LINK },
	{ "disconnected", is_disconnected, S_FREE },
	{ "disconnected, accepted", is_disconnected, S_FREE, true },
	{ "disconnected, bound before", is_disconnected_bound, S_FREE },
	{ "disconnected from data", is_disconnected_with_data, S_FREE },
	{ "reconnected", is_reconnected, S_LINK | S_ROOM },
	{ "full", is_full, S_LINK | S_FULL },
	{ "full, data", is_full_with_data, S_LINK | S_FULL | S_INPUT },
	{ "full, peer's end", is_full_with_end, S_LINK | S_FULL },
};

const size_t states_count = ARRAY_SIZE(states);
