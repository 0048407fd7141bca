// SPDX-License-Identifier: GPL-2.0
/*
 * The files /proc/net/sdp (sockets) and /proc/net/sdpstat (counters).
 *
 * /proc/net/sdp has one line per socket, IPv4 or IPv6. Its columns up to inode
 * are those of /proc/net/tcp and, for IPv6 sockets, of /proc/net/tcp6.
 * /proc/net/sdpstat has one counter per line.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "../conn/sock.h"
#include "netns.h"
#include "sock_iter.h"

/* Header line of /proc/net/sdp. */
#define PROC_COLUMNS							\
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid" \
	"  timeout inode ref dev mode credit posted theirs sent rcvd\n"

static void proc_show_address(struct seq_file *seq,
			      const struct sdp_endpoint *e, bool v6)
{
	const __be32 *a = e->ip.s6_addr32;

	if (v6)
		seq_printf(seq, " %08X%08X%08X%08X:%04X", a[0], a[1], a[2],
			   a[3], e->port);
	else
		seq_printf(seq, " %08X:%04X", sdp_v4(e), e->port);
}

static char proc_mode_letter(u8 mode)
{
	return mode == SDP_MODE_BUFFERED ? 'B' :
	       mode == SDP_MODE_PIPELINED ? 'P' : 'C';
}

static void proc_show_sock(struct seq_file *seq, struct sdp_sock *ssk,
			   u32 number)
{
	struct sock *sk = &ssk->sk;
	unsigned long expires = READ_ONCE(sk->sk_timer.expires);
	bool v6 = READ_ONCE(ssk->v6);
	struct sdp_look l;

	sdp_socks_look(ssk, &l, NULL);
	seq_printf(seq, "%4u:", number);
	proc_show_address(seq, &l.local, v6);
	proc_show_address(seq, &l.peer, v6);
	seq_printf(seq, " %02X %08X:%08X %02X:%08lX %08X %5u %8d %llu", l.state,
		   l.tx_queue, l.rx_queue, l.timer ? 1 : 0,
		   l.timer ? jiffies_delta_to_clock_t(expires - jiffies) : 0, 0,
		   from_kuid_munged(seq_user_ns(seq), sk->sk_uid), 0,
		   (u64)sock_i_ino(sk));
	seq_printf(seq, " %d %s %c/%c %u %u %u %llu %llu\n",
		   refcount_read(&sk->sk_refcnt), l.device[0] ? l.device : "-",
		   proc_mode_letter(l.tx_mode), proc_mode_letter(l.rx_mode),
		   l.credit, l.posted, l.theirs, l.sent, l.received);
}

/**
 * struct reader - state of an open /proc/net/sdp
 * @p: namespace
 * @line: number of the next socket's line
 *
 * The file's position is 0 for the header line, else 1 + the position of a
 * socket (sock_iter.h). seq_file reads the file in pieces; between the pieces
 * it keeps only the position, and we keep @line.
 */
struct reader {
	struct seq_net_private p;
	u32 line;
};

static void *socks_start(struct seq_file *seq, loff_t *pos)
	__acquires(RCU)
{
	struct reader *reader = seq->private;
	struct sdp_sock *ssk;
	loff_t at = *pos - 1;

	rcu_read_lock();
	if (!*pos) {
		reader->line = 0;
		return SEQ_START_TOKEN;
	}
	ssk = sdp_socks_at(sdp_net(seq_file_net(seq)), &at);
	*pos = at + 1;
	return ssk;
}

static void *socks_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct sdp_net *sn = sdp_net(seq_file_net(seq));
	struct reader *reader = seq->private;
	loff_t at = *pos - 1;
	struct sdp_sock *ssk;

	if (v == SEQ_START_TOKEN) {
		at = SDP_SOCKS_BEGIN;
		ssk = sdp_socks_at(sn, &at);
	} else {
		reader->line++;
		ssk = sdp_socks_next(sn, v, &at);
	}
	*pos = at + 1;
	return ssk;
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
		seq_puts(seq, PROC_COLUMNS);
	else
		proc_show_sock(seq, v, reader->line);
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
	const struct net *net = seq_file_single_net(seq);
	int i;

	for (i = 0; i < SDP_STAT_COUNT; i++)
		seq_printf(seq, "%-24s %lu\n", sdp_stat_name(i),
			   sdp_stat_sum(net, i));
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
	if (proc_create_net_single("sdpstat", 0444, net->proc_net, stats_show,
				   NULL))
		return 0;
	remove_proc_entry("sdp", net->proc_net);
	return -ENOMEM;
}

/**
 * sdp_proc_unregister() - undo sdp_proc_register()
 * @net: namespace
 */
void sdp_proc_unregister(struct net *net)
{
	remove_proc_entry("sdpstat", net->proc_net);
	remove_proc_entry("sdp", net->proc_net);
}
