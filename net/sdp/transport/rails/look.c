// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: what SDP_INFO, netlink and `sdp list -i` show of them.
 */
#include "rails.h"

/**
 * rails_look() - counts of a bundle
 * @link: link of the bundle
 * @look: to fill in
 */
void rails_look(struct sdp_link *link, struct sdp_rails_look *look)
{
	struct rails *b = to_rails(link);

	memset(look, 0, sizeof(*look));
	spin_lock_bh(&b->lock);
	look->rails = rails_count_up(b);
	look->lost = b->lost;
	look->resent = b->resent;
	look->held = b->held;
	spin_unlock_bh(&b->lock);
}

static void fill(const struct rail *rail, struct sdp_rail_look *look)
{
	const struct rails_many *m = rail->all->many;
	const char *device = rail->link->ops->device(rail->link);

	look->local = rail->local;
	look->peer = rail->peer;
	look->sent = rail->sent;
	look->received = rail->received;
	look->state = rail->up ? SDP_RAIL_ACTIVE : SDP_RAIL_JOINING;
	strscpy(look->device, device ?: "", sizeof(look->device));
	if (m && rail->up) {
		const struct sdp_rail *r = &m->state.rail[rail->number];

		look->state = r->state;
		look->pending = r->pending;
		look->speed = r->speed;
		look->srtt = r->srtt;
	}
}

/**
 * rails_look_at() - one rail of a bundle
 * @link: link of the bundle
 * @number: number of the rail
 * @look: to fill in
 *
 * Return: false if there is no such rail now.
 */
bool rails_look_at(struct sdp_link *link, u8 number, struct sdp_rail_look *look)
{
	struct rails *b = to_rails(link);
	struct rail *rail;

	memset(look, 0, sizeof(*look));
	spin_lock_bh(&b->lock);
	rail = number < SDP_RAILS_MAX ? b->rail[number] : NULL;
	if (rail)
		fill(rail, look);
	spin_unlock_bh(&b->lock);
	return rail;
}
