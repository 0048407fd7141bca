// SPDX-License-Identifier: GPL-2.0
/*
 * Is the other machine still there? SO_KEEPALIVE, TCP_USER_TIMEOUT, and a limit for
 * messages that do not arrive.
 *
 * One timer per socket, @alive. It runs only while there is something to watch: with
 * SO_KEEPALIVE always, else since data was sent, until it finds nothing under way.
 * Setting it anew for each message would cost; it is set once, and looks at the clocks
 * of the connection when it fires:
 *
 *	heard		the last sign of life: a message, or the arrival of one of ours
 *	tx_since	since when what was written, or offered, waits without any of it arriving
 *
 * Who waits for a peer that has taken everything in (for credit, or until it has read what it is
 * offered) asks now and then as well, as TCP does about a window that is shut; and a silence as
 * long as that of a message that does not arrive is the end.
 *
 * A probe is an operation of the transport that needs nothing of the peer's software
 * and uses up none of its receives; rc repeats it by itself until it is answered. So
 * one at a time is enough, and while one of our messages is under way it serves as the
 * probe. As with TCP, KEEPCNT times KEEPINTVL without a sign of life are the end.
 *
 * An adapter that holds messages back until the peer has a receive for them (SDP_FLOW_NIC) hears
 * from the peer's all the time, and we do not: nothing is concluded from silence then, and it
 * ends the connection when the other one is gone. TCP_USER_TIMEOUT counts as ever.
 *
 * All of it under sdp_sock.lock. The timer has a reference while it is pending.
 */
#include "sock.h"

/*
 * A message that the peer's machine does not take: TCP gives up after 15 doublings of its
 * retransmission time, 924.6 s. Most devices give up much sooner; soft-RoCE never does
 * with retry_count 7.
 */
#define SILENCE_LIMIT	(925 * HZ)
/*
 * Everything has arrived, and yet we wait for the peer: for credit, or until it has read what it
 * is offered. Its machine may be gone, so it is asked this often, as TCP asks about a window
 * that is shut.
 */
#define PERSIST_JIFFIES	(60 * HZ)

static unsigned long keep_idle(const struct sdp_sock *ssk)
{
	int seconds = READ_ONCE(ssk->opt.keepidle);

	return seconds ? (unsigned long)seconds * HZ :
		READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_tcp_keepalive_time);
}

static unsigned long keep_interval(const struct sdp_sock *ssk)
{
	int seconds = READ_ONCE(ssk->opt.keepintvl);

	return seconds ? (unsigned long)seconds * HZ :
		READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_tcp_keepalive_intvl);
}

static int keep_count(const struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->opt.keepcnt) ?:
	       READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_tcp_keepalive_probes);
}

/* Is there a connection to be watched? A closed socket has the orphan's timer. */
static bool watched(const struct sdp_sock *ssk)
{
	return sdp_stands(ssk) && !sock_flag(&ssk->sk, SOCK_DEAD);
}

/**
 * struct verdict - what the watch has found
 * @next: look again then; only if @again
 * @again: there is something to wait for
 * @probe: it is time for a probe
 * @dead: it is time to give up: says which limit
 */
struct verdict {
	unsigned long next;
	bool again;
	bool probe;
	const char *dead;
};

static void look_again(struct verdict *v, unsigned long when)
{
	if (!v->again || time_before(when, v->next))
		v->next = when;
	v->again = true;
}

/* TCP_USER_TIMEOUT takes the place of the count, as with TCP. */
static bool keepalive_over(const struct sdp_sock *ssk)
{
	unsigned int limit = READ_ONCE(ssk->opt.user_timeout);

	if (!limit)
		return ssk->probes >= keep_count(ssk);
	return ssk->probes &&
	       time_after_eq(jiffies, ssk->heard + msecs_to_jiffies(limit));
}

static void judge_keepalive(const struct sdp_sock *ssk, struct verdict *v)
{
	unsigned long due = ssk->probes ? ssk->probe_due :
					  ssk->heard + keep_idle(ssk);

	if (!sock_flag(&ssk->sk, SOCK_KEEPOPEN))
		return;
	/* A probe would wait behind it; and what is under way is for the adapter to watch. */
	if (sdp_engine_held_back(&ssk->engine)) {
		look_again(v, jiffies + keep_interval(ssk));
		return;
	}
	if (time_before(jiffies, due))
		look_again(v, due);
	else if (keepalive_over(ssk))
		v->dead = "keepalive";
	else
		v->probe = true;
}

static bool waits_for_peer(const struct sdp_sock *ssk)
{
	return ssk->tx_outq || ssk->srcavail_tx_out || ssk->srcavail_rx ||
	       ssk->rdma_writing;
}

static void judge_persistence(const struct sdp_sock *ssk, struct verdict *v)
{
	unsigned long due = ssk->heard + PERSIST_JIFFIES;

	if (time_after_eq(jiffies, ssk->heard + SILENCE_LIMIT))
		v->dead = "silence";
	else if (ssk->probing)
		look_again(v, jiffies + PERSIST_JIFFIES);
	else if (time_before(jiffies, due))
		look_again(v, due);
	else
		v->probe = true;
}

/* What was written makes no progress. With a limit of the user's, a full peer counts too. */
static void judge_data(const struct sdp_sock *ssk, struct verdict *v)
{
	unsigned int limit = READ_ONCE(ssk->opt.user_timeout);
	unsigned long end;

	if (!waits_for_peer(ssk))
		return;
	/* The peer's program may not read for as long as it likes. */
	if (!limit && sdp_engine_held_back(&ssk->engine)) {
		look_again(v, jiffies + PERSIST_JIFFIES);
		return;
	}
	if (limit) {
		end = ssk->tx_since + msecs_to_jiffies(limit);
	} else {
		if (sdp_engine_all_arrived(&ssk->engine)) {
			judge_persistence(ssk, v);
			return;
		}
		end = (time_after(ssk->heard, ssk->tx_since) ? ssk->heard :
							       ssk->tx_since) +
		      SILENCE_LIMIT;
	}
	if (time_before(jiffies, end))
		look_again(v, end);
	else
		v->dead = limit ? "user timeout" : "silence";
}

static struct verdict judge(const struct sdp_sock *ssk)
{
	struct verdict v = { };

	judge_keepalive(ssk, &v);
	judge_data(ssk, &v);
	return v;
}

static void probe(struct sdp_sock *ssk)
{
	ssk->probes++;
	ssk->probe_due = jiffies + keep_interval(ssk);
	SDP_INC(sock_net(&ssk->sk), KeepaliveProbes);
	if (!ssk->link->ops->probe) {
		sdp_alive_heard(ssk);
	} else if (!ssk->probing && sdp_engine_all_arrived(&ssk->engine)) {
		ssk->probing = true;
		ssk->link->ops->probe(ssk->link);
	}
}

static void rearm(struct sdp_sock *ssk, const struct verdict *v)
{
	if (v->again)
		sk_reset_timer(&ssk->sk, &ssk->alive, v->next);
	else
		sk_stop_timer(&ssk->sk, &ssk->alive);
}

/* The timer. */
static void alive_timer(struct timer_list *timer)
{
	struct sdp_sock *ssk = timer_container_of(ssk, timer, alive);
	struct sdp_todo todo = { };
	struct verdict v;

	sdp_stream_lock(ssk);
	if (watched(ssk)) {
		v = judge(ssk);
		if (v.dead) {
			SDP_INC(sock_net(&ssk->sk), SilentPeers);
			sdp_stream_fail(ssk, ETIMEDOUT, v.dead, &todo);
		} else {
			if (v.probe) {
				probe(ssk);
				v = judge(ssk);
			}
			rearm(ssk, &v);
		}
	}
	sdp_stream_unlock(ssk, &todo);
	sock_put(&ssk->sk);
}

/**
 * sdp_alive_init() - a socket without a connection
 * @ssk: new socket
 */
void sdp_alive_init(struct sdp_sock *ssk)
{
	timer_setup(&ssk->alive, alive_timer, 0);
}

/**
 * sdp_alive_heard() - the peer's machine has given a sign of life
 * @ssk: socket, locked
 */
void sdp_alive_heard(struct sdp_sock *ssk)
{
	ssk->heard = jiffies;
	ssk->probes = 0;
}

/**
 * sdp_alive_start() - the connection stands: watch it if that is wanted
 * @ssk: socket, locked
 */
void sdp_alive_start(struct sdp_sock *ssk)
{
	sdp_alive_heard(ssk);
	ssk->probing = false;
	if (sock_flag(&ssk->sk, SOCK_KEEPOPEN))
		sk_reset_timer(&ssk->sk, &ssk->alive, jiffies + keep_idle(ssk));
}

/**
 * sdp_alive_stop() - the link goes
 * @ssk: socket, locked; the link has a reference to it
 */
void sdp_alive_stop(struct sdp_sock *ssk)
{
	sk_stop_timer(&ssk->sk, &ssk->alive);
	ssk->tx_waits = false;
}

/**
 * sdp_alive_watch() - data may be under way: see to it that the timer looks in time
 * @ssk: socket, locked, with a link
 */
void sdp_alive_watch(struct sdp_sock *ssk)
{
	unsigned int limit;
	unsigned long end;

	if (!waits_for_peer(ssk)) {
		ssk->tx_waits = false;
		return;
	}
	if (!ssk->tx_waits)
		ssk->tx_since = jiffies;
	ssk->tx_waits = true;
	limit = READ_ONCE(ssk->opt.user_timeout);
	end = ssk->tx_since +
	      (limit ? msecs_to_jiffies(limit) : PERSIST_JIFFIES);
	if ((!timer_pending(&ssk->alive) ||
	     time_after(ssk->alive.expires, end)) &&
	    watched(ssk))
		sk_reset_timer(&ssk->sk, &ssk->alive, end);
}

/**
 * sdp_alive_changed() - an option that the watch follows has changed
 * @ssk: socket
 */
void sdp_alive_changed(struct sdp_sock *ssk)
{
	struct verdict v;

	sdp_stream_lock(ssk);
	if (watched(ssk)) {
		v = judge(ssk);
		/* What is over already, the timer finds out at once. */
		if (v.dead || v.probe)
			look_again(&v, jiffies);
		rearm(ssk, &v);
	}
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_set_keepalive() - SO_KEEPALIVE; called under lock_sock, before the flag is set
 * @sk: socket
 * @on: whether it is wanted
 */
void sdp_set_keepalive(struct sock *sk, int on)
{
	sock_valbool_flag(sk, SOCK_KEEPOPEN, on);
	sdp_alive_changed(sdp_sk(sk));
}

/**
 * sdp_keepidle() - TCP_KEEPIDLE in force
 * @ssk: socket
 *
 * Return: seconds.
 */
int sdp_keepidle(struct sdp_sock *ssk)
{
	return keep_idle(ssk) / HZ;
}

/**
 * sdp_keepintvl() - TCP_KEEPINTVL in force
 * @ssk: socket
 *
 * Return: seconds.
 */
int sdp_keepintvl(struct sdp_sock *ssk)
{
	return keep_interval(ssk) / HZ;
}

/**
 * sdp_keepcnt() - TCP_KEEPCNT in force
 * @ssk: socket
 *
 * Return: probes.
 */
int sdp_keepcnt(struct sdp_sock *ssk)
{
	return keep_count(ssk);
}
