// SPDX-License-Identifier: GPL-2.0
/* Names and values, see constants.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constants.h"

struct constant {
	char name[64];
	uint64_t value;
};

static struct constant *known;
static unsigned int known_count;

static struct constant *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < known_count; i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static void add(const char *name, uint64_t value)
{
	struct constant *c;

	known = lang_grow(known, known_count, sizeof(*known));
	c = &known[known_count++];
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->value = value;
}

/* Records a name. Any value will do while only the names are wanted. */
static bool note(void *unused, const char *name, uint64_t *value)
{
	(void)unused;
	*value = 0;
	if (!find(name))
		add(name, 0);
	return true;
}

void constants_ask(const struct description *d)
{
	unsigned int i;

	types_build(d, note, NULL);
	puts("#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/syscall.h>");
	for (i = 0; i < d->include_count; i++)
		printf("#include <%s\n", d->includes[i]);
	for (i = 0; i < d->define_count; i++)
		printf("#define %s\n", d->defines[i]);
	puts("int main(void)\n{");
	for (i = 0; i < known_count; i++)
		printf("\tprintf(\"%%s %%lld\\n\", \"%s\", (long long)(%s));\n",
		       known[i].name, known[i].name);
	puts("\treturn 0;\n}");
}

void constants_read(const char *file)
{
	FILE *f = fopen(file, "r");
	char name[64];
	int64_t value;

	if (!f) {
		perror(file);
		exit(2);
	}
	while (fscanf(f, "%63s %" SCNd64, name, &value) == 2)
		add(name, value);
	fclose(f);
}

bool constants_value(void *unused, const char *name, uint64_t *value)
{
	const struct constant *c = find(name);

	(void)unused;
	if (c)
		*value = c->value;
	return c;
}
