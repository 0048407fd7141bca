/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is refused, on a kernel with fault injection: the debug kernel.
 */
#ifndef SDP_TEST_FAILING_H
#define SDP_TEST_FAILING_H

#include <fcntl.h>

#include "tap.h"

#define SLAB	"/sys/kernel/debug/failslab/"
#define PAGES	"/sys/kernel/debug/fail_page_alloc/"
#define NTH	"/proc/thread-self/fail-nth"

static inline void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	need_errno(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* Allocations that may wait fail too, of any size; the log does not tell of each. */
static inline bool can_fail(void)
{
	if (access(NTH, W_OK) || access(SLAB "verbose", W_OK) || access(PAGES "verbose", W_OK))
		return false;
	write_to(SLAB "ignore-gfp-wait", "N");
	write_to(SLAB "verbose", "0");
	write_to(PAGES "ignore-gfp-wait", "N");
	write_to(PAGES "min-order", "0");
	write_to(PAGES "verbose", "0");
	return true;
}

static int nth_fd = -1;

/* The @n'th allocation of this thread from now on fails; 0 is none. */
static inline void fail_at(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (nth_fd < 0)
		nth_fd = open(NTH, O_RDWR);
	need_errno(nth_fd >= 0 && pwrite(nth_fd, text, len, 0) == len, NTH);
}

/* Has it come to that? It is over now, in any case. */
static inline bool has_failed(void)
{
	char text[16] = "";

	need_errno(pread(nth_fd, text, sizeof(text) - 1, 0) > 0, NTH);
	fail_at(0);
	return atoi(text) == 0;
}

/* Where the module's code is: @first and last address; false when that is not shown. */
static inline bool module_text(unsigned long *first, unsigned long *last)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long at;
	char type, name[128], module[64];

	*first = ~0ul;
	*last = 0;
	while (symbols && fscanf(symbols, "%lx %c %127s", &at, &type, name) == 3) {
		int c = getc(symbols);

		if (c != '\t' || fscanf(symbols, "%63s", module) != 1 || strcmp(module, "[sdp]") ||
		    (type != 't' && type != 'T') || !at)
			continue;
		*first = at < *first ? at : *first;
		*last = at > *last ? at : *last;
	}
	if (symbols)
		fclose(symbols);
	return *last;
}

static inline void write_number(const char *path, unsigned long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	write_to(path, text);
}

/*
 * From now on only what the module's own functions allocate can fail, by themselves or through
 * others that they call; or, if not @on, again what anybody allocates.
 */
static inline void only_the_module(bool on)
{
	unsigned long first = 0, last = ~0ul;

	need(!on || module_text(&first, &last), "the module's symbols are not shown");
	/* The last function is not long. */
	if (on)
		last += 4096;
	write_number(SLAB "require-start", on ? first : 0);
	write_number(SLAB "require-end", on ? last : ~0ul);
	write_number(PAGES "require-start", on ? first : 0);
	write_number(PAGES "require-end", on ? last : ~0ul);
	write_number(SLAB "stacktrace-depth", 32);
	write_number(PAGES "stacktrace-depth", 32);
}

/* So many of a thousand allocations fail from now on, whoever asks; 0 is none. */
static inline void fail_often(unsigned int per_thousand)
{
	static const char * const kinds[] = { SLAB, PAGES };
	char path[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		/* One of so many draws is looked at; each that is fails. */
		snprintf(path, sizeof(path), "%stask-filter", kinds[i]);
		write_to(path, "N");
		snprintf(path, sizeof(path), "%sinterval", kinds[i]);
		write_number(path, per_thousand ? 1000 / per_thousand : 1);
		snprintf(path, sizeof(path), "%stimes", kinds[i]);
		write_to(path, per_thousand ? "-1" : "0");
		snprintf(path, sizeof(path), "%sprobability", kinds[i]);
		write_number(path, per_thousand ? 50 : 0);
	}
}

#endif /* SDP_TEST_FAILING_H */
