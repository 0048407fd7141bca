// SPDX-License-Identifier: GPL-2.0
/*
 * connect(2) of an undecided socket: SDP first; if that does not work, TCP, where the policy
 * allows it.
 *
 * The SDP socket connects by itself, without waiting; the program's socket stays as it is, and
 * says "connecting" to everybody. A work item looks at the outcome: when the state changes, and
 * when the time for it is over. A connection takes the TCP socket's place; else TCP connects,
 * as if nothing had been. Who polls has been in the socket's own wait queue all the time.
 *
 * A connect that may wait waits for the decision, and then for the connection by the calls that
 * the socket has then.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <net/inet_common.h>

#include "../socket/sock.h"
#include "shim.h"

static struct workqueue_struct *attempt_wq;

static void look(struct sdp_shadow *shadow, unsigned long delay)
{
	sdp_shadow_get(shadow);
	if (mod_delayed_work(attempt_wq, &shadow->work, delay))
		sdp_shadow_put(shadow);
}

/* The SDP socket has news; the callback lock keeps the shadow. */
static void news(struct sock *sk)
{
	struct sdp_shadow *shadow;

	read_lock_bh(&sk->sk_callback_lock);
	shadow = sk->sk_user_data;
	if (shadow)
		look(shadow, 0);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void listen_to(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	write_lock_bh(&sk->sk_callback_lock);
	shadow->state_change = sk->sk_state_change;
	shadow->error_report = sk->sk_error_report;
	sk->sk_user_data = shadow;
	sk->sk_state_change = news;
	sk->sk_error_report = news;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void listen_no_more(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_state_change = shadow->state_change;
	sk->sk_error_report = shadow->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* The decision is made: nobody finds the shadow any more. The bucket is locked for writing. */
static void settle(struct sdp_shadow *shadow)
{
	hlist_del_init(&shadow->node);
	complete_all(&shadow->decided);
}

static void report(struct sock *sk, int error)
{
	WRITE_ONCE(sk->sk_err, error);
	sk_error_report(sk);
}

/* TCP connects where nobody waits to do it himself. */
static void connect_by_tcp(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock;
	int err;

	sock->state = SS_UNCONNECTED;
	sdp_shim_end(sock);
	if (shadow->waited)
		return;
	err = shadow->tcp->connect(sock, (struct sdp_sockaddr *)&shadow->addr, shadow->len,
				   O_NONBLOCK);
	if (err && err != -EINPROGRESS)
		report(sock->sk, -err);
	else
		sock->sk->sk_state_change(sock->sk);
}

static void fail(struct sdp_shadow *shadow, enum sdp_fallback why)
{
	listen_no_more(shadow);
	sdp_fallback_note(sock_net(shadow->sock->sk), &shadow->fell, why);
	connect_by_tcp(shadow);
	settle(shadow);
}

static void succeed(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	listen_no_more(shadow);
	sdp_shadow_adopt(shadow);
	SDP_INC(sock_net(sk), PolicyConnects);
	settle(shadow);
	sk->sk_state_change(sk);
	sk->sk_write_space(sk);
}

/* Returns whether there was something to decide. */
static bool decide(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;
	/* Pairs with sdp_stream_fail(): who sees the end sees the error that it came with. */
	int state = smp_load_acquire(&sk->sk_state);

	if (state == TCP_SYN_SENT) {
		if (time_before(jiffies, shadow->deadline))
			return false;
		fail(shadow, SDP_FELL_TIMEOUT);
	} else if (state == TCP_CLOSE) {
		fail(shadow, sdp_fallback_reason(-sock_error(sk)));
	} else {
		succeed(shadow);
	}
	return true;
}

static void attempt_work(struct work_struct *work)
{
	struct sdp_shadow *shadow = container_of(to_delayed_work(work), struct sdp_shadow, work);
	struct sdp_bucket *b = sdp_bucket(shadow->sock);
	bool decided = false, here;

	down_write(&b->lock);
	/* Else it was stopped, and the socket may be gone. */
	here = !hlist_unhashed(&shadow->node);
	if (here) {
		decided = decide(shadow);
		if (!decided)
			look(shadow, shadow->deadline - jiffies + 1);
	}
	up_write(&b->lock);
	if (decided)
		sdp_shadow_put(shadow);
	sdp_shadow_put(shadow);
}

static int begin(struct sdp_shadow *shadow)
{
	struct net *net = sock_net(shadow->sock->sk);
	int err = sdp_shadow_bind(shadow);

	if (err)
		return err;
	INIT_DELAYED_WORK(&shadow->work, attempt_work);
	shadow->deadline = jiffies + msecs_to_jiffies(READ_ONCE(sdp_policy(net)->fallback_ms));
	listen_to(shadow);
	err = shadow->sdp->ops->connect(shadow->sdp, (struct sdp_sockaddr *)&shadow->addr,
					shadow->len, O_NONBLOCK);
	if (err == -EINPROGRESS)
		return 0;
	listen_no_more(shadow);
	return err ?: -EINVAL;
}

/* SDP or nothing: the SDP socket takes the TCP one's place before it connects. */
static int only_sdp(struct socket *sock)
{
	struct sdp_shadow *shadow;
	int err;

	if (!sdp_carry_possible(sock->sk))
		return -EOPNOTSUPP;
	shadow = sdp_shadow_make(sock, sdp_shim_tcp(sock));
	if (IS_ERR(shadow))
		return PTR_ERR(shadow);
	err = sdp_shadow_bind(shadow);
	if (!err) {
		SDP_INC(sock_net(sock->sk), PolicyConnects);
		sdp_shadow_adopt(shadow);
	}
	sdp_shadow_put(shadow);
	return err;
}

/* Bucket locked for writing. Returns 0 when the attempt is on its way, else an errno. */
static int try_sdp(struct sdp_bucket *b, struct socket *sock, const struct sdp_endpoint *peer,
		   const void *addr, int len, struct sdp_shadow **out)
{
	struct sdp_shadow *shadow = sdp_shadow_make(sock, sdp_shim_tcp(sock));
	int err;

	if (IS_ERR(shadow))
		return PTR_ERR(shadow);
	memcpy(&shadow->addr, addr, min_t(size_t, len, sizeof(shadow->addr)));
	shadow->len = len;
	sdp_fallback_describe(&shadow->fell, SDP_ROLE_CONNECT, peer);
	err = begin(shadow);
	if (err) {
		sdp_shadow_put(shadow);
		return err;
	}
	sdp_shadow_enter(b, shadow);
	sock->state = SS_CONNECTING;
	look(shadow, shadow->deadline - jiffies + 1);
	*out = shadow;
	return 0;
}

static int by_tcp(struct socket *sock, const struct sdp_endpoint *peer, enum sdp_fallback why)
{
	struct sdp_fell fell = { };

	if (why) {
		sdp_fallback_describe(&fell, SDP_ROLE_CONNECT, peer);
		sdp_fallback_note(sock_net(sock->sk), &fell, why);
	}
	sdp_shim_end(sock);
	return 0;
}

/**
 * struct wish - a connect
 * @addr: as copied from user space
 * @len: its length
 * @peer: the same, if it is a name that can be connected to
 * @valid: it is
 * @verdict: the policy's
 * @timeo: how long it may wait (jiffies)
 */
struct wish {
	struct sdp_sockaddr *addr;
	int len;
	struct sdp_endpoint peer;
	bool valid;
	enum sdp_verdict verdict;
	long timeo;
};

/* Rules may be many, and a path long: without the lock, which others share. */
static void wish_make(struct wish *w, struct socket *sock, struct sdp_sockaddr *addr, int len,
		      int flags)
{
	struct sock *sk = sock->sk;

	w->addr = addr;
	w->len = len;
	w->timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	w->valid = !sdp_addr_get(&w->peer, (struct sockaddr_storage *)addr, len, sk->sk_family);
	w->verdict = SDP_VERDICT_TCP;
	if (w->valid && sdp_shim_tcp(sock))
		w->verdict = sdp_policy_ask(sock_net(sk), SDP_ROLE_CONNECT, &w->peer);
}

/*
 * What becomes of a connect, bucket locked for writing: an attempt in @shadow; or 0 without
 * one: the socket's calls go on, whosever they are now; or an errno.
 */
static int decide_first(struct sdp_bucket *b, struct socket *sock, const struct wish *w,
			struct sdp_shadow **shadow)
{
	struct sock *sk = sock->sk;
	int err;

	/* TCP knows what to say to these; the socket stays undecided. */
	if (sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE || !w->valid)
		return 0;
	switch (w->verdict) {
	case SDP_VERDICT_SDP:
		return only_sdp(sock);
	case SDP_VERDICT_BOTH:
		break;
	default:
		return by_tcp(sock, &w->peer, SDP_FELL_NOT);
	}
	if (!sdp_carry_possible(sk))
		return by_tcp(sock, &w->peer, SDP_FELL_OPTION);
	if (sdp_fallback_silent(sock_net(sk), &w->peer))
		return by_tcp(sock, &w->peer, SDP_FELL_REMEMBERED);
	err = try_sdp(b, sock, &w->peer, w->addr, w->len, shadow);
	return err ? by_tcp(sock, &w->peer, sdp_fallback_reason(-err)) : 0;
}

/**
 * sdp_attempt_wait() - wait until it is decided what a connecting socket becomes
 * @shadow: its shadow, with a reference
 * @timeo: how long (jiffies)
 *
 * Return: 0, -EAGAIN when the time is over, or the errno of a signal.
 */
int sdp_attempt_wait(struct sdp_shadow *shadow, long timeo)
{
	long left;

	if (!timeo)
		return completion_done(&shadow->decided) ? 0 : -EAGAIN;
	left = wait_for_completion_interruptible_timeout(&shadow->decided, timeo);
	if (left > 0)
		return 0;
	return left ? sock_intr_errno(timeo) : -EAGAIN;
}

/* Whoever gives up waiting leaves the rest to the work item; @err is for "not yet". */
static int wait_here(struct sdp_bucket *b, struct sdp_shadow *shadow, long timeo, int err)
{
	int waited = sdp_attempt_wait(shadow, timeo);

	if (!waited)
		return shadow->error;
	down_write(&b->lock);
	if (completion_done(&shadow->decided))
		waited = shadow->error;
	else
		shadow->waited = false;
	up_write(&b->lock);
	return waited == -EAGAIN ? err : waited;
}

/* As TCP ends a connect that is on its way: the socket is unconnected, and reset. */
static void stop_connecting(struct sdp_shadow *shadow)
{
	listen_no_more(shadow);
	shadow->sock->state = SS_UNCONNECTED;
	shadow->error = -ECONNABORTED;
	report(shadow->sock->sk, ECONNRESET);
}

/* The part of connect(2) under the lock: an errno, or 0; and what to wait for, if anything. */
static int begin_or_join(struct sdp_bucket *b, struct socket *sock, const struct wish *w,
			 struct sdp_shadow **out)
{
	struct sdp_shadow *old = sdp_shadow_find(b, sock);
	struct sdp_shadow *shadow = NULL;
	int err = 0;

	if (!old)
		err = decide_first(b, sock, w, &shadow);
	else if (!old->listening)
		shadow = old;
	if (!shadow)
		return err;
	sdp_shadow_get(shadow);
	*out = shadow;
	shadow->waited |= !!w->timeo;
	return old ? -EALREADY : -EINPROGRESS;
}

static bool ends_it(const struct sdp_sockaddr *addr, int len)
{
	const struct sockaddr_storage *ss = (const struct sockaddr_storage *)addr;

	return len >= (int)offsetofend(struct sockaddr_storage, ss_family) &&
	       ss->ss_family == AF_UNSPEC;
}

/**
 * sdp_attempt() - connect(2) of a socket that was undecided a moment ago
 * @sock: socket
 * @addr: as copied from user space
 * @len: its length
 * @flags: O_NONBLOCK
 *
 * Return: 0 or an errno, as TCP would say it.
 */
int sdp_attempt(struct socket *sock, struct sdp_sockaddr *addr, int len, int flags)
{
	struct sdp_bucket *b = sdp_bucket(sock);
	struct sdp_shadow *shadow = NULL;
	struct wish w = { };
	int err = 0;

	if (ends_it(addr, len)) {
		sdp_attempt_stop(sock, true);
	} else {
		wish_make(&w, sock, addr, len, flags);
		down_write(&b->lock);
		if (sdp_shim_tcp(sock))
			err = begin_or_join(b, sock, &w, &shadow);
		up_write(&b->lock);
	}
	if (shadow) {
		if (w.timeo)
			err = wait_here(b, shadow, w.timeo, err);
		sdp_shadow_put(shadow);
	}
	if (err)
		return err;
	return (sdp_shim_tcp(sock) ?: READ_ONCE(sock->ops))->connect(sock, addr, len, flags);
}

/**
 * sdp_attempt_stop() - end what is beside a socket: a connect, or a pair's SDP listener
 * @sock: socket
 * @listener: a listener, too
 *
 * The socket is as undecided as it was before.
 *
 * Return: true when it was a connect.
 */
bool sdp_attempt_stop(struct socket *sock, bool listener)
{
	struct sdp_bucket *b = sdp_bucket(sock);
	struct sdp_shadow *shadow;
	bool connects = false;

	down_write(&b->lock);
	shadow = sdp_shadow_find(b, sock);
	if (shadow && shadow->listening && !listener)
		shadow = NULL;
	if (shadow) {
		connects = !shadow->listening;
		if (connects)
			stop_connecting(shadow);
		settle(shadow);
	}
	up_write(&b->lock);
	if (connects && cancel_delayed_work(&shadow->work))
		sdp_shadow_put(shadow);
	if (shadow)
		sdp_shadow_put(shadow);
	return connects;
}

/**
 * sdp_attempt_init() - attempts can be made
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_attempt_init(void)
{
	attempt_wq = alloc_workqueue("sdp_policy", WQ_UNBOUND, 0);
	return attempt_wq ? 0 : -ENOMEM;
}

/**
 * sdp_attempt_exit() - wait for the end of the last one
 */
void sdp_attempt_exit(void)
{
	destroy_workqueue(attempt_wq);
}
