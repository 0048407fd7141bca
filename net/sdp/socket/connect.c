// SPDX-License-Identifier: GPL-2.0
/*
 * connect(2), and the connecting side of a connection's set-up.
 *
 * One connect may take several attempts, each with a link of its own: a peer whose
 * backlog is full is asked again, with growing pauses, until the time is over; an own
 * address that no RDMA device routes is tried by loopback. The time is kept by
 * sk_timer, the pauses by the work item @retry.
 */
#include <net/inet_common.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "../control/trace.h"
#include "../conn/sock.h"

/* The first pause before asking a full peer again; it doubles, up to the second. */
#define BACKOFF_FIRST	(HZ / 20 + 1)
#define BACKOFF_LAST	HZ

/* As long as TCP's retransmissions of its first packet would take, if their number is set. */
static unsigned int timeout_ms(const struct sdp_sock *ssk)
{
	unsigned int ms = READ_ONCE(
		sdp_net(sock_net(&ssk->sk))->settings.connect_timeout_ms);
	unsigned int limit = READ_ONCE(ssk->opt.user_timeout);
	int syncnt = READ_ONCE(ssk->opt.syncnt);

	if (syncnt)
		ms = sdp_backoff_seconds(syncnt + 1) * MSEC_PER_SEC;
	return limit ? min(ms, limit) : ms;
}

/**
 * sdp_connect_as_all() - would it find an answer where others find one?
 * @ssk: socket that is about to connect, and bound if it is to be
 * @ms: how long it will be given
 *
 * Return: false when it asks for less time than all have, or to go from where, or in a way that,
 * others do not go: if it finds none, that says nothing about them.
 */
bool sdp_connect_as_all(const struct sdp_sock *ssk, unsigned int ms)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	return timeout_ms(ssk) >= min(ms, READ_ONCE(set->connect_timeout_ms)) &&
	       !ssk->sk.sk_bound_dev_if && !ssk->bound_ip &&
	       !sdp_tos(ssk, true) && !sdp_tos(ssk, false);
}

static void path_wish(const struct sdp_sock *ssk, struct sdp_path_wish *wish)
{
	wish->timeout_ms = timeout_ms(ssk);
	wish->ifindex = READ_ONCE(ssk->sk.sk_bound_dev_if);
	wish->tos = sdp_tos(ssk, sdp_is_v4(&ssk->peer));
}

/* One attempt. What comes of it is told by the link's up-calls. */
static int attempt(struct sdp_sock *ssk)
{
	const struct sdp_transport *ops = ssk->transport;
	struct sock *sk = &ssk->sk;
	struct sdp_path_wish wish;
	struct sdp_link *link;
	struct sdp_endpoint local, peer;
	bool stale;

	/* A retry comes without lock_sock. */
	sdp_stream_lock(ssk);
	local = ssk->local;
	peer = ssk->peer;
	spin_unlock_bh(&ssk->lock);
	link = ops->create(sock_net(sk), &local, &peer);
	if (!link)
		return -ENOBUFS;
	sock_hold(sk);
	link->owner = ssk;
	path_wish(ssk, &wish);
	sdp_stream_lock(ssk);
	stale = sk->sk_state != TCP_SYN_SENT || ssk->link;
	if (!stale) {
		ssk->link = link;
		ops->connect(link, &wish);
	}
	spin_unlock_bh(&ssk->lock);
	if (stale)
		ops->release(link, true);
	return 0;
}

/**
 * sdp_connect_retry() - work item: the next attempt
 * @work: sdp_sock.retry
 */
void sdp_connect_retry(struct work_struct *work)
{
	struct sdp_sock *ssk =
		container_of(to_delayed_work(work), struct sdp_sock, retry);
	struct sdp_todo todo = { };

	if (attempt(ssk)) {
		sdp_stream_lock(ssk);
		if (ssk->sk.sk_state == TCP_SYN_SENT)
			sdp_stream_fail(ssk, ENOBUFS, "connect retry", &todo);
		sdp_stream_unlock(ssk, &todo);
	}
	sock_put(&ssk->sk);
}

static void retry_in(struct sdp_sock *ssk, unsigned long delay,
		     struct sdp_todo *todo)
{
	sdp_stream_detach(ssk, true, todo);
	if (queue_delayed_work(sdp_wq, &ssk->retry, delay))
		sock_hold(&ssk->sk);
}

/**
 * sdp_connect_again() - an attempt has failed; is another one worth it?
 * @ssk: socket, locked
 * @error: why
 * @todo: notes the release of the link
 *
 * Return: true when another attempt will be made.
 */
bool sdp_connect_again(struct sdp_sock *ssk, int error, struct sdp_todo *todo)
{
	struct net *net = sock_net(&ssk->sk);

	if (ssk->sk.sk_state != TCP_SYN_SENT)
		return false;
	/* Full, or silent: the transport gives up on its own terms, we on the user's. */
	if ((error == EAGAIN || error == ETIMEDOUT) &&
	    time_before(jiffies, ssk->deadline)) {
		SDP_INC(net, ConnRetries);
		WRITE_ONCE(ssk->peer_busy, error == EAGAIN);
		retry_in(ssk, ssk->backoff, todo);
		ssk->backoff =
			min_t(unsigned long, ssk->backoff * 2, BACKOFF_LAST);
		return true;
	}
	if (error == ENETUNREACH && ssk->transport == &sdp_rc &&
	    sdp_addr_is_ours(net, &ssk->peer)) {
		ssk->transport = &sdp_loop;
		retry_in(ssk, 0, todo);
		return true;
	}
	if (error == ECONNREFUSED)
		SDP_INC(net, ConnRefused);
	else if (error == ETIMEDOUT)
		SDP_INC(net, ConnTimeout);
	return false;
}

/**
 * sdp_connect_expired() - timer: the time to connect, to complete a request, or to wait
 *	for its first data is over
 * @ssk: socket
 */
void sdp_connect_expired(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->sk.sk_state == TCP_SYN_SENT) {
		SDP_INC(sock_net(&ssk->sk), ConnTimeout);
		sdp_stream_fail(ssk, ETIMEDOUT, "connect timeout", &todo);
	} else if (ssk->sk.sk_state == TCP_SYN_RECV) {
		sdp_stream_fail(ssk, ETIMEDOUT, "request timeout", &todo);
	} else if (ssk->deferred) {
		ssk->deferred = false;
		todo.accepted = true;
	}
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_connect_hello() - up-call: the path is known, say Hello
 * @link: link
 * @local: our address on it
 * @buf: the Hello, to be filled
 *
 * Return: 0 or an errno.
 */
int sdp_connect_hello(struct sdp_link *link, const struct sdp_endpoint *local,
		      u8 buf[SDP_HELLO_LEN])
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_link_config config;
	struct sdp_hello hello = { };
	int err;

	/* It may have gone since the connect began. */
	if (!sdp_addr_may_be_source(sock_net(&ssk->sk), local))
		return -ENETUNREACH;
	sdp_stream_config(ssk, link->ops, &config);
	err = link->ops->prepare(link, &config);
	if (err)
		return err;
	sdp_stream_lock(ssk);
	if (ssk->link != link) {
		err = -ECONNABORTED;
	} else {
		ssk->local.ip = local->ip;
		ssk->local.scope = local->scope;
		sdp_port_moved(ssk);
		sdp_stream_start(ssk, &config, config.recv_max);
		err = ssk->engine.credit.posted < SDP_HELLO_BUFS_MIN ?
			      -ENOBUFS :
			      0;
	}
	if (!err) {
		sdp_engine_hello(&ssk->engine, &hello);
		hello.ip_version = sdp_is_v4(&ssk->peer) ? 4 : 6;
		hello.port = ssk->local.port;
		sdp_ip_to_wire(hello.src, &ssk->local);
		sdp_ip_to_wire(hello.dst, &ssk->peer);
		sdp_hello_build(buf, &hello);
	}
	spin_unlock_bh(&ssk->lock);
	return err;
}

/* "Any" means this host, as with TCP. */
static void name_this_host(struct sdp_endpoint *e)
{
	if (!sdp_is_any(e))
		return;
	if (sdp_is_v4(e))
		sdp_set_v4(e, htonl(INADDR_LOOPBACK));
	else
		e->ip = in6addr_loopback;
}

/**
 * sdp_connect_device() - what would a connect to an address go by now?
 * @net: namespace
 * @peer: the address
 * @name: filled in: the RDMA device that the route leads to, or the loopback transport's name
 *
 * For a socket that is not bound to a device.
 *
 * Return: false when SDP does not lead there.
 */
bool sdp_connect_device(struct net *net, const struct sdp_endpoint *peer,
			char name[SDP_DEVICE_NAME])
{
	struct sdp_endpoint to = *peer;

	name_this_host(&to);
	if (!sdp_is_loopback(&to)) {
		if (sdp_rc_device(net, &to, name))
			return true;
		if (!sdp_addr_is_ours(net, &to))
			return false;
	}
	strscpy(name, sdp_loop.name, SDP_DEVICE_NAME);
	return true;
}

/**
 * sdp_connect_may_lead() - could a connect get as far as asking the network?
 * @ssk: socket that is about to connect, and bound if it is to be
 * @peer: where to
 *
 * Return: false when the connect would fail for want of a route, or of a device
 * at its end.
 */
bool sdp_connect_may_lead(const struct sdp_sock *ssk,
			  const struct sdp_endpoint *peer)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_endpoint to = *peer;

	name_this_host(&to);
	return sdp_is_loopback(&to) || sdp_addr_is_ours(net, &to) ||
	       sdp_rc_may_lead(net, &ssk->local, &to,
			       READ_ONCE(ssk->sk.sk_bound_dev_if));
}

static int choose_names(struct sdp_sock *ssk, const struct sdp_endpoint *peer,
			bool v6)
{
	struct sdp_endpoint any = ssk->local;

	if (!ssk->port) {
		WRITE_ONCE(ssk->v6, v6);
		if (sdp_is_v4(peer))
			sdp_set_v4(&any, htonl(INADDR_ANY));
		else
			any.ip = in6addr_any;
		sdp_set_name(ssk, &ssk->local, &any);
	}
	if (v6 && ssk->sk.sk_ipv6only && sdp_is_v4(peer))
		return -ENETUNREACH;
	if (ssk->bound_ip && sdp_is_v4(peer) != sdp_is_v4(&ssk->local))
		return -EAFNOSUPPORT;
	if (!ssk->v6 && !sdp_is_v4(peer))
		return -EAFNOSUPPORT;
	if (!sdp_addr_may_be_source(sock_net(&ssk->sk), &ssk->local))
		return -ENETUNREACH;
	if (ssk->port)
		return 0;
	ssk->only_connects = true;
	return sdp_port_bind(ssk, 0);
}

/* A socket bound to another device than lo has asked for that one. */
static bool by_loop(const struct sdp_sock *ssk)
{
	int ifindex = READ_ONCE(ssk->sk.sk_bound_dev_if);

	return !ifindex || ifindex == sock_net(&ssk->sk)->loopback_dev->ifindex;
}

static int begin(struct sdp_sock *ssk, const struct sdp_endpoint *peer, bool v6)
{
	struct sock *sk = &ssk->sk;
	struct sdp_endpoint to = *peer;
	struct sdp_todo todo = { };
	int err = choose_names(ssk, peer, v6);

	if (err == -EADDRINUSE)
		err = -EADDRNOTAVAIL;
	if (err)
		return err;
	/* Of a connect that was given up: it shall not be one to somebody else. */
	if (cancel_delayed_work_sync(&ssk->retry))
		sock_put(sk);
	name_this_host(&to);
	sdp_set_name(ssk, &ssk->peer, &to);
	ssk->transport = sdp_is_loopback(&ssk->peer) && by_loop(ssk) ?
				 &sdp_loop :
				 &sdp_rc;
	ssk->backoff = BACKOFF_FIRST;
	ssk->deadline = jiffies + msecs_to_jiffies(timeout_ms(ssk));
	SDP_INC(sock_net(sk), ActiveOpens);

	sdp_stream_lock(ssk);
	WRITE_ONCE(sk->sk_err, 0);
	WRITE_ONCE(sk->sk_shutdown, 0);
	ssk->stood = false;
	/* What is left of a connection before this one. The next engine begins with the Hello. */
	memset(&ssk->engine, 0, sizeof(ssk->engine));
	sdp_set_state(ssk, TCP_SYN_SENT);
	sk_reset_timer(sk, &sk->sk_timer, ssk->deadline);
	spin_unlock_bh(&ssk->lock);
	err = attempt(ssk);
	if (err) {
		sdp_stream_lock(ssk);
		sdp_stream_fail(ssk, -err, "connect", &todo);
		sdp_stream_unlock(ssk, &todo);
	}
	return 0;
}

static bool not_connecting(struct sdp_sock *ssk, u32 unused)
{
	/* Pairs with sdp_stream_fail(): who sees the end sees the error that it came with. */
	return smp_load_acquire(&ssk->sk.sk_state) != TCP_SYN_SENT;
}

/* Wait for the outcome; the errno that connect returns. @err is for "not yet". */
static int outcome(struct socket *sock, int err, int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	int waited;

	if (!not_connecting(ssk, 0)) {
		if (!timeo)
			return err;
		release_sock(sk);
		waited = sdp_wait(ssk, SDP_WRITE, &timeo, not_connecting, 0);
		lock_sock(sk);
		if (waited)
			return waited == -EAGAIN ? err : waited;
	}
	if (READ_ONCE(sk->sk_state) == TCP_CLOSE) {
		err = sock_error(sk) ?: -ECONNABORTED;
		sock->state = SS_UNCONNECTED;
		sdp_disconnect(ssk);
		return err;
	}
	sock->state = SS_CONNECTED;
	return 0;
}

/* MPTCP has no such call; TCP's looks at nothing that the two do not share. */
static const struct proto *who_asks(const struct sock *tcp)
{
	if (tcp->sk_protocol != IPPROTO_MPTCP)
		return tcp->sk_prot;
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6)
		return &tcpv6_prot;
#endif
	return &tcp_prot;
}

/**
 * sdp_connect_ask_bpf() - what do BPF programs of the control group say to a connect?
 * @tcp: TCP's socket: they know no other, and work on it
 * @addr: where to; they may change it
 * @len: its length
 *
 * Return: 0, or the errno that they want.
 */
int sdp_connect_ask_bpf(struct sock *tcp, struct sdp_sockaddr *addr, int len)
{
	const struct proto *prot = who_asks(tcp);
	int err;

	if (!prot->pre_connect)
		return 0;
	lock_sock(tcp);
	err = prot->pre_connect(tcp, addr, len);
	release_sock(tcp);
	return err;
}

/* Under lock_sock: a socket that took TCP's place is about to connect once more. */
static bool connects_again(const struct socket *sock)
{
	return sdp_sk(sock->sk)->tcp && sock->state == SS_UNCONNECTED &&
	       READ_ONCE(sock->sk->sk_state) == TCP_CLOSE;
}

/*
 * BPF is asked without the lock, for TCP's is taken meanwhile, and before anything begins, whoever
 * has changed the socket's state since. Returns 0 with the lock, or an errno without.
 */
static int lock_to_connect(struct socket *sock, struct sdp_sockaddr *addr,
			   int len)
{
	int err;

	lock_sock(sock->sk);
	if (!connects_again(sock))
		return 0;
	release_sock(sock->sk);
	err = sdp_connect_ask_bpf(sdp_sk(sock->sk)->tcp->sk, addr, len);
	if (!err)
		lock_sock(sock->sk);
	return err;
}

static int connect_locked(struct socket *sock,
			  const struct sockaddr_storage *ss, int len, int flags)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sdp_endpoint peer;
	int err;

	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		return outcome(sock, -EALREADY, flags);
	case SS_UNCONNECTED:
		if (READ_ONCE(sock->sk->sk_state) != TCP_CLOSE)
			return -EISCONN;
		break;
	default:
		return -EINVAL;
	}
	err = sdp_addr_get(&peer, ss, len, sock->sk->sk_family);
	if (!err)
		err = begin(ssk, &peer, ss->ss_family == AF_INET6);
	if (err)
		return err;
	sock->state = SS_CONNECTING;
	/* However quick the peer was: a first call that may not wait says so, as with TCP. */
	if (!sock_sndtimeo(sock->sk, flags & O_NONBLOCK))
		return -EINPROGRESS;
	return outcome(sock, -EINPROGRESS, flags);
}

/**
 * sdp_connect() - connect(2)
 * @sock: socket
 * @addr: as copied from user space; AF_UNSPEC ends a connection
 * @len: its length
 * @flags: O_NONBLOCK
 *
 * Return: 0 or an errno; -EINPROGRESS when the outcome is still open.
 */
int sdp_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
		int flags)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)addr;
	int err;

	if (len < (int)offsetofend(struct sockaddr_storage, ss_family))
		return -EINVAL;
	if (ss->ss_family == AF_UNSPEC) {
		lock_sock(sock->sk);
		err = sdp_disconnect(sdp_sk(sock->sk));
		sock->state = SS_UNCONNECTED;
	} else {
		err = lock_to_connect(sock, addr, len);
		if (err)
			return err;
		err = connect_locked(sock, ss, len, flags);
	}
	release_sock(sock->sk);
	return err;
}
