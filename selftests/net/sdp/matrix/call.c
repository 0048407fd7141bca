// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the matrix that move no bytes.
 */
#include "matrix.h"
#include <sys/stat.h>

/* Calls that change nothing: names, readiness, ioctls, options. */

static long do_name(struct cell *x, const struct call *c)
{
	struct addr a = { .len = c->b };
	long ret = c->a ? getpeername(x->fd, &a.sa, &a.len) : getsockname(x->fd, &a.sa, &a.len);

	if (!ret && c->b == sizeof(a.ss))
		noted_address(&a, a.len);
	else if (!ret)
		noted(" %u bytes", a.len);
	return ret;
}

static long do_name_forbidden(struct cell *x, const struct call *c)
{
	socklen_t len = sizeof(struct sockaddr_storage);
	struct sockaddr *bad = (struct sockaddr *)forbidden;

	return c->a ? getpeername(x->fd, bad, &len) : getsockname(x->fd, bad, &len);
}

static long do_poll(struct cell *x, const struct call *c)
{
	struct pollfd pfd = { .fd = x->fd, .events = c->a };
	long ret = poll(&pfd, 1, 0);
	char text[100];

	events_text((unsigned short)pfd.revents, text, sizeof(text));
	noted(" %s", text);
	return ret;
}

static long do_epoll(struct cell *x, const struct call *c)
{
	struct epoll_event event = { .events = c->a };
	int fd = epoll_create1(0);
	char text[100];
	long ret;

	need_errno(fd >= 0 && !epoll_ctl(fd, EPOLL_CTL_ADD, x->fd, &event), "epoll");
	event.events = 0;
	ret = epoll_wait(fd, &event, 1, 0);
	close(fd);
	events_text(event.events & 0xffff, text, sizeof(text));
	noted(" %s", text);
	return ret;
}

static long do_select(struct cell *x, const struct call *c)
{
	struct timeval now = { 0, 0 };
	fd_set r, w, e;
	long ret;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&e);
	if (c->a & 1)
		FD_SET(x->fd, &r);
	if (c->a & 2)
		FD_SET(x->fd, &w);
	if (c->a & 4)
		FD_SET(x->fd, &e);
	ret = select(x->fd + 1, &r, &w, &e, &now);
	noted(" %s%s%s", FD_ISSET(x->fd, &r) ? "r" : "", FD_ISSET(x->fd, &w) ? "w" : "",
	      FD_ISSET(x->fd, &e) ? "e" : "");
	return ret;
}

/* @b is the input. A full connection's bytes depend on its buffers, and are not compared. */
static long do_ioctl(struct cell *x, const struct call *c)
{
	int value = c->b;
	long ret = ioctl(x->fd, c->a, &value);

	if (!ret && value > 4096)
		noted(" many");
	else if (!ret)
		noted(" %d", value);
	return ret;
}

static long do_ioctl_forbidden(struct cell *x, const struct call *c)
{
	return ioctl(x->fd, c->a, forbidden);
}

static long do_owner_ioctl(struct cell *x, const struct call *c)
{
	int value = getpid();
	long ret = ioctl(x->fd, c->a, &value);

	noted(" %s", value == getpid() ? "own" : "other");
	return ret;
}

static long do_own(struct cell *x, const struct call *c)
{
	long ret = fcntl(x->fd, F_SETOWN, c->a ? getpid() : 0);
	int owner = fcntl(x->fd, F_GETOWN);

	noted(" %s", !owner ? "nobody" : owner == getpid() ? "own" : "other");
	return ret;
}

static long do_getfl(struct cell *x, const struct call *c)
{
	return fcntl(x->fd, F_GETFL);
}

static long do_stat(struct cell *x, const struct call *c)
{
	struct stat st = { 0 };
	long ret = fstat(x->fd, &st);

	noted(" %s, %ld bytes", S_ISSOCK(st.st_mode) ? "socket" : "other", (long)st.st_size);
	return ret;
}

static long do_seek(struct cell *x, const struct call *c)
{
	return lseek(x->fd, 0, SEEK_CUR);
}

static long do_sync(struct cell *x, const struct call *c)
{
	return fsync(x->fd);
}

static long do_truncate(struct cell *x, const struct call *c)
{
	return ftruncate(x->fd, 0);
}

static long do_map(struct cell *x, const struct call *c)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, x->fd, 0) == MAP_FAILED ? -1 : 0;
}

static long do_dup(struct cell *x, const struct call *c)
{
	int fd = dup(x->fd);

	need_errno(fd >= 0, "dup");
	return close(fd);
}

static long do_get(struct cell *x, const struct call *c)
{
	socklen_t len = sizeof(int);
	int value = 0;
	long ret = getsockopt(x->fd, c->a, c->b, &value, &len);

	if (!ret && c->a == SOL_SOCKET && c->b == SO_ERROR && value)
		noted(" %s", errno_text(value));
	else if (!ret)
		noted(" %d", value);
	if (len != sizeof(int))
		noted(", %u bytes", len);
	return ret;
}

static long do_get_linger(struct cell *x, const struct call *c)
{
	struct linger value = { 0 };
	socklen_t len = sizeof(value);
	long ret = getsockopt(x->fd, SOL_SOCKET, SO_LINGER, &value, &len);

	noted(" %d %d, %u bytes", value.l_onoff, value.l_linger, len);
	return ret;
}

static long do_get_peer(struct cell *x, const struct call *c)
{
	struct addr a = { .len = sizeof(a.ss) };
	long ret = getsockopt(x->fd, SOL_SOCKET, SO_PEERNAME, &a.ss, &a.len);

	if (!ret)
		noted_address(&a, a.len);
	return ret;
}

static long do_get_length(struct cell *x, const struct call *c)
{
	socklen_t len = c->a;
	int value = 0;
	long ret = getsockopt(x->fd, SOL_SOCKET, SO_TYPE, &value, &len);

	noted(" %u bytes", len);
	return ret;
}

static long do_get_forbidden(struct cell *x, const struct call *c)
{
	socklen_t len = sizeof(int);

	return getsockopt(x->fd, c->a, c->b, forbidden, &len);
}

static long do_set(struct cell *x, const struct call *c)
{
	return setsockopt(x->fd, c->a, c->b, c->p, sizeof(int));
}

static long do_set_short(struct cell *x, const struct call *c)
{
	return setsockopt(x->fd, c->a, c->b, "", 1);
}

static long do_set_forbidden(struct cell *x, const struct call *c)
{
	return setsockopt(x->fd, c->a, c->b, forbidden, sizeof(int));
}

static long do_set_linger(struct cell *x, const struct call *c)
{
	struct linger value = { .l_onoff = c->a, .l_linger = c->b };

	return setsockopt(x->fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value));
}

/* Calls that change the socket. */

static long do_bind(struct cell *x, const struct call *c)
{
	struct addr a = c->a ? wildcard_addr(c->b) : client_addr(c->b);

	return bind(x->fd, &a.sa, a.len);
}

static long do_bind_taken(struct cell *x, const struct call *c)
{
	return bind(x->fd, &hub_at.sa, hub_at.len);
}

static long do_bind_elsewhere(struct cell *x, const struct call *c)
{
	struct addr a = addr_make(set->family, set->family == AF_INET ? "192.0.2.7" :
				  "2001:db8::7", 0);

	return bind(x->fd, &a.sa, a.len);
}

static long do_bind_length(struct cell *x, const struct call *c)
{
	struct addr a = client_addr(0);

	return bind(x->fd, &a.sa, c->a);
}

static long do_bind_family(struct cell *x, const struct call *c)
{
	struct addr a = client_addr(0);

	a.sa.sa_family = c->a;
	return bind(x->fd, &a.sa, a.len);
}

static long do_bind_forbidden(struct cell *x, const struct call *c)
{
	return bind(x->fd, (struct sockaddr *)forbidden, hub_at.len);
}

static long do_listen(struct cell *x, const struct call *c)
{
	return listen(x->fd, c->a);
}

static long accepted_socket(const struct cell *x, int fd, const struct addr *from)
{
	int error = errno;

	if (fd >= 0) {
		noted(" flags %#x %#x", fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
		noted(", listens %d", try_int(fd, SOL_SOCKET, SO_ACCEPTCONN));
		if (from)
			noted_address(from, from->len);
		close(fd);
	}
	/* Some of these two errors come after a connection was accepted, which then ends. */
	if (fd >= 0 || error == EFAULT || error == EINVAL)
		settle_end(x);
	errno = error;
	return fd < 0 ? -1 : 0;
}

static long do_accept(struct cell *x, const struct call *c)
{
	struct addr from = { .len = sizeof(from.ss) };

	return accepted_socket(x, accept(x->fd, &from.sa, &from.len), &from);
}

static long do_accept4(struct cell *x, const struct call *c)
{
	return accepted_socket(x, accept4(x->fd, NULL, NULL, c->a), NULL);
}

static long do_accept_unblocked(struct cell *x, const struct call *c)
{
	int flags = fcntl(x->fd, F_GETFL), fd;

	set_nonblock(x->fd, true);
	fd = accept(x->fd, NULL, NULL);
	fcntl(x->fd, F_SETFL, flags);
	return accepted_socket(x, fd, NULL);
}

static long do_accept_length(struct cell *x, const struct call *c)
{
	struct addr from = { .len = c->a };
	int fd = accept(x->fd, &from.sa, &from.len);

	if (fd >= 0)
		noted(" %u bytes", from.len);
	return accepted_socket(x, fd, NULL);
}

static long do_accept_forbidden(struct cell *x, const struct call *c)
{
	socklen_t len = sizeof(struct sockaddr_storage);

	return accepted_socket(x, accept(x->fd, (struct sockaddr *)forbidden, &len), NULL);
}

static long do_connect(struct cell *x, const struct call *c)
{
	const struct addr *a = c->p;

	return connect(x->fd, &a->sa, a->len);
}

/* Connects. The time until the answer comes is not compared. */
static int connect_to_end(int fd, const struct addr *a)
{
	int error = connect(fd, &a->sa, a->len) ? errno : 0;

	if (error == EINPROGRESS)
		poll_for(fd, POLLOUT, WAIT_MS);
	return error;
}

/*
 * Connects twice, to get the outcome. If an old error is pending, the second call may be the one
 * that connects.
 */
static long do_connect_twice(struct cell *x, const struct call *c)
{
	int error = connect_to_end(x->fd, c->p), second = connect_to_end(x->fd, c->p);

	noted(" then %s", second ? errno_text(second) : "0");
	errno = error;
	return error ? -1 : 0;
}

static long do_connect_unblocked(struct cell *x, const struct call *c)
{
	const struct addr *a = c->p;
	int flags = fcntl(x->fd, F_GETFL);
	long ret;
	int error;

	set_nonblock(x->fd, true);
	ret = connect(x->fd, &a->sa, a->len);
	error = errno;
	if (ret < 0 && error == EINPROGRESS) {
		poll_for(x->fd, POLLOUT, WAIT_MS);
		noted(" then %s", connect(x->fd, &a->sa, a->len) ? errno_text(errno) : "0");
	}
	fcntl(x->fd, F_SETFL, flags);
	errno = error;
	return ret;
}

static long do_connect_length(struct cell *x, const struct call *c)
{
	return connect(x->fd, &spare_at.sa, c->a);
}

static long do_connect_family(struct cell *x, const struct call *c)
{
	struct addr a = spare_at;

	a.sa.sa_family = c->a;
	return connect(x->fd, &a.sa, a.len);
}

static long do_connect_forbidden(struct cell *x, const struct call *c)
{
	return connect(x->fd, (struct sockaddr *)forbidden, spare_at.len);
}

static long do_disconnect(struct cell *x, const struct call *c)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	long ret = connect(x->fd, &none, c->a);
	int error = errno;
	struct addr name = name_of(x->fd);

	noted(" port %s", addr_port(&name) ? "kept" : "0");
	if (c->a == sizeof(none))
		settle_reset(x);
	errno = error;
	return ret;
}

static long do_shutdown(struct cell *x, const struct call *c)
{
	long ret = shutdown(x->fd, c->a);
	int error = errno;

	if (c->a == SHUT_WR || c->a == SHUT_RDWR)
		settle_end(x);
	errno = error;
	return ret;
}

static long do_close(struct cell *x, const struct call *c)
{
	struct linger value = { .l_onoff = c->a };
	long ret;

	if (c->a)
		setsockopt(x->fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value));
	ret = close(x->fd);
	x->fd = -1;
	settle_reset(x);
	return ret;
}

/* The connection stays while one of its descriptors is open. */
static long do_close_of_two(struct cell *x, const struct call *c)
{
	int fd = dup(x->fd);

	close(x->fd);
	x->fd = fd;
	return fd < 0 ? -1 : 0;
}

#define POLL(which, events)	{ "poll " which, do_poll, .a = events }
#define IOCTL(which, in)	{ "ioctl " #which, do_ioctl, .a = which, .b = in }
#define GET(level, option)	{ "get " #option, do_get, .a = level, .b = option }

#define SET(level, option, value) \
	{ "set " #option " " #value, do_set, .a = level, .b = option, .p = &(const int){ value } }

static const struct call looking[] = {
	{ "getsockname", do_name, .a = 0, .b = sizeof(struct sockaddr_storage) },
	{ "getsockname, short", do_name, .a = 0, .b = 3 },
	{ "getsockname, no room", do_name, .a = 0, .b = 0 },
	{ "getsockname, negative", do_name, .a = 0, .b = -1 },
	{ "getsockname, bad pointer", do_name_forbidden, .a = 0 },
	{ "getpeername", do_name, .a = 1, .b = sizeof(struct sockaddr_storage) },
	{ "getpeername, short", do_name, .a = 1, .b = 3 },
	{ "getpeername, no room", do_name, .a = 1, .b = 0 },
	{ "getpeername, negative", do_name, .a = 1, .b = -1 },
	{ "getpeername, bad pointer", do_name_forbidden, .a = 1 },
	POLL("for all", EVERY_EVENT),
	POLL("for nothing", 0),
	POLL("IN", POLLIN),
	POLL("PRI", POLLPRI),
	POLL("OUT", POLLOUT),
	POLL("RDNORM", POLLRDNORM),
	POLL("RDBAND", POLLRDBAND),
	POLL("WRNORM", POLLWRNORM),
	POLL("WRBAND", POLLWRBAND),
	POLL("RDHUP", POLLRDHUP),
	POLL("ERR", POLLERR),
	POLL("HUP", POLLHUP),
	{ "epoll for all", do_epoll, .a = EVERY_EVENT },
	{ "epoll for all, EPOLLET", do_epoll, .a = (int)(EVERY_EVENT | EPOLLET) },
	{ "epoll OUT, EPOLLONESHOT", do_epoll, .a = EPOLLOUT | EPOLLONESHOT },
	{ "select to read", do_select, .a = 1 },
	{ "select to write", do_select, .a = 2 },
	{ "select for exceptions", do_select, .a = 4 },
	{ "select for all", do_select, .a = 7 },
	IOCTL(FIONREAD, -1),
	IOCTL(SIOCOUTQ, -1),
	IOCTL(SIOCOUTQNSD, -1),
	IOCTL(SIOCATMARK, -1),
	IOCTL(SIOCPROTOPRIVATE, -1),
	{ "ioctl, unknown", do_ioctl, .a = 0x54fe },
	{ "ioctl FIONREAD, bad pointer", do_ioctl_forbidden, .a = FIONREAD },
	{ "ioctl SIOCOUTQ, bad pointer", do_ioctl_forbidden, .a = SIOCOUTQ },
	{ "ioctl SIOCATMARK, bad pointer", do_ioctl_forbidden, .a = SIOCATMARK },
	{ "ioctl FIOASYNC, bad pointer", do_ioctl_forbidden, .a = FIOASYNC },
	IOCTL(FIOASYNC, 1),
	IOCTL(FIOASYNC, 0),
	{ "ioctl FIOSETOWN", do_owner_ioctl, .a = FIOSETOWN },
	{ "ioctl SIOCGPGRP", do_owner_ioctl, .a = SIOCGPGRP },
	{ "fcntl F_SETOWN, own", do_own, .a = 1 },
	{ "fcntl F_SETOWN, nobody", do_own, .a = 0 },
	{ "fcntl F_GETFL", do_getfl },
	{ "fstat", do_stat },
	{ "lseek", do_seek },
	{ "fsync", do_sync },
	{ "ftruncate", do_truncate },
	{ "mmap", do_map },
	{ "dup and close", do_dup },
	GET(SOL_SOCKET, SO_TYPE),
	GET(SOL_SOCKET, SO_DOMAIN),
	GET(SOL_SOCKET, SO_PROTOCOL),
	GET(SOL_SOCKET, SO_ACCEPTCONN),
	GET(SOL_SOCKET, SO_REUSEADDR),
	GET(SOL_SOCKET, SO_KEEPALIVE),
	GET(SOL_SOCKET, SO_OOBINLINE),
	GET(SOL_SOCKET, SO_RCVLOWAT),
	GET(SOL_SOCKET, SO_SNDLOWAT),
	GET(SOL_SOCKET, SO_BROADCAST),
	GET(SOL_SOCKET, SO_DONTROUTE),
	GET(SOL_SOCKET, SO_DEBUG),
	GET(SOL_SOCKET, SO_PRIORITY),
	GET(SOL_SOCKET, SO_MARK),
	GET(SOL_SOCKET, SO_TIMESTAMP),
	GET(IPPROTO_TCP, TCP_NODELAY),
	{ "get SO_LINGER", do_get_linger },
	{ "get SO_PEERNAME", do_get_peer },
	{ "get an unknown option", do_get, .a = SOL_SOCKET, .b = 9999 },
	{ "get, short", do_get_length, .a = 1 },
	{ "get, no room", do_get_length, .a = 0 },
	{ "get, negative", do_get_length, .a = -1 },
	{ "get, bad pointer", do_get_forbidden, .a = SOL_SOCKET, .b = SO_TYPE },
	{ "get TCP_NODELAY, bad pointer", do_get_forbidden, .a = IPPROTO_TCP, .b = TCP_NODELAY },
};

const struct call_list looking_calls = CALL_LIST(looking);

static const struct call setting[] = {
	SET(SOL_SOCKET, SO_REUSEADDR, 1),
	SET(SOL_SOCKET, SO_REUSEADDR, 0),
	SET(SOL_SOCKET, SO_KEEPALIVE, 1),
	SET(SOL_SOCKET, SO_KEEPALIVE, 0),
	SET(SOL_SOCKET, SO_OOBINLINE, 1),
	SET(SOL_SOCKET, SO_OOBINLINE, 0),
	SET(SOL_SOCKET, SO_BROADCAST, 1),
	SET(SOL_SOCKET, SO_DONTROUTE, 1),
	SET(SOL_SOCKET, SO_DONTROUTE, 0),
	SET(SOL_SOCKET, SO_PRIORITY, 3),
	SET(SOL_SOCKET, SO_PRIORITY, -1),
	SET(SOL_SOCKET, SO_RCVLOWAT, 1),
	SET(SOL_SOCKET, SO_RCVLOWAT, -1),
	SET(SOL_SOCKET, SO_RCVLOWAT, 0),
	SET(SOL_SOCKET, SO_SNDLOWAT, 1),
	SET(SOL_SOCKET, SO_TYPE, 1),
	SET(SOL_SOCKET, SO_ERROR, 0),
	SET(SOL_SOCKET, SO_ACCEPTCONN, 1),
	SET(IPPROTO_TCP, TCP_NODELAY, 1),
	SET(IPPROTO_TCP, TCP_NODELAY, 0),
	{ "set SO_LINGER off", do_set_linger, .a = 0 },
	{ "set SO_LINGER", do_set_linger, .a = 1, .b = 5 },
	{ "set an unknown option", do_set, .a = SOL_SOCKET, .b = 9999, .p = &(const int){ 1 } },
	{ "set, short", do_set_short, .a = SOL_SOCKET, .b = SO_REUSEADDR },
	{ "set, bad pointer", do_set_forbidden, .a = SOL_SOCKET, .b = SO_REUSEADDR },
	{ "set TCP_NODELAY, short", do_set_short, .a = IPPROTO_TCP, .b = TCP_NODELAY },
	{ "set TCP_NODELAY, bad pointer", do_set_forbidden, .a = IPPROTO_TCP, .b = TCP_NODELAY },
	SET(SOL_SOCKET, SO_RCVBUF, 20000),
	SET(SOL_SOCKET, SO_SNDBUF, 20000),
	IOCTL(FIONBIO, 1),
	{ "fcntl F_GETFL after FIONBIO", do_getfl },
	IOCTL(FIONBIO, 0),
	{ "ioctl FIONBIO, bad pointer", do_ioctl_forbidden, .a = FIONBIO },
};

const struct call_list setting_calls = CALL_LIST(setting);

/* A family of which neither TCP nor SDP takes addresses. */
#define OTHER_FAMILY	AF_APPLETALK

#define CONNECTS	(S_FREE | S_ERROR)

static const struct call changing[] = {
	{ "get SO_ERROR", do_get, S_ERROR, SOL_SOCKET, SO_ERROR },
	{ "bind", do_bind, S_FREE, 0, 0 },
	{ "bind to any", do_bind, S_FREE, 1, 0 },
	{ "bind to a port taken", do_bind_taken, S_FREE },
	{ "bind elsewhere", do_bind_elsewhere, S_FREE },
	{ "bind, short", do_bind_length, S_FREE, 7 },
	{ "bind, endless", do_bind_length, S_FREE, 1000 },
	{ "bind, family 0", do_bind_family, S_FREE, AF_UNSPEC },
	{ "bind, wrong family", do_bind_family, S_FREE, OTHER_FAMILY },
	{ "bind, bad pointer", do_bind_forbidden, S_FREE },
	{ "listen 0", do_listen, S_FREE | S_LISTEN, 0 },
	{ "listen 5", do_listen, S_FREE | S_LISTEN, 5 },
	{ "listen -1", do_listen, S_FREE | S_LISTEN, -1 },
	{ "accept", do_accept, S_LISTEN },
	{ "accept, O_NONBLOCK", do_accept_unblocked, S_LISTEN },
	{ "accept, short", do_accept_length, S_LISTEN, 3 },
	{ "accept, negative", do_accept_length, S_LISTEN, -1 },
	{ "accept, bad pointer", do_accept_forbidden, S_LISTEN },
	{ "accept4 0", do_accept4, S_LISTEN, 0 },
	{ "accept4 SOCK_NONBLOCK", do_accept4, S_LISTEN, SOCK_NONBLOCK },
	{ "accept4 SOCK_CLOEXEC", do_accept4, S_LISTEN, SOCK_CLOEXEC },
	{ "accept4, unknown flag", do_accept4, S_LISTEN, 1 << 30 },
	{ "connect", do_connect, CONNECTS, .p = &spare_at },
	{ "connect twice", do_connect_twice, CONNECTS, .p = &spare_at },
	{ "connect, O_NONBLOCK", do_connect_unblocked, CONNECTS, .p = &spare_at },
	{ "connect to nobody", do_connect, CONNECTS, .p = &nobody_at },
	{ "connect to nobody twice", do_connect_twice, CONNECTS, .p = &nobody_at },
	{ "connect to nobody, O_NONBLOCK", do_connect_unblocked, CONNECTS, .p = &nobody_at },
	{ "connect, no address", do_connect_length, CONNECTS, 0 },
	{ "connect, short", do_connect_length, CONNECTS, 7 },
	{ "connect, endless", do_connect_length, CONNECTS, 1000 },
	{ "connect, wrong family", do_connect_family, CONNECTS, OTHER_FAMILY },
	{ "connect, bad pointer", do_connect_forbidden, CONNECTS },
	{ "disconnect", do_disconnect, S_ANY, sizeof(struct sockaddr) },
	{ "disconnect, short", do_disconnect, 0, 1 },
	{ "shutdown SHUT_RD", do_shutdown, S_ANY, SHUT_RD },
	{ "shutdown SHUT_WR", do_shutdown, S_ANY, SHUT_WR },
	{ "shutdown SHUT_RDWR", do_shutdown, S_ANY, SHUT_RDWR },
	{ "shutdown 3", do_shutdown, 0, 3 },
	{ "shutdown -1", do_shutdown, 0, -1 },
	{ "close one of two", do_close_of_two, S_ANY },
	{ "close", do_close, S_ANY, 0 },
	{ "close, linger 0", do_close, S_ANY, 1 },
};

const struct call_list changing_calls = CALL_LIST(changing);
