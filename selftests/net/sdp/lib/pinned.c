// SPDX-License-Identifier: GPL-2.0
#include "pinned.h"

/* Each CPU counts for itself. The kernel sums these counters up now and then, or on request. */
static void pinned_add_up(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY);

	if (fd < 0)
		return;
	need_errno(write(fd, "1", 1) == 1, "/proc/sys/vm/stat_refresh");
	close(fd);
}

/* The number of pinned pages in the whole system. */
static long pinned_pages(void)
{
	long acquired = -1, released = -1, value;
	char key[64];
	FILE *f;

	pinned_add_up();
	f = fopen("/proc/vmstat", "r");
	need_errno(f, "/proc/vmstat");
	while (fscanf(f, "%63s %ld", key, &value) == 2) {
		if (!strcmp(key, "nr_foll_pin_acquired"))
			acquired = value;
		if (!strcmp(key, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	need(acquired >= 0 && released >= 0, "/proc/vmstat does not count pinned pages");
	return acquired - released;
}

/* Waits until no page is pinned. Nothing else in the test system pins pages. */
void await_unpinned(void)
{
	long long end = now_ms() + 2 * WAIT_MS;

	while (pinned_pages()) {
		need(now_ms() < end, "%ld pages are pinned", pinned_pages());
		pause_ms(20);
	}
}
