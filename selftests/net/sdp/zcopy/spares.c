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
#define SLACK		(3 << 20)

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
	long long before, used;
	int i;

	setting_set("recv_buffer_size", BUFFER_SIZE);
	/* All receives are posted from the beginning: those that are posted on demand stay. */
	setting_set("idle_buffers", 12);
	for (i = 0; i < PAIRS; i++)
		pairs[i] = pair_make();
	before = memory_free();
	for (i = 0; i < PAIRS; i++)
		use(&pairs[i]);
	used = before - memory_free();
	await_memory(before, SLACK);
	printf("# %lld KB held after use, %lld KB at rest\n", used / 1024,
	       (before - memory_free()) / 1024);
	/* The connections still work afterwards. */
	use(&pairs[0]);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "given_back", given_back, 60, V4_SETS, .sdp_only = true, .arg = NULL },
};

TEST_MAIN(tests)
