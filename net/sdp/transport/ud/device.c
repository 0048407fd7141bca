// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: RDMA devices and their ports.
 *
 * We register one client with ib_core. A port gets its queue pairs when a link
 * or a request of a peer uses it for the first time, and keeps them until the
 * device is removed. Only ports of RoCE v2 are used.
 *
 * Removal of a device: client_remove() refuses new links (@going), fails every
 * link, waits until the last one has detached, and destroys the queue pairs.
 *
 * Locks: ud_mutex covers ud_devices, ud_device.mutex the ports of a device and
 * their receives, and ud_device.lock its links.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "ud.h"

/* Interval at which client_remove() looks whether links are left. */
#define LINKS_WAIT_MS	10

static DEFINE_MUTEX(ud_mutex);
static LIST_HEAD(ud_devices);

/* Has a queue pair of the device room for ours? */
static bool queues_fit(const struct ib_device *ib)
{
	return ib->attrs.max_recv_sge >= UD_RX_PIECES &&
	       ib->attrs.max_qp_wr >= UD_TX_SLOTS &&
	       ib->attrs.max_cqe >= UD_TX_SLOTS + UD_RX_LEAST;
}

/* May connections by datagrams use this port? */
static bool port_usable(struct ib_device *ib, u32 number)
{
	return rdma_protocol_roce_udp_encap(ib, number) &&
	       rdma_cap_ib_cm(ib, number) && queues_fit(ib) && sdp_rc_uses(ib);
}

static void purge(struct list_head *list)
{
	struct ud_ask *ask, *next;

	list_for_each_entry_safe(ask, next, list, node)
		kfree(ask);
}

static void port_free(struct ud_port *port)
{
	u32 i;

	for (i = 0; i < port->qps; i++)
		ud_qp_end(&port->qp[i]);
	cancel_work_sync(&port->ask_work);
	cancel_work_sync(&port->show_work);
	purge(&port->asks);
	purge(&port->shows);
	if (!IS_ERR_OR_NULL(port->pd))
		ib_dealloc_pd(port->pd);
	kvfree(port);
}

/* From now on the port receives nothing, and its work item does not run. */
static void port_stop(struct ud_port *port)
{
	u32 i;

	for (i = 0; i < port->qps; i++)
		ud_qp_stop(&port->qp[i]);
	cancel_work_sync(&port->ask_work);
	cancel_work_sync(&port->show_work);
}

static int port_fill(struct ud_port *port, u32 qps)
{
	struct ib_port_attr attr;
	int err;
	u32 i;

	err = ib_query_port(port->dev->ib, port->number, &attr);
	if (err)
		return err;
	port->size = ib_mtu_enum_to_int(attr.active_mtu);
	port->pd = ib_alloc_pd(port->dev->ib, 0);
	if (IS_ERR(port->pd))
		return PTR_ERR(port->pd);
	while (port->qps < qps) {
		err = ud_qp_make(&port->qp[port->qps], port, port->qps);
		port->qps++;
		if (err)
			return err;
	}
	/* Only now: what arrives may use the port. */
	for (i = 0; i < port->qps; i++)
		ud_qp_grow(&port->qp[i], UD_RX_LEAST);
	return 0;
}

/* Under ud_device.mutex. */
static struct ud_port *port_make(struct ud_device *dev, u32 number)
{
	struct ud_port *port = kvzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->dev = dev;
	port->number = number;
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->asks);
	INIT_LIST_HEAD(&port->shows);
	INIT_WORK(&port->ask_work, ud_handlers->ask_work);
	INIT_WORK(&port->show_work, ud_handlers->show_work);
	if (!port_fill(port, min_t(u32, SDP_SERVICE_QPS_MAX,
				   num_online_cpus())))
		return port;
	port_free(port);
	return NULL;
}

static struct ud_port *port_of(struct ud_device *dev, u32 number)
{
	struct ud_port *port;

	if (!port_usable(dev->ib, number))
		return NULL;
	mutex_lock(&dev->mutex);
	port = dev->ports[number - 1];
	if (!port && !READ_ONCE(dev->going)) {
		port = port_make(dev, number);
		dev->ports[number - 1] = port;
	}
	mutex_unlock(&dev->mutex);
	return port;
}

/**
 * ud_port_get() - a port of a device, with its queue pairs
 * @ib: device
 * @number: number of the port
 *
 * May sleep.
 *
 * Return: the port, with a reference to its device, for ud_port_put(); NULL if
 * it cannot be used.
 */
struct ud_port *ud_port_get(struct ib_device *ib, u32 number)
{
	struct ud_device *dev, *found = NULL;
	struct ud_port *port;

	mutex_lock(&ud_mutex);
	list_for_each_entry(dev, &ud_devices, node) {
		if (dev->ib == ib) {
			refcount_inc(&dev->refs);
			found = dev;
		}
	}
	mutex_unlock(&ud_mutex);
	if (!found)
		return NULL;
	port = port_of(found, number);
	if (!port)
		ud_device_put(found);
	return port;
}

/**
 * sdp_ud_has_device() - can connections by datagrams use a device?
 * @index: ib_core's number of the device
 *
 * May sleep.
 *
 * Return: true if they can, by one of its ports.
 */
bool sdp_ud_has_device(u32 index)
{
	struct ud_device *dev;
	bool found = false;

	mutex_lock(&ud_mutex);
	list_for_each_entry(dev, &ud_devices, node)
		found |= dev->ib->index == index;
	mutex_unlock(&ud_mutex);
	return found;
}

/* A random number that no link of the port has. Under ud_port.lock. */
static u32 choose_id(struct ud_port *port)
{
	struct ud_link *other;
	bool taken;
	u32 id;

	do {
		id = get_random_u32();
		taken = !id;
		hlist_for_each_entry(other, &port->by_id[id % UD_BUCKETS],
				     id_node)
			taken |= other->id == id;
	} while (taken);
	return id;
}

/**
 * ud_port_attach() - attach a link to a port
 * @port: port; the link holds a reference to its device until ud_port_detach()
 * @qp: queue pair of the port
 * @l: link; its number is chosen
 *
 * May sleep.
 *
 * Return: false when the device is being removed.
 */
bool ud_port_attach(struct ud_port *port, struct ud_qp *qp, struct ud_link *l)
{
	struct ud_device *dev = port->dev;
	u32 links;
	bool ok;

	spin_lock_bh(&dev->lock);
	ok = !dev->going;
	if (ok) {
		refcount_inc(&dev->refs);
		list_add(&l->dev_node, &dev->links);
	}
	spin_unlock_bh(&dev->lock);
	if (!ok)
		return false;
	l->qp = qp;
	l->first = get_random_u32();
	spin_lock_bh(&port->lock);
	l->id = choose_id(port);
	hlist_add_head_rcu(&l->id_node, &port->by_id[l->id % UD_BUCKETS]);
	if (l->their_id)
		hlist_add_head(&l->peer_node,
			       &port->by_peer[l->their_id % UD_BUCKETS]);
	WRITE_ONCE(l->port, port);
	spin_unlock_bh(&port->lock);
	links = atomic_inc_return(&qp->links);
	ud_qp_grow(qp, UD_RX_LEAST + UD_RX_PER_LINK * links);
	return true;
}

/**
 * ud_port_detach() - detach a link that sends and receives nothing any more
 * @l: link that is attached to a port
 */
void ud_port_detach(struct ud_link *l)
{
	struct ud_port *port = l->port;
	struct ud_device *dev = port->dev;

	spin_lock_bh(&port->lock);
	hlist_del_rcu(&l->id_node);
	if (!hlist_unhashed(&l->peer_node))
		hlist_del_init(&l->peer_node);
	spin_unlock_bh(&port->lock);
	atomic_dec(&l->qp->links);
	spin_lock_bh(&dev->lock);
	list_del_init(&l->dev_node);
	spin_unlock_bh(&dev->lock);
	ud_device_put(dev);
}

/*
 * A link on @port (0: any port) that has not failed yet, with a reference; or
 * NULL. Under ud_device.lock.
 */
static struct ud_link *next_untold(struct ud_device *dev, u32 port)
{
	struct ud_link *l;

	list_for_each_entry(l, &dev->links, dev_node) {
		if ((port && l->peer->port->number != port) ||
		    test_bit(UD_FAILED_SAID, &l->flags))
			continue;
		list_move_tail(&l->dev_node, &dev->links);
		refcount_inc(&l->refs);
		return l;
	}
	return NULL;
}

/* @mute: nothing more can or may be sent, not even a Reset. */
static void device_fail_links(struct ud_device *dev, u32 port, int error,
			      const char *place, bool mute)
{
	struct ud_link *l;

	spin_lock_bh(&dev->lock);
	while ((l = next_untold(dev, port))) {
		spin_unlock_bh(&dev->lock);
		spin_lock_bh(&l->lock);
		l->dead |= mute;
		spin_unlock_bh(&l->lock);
		ud_link_fail(l, error, place);
		/* A released link has nothing more to wait for. */
		ud_link_wake(l);
		ud_link_put(l);
		spin_lock_bh(&dev->lock);
	}
	spin_unlock_bh(&dev->lock);
}

static void device_event(struct ib_event_handler *handler,
			 struct ib_event *event)
{
	struct ud_device *dev = container_of(handler, struct ud_device, events);

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
		device_fail_links(dev, event->element.port_num, ENETDOWN,
				  ib_event_msg(event->event), true);
		break;
	case IB_EVENT_DEVICE_FATAL:
		device_fail_links(dev, 0, ENETDOWN, ib_event_msg(event->event),
				  true);
		break;
	default:
		break;
	}
}

static struct ib_client ud_client;

static int client_add(struct ib_device *ib)
{
	struct ud_device *dev;
	bool usable = false;
	u32 number;

	rdma_for_each_port(ib, number)
		usable |= port_usable(ib, number);
	if (!usable)
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ports = kcalloc(ib->phys_port_cnt, sizeof(*dev->ports),
			     GFP_KERNEL);
	if (!dev->ports) {
		kfree(dev);
		return -ENOMEM;
	}
	dev->ib = ib;
	mutex_init(&dev->mutex);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->links);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->unused);
	ib_set_client_data(ib, &ud_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->events, ib, device_event);
	ib_register_event_handler(&dev->events);
	mutex_lock(&ud_mutex);
	list_add(&dev->node, &ud_devices);
	mutex_unlock(&ud_mutex);
	return 0;
}

/* Their owners have been told, and release them. Each link sends a Reset. */
static void await_links(struct ud_device *dev)
{
	bool none;

	for (;;) {
		spin_lock_bh(&dev->lock);
		none = list_empty(&dev->links);
		spin_unlock_bh(&dev->lock);
		if (none)
			return;
		msleep(LINKS_WAIT_MS);
	}
}

static void client_remove(struct ib_device *ib, void *data)
{
	struct ud_device *dev = data;
	u32 i;

	mutex_lock(&ud_mutex);
	list_del(&dev->node);
	mutex_unlock(&ud_mutex);
	ib_unregister_event_handler(&dev->events);
	spin_lock_bh(&dev->lock);
	WRITE_ONCE(dev->going, true);
	spin_unlock_bh(&dev->lock);
	device_fail_links(dev, 0, ENETDOWN, "device removed", false);
	await_links(dev);
	/* Afterwards a port that was being made is there; no other is made. */
	mutex_lock(&dev->mutex);
	mutex_unlock(&dev->mutex);
	/* Datagrams in flight have references to peers, and these to @dev. */
	for (i = 0; i < ib->phys_port_cnt; i++) {
		if (dev->ports[i])
			port_stop(dev->ports[i]);
	}
	ud_device_put(dev);
	wait_for_completion(&dev->unused);
	for (i = 0; i < ib->phys_port_cnt; i++) {
		if (dev->ports[i])
			port_free(dev->ports[i]);
	}
	kfree(dev->ports);
	kfree(dev);
}

/**
 * ud_device_fail_all() - fail all links of all devices
 * @error: positive errno
 * @place: reason, a static string
 *
 * May sleep.
 */
void ud_device_fail_all(int error, const char *place)
{
	struct ud_device *dev;

	mutex_lock(&ud_mutex);
	list_for_each_entry(dev, &ud_devices, node)
		device_fail_links(dev, 0, error, place, true);
	mutex_unlock(&ud_mutex);
}

static struct ib_client ud_client = {
	.name	= "sdp_ud",
	.add	= client_add,
	.remove	= client_remove,
};

/**
 * ud_device_init() - register with ib_core
 *
 * Return: 0 or an errno.
 */
int ud_device_init(void)
{
	return ib_register_client(&ud_client);
}

/**
 * ud_device_exit() - stop using devices
 *
 * No socket uses a link any more. Waits until the last links are freed.
 */
void ud_device_exit(void)
{
	ib_unregister_client(&ud_client);
}
