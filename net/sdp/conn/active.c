// SPDX-License-Identifier: GPL-2.0
/*
 * Active open: one socket's attempts to connect.
 *
 * One connect() may take several attempts, each with a link of its own. If the
 * peer's backlog is full, or the peer does not answer, we try again after a
 * growing delay, until the deadline. If no RDMA device has a route to an
 * address of this host, we try the loopback transport. sk_timer enforces the
 * deadline, and the work item @retry makes the next attempt.
 *
 * The link's up-calls report the result of an attempt: hello_ack or failed
 * (input.c). connect() calls sdp_active_open() under lock_sock(). The up-calls,
 * the timer and the work item run without lock_sock() and take @lock.
 */
#include "active.h"
#include "addr.h"
#include "conn.h"
#include "options.h"
#include "params.h"
#include "port.h"
#include "state.h"
#include "../base/trace.h"

/* Delay before the next attempt: doubled each time, from FIRST up to LAST. */
#define BACKOFF_FIRST	(HZ / 20 + 1)
#define BACKOFF_LAST	HZ

/*
 * Returns the time for the whole connect. With TCP_SYNCNT it is the time that
 * TCP would spend on that number of retransmissions. TCP_USER_TIMEOUT is an
 * upper limit.
 */
static unsigned int active_timeout_ms(const struct sdp_sock *ssk)
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
 * sdp_active_is_typical() - does this socket connect as most others do?
 * @ssk: socket that is about to connect; if it gets a source address by bind(),
 *	it has it already
 * @ms: time after which the policy falls back to TCP, in milliseconds
 *
 * Called by the policy, which remembers that a peer does not answer only if
 * this is true.
 *
 * Return: false if the socket allows less time than others get, or if it asks
 * for a device, a source address or a type of service. Its timeout then says
 * nothing about the connections of others to the same peer.
 */
bool sdp_active_is_typical(const struct sdp_sock *ssk, unsigned int ms)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	return active_timeout_ms(ssk) >=
		       min(ms, READ_ONCE(set->connect_timeout_ms)) &&
	       !ssk->sk.sk_bound_dev_if && !ssk->bound_ip &&
	       !sdp_tos(ssk, true) && !sdp_tos(ssk, false);
}

static void path_wish(struct sdp_sock *ssk, struct sdp_path_wish *wish)
{
	wish->timeout_ms = active_timeout_ms(ssk);
	wish->ifindex = READ_ONCE(ssk->sk.sk_bound_dev_if);
	wish->tos = sdp_tos(ssk, sdp_is_v4(&ssk->peer));
	wish->rails = sdp_rails_wish(ssk);
}

/*
 * Make a link and start to connect it, unless the socket no longer connects.
 * Returns 0 or -ENOBUFS; the link's up-calls report the result.
 */
static int connect_attempt(struct sdp_sock *ssk)
{
	const struct sdp_transport *ops = ssk->transport;
	struct sock *sk = &ssk->sk;
	struct sdp_path_wish wish;
	struct sdp_link *link;
	struct sdp_endpoint local, peer;
	bool stale;

	/* The names may change: @retry calls this without lock_sock(). */
	sdp_conn_lock(ssk);
	local = ssk->local;
	peer = ssk->peer;
	spin_unlock_bh(&ssk->lock);
	link = ops->create(sock_net(sk), &local, &peer);
	if (!link)
		return -ENOBUFS;
	sock_hold(sk);
	link->owner = ssk;
	path_wish(ssk, &wish);
	sdp_conn_lock(ssk);
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
 * sdp_active_retry() - work item: make the next attempt to connect
 * @work: sdp_sock.retry; the pending work holds a reference to the socket
 */
void sdp_active_retry(struct work_struct *work)
{
	struct sdp_sock *ssk =
		container_of(to_delayed_work(work), struct sdp_sock, retry);
	struct sdp_todo todo = { };

	if (connect_attempt(ssk)) {
		sdp_conn_lock(ssk);
		if (ssk->sk.sk_state == TCP_SYN_SENT)
			sdp_conn_fail(ssk, ENOBUFS,
				      "no memory to retry the connect", &todo);
		sdp_conn_unlock(ssk, &todo);
	}
	sock_put(&ssk->sk);
}

/* Drop the link of the failed attempt and schedule the next one. */
static void connect_retry_in(struct sdp_sock *ssk, unsigned long delay,
			     struct sdp_todo *todo)
{
	sdp_conn_detach(ssk, true, todo);
	if (queue_delayed_work(sdp_wq, &ssk->retry, delay))
		sock_hold(&ssk->sk);
}

/* The transport over reliable connections. */
static const struct sdp_transport *reliable(struct sdp_sock *ssk)
{
	return sdp_rails_wish(ssk) > 1 ? &sdp_rails : &sdp_rc;
}

/* The transport that the socket wants. */
static const struct sdp_transport *by_service(struct sdp_sock *ssk)
{
	switch (sdp_service_wish(ssk)) {
	case SDP_SERVICE_UD:
		return &sdp_ud;
	case SDP_SERVICE_AUTO:
		/* A rail takes its own path, so it might leave the device. */
		return READ_ONCE(ssk->sk.sk_bound_dev_if) ? reliable(ssk) :
							    &sdp_auto;
	default:
		return reliable(ssk);
	}
}

/**
 * sdp_active_try_again() - schedule another attempt if that is worth it
 * @ssk: socket, locked; its link has failed
 * @error: positive errno of the failed attempt
 * @todo: notes the release of the link
 *
 * Return: true if another attempt follows. If false, the socket still has its
 * link, and the caller calls sdp_conn_fail().
 */
bool sdp_active_try_again(struct sdp_sock *ssk, int error,
			  struct sdp_todo *todo)
{
	struct net *net = sock_net(&ssk->sk);

	if (ssk->sk.sk_state != TCP_SYN_SENT)
		return false;
	/*
	 * The peer's backlog is full, or the peer does not answer. The
	 * transport has limits of its own; ours is the application's deadline.
	 */
	if ((error == EAGAIN || error == ETIMEDOUT) &&
	    time_before(jiffies, ssk->deadline)) {
		SDP_INC(net, ConnRetries);
		WRITE_ONCE(ssk->peer_busy, error == EAGAIN);
		connect_retry_in(ssk, ssk->backoff, todo);
		ssk->backoff =
			min_t(unsigned long, ssk->backoff * 2, BACKOFF_LAST);
		return true;
	}
	if (error == ENETUNREACH && ssk->transport != &sdp_loop &&
	    sdp_addr_is_ours(net, &ssk->peer)) {
		ssk->transport = &sdp_loop;
		connect_retry_in(ssk, 0, todo);
		return true;
	}
	/* No datagram service there, or no listener: the next attempt tells. */
	if (error == EPROTONOSUPPORT &&
	    (ssk->transport == &sdp_ud || ssk->transport == &sdp_auto)) {
		ssk->transport = reliable(ssk);
		connect_retry_in(ssk, 0, todo);
		return true;
	}
	if (error == ECONNREFUSED)
		SDP_INC(net, ConnRefused);
	else if (error == ETIMEDOUT)
		SDP_INC(net, ConnTimeout);
	return false;
}

/**
 * sdp_active_expired() - timer: a limit of the connection's set-up has passed
 * @ssk: socket, not locked; it is not an orphan
 *
 * The state tells which limit it is: that of connect(), that of a request which
 * the peer has not completed, or that of TCP_DEFER_ACCEPT. After the last one
 * the child can be accepted without data.
 */
void sdp_active_expired(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->sk.sk_state == TCP_SYN_SENT) {
		SDP_INC(sock_net(&ssk->sk), ConnTimeout);
		sdp_conn_fail(ssk, ETIMEDOUT, "connect timeout", &todo);
	} else if (ssk->sk.sk_state == TCP_SYN_RECV) {
		sdp_conn_fail(ssk, ETIMEDOUT, "request timeout", &todo);
	} else if (ssk->deferred) {
		ssk->deferred = false;
		todo.accepted = true;
	}
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_active_hello() - up-call: the path is known, build the Hello
 * @link: link that connects
 * @local: our address on the path
 * @buf: receives the Hello
 *
 * Binds the socket to @local, starts the engine and posts the first receives.
 * May sleep.
 *
 * Return: 0 or an errno with which the link fails.
 */
int sdp_active_hello(struct sdp_link *link, const struct sdp_endpoint *local,
		     u8 buf[SDP_HELLO_LEN])
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_link_config config;
	struct sdp_hello hello = { };
	int err;

	/* The address may have been removed since connect() was called. */
	if (!sdp_addr_may_be_source(sock_net(&ssk->sk), local))
		return -ENETUNREACH;
	sdp_params_of_link(ssk, link->ops, &config);
	err = link->ops->prepare(link, &config);
	if (err)
		return err;
	sdp_conn_lock(ssk);
	if (ssk->link != link) {
		err = -ECONNABORTED;
	} else {
		ssk->local.ip = local->ip;
		ssk->local.scope = local->scope;
		sdp_port_moved(ssk);
		sdp_params_start(ssk, &config, 0);
		err = ssk->engine.credit.posted < SDP_HELLO_BUFS_MIN ?
			      -ENOBUFS : 0;
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

/* As with TCP, the wildcard as a destination means this host. */
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
 * sdp_active_device() - name the device that a connect would use now
 * @net: namespace
 * @peer: destination address
 * @name: receives the name of the RDMA device that the route leads to, or that
 *	of the loopback transport
 *
 * Applies to a socket that is not bound to a device.
 *
 * Return: false if SDP cannot reach the address.
 */
bool sdp_active_device(struct net *net, const struct sdp_endpoint *peer,
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
 * sdp_active_may_reach() - could a connect succeed, as far as this host knows?
 * @ssk: socket that is about to connect; if it gets a source address by bind(),
 *	it has it already
 * @peer: destination address
 *
 * Return: false if the connect would fail because there is no route, or no RDMA
 * device that the route leads to.
 */
bool sdp_active_may_reach(const struct sdp_sock *ssk,
			  const struct sdp_endpoint *peer)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_endpoint to = *peer;

	name_this_host(&to);
	return sdp_is_loopback(&to) || sdp_addr_is_ours(net, &to) ||
	       sdp_rc_may_lead(net, &ssk->local, &to,
			       READ_ONCE(ssk->sk.sk_bound_dev_if));
}

/*
 * If the socket has no port, give it the wildcard address of @peer's family and
 * an ephemeral port. @v6: the application has given an IPv6 sockaddr. Returns
 * 0, or an errno if the socket cannot connect to @peer.
 */
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
		sdp_addr_set(ssk, &ssk->local, &any);
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

/* True unless SO_BINDTODEVICE has named a device other than lo. */
static bool may_use_loopback(const struct sdp_sock *ssk)
{
	int ifindex = READ_ONCE(ssk->sk.sk_bound_dev_if);

	return !ifindex || ifindex == sock_net(&ssk->sk)->loopback_dev->ifindex;
}

/**
 * sdp_active_open() - begin to connect
 * @ssk: unconnected socket, under lock_sock(), not locked
 * @peer: destination, as the application named it
 * @v6: the application has given an IPv6 sockaddr
 *
 * May sleep, but does not wait for the peer. The caller waits for the socket to
 * leave TCP_SYN_SENT.
 *
 * Return: 0 if the attempt has begun, even if it has failed since (then sk_err
 * tells why), or an errno if it cannot begin.
 */
int sdp_active_open(struct sdp_sock *ssk, const struct sdp_endpoint *peer,
		    bool v6)
{
	struct sock *sk = &ssk->sk;
	struct sdp_endpoint to = *peer;
	struct sdp_todo todo = { };
	int err = choose_names(ssk, peer, v6);

	if (err == -EADDRINUSE)
		err = -EADDRNOTAVAIL;
	if (err)
		return err;
	/*
	 * A retry may be pending for a connect that was given up. It must not
	 * become an attempt to reach the new peer.
	 */
	if (cancel_delayed_work_sync(&ssk->retry))
		sock_put(sk);
	name_this_host(&to);
	sdp_addr_set(ssk, &ssk->peer, &to);
	if (sdp_is_loopback(&ssk->peer) && may_use_loopback(ssk))
		ssk->transport = &sdp_loop;
	else
		ssk->transport = by_service(ssk);
	ssk->backoff = BACKOFF_FIRST;
	ssk->deadline = jiffies + msecs_to_jiffies(active_timeout_ms(ssk));
	SDP_INC(sock_net(sk), ActiveOpens);

	sdp_conn_lock(ssk);
	WRITE_ONCE(sk->sk_err, 0);
	WRITE_ONCE(sk->sk_shutdown, 0);
	ssk->was_established = false;
	/* Clear the last connection's state; the Hello starts a new engine. */
	memset(&ssk->engine, 0, sizeof(ssk->engine));
	sdp_set_state(ssk, TCP_SYN_SENT);
	sk_reset_timer(sk, &sk->sk_timer, ssk->deadline);
	spin_unlock_bh(&ssk->lock);
	err = connect_attempt(ssk);
	if (err) {
		sdp_conn_lock(ssk);
		sdp_conn_fail(ssk, -err, "connect", &todo);
		sdp_conn_unlock(ssk, &todo);
	}
	return 0;
}
