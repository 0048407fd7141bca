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

/* How many allocations were left until then? It is over now, in any case. */
static inline int left_to_fail(void)
{
	char text[16] = "";

	need_errno(pread(nth_fd, text, sizeof(text) - 1, 0) > 0, NTH);
	fail_at(0);
	return atoi(text);
}

static inline bool has_failed(void)
{
	return left_to_fail() == 0;
}

/* Addresses of code: @first and behind @last. */
struct text {
	unsigned long first;
	unsigned long last;
};

/* Takes the next symbol that is code, and its module, "" if none. */
static inline bool next_symbol(FILE *symbols, unsigned long *at, char name[128], char module[64])
{
	char line[256], type;

	while (fgets(line, sizeof(line), symbols)) {
		*module = 0;
		if (sscanf(line, "%lx %c %127s [%63[^]]", at, &type, name, module) >= 3 && *at &&
		    (type == 't' || type == 'T'))
			return true;
	}
	return false;
}

/* Where the module's code is; false when that is not shown. The last function is not long. */
static inline bool module_text(struct text *text)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char name[128], module[64];
	unsigned long at;

	*text = (struct text){ ~0ul, 0 };
	while (symbols && next_symbol(symbols, &at, name, module)) {
		if (strcmp(module, "sdp"))
			continue;
		text->first = at < text->first ? at : text->first;
		text->last = at + 4096 > text->last ? at + 4096 : text->last;
	}
	if (symbols)
		fclose(symbols);
	return text->last;
}

/* Likewise of the kernel's function @of; symbols are sorted by address there. */
static inline bool function_text(const char *of, struct text *text)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char name[128], module[64];
	unsigned long at;

	*text = (struct text){ 0, 0 };
	while (symbols && !text->last && next_symbol(symbols, &at, name, module)) {
		if (text->first && at > text->first)
			text->last = at;
		else if (!*module && !strcmp(name, of))
			text->first = at;
	}
	if (symbols)
		fclose(symbols);
	return text->last;
}

/* Likewise of the module's function @of, whose symbols come in any order. */
static inline bool module_function_text(const char *of, struct text *text)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char name[128], module[64];
	unsigned long at;

	*text = (struct text){ 0, ~0ul };
	while (symbols && next_symbol(symbols, &at, name, module))
		if (!strcmp(module, "sdp") && !strcmp(name, of))
			text->first = at;
	if (symbols)
		rewind(symbols);
	while (symbols && next_symbol(symbols, &at, name, module))
		if (!strcmp(module, "sdp") && at > text->first && at < text->last)
			text->last = at;
	if (symbols)
		fclose(symbols);
	return text->first && text->last != ~0ul;
}

static inline void write_number(const char *path, unsigned long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	write_to(path, text);
}

/*
 * From now on only what these functions allocate can fail, by themselves or through others that
 * they call; or, if @text is NULL, again what anybody allocates.
 */
static inline void only_in(const struct text *text)
{
	unsigned long first = text ? text->first : 0, last = text ? text->last : ~0ul;

	write_number(SLAB "require-start", first);
	write_number(SLAB "require-end", last);
	write_number(PAGES "require-start", first);
	write_number(PAGES "require-end", last);
	write_number(SLAB "stacktrace-depth", 32);
	write_number(PAGES "stacktrace-depth", 32);
}

/* But nothing that this function allocates, or others that it calls; NULL: again whatever it is. */
static inline void not_in(const struct text *text)
{
	write_number(SLAB "reject-start", text ? text->first : 0);
	write_number(SLAB "reject-end", text ? text->last : 0);
	write_number(PAGES "reject-start", text ? text->first : 0);
	write_number(PAGES "reject-end", text ? text->last : 0);
}

static inline void only_the_module(bool on)
{
	struct text text;

	need(!on || module_text(&text), "the module's symbols are not shown");
	only_in(on ? &text : NULL);
}

/*
 * So many of a hundred allocations fail from now on, whoever asks, each by a draw of its own: two
 * in a row can fail, and ten. 0 is none.
 */
static inline void fail_often(unsigned int percent)
{
	static const char * const kinds[] = { SLAB, PAGES };
	char path[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(path, sizeof(path), "%stask-filter", kinds[i]);
		write_to(path, "N");
		snprintf(path, sizeof(path), "%sinterval", kinds[i]);
		write_to(path, "1");
		snprintf(path, sizeof(path), "%stimes", kinds[i]);
		write_to(path, percent ? "-1" : "0");
		snprintf(path, sizeof(path), "%sprobability", kinds[i]);
		write_number(path, percent);
	}
}

#endif /* SDP_TEST_FAILING_H */
