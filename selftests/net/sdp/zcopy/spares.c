// SPDX-License-Identifier: GPL-2.0
/*
 * Large buffers are reused while data moves, and are freed when the connections are idle.
 */
#include "cases.h"
#include "machine.h"

#define PAIRS		32
#define BUFFER_SIZE	65552
/*
 * What the kernel's own lists and caches do to the amount of free memory, and the slabs of the
 * peers.
 */
#define SLACK_KB	3072

static long free_kb(void)
{
	return (meminfo("MemFree") + memory_in_cpu_lists()) / 1024;
}

/* Fills the connection with large writes, then reads it all, so that many buffers are used. */
static void use(const struct pair *p)
{
	static char block[1 << 18];
	long total = 0;
	ssize_t n;

	while ((n = send(p->c, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		total += n;
	need(errno == EAGAIN, "send: %s", errno_text(errno));
	drain(p->s, total);
}

static int given_back(void *arg)
{
	struct pair pairs[PAIRS];
	long before, used, now;
	long long end;
	int i;

	setting_set("recv_buffer_size", BUFFER_SIZE);
	for (i = 0; i < PAIRS; i++)
		pairs[i] = pair_make();
	before = free_kb();
	for (i = 0; i < PAIRS; i++)
		use(&pairs[i]);
	now = free_kb();
	used = before - now;
	for (end = now_ms() + patience(10000); now < before - SLACK_KB && now_ms() < end;) {
		pause_ms(50);
		now = free_kb();
	}
	printf("# %ld KB held after use, %ld KB at rest\n", used, before - now);
	need(now >= before - SLACK_KB, "%ld KB are still held", before - now);
	/* The connections still work afterwards. */
	use(&pairs[0]);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "given_back", given_back, 60, V4_SETS, .sdp_only = true, .arg = NULL },
};

TEST_MAIN(tests)
