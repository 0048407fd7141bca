// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests with many sockets at once and with threads that race. Nothing may be leaked.
 *
 * Threads work on sockets that they share while the policy changes, and race on one socket while it
 * is being decided.
 */
#include <sys/stat.h>

#include "machine.h"
#include "policy.h"

#define RACE_CLOSES	KINDS	/* added to the kind of listener */

enum { CROWD = 1000 };

struct guest {
	int fd;
	bool connected, answered;
};

/* Accepts from both listeners and echoes, until @clients clients have come and gone. */
static void echo_server(const int listening[2], int clients)
{
	struct epoll_event events[64], e = { .events = EPOLLIN };
	int ep = epoll_create1(0), i, n;
	char data[16];

	for (i = 0; i < 2; i++) {
		e.data.fd = listening[i];
		set_nonblock(listening[i], true);
		need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, listening[i], &e), "epoll_ctl");
	}
	while (clients) {
		n = epoll_wait(ep, events, 64, 6 * WAIT_MS);
		need(n > 0, "nothing happens, and %d clients are missing", clients);
		for (i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			ssize_t got;

			if (fd == listening[0] || fd == listening[1]) {
				e.data.fd = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
				need(e.data.fd >= 0 || errno == EAGAIN, "accept: %s",
				     errno_text(errno));
				if (e.data.fd >= 0)
					epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e);
				continue;
			}
			got = recv(fd, data, sizeof(data), 0);
			if (got > 0) {
				send_all(fd, data, got);
				continue;
			}
			close(fd);
			clients--;
		}
	}
}

static void crowd_event(struct guest *g, int id, int *connected, int *answered)
{
	int back;

	if (!g->connected) {
		int error = get_int(g->fd, SOL_SOCKET, SO_ERROR);

		need(!error, "client %d: %s", id, errno_text(error));
		if (!(poll_for(g->fd, POLLOUT, 0) & POLLOUT))
			return;
		g->connected = true;
		++*connected;
		send_all(g->fd, &id, sizeof(id));
	}
	if (!g->answered && recv(g->fd, &back, sizeof(back), MSG_DONTWAIT) == sizeof(back)) {
		need(back == id, "client %d gets an answer for %d", id, back);
		g->answered = true;
		++*answered;
	}
}

static void crowd_start(struct guest *guests, int n, int ep, const struct addr where[2])
{
	int i;

	as(BOTH_SIDE);
	for (i = 0; i < n; i++) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = i };

		guests[i] = (struct guest){ .fd = stream(SOCK_NONBLOCK) };
		need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, guests[i].fd, &e), "epoll_ctl");
	}
	for (i = 0; i < n; i++)
		need(connect(guests[i].fd, &where[i % 2].sa, where[i % 2].len) &&
		     errno == EINPROGRESS, "connect %d: %s", i, errno_text(errno));
}

/*
 * Half of the clients connect to a listener by SDP, the other half to one by TCP only, all in one
 * process and at the same time. There are fewer on soft-RoCE, which needs ten times as long for
 * each.
 */
static int crowd(void *arg)
{
	static struct guest guests[CROWD];
	int n = scaled(set == &addrsets[SET_RC4] ? CROWD / 4 : CROWD), connected = 0, answered = 0;
	int listening[2], ep = epoll_create1(0), i;
	long long refused = counter("FellRefused"), connects = counter("PolicyConnects");
	struct epoll_event events[64];
	struct addr where[2];
	pid_t pid;

	allow_descriptors(2 * CROWD + 50);
	by_names();
	setting_set("fallback_ms", 60000);
	listening[0] = listener_of(PAIR, CROWD, &where[0]);
	listening[1] = listener_of(TCP_ONLY, CROWD, &where[1]);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ep);
		echo_server(listening, n);
		_exit(EXIT_OK);
	}
	crowd_start(guests, n, ep, where);
	while (answered < n) {
		int ready = epoll_wait(ep, events, 64, 6 * WAIT_MS);

		need(ready > 0, "%d of %d connected, %d answered", connected, n, answered);
		for (i = 0; i < ready; i++)
			crowd_event(&guests[events[i].data.u32], events[i].data.u32, &connected,
				    &answered);
	}
	for (i = 0; i < n; i++) {
		need_protocol(guests[i].fd, i % 2 ? BY_TCP : BY_SDP, "a client");
		close(guests[i].fd);
	}
	helper_end(pid);
	need_count("FellRefused", refused, n / 2);
	need_count("PolicyConnects", connects, n - n / 2);
	return EXIT_OK;
}

/* Descriptors that all threads use. */
enum { SHARED = 24, DOORS = 3 };

static atomic_int shared[SHARED];

static struct addr doors[DOORS];

static atomic_int door_fds[DOORS];

static atomic_bool stress_over;

static atomic_long done_connects, done_accepts, done_bytes;

static int any_shared(unsigned int *seed)
{
	return atomic_load(&shared[next_random(seed) % SHARED]);
}

/* Stores @fd in a random place and closes what was there. */
static void share(unsigned int *seed, int fd)
{
	int old = atomic_exchange(&shared[next_random(seed) % SHARED], fd);

	if (old >= 0)
		close(old);
}

static const char *any_side(unsigned int *seed)
{
	static const char *const names[] = { TCP_SIDE, SDP_SIDE, BOTH_SIDE, BOTH_SIDE };

	return names[next_random(seed) % ARRAY_SIZE(names)];
}

static void *stress_connect(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg;

	while (!stress_over) {
		const struct addr *where = &doors[next_random(&seed) % DOORS];
		int fd = socket(set->family, SOCK_STREAM | (seed & 8 ? SOCK_NONBLOCK : 0), 0);
		bool early = seed & 16;

		if (fd < 0)
			continue;
		set_timeout(fd, SO_SNDTIMEO, 200);
		set_timeout(fd, SO_RCVTIMEO, 50);
		if (early)
			share(&seed, fd);
		as(any_side(&seed));
		/*
		 * A shared descriptor may have been closed meanwhile, and may be another socket
		 * now.
		 */
		if (!connect(fd, &where->sa, where->len))
			done_connects++;
		if (!early)
			share(&seed, fd);
	}
	return NULL;
}

static void *stress_accept(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg;

	while (!stress_over) {
		int fd = door_fds[next_random(&seed) % DOORS], s;

		if (!poll_for(fd, POLLIN, 2))
			continue;
		s = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
		if (s < 0)
			continue;
		done_accepts++;
		if (seed & 4)
			share(&seed, s);
		else
			close(s);
	}
	return NULL;
}

/* Makes a random call on a descriptor that may be a socket of any kind, or not open. */
static void any_call(int fd, unsigned int *seed)
{
	struct addr a = { .len = sizeof(a.ss) };
	int value = 1 + next_random(seed) % 3;
	socklen_t len = sizeof(value);
	char data[100] = "";

	switch (next_random(seed) % 12) {
	case 0:
		poll_for(fd, POLLIN | POLLOUT, value);
		break;
	case 1:
		getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &len);
		break;
	case 2:
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &value, len);
		break;
	case 3:
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, len);
		break;
	case 4:
		if (next_random(seed) % 16 == 0)
			shutdown(fd, next_random(seed) % 3);
		break;
	case 5:
	case 6:
		if (send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			done_bytes++;
		break;
	case 7:
	case 8:
		recv(fd, data, sizeof(data), MSG_DONTWAIT);
		break;
	case 9:
		getsockname(fd, &a.sa, &a.len);
		break;
	case 10:
		getpeername(fd, &a.sa, &a.len);
		break;
	default:
		ioctl(fd, FIONREAD, &value);
	}
}

static void *stress_call(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg;

	while (!stress_over) {
		any_call(any_shared(&seed), &seed);
		if (next_random(&seed) % 50 == 0)
			share(&seed, -1);
	}
	return NULL;
}

static void stress_turn(int rounds)
{
	static const char *const policies[] = {
		NAMED, "any * both", "any * sdp", "connect * both\nlisten * sdp", "",
		"any * program nobody sdp", NAMED "any * path /* cgroup * both\n",
	};
	unsigned int seed = 99;
	int i;

	for (i = 0; i < rounds; i++) {
		policy_set("%s", policies[next_random(&seed) % ARRAY_SIZE(policies)]);
		if (i % 20 == 5)
			setting_set("rewrite", 0);
		if (i % 20 == 8)
			setting_set("rewrite", 1);
		if (i % 100 == 7) {
			/* Replaces the listener by both with a new one. */
			int old = door_fds[0];

			int new = listener_of(PAIR, 8, &doors[0]);

			set_nonblock(new, true);
			door_fds[0] = new;
			close(old);
		}
		pause_ms(1);
	}
}

static int stress(void *arg)
{
	static void *(*const bodies[])(void *) = { stress_connect, stress_connect, stress_accept,
						   stress_accept, stress_call, stress_call,
						   stress_call };
	pthread_t threads[ARRAY_SIZE(bodies)];
	long users = idle_users();
	size_t i;

	by_names();
	setting_set("fallback_ms", 100);
	setting_set("fallback_memory_ms", 50);
	for (i = 0; i < SHARED; i++)
		shared[i] = -1;
	door_fds[0] = listener_of(PAIR, 8, &doors[0]);
	door_fds[1] = listener_of(TCP_ONLY, 8, &doors[1]);
	door_fds[2] = listener_of(SDP_ONLY, 8, &doors[2]);
	for (i = 0; i < DOORS; i++)
		set_nonblock(door_fds[i], true);
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		threads[i] = start_thread(bodies[i], (void *)(i + 1));
	stress_turn(scaled(1000));
	/* A slow and busy machine needs more time to reach these numbers. */
	while (done_connects <= 10 || done_accepts <= 10)
		stress_turn(20);
	stress_over = true;
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < DOORS; i++)
		close(door_fds[i]);
	for (i = 0; i < SHARED; i++)
		close(shared[i]);
	printf("# %ld connects, %ld accepts, %ld sends\n", done_connects, done_accepts, done_bytes);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

/* Threads that make calls on one undecided socket at the same moment, again and again. */
enum { RACERS = 5 };

static struct race {
	pthread_barrier_t start, end;
	atomic_int fd;
	atomic_bool over;
	struct addr where;
	int listening;
	bool closes;
} race;

/* Makes a random call. A few of them are shutdown(), a second connect() and close(). */
static void race_call(int fd, unsigned int *seed)
{
	switch (next_random(seed) % (race.closes ? 50 : 200)) {
	case 0:
		shutdown(fd, next_random(seed) % 3);
		break;
	case 1:
		if (race.closes && atomic_exchange(&race.fd, -1) == fd)
			close(fd);
		break;
	case 2:
		connect(fd, &race.where.sa, race.where.len);
		break;
	case 3:
		recv(fd, seed, 0, 0);
		break;
	default:
		any_call(fd, seed);
	}
}

static void *racer(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg + 17;
	int i, fd;

	as(BOTH_SIDE);
	for (;;) {
		pthread_barrier_wait(&race.start);
		if (race.over)
			return NULL;
		for (i = 0; i < 12; i++) {
			fd = race.fd;
			if (fd >= 0)
				race_call(fd, &seed);
		}
		pthread_barrier_wait(&race.end);
	}
}

static void race_drain(void)
{
	int s;

	while (race.listening >= 0 && (s = accept(race.listening, NULL, NULL)) >= 0)
		close(s);
}

static void race_round(unsigned int *seed)
{
	int fd = stream(next_random(seed) % 2 ? SOCK_NONBLOCK : 0), spin, protocol = BY_TCP;

	set_timeout(fd, SO_SNDTIMEO, 100);
	set_timeout(fd, SO_RCVTIMEO, 5);
	race.fd = fd;
	pthread_barrier_wait(&race.start);
	for (spin = next_random(seed) % 20000; spin; spin--)
		__asm__ volatile("");
	connect(fd, &race.where.sa, race.where.len);
	pthread_barrier_wait(&race.end);
	fd = atomic_exchange(&race.fd, -1);
	if (fd >= 0) {
		protocol = protocol_of(fd);
		close(fd);
	}
	need(protocol == BY_TCP || protocol == BY_SDP, "it is by protocol %d", protocol);
	race_drain();
}

static int race_one(void *arg)
{
	enum kind kind = (enum kind)((long)arg % RACE_CLOSES);
	pthread_t threads[RACERS];
	long users = idle_users();
	unsigned int seed = 4711;
	long i;

	race.closes = (long)arg >= RACE_CLOSES;
	by_names();
	setting_set("fallback_ms", 200);
	setting_set("fallback_memory_ms", 20);
	race.listening = listener_of(kind, 50, &race.where);
	if (race.listening >= 0)
		set_nonblock(race.listening, true);
	pthread_barrier_init(&race.start, NULL, RACERS + 1);
	pthread_barrier_init(&race.end, NULL, RACERS + 1);
	for (i = 0; i < RACERS; i++)
		threads[i] = start_thread(racer, (void *)i);
	as(BOTH_SIDE);
	for (i = 0; i < (race.closes ? 300 : 0) + scaled(300); i++)
		race_round(&seed);
	race.over = true;
	pthread_barrier_wait(&race.start);
	for (i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	close(race.listening);
	await_users(users);
	return EXIT_OK;
}

static void *sets_once(void *arg)
{
	const int seven = 7;
	unsigned int seed = 31;
	int spin;

	for (;;) {
		pthread_barrier_wait(&race.start);
		if (race.over)
			return NULL;
		for (spin = next_random(&seed) % 60000; spin; spin--)
			__asm__ volatile("");
		/* EAGAIN: SDP is just replacing TCP. */
		while (setsockopt(race.fd, SOL_SOCKET, SO_RCVLOWAT, &seven, sizeof(seven)))
			need(errno == EAGAIN, "SO_RCVLOWAT: %s", errno_text(errno));
		pthread_barrier_wait(&race.end);
	}
}

/* An option that is set at the moment when SDP replaces TCP takes effect. */
static int race_option(void *arg)
{
	pthread_t thread;
	int i, n = scaled(1000), lost = 0;

	by_names();
	race.listening = listener_of(SDP_ONLY, 50, &race.where);
	set_nonblock(race.listening, true);
	pthread_barrier_init(&race.start, NULL, 2);
	pthread_barrier_init(&race.end, NULL, 2);
	thread = start_thread(sets_once, NULL);
	for (i = 0; i < n; i++) {
		race.fd = stream(0);
		pthread_barrier_wait(&race.start);
		need_connect(BOTH_SIDE, race.fd, &race.where, 0, "connect");
		pthread_barrier_wait(&race.end);
		lost += get_int(race.fd, SOL_SOCKET, SO_RCVLOWAT) != 7;
		close(race.fd);
		race_drain();
	}
	race.over = true;
	pthread_barrier_wait(&race.start);
	pthread_join(thread, NULL);
	need(!lost, "%d of %d were lost", lost, n);
	return EXIT_OK;
}

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

enum { FALLS = 31 };

static int by_length(const void *a, const void *b)
{
	const long long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median time (us) from connect() until TCP has connected, when SDP refuses. */
static long long time_to_fall(const struct addr *where)
{
	long long took[FALLS];
	int i, fd;

	for (i = 0; i < FALLS; i++) {
		fd = stream(SOCK_NONBLOCK);
		took[i] = now_us();
		connect(fd, &where->sa, where->len);
		need(poll_for(fd, POLLOUT, WAIT_MS) & POLLOUT, "no connection");
		took[i] = now_us() - took[i];
		close(fd);
	}
	qsort(took, FALLS, sizeof(took[0]), by_length);
	return took[FALLS / 2];
}

/* Changes the mode of the socket all the time: a close() then waits for the inode lock at times. */
static void *hold_up_closing(void *arg)
{
	char link[40];
	int way = 0;

	while (!race.over) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", race.fd);
		chmod(link, way++ & 1 ? 0600 : 0700);
	}
	return NULL;
}

/* A descriptor of the socket's inode, which does not keep the socket open. */
static int inode_of(int fd)
{
	char link[40];
	int inode;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	inode = open(link, O_PATH);
	need_errno(inode >= 0, link);
	return inode;
}

/*
 * A socket is closed at the moment when it falls back. Its reference to the module is dropped
 * exactly once.
 */
static int race_closed(void *arg)
{
	unsigned int seed = 8;
	long long time, end;
	pthread_t thread;
	struct addr where;
	long users;
	int i, fd;

	by_names();
	race.listening = listener_of(TCP_ONLY, 50, &where);
	set_nonblock(race.listening, true);
	race.fd = -1;
	as(BOTH_SIDE);
	time = time_to_fall(&where);
	race_drain();
	users = idle_users();
	thread = start_thread(hold_up_closing, NULL);
	for (i = 0; i < scaled(1000); i++) {
		fd = stream(SOCK_NONBLOCK);
		race.fd = inode_of(fd);
		connect(fd, &where.sa, where.len);
		end = now_us() + time / 2 + random_up_to(&seed, time);
		while (now_us() < end)
			;
		close(fd);
		close(race.fd);
		if (i % 20 == 0)
			race_drain();
	}
	race.over = true;
	pthread_join(thread, NULL);
	race_drain();
	await_users(users);
	close(fresh(0));
	printf("# closed %lld to %lld us after the connect\n", time / 2, time * 3 / 2);
	return EXIT_OK;
}

#define RACE(name, kind) \
	{ "race_" name, race_one, 90, TWO_SETS, true, (void *)(long)(kind) }
#define CLOSE_RACE(name, kind)	RACE("close_" name, RACE_CLOSES + (kind))

static const struct test tests[] = {
	CASE(crowd, 100, TWO_SETS),
	CASE(stress, 100, TWO_SETS),
	RACE("tcp", TCP_ONLY),
	RACE("sdp", SDP_ONLY),
	RACE("pair", PAIR),
	RACE("nobody", NOBODY),
	CASE(race_option, 60, TWO_SETS),
	CLOSE_RACE("tcp", TCP_ONLY),
	CLOSE_RACE("sdp", SDP_ONLY),
	CLOSE_RACE("pair", PAIR),
	CLOSE_RACE("nobody", NOBODY),
	CASE(race_closed, 60, ONE_SET | NOT_SHORT),
};

const struct test_list race_tests = TEST_LIST(tests);
