// SPDX-License-Identifier: GPL-2.0
/*
 * Ports with many sockets: no call walks all of them. A TCP port belongs to one user.
 *
 * bind(), listen() and a connection request do not walk the connections of a port, nor the
 * listeners that share it by SO_REUSEPORT. These listeners take exact turns. Options that are set
 * after bind() count. Only the user of a TCP port can listen there by SDP, and only the user of an
 * SDP listener can have its TCP port.
 */
#include "cases.h"
#include "machine.h"

/* The tests bind to addresses of their own, so they need one set: the one that slow kernels run. */
enum { EVERYWHERE = 1u << SET_LO6 };

enum {
	FEW = 20,
	MANY = 1500,
	/*
	 * The steps allowed in addition with many addresses: the trees are deeper, and a call makes
	 * at most three searches of each of a few kinds.
	 */
	DEEPER = 60,
	SHARING = 120,
	TURNS = 3,
};

/* A socket of IPPROTO_SDP: late kernels of the 6.1 series refuse SO_REUSEPORT to family 27. */
static int twin(int option)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);

	need_errno(fd >= 0, "socket");
	if (option)
		set_int(fd, SOL_SOCKET, option, 1);
	return fd;
}

/* 127.1.x.y: each connection uses another address of the wildcard listener. */
static struct addr nth_address(int n, unsigned int port)
{
	char text[32];

	snprintf(text, sizeof(text), "127.1.%d.%d", n / 200, 1 + n % 200);
	return addr_make(AF_INET, text, port);
}

static void connect_many(struct pair *pairs, int n, int listening, unsigned int port)
{
	struct addr where;
	int i;

	for (i = 0; i < n; i++) {
		where = nth_address(i, port);
		pairs[i].c = twin(0);
		connect_to(pairs[i].c, &where);
		pairs[i].s = accept_from(listening);
	}
}

static void close_many(const struct pair *pairs, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		close(pairs[i].c);
		close(pairs[i].s);
	}
}

/* The calls whose steps are counted. */
enum { FREE_ADDRESS, TAKEN_ADDRESS, WILDCARD, IN_USE, LISTEN, REQUEST, CALLS };

static const char *const calls[CALLS] = {
	"bind of a free address", "bind of a connection's address", "bind of the wildcard",
	"bind that is refused", "listen", "a request",
};

static void steps_of_bind(const struct addr *where, int reuse, bool can, long long *steps)
{
	int fd = twin(reuse ? SO_REUSEADDR : 0);
	long long before = counter("PortSteps");

	if (can)
		need_errno(!bind(fd, &where->sa, where->len), "bind");
	else
		need(bind(fd, &where->sa, where->len) && errno == EADDRINUSE,
		     "bind without SO_REUSEADDR: %s", errno_text(errno));
	*steps = counter("PortSteps") - before;
	close(fd);
}

/*
 * Counts the steps of a new listener and of a request to it, beside the connections of a closed
 * listener.
 */
static void steps_of_listener(unsigned int port, long long *steps)
{
	struct addr any = addr_make(AF_INET, "0.0.0.0", port), where = nth_address(1, port);
	int fd = twin(SO_REUSEADDR), client = twin(0);
	long long before;

	need_errno(!bind(fd, &any.sa, any.len), "bind");
	before = counter("PortSteps");
	need_errno(!listen(fd, 4), "listen");
	steps[LISTEN] = counter("PortSteps") - before;
	before = counter("PortSteps");
	connect_to(client, &where);
	steps[REQUEST] = counter("PortSteps") - before;
	close(accept_from(fd));
	close(client);
	close(fd);
}

/* Counts the steps of each call at a port with @n connections whose listener is closed. */
static void steps_beside(int n, long long *steps)
{
	static struct pair pairs[MANY];
	struct addr any = addr_make(AF_INET, "0.0.0.0", 0), free_one, taken;
	int fd = twin(SO_REUSEADDR);
	unsigned int port;

	need_errno(!bind(fd, &any.sa, any.len), "bind");
	need_errno(!listen(fd, 8), "listen");
	any = name_of(fd);
	port = addr_port(&any);
	connect_many(pairs, n, fd, port);
	close(fd);
	taken = nth_address(n / 2, port);
	free_one = addr_make(AF_INET, "127.2.2.2", port);
	steps_of_bind(&free_one, 0, true, &steps[FREE_ADDRESS]);
	steps_of_bind(&taken, 1, true, &steps[TAKEN_ADDRESS]);
	steps_of_bind(&any, 1, true, &steps[WILDCARD]);
	steps_of_bind(&any, 0, false, &steps[IN_USE]);
	steps_of_listener(port, steps);
	close_many(pairs, n);
}

static int beside_connections(void *arg)
{
	long long few[CALLS], many[CALLS], before = counter("CurrEstab");
	int i;

	allow_descriptors(2 * MANY + 50);
	steps_beside(FEW, few);
	steps_beside(MANY, many);
	for (i = 0; i < CALLS; i++) {
		printf("# %s: %lld steps beside %d connections, %lld beside %d\n", calls[i], few[i],
		       FEW, many[i], MANY);
		need(many[i] > 0 || i == REQUEST, "%s: nothing is counted", calls[i]);
		/* A refused bind() also checks a few sockets for changed options. */
		need(many[i] <= few[i] + DEEPER + (i == IN_USE ? 64 : 0), "%s: %lld steps",
		     calls[i], many[i]);
	}
	await_established(before);
	return EXIT_OK;
}

static int shares_port(struct addr *where)
{
	int fd = twin(SO_REUSEPORT);

	need_errno(!bind(fd, &where->sa, where->len), "bind");
	need_errno(!listen(fd, TURNS + 1), "listen");
	*where = name_of(fd);
	return fd;
}

/* Among listeners that share a port, the last one costs as little as the first ones. */
static int beside_listeners(void *arg)
{
	static int listeners[SHARING];
	struct addr where = addr_make(AF_INET, "127.0.0.1", 0);
	long long before = 0, steps;
	int i, client, fd, turn;

	allow_descriptors(SHARING * (TURNS + 2));
	for (i = 0; i < SHARING; i++) {
		before = counter("PortSteps");
		listeners[i] = shares_port(&where);
	}
	steps = counter("PortSteps") - before;
	printf("# bind and listen beside %d listeners: %lld steps\n", SHARING - 1, steps);
	need(steps > 0 && steps < DEEPER, "%lld steps", steps);
	before = counter("PortSteps");
	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < SHARING; i++) {
			client = twin(0);
			connect_to(client, &where);
			close(client);
		}
	}
	steps = (counter("PortSteps") - before) / (TURNS * SHARING);
	printf("# a request to one of %d listeners: %lld steps\n", SHARING, steps);
	need(steps > 0 && steps < DEEPER, "%lld steps", steps);
	for (i = 0; i < SHARING; i++) {
		set_nonblock(listeners[i], true);
		for (turn = 0; turn < TURNS; turn++) {
			fd = accept(listeners[i], NULL, NULL);
			need(fd >= 0, "listener %d has had %d requests of %d", i, turn, TURNS);
			close(fd);
		}
	}
	for (i = 0; i < SHARING; i++)
		close(listeners[i]);
	return EXIT_OK;
}

/* A second socket can bind to the address of @first only once @first has the option as well. */
static int set_later(void *arg)
{
	struct addr where = addr_make(AF_INET, "127.0.0.1", 0);
	int option = *(int *)arg, first, second;

	first = use_sdp ? twin(0) : socket_for(AF_INET, 0);
	need_errno(!bind(first, &where.sa, where.len), "bind");
	where = name_of(first);
	second = use_sdp ? twin(0) : socket_for(AF_INET, 0);
	set_int(second, SOL_SOCKET, option, 1);
	need(bind(second, &where.sa, where.len) && errno == EADDRINUSE,
	     "bind beside one without: %s", errno_text(errno));
	set_int(first, SOL_SOCKET, option, 1);
	need_errno(!bind(second, &where.sa, where.len), "bind beside one that has it now");
	need_errno(!listen(second, 1), "listen beside one that has it now");
	return EXIT_OK;
}

/*
 * A listener that is closed or shut down gets no further requests; the listener that shares its
 * port gets them all.
 */
static int listener_ends(void *arg)
{
	struct addr where = addr_make(AF_INET, "127.0.0.1", 0);
	int closed = shares_port(&where), shut = shares_port(&where), stays = shares_port(&where);
	int i, client;

	close(closed);
	need_errno(!shutdown(shut, SHUT_RD), "shutdown");
	for (i = 0; i < TURNS; i++) {
		client = twin(0);
		connect_to(client, &where);
		close(accept_from(stays));
		close(client);
	}
	need_errno(!listen(shut, TURNS), "listen again");
	for (i = 0; i < 2; i++) {
		client = twin(0);
		connect_to(client, &where);
	}
	close(accept_from(stays));
	close(accept_from(shut));
	return EXIT_OK;
}

/* A connection occupies its own address, not the wildcard that its socket was bound to. */
static int connected_address(void *arg)
{
	struct addr any = addr_make(AF_INET, "0.0.0.0", 0), other;
	struct addr where = addr_make(AF_INET, "127.0.0.1", 0);
	int fd = listener_on(&where, 4, NULL), client = twin(0), second = twin(0);
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	where = name_of(fd);
	need_errno(!bind(client, &any.sa, any.len), "bind");
	any = name_of(client);
	other = addr_make(AF_INET, "127.3.3.3", addr_port(&any));
	need(bind(second, &other.sa, other.len) && errno == EADDRINUSE, "beside the wildcard: %s",
	     errno_text(errno));
	connect_to(client, &where);
	need_errno(!bind(second, &other.sa, other.len), "beside a connection of another address");
	close(second);
	need_errno(!connect(client, &none, sizeof(none)), "disconnect");
	/* The kernel had chosen its port, so the disconnect released the port. */
	second = twin(0);
	need_errno(!bind(second, &other.sa, other.len), "after the disconnect");
	close(fd);
	return EXIT_OK;
}

#define ANY6		"::"

enum { TCP_ONE, SDP_ONE };
enum { FIRST_USER = 1001, SECOND_USER = 1002 };
enum { BOUND_ONLY = 0x100000 };		/* added to an option: it does not listen */

/* Two sockets that want the same port, one after the other. */
static const struct rivals {
	const char *first, *second;
	int options[2];
	bool same_user, only_v6;
} rivals[] = {
	{ .first = "127.0.0.1", .second = "127.0.0.1" },
	{ .first = "0.0.0.0", .second = "127.0.0.1" },
	{ .first = "127.0.0.1", .second = "0.0.0.0" },
	{ .first = "127.0.0.1", .second = "127.0.0.2" },
	{ .first = ANY6, .second = "127.0.0.1" },
	{ .first = "127.0.0.1", .second = ANY6 },
	{ .first = ANY6, .second = "127.0.0.1", .only_v6 = true },
	{ .first = "0.0.0.0", .second = ANY6, .only_v6 = true },
	{ .first = ANY6, .second = ANY6 },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { BOUND_ONLY, 0 } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { SO_REUSEADDR, SO_REUSEADDR } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { BOUND_ONLY | SO_REUSEADDR, SO_REUSEADDR } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { SO_REUSEADDR, BOUND_ONLY | SO_REUSEADDR } },
	{ .first = "127.0.0.1", .second = "0.0.0.0",
	  .options = { BOUND_ONLY | SO_REUSEADDR, BOUND_ONLY | SO_REUSEADDR } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { BOUND_ONLY | SO_REUSEADDR, 0 } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { SO_REUSEPORT, SO_REUSEPORT } },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { SO_REUSEPORT, SO_REUSEPORT }, .same_user = true },
	{ .first = "127.0.0.1", .second = "127.0.0.1",
	  .options = { BOUND_ONLY, 0 }, .same_user = true },
	{ .first = "127.0.0.1", .second = "0.0.0.0",
	  .options = { BOUND_ONLY | SO_REUSEADDR, SO_REUSEADDR }, .same_user = true },
};

/*
 * Makes a socket of @user, binds it, and listens unless BOUND_ONLY is set. Returns 0 or the errno.
 */
static int rival_made(int kind, uid_t user, const char *text, unsigned int port, int options,
		      bool only_v6, int *fd)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET, on = 1;
	struct addr where = addr_make(family, text, port);
	int option = options & ~BOUND_ONLY, error = 0;

	/* Root may take every port, so act as another user. */
	need_errno(!seteuid(user), "seteuid");
	*fd = socket(family, SOCK_STREAM, kind == SDP_ONE ? IPPROTO_SDP : 0);
	need_errno(*fd >= 0, "socket");
	if (option)
		need_errno(!setsockopt(*fd, SOL_SOCKET, option, &on, sizeof(on)), "setsockopt");
	if (family == AF_INET6)
		set_int(*fd, IPPROTO_IPV6, IPV6_V6ONLY, only_v6);
	if (bind(*fd, &where.sa, where.len) || (!(options & BOUND_ONLY) && listen(*fd, 1)))
		error = errno;
	need_errno(!seteuid(0), "seteuid");
	return error;
}

/* Returns the result of the second socket. */
static int rival_told(const struct rivals *r, int first, int second, unsigned int port)
{
	int one, other, error;

	error = rival_made(first, FIRST_USER, r->first, port, r->options[0], r->only_v6, &one);
	need(!error, "the first one: %s", errno_text(error));
	error = rival_made(second, r->same_user ? FIRST_USER : SECOND_USER, r->second, port,
			   r->options[1], r->only_v6, &other);
	close(other);
	close(one);
	return error;
}

/*
 * A port of TCP, or of SDP together with TCP's, belongs to one user. In every order of SDP and TCP
 * the second socket gets the result that TCP gives.
 */
static int as_tcp_says(void *arg)
{
	unsigned int i, port;
	int right, order;

	for (i = 0; i < ARRAY_SIZE(rivals); i++) {
		port = 15000 + 10 * i;
		right = rival_told(&rivals[i], TCP_ONE, TCP_ONE, port);
		for (order = 1; order <= 3; order++) {
			int told = rival_told(&rivals[i], order & 1, order >> 1, port + order);

			need(told == right, "pair %u, %s then %s: %s, and with TCP alone %s", i,
			     order & 1 ? "SDP" : "TCP", order >> 1 ? "SDP" : "TCP",
			     errno_text(told), errno_text(right));
		}
	}
	return EXIT_OK;
}

/* A server that listens by TCP may listen by SDP as well. Root may do so in any order. */
static int both_kinds(void *arg)
{
	static const uid_t users[] = { FIRST_USER, 0 };
	int tcp, sdp, error, order;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(users); i++) {
		for (order = 0; order <= (users[i] ? 0 : 1); order++) {
			error = rival_made(order, users[i], "127.0.0.1", 15500, 0, false, &tcp);
			need(!error, "the first one: %s", errno_text(error));
			error = rival_made(!order, users[i], "127.0.0.1", 15500, 0, false, &sdp);
			need(!error, "the second one: %s", errno_text(error));
			close(tcp);
			close(sdp);
		}
	}
	return EXIT_OK;
}

/* Another user cannot bind to the TCP port of this SDP socket as long as the port is claimed. */
static void need_claimed(int fd, bool claimed, const char *when)
{
	struct addr name = name_of(fd);
	int other, error = rival_made(TCP_ONE, SECOND_USER, "127.0.0.1", addr_port(&name), 0, false,
				      &other);

	need(error == (claimed ? EADDRINUSE : 0), "%s: %s", when, errno_text(error));
	close(other);
}

static int claim_lasts(void *arg)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr where = addr_make(AF_INET, "127.0.0.1", 0);
	int fd, client, accepted, copy;

	rival_made(SDP_ONE, FIRST_USER, "127.0.0.1", 0, 0, false, &fd);
	need_claimed(fd, true, "a listener at a port that the kernel chose");
	where = name_of(fd);
	client = twin(0);
	connect_to(client, &where);
	accepted = accept_from(fd);
	need_claimed(client, false, "a port that is only connected from");
	need_errno(!shutdown(fd, SHUT_RD), "shutdown");
	need_claimed(fd, false, "a port that goes with listening");
	close(fd);
	close(accepted);
	close(client);
	rival_made(SDP_ONE, FIRST_USER, "127.0.0.1", 15600, 0, false, &fd);
	need_claimed(fd, true, "a listener");
	copy = dup(fd);
	close(fd);
	need_claimed(copy, true, "a listener that another descriptor stands for");
	need_errno(!connect(copy, &none, sizeof(none)), "disconnect");
	need_claimed(copy, true, "a socket that is bound");
	where = name_of(copy);
	close(copy);
	copy = twin(0);
	need_errno(!bind(copy, &where.sa, where.len), "bind");
	need_claimed(copy, false, "root's");
	close(copy);
	return EXIT_OK;
}

static void set_port_range(const char *range)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");

	need_errno(f && fputs(range, f) >= 0 && !fclose(f), "ip_local_port_range");
}

/*
 * bind() to port 0 finds no port if SDP has given out all of the range. It says so after one search
 * of the range, and does not search again as if TCP had the port that was found.
 */
static int used_up(void *arg)
{
	enum { FIRST = 41000, PORTS = 64 };
	int fds[PORTS], extra, i, error;
	long long before, steps;

	for (i = 0; i < PORTS; i++) {
		error = rival_made(SDP_ONE, FIRST_USER, "127.0.0.1", FIRST + i, BOUND_ONLY, false,
				   &fds[i]);
		need(!error, "port %d: %s", FIRST + i, errno_text(error));
	}
	set_port_range("41000 41063");
	before = counter("PortSteps");
	error = rival_made(SDP_ONE, FIRST_USER, "127.0.0.1", 0, BOUND_ONLY, false, &extra);
	steps = counter("PortSteps") - before;
	set_port_range("32768 60999");
	close(extra);
	for (i = 0; i < PORTS; i++)
		close(fds[i]);
	need(error == EADDRINUSE, "bind to port 0: %s", errno_text(error));
	need(steps <= 4 * PORTS, "%lld steps for a range of %d ports", steps, PORTS);
	return EXIT_OK;
}

static int reuse_address = SO_REUSEADDR, reuse_port = SO_REUSEPORT;

static const struct test tests[] = {
	{ "beside_connections", beside_connections, 60, EVERYWHERE, true, NULL },
	{ "beside_listeners", beside_listeners, 60, EVERYWHERE, true, NULL },
	{ "reuse_address_later", set_later, 10, EVERYWHERE, false, &reuse_address },
	{ "reuse_port_later", set_later, 10, EVERYWHERE, false, &reuse_port },
	{ "listener_ends", listener_ends, 10, EVERYWHERE, true, NULL },
	{ "connected_address", connected_address, 10, EVERYWHERE, true, NULL },
	{ "as_tcp_says", as_tcp_says, 20, EVERYWHERE, true, NULL },
	{ "both_kinds", both_kinds, 10, EVERYWHERE, true, NULL },
	{ "claim_lasts", claim_lasts, 10, EVERYWHERE, true, NULL },
	{ "used_up", used_up, 10, EVERYWHERE, true, NULL },
};

TEST_MAIN(tests)
