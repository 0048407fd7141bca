// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: RDMA devices and the CM listeners on them.
 *
 * We register one client with ib_core. Each device gets an rc_device. If it has
 * what it must have (limits.c), it also gets one CM listener for each port that
 * some socket listens on; an iWARP device keeps one for all (iw.c). A CM
 * listener knows neither address nor namespace: the handler of a request checks
 * both. A device that appears later gets listeners for all these ports at once.
 *
 * Removal of a device: client_remove() destroys its listeners, which waits for
 * their handlers; refuses new links (@going); fails every link; and waits until
 * the last link has detached.
 *
 * Locks: rc_mutex covers rc_devices, rc_unused, rc_ports and the listeners of
 * each device. It is never taken in a CM handler. The spinlock of a device
 * covers its links.
 */
#include <linux/slab.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "rc.h"

/**
 * struct rc_port - a port that sockets listen on
 * @node: entry in rc_ports
 * @port: port number in host byte order
 * @users: number of listening sockets in all namespaces
 */
struct rc_port {
	struct list_head node;
	u16 port;
	unsigned int users;
};

static DEFINE_MUTEX(rc_mutex);
static LIST_HEAD(rc_devices);
/* Devices that we do not use, because they lack something. */
static LIST_HEAD(rc_unused);
static LIST_HEAD(rc_ports);

static int listener_add(struct rc_device *dev, u16 port)
{
	struct rc_listener *l;
	int err;

	if (!rdma_cap_ib_cm(dev->ib, rdma_start_port(dev->ib)))
		return rc_iw_listen(dev);
	l = kzalloc(sizeof(*l), GFP_KERNEL);
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

static struct rc_port *port_find(u16 port)
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
			/* Another user of ib_cm already has this service id. */
			return err == -EBUSY ? -EADDRINUSE : err;
		}
	}
	p->port = port;
	p->users = 1;
	list_add(&p->node, &rc_ports);
	return 0;
}

/**
 * rc_listen() - accept connection requests for a port on all devices
 * @net: network namespace; unused, the handler of a request checks it
 * @port: port number in host byte order
 *
 * This covers devices that appear later, too. May sleep.
 *
 * Return: 0, -EADDRINUSE if another user of ib_cm has the service id, or
 * another errno.
 */
int rc_listen(struct net *net, u16 port)
{
	struct rc_port *p;
	int err = 0;

	mutex_lock(&rc_mutex);
	p = port_find(port);
	if (p)
		p->users++;
	else
		err = port_add(port);
	mutex_unlock(&rc_mutex);
	return err;
}

/**
 * rc_unlisten() - undo one call of rc_listen()
 * @net: network namespace; unused
 * @port: port number in host byte order
 *
 * May sleep: destroying a listener waits for its handler.
 */
void rc_unlisten(struct net *net, u16 port)
{
	struct rc_port *p;

	mutex_lock(&rc_mutex);
	p = port_find(port);
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
 * rc_device_add_link() - attach a link to a device
 * @dev: device
 * @rc: link; it holds a reference to the device until rc_device_del_link()
 *
 * Return: false when the device is being removed.
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
 * rc_device_find_add_link() - attach a link to the rc_device of an ib_device
 * @ib: device
 * @rc: link
 *
 * The mutex keeps the rc_device in existence until the link has a reference.
 * Called by rdma_cm handlers; no holder of the mutex waits for these. May
 * sleep.
 *
 * Return: false when we do not use the device, or it is being removed.
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

static bool device_any(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	struct rc_device *dev;

	list_for_each_entry(dev, &rc_devices, node)
		if (is(dev->ib, arg))
			return true;
	return false;
}

/**
 * rc_device_any() - is a condition true of any device?
 * @is: the condition; called under a mutex
 * @arg: argument of @is
 *
 * Stops at the first device of which the condition is true. May sleep.
 *
 * Return: true when there is such a device.
 */
bool rc_device_any(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	bool found;

	mutex_lock(&rc_mutex);
	found = device_any(is, arg);
	mutex_unlock(&rc_mutex);
	return found;
}

/**
 * rc_device_any_now() - rc_device_any() for a caller that must not sleep
 * @is: the condition
 * @arg: argument of @is
 *
 * Return: as rc_device_any(); true when the mutex is contended.
 */
bool rc_device_any_now(bool (*is)(struct ib_device *ib, void *arg), void *arg)
{
	bool found;

	if (!mutex_trylock(&rc_mutex))
		return true;
	found = device_any(is, arg);
	mutex_unlock(&rc_mutex);
	return found;
}

/**
 * rc_device_leave() - stop reporting device events to a link
 * @rc: link; a task that has already found it is counted in rc_link.users
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
 * rc_device_del_link() - detach a link that no longer uses the device
 * @rc: link
 *
 * Drops the link's reference, so client_remove() may free the device.
 */
void rc_device_del_link(struct rc_link *rc)
{
	struct rc_device *dev = rc->dev;

	rc_device_leave(rc);
	WRITE_ONCE(rc->dev, NULL);
	device_put(dev);
}

/*
 * Return a link on @port (0: any port) that has not failed yet, or NULL. Its
 * @users count is raised, so that its owner exists until the failure is
 * reported. It also gets a reference, because @users does not keep a link that
 * has no owner yet. Called with the device's lock held.
 */
static struct rc_link *device_next_untold(struct rc_device *dev, u32 port)
{
	struct rc_link *rc;

	list_for_each_entry(rc, &dev->links, dev_node) {
		if ((port && rc->port != port) ||
		    test_bit(RC_FAILED_SAID, &rc->flags))
			continue;
		/*
		 * Move it behind the links that are still to fail, so that the
		 * next call does not pass all failed links again.
		 */
		list_move_tail(&rc->dev_node, &dev->links);
		refcount_inc(&rc->refs);
		atomic_inc(&rc->users);
		return rc;
	}
	return NULL;
}

static void device_fail_links(struct rc_device *dev, u32 port, int error,
			      const char *place)
{
	struct rc_link *rc;

	spin_lock_bh(&dev->lock);
	while ((rc = device_next_untold(dev, port))) {
		spin_unlock_bh(&dev->lock);
		rc_link_fail(rc, error, place);
		/* Pairs with the acquire in link_end(). */
		atomic_dec_return_release(&rc->users);
		rc_link_put(rc);
		spin_lock_bh(&dev->lock);
	}
	spin_unlock_bh(&dev->lock);
}

/* Wake released links: the answer they wait for cannot come any more. */
static void device_wake_released(struct rc_device *dev)
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
		device_fail_links(dev, event->element.port_num, ENETDOWN,
				  ib_event_msg(event->event));
		break;
	case IB_EVENT_DEVICE_FATAL:
		device_fail_links(dev, 0, ENETDOWN, ib_event_msg(event->event));
		break;
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_GID_CHANGE:
		rc_paths_changed();
		break;
	default:
		break;
	}
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
	rc_paths_changed();
	return 0;
}

/*
 * Return whether key 0 opens all memory to a peer. It does on devices of
 * rdmavt (hfi1, qib). They have no key for local use only, so ib_core asks
 * them for a region of all memory. They give it key 0, which is its remote key
 * as well. rvt_rkey_ok() accepts that key and checks neither the protection
 * domain nor the access that the region was made for. So the peer of a
 * kernel's queue pair with remote access can read and write any memory.
 *
 * We assume it of each device that has no key for local use, so that ib_core
 * had to ask for the region, and whose region has key 0. A device that gives
 * key 0 for another reason loses RDMA and probes by this. ionic is excepted: it
 * always gives key 0, but accepts it from a peer only in domains made with
 * IB_PD_UNSAFE_GLOBAL_RKEY, and ours is not.
 */
static bool key_opens_all(const struct ib_pd *pd)
{
	const struct ib_device *ib = pd->device;

	if (ib->attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY ||
	    ib->ops.driver_id == RDMA_DRIVER_IONIC)
		return false;
	return !pd->local_dma_lkey;
}

static int device_use(struct rc_device *dev)
{
	dev->pd = ib_alloc_pd(dev->ib, 0);
	if (IS_ERR(dev->pd))
		return PTR_ERR(dev->pd);
	dev->closed = key_opens_all(dev->pd);
	if (dev->closed)
		ibdev_info(dev->ib, "sdp: key 0 gives a peer access to all memory: RDMA and probes are disabled\n");
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->links);
	INIT_LIST_HEAD(&dev->regions);
	INIT_LIST_HEAD(&dev->stuck);
	rc_reg_init(dev);
	INIT_LIST_HEAD(&dev->listeners);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->unused);
	ib_set_client_data(dev->ib, &rc_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->events, dev->ib, device_event);
	ib_register_event_handler(&dev->events);
	return device_listen(dev);
}

static int device_leave_unused(struct rc_device *dev)
{
	ibdev_info(dev->ib, "sdp: not used: %s\n", dev->lack);
	ib_set_client_data(dev->ib, &rc_client, dev);
	mutex_lock(&rc_mutex);
	list_add(&dev->node, &rc_unused);
	mutex_unlock(&rc_mutex);
	return 0;
}

static int client_add(struct ib_device *ib)
{
	struct rc_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	dev->lack = rc_device_lack(ib);
	err = dev->lack ? device_leave_unused(dev) : device_use(dev);
	if (err)
		kfree(dev);
	return err;
}

static void device_end_use(struct rc_device *dev)
{
	struct rc_listener *l, *next;

	mutex_lock(&rc_mutex);
	rc_iw_unlisten(dev);
	list_for_each_entry_safe(l, next, &dev->listeners, node)
		listener_del(l);
	mutex_unlock(&rc_mutex);
	ib_unregister_event_handler(&dev->events);

	spin_lock_bh(&dev->lock);
	WRITE_ONCE(dev->going, true);
	spin_unlock_bh(&dev->lock);
	device_fail_links(dev, 0, ENETDOWN, "device removed");
	device_wake_released(dev);
	device_put(dev);
	wait_for_completion(&dev->unused);
	rc_reg_cancel(dev);
	rc_worth_stop(dev);
	rc_mem_drop_pool(dev);
	rc_reg_stop(dev);
	ib_dealloc_pd(dev->pd);
}

static void client_remove(struct ib_device *ib, void *data)
{
	struct rc_device *dev = data;

	mutex_lock(&rc_mutex);
	list_del(&dev->node);
	mutex_unlock(&rc_mutex);
	if (!dev->lack)
		device_end_use(dev);
	kfree(dev);
}

/*
 * Return the device of @net with the lowest number from @index on in a list, if
 * its number is lower than that of @best, else @best.
 */
static struct rc_device *device_from(struct list_head *list, struct net *net,
				     u32 index, struct rc_device *best)
{
	struct rc_device *dev;

	list_for_each_entry(dev, list, node)
		if (dev->ib->index >= index &&
		    (!best || dev->ib->index < best->ib->index) &&
		    rdma_dev_access_netns(dev->ib, net))
			best = dev;
	return best;
}

/* Without a protection domain of ours we may not know what key 0 opens. */
static bool device_closed(const struct rc_device *dev)
{
	return dev->lack ? !(dev->ib->attrs.kernel_cap_flags &
			     IBK_LOCAL_DMA_LKEY) : dev->closed;
}

/**
 * sdp_rc_device_look() - describe one of the devices, used or not
 * @net: network namespace that has the device
 * @index: the device has this number, or the lowest one above it
 * @look: result
 *
 * May sleep.
 *
 * Return: false if there is none.
 */
bool sdp_rc_device_look(struct net *net, u32 index,
			struct sdp_device_look *look)
{
	struct rc_device *dev;

	mutex_lock(&rc_mutex);
	dev = device_from(&rc_devices, net, index, NULL);
	dev = device_from(&rc_unused, net, index, dev);
	if (dev)
		rc_limits_look(dev->ib, device_closed(dev), look);
	mutex_unlock(&rc_mutex);
	return dev;
}

static u32 copies;

/**
 * sdp_rc_copies() - how often has this machine been copied?
 *
 * For a connection that has no link at the moment: it must end, too.
 *
 * Return: number of times since the module was loaded.
 */
u32 sdp_rc_copies(void)
{
	return READ_ONCE(copies);
}

/**
 * rc_device_fail_all() - fail all links of all devices (vmfork.c)
 * @error: positive errno
 * @place: reason, a static string
 *
 * May sleep.
 */
void rc_device_fail_all(int error, const char *place)
{
	struct rc_device *dev;

	mutex_lock(&rc_mutex);
	WRITE_ONCE(copies, copies + 1);
	list_for_each_entry(dev, &rc_devices, node)
		device_fail_links(dev, 0, error, place);
	mutex_unlock(&rc_mutex);
}

static struct ib_client rc_client = {
	.name	= "sdp",
	.add	= client_add,
	.remove	= client_remove,
};

/**
 * rc_device_init() - register with ib_core and start to use devices
 *
 * Return: 0 or an errno.
 */
int rc_device_init(void)
{
	return ib_register_client(&rc_client);
}

/**
 * rc_device_exit() - stop using devices
 *
 * No socket uses a link any more. Waits until the last links are freed.
 */
void rc_device_exit(void)
{
	ib_unregister_client(&rc_client);
}
