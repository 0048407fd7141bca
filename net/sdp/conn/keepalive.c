// SPDX-License-Identifier: GPL-2.0
/*
 * Dead peers: keepalive, user timeout, and a limit for silence.
 *
 * SO_KEEPALIVE probes an idle peer, TCP_USER_TIMEOUT limits the time without
 * progress of what we send, and SILENCE_LIMIT applies to messages that do not
 * arrive.
 *
 * Each socket has one timer (@keepalive_timer). With SO_KEEPALIVE it is always
 * armed, otherwise from the time when data is sent until it finds that nothing
 * is in flight. Rearming it for each message would cost too much, so it is
 * armed once, and when it fires it checks two timestamps of the connection:
 *
 *	heard		last sign of life: a message from the peer, or the
 *			arrival of one of ours
 *	tx_since	when data, an advertisement or an RDMA transfer of ours
 *			began to wait for the peer, or last made progress
 *
 * All our messages may have arrived while we still wait: for credit, or until
 * the peer has read memory that we have advertised. Then we probe the peer
 * every PERSIST_JIFFIES, as TCP probes a closed window. SILENCE_LIMIT without
 * an answer ends such a connection, too.
 *
 * A probe is a transport operation that needs no action of the peer's software
 * and consumes no receive. The rc transport repeats it until it is answered. So
 * one probe at a time is enough, and a message in flight serves as a probe. As
 * with TCP, TCP_KEEPCNT probes at intervals of TCP_KEEPINTVL without a sign of
 * life end the connection.
 *
 * With SDP_FLOW_NIC our adapter may hold messages back until the peer has
 * posted a receive. The two adapters then exchange packets all the time, but we
 * see no completion. So we conclude nothing from silence: if the peer is gone,
 * the adapter breaks the connection. TCP_USER_TIMEOUT applies nevertheless.
 *
 * The socket's lock covers all of it. The pending timer holds a reference.
 */
#include "conn.h"
#include "keepalive.h"

/*
 * Time after which we give up a message that does not arrive. TCP gives up
 * after 15 retransmissions with doubled timeouts, 924.6 s. Most devices give up
 * much sooner, but soft-RoCE never does with retry_count 7.
 */
#define SILENCE_LIMIT	(925 * HZ)
/*
 * Probe interval while all our messages have arrived and we wait for the peer:
 * for credit, or until it has read advertised memory.
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

/* Does the timer watch this connection? An orphan has a timer of its own. */
static bool peer_is_watched(const struct sdp_sock *ssk)
{
	return sdp_is_established(ssk) && !sock_flag(&ssk->sk, SOCK_DEAD);
}

/**
 * struct peer_verdict - result of a check of the peer
 * @next: time of the next check (jiffies), valid if @again is set
 * @again: another check is needed
 * @probe: send a probe now
 * @dead: give up now; names the limit that has passed. NULL otherwise
 */
struct peer_verdict {
	unsigned long next;
	bool again;
	bool probe;
	const char *dead;
};

/* Request another check at @when, or earlier. */
static void verdict_check_at(struct peer_verdict *v, unsigned long when)
{
	if (!v->again || time_before(when, v->next))
		v->next = when;
	v->again = true;
}

/*
 * Have we sent enough probes without a sign of life? As with TCP,
 * TCP_USER_TIMEOUT replaces the number of probes.
 */
static bool probes_exhausted(const struct sdp_sock *ssk)
{
	unsigned int limit = READ_ONCE(ssk->opt.user_timeout);

	if (!limit)
		return ssk->probes >= keep_count(ssk);
	return ssk->probes &&
	       time_after_eq(jiffies, ssk->heard + msecs_to_jiffies(limit));
}

/* Check the idle peer if SO_KEEPALIVE is set. */
static void judge_keepalive(const struct sdp_sock *ssk, struct peer_verdict *v)
{
	unsigned long due = ssk->probes ? ssk->probe_due :
					  ssk->heard + keep_idle(ssk);

	if (!sock_flag(&ssk->sk, SOCK_KEEPOPEN))
		return;
	/*
	 * A probe would wait behind the messages that the adapter holds back.
	 * While it holds them, the adapter checks the peer.
	 */
	if (sdp_engine_held_back(&ssk->engine)) {
		verdict_check_at(v, jiffies + keep_interval(ssk));
		return;
	}
	if (time_before(jiffies, due))
		verdict_check_at(v, due);
	else if (probes_exhausted(ssk))
		v->dead = "keepalive";
	else
		v->probe = true;
}

/* Is any data, advertisement of ours or RDMA transfer not complete? */
static bool waits_for_peer(const struct sdp_sock *ssk)
{
	return ssk->tx_outq || ssk->srcavail_tx_out || ssk->srcavail_rx ||
	       ssk->rdma_writing;
}

/* Check a peer that has all our messages but keeps us waiting. */
static void judge_persistence(const struct sdp_sock *ssk,
			      struct peer_verdict *v)
{
	unsigned long due = ssk->heard + PERSIST_JIFFIES;

	if (time_after_eq(jiffies, ssk->heard + SILENCE_LIMIT))
		v->dead = "silence";
	else if (ssk->probing)
		verdict_check_at(v, jiffies + PERSIST_JIFFIES);
	else if (time_before(jiffies, due))
		verdict_check_at(v, due);
	else
		v->probe = true;
}

/*
 * Check the progress of what we send. TCP_USER_TIMEOUT counts even if the
 * peer's application does not read.
 */
static void judge_data(const struct sdp_sock *ssk, struct peer_verdict *v)
{
	unsigned int limit = READ_ONCE(ssk->opt.user_timeout);
	unsigned long end;

	if (!waits_for_peer(ssk))
		return;
	/* The peer's application may read nothing for as long as it likes. */
	if (!limit && sdp_engine_held_back(&ssk->engine)) {
		verdict_check_at(v, jiffies + PERSIST_JIFFIES);
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
		verdict_check_at(v, end);
	else
		v->dead = limit ? "user timeout" : "silence";
}

static struct peer_verdict judge_peer(const struct sdp_sock *ssk)
{
	struct peer_verdict v = { };

	judge_keepalive(ssk, &v);
	judge_data(ssk, &v);
	return v;
}

/*
 * Count a probe, and send it unless one is in flight or a message of ours
 * serves as the probe. Without a probe operation both ends are on this host, so
 * the peer is alive.
 */
static void probe(struct sdp_sock *ssk)
{
	ssk->probes++;
	ssk->probe_due = jiffies + keep_interval(ssk);
	SDP_INC(sock_net(&ssk->sk), KeepaliveProbes);
	if (!ssk->link->ops->probe) {
		sdp_keepalive_heard(ssk);
	} else if (!ssk->probing && sdp_engine_all_arrived(&ssk->engine)) {
		ssk->probing = true;
		ssk->link->ops->probe(ssk->link);
	}
}

static void keepalive_rearm(struct sdp_sock *ssk, const struct peer_verdict *v)
{
	if (v->again)
		sk_reset_timer(&ssk->sk, &ssk->keepalive_timer, v->next);
	else
		sk_stop_timer(&ssk->sk, &ssk->keepalive_timer);
}

/* The timer: ends the connection, sends a probe, or only rearms itself. */
static void keepalive_expired(struct timer_list *timer)
{
	struct sdp_sock *ssk = timer_container_of(ssk, timer, keepalive_timer);
	struct sdp_todo todo = { };
	struct peer_verdict v;

	sdp_conn_lock(ssk);
	if (peer_is_watched(ssk)) {
		v = judge_peer(ssk);
		if (v.dead) {
			SDP_INC(sock_net(&ssk->sk), SilentPeers);
			sdp_conn_fail(ssk, ETIMEDOUT, v.dead, &todo);
		} else {
			if (v.probe) {
				probe(ssk);
				v = judge_peer(ssk);
			}
			keepalive_rearm(ssk, &v);
		}
	}
	sdp_conn_unlock(ssk, &todo);
	sock_put(&ssk->sk);
}

/**
 * sdp_keepalive_init() - set up the timer of a new socket
 * @ssk: new socket
 */
void sdp_keepalive_init(struct sdp_sock *ssk)
{
	timer_setup(&ssk->keepalive_timer, keepalive_expired, 0);
}

/**
 * sdp_keepalive_heard() - note a sign of life from the peer
 * @ssk: socket, locked
 */
void sdp_keepalive_heard(struct sdp_sock *ssk)
{
	ssk->heard = jiffies;
	ssk->probes = 0;
}

/**
 * sdp_keepalive_start() - start to watch a connection if SO_KEEPALIVE is set
 * @ssk: socket, locked; its connection has just been established
 */
void sdp_keepalive_start(struct sdp_sock *ssk)
{
	sdp_keepalive_heard(ssk);
	ssk->probing = false;
	if (sock_flag(&ssk->sk, SOCK_KEEPOPEN))
		sk_reset_timer(&ssk->sk, &ssk->keepalive_timer,
			       jiffies + keep_idle(ssk));
}

/**
 * sdp_keepalive_stop() - stop the timer because the socket loses its link
 * @ssk: socket, locked; the link still has a reference to it
 */
void sdp_keepalive_stop(struct sdp_sock *ssk)
{
	sk_stop_timer(&ssk->sk, &ssk->keepalive_timer);
	ssk->tx_waits = false;
}

/**
 * sdp_keepalive_watch() - arm the timer if we wait for the peer
 * @ssk: socket, locked, with a link
 *
 * Called whenever data may have been sent or have arrived. Rearms the timer
 * only if it would fire too late.
 */
void sdp_keepalive_watch(struct sdp_sock *ssk)
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
	if ((!timer_pending(&ssk->keepalive_timer) ||
	     time_after(ssk->keepalive_timer.expires, end)) &&
	    peer_is_watched(ssk))
		sk_reset_timer(&ssk->sk, &ssk->keepalive_timer, end);
}

/**
 * sdp_keepalive_changed() - apply a change of a keepalive or timeout option
 * @ssk: socket, not locked
 */
void sdp_keepalive_changed(struct sdp_sock *ssk)
{
	struct peer_verdict v;

	sdp_conn_lock(ssk);
	if (peer_is_watched(ssk)) {
		v = judge_peer(ssk);
		/* If a limit has passed already, let the timer fire at once. */
		if (v.dead || v.probe)
			verdict_check_at(&v, jiffies);
		keepalive_rearm(ssk, &v);
	}
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_keepalive_set() - set SO_KEEPALIVE
 * @sk: socket, under lock_sock()
 * @on: non-zero to switch it on
 *
 * The kernel calls this before it sets SOCK_KEEPOPEN, so the flag is set here.
 */
void sdp_keepalive_set(struct sock *sk, int on)
{
	sock_valbool_flag(sk, SOCK_KEEPOPEN, on);
	sdp_keepalive_changed(sdp_sk(sk));
}

/**
 * sdp_keepidle() - effective TCP_KEEPIDLE
 * @ssk: socket
 *
 * Return: seconds.
 */
int sdp_keepidle(struct sdp_sock *ssk)
{
	return keep_idle(ssk) / HZ;
}

/**
 * sdp_keepintvl() - effective TCP_KEEPINTVL
 * @ssk: socket
 *
 * Return: seconds.
 */
int sdp_keepintvl(struct sdp_sock *ssk)
{
	return keep_interval(ssk) / HZ;
}

/**
 * sdp_keepcnt() - effective TCP_KEEPCNT
 * @ssk: socket
 *
 * Return: number of probes.
 */
int sdp_keepcnt(struct sdp_sock *ssk)
{
	return keep_count(ssk);
}
