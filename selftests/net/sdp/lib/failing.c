// SPDX-License-Identifier: GPL-2.0
#include "failing.h"

#define NTH	"/proc/thread-self/fail-nth"

void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	need_errno(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* Writes to the setting of both kinds of allocations. */
__attribute__((format(printf, 2, 3)))
static void write_both(const char *name, const char *fmt, ...)
{
	char path[80], text[32];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), SLAB "%s", name);
	write_to(path, text);
	snprintf(path, sizeof(path), PAGES "%s", name);
	write_to(path, text);
}

/*
 * Makes allocations of any size fail, also those that may sleep, without a line in the log for
 * each. Returns false if the kernel has no fault injection.
 */
bool can_fail(void)
{
	if (access(NTH, W_OK) || access(SLAB "verbose", W_OK) || access(PAGES "verbose", W_OK))
		return false;
	write_both("ignore-gfp-wait", "N");
	write_both("verbose", "0");
	write_to(PAGES "min-order", "0");
	return true;
}

static int nth_fd = -1;

/* From now on the @n'th allocation of this thread fails. 0: none fails. */
void fail_at(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (nth_fd < 0)
		nth_fd = open(NTH, O_RDWR);
	need_errno(nth_fd >= 0 && pwrite(nth_fd, text, len, 0) == len, NTH);
}

/* Ends fail_at(). Returns how many allocations were left until the one to fail; 0: it failed. */
int left_to_fail(void)
{
	char text[16] = "";

	need_errno(pread(nth_fd, text, sizeof(text) - 1, 0) > 0, NTH);
	fail_at(0);
	return atoi(text);
}

bool has_failed(void)
{
	return left_to_fail() == 0;
}

/* Reads the next symbol that is code, and its module, "" if none. Returns false at the end. */
static bool next_symbol(FILE *symbols, unsigned long *at, char name[128], char module[64])
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

/* Finds the module's code, with some room for its last function. Returns false if it is hidden. */
static bool module_text(struct text *text)
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

/* As module_text(), for the kernel's function @of. Symbols of the kernel are sorted by address. */
bool function_text(const char *of, struct text *text)
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

/* As module_text(), for the module's function @of. Symbols of modules are in no order. */
bool module_function_text(const char *of, struct text *text)
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

/*
 * From now on only those allocations can fail that have one of these functions in their call chain.
 * NULL: all can fail again.
 */
void only_in(const struct text *text)
{
	write_both("require-start", "%lu", text ? text->first : 0);
	write_both("require-end", "%lu", text ? text->last : ~0ul);
	write_both("stacktrace-depth", "32");
}

/* From now on no allocation fails that has this function in its call chain. NULL: no exception. */
void not_in(const struct text *text)
{
	write_both("reject-start", "%lu", text ? text->first : 0);
	write_both("reject-end", "%lu", text ? text->last : 0);
}

void only_the_module(bool on)
{
	struct text text;

	need(!on || module_text(&text), "the module's symbols are not shown");
	only_in(on ? &text : NULL);
}

/*
 * From now on @percent of all allocations fail, of any task. Each is drawn independently: two in a
 * row can fail, and ten. 0: none fails.
 */
void fail_often(unsigned int percent)
{
	write_both("task-filter", "N");
	write_both("interval", "1");
	write_both("times", "%d", percent ? -1 : 0);
	write_both("probability", "%u", percent);
}
