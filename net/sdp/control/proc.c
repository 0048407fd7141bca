// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/sdp (one line per socket) and /proc/net/sdpstat (counters).
 *
 * The columns up to inode are those of /proc/net/tcp; IPv6 addresses have 32 digits.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "../socket/sock.h"
#include "net.h"

/* The first line; up to inode as in /proc/net/tcp. */
#define COLUMNS								\
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"	\
	"  timeout inode ref dev mode credit posted theirs sent rcvd\n"

static void show_address(struct seq_file *seq, const struct sdp_endpoint *e, bool v6)
{
	const __be32 *a = e->ip.s6_addr32;

	if (v6)
		seq_printf(seq, " %08X%08X%08X%08X:%04X", a[0], a[1], a[2], a[3], e->port);
	else
		seq_printf(seq, " %08X:%04X", sdp_v4(e), e->port);
}

/* As long as an RDMA device's name may be. */
#define DEVICE_NAME	64

/* Numbers of one socket, taken under its lock. */
struct line {
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	char device[DEVICE_NAME];
	u32 tx_queue;
	u32 rx_queue;
	u32 credit;
	u16 posted;
	u16 theirs;
	u64 sent;
	u64 received;
	u8 state;
	u8 tx_mode;
	u8 rx_mode;
	bool timer;
};

static void take_line(struct sdp_sock *ssk, struct line *l)
{
	const struct sdp_credit *c = &ssk->engine.credit;
	struct sock *sk = &ssk->sk;
	const char *device = NULL;

	memset(l, 0, sizeof(*l));
	spin_lock_bh(&ssk->lock);
	l->local = ssk->local;
	l->peer = ssk->peer;
	l->state = sk->sk_state;
	l->tx_queue = ssk->tx_outq;
	l->rx_queue = l->state == TCP_LISTEN ? sk->sk_ack_backlog : sdp_readable(ssk);
	l->sent = ssk->sent;
	l->received = ssk->received;
	/* What a connection begins with. */
	l->tx_mode = SDP_MODE_COMBINED;
	l->rx_mode = SDP_MODE_COMBINED;
	l->timer = timer_pending(&sk->sk_timer);
	if (ssk->link) {
		device = ssk->link->ops->device(ssk->link);
		l->credit = sdp_credit_available(c);
		l->posted = c->posted;
		l->theirs = c->theirs;
		l->tx_mode = sdp_engine_tx_mode(&ssk->engine);
		l->rx_mode = sdp_engine_rx_mode(&ssk->engine);
	}
	strscpy(l->device, device ?: "-", sizeof(l->device));
	spin_unlock_bh(&ssk->lock);
}

static char mode_letter(u8 mode)
{
	return mode == SDP_MODE_BUFFERED ? 'B' : mode == SDP_MODE_PIPELINED ? 'P' : 'C';
}

static void show_sock(struct seq_file *seq, struct sdp_sock *ssk, u32 number)
{
	struct sock *sk = &ssk->sk;
	struct line l;

	take_line(ssk, &l);
	seq_printf(seq, "%4u:", number);
	show_address(seq, &l.local, ssk->v6);
	show_address(seq, &l.peer, ssk->v6);
	seq_printf(seq, " %02X %08X:%08X %02X:%08lX %08X %5u %8d %llu", l.state, l.tx_queue,
		   l.rx_queue, l.timer ? 1 : 0,
		   l.timer ? jiffies_delta_to_clock_t(sk->sk_timer.expires - jiffies) : 0, 0,
		   from_kuid_munged(seq_user_ns(seq), sk->sk_uid), 0, (u64)sock_i_ino(sk));
	seq_printf(seq, " %d %s %c/%c %u %u %u %llu %llu\n", refcount_read(&sk->sk_refcnt),
		   l.device, mode_letter(l.tx_mode), mode_letter(l.rx_mode), l.credit, l.posted,
		   l.theirs, l.sent, l.received);
}

/**
 * struct reader - somebody who reads the file, a piece at a time
 * @p: namespace
 * @line: number of the line, as shown
 *
 * The position is 0 for the titles, else 1 + the number of a list << PLACE_BITS + a place in
 * it. So it is found again without a walk through all sockets.
 */
struct reader {
	struct seq_net_private p;
	u32 line;
};

#define PLACE_BITS	32

static loff_t position(u32 list, u32 place)
{
	return 1 + ((loff_t)list << PLACE_BITS | place);
}

/* The socket at a position, or the first one after it, whose position it is then. */
static struct sdp_sock *seek(struct sdp_net *sn, loff_t *pos)
{
	u32 list = (*pos - 1) >> PLACE_BITS, place = *pos - 1, i;
	struct sdp_sock *ssk;

	for (; list < ARRAY_SIZE(sn->socks); list++, place = 0) {
		i = 0;
		hlist_for_each_entry_rcu(ssk, &sn->socks[list], list_node) {
			if (i++ < place)
				continue;
			*pos = position(list, place);
			return ssk;
		}
	}
	return NULL;
}

static void *socks_start(struct seq_file *seq, loff_t *pos)
	__acquires(RCU)
{
	struct reader *reader = seq->private;

	rcu_read_lock();
	if (*pos)
		return seek(sdp_net(seq_file_net(seq)), pos);
	reader->line = 0;
	return SEQ_START_TOKEN;
}

static void *socks_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct reader *reader = seq->private;
	struct hlist_node *node = NULL;

	if (v == SEQ_START_TOKEN) {
		*pos = position(0, 0);
	} else {
		reader->line++;
		node = rcu_dereference(hlist_next_rcu(&((struct sdp_sock *)v)->list_node));
		*pos = node ? *pos + 1 : position(((*pos - 1) >> PLACE_BITS) + 1, 0);
	}
	return node ? hlist_entry(node, struct sdp_sock, list_node) :
		      seek(sdp_net(seq_file_net(seq)), pos);
}

static void socks_stop(struct seq_file *seq, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int socks_show(struct seq_file *seq, void *v)
{
	const struct reader *reader = seq->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(seq, COLUMNS);
	else
		show_sock(seq, v, reader->line);
	return 0;
}

static const struct seq_operations socks_ops = {
	.start	= socks_start,
	.next	= socks_next,
	.stop	= socks_stop,
	.show	= socks_show,
};

static int stats_show(struct seq_file *seq, void *v)
{
	static const char * const names[] = {
#define SDP_STAT_NAME(name) #name,
		SDP_STATS(SDP_STAT_NAME)
#undef SDP_STAT_NAME
	};
	struct sdp_net *sn = sdp_net(seq_file_single_net(seq));
	int i, cpu;

	for (i = 0; i < SDP_STAT_COUNT; i++) {
		unsigned long sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(sn->mib, cpu)->count[i];
		seq_printf(seq, "%-24s %lu\n", names[i], sum);
	}
	return 0;
}

/**
 * sdp_proc_register() - make the two files of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_proc_register(struct net *net)
{
	if (!proc_create_net("sdp", 0444, net->proc_net, &socks_ops,
			     sizeof(struct reader)))
		return -ENOMEM;
	if (proc_create_net_single("sdpstat", 0444, net->proc_net, stats_show, NULL))
		return 0;
	remove_proc_entry("sdp", net->proc_net);
	return -ENOMEM;
}

/**
 * sdp_proc_unregister() - remove the two files
 * @net: namespace
 */
void sdp_proc_unregister(struct net *net)
{
	remove_proc_entry("sdpstat", net->proc_net);
	remove_proc_entry("sdp", net->proc_net);
}
