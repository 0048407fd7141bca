// SPDX-License-Identifier: GPL-2.0
/* Makes calls, see calls.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "calls.h"
#include "kcov.h"

/* Above this descriptor number some are closed; the limit is MAX_FDS of worker.c. */
enum { MANY_FDS = 150, FAIL_ONE_OF = 6, FAIL_NTH = 24 };

void caller_init(struct caller *c, struct table *table, struct arena *playground, struct lane *lane,
		 uint64_t seed)
{
	c->table = table;
	c->lane = lane;
	chance_seed(&c->chance, seed);
	arena_init(&c->arena, ARENA_BYTES);
	c->maker = (struct maker){
		.spec = calls_spec, .arena = &c->arena, .playground = playground,
		.pick = table_pick, .context = table,
	};
	c->fail_nth = -1;
}

/* Moves a descriptor to a number that calls do not close. */
static int out_of_the_way(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, MANY_FDS + 50);

	if (fd >= 0)
		close(fd);
	return high;
}

void caller_begin(struct caller *c)
{
	c->lane->began = 0;
	c->lane->tid = syscall(SYS_gettid);
	c->lane->pid = getpid();
	if (wishes.failures)
		c->fail_nth = out_of_the_way(open("/proc/thread-self/fail-nth",
						  O_RDWR | O_CLOEXEC));
}

/* The number of a netlink family; -1 and errno if there is none. */
static long family_id(const char *name, int fd)
{
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		struct nlattr attr;
		char name[16];
	} ask = {
		.nl = { sizeof(ask), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0 },
		.genl = { CTRL_CMD_GETFAMILY, 1, 0 },
		.attr = { sizeof(ask.attr) + sizeof(ask.name), CTRL_ATTR_FAMILY_NAME },
	};
	char answer[4096];
	struct nlattr *attr;
	long n, at;

	snprintf(ask.name, sizeof(ask.name), "%s", name);
	if (send(fd, &ask, sizeof(ask), MSG_DONTWAIT) < 0)
		return -1;
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	at = sizeof(ask.nl) + sizeof(ask.genl);
	while (n > 0 && at + (long)sizeof(*attr) <= n) {
		attr = (struct nlattr *)(answer + at);
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(attr + 1);
		if (attr->nla_len < sizeof(*attr))
			break;
		at += (attr->nla_len + 3) & ~3;
	}
	errno = ENOENT;
	return -1;
}

/* Makes one of the next allocations fail, the n-th one. */
static bool inject(struct caller *c, uint64_t seed)
{
	char text[8];
	int n;

	if (c->fail_nth < 0 || seed % FAIL_ONE_OF)
		return false;
	n = snprintf(text, sizeof(text), "%d", (int)(seed / FAIL_ONE_OF % FAIL_NTH) + 1);
	return pwrite(c->fail_nth, text, n, 0) == n;
}

static void inject_end(struct caller *c)
{
	char text[8] = "";

	/* It is 0 after the failure has happened. */
	if (pread(c->fail_nth, text, sizeof(text) - 1, 0) > 0 && text[0] == '0')
		shared->injected++;
	if (pwrite(c->fail_nth, "0", 1, 0) != 1)
		c->fail_nth = -1;
}

static void close_some(struct caller *c)
{
	uint64_t fd = table_pick(c->table, 0, &c->chance);

	if ((int)fd > 2) {
		close(fd);
		table_forget(c->table, fd);
	}
}

/* Records descriptors that were returned, and those that were written to memory. */
static void note_results(struct caller *c, const struct call *call, long result)
{
	unsigned int i;
	uint64_t value;

	if (call->result >= 0) {
		table_add(c->table, call->result, result);
		if (result > MANY_FDS && types_is_a(calls_spec, call->result, 0))
			close_some(c);
	}
	for (i = 0; i < c->maker.made_count; i++) {
		value = *(const volatile uint32_t *)c->maker.made[i].at;
		if ((int32_t)value > 2)
			table_add(c->table, c->maker.made[i].kind, value);
	}
}

void caller_call(struct caller *c, unsigned int i, uint64_t seed)
{
	const struct call *call = &calls_spec->calls[i];
	uint64_t r[MAX_ARGS], from;
	bool injected;
	long result;

	values_make(&c->maker, call, seed, r);
	if (wishes.verbose)
		fprintf(stderr, "%d %s(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx)\n", c->lane->tid,
			call->name, r[0], r[1], r[2], r[3], r[4], r[5]);
	c->lane->call = i;
	from = now_us();
	c->lane->began = from / 1000;
	injected = inject(c, seed >> 8);
	kcov_reset();
	if (call->number < 0)
		result = family_id("sdp", r[1]);
	else
		result = syscall(call->number, r[0], r[1], r[2], r[3], r[4], r[5]);
	if (injected)
		inject_end(c);
	c->lane->began = 0;
	shared->calls++;
	shared->tally[i].made++;
	shared->tally[i].us += now_us() - from;
	if (result < 0)
		return;
	shared->tally[i].succeeded++;
	note_results(c, call, result);
	if (!strncmp(call->name, "close", 5))
		table_forget(c->table, (uint32_t)r[0]);
}
