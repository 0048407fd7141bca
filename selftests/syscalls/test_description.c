// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests: parsing of descriptions, and the arguments in memory.
 *
 * Prints errors and fails, or prints the number of correct checks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table.h"

static unsigned int right, wrong;

#define CHECK(condition) do {								\
	if (condition) {								\
		right++;								\
	} else {									\
		wrong++;								\
		printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);		\
	}										\
} while (0)

static bool constant(void *unused, const char *name, uint64_t *value)
{
	(void)unused;
	if (!strncmp(name, "__NR_", 5))
		*value = strlen(name);
	else if (strlen(name) == 1)
		*value = *name - 'A' + 1;
	else
		return false;
	return true;
}

static struct spec *read_spec(const char *text)
{
	return types_build(lang_parse("test", text), constant, NULL);
}

static uint64_t pick(void *context, unsigned int kind, struct chance *chance)
{
	(void)chance;
	return *(uint64_t *)context + kind;
}

static struct arena arena, playground;
static uint64_t picked = 40;

/* Skips wild calls, which may have any arguments. */
static bool calm(const struct spec *spec, unsigned int call, uint64_t seed, uint64_t *regs,
		 struct maker *m)
{
	*m = (struct maker){ .spec = spec, .arena = &arena, .playground = &playground, .pick = pick,
			     .context = &picked };
	values_make(m, &spec->calls[call], seed, regs);
	return !m->wild;
}

static const uint8_t *memory(uint64_t address)
{
	return (const uint8_t *)(uintptr_t)address;
}

static void reads_declarations(void)
{
	struct description *d = lang_parse("test",
		"# a comment\ninclude <x/y.h>\ndefine ONE	(1 | 2)\n\nresource fd[int32]: -1\n"
		"resource sub[fd]\nlist = A, 0x10, -3\nwords = \"a\\n\", \"b\"\n"
		"call$x(a fd, b ptr[in, array[int8, 0:7], opt]) sub	# and another\n");
	const struct decl *call = lang_find(d, "call$x", DECL_CALL);

	CHECK(d->include_count == 1 && !strcmp(d->includes[0], "x/y.h>"));
	CHECK(d->define_count == 1 && !strncmp(d->defines[0], "ONE", 3));
	CHECK(d->define_count == 1 && strstr(d->defines[0], "(1 | 2)"));
	CHECK(d->decl_count == 5);
	CHECK(call && call->field_count == 2 && !strcmp(call->fields[1].name, "b"));
	CHECK(call && call->fields[1].type->count == 3);
	CHECK(call && call->fields[1].type->args[1]->args[1]->kind == EXPR_RANGE);
	CHECK(call && !strcmp(call->type->text, "sub"));
	CHECK(lang_find(d, "words", DECL_VALUES)->exprs[0]->number == 2);
	CHECK(!lang_find(d, "words", DECL_CALL));
}

static void knows_resources(void)
{
	struct spec *s = read_spec("resource fd[int32]: -1\nresource a[fd]\nresource b[a]: 7\n"
				   "f(x b) a\nsyz_g()\n");

	CHECK(types_is_a(s, 2, 0) && types_is_a(s, 1, 0));
	CHECK(!types_is_a(s, 0, 1) && !types_is_a(s, 1, 2));
	CHECK(s->resources[1].special == (uint64_t)-1 && s->resources[2].special == 7);
	CHECK(s->resources[2].size == 4);
	CHECK(s->calls[0].result == 1 && s->calls[0].number == (long)strlen("__NR_f"));
	CHECK(s->calls[1].number == -1);
}

/* A big-endian address as in IPv4, and padding as in C. */
static void lays_out_structs(void)
{
	struct spec *s = read_spec("st {\n\ta int8[3]\n\tb const[0x1234, int16be]\n"
				   "\tc const[5, int64]\n\td const[6, int8]\n}\n"
				   "pk {\n\ta int8[3]\n\tb const[0x1234, int16be]\n"
				   "\tc const[5, int64]\n} [packed]\n"
				   "f(p ptr[in, st], n len[p], q ptr[in, pk], m len[q])\n");
	static const uint8_t loose[] = { 3, 0, 0x12, 0x34, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
					 6, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t packed[] = { 3, 0x12, 0x34, 5, 0, 0, 0, 0, 0, 0, 0 };
	struct maker m;
	uint64_t regs[MAX_ARGS], seed;

	for (seed = 0; seed < 20; seed++) {
		if (!calm(s, 0, seed, regs, &m))
			continue;
		CHECK(regs[1] == sizeof(loose) && !memcmp(memory(regs[0]), loose, sizeof(loose)));
		CHECK(regs[3] == sizeof(packed));
		CHECK(!memcmp(memory(regs[2]), packed, sizeof(packed)));
	}
}

static void measures(void)
{
	struct spec *s = read_spec("v {\n\ta ptr[in, array[int8, 9]]\n\tl len[a, int32]\n}\n"
				   "type at[T, P] {\n\tl offsetof[end, int16]\n"
				   "\tt const[T, int16]\n\tp P\n\tend void\n} [packed, align[4]]\n"
				   "w {\n\tl len[parent, int32]\n"
				   "\tx at[C, array[const[B, int8], 3]]\n\ty at[D, int8[9]]\n}\n"
				   "f(p ptr[in, array[v, 3]], n len[p], b bytesize[p], "
				   "q ptr[in, w])\n");
	static const uint8_t nested[] = { 20, 0, 0, 0, 7, 0, 3, 0, 2, 2, 2, 0,
					  5, 0, 4, 0, 9, 0, 0, 0 };
	struct maker m;
	uint64_t regs[MAX_ARGS], seed;

	for (seed = 0; seed < 20; seed++) {
		if (!calm(s, 0, seed, regs, &m))
			continue;
		CHECK(regs[1] == 3 && regs[2] == 48);
		CHECK(*(uint32_t *)memory(regs[0] + 24) == 9);
		CHECK(!memcmp(memory(regs[3]), nested, sizeof(nested)));
	}
}

static void stays_in_range(void)
{
	struct spec *s = read_spec("l = A, B, H\nm = 1, 2, 3\nw = \"ab\", \"cde\"\n"
				   "f(a int32[-2:5], b flags[l], c flags[m], d const[-1], "
				   "e ptr[in, string[w]], g len[e])\n"
				   "h(e ptr[in, stringnoz[w]], g len[e])\n");
	struct maker m;
	uint64_t regs[MAX_ARGS], seed, all = 0;
	bool low = false, high = false;

	for (seed = 0; seed < 500; seed++) {
		if (!calm(s, 0, seed, regs, &m))
			continue;
		low |= (int64_t)regs[0] == -2;
		high |= regs[0] == 5;
		CHECK((int64_t)regs[0] >= -2 && (int64_t)regs[0] <= 5);
		CHECK(!(regs[1] & ~11ul));
		CHECK(regs[2] >= 1 && regs[2] <= 3);
		CHECK(regs[3] == (uint64_t)-1);
		CHECK(regs[5] == strlen((char *)memory(regs[4])) + 1);
		all |= regs[1];
		if (calm(s, 1, seed, regs, &m))
			CHECK(regs[1] == strlen((char *)memory(regs[0])));
	}
	CHECK(low && high && all == 11);
}

static void takes_and_leaves_resources(void)
{
	struct spec *s = read_spec("resource fd[int32]: -1\nresource so[fd]\n"
				   "pair {\n\ta so\n\tb so\n}\n"
				   "f(a so, p ptr[out, pair], r ptr[in, array[so, 2]])\n");
	struct maker m;
	uint64_t regs[MAX_ARGS], seed;

	for (seed = 0; seed < 20; seed++) {
		if (!calm(s, 0, seed, regs, &m))
			continue;
		CHECK(regs[0] == 41);
		CHECK(m.made_count == 2 && m.made[0].kind == 1);
		CHECK(m.made[0].at == memory(regs[1]) && m.made[1].at == memory(regs[1] + 4));
		CHECK(((uint32_t *)memory(regs[2]))[1] == 41);
	}
}

static void repeats(void)
{
	struct spec *s = read_spec("f(a int64, b ptr[in, array[int32, 0:20]], n len[b], "
				   "c ptr[in, array[int8, 64]])\n");
	uint64_t one[MAX_ARGS], two[MAX_ARGS], seed;
	unsigned int same = 0;
	uint8_t was[80];
	struct maker m;

	for (seed = 0; seed < 50; seed++) {
		calm(s, 0, seed, one, &m);
		if (!m.wild)
			memcpy(was, memory(one[1]), 4 * one[2]);
		calm(s, 0, seed, two, &m);
		CHECK(!memcmp(one, two, sizeof(one)));
		CHECK(m.wild || !memcmp(was, memory(two[1]), 4 * two[2]));
		calm(s, 0, seed + 1000, two, &m);
		same += one[0] == two[0];
	}
	CHECK(same < 40);
}

/* Some calls deviate from their description, to test error handling. */
static void is_sometimes_wild(void)
{
	struct spec *s = read_spec("f(a const[7], n len[p], p ptr[in, const[1, int64]])\n"
				   "mmap(a vma, n len[a], c const[7])\n");
	unsigned int odd[3] = { 0 }, i;
	struct maker m;
	uint64_t regs[MAX_ARGS], seed;

	for (seed = 0; seed < 2000; seed++) {
		calm(s, 0, seed, regs, &m);
		odd[0] += regs[0] != 7;
		odd[1] += regs[1] != 8;
		odd[2] += memory(regs[2]) < arena.base ||
			  memory(regs[2]) >= arena.base + arena.size;
		CHECK(calm(s, 1, seed, regs, &m) && regs[2] == 7);
		CHECK(memory(regs[0]) >= playground.base && regs[1] % PAGE_BYTES == 0 &&
		      memory(regs[0]) + regs[1] <= playground.base + playground.size);
	}
	for (i = 0; i < 3; i++)
		CHECK(odd[i] > 5 && odd[i] < 400);
}

static void keeps_a_table(void)
{
	struct spec *s = read_spec("resource fd[int32]: -1\nresource so[fd]\n"
				   "resource other[fd]\nf()\n");
	static struct table t;
	struct chance c;
	unsigned int i;

	chance_seed(&c, 1);
	table_init(&t, s);
	CHECK(table_pick(&t, 1, &c) == (uint64_t)-1 && !table_has(&t, 0));
	table_add(&t, 2, 5);
	CHECK(table_pick(&t, 1, &c) == (uint64_t)-1 && table_pick(&t, 0, &c) == 5);
	for (i = 0; i < 3 * TABLE_KIND; i++)
		table_add(&t, 1, 100 + i);
	CHECK(table_pick(&t, 1, &c) >= 100 + 2 * TABLE_KIND && table_pick(&t, 2, &c) == 5);
	table_forget(&t, 5);
	CHECK(!table_has(&t, 2) && table_has(&t, 1));
}

/* An invalid description ends the program, with the line. */
static void refuses(void)
{
	static const char * const texts[] = {
		"f(a what)\n", "f(a int7)\n", "f(a int32[5:1])\n", "f(a const[UNKNOWN])\n", "f(a\n",
		"f(a flags[none])\n", "f(a ptr[up, int8])\n", "f(a len[b])\n", "s {\n}\nf()\n",
		"f(a string[1])\n", "x = \"a\nf()\n", "f(a s)\ns {\n\tn s\n}\n", "f()\nf()\n",
		"l = 1\n", "type t[A] {\n\ta const[A]\n}\nf(a t)\n", "f(a array[int8, -1])\n",
		"resource r[none]\nf()\n",
		"f(a int8, b int8, c int8, d int8, e int8, f int8, g int8)\n", "f() x\n", "&\n",
	};
	unsigned int i;
	int status;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!fork()) {
			if (!freopen("/dev/null", "w", stderr))
				_exit(3);
			read_spec(texts[i]);
			_exit(0);
		}
		wait(&status);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
			printf("%s", texts[i]);
	}
}

int main(void)
{
	arena_init(&arena, ARENA_BYTES);
	arena_init(&playground, PLAYGROUND_BYTES);
	reads_declarations();
	knows_resources();
	lays_out_structs();
	measures();
	stays_in_range();
	takes_and_leaves_resources();
	repeats();
	is_sometimes_wild();
	keeps_a_table();
	refuses();
	printf("%u right, %u wrong\n", right, wrong);
	return wrong != 0;
}
