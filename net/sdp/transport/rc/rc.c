// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: its operations, and its start and end with the module.
 */
#include <linux/workqueue.h>

#include "rc.h"

const struct sdp_link_events *rc_up;
sdp_incoming_fn rc_incoming;
void (*rc_paths_changed)(void);
sdp_sidr_fn rc_sidr;
struct workqueue_struct *rc_wq;
struct workqueue_struct *rc_stop_wq;

/**
 * sdp_rc_init() - register the RC transport
 * @up: up-calls to the owners of its links, unless link->up is changed
 * @incoming: called for each connection request
 * @paths_changed: called in process context when a device has been added, a
 *	port has become active, or its addresses may have changed
 * @sidr: called when a peer asks for the datagram service of a port that a
 *	socket listens on
 *
 * Return: 0 or an errno.
 */
int sdp_rc_init(const struct sdp_link_events *up, sdp_incoming_fn incoming,
		void (*paths_changed)(void), sdp_sidr_fn sidr)
{
	int err;

	rc_up = up;
	rc_incoming = incoming;
	rc_paths_changed = paths_changed;
	rc_sidr = sidr;
	rc_wq = alloc_workqueue("sdp_rc", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rc_wq)
		return -ENOMEM;
	err = -ENOMEM;
	rc_stop_wq = alloc_workqueue("sdp_rc_stop", WQ_UNBOUND | WQ_MEM_RECLAIM,
				     RC_STOPS_MOST);
	if (!rc_stop_wq)
		goto no_queue;
	err = rc_device_init();
	if (err)
		goto no_devices;
	err = rc_fork_init();
	if (!err)
		return 0;
	rc_device_exit();
no_devices:
	destroy_workqueue(rc_stop_wq);
no_queue:
	destroy_workqueue(rc_wq);
	return err;
}

/**
 * sdp_rc_exit() - undo sdp_rc_init()
 *
 * Called when there are no sockets, hence no links, any more.
 */
void sdp_rc_exit(void)
{
	rc_fork_exit();
	rc_device_exit();
	destroy_workqueue(rc_stop_wq);
	destroy_workqueue(rc_wq);
}

static void rc_release(struct sdp_link *link, bool abort)
{
	if (link->one_of_many)
		set_bit(RC_ONE_RAIL, &to_rc(link)->flags);
	rc_link_poke(to_rc(link), RC_RELEASED);
}

static void rc_use(struct sdp_link *link)
{
	atomic_inc(&to_rc(link)->users);
}

/*
 * Release semantics: all accesses of the user precede the destruction of the
 * link, which may follow at once. Pairs with link_end().
 */
static void rc_unuse(struct sdp_link *link)
{
	atomic_dec_return_release(&to_rc(link)->users);
}

static const char *rc_device_name(const struct sdp_link *link)
{
	const struct rc_link *rc = container_of(link, struct rc_link, link);
	const struct rc_device *dev = READ_ONCE(rc->dev);

	return dev ? dev_name(&dev->ib->dev) : NULL;
}

const struct sdp_transport sdp_rc = {
	.name		= "rc",
	.create		= rc_create,
	.connect	= rc_connect,
	.prepare	= rc_prepare,
	.post		= rc_post,
	.recycle	= rc_recycle,
	.trim		= rc_trim,
	.send		= rc_send,
	.resend		= rc_resend,
	.probe		= rc_probe,
	.use		= rc_use,
	.unuse		= rc_unuse,
	.map		= rc_map,
	.unmap		= rc_unmap,
	.move		= rc_move,
	.release	= rc_release,
	.device		= rc_device_name,
	.listen		= rc_listen,
	.unlisten	= rc_unlisten,
};
