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
 * the socket has then. TCP's has been begun at once: nobody sees a socket that does nothing.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <net/inet_common.h>

#include "../conn/sock.h"
#include "undecided.h"

/*
 * The longest pause before a socket that is in use is looked at again; the
 * first is one tick.
 */
#define PAUSE_MOST	(HZ / 8)

static struct workqueue_struct *attempt_wq;

/* The item's own reference; of several times the first one that is set holds. */
static void look_in(struct sdp_shadow *shadow, long time)
{
	sdp_shadow_get(shadow);
	if (!queue_delayed_work(attempt_wq, &shadow->work,
				min(time, HZ * 3600L)))
		sdp_shadow_put(shadow);
}

static void look_at_the_end(struct sdp_shadow *shadow)
{
	/* Over already when this thread was kept from running. */
	look_in(shadow, max(0L, (long)(shadow->deadline - jiffies)) + 1);
}

/*
 * How long to wait for a socket that is in a call of its program's. The call
 * may be as long as the program likes, if its memory is slow, so the pauses
 * grow: they cost all programs something. Only the work item uses @pause.
 */
static unsigned long next_pause(struct sdp_shadow *shadow)
{
	shadow->pause = clamp_t(unsigned long, 2 * shadow->pause, 1,
				PAUSE_MOST);
	return shadow->pause;
}

/* The SDP socket has news; the callback lock keeps the shadow. */
static void news(struct sock *sk)
{
	struct sdp_shadow *shadow;

	read_lock_bh(&sk->sk_callback_lock);
	shadow = sk->sk_user_data;
	if (shadow) {
		sdp_shadow_get(shadow);
		if (mod_delayed_work(attempt_wq, &shadow->work, 0))
			sdp_shadow_put(shadow);
	}
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

static void report(struct sock *sk, int error)
{
	WRITE_ONCE(sk->sk_err, error);
	sk_error_report(sk);
}

/*
 * TCP's sock for us, as lock_sock() would, unless somebody has it: its program may make that last
 * as long as it likes, and nobody else's connect shall wait for it.
 */
static bool try_own(struct sock *sk)
{
	bool mine;

	spin_lock_bh(&sk->sk_lock.slock);
	mine = !sock_owned_by_user_nocheck(sk);
	if (mine)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (mine)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _THIS_IP_);
	return mine;
}

/* The SDP connect is over, without a connection. */
static void abandon(struct sdp_shadow *shadow)
{
	listen_no_more(shadow);
	sdp_shadow_drop_sdp(shadow);
	shadow->sock->state = SS_UNCONNECTED;
	shadow->stage = SDP_UNDECIDED;
}

/* MPTCP has no way to begin that is ours to call, but connect(2) itself. */
static int begin_multipath(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock;
	int err;

	sock->state = SS_UNCONNECTED;
	release_sock(sock->sk);
	err = shadow->tcp->connect(sock, (struct sdp_sockaddr *)&shadow->addr,
				   shadow->len, O_NONBLOCK);
	return err == -EINPROGRESS ? 0 : err;
}

/*
 * TCP begins to connect, as connect(2) would have it, but that BPF has said already what it thinks
 * of it. The sock is owned, and is not any more. Returns 0, or an errno: then it does not connect.
 */
static int begin_tcp(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	if (sdp_is_multipath(sk))
		return begin_multipath(shadow);
	/* Set meanwhile; TCP refuses that while it connects, and now would wait for data. */
	tcp_sk(sk)->fastopen_connect = 0;
	err = sk->sk_prot->connect(sk, (struct sdp_sockaddr *)&shadow->addr,
				   shadow->len);
	release_sock(sk);
	return err;
}

/*
 * TCP it is; whoever waits is told himself if it cannot be. Else nobody is woken before TCP has
 * something to say: io_uring would ask again, and be told that it is still connecting. The socket
 * is given back last. TCP's sock is owned, and is not any more.
 */
static void fail(struct sdp_shadow *shadow, enum sdp_fallback why)
{
	struct socket *sock = shadow->sock;

	shadow->error = begin_tcp(shadow);
	abandon(shadow);
	if (!shadow->error)
		sock->state = SS_CONNECTING;
	if (why == SDP_FELL_TIMEOUT && shadow->as_all)
		sdp_fallback_remember(sock_net(sock->sk), &shadow->fell.where);
	sdp_fallback_note(sock_net(sock->sk), &shadow->fell, why);
	if (shadow->error && !shadow->waited)
		report(sock->sk, -shadow->error);
	else if (shadow->error)
		sock->sk->sk_state_change(sock->sk);
	sdp_shadow_by_tcp(shadow);
}

/* Likewise. */
static void succeed(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	listen_no_more(shadow);
	SDP_INC(sock_net(sk), PolicyConnects);
	/* The program may close it as soon as it has it. */
	sock_hold(sk);
	sdp_shadow_take_place(shadow);
	sk->sk_state_change(sk);
	sk->sk_write_space(sk);
	sock_put(sk);
}

/* A peer that is busy answers: it is another thing than silence, and soon over. */
static enum sdp_fallback too_late(const struct sock *sk)
{
	return READ_ONCE(sdp_sk(sk)->peer_busy) ? SDP_FELL_BUSY :
						  SDP_FELL_TIMEOUT;
}

/* What came of it: a reason to fall back, or that it has, or had, a connection. */
static enum sdp_fallback outcome(struct sdp_shadow *shadow, int state)
{
	struct sock *sk = shadow->sdp->sk;
	enum sdp_fallback why;

	if (state == TCP_SYN_SENT)
		return too_late(sk);
	/* One that stood and is over already: the program sees how it ended, and no other one. */
	if (state == TCP_CLOSE && !READ_ONCE(sdp_sk(sk)->stood)) {
		why = sdp_fallback_reason(-sock_error(sk));
		return why == SDP_FELL_TIMEOUT ? too_late(sk) : why;
	}
	return sdp_shadow_possible(shadow) ? SDP_FELL_NOT : SDP_FELL_OPTION;
}

static void decide(struct sdp_shadow *shadow)
{
	/* Pairs with sdp_stream_fail(): who sees the end sees the error that it came with. */
	int state = smp_load_acquire(&shadow->sdp->sk->sk_state);
	enum sdp_fallback why;

	if (state == TCP_SYN_SENT && time_before(jiffies, shadow->deadline)) {
		look_at_the_end(shadow);
		return;
	}
	if (!try_own(shadow->sock->sk)) {
		look_in(shadow, next_pause(shadow));
		return;
	}
	shadow->pause = 0;
	why = outcome(shadow, state);
	if (why)
		fail(shadow, why);
	else
		succeed(shadow);
}

/* A call may be held up by its program's own memory: it shall not hold up others' connects. */
static void attempt_work(struct work_struct *work)
{
	struct sdp_shadow *shadow =
		container_of(to_delayed_work(work), struct sdp_shadow, work);
	struct file *file = NULL;

	if (!down_write_trylock(&shadow->lock)) {
		if (!queue_delayed_work(attempt_wq, &shadow->work,
					next_pause(shadow)))
			sdp_shadow_put(shadow);
		return;
	}
	/* Else it was stopped, the socket may be gone; or it is being closed, which stops it. */
	if (shadow->stage == SDP_CONNECTING &&
	    sdp_keep_open(shadow->sock->file)) {
		file = shadow->sock->file;
		decide(shadow);
	}
	up_write(&shadow->lock);
	if (file)
		sdp_let_close(file);
	sdp_shadow_put(shadow);
}

/**
 * sdp_attempt_prepare() - part of a new shadow
 * @shadow: shadow
 */
void sdp_attempt_prepare(struct sdp_shadow *shadow)
{
	INIT_DELAYED_WORK(&shadow->work, attempt_work);
}

/**
 * struct wish - a connect
 * @addr: as copied from user space
 * @len: its length
 * @flags: O_NONBLOCK
 * @peer: the same, if it is a name that can be connected to
 * @valid: it is
 * @verdict: the policy's
 * @begun: TCP has begun to connect
 * @timeo: how long it may wait (jiffies)
 * @end: when that is over, unless it is for ever
 */
struct wish {
	struct sdp_sockaddr *addr;
	int len;
	int flags;
	struct sdp_endpoint peer;
	bool valid;
	enum sdp_verdict verdict;
	bool begun;
	long timeo;
	unsigned long end;
};

/* Rules may be many, and a path long: without a lock. */
static void wish_make(struct wish *w, const struct socket *sock)
{
	struct sock *sk = sock->sk;

	w->timeo = sock_sndtimeo(sk, w->flags & O_NONBLOCK);
	w->end = jiffies + w->timeo;
	w->valid = !sdp_addr_get(&w->peer, (struct sockaddr_storage *)w->addr,
				 w->len, sk->sk_family);
	w->verdict = w->valid ? sdp_policy_ask(sock_net(sk), SDP_ROLE_CONNECT,
					       &w->peer) :
				SDP_VERDICT_TCP;
}

/*
 * What is known without asking the network is decided here, so that a call that
 * must not wait says what TCP's says: an address without a route is an error of
 * the call, not of the connection.
 */
static int begin(struct sdp_shadow *shadow, const struct sdp_endpoint *peer)
{
	struct net *net = sock_net(shadow->sock->sk);
	int err = sdp_shadow_make_sdp(shadow) ?:
			  sdp_shadow_bind(shadow, SDP_ROLE_CONNECT);
	unsigned int ms = READ_ONCE(sdp_policy(net)->fallback_ms);

	if (err)
		return err;
	if (!sdp_connect_may_lead(sdp_sk(shadow->sdp->sk), peer))
		return -ENETUNREACH;
	shadow->deadline = jiffies + msecs_to_jiffies(ms);
	shadow->as_all = sdp_connect_as_all(sdp_sk(shadow->sdp->sk), ms);
	listen_to(shadow);
	err = shadow->sdp->ops->connect(shadow->sdp,
					(struct sdp_sockaddr *)&shadow->addr,
					shadow->len, O_NONBLOCK);
	if (err == -EINPROGRESS)
		return 0;
	listen_no_more(shadow);
	return err ?: -EINVAL;
}

/* SDP or nothing: the SDP socket takes the TCP one's place before it connects. */
static int only_sdp(struct sdp_shadow *shadow)
{
	struct net *net = sock_net(shadow->sock->sk);
	int err;

	if (!sdp_shadow_possible(shadow))
		return -EOPNOTSUPP;
	err = sdp_shadow_make_sdp(shadow) ?:
		      sdp_shadow_bind(shadow, SDP_ROLE_CONNECT);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return err;
	}
	SDP_INC(net, PolicyConnects);
	sdp_shadow_by_sdp(shadow);
	return 0;
}

/*
 * BPF programs of control groups may refuse a connect, or send it elsewhere: asked once, about
 * TCP's socket, for whichever of the two will connect.
 */
static int ask_bpf(struct sdp_shadow *shadow, struct wish *w)
{
	int err;

	shadow->len = min_t(size_t, w->len, sizeof(shadow->addr));
	memcpy(&shadow->addr, w->addr, shadow->len);
	err = sdp_connect_ask_bpf(shadow->sock->sk,
				  (struct sdp_sockaddr *)&shadow->addr,
				  shadow->len);
	return err ?: sdp_addr_get(&w->peer, &shadow->addr, shadow->len,
				   shadow->sock->sk->sk_family);
}

/* Returns why not, or SDP_FELL_NOT: the attempt is on its way. */
static enum sdp_fallback try_sdp(struct sdp_shadow *shadow,
				 const struct wish *w)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	if (sdp_fallback_silent_ms(sock_net(sk), &w->peer))
		return SDP_FELL_REMEMBERED;
	err = begin(shadow, &w->peer);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return sdp_fallback_reason(-err);
	}
	shadow->stage = SDP_CONNECTING;
	shadow->attempt++;
	shadow->waited = false;
	shadow->error = 0;
	shadow->sock->state = SS_CONNECTING;
	look_at_the_end(shadow);
	return SDP_FELL_NOT;
}

static void fall_back(struct sdp_shadow *shadow, enum sdp_fallback why)
{
	sdp_fallback_note(sock_net(shadow->sock->sk), &shadow->fell, why);
	sdp_shadow_by_tcp(shadow);
}

/* What becomes of a connect, shadow locked for writing. An errno is the end of it. */
static int decide_first(struct sdp_shadow *shadow, struct wish *w)
{
	bool possible = sdp_shadow_possible(shadow);
	enum sdp_fallback why = SDP_FELL_OPTION;
	int err = 0;

	if (w->verdict == SDP_VERDICT_SDP)
		return only_sdp(shadow);
	if (w->verdict == SDP_VERDICT_TCP) {
		sdp_shadow_by_tcp(shadow);
		return 0;
	}
	if (possible) {
		err = ask_bpf(shadow, w);
		if (err)
			return err;
	}
	sdp_fallback_describe(&shadow->fell, shadow->sock, SDP_ROLE_CONNECT,
			      &w->peer);
	if (possible) {
		why = try_sdp(shadow, w);
		if (!why)
			return 0;
		lock_sock(shadow->sock->sk);
		err = begin_tcp(shadow);
		if (!err)
			shadow->sock->state = SS_CONNECTING;
		w->begun = !err;
	}
	fall_back(shadow, why);
	return err;
}

static bool over(struct sdp_shadow *shadow, u32 attempt)
{
	return READ_ONCE(shadow->stage) != SDP_CONNECTING ||
	       READ_ONCE(shadow->attempt) != attempt;
}

/**
 * sdp_attempt_wait() - wait until it is decided what a connecting socket becomes
 * @shadow: its shadow, with a reference
 * @attempt: the one to wait for
 * @timeo: how long (jiffies)
 *
 * Return: 0, -EAGAIN when the time is over, or the errno of a signal.
 */
int sdp_attempt_wait(struct sdp_shadow *shadow, u32 attempt, long timeo)
{
	long left;

	if (!timeo)
		return over(shadow, attempt) ? 0 : -EAGAIN;
	left = wait_event_interruptible_timeout(shadow->decided,
						over(shadow, attempt), timeo);
	if (left > 0)
		return 0;
	return left ? sock_intr_errno(timeo) : -EAGAIN;
}

/*
 * Whoever gives up waiting leaves it to others to ask what came of it. Returns 0 when the socket's
 * new calls shall go on; @err is for "not yet".
 */
static int wait_here(struct sdp_shadow *shadow, u32 attempt, long timeo,
		     int err)
{
	int waited = sdp_attempt_wait(shadow, attempt, timeo);

	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage == SDP_DECIDED)
		err = shadow->error;
	else if (over(shadow, attempt))
		err = -ECONNABORTED;
	else if (waited && waited != -EAGAIN)
		err = waited;
	if (!over(shadow, attempt))
		shadow->waited = false;
	up_write(&shadow->lock);
	return err;
}

static bool ends_it(const struct wish *w)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)w->addr;

	return w->len >= (int)offsetofend(struct sockaddr_storage, ss_family) &&
	       ss->ss_family == AF_UNSPEC;
}

/* For what TCP knows what to say to; the socket stays undecided. */
static bool for_tcp(const struct sdp_shadow *shadow, const struct wish *w)
{
	return shadow->stage == SDP_LISTENING || !w->valid ||
	       shadow->sock->state != SS_UNCONNECTED ||
	       READ_ONCE(shadow->sock->sk->sk_state) != TCP_CLOSE;
}

static bool under_way(const struct socket *sock)
{
	return (1 << READ_ONCE(READ_ONCE(sock->sk)->sk_state)) &
	       (TCPF_SYN_SENT | TCPF_SYN_RECV);
}

/*
 * The rest of a connect that is on its way, by the calls that the socket has now. All of it
 * together has the time that was given for one: their own wait would begin anew. @err is for "not
 * yet". Who comes second to a connection has it, too.
 */
static int go_on(struct socket *sock, const struct wish *w, int err)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	int flags = w->flags;
	long left;

	if (w->timeo != MAX_SCHEDULE_TIMEOUT) {
		left = max(0L, (long)(w->end - jiffies));
		left = wait_event_interruptible_timeout(sock->wq.wait,
							!under_way(sock), left);
		if (left <= 0)
			return left ? sock_intr_errno(w->timeo) : err;
		flags |= O_NONBLOCK;
	}
	err = ops->connect(sock, w->addr, w->len, flags);
	return err == -EISCONN ? 0 : err;
}

/**
 * sdp_attempt_asks() - would SDP be tried if a socket connected?
 * @sock: socket, undecided
 * @addr: where to, or NULL
 * @len: its length
 *
 * Return: true when the policy says so.
 */
bool sdp_attempt_asks(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	struct wish w = { .addr = addr, .len = len };

	if (!addr)
		return false;
	wish_make(&w, sock);
	return w.verdict != SDP_VERDICT_TCP;
}

/*
 * The part of connect(2) under the lock. Returns true when that was all, with the result in @err;
 * else the attempt, or TCP's, is on its way, and @err for who may not wait; or the socket is
 * decided, and @err is 0.
 */
static bool connect_locked(struct sdp_shadow *shadow, struct wish *w, int *err)
{
	bool all;

	if (shadow->stage == SDP_DECIDED)
		return false;
	if (ends_it(w) || sdp_pair_half_gone(shadow))
		sdp_attempt_stop(shadow);
	if (shadow->stage == SDP_CONNECTING) {
		*err = -EALREADY;
	} else {
		all = for_tcp(shadow, w);
		*err = all ? shadow->tcp->connect(shadow->sock, w->addr, w->len,
						  w->flags | O_NONBLOCK) :
			     decide_first(shadow, w);
		if (all || *err)
			return true;
		*err = shadow->stage == SDP_CONNECTING || w->begun ? -EINPROGRESS : 0;
	}
	if (shadow->stage == SDP_CONNECTING && w->timeo)
		shadow->waited = true;
	return false;
}

/**
 * sdp_attempt() - connect(2) of a socket that was undecided a moment ago
 * @shadow: its shadow, with a reference
 * @addr: as copied from user space
 * @len: its length
 * @flags: O_NONBLOCK
 *
 * Return: 0 or an errno, as TCP would say it.
 */
int sdp_attempt(struct sdp_shadow *shadow, struct sdp_sockaddr *addr, int len,
		int flags)
{
	struct wish w = { .addr = addr, .len = len, .flags = flags };
	struct socket *sock = shadow->sock;
	bool all, connecting;
	u32 attempt;
	int err = 0, waited;

	if (len < (int)sizeof(sa_family_t))
		return -EINVAL;
	wish_make(&w, sock);
	if (down_write_killable(&shadow->lock))
		return -EINTR;
	all = connect_locked(shadow, &w, &err);
	connecting = shadow->stage == SDP_CONNECTING;
	attempt = shadow->attempt;
	up_write(&shadow->lock);
	if (all)
		return err;
	if (!err)
		return READ_ONCE(sock->ops)->connect(sock, addr, len, flags);
	if (!w.timeo)
		return err;
	waited = connecting ? wait_here(shadow, attempt, w.timeo, err) : 0;
	return waited ?: go_on(sock, &w, err);
}

/**
 * sdp_attempt_stop() - end what is beside a socket: a connect, or a pair's SDP listener
 * @shadow: shadow, locked for writing, not decided
 *
 * As TCP ends a connect that is on its way, the socket is reset then; it is undecided again.
 *
 * Return: true when it was a connect.
 */
bool sdp_attempt_stop(struct sdp_shadow *shadow)
{
	bool connects = shadow->stage == SDP_CONNECTING;

	if (shadow->stage == SDP_LISTENING) {
		sdp_shadow_drop_sdp(shadow);
		shadow->stage = SDP_UNDECIDED;
	}
	if (!connects)
		return false;
	abandon(shadow);
	wake_up_all(&shadow->decided);
	report(shadow->sock->sk, ECONNRESET);
	/* It would find nothing to do, at its time. */
	if (cancel_delayed_work(&shadow->work))
		sdp_shadow_put(shadow);
	return true;
}

/**
 * sdp_attempt_be_tcp() - the socket is to be TCP's alone, now
 * @shadow: shadow, locked for writing, not decided
 *
 * What SDP connects beside it is given up, and TCP connects. The caller has the socket open.
 */
void sdp_attempt_be_tcp(struct sdp_shadow *shadow)
{
	if (shadow->stage == SDP_CONNECTING) {
		lock_sock(shadow->sock->sk);
		fail(shadow, SDP_FELL_OPTION);
		/* It would find nothing to do, at its time. */
		if (cancel_delayed_work(&shadow->work))
			sdp_shadow_put(shadow);
		return;
	}
	sdp_attempt_stop(shadow);
	sdp_shadow_by_tcp(shadow);
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
