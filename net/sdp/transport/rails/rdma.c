// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: RDMA.
 *
 * With several rails, memory that is read is mapped on each of them. SrcAvail
 * has a key of each (SDP_FLAG_KEYS), and the side that reads shares the
 * transfer out (proto/stripe.h): each rail reads one piece at a time, into its
 * place. When the last piece is there the owner is told, as of a read by a
 * single link.
 *
 * A rail that dies is drained (rc/link.c). Until then its adapter may still
 * write to our memory, so its piece goes to another rail only after that. If no
 * rail is left that could read a piece, the read has failed and can be repeated
 * (-EAGAIN): the peer then sends the bytes in messages. What a dead rail has
 * mapped is unmapped by a work item, for the removal of its device waits for
 * that.
 *
 * RDMA writes are for a single rail. A write that the peer's adapter has
 * acknowledged need not be in the peer's memory yet. Only a later message by
 * the same queue pair shows that it is, and the report of a write by several
 * rails would come by one of them.
 *
 * Locks: struct rails.lock covers which rails have mapped what, and a struct
 * rails_mem while a move is in flight. struct rails.mems_lock covers the list
 * of memory, and is held while what a dead rail has mapped is unmapped. It is
 * taken before rails.lock.
 */
#include <linux/slab.h>

#include "../../base/trace.h"
#include "../../proto/stripe.h"
#include "rails.h"

/*
 * Reads that did not move their data (rc/rxe_read_check.c) are repeated so
 * often in all.
 */
#define RAILS_VOIDS	8

/**
 * struct rail_map - memory as one rail has mapped it
 * @all: the memory; NULL if this rail has never mapped it
 * @link: link of the rail, in use also when it has died; NULL if it has not
 *	mapped the memory
 * @mem: what the link has made of it
 * @number: number of the rail
 * @attempt: which rail of this number it is
 * @since: when its piece was posted (jiffies)
 */
struct rail_map {
	struct rails_mem *all;
	struct sdp_link *link;
	struct sdp_mem *mem;
	u8 number;
	u8 attempt;
	unsigned long since;
};

/**
 * struct rails_mem - memory that is mapped for RDMA
 * @mem: what the owner sees
 * @node: entry in rails.mems
 * @bundle: the bundle, in use
 * @read: it is for reads
 * @on: the rails
 * @remote: the peer's memory that is being read or written
 * @keys: its keys
 * @stripe: which rail moves which part
 * @voids: number of pieces that a rail has not read although it said so
 */
struct rails_mem {
	struct sdp_mem mem;
	struct list_head node;
	struct rails *bundle;
	bool read;
	struct rail_map on[SDP_RAILS_MAX];
	struct sdp_region remote;
	struct sdp_rail_keys keys;
	struct sdp_stripe stripe;
	u32 voids;
};

static struct rails_mem *to_rails_mem(struct sdp_mem *mem)
{
	return container_of(mem, struct rails_mem, mem);
}

/*
 * The rail that has mapped memory, if it has not died since; under the lock of
 * the bundle.
 */
static struct rail *rail_of(const struct rail_map *map)
{
	struct rail *rail;

	if (!map->link)
		return NULL;
	rail = map->all->bundle->rail[map->number];
	return rail && rail->link == map->link && rail->up && !rail->leaving ?
	       rail : NULL;
}

static bool is_busy(const struct rail_map *map)
{
	return map->all->stripe.busy & BIT(map->number);
}

/*
 * Use the links of all rails that are up. With a single one, this is the first.
 * Returns how many there are; *@many: the peer is to get a key for each.
 */
static u32 use_links(struct rails_mem *rm, bool *many)
{
	struct rails *b = rm->bundle;
	u32 i, n = 0;

	spin_lock_bh(&b->lock);
	*many = b->many;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];

		if (!rail || !rail->up || (i && !b->many))
			continue;
		rm->on[i].all = rm;
		rm->on[i].link = rail->link;
		rm->on[i].number = i;
		rm->on[i].attempt = rail->attempt;
		sdp_rc.use(rail->link);
		n++;
	}
	spin_unlock_bh(&b->lock);
	return n;
}

static void unuse_link(struct rail_map *map)
{
	sdp_rc.unuse(map->link);
	map->link = NULL;
}

/*
 * Map @pages on all rails that can do so, or on the first of these only.
 * Returns 0, or an errno if there is none.
 */
static int map_on(struct rails_mem *rm, const struct sdp_pages *pages,
		  bool first)
{
	int err = -ENETDOWN;
	u64 va = 0;
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail_map *map = &rm->on[i];
		struct sdp_mem *mem;

		if (!map->link)
			continue;
		mem = first ? sdp_rc.map(map->link, pages) :
			      sdp_rc_map_shared(map->link, pages, va);
		if (IS_ERR(mem)) {
			if (err)
				err = PTR_ERR(mem);
			continue;
		}
		err = 0;
		map->mem = mem;
		va = mem->region.va;
		if (first)
			break;
	}
	return err;
}

/* Tell what the peer needs to read the memory: a key, or one for each rail. */
static void fill_region(struct rails_mem *rm, u32 len, bool many)
{
	struct sdp_mem *mem = &rm->mem;
	u32 i;

	mem->region.len = len;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail_map *map = &rm->on[i];

		if (!map->mem)
			continue;
		mem->region.va = map->mem->region.va;
		if (!many) {
			mem->region.rkey = map->mem->region.rkey;
			return;
		}
		mem->keys.rails |= BIT(i);
		mem->keys.attempt[i] = map->attempt;
		mem->keys.rkey[i] = map->mem->region.rkey;
	}
}

/* Has a rail died that has mapped the memory? */
static bool any_left(const struct rails_mem *rm)
{
	bool left = false;
	u32 i;

	spin_lock_bh(&rm->bundle->lock);
	for (i = 0; i < SDP_RAILS_MAX; i++)
		left |= rm->on[i].link && !rail_of(&rm->on[i]);
	spin_unlock_bh(&rm->bundle->lock);
	return left;
}

/**
 * rails_map() - map memory on the rails of a bundle
 * @link: link of the bundle; the caller has called use()
 * @pages: pages, range and purpose
 *
 * May sleep.
 *
 * Return: the memory, or an ERR_PTR; -EOPNOTSUPP for writes, and memory to
 * write to, with several rails.
 */
struct sdp_mem *rails_map(struct sdp_link *link, const struct sdp_pages *pages)
{
	struct rails_mem *rm = kzalloc(sizeof(*rm), GFP_KERNEL);
	struct rails *b = to_rails(link);
	bool many;
	int err;
	u32 i, n;

	if (!rm)
		return ERR_PTR(-ENOMEM);
	rm->bundle = b;
	rm->read = pages->use == SDP_MEM_READ_INTO;
	rm->mem.settled = true;
	init_completion(&rm->mem.done);
	n = use_links(rm, &many);
	if (many && !rm->read && pages->use != SDP_MEM_PEER_READS)
		err = -EOPNOTSUPP;
	else
		err = map_on(rm, pages, n == 1);
	/* Pages that several devices cannot write to at once. */
	if (err == -EOPNOTSUPP && rm->read && n > 1)
		err = map_on(rm, pages, true);
	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (rm->on[i].link && !rm->on[i].mem)
			unuse_link(&rm->on[i]);
	if (err) {
		kfree(rm);
		return ERR_PTR(err);
	}
	fill_region(rm, pages->len, many);
	mutex_lock(&b->mems_lock);
	list_add(&rm->node, &b->mems);
	mutex_unlock(&b->mems_lock);
	if (any_left(rm))
		rails_rdma_drop(b);
	return &rm->mem;
}

/* Unmap what one rail has mapped. */
static void unmap_one(struct rail_map *map, bool settled)
{
	map->mem->settled = settled;
	sdp_rc.unmap(map->link, map->mem);
	sdp_rc.unuse(map->link);
}

/**
 * rails_unmap() - end the peer's access to memory, on all rails, and unmap it
 * @link: link of the bundle; the caller has called use()
 * @mem: from rails_map(); no move uses it
 *
 * May sleep.
 */
void rails_unmap(struct sdp_link *link, struct sdp_mem *mem)
{
	struct rails_mem *rm = to_rails_mem(mem);
	u32 i;

	mutex_lock(&rm->bundle->mems_lock);
	list_del(&rm->node);
	mutex_unlock(&rm->bundle->mems_lock);
	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (rm->on[i].link)
			unmap_one(&rm->on[i], mem->settled);
	kfree(rm);
}

/**
 * rails_rdma_drop() - unmap what rails have mapped that have died, soon
 * @b: bundle
 *
 * Callable from any context.
 */
void rails_rdma_drop(struct rails *b)
{
	refcount_inc(&b->refs);
	if (!queue_work(rails_wq, &b->drop))
		rails_put(b);
}

/*
 * If its rail has died, and moves nothing any more, take the map over to @left.
 * Returns false if it is none of these.
 */
static bool take_left(struct rails *b, struct rail_map *map,
		      struct rail_map *left)
{
	bool take;

	spin_lock_bh(&b->lock);
	take = map->link && !rail_of(map) && !is_busy(map);
	if (take) {
		*left = *map;
		map->link = NULL;
		map->mem = NULL;
	}
	spin_unlock_bh(&b->lock);
	return take;
}

/**
 * rails_drop_work() - work item: unmap what dead rails have mapped
 * @work: struct rails.drop; it has a reference to the bundle
 *
 * A program may keep memory mapped for as long as its peer does not read. The
 * peer may still know the keys, so the memory is not settled.
 */
void rails_drop_work(struct work_struct *work)
{
	struct rails *b = container_of(work, struct rails, drop);
	struct rail_map left;
	struct rails_mem *rm;
	u32 i;

	mutex_lock(&b->mems_lock);
	list_for_each_entry(rm, &b->mems, node) {
		for (i = 0; i < SDP_RAILS_MAX; i++)
			if (take_left(b, &rm->on[i], &left))
				unmap_one(&left, false);
	}
	mutex_unlock(&b->mems_lock);
	rails_put(b);
}

/* Can a rail take part? A key of an earlier rail of this number does not do. */
static bool takes_part(const struct rail_map *map)
{
	const struct sdp_rail_keys *keys;

	if (!rail_of(map))
		return false;
	keys = &map->all->keys;
	if (!keys->rails)
		return !map->number;
	return (keys->rails & BIT(map->number)) &&
	       keys->attempt[map->number] == map->attempt && map->link->reads;
}

static u8 rails_taking_part(const struct rails_mem *rm)
{
	u8 rails = 0;
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (takes_part(&rm->on[i]))
			rails |= BIT(i);
	return rails;
}

/* Those of the rails that make progress; or all, if none is known to. */
static u8 rails_in_health(const struct rails_mem *rm, u8 rails)
{
	const struct rails_many *m = rm->bundle->many;
	u8 good = 0;
	u32 i;

	for (i = 0; m && i < SDP_RAILS_MAX; i++)
		if (m->state.rail[i].state == SDP_RAIL_ACTIVE)
			good |= rails & BIT(i);
	return good ?: rails;
}

static void piece_ended(struct sdp_mem *mem);

/* Begin to move the piece that a rail has. */
static bool post_piece(struct rail_map *map)
{
	struct rails_mem *rm = map->all;
	const struct sdp_stripe_piece *p = &rm->stripe.piece[map->number];
	struct sdp_region remote = {
		.len = p->len,
		.rkey = rm->keys.rails ? rm->keys.rkey[map->number] :
					 rm->remote.rkey,
		.va = rm->remote.va + p->at,
	};

	map->mem->ended = piece_ended;
	map->mem->arg = map;
	map->mem->skip = rm->mem.skip + p->at;
	map->since = jiffies;
	if (sdp_rc.move(map->link, map->mem, &remote, NULL))
		return true;
	/* unmap() waits for the part of a write that has been posted. */
	map->mem->ended = NULL;
	return false;
}

/* Give pieces to all rails that have none; under the lock. */
static void share_out(struct rails_mem *rm)
{
	u8 good;
	u32 i;

	/* One that has died has to end the piece that it has. */
	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (!rail_of(&rm->on[i]))
			rm->stripe.rails &= ~BIT(i) | rm->stripe.busy;
	good = rails_in_health(rm, rm->stripe.rails);
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (!(good & BIT(i)) || !rail_of(&rm->on[i]) ||
		    !sdp_stripe_take(&rm->stripe, i))
			continue;
		if (!post_piece(&rm->on[i]))
			sdp_stripe_failed(&rm->stripe, i, false);
	}
}

/*
 * How long may a piece of the rail take from now on (jiffies)? Much longer than
 * the last one. The limit falls slowly, and rises when a rail has exceeded it:
 * one that is only slow is not given up again and again.
 */
static void note_time(struct rails *b, u8 number, unsigned long took)
{
	unsigned long *limit = &b->piece_limit[number];

	*limit = max(*limit - *limit / 8, 4 * took);
}

/* Note how the move of a piece has ended; under the lock. */
static void note_piece(struct rail_map *map, int error)
{
	struct rails_mem *rm = map->all;
	struct rails *b = rm->bundle;
	struct rail *rail = rail_of(map);
	u32 len = rm->stripe.piece[map->number].len;

	/* It has died meanwhile, with the piece to be awaited. */
	if (b->many && !rail)
		rails_rdma_drop(b);
	if (error) {
		bool again = error == -EAGAIN && rm->voids++ < RAILS_VOIDS;

		SDP_ADD(b->net, RailPiecesAgain, !!b->many);
		sdp_stripe_failed(&rm->stripe, map->number, again);
		return;
	}
	sdp_stripe_moved(&rm->stripe, map->number);
	SDP_ADD(b->net, RailPieces, !!b->many);
	note_time(b, map->number, jiffies - map->since);
	if (rail && rm->read)
		rail->received += len;
	else if (rail)
		rail->sent += len;
}

/* Result of the whole move. @error is that of the last piece. */
static int result(const struct rails_mem *rm, int error)
{
	const struct rails *b = rm->bundle;

	if (sdp_stripe_complete(&rm->stripe))
		return 0;
	/* A rail has died, not the connection: it does without the read. */
	if (rm->read && b->many && !b->released && !b->error)
		return -EAGAIN;
	return error ?: -EIO;
}

/* The move of a piece has ended; any context. */
static void piece_ended(struct sdp_mem *mem)
{
	struct rail_map *map = mem->arg;
	struct rails_mem *rm = map->all;
	struct rails *b = rm->bundle;
	bool over;

	spin_lock_bh(&b->lock);
	note_piece(map, mem->error);
	share_out(rm);
	over = !rm->stripe.busy;
	if (over) {
		rm->mem.error = result(rm, mem->error);
		if (rm->read)
			b->reading = NULL;
	}
	spin_unlock_bh(&b->lock);
	if (!over)
		return;
	if (rm->read)
		b->link.up->read(&b->link, rm->mem.error);
	if (rm->mem.ended)
		rm->mem.ended(&rm->mem);
	else
		complete(&rm->mem.done);
}

/* Begin a move by these rails; under the lock. Returns false if none began. */
static bool begin(struct rails_mem *rm, u8 rails)
{
	struct rails *b = rm->bundle;

	if (!rails)
		return false;
	rm->voids = 0;
	sdp_stripe_begin(&rm->stripe, rm->remote.len, rails,
			 b->many ? SDP_STRIPE_MAX : rm->remote.len);
	share_out(rm);
	if (!rm->stripe.busy)
		return false;
	if (rm->read)
		b->reading = rm;
	else
		b->unreported = true;
	rails_watch_start(b);
	return true;
}

/**
 * rails_move() - read from the peer's memory, or write to it
 * @link: link of the bundle; under its owner's lock
 * @mem: our memory
 * @remote: the peer's memory
 * @keys: its keys for several rails, or NULL
 *
 * Return: true when the move will complete @mem; false when it cannot be begun,
 * and nothing has happened. No write can, with several rails.
 */
bool rails_move(struct sdp_link *link, struct sdp_mem *mem,
		const struct sdp_region *remote,
		const struct sdp_rail_keys *keys)
{
	struct rails_mem *rm = to_rails_mem(mem);
	struct rails *b = to_rails(link);
	bool moves = false;

	spin_lock_bh(&b->lock);
	rm->remote = *remote;
	memset(&rm->keys, 0, sizeof(rm->keys));
	if (keys)
		rm->keys = *keys;
	if (!b->many || rm->read)
		moves = begin(rm, rails_taking_part(rm));
	spin_unlock_bh(&b->lock);
	return moves;
}

/**
 * rails_rdma_late() - a rail that has not read its piece for too long
 * @b: bundle with several rails; under its lock
 *
 * The last one is not judged: its queue pair gives up by itself. The next rail
 * of this number gets more time.
 *
 * Return: the rail, which the connection can spare; or NULL.
 */
struct rail *rails_rdma_late(struct rails *b)
{
	const struct rails_mem *rm = b->reading;
	unsigned long limit;
	u32 i;

	for (i = 0; rm && i < SDP_RAILS_MAX; i++) {
		const struct rail_map *map = &rm->on[i];
		struct rail *rail = rail_of(map);

		limit = max_t(unsigned long, RAILS_PIECE, b->piece_limit[i]);
		if (!rail || !is_busy(map) ||
		    time_before_eq(jiffies, map->since + limit) ||
		    !sdp_rails_may_spare(&b->many->state, i))
			continue;
		b->piece_limit[i] = min_t(unsigned long, 2 * limit,
					  RAILS_RETRY_LAST);
		return rail;
	}
	return NULL;
}

/**
 * rails_rdma_excuse() - this machine has stood still, so no rail is late
 * @b: bundle; under its lock
 */
void rails_rdma_excuse(struct rails *b)
{
	u32 i;

	for (i = 0; b->reading && i < SDP_RAILS_MAX; i++)
		b->reading->on[i].since = jiffies;
}
