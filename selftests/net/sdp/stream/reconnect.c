// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that is disconnected and connects again keeps nothing of its first connection.
 *
 * It is disconnected by connect() with AF_UNSPEC. No keepalive of the first connection runs, a call
 * that began with the first peer neither reads from nor writes to the second one, and a close
 * during the second connect is as with any other socket.
 */
#include "cases.h"
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* A buffer for data that is not kept. */
static char scratch[64];

static void disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	need_errno(!connect(fd, &none, sizeof(none)), "disconnect");
}

static void connect_later(int fd, const struct addr *where)
{
	set_nonblock(fd, true);
	need(!connect(fd, &where->sa, where->len) || errno == EINPROGRESS, "connect: %s",
	     errno_text(errno));
}

/* Keepalive is due since the first connection when the socket has no queue pair yet. */
static int watched_anew(void *arg)
{
	struct addr nobody = set == &addrsets[SET_RC4] ? addr_make(AF_INET, "10.9.0.77", 9) :
			     server_addr(9);
	struct pair p = pair_make();

	set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	pause_ms(1200);
	disconnect(p.c);
	connect_later(p.c, &nobody);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	pause_ms(300);
	close(p.c);
	close(p.s);
	p = pair_make();
	send_all(p.c, "x", 1);
	recv_all(p.s, scratch, 1);
	return EXIT_OK;
}

/* The accepted end of a client that closed during its connect sees the end. */
static int closed_while_connecting(void *arg)
{
	int i, listening, s;
	struct addr where;

	listening = listener(64, &where);
	set_nonblock(listening, true);
	for (i = 0; i < scaled(80); i++) {
		struct pair p = pair_make();

		disconnect(p.c);
		connect_later(p.c, &where);
		close(p.c);
		close(p.s);
	}
	while (poll_for(listening, POLLIN, quiet_ms())) {
		s = accept(listening, NULL, NULL);
		if (s < 0)
			continue;
		need(poll_for(s, POLLRDHUP | POLLHUP, WAIT_MS),
		     "a connection to nobody, which stays");
		close(s);
	}
	return EXIT_OK;
}

struct late {
	struct pair p;
	bool writes;
	atomic_int tid;
	ssize_t moved;
	char data[1 << 20];
};

/*
 * Makes the calling thread run late: on one CPU with a thread that never rests, at idle priority.
 */
static void be_late(void)
{
	struct sched_param none = { 0 };
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	need_errno(!sched_setaffinity(0, sizeof(last), &last), "affinity");
	need_errno(!sched_setscheduler(0, SCHED_IDLE, &none), "SCHED_IDLE");
}

static atomic_bool rest;

static void *never_rest(void *arg)
{
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	need_errno(!sched_setaffinity(0, sizeof(last), &last), "affinity");
	while (!atomic_load(&rest))
		;
	return arg;
}

static void *late_call(void *arg)
{
	struct late *l = arg;

	be_late();
	atomic_store(&l->tid, gettid());
	l->moved = l->writes ? send(l->p.c, l->data, sizeof(l->data), MSG_NOSIGNAL) :
			       recv(l->p.c, l->data, sizeof(l->data), MSG_WAITALL);
	return NULL;
}

/* Connects to another peer while a call still waits for the first one. */
static void change_peer(struct late *l, int *other)
{
	pthread_t late, busy;
	struct addr where;
	int listening = listener(1, &where);

	l->p = pair_sized(16384);
	atomic_store(&l->tid, 0);
	need(!pthread_create(&late, NULL, late_call, l), "thread");
	while (!atomic_load(&l->tid))
		pause_ms(1);
	await_asleep(l->tid);
	atomic_store(&rest, false);
	need(!pthread_create(&busy, NULL, never_rest, NULL), "thread");
	pause_ms(20);
	disconnect(l->p.c);
	connect_to(l->p.c, &where);
	*other = accept_from(listening);
	send_all(l->writes ? l->p.c : *other, "b", 1);
	atomic_store(&rest, true);
	pthread_join(busy, NULL);
	pthread_join(late, NULL);
	close(listening);
	close(l->p.s);
}

static int writer_of_before(void *arg)
{
	struct late *l = calloc(1, sizeof(*l));
	int i, other;

	need(l, "no memory");
	l->writes = true;
	memset(l->data, 'a', sizeof(l->data));
	for (i = 0; i < scaled(24); i++) {
		change_peer(l, &other);
		need(l->moved < (ssize_t)sizeof(l->data), "round %d: all was sent", i);
		close(l->p.c);
		need(recv(other, scratch, sizeof(scratch), MSG_WAITALL) == 1 && *scratch == 'b',
		     "round %d: the other peer got bytes of the stream before", i);
		close(other);
	}
	free(l);
	return EXIT_OK;
}

static int reader_of_before(void *arg)
{
	struct late *l = calloc(1, sizeof(*l));
	int i, other;

	need(l, "no memory");
	for (i = 0; i < scaled(24); i++) {
		change_peer(l, &other);
		need(l->moved <= 0, "round %d: it read %zd bytes of another stream", i, l->moved);
		set_timeout(l->p.c, SO_RCVTIMEO, WAIT_MS);
		recv_all(l->p.c, scratch, 1);
		close(l->p.c);
		close(other);
	}
	free(l);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "watched_anew", watched_anew, 30, TWO_SETS, false, NULL },
	{ "closed_while_connecting", closed_while_connecting, 60, TWO_SETS, true, NULL },
	{ "writer_of_before", writer_of_before, 60, TWO_SETS, true, NULL },
	{ "reader_of_before", reader_of_before, 60, TWO_SETS, true, NULL },
};

TEST_MAIN(tests)
