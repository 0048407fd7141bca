// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: its operations, and its start and end with the module.
 */
#include <linux/notifier.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "ud.h"

const struct sdp_link_events *ud_up;
const struct ud_handlers *ud_handlers;
struct workqueue_struct *ud_wq;

/* See ../rc/vmfork.c. Opens of before are answered by a new Challenge. */
static int ud_vmfork(struct notifier_block *block, unsigned long action,
		     void *data)
{
	ud_cookie_init();
	ud_device_fail_all(ECONNRESET, "virtual machine was copied");
	return NOTIFY_DONE;
}

static struct notifier_block ud_vmfork_block = { .notifier_call = ud_vmfork };

static const struct ud_handlers handlers = {
	.received	= ud_received,
	.room		= ud_qp_run,
	.ask_work	= ud_ask_work,
	.show_work	= ud_show_work,
	.link_work	= ud_link_work,
	.link_timer	= ud_link_timer,
};

/**
 * sdp_ud_init() - register the UD transport
 * @up: up-calls to the owners of its links
 *
 * Return: 0 or an errno.
 */
int sdp_ud_init(const struct sdp_link_events *up)
{
	int err;

	ud_up = up;
	ud_handlers = &handlers;
	ud_cookie_init();
	err = ud_link_init();
	if (err)
		return err;
	err = -ENOMEM;
	ud_wq = alloc_workqueue("sdp_ud", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ud_wq)
		goto no_queue;
	err = ud_device_init();
	if (err)
		goto no_devices;
	err = register_random_vmfork_notifier(&ud_vmfork_block);
	if (!err)
		return 0;
	ud_device_exit();
no_devices:
	destroy_workqueue(ud_wq);
no_queue:
	ud_link_exit();
	return err;
}

/**
 * sdp_ud_exit() - undo sdp_ud_init()
 *
 * Called when there are no sockets, hence no links, any more.
 */
void sdp_ud_exit(void)
{
	unregister_random_vmfork_notifier(&ud_vmfork_block);
	ud_device_exit();
	destroy_workqueue(ud_wq);
	ud_link_exit();
}

static struct sdp_link *ud_create(struct net *net,
				  const struct sdp_endpoint *local,
				  const struct sdp_endpoint *peer)
{
	struct ud_link *l = ud_link_alloc(net);

	if (!l)
		return NULL;
	l->connect = kzalloc(sizeof(*l->connect), GFP_KERNEL);
	if (!l->connect) {
		ud_link_put(l);
		return NULL;
	}
	l->local = *local;
	l->remote = *peer;
	set_bit(UD_OWNED, &l->flags);
	return &l->link;
}

static void ud_connect(struct sdp_link *link, const struct sdp_path_wish *wish)
{
	to_ud(link)->connect->wish = *wish;
	ud_link_poke(to_ud(link), UD_START);
}

/*
 * A message has to fit into a chunk. Both ends know the size of datagrams
 * before they state the size of their receives. The other limits are those of a
 * queue pair, in case that one joins (transport/rails).
 */
static int ud_prepare(struct sdp_link *link, struct sdp_link_config *config)
{
	struct ud_link *l = to_ud(link);
	u32 most = SDP_CHUNK_PACKETS_MAX * ud_payload(l);

	config->rdma = false;
	sdp_rc_fit_queues(l->port->dev->ib, config);
	config->recv_size = min(config->recv_size, most);
	config->recv_size_max = min(config->recv_size_max, most);
	if (config->recv_size_max <= config->recv_size)
		config->recv_size_max = 0;
	l->retries = config->retry + UD_RETRIES_MORE;
	return 0;
}

/* A receive is a permission to send: the buffer comes with the message. */
static u16 ud_post(struct sdp_link *link, u16 n, u32 size)
{
	struct ud_link *l = to_ud(link);

	spin_lock_bh(&l->lock);
	l->recv_max = max(l->recv_max, size);
	spin_unlock_bh(&l->lock);
	return n;
}

static void ud_hold(struct sdp_link *link)
{
	refcount_inc(&to_ud(link)->refs);
}

static void ud_release(struct sdp_link *link, bool abort)
{
	struct ud_link *l = to_ud(link);

	if (abort)
		set_bit(UD_ABORTED, &l->flags);
	ud_link_poke(l, UD_RELEASED);
}

static const char *ud_device_name(const struct sdp_link *link)
{
	const struct ud_link *l = container_of(link, struct ud_link, link);
	const struct ud_port *port = READ_ONCE(l->port);

	return port ? dev_name(&port->dev->ib->dev) : NULL;
}

const struct sdp_transport sdp_ud = {
	.name		= "ud",
	.pools		= true,
	.create		= ud_create,
	.connect	= ud_connect,
	.prepare	= ud_prepare,
	.post		= ud_post,
	.recycle	= ud_recycle,
	.trim		= ud_trim,
	.send		= ud_send,
	.hold		= ud_hold,
	.kick		= ud_kick,
	.probe		= ud_probe,
	.hasten		= ud_hasten,
	.release	= ud_release,
	.device		= ud_device_name,
};
