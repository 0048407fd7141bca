// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: from what size on memory is worth an RDMA transfer, measured (B1).
 *
 * It saves a copy at either end, and costs a registration and messages that copied bytes do not
 * need. How long a registration takes is the device's; how long a copy takes, the machine's. Both
 * are measured when the device's queue pair for registrations is made, so the first connections
 * of a device have a guess instead.
 */
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "rc.h"

#define PROBE_ORDER	4
#define PROBE_PAGES	(1 << PROBE_ORDER)
#define PROBE_BYTES	(PROBE_PAGES * PAGE_SIZE)
/* The shortest of so many counts: nothing came between. */
#define ROUNDS		16
/* Whatever is measured. */
#define WORTH_MIN	16384
#define WORTH_MAX	SDP_MEM_MAX

/* Nanoseconds, or 0 when it cannot be. */
static u64 registration(struct rc_device *dev, struct page *first)
{
	struct page *list[PROBE_PAGES];
	struct sdp_pages pages = {
		.pages = list, .n = PROBE_PAGES, .len = PROBE_BYTES, .use = SDP_MEM_WRITE_FROM,
	};
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < PROBE_PAGES; i++)
		list[i] = first + i;
	for (i = 0; i < ROUNDS; i++) {
		u64 begun = ktime_get_ns();

		if (rc_mem_try(dev, &pages))
			return 0;
		best = min(best, ktime_get_ns() - begun);
	}
	return best;
}

static u64 copy(void *to, const void *from)
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		u64 begun = ktime_get_ns();

		memcpy(to, from, PROBE_BYTES);
		best = min(best, ktime_get_ns() - begun);
	}
	return max(best, 1ULL);
}

/*
 * Two copies of n bytes take as long as a registration and, about as much again, the messages
 * and wake-ups that belong to it.
 */
static void measure(struct work_struct *work)
{
	struct rc_device *dev =
		container_of(work, struct rc_device, worth_work);
	struct page *to, *from;
	u64 reg, copied, worth;

	to = alloc_pages(GFP_KERNEL | __GFP_NOWARN, PROBE_ORDER);
	from = alloc_pages(GFP_KERNEL | __GFP_NOWARN | __GFP_ZERO, PROBE_ORDER);
	if (to && from) {
		reg = registration(dev, from);
		copied = copy(page_address(to), page_address(from));
		worth = div64_u64(reg * PROBE_BYTES, copied);
		worth = round_up(clamp_t(u64, worth, WORTH_MIN, WORTH_MAX),
				 PAGE_SIZE);
		if (reg) {
			WRITE_ONCE(dev->worth, worth);
			ibdev_info(
				dev->ib,
				"sdp: a registration takes %llu ns, a copy of %lu bytes %llu ns: rdma_threshold -1 is %llu\n",
				reg, PROBE_BYTES, copied, worth);
		}
	}
	if (to)
		__free_pages(to, PROBE_ORDER);
	if (from)
		__free_pages(from, PROBE_ORDER);
}

/**
 * rc_worth_init() - prepare a device for being measured
 * @dev: device
 */
void rc_worth_init(struct rc_device *dev)
{
	dev->worth = RC_WORTH_GUESS;
	INIT_WORK(&dev->worth_work, measure);
}

/**
 * rc_worth_start() - measure, now that memory can be registered
 * @dev: device
 */
void rc_worth_start(struct rc_device *dev)
{
	queue_work(rc_wq, &dev->worth_work);
}

/**
 * rc_worth_stop() - a device goes: do not measure any more
 * @dev: device; may sleep
 */
void rc_worth_stop(struct rc_device *dev)
{
	cancel_work_sync(&dev->worth_work);
}
