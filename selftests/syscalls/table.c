// SPDX-License-Identifier: GPL-2.0
/* The existing descriptors, see table.h. */
#include "table.h"

void table_init(struct table *t, const struct spec *spec)
{
	unsigned int kind, i;

	t->spec = spec;
	for (kind = 0; kind < MAX_RESOURCES; kind++) {
		t->next[kind] = 0;
		for (i = 0; i < TABLE_KIND; i++)
			t->entry[kind][i] = 0;
	}
}

/* The oldest entry of its kind is replaced; its descriptor stays open until a call closes it. */
void table_add(struct table *t, unsigned int kind, uint64_t value)
{
	unsigned int i = atomic_fetch_add(&t->next[kind], 1) % TABLE_KIND;

	t->entry[kind][i] = value + 1;
}

void table_forget(struct table *t, uint64_t value)
{
	unsigned int kind, i;
	uint64_t was;

	for (kind = 0; kind < t->spec->resource_count; kind++)
		for (i = 0; i < TABLE_KIND; i++) {
			was = value + 1;
			atomic_compare_exchange_strong(&t->entry[kind][i], &was, 0);
		}
}

static uint64_t look(struct table *t, unsigned int wanted, unsigned int first)
{
	unsigned int count = t->spec->resource_count, kind, i, n;
	uint64_t value;

	for (n = 0; n < count * TABLE_KIND; n++) {
		i = (first + n) % (count * TABLE_KIND);
		kind = i / TABLE_KIND;
		value = t->entry[kind][i % TABLE_KIND];
		if (value && types_is_a(t->spec, kind, wanted))
			return value;
	}
	return 0;
}

uint64_t table_pick(void *table, unsigned int kind, struct chance *chance)
{
	struct table *t = table;
	uint64_t value = look(t, kind, chance_below(chance, t->spec->resource_count * TABLE_KIND));

	return value ? value - 1 : t->spec->resources[kind].special;
}

bool table_has(struct table *t, unsigned int kind)
{
	return look(t, kind, 0) != 0;
}
