// SPDX-License-Identifier: GPL-2.0
/*
 * The last fall-backs of a namespace: in the order in which they happened, for who wants to see
 * them, and by the socket's inode, for who asks about a socket.
 *
 * A socket that fell back has the kernel's own calls, and nobody tells us when it ends. So what
 * is kept is bounded by its number, %SDP_FELL_KEPT: the oldest makes room for the next. Memory is
 * taken when it is needed, and given back with the namespace, to which it belongs; without
 * memory a note is lost. All of it is covered by the policy's note_lock.
 *
 * An inode's number comes again after 2^32 others: then the younger note is the one.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "policy_net.h"

#define INODE_BITS	10

/**
 * struct kept - one of them
 * @fell: the fall-back
 * @node: by its inode
 */
struct kept {
	struct sdp_fell fell;
	struct hlist_node node;
};

/**
 * struct sdp_fells - all that are kept
 * @count: so many have been kept, ever; each has a number, from 0
 * @ring: each in the place that its number says
 * @inodes: the same, the youngest first
 */
struct sdp_fells {
	u64 count;
	struct kept *ring[SDP_FELL_KEPT];
	struct hlist_head inodes[1 << INODE_BITS];
};

static struct kept **place_of(struct sdp_fells *fells, u64 number)
{
	return &fells->ring[number % SDP_FELL_KEPT];
}

static struct hlist_head *list_of(struct sdp_fells *fells, u64 inode)
{
	return &fells->inodes[hash_64(inode, INODE_BITS)];
}

/*
 * In a fresh place, or in that of the oldest, whose process is left in @pid; under the lock.
 * Returns what it did not need.
 */
static struct kept *enter(struct sdp_fells *fells, const struct sdp_fell *fell,
			  struct kept *fresh, struct pid **pid)
{
	struct kept **place = place_of(fells, fells->count);

	if (*place) {
		hlist_del(&(*place)->node);
		*pid = (*place)->fell.pid;
	} else {
		swap(*place, fresh);
	}
	if (*place) {
		(*place)->fell = *fell;
		get_pid(fell->pid);
		hlist_add_head(&(*place)->node, list_of(fells, fell->inode));
		fells->count++;
	}
	return fresh;
}

/**
 * sdp_fell_keep() - keep one more
 * @policy: of the socket's namespace
 * @fell: the fall-back
 *
 * May sleep.
 */
void sdp_fell_keep(struct sdp_policy *policy, const struct sdp_fell *fell)
{
	struct sdp_fells *fells = NULL;
	struct kept *fresh = NULL;
	struct pid *pid = NULL;

	/* More than is needed, perhaps, by others who are at it: then it is given back. */
	if (!READ_ONCE(policy->fells))
		fells = kvzalloc(sizeof(*fells), GFP_KERNEL_ACCOUNT);
	if (sdp_fell_count(policy) < SDP_FELL_KEPT)
		fresh = kmalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	spin_lock_bh(&policy->note_lock);
	if (!policy->fells)
		swap(policy->fells, fells);
	if (policy->fells)
		fresh = enter(policy->fells, fell, fresh, &pid);
	spin_unlock_bh(&policy->note_lock);
	/* Its namespace may go with it, which takes time. */
	put_pid(pid);
	kfree(fresh);
	kvfree(fells);
}

/**
 * sdp_fell_count() - how many have been kept, ever
 * @policy: of a namespace
 *
 * Return: the number that the next one will have.
 */
u64 sdp_fell_count(struct sdp_policy *policy)
{
	u64 count = 0;

	spin_lock_bh(&policy->note_lock);
	if (policy->fells)
		count = policy->fells->count;
	spin_unlock_bh(&policy->note_lock);
	return count;
}

/**
 * sdp_fell_at() - one of those that are kept
 * @policy: of a namespace
 * @number: its number; if it is not kept any more, the oldest that is
 * @fell: filled in; its pid with a reference of its own
 *
 * Return: false when there is none of that number yet.
 */
bool sdp_fell_at(struct sdp_policy *policy, u64 *number, struct sdp_fell *fell)
{
	struct sdp_fells *fells;
	bool found;

	spin_lock_bh(&policy->note_lock);
	fells = policy->fells;
	found = fells && *number < fells->count;
	if (found) {
		if (fells->count - *number > SDP_FELL_KEPT)
			*number = fells->count - SDP_FELL_KEPT;
		*fell = (*place_of(fells, *number))->fell;
		get_pid(fell->pid);
	}
	spin_unlock_bh(&policy->note_lock);
	return found;
}

/**
 * sdp_fell_reason() - why did a socket fall back?
 * @policy: of its namespace
 * @inode: of the socket
 *
 * Return: enum sdp_fallback, or -ENODATA when nothing is known of it.
 */
int sdp_fell_reason(struct sdp_policy *policy, u64 inode)
{
	struct kept *kept;
	int why = -ENODATA;

	spin_lock_bh(&policy->note_lock);
	if (policy->fells) {
		hlist_for_each_entry(kept, list_of(policy->fells, inode),
				     node) {
			if (kept->fell.inode == inode) {
				why = kept->fell.why;
				break;
			}
		}
	}
	spin_unlock_bh(&policy->note_lock);
	return why;
}

/**
 * sdp_fell_end() - forget all of them
 * @policy: of a namespace that goes
 */
void sdp_fell_end(struct sdp_policy *policy)
{
	struct kept *kept;
	int i;

	if (!policy->fells)
		return;
	for (i = 0; i < SDP_FELL_KEPT; i++) {
		kept = policy->fells->ring[i];
		if (kept)
			put_pid(kept->fell.pid);
		kfree(kept);
	}
	kvfree(policy->fells);
}
