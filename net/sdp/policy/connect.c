// SPDX-License-Identifier: GPL-2.0
/*
 * connect(2) of an undecided socket: SDP first, then TCP.
 *
 * With the verdict "both", connect() begins an attempt: the shadow's SDP socket
 * connects, and TCP does not connect before the outcome is known. The
 * application's socket is connecting meanwhile. A work item checks the outcome
 * when the SDP sock changes its state, and at the deadline. If SDP is
 * connected, the SDP sock takes the TCP sock's place. Otherwise TCP connects,
 * and the application gets TCP's result. Pollers stay on the socket's own wait
 * queue throughout.
 *
 * A blocking connect() sleeps until the attempt ends, and then continues in the
 * proto_ops that the socket has now. If TCP is to connect, it has begun under
 * the same hold of the shadow's lock that ends the attempt. So nobody sees a
 * socket that is neither connecting nor connected.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <linux/wait_bit.h>
#include <net/inet_common.h>

#include "../core.h"
#include "undecided.h"

/*
 * Longest delay before the work item tries again when the socket is in use; the
 * first delay is one tick.
 */
#define ATTEMPT_PAUSE_MAX	(HZ / 8)

static struct workqueue_struct *attempt_wq;

/*
 * References of work items to their shadows. A work item that waits for its
 * time keeps neither the socket nor the module, so sdp_attempt_exit() waits
 * until there is none.
 */
static atomic_t attempt_works;

static void attempt_work_get(struct sdp_shadow *shadow)
{
	sdp_shadow_get(shadow);
	atomic_inc(&attempt_works);
}

static void attempt_work_put(struct sdp_shadow *shadow)
{
	sdp_shadow_put(shadow);
	if (atomic_dec_and_test(&attempt_works))
		wake_up_var(&attempt_works);
}

/*
 * Queue the work item with a reference to the shadow. If it is queued already,
 * its time stays.
 */
static void attempt_queue_work(struct sdp_shadow *shadow, long time)
{
	attempt_work_get(shadow);
	if (!queue_delayed_work(attempt_wq, &shadow->work,
				min(time, HZ * 3600L)))
		attempt_work_put(shadow);
}

/* Queue the work item with a reference, at this time and no other. */
static void attempt_requeue_work(struct sdp_shadow *shadow, unsigned long time)
{
	attempt_work_get(shadow);
	if (mod_delayed_work(attempt_wq, &shadow->work, time))
		attempt_work_put(shadow);
}

/* The attempt is over: the work item would find nothing to do. */
static void attempt_cancel_work(struct sdp_shadow *shadow)
{
	if (cancel_delayed_work(&shadow->work))
		attempt_work_put(shadow);
}

static void attempt_queue_deadline(struct sdp_shadow *shadow)
{
	/* The deadline may be over if this thread did not run for long. */
	attempt_queue_work(shadow,
			   max(0L, (long)(shadow->deadline - jiffies)) + 1);
}

/*
 * The delay before the work item tries again when a call uses the socket. An
 * application can make its call last as long as it likes, with memory that
 * faults slowly. So the delay grows, to bound the CPU time that retries take.
 * Only the work item uses @pause.
 */
static unsigned long attempt_next_pause(struct sdp_shadow *shadow)
{
	shadow->pause = clamp_t(unsigned long, 2 * shadow->pause, 1,
				ATTEMPT_PAUSE_MAX);
	return shadow->pause;
}

/*
 * sk_state_change and sk_error_report of the SDP sock during an attempt: run
 * the work item now. While sk_callback_lock is held, the shadow stays in
 * sk_user_data and is not freed.
 */
static void attempt_sdp_event(struct sock *sk)
{
	struct sdp_shadow *shadow;

	read_lock_bh(&sk->sk_callback_lock);
	shadow = sk->sk_user_data;
	if (shadow)
		attempt_requeue_work(shadow, 0);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void attempt_set_callbacks(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	write_lock_bh(&sk->sk_callback_lock);
	shadow->state_change = sk->sk_state_change;
	shadow->error_report = sk->sk_error_report;
	sk->sk_user_data = shadow;
	sk->sk_state_change = attempt_sdp_event;
	sk->sk_error_report = attempt_sdp_event;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void attempt_restore_callbacks(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_state_change = shadow->state_change;
	sk->sk_error_report = shadow->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void report_error(struct sock *sk, int error)
{
	WRITE_ONCE(sk->sk_err, error);
	sk_error_report(sk);
}

/*
 * Like lock_sock() of the TCP sock, but fail when a task owns it. An
 * application can make its call own the sock for long, and the attempts of
 * other applications must not wait for that.
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

/* End an attempt without an SDP connection: the socket is undecided again. */
static void attempt_abandon(struct sdp_shadow *shadow)
{
	attempt_restore_callbacks(shadow);
	sdp_shadow_drop_sdp(shadow);
	shadow->sock->state = SS_UNCONNECTED;
	shadow->stage = SDP_UNDECIDED;
}

/*
 * begin_tcp() for MPTCP: its connect() is the only function that we can call.
 * It locks the sock itself, and asks BPF programs again.
 */
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
 * Begin to connect by TCP, as connect(2) does; but BPF programs have been asked
 * already (ask_bpf()). Called with the TCP sock locked; unlocks it. Returns 0,
 * or a negative errno when TCP does not connect.
 */
static int begin_tcp(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	if (sdp_is_multipath(sk))
		return begin_multipath(shadow);
	/*
	 * TCP_FASTOPEN_CONNECT may have been set during the attempt: TCP would
	 * not connect before the first data. TCP refuses the option on a socket
	 * that connects, so ignore it.
	 */
	tcp_sk(sk)->fastopen_connect = 0;
	err = sk->sk_prot->connect(sk, (struct sdp_sockaddr *)&shadow->addr,
				   shadow->len);
	release_sock(sk);
	return err;
}

/*
 * SDP has not connected: TCP begins to connect, and the socket becomes TCP's as
 * the last step. If TCP cannot even begin, a connect() that sleeps returns the
 * error; if none sleeps, the error becomes the socket's error. If TCP begins,
 * no poller is woken before TCP has a result: io_uring would connect again and
 * fail, because the socket is still connecting. Called with the TCP sock
 * locked; unlocks it.
 */
static void attempt_fail(struct sdp_shadow *shadow, enum sdp_fallback why)
{
	struct socket *sock = shadow->sock;

	shadow->error = begin_tcp(shadow);
	attempt_abandon(shadow);
	if (!shadow->error)
		sock->state = SS_CONNECTING;
	if (why == SDP_FELL_TIMEOUT && shadow->as_all)
		sdp_fallback_remember(sock_net(sock->sk), &shadow->fell.where);
	sdp_fallback_note(sock_net(sock->sk), &shadow->fell, why);
	if (shadow->error && !shadow->waited)
		report_error(sock->sk, -shadow->error);
	else if (shadow->error)
		sock->sk->sk_state_change(sock->sk);
	sdp_shadow_become_tcp(shadow);
}

/*
 * SDP has connected: the SDP sock takes the TCP sock's place. Called with the
 * TCP sock locked; unlocks it.
 */
static void attempt_succeed(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sdp->sk;

	attempt_restore_callbacks(shadow);
	SDP_INC(sock_net(sk), PolicyConnects);
	/* The application may close the socket once it has the SDP sock. */
	sock_hold(sk);
	sdp_shadow_take_place(shadow);
	sk->sk_state_change(sk);
	sk->sk_write_space(sk);
	sock_put(sk);
}

/*
 * A peer that answers "busy" until the deadline is not silent, so it is not
 * remembered as a silent one.
 */
static enum sdp_fallback timeout_reason(const struct sock *sk)
{
	return READ_ONCE(sdp_sk(sk)->peer_busy) ? SDP_FELL_BUSY :
						  SDP_FELL_TIMEOUT;
}

/*
 * Returns the reason to fall back; or SDP_FELL_NOT when there is an SDP
 * connection, or there was one.
 */
static enum sdp_fallback attempt_outcome(struct sdp_shadow *shadow, int state)
{
	struct sock *sk = shadow->sdp->sk;
	enum sdp_fallback why;

	if (state == TCP_SYN_SENT)
		return timeout_reason(sk);
	/*
	 * A connection that was established and has ended already counts: the
	 * application sees how it ended, and TCP makes no second one.
	 */
	if (state == TCP_CLOSE && !READ_ONCE(sdp_sk(sk)->was_established)) {
		why = sdp_fallback_reason(-sock_error(sk));
		return why == SDP_FELL_TIMEOUT ? timeout_reason(sk) : why;
	}
	return sdp_shadow_possible(shadow) ? SDP_FELL_NOT : SDP_FELL_OPTION;
}

static void attempt_decide(struct sdp_shadow *shadow)
{
	/* Pairs with sdp_conn_fail(), which sets sk_err before the state. */
	int state = smp_load_acquire(&shadow->sdp->sk->sk_state);
	enum sdp_fallback why;

	if (state == TCP_SYN_SENT && time_before(jiffies, shadow->deadline)) {
		attempt_queue_deadline(shadow);
		return;
	}
	if (!try_own(shadow->sock->sk)) {
		attempt_requeue_work(shadow, attempt_next_pause(shadow));
		return;
	}
	shadow->pause = 0;
	why = attempt_outcome(shadow, state);
	if (why)
		attempt_fail(shadow, why);
	else
		attempt_succeed(shadow);
}

/**
 * sdp_attempt_work() - work item: check the outcome of an attempt to connect
 * @work: sdp_shadow.work
 *
 * Only tries to lock the shadow: a call holds the lock while the application's
 * memory faults, which can last long, and the attempts of other applications
 * must not wait for that.
 */
void sdp_attempt_work(struct work_struct *work)
{
	struct sdp_shadow *shadow =
		container_of(to_delayed_work(work), struct sdp_shadow, work);
	struct file *file = NULL;

	if (!down_write_trylock(&shadow->lock)) {
		/* A connect() may have queued the work for its deadline. */
		attempt_requeue_work(shadow, attempt_next_pause(shadow));
		attempt_work_put(shadow);
		return;
	}
	/*
	 * In another stage the attempt has ended, and the socket may be gone.
	 * If the socket is being closed, its release() stops the attempt.
	 */
	if (shadow->stage == SDP_CONNECTING &&
	    sdp_keep_open(shadow->sock->file)) {
		file = shadow->sock->file;
		attempt_decide(shadow);
	}
	/* The work may have been queued again since it began to run. */
	if (shadow->stage != SDP_CONNECTING)
		attempt_cancel_work(shadow);
	up_write(&shadow->lock);
	if (file)
		sdp_let_close(file);
	attempt_work_put(shadow);
}

/**
 * struct connect_call - one call of connect(2)
 * @addr: the address as copied from user space
 * @len: length of @addr in bytes
 * @flags: O_NONBLOCK or 0
 * @peer: @addr as an endpoint, if @valid
 * @valid: @addr is an address that can be connected to
 * @verdict: what the policy says
 * @service: what carries an SDP connection, as in sdp_rule.service
 * @begun: TCP has begun to connect
 * @timeo: time limit (jiffies): 0 for a non-blocking call, MAX_SCHEDULE_TIMEOUT
 *	for none
 * @end: end of the time limit (jiffies), if there is one
 */
struct connect_call {
	struct sdp_sockaddr *addr;
	int len;
	int flags;
	struct sdp_endpoint peer;
	bool valid;
	enum sdp_verdict verdict;
	u8 service;
	bool begun;
	long timeo;
	unsigned long end;
};

/*
 * Compute the time limit and ask the policy. Called without the shadow's lock,
 * because matching many rules can take long.
 */
static void connect_call_init(struct connect_call *w, const struct socket *sock)
{
	struct sock *sk = sock->sk;

	w->timeo = sock_sndtimeo(sk, w->flags & O_NONBLOCK);
	w->end = jiffies + w->timeo;
	w->valid = !sdp_addr_get(&w->peer, (struct sockaddr_storage *)w->addr,
				 w->len, sk->sk_family);
	w->verdict = w->valid ? sdp_policy_ask(sock_net(sk), SDP_ROLE_CONNECT,
					       &w->service, &w->peer) :
				SDP_VERDICT_TCP;
}

/*
 * Create the SDP socket, as the rule wants it. Returns 0 or an errno. A rule
 * names no service that SDP_SERVICE does not take.
 */
static int make_sdp(struct sdp_shadow *shadow, const struct connect_call *w)
{
	int err = sdp_shadow_make_sdp(shadow), kind = w->service - 1;

	BUILD_BUG_ON(SDP_SERVICE_RC != 0 || SDP_SERVICE_UD != 1 ||
		     SDP_SERVICE_AUTO != 2);
	if (!err && w->service)
		err = shadow->sdp->ops->setsockopt(shadow->sdp, SOL_SDP,
						   SDP_SERVICE,
						   KERNEL_SOCKPTR(&kind),
						   sizeof(kind));
	return err ?: sdp_shadow_bind(shadow, SDP_ROLE_CONNECT);
}

/*
 * Let an SDP socket connect. What can be known without the
 * network is checked here, so that a non-blocking connect() fails as TCP's
 * does: an address without a route is an error of the call, not of the
 * connection.
 */
static int attempt_begin_sdp(struct sdp_shadow *shadow,
			     const struct connect_call *w)
{
	struct net *net = sock_net(shadow->sock->sk);
	int err = make_sdp(shadow, w);
	unsigned int ms = READ_ONCE(sdp_policy(net)->fallback_ms);

	if (err)
		return err;
	if (!sdp_active_may_reach(sdp_sk(shadow->sdp->sk), &w->peer))
		return -ENETUNREACH;
	shadow->deadline = jiffies + msecs_to_jiffies(ms);
	shadow->as_all = sdp_active_is_typical(sdp_sk(shadow->sdp->sk), ms);
	attempt_set_callbacks(shadow);
	err = shadow->sdp->ops->connect(shadow->sdp,
					(struct sdp_sockaddr *)&shadow->addr,
					shadow->len, O_NONBLOCK);
	if (err == -EINPROGRESS)
		return 0;
	attempt_restore_callbacks(shadow);
	return err ?: -EINVAL;
}

/* Verdict "sdp": the SDP sock takes the TCP sock's place before it connects. */
static int only_sdp(struct sdp_shadow *shadow, const struct connect_call *w)
{
	struct net *net = sock_net(shadow->sock->sk);
	int err;

	if (!sdp_shadow_possible(shadow))
		return -EOPNOTSUPP;
	err = make_sdp(shadow, w);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return err;
	}
	SDP_INC(net, PolicyConnects);
	sdp_shadow_become_sdp(shadow);
	return 0;
}

/*
 * BPF programs of the control group may refuse a connect or change its address.
 * They are asked once, about the TCP sock, whether SDP or TCP connects then.
 * Only MPTCP asks them again when it connects after a fallback.
 */
static int ask_bpf(struct sdp_shadow *shadow, struct connect_call *w)
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

/*
 * Begin an attempt. Returns SDP_FELL_NOT when SDP connects, or the reason to
 * fall back.
 */
static enum sdp_fallback try_sdp(struct sdp_shadow *shadow,
				 const struct connect_call *w)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	if (sdp_fallback_silent_ms(sock_net(sk), &w->peer))
		return SDP_FELL_REMEMBERED;
	err = attempt_begin_sdp(shadow, w);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return sdp_fallback_reason(-err);
	}
	shadow->stage = SDP_CONNECTING;
	shadow->attempt++;
	shadow->waited = false;
	shadow->error = 0;
	shadow->sock->state = SS_CONNECTING;
	attempt_queue_deadline(shadow);
	return SDP_FELL_NOT;
}

static void fall_back(struct sdp_shadow *shadow, enum sdp_fallback why)
{
	sdp_fallback_note(sock_net(shadow->sock->sk), &shadow->fell, why);
	sdp_shadow_become_tcp(shadow);
}

/*
 * Act on the verdict, with the shadow locked for writing. Returns 0, or the
 * negative errno that connect(2) fails with.
 */
static int connect_decide(struct sdp_shadow *shadow, struct connect_call *w)
{
	bool possible = sdp_shadow_possible(shadow);
	enum sdp_fallback why = SDP_FELL_OPTION;
	int err = 0;

	if (w->verdict == SDP_VERDICT_SDP)
		return only_sdp(shadow, w);
	if (w->verdict == SDP_VERDICT_TCP) {
		sdp_shadow_become_tcp(shadow);
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

static bool attempt_is_over(struct sdp_shadow *shadow, u32 attempt)
{
	return READ_ONCE(shadow->stage) != SDP_CONNECTING ||
	       READ_ONCE(shadow->attempt) != attempt;
}

/**
 * sdp_attempt_wait() - wait for the end of an attempt
 * @shadow: the socket's shadow, with a reference, not locked
 * @attempt: number of the attempt
 * @timeo: time limit (jiffies)
 *
 * Return: 0, -EAGAIN when the time is over, or the negative errno of a signal.
 */
int sdp_attempt_wait(struct sdp_shadow *shadow, u32 attempt, long timeo)
{
	long left;

	if (!timeo)
		return attempt_is_over(shadow, attempt) ? 0 : -EAGAIN;
	left = wait_event_interruptible_timeout(
		shadow->decided, attempt_is_over(shadow, attempt), timeo);
	if (left > 0)
		return 0;
	return left ? sock_intr_errno(timeo) : -EAGAIN;
}

/*
 * Wait for the end of an attempt in connect(2). Returns 0 when the call is to
 * continue in the socket's new proto_ops, or a negative errno: @err when the
 * time is over before the attempt. A caller that gives up no longer returns the
 * error of TCP's connect, so that becomes the socket's error.
 */
static int connect_wait(struct sdp_shadow *shadow, u32 attempt, long timeo,
			int err)
{
	int waited = sdp_attempt_wait(shadow, attempt, timeo);

	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage == SDP_DECIDED)
		err = shadow->error;
	else if (attempt_is_over(shadow, attempt))
		err = -ECONNABORTED;
	else if (waited && waited != -EAGAIN)
		err = waited;
	if (!attempt_is_over(shadow, attempt))
		shadow->waited = false;
	up_write(&shadow->lock);
	return err;
}

static bool is_disconnect(const struct connect_call *w)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)w->addr;

	return w->len >= (int)offsetofend(struct sockaddr_storage, ss_family) &&
	       ss->ss_family == AF_UNSPEC;
}

/*
 * True for a call that the policy does not decide: the address is not valid, or
 * the socket already listens, connects or is connected. TCP's connect() answers
 * it, and the socket stays undecided.
 */
static bool tcp_knows_answer(const struct sdp_shadow *shadow,
			     const struct connect_call *w)
{
	return shadow->stage == SDP_LISTENING || !w->valid ||
	       shadow->sock->state != SS_UNCONNECTED ||
	       READ_ONCE(shadow->sock->sk->sk_state) != TCP_CLOSE;
}

static bool is_connecting(const struct socket *sock)
{
	return (1 << READ_ONCE(READ_ONCE(sock->sk)->sk_state)) &
	       (TCPF_SYN_SENT | TCPF_SYN_RECV);
}

/*
 * Finish a connect that SDP or TCP has begun, in the proto_ops that the socket
 * has now. In these the time limit would start anew, so a call with a limit
 * waits here for the rest of its time. Returns @err when the time is over. When
 * another thread has completed the connect, this call succeeds too.
 */
static int connect_continue(struct socket *sock, const struct connect_call *w,
			    int err)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	int flags = w->flags;
	long left;

	if (w->timeo != MAX_SCHEDULE_TIMEOUT) {
		left = max(0L, (long)(w->end - jiffies));
		left = wait_event_interruptible_timeout(
			sock->wq.wait, !is_connecting(sock), left);
		if (left <= 0)
			return left ? sock_intr_errno(w->timeo) : err;
		flags |= O_NONBLOCK;
	}
	err = ops->connect(sock, w->addr, w->len, flags);
	return err == -EISCONN ? 0 : err;
}

/**
 * sdp_attempt_would_try_sdp() - would a connect try SDP?
 * @sock: undecided socket
 * @addr: address to connect to, or NULL
 * @len: length of @addr in bytes
 *
 * May sleep.
 *
 * Return: true when the policy's verdict is not TCP.
 */
bool sdp_attempt_would_try_sdp(struct socket *sock, struct sdp_sockaddr *addr,
			       int len)
{
	struct connect_call w = { .addr = addr, .len = len };

	if (!addr)
		return false;
	connect_call_init(&w, sock);
	return w.verdict != SDP_VERDICT_TCP;
}

/*
 * The part of connect(2) under the shadow's lock. Returns true when the call is
 * complete, with its result in @err. Otherwise the socket is decided, and @err
 * is 0; or a connect is in progress, and @err is for a caller that does not
 * wait.
 */
static bool connect_locked(struct sdp_shadow *shadow, struct connect_call *w,
			   int *err)
{
	bool all;

	if (shadow->stage == SDP_DECIDED)
		return false;
	if (is_disconnect(w) || sdp_pair_half_gone(shadow))
		sdp_attempt_stop(shadow);
	if (shadow->stage == SDP_CONNECTING) {
		*err = -EALREADY;
	} else {
		all = tcp_knows_answer(shadow, w);
		*err = all ? shadow->tcp->connect(shadow->sock, w->addr, w->len,
						  w->flags | O_NONBLOCK) :
			     connect_decide(shadow, w);
		if (all || *err)
			return true;
		*err = shadow->stage == SDP_CONNECTING || w->begun ?
			       -EINPROGRESS : 0;
	}
	if (shadow->stage == SDP_CONNECTING && w->timeo)
		shadow->waited = true;
	return false;
}

/**
 * sdp_attempt() - connect(2) of an undecided socket
 * @shadow: the socket's shadow, with a reference, not locked
 * @addr: the address as copied from user space
 * @len: length of @addr in bytes
 * @flags: O_NONBLOCK or 0
 *
 * Another thread may decide the socket first; then its new proto_ops connect.
 *
 * Return: 0 or a negative errno, the one that TCP returns in the same case.
 */
int sdp_attempt(struct sdp_shadow *shadow, struct sdp_sockaddr *addr, int len,
		int flags)
{
	struct connect_call w = { .addr = addr, .len = len, .flags = flags };
	struct socket *sock = shadow->sock;
	bool all, connecting;
	u32 attempt;
	int err = 0, waited;

	if (len < (int)sizeof(sa_family_t))
		return -EINVAL;
	connect_call_init(&w, sock);
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
	waited = connecting ? connect_wait(shadow, attempt, w.timeo, err) : 0;
	return waited ?: connect_continue(sock, &w, err);
}

/**
 * sdp_attempt_stop() - stop an attempt, or the SDP listener of a pair
 * @shadow: shadow, locked for writing, not decided
 *
 * The socket is undecided again. Stopping an attempt sets the socket's error to
 * ECONNRESET, as stopping TCP's connect does.
 *
 * Return: true when it was an attempt.
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
	attempt_abandon(shadow);
	wake_up_all(&shadow->decided);
	report_error(shadow->sock->sk, ECONNRESET);
	attempt_cancel_work(shadow);
	return true;
}

/**
 * sdp_attempt_become_tcp() - make the socket TCP's now
 * @shadow: shadow, locked for writing, not decided
 *
 * Gives up an attempt, and TCP connects instead. Releases the SDP listener of a
 * pair. The caller keeps the socket open.
 */
void sdp_attempt_become_tcp(struct sdp_shadow *shadow)
{
	if (shadow->stage == SDP_CONNECTING) {
		lock_sock(shadow->sock->sk);
		attempt_fail(shadow, SDP_FELL_OPTION);
		attempt_cancel_work(shadow);
		return;
	}
	sdp_attempt_stop(shadow);
	sdp_shadow_become_tcp(shadow);
}

/**
 * sdp_attempt_init() - create the workqueue of attempts
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_attempt_init(void)
{
	attempt_wq = alloc_workqueue("sdp_policy", WQ_UNBOUND, 0);
	return attempt_wq ? 0 : -ENOMEM;
}

/**
 * sdp_attempt_exit() - wait for the last work item, and destroy the workqueue
 *
 * A work item whose attempt ended while it began to run may wait for its next
 * try, for ATTEMPT_PAUSE_MAX at most.
 */
void sdp_attempt_exit(void)
{
	wait_var_event(&attempt_works, !atomic_read(&attempt_works));
	destroy_workqueue(attempt_wq);
}
