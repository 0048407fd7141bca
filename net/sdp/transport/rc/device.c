// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: devices and the listeners on them.
 *
 * One client of ib_core. For each device that can connect by ib_cm there is an
 * rc_device, and on it one CM listener for each port that some socket listens on (a
 * CM listener knows neither address nor namespace: those are looked at when a request
 * comes). A device that appears later gets listeners for all ports at once.
 *
 * A device goes away in this order: no new link may come (@going), its listeners are
 * destroyed (which waits for their handlers), every link is told, and the device waits
 * until the last link is freed.
 *
 * Locks: rc_mutex covers the two lists; it is never taken in an ib_cm handler. A device's
 * own spinlock covers its links.
 */
#include <linux/slab.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "rc.h"

/**
 * struct rc_port - a port that sockets listen on
 * @node: in rc_ports
 * @port: host order
 * @users: listening sockets, of all namespaces
 */
struct rc_port {
	struct list_head node;
	u16 port;
	unsigned int users;
};

static DEFINE_MUTEX(rc_mutex);
static LIST_HEAD(rc_devices);
static LIST_HEAD(rc_ports);

static int listener_add(struct rc_device *dev, u16 port)
{
	struct rc_listener *l = kzalloc(sizeof(*l), GFP_KERNEL);
	int err;

	if (!l)
		return -ENOMEM;
	l->dev = dev;
	l->port = port;
	l->cm = ib_create_cm_id(dev->ib, rc_listen_event, l);
	if (IS_ERR(l->cm)) {
		err = PTR_ERR(l->cm);
		goto free;
	}
	err = ib_cm_listen(l->cm, cpu_to_be64(SDP_SERVICE_ID | port));
	if (err)
		goto destroy;
	list_add(&l->node, &dev->listeners);
	return 0;

destroy:
	ib_destroy_cm_id(l->cm);
free:
	kfree(l);
	return err;
}

static void listener_del(struct rc_listener *l)
{
	ib_destroy_cm_id(l->cm);
	list_del(&l->node);
	kfree(l);
}

static void listeners_del(u16 port)
{
	struct rc_listener *l, *next;
	struct rc_device *dev;

	list_for_each_entry(dev, &rc_devices, node)
		list_for_each_entry_safe(l, next, &dev->listeners, node)
			if (l->port == port)
				listener_del(l);
}

static struct rc_port *find_port(u16 port)
{
	struct rc_port *p;

	list_for_each_entry(p, &rc_ports, node)
		if (p->port == port)
			return p;
	return NULL;
}

static int port_add(u16 port)
{
	struct rc_port *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct rc_device *dev;
	int err;

	if (!p)
		return -ENOMEM;
	list_for_each_entry(dev, &rc_devices, node) {
		err = listener_add(dev, port);
		if (err) {
			listeners_del(port);
			kfree(p);
			/* Another user of the service id has been quicker. */
			return err == -EBUSY ? -EADDRINUSE : err;
		}
	}
	p->port = port;
	p->users = 1;
	list_add(&p->node, &rc_ports);
	return 0;
}

/**
 * rc_listen() - welcome requests for a port, on every device, also later ones
 * @net: namespace; the CM does not tell them apart, the handler does
 * @port: host order
 *
 * Return: 0 or an errno.
 */
int rc_listen(struct net *net, u16 port)
{
	struct rc_port *p;
	int err = 0;

	mutex_lock(&rc_mutex);
	p = find_port(port);
	if (p)
		p->users++;
	else
		err = port_add(port);
	mutex_unlock(&rc_mutex);
	return err;
}

/**
 * rc_unlisten() - undo one rc_listen()
 * @net: namespace
 * @port: host order
 */
void rc_unlisten(struct net *net, u16 port)
{
	struct rc_port *p;

	mutex_lock(&rc_mutex);
	p = find_port(port);
	if (p && !--p->users) {
		listeners_del(port);
		list_del(&p->node);
		kfree(p);
	}
	mutex_unlock(&rc_mutex);
}

static void device_put(struct rc_device *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->unused);
}

/**
 * rc_device_add_link() - a link begins to use a device
 * @dev: device
 * @rc: link
 *
 * Return: false when the device is going away.
 */
bool rc_device_add_link(struct rc_device *dev, struct rc_link *rc)
{
	bool ok;

	spin_lock_bh(&dev->lock);
	ok = !dev->going;
	if (ok) {
		refcount_inc(&dev->refs);
		list_add(&rc->dev_node, &dev->links);
		WRITE_ONCE(rc->dev, dev);
	}
	spin_unlock_bh(&dev->lock);
	return ok;
}

/**
 * rc_device_find_add_link() - the same, for one who does not know our view of the device
 * @ib: device
 * @rc: link
 *
 * The mutex keeps the device until the link has a reference. Called by rdma_cm's
 * handlers, which nobody waits for who holds it.
 *
 * Return: false when it is not one of ours (any more).
 */
bool rc_device_find_add_link(struct ib_device *ib, struct rc_link *rc)
{
	struct rc_device *dev;
	bool ok = false;

	mutex_lock(&rc_mutex);
	list_for_each_entry(dev, &rc_devices, node)
		if (dev->ib == ib)
			ok = rc_device_add_link(dev, rc);
	mutex_unlock(&rc_mutex);
	return ok;
}

static bool any_device(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	struct rc_device *dev;

	list_for_each_entry(dev, &rc_devices, node)
		if (is(dev->ib, arg))
			return true;
	return false;
}

/**
 * rc_device_any() - is there a device of ours that a condition is true of?
 * @is: the condition; called under a mutex
 * @arg: for it
 *
 * Return: true when there is one; the first such device is the last that was asked about.
 */
bool rc_device_any(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	bool found;

	mutex_lock(&rc_mutex);
	found = any_device(is, arg);
	mutex_unlock(&rc_mutex);
	return found;
}

/**
 * rc_device_any_now() - the same, for a caller that must not wait
 * @is: the condition
 * @arg: for it
 *
 * Return: as rc_device_any(); true when somebody else has the mutex.
 */
bool rc_device_any_now(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	bool found;

	if (!mutex_trylock(&rc_mutex))
		return true;
	found = any_device(is, arg);
	mutex_unlock(&rc_mutex);
	return found;
}

/**
 * rc_device_leave() - a link need not hear any more of what happens to its device
 * @rc: link; who has found it before is one of its users
 */
void rc_device_leave(struct rc_link *rc)
{
	struct rc_device *dev = rc->dev;

	if (!dev)
		return;
	spin_lock_bh(&dev->lock);
	list_del_init(&rc->dev_node);
	spin_unlock_bh(&dev->lock);
}

/**
 * rc_device_del_link() - a link has freed all that it had of its device
 * @rc: link
 */
void rc_device_del_link(struct rc_link *rc)
{
	struct rc_device *dev = rc->dev;

	rc_device_leave(rc);
	WRITE_ONCE(rc->dev, NULL);
	device_put(dev);
}

/*
 * A link on @port (0: any) that has not been told. It is in use, so that its owner stays until it
 * has been; and a reference is taken, as one without an owner is freed all the same.
 */
static struct rc_link *next_untold(struct rc_device *dev, u32 port)
{
	struct rc_link *rc;

	list_for_each_entry(rc, &dev->links, dev_node) {
		if ((port && rc->port != port) ||
		    test_bit(RC_FAILED_SAID, &rc->flags))
			continue;
		/* Thousands that are told already are not looked at again before each other. */
		list_move_tail(&rc->dev_node, &dev->links);
		refcount_inc(&rc->refs);
		atomic_inc(&rc->users);
		return rc;
	}
	return NULL;
}

static void fail_links(struct rc_device *dev, u32 port, int error,
		       const char *place)
{
	struct rc_link *rc;

	spin_lock_bh(&dev->lock);
	while ((rc = next_untold(dev, port))) {
		spin_unlock_bh(&dev->lock);
		rc_link_fail(rc, error, place);
		/* Pairs with link_end(). */
		atomic_dec_return_release(&rc->users);
		rc_link_put(rc);
		spin_lock_bh(&dev->lock);
	}
	spin_unlock_bh(&dev->lock);
}

/* Links that only wait for a peer's last word see that it cannot come any more. */
static void end_waits(struct rc_device *dev)
{
	struct rc_link *rc;

	spin_lock_bh(&dev->lock);
	list_for_each_entry(rc, &dev->links, dev_node)
		if (test_bit(RC_RELEASED, &rc->flags))
			rc_link_wake(rc);
	spin_unlock_bh(&dev->lock);
}

static void device_event(struct ib_event_handler *handler,
			 struct ib_event *event)
{
	struct rc_device *dev = container_of(handler, struct rc_device, events);

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
		fail_links(dev, event->element.port_num, ENETDOWN,
			   ib_event_msg(event->event));
		break;
	case IB_EVENT_DEVICE_FATAL:
		fail_links(dev, 0, ENETDOWN, ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

static bool device_usable(struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port)
		if (rdma_cap_ib_cm(ib, port))
			return true;
	return false;
}

static void client_remove(struct ib_device *ib, void *data);

static struct ib_client rc_client;

static int device_listen(struct rc_device *dev)
{
	struct rc_port *p;
	int err = 0;

	mutex_lock(&rc_mutex);
	list_for_each_entry(p, &rc_ports, node) {
		err = listener_add(dev, p->port);
		if (err)
			pr_warn("sdp: no listener for port %u on %s: error %d\n",
				p->port, dev_name(&dev->ib->dev), err);
	}
	list_add(&dev->node, &rc_devices);
	mutex_unlock(&rc_mutex);
	return 0;
}

/*
 * Does key 0 open all memory to a peer? It does on devices of rdmavt (hfi1,
 * qib). They have no key for local use only, so ib_core asks them for a region
 * of all memory, and they give it key 0, which is its remote key as well.
 * rvt_rkey_ok() accepts that key without a look at the protection domain or at
 * the access that the region was made for. So the peer of a kernel's queue pair
 * with remote access can read and write any memory.
 *
 * A device is taken for such a one if ib_core had to ask for the region and the
 * region's key is 0. A device that gives key 0 for another reason loses RDMA
 * and probes by this. ionic always gives it, but accepts it from a peer only in
 * domains made with IB_PD_UNSAFE_GLOBAL_RKEY, which ours is not.
 */
static bool key_opens_all(const struct ib_pd *pd)
{
	const struct ib_device *ib = pd->device;

	if (ib->attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY ||
	    ib->ops.driver_id == RDMA_DRIVER_IONIC)
		return false;
	return !pd->local_dma_lkey;
}

static int client_add(struct ib_device *ib)
{
	struct rc_device *dev;
	int err;

	if (!device_usable(ib))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	dev->pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(dev->pd)) {
		err = PTR_ERR(dev->pd);
		kfree(dev);
		return err;
	}
	dev->closed = key_opens_all(dev->pd);
	if (dev->closed)
		ibdev_info(ib,
			   "sdp: key 0 opens all memory: no RDMA, no probes\n");
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->links);
	INIT_LIST_HEAD(&dev->regions);
	INIT_LIST_HEAD(&dev->stuck);
	rc_reg_init(dev);
	INIT_LIST_HEAD(&dev->listeners);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->unused);
	ib_set_client_data(ib, &rc_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->events, ib, device_event);
	ib_register_event_handler(&dev->events);
	return device_listen(dev);
}

static void client_remove(struct ib_device *ib, void *data)
{
	struct rc_device *dev = data;
	struct rc_listener *l, *next;

	mutex_lock(&rc_mutex);
	list_del(&dev->node);
	list_for_each_entry_safe(l, next, &dev->listeners, node)
		listener_del(l);
	mutex_unlock(&rc_mutex);
	ib_unregister_event_handler(&dev->events);

	spin_lock_bh(&dev->lock);
	WRITE_ONCE(dev->going, true);
	spin_unlock_bh(&dev->lock);
	fail_links(dev, 0, ENETDOWN, "device removed");
	end_waits(dev);
	device_put(dev);
	wait_for_completion(&dev->unused);
	rc_reg_cancel(dev);
	rc_worth_stop(dev);
	rc_mem_drop_pool(dev);
	rc_reg_stop(dev);
	ib_dealloc_pd(dev->pd);
	kfree(dev);
}

/**
 * rc_device_fail_all() - all links of all devices are over
 * @error: positive errno
 * @place: why
 */
void rc_device_fail_all(int error, const char *place)
{
	struct rc_device *dev;

	mutex_lock(&rc_mutex);
	list_for_each_entry(dev, &rc_devices, node)
		fail_links(dev, 0, error, place);
	mutex_unlock(&rc_mutex);
}

static struct ib_client rc_client = {
	.name	= "sdp",
	.add	= client_add,
	.remove	= client_remove,
};

/**
 * rc_device_init() - start using devices
 *
 * Return: 0 or an errno.
 */
int rc_device_init(void)
{
	return ib_register_client(&rc_client);
}

/**
 * rc_device_exit() - stop using devices; there are no links any more
 */
void rc_device_exit(void)
{
	ib_unregister_client(&rc_client);
}
