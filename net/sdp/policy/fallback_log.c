// SPDX-License-Identifier: GPL-2.0
/*
 * Log of a namespace's latest fallbacks, in order and by socket inode.
 *
 * sdp_fallback_log_read() reads the log in the order of events, for the proc
 * file and netlink. sdp_fell_reason() finds the entry of one socket.
 *
 * A socket that fell back has the kernel's own proto_ops, so the policy does
 * not learn when it is closed. The log is therefore bounded by the number of
 * entries, %SDP_FELL_KEPT: a new entry replaces the oldest one. Entries are
 * allocated on demand and freed with the namespace. Without memory a fallback
 * is not logged. The policy's note_lock covers the log.
 *
 * An inode number is reused after 2^32 others. The latest entry counts then.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "policy_net.h"

#define INODE_BITS	10

/**
 * struct fell_entry - one logged fallback
 * @fell: the fallback; the entry owns its pid reference
 * @node: links the entry into sdp_fells.inodes
 */
struct fell_entry {
	struct sdp_fallback_record fell;
	struct hlist_node node;
};

/**
 * struct sdp_fells - the log of one namespace
 * @count: number of fallbacks logged so far; entries are numbered from 0
 * @ring: entries, indexed by their number modulo %SDP_FELL_KEPT
 * @inodes: the same entries, hashed by inode, latest first in each list
 */
struct sdp_fells {
	u64 count;
	struct fell_entry *ring[SDP_FELL_KEPT];
	struct hlist_head inodes[1 << INODE_BITS];
};

static struct fell_entry **fell_slot(struct sdp_fells *fells, u64 number)
{
	return &fells->ring[number % SDP_FELL_KEPT];
}

static struct hlist_head *fell_list(struct sdp_fells *fells, u64 inode)
{
	return &fells->inodes[hash_64(inode, INODE_BITS)];
}

/*
 * Logs @fell in @fresh, or in the oldest entry, whose pid is returned in @pid
 * for the caller to put. Called with note_lock held. Returns @fresh when it was
 * not used, so that the caller can free it, else NULL.
 */
static struct fell_entry *fell_enter(struct sdp_fells *fells,
				     const struct sdp_fallback_record *fell,
				     struct fell_entry *fresh, struct pid **pid)
{
	struct fell_entry **place = fell_slot(fells, fells->count);

	if (*place) {
		hlist_del(&(*place)->node);
		*pid = (*place)->fell.pid;
	} else {
		swap(*place, fresh);
	}
	if (*place) {
		(*place)->fell = *fell;
		get_pid(fell->pid);
		hlist_add_head(&(*place)->node, fell_list(fells, fell->inode));
		fells->count++;
	}
	return fresh;
}

/**
 * sdp_fallback_log_add() - log a fallback
 * @policy: policy of the socket's namespace
 * @fell: the fallback; the log takes its own reference to the pid
 *
 * Does nothing when there is no memory. May sleep.
 */
void sdp_fallback_log_add(struct sdp_policy *policy,
			  const struct sdp_fallback_record *fell)
{
	struct sdp_fells *fells = NULL;
	struct fell_entry *fresh = NULL;
	struct pid *pid = NULL;

	/*
	 * Another task may log at the same time, and what is allocated here is
	 * then not needed. It is freed below.
	 */
	if (!READ_ONCE(policy->fells))
		fells = kvzalloc(sizeof(*fells), GFP_KERNEL_ACCOUNT);
	if (sdp_fell_count(policy) < SDP_FELL_KEPT)
		fresh = kmalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	spin_lock_bh(&policy->note_lock);
	if (!policy->fells)
		swap(policy->fells, fells);
	if (policy->fells)
		fresh = fell_enter(policy->fells, fell, fresh, &pid);
	spin_unlock_bh(&policy->note_lock);
	/*
	 * Outside the lock: the last put may free the PID namespace, which
	 * takes time.
	 */
	put_pid(pid);
	kfree(fresh);
	kvfree(fells);
}

/**
 * sdp_fell_count() - number of fallbacks logged so far
 * @policy: policy of a namespace
 *
 * Return: the number of entries ever logged, which is the number that the next
 * entry gets.
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
 * sdp_fallback_log_read() - read one entry of the log
 * @policy: policy of a namespace
 * @number: number of the entry; when that entry has been replaced, set to the
 *	number of the oldest one and that one is read
 * @fell: filled in; the caller puts its pid
 *
 * Return: true when @fell is filled in, false when no entry has this number
 * yet.
 */
bool sdp_fallback_log_read(struct sdp_policy *policy, u64 *number,
			   struct sdp_fallback_record *fell)
{
	struct sdp_fells *fells;
	bool found;

	spin_lock_bh(&policy->note_lock);
	fells = policy->fells;
	found = fells && *number < fells->count;
	if (found) {
		if (fells->count - *number > SDP_FELL_KEPT)
			*number = fells->count - SDP_FELL_KEPT;
		*fell = (*fell_slot(fells, *number))->fell;
		get_pid(fell->pid);
	}
	spin_unlock_bh(&policy->note_lock);
	return found;
}

/**
 * sdp_fell_reason() - reason why a socket fell back
 * @policy: policy of the socket's namespace
 * @inode: inode number of the socket
 *
 * Return: enum sdp_fallback, or -ENODATA when the log has no entry for @inode.
 */
int sdp_fell_reason(struct sdp_policy *policy, u64 inode)
{
	struct fell_entry *fell_entry;
	int why = -ENODATA;

	spin_lock_bh(&policy->note_lock);
	if (policy->fells) {
		hlist_for_each_entry(fell_entry,
				     fell_list(policy->fells, inode), node) {
			if (fell_entry->fell.inode == inode) {
				why = fell_entry->fell.why;
				break;
			}
		}
	}
	spin_unlock_bh(&policy->note_lock);
	return why;
}

/**
 * sdp_fallback_log_free() - free the log
 * @policy: policy of a namespace that is going away; nobody else uses its log
 */
void sdp_fallback_log_free(struct sdp_policy *policy)
{
	struct fell_entry *fell_entry;
	int i;

	if (!policy->fells)
		return;
	for (i = 0; i < SDP_FELL_KEPT; i++) {
		fell_entry = policy->fells->ring[i];
		if (fell_entry)
			put_pid(fell_entry->fell.pid);
		kfree(fell_entry);
	}
	kvfree(policy->fells);
}
