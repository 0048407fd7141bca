// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: measured size from which RDMA pays off (B1).
 *
 * RDMA saves a copy at either end. It costs a registration, and messages that
 * copied bytes do not need. The time of a registration depends on the device,
 * the time of a copy on the machine. We measure both when the device's
 * registration queue pair is created. The first connections of a device use
 * RC_WORTH_GUESS instead, and each link keeps the value that it started with.
 */
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "rc.h"

#define WORTH_ORDER	4
#define WORTH_PAGES	(1 << WORTH_ORDER)
#define WORTH_BYTES	(WORTH_PAGES * PAGE_SIZE)
/* Rounds of a measurement. We assume that nothing interrupts the shortest. */
#define WORTH_ROUNDS	16
/* Limits of the result. */
#define WORTH_MIN	16384
#define WORTH_MAX	SDP_MEM_MAX

/* Nanoseconds of a registration, or 0 when memory cannot be registered. */
static u64 worth_registration_ns(struct rc_device *dev, struct page *first)
{
	struct page *list[WORTH_PAGES];
	struct sdp_pages pages = {
		.pages = list,
		.n = WORTH_PAGES,
		.len = WORTH_BYTES,
		.use = SDP_MEM_WRITE_FROM,
	};
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < WORTH_PAGES; i++)
		list[i] = first + i;
	for (i = 0; i < WORTH_ROUNDS; i++) {
		u64 begun = ktime_get_ns();

		if (rc_mem_try(dev, &pages))
			return 0;
		best = min(best, ktime_get_ns() - begun);
	}
	return best;
}

/* Nanoseconds of a copy of WORTH_BYTES, at least 1. */
static u64 worth_copy_ns(void *to, const void *from)
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < WORTH_ROUNDS; i++) {
		u64 begun = ktime_get_ns();

		memcpy(to, from, WORTH_BYTES);
		best = min(best, ktime_get_ns() - begun);
	}
	return max(best, 1ULL);
}

/*
 * At the threshold, two copies take as long as a registration plus the
 * messages and wake-ups that belong to it. We assume that these take as long
 * as the registration, so one copy takes as long as one registration.
 */
static void worth_measure(struct work_struct *work)
{
	struct rc_device *dev =
		container_of(work, struct rc_device, worth_work);
	struct page *to, *from;
	u64 reg, copied, worth;

	to = alloc_pages(GFP_KERNEL | __GFP_NOWARN, WORTH_ORDER);
	from = alloc_pages(GFP_KERNEL | __GFP_NOWARN | __GFP_ZERO, WORTH_ORDER);
	if (to && from) {
		reg = worth_registration_ns(dev, from);
		copied = worth_copy_ns(page_address(to), page_address(from));
		worth = div64_u64(reg * WORTH_BYTES, copied);
		worth = round_up(clamp_t(u64, worth, WORTH_MIN, WORTH_MAX),
				 PAGE_SIZE);
		if (reg) {
			WRITE_ONCE(dev->worth, worth);
			ibdev_info(dev->ib,
				   "sdp: a registration takes %llu ns, a copy of %lu bytes %llu ns: rdma_threshold -1 is %llu\n",
				   reg, WORTH_BYTES, copied, worth);
		}
	}
	if (to)
		__free_pages(to, WORTH_ORDER);
	if (from)
		__free_pages(from, WORTH_ORDER);
}

/**
 * rc_worth_init() - prepare a device for the measurement
 * @dev: device; its threshold is %RC_WORTH_GUESS until it is measured
 */
void rc_worth_init(struct rc_device *dev)
{
	dev->worth = RC_WORTH_GUESS;
	INIT_WORK(&dev->worth_work, worth_measure);
}

/**
 * rc_worth_start() - measure a device's threshold in a work item
 * @dev: device that can register memory
 */
void rc_worth_start(struct rc_device *dev)
{
	queue_work(rc_wq, &dev->worth_work);
}

/**
 * rc_worth_stop() - cancel the measurement when a device is removed
 * @dev: device
 *
 * May sleep.
 */
void rc_worth_stop(struct rc_device *dev)
{
	cancel_work_sync(&dev->worth_work);
}
