// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the arguments of a call.
 *
 * Most calls are as described. One in eight is wild: some of its values are another number, a
 * wrong length, an invalid pointer, or another kind of descriptor. Some calls are never wild, see
 * is_calm().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "values.h"

/* Limit for the data at one address, except for plain bytes, which may be more. */
enum { BLOCK_BYTES = 4096, WILD = 8, MISTAKE = 6 };

struct block {
	uint8_t *p;
	size_t used;
};

/* The len and bytesize of a value; for a pointer, those of its target. */
struct extent {
	uint64_t count, bytes;
};

static struct extent make(struct maker *m, const struct type *t, struct block *b, unsigned int dir);

void chance_seed(struct chance *c, uint64_t seed)
{
	/* Neighbouring seeds must give unrelated values. */
	seed += 0x9e3779b97f4a7c15;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
	c->state = (seed ^ seed >> 31) | 1;
}

uint64_t chance_next(struct chance *c)
{
	c->state ^= c->state >> 12;
	c->state ^= c->state << 25;
	c->state ^= c->state >> 27;
	return c->state * 0x2545f4914f6cdd1d;
}

uint64_t chance_below(struct chance *c, uint64_t n)
{
	return (chance_next(c) >> 16) % n;
}

bool chance_one_of(struct chance *c, unsigned int n)
{
	return chance_below(c, n) == 0;
}

void arena_init(struct arena *a, size_t size)
{
	a->size = size;
	a->used = 0;
	a->base = mmap(NULL, size + GUARD_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->base == MAP_FAILED || mprotect(a->base + size, GUARD_BYTES, PROT_NONE)) {
		perror("an arena");
		exit(2);
	}
}

static bool mistake(struct maker *m)
{
	return m->wild && chance_one_of(&m->chance, MISTAKE);
}

/* Boundary values. */
static uint64_t odd_number(struct maker *m)
{
	static const uint64_t known[] = {
		0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 63, 64, 127, 128, 255, 256, 511, 1024, 4095, 4096,
		4097, 32767, 32768, 65535, 65536, 1 << 20, INT32_MAX, 1u << 31, UINT32_MAX,
		INT64_MAX, -1ull, -2ull, -4096ull,
	};

	switch (chance_below(&m->chance, 4)) {
	case 0:
		return chance_next(&m->chance);
	case 1:
		return chance_below(&m->chance, 1 << 16);
	default:
		return known[chance_below(&m->chance, sizeof(known) / sizeof(*known))];
	}
}

/* Mostly small values, but also each order of magnitude, and both ends. */
static int64_t in_range(struct maker *m, int64_t low, int64_t high)
{
	uint64_t span = (uint64_t)high - low;
	unsigned int bits = 0;

	if (!span || chance_one_of(&m->chance, 16))
		return low;
	if (chance_one_of(&m->chance, 16))
		return high;
	while (bits < 63 && span >> bits)
		bits++;
	span >>= chance_below(&m->chance, bits);
	return low + chance_below(&m->chance, span + 1);
}

static uint64_t some_flags(struct maker *m, const struct type *t)
{
	uint64_t all = 0, value;
	bool bits = true;
	unsigned int i, n;

	/* Values without common bits are combined. */
	for (i = 0; i < t->count; i++) {
		bits = bits && !(all & t->values[i]);
		all |= t->values[i];
	}
	value = t->values[chance_below(&m->chance, t->count)];
	if (!bits)
		return value;
	n = chance_below(&m->chance, 3);
	value = n ? value : 0;
	while (n-- > 1)
		value |= t->values[chance_below(&m->chance, t->count)];
	return value;
}

static void write_number(uint8_t *p, const struct type *t, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < t->size; i++)
		p[t->big_endian ? t->size - 1 - i : i] = value >> 8 * i;
}

static void put_number(struct block *b, const struct type *t, uint64_t value)
{
	if (b->used + t->size > BLOCK_BYTES)
		return;
	write_number(b->p + b->used, t, value);
	b->used += t->size;
}

static void pad(struct block *b, size_t align)
{
	while (align && b->used % align && b->used < BLOCK_BYTES)
		b->p[b->used++] = 0;
}

static uint8_t *take(struct arena *a, size_t size)
{
	uint8_t *p = a->base + a->used;

	if (size > a->size - a->used)
		return NULL;
	a->used += (size + 15) & ~15ul;
	if (a->used > a->size)
		a->used = a->size;
	return p;
}

/* An address that is not mapped, or a kernel address, or one whose second half is not mapped. */
static uint64_t nowhere(struct maker *m)
{
	uint64_t end = (uint64_t)(uintptr_t)(m->arena->base + m->arena->size);
	const uint64_t places[] = { 0, end, end - 8, end - 1, 0xffff888000000000, -1ull, 8 };

	return places[chance_below(&m->chance, sizeof(places) / sizeof(*places))];
}

/* Bytes are not written: their values do not matter, and the memory holds a pattern. */
static uint64_t place_bytes(struct maker *m, size_t n)
{
	struct arena *a = m->arena;
	uint8_t *p;

	if (m->playground && chance_one_of(&m->chance, 3) && n <= m->playground->size) {
		p = m->playground->base + chance_below(&m->chance, m->playground->size - n + 1);
		return (uintptr_t)p;
	}
	if (chance_one_of(&m->chance, 8) && n <= a->size)
		return (uintptr_t)(a->base + a->size - n);
	p = take(a, n);
	if (!p)
		return (uintptr_t)a->base;
	memset(p, 'a' + n % 26, n < 64 ? n : 64);
	return (uintptr_t)p;
}

static struct extent make_pointer(struct maker *m, const struct type *t, struct block *b)
{
	struct block new = { 0 };
	struct extent e = { 0 };
	uint64_t address = 0;

	if (t->optional && chance_one_of(&m->chance, 2)) {
		put_number(b, t, 0);
		return e;
	}
	if (t->elem->kind == TYPE_BYTES) {
		e.bytes = in_range(m, t->elem->low, t->elem->high);
		e.count = e.bytes;
		address = place_bytes(m, e.bytes);
	} else {
		new.p = take(m->arena, BLOCK_BYTES);
		if (new.p) {
			memset(new.p, 0, BLOCK_BYTES);
			e = make(m, t->elem, &new, t->dir);
			address = (uintptr_t)new.p;
		}
	}
	if (mistake(m))
		address = nowhere(m);
	put_number(b, t, address);
	return e;
}

/* Fills in lengths and offsets of members, which are known when all members are made. */
static void fill_about(struct maker *m, const struct type *about, const struct member *members,
		       unsigned int count, const struct extent *extents, const size_t *offsets,
		       struct extent whole, uint8_t *at)
{
	uint64_t value = about->kind == TYPE_BYTESIZE ? whole.bytes : whole.count;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (strcmp(members[i].name, about->of))
			continue;
		value = about->kind == TYPE_LEN ? extents[i].count :
			about->kind == TYPE_BYTESIZE ? extents[i].bytes : offsets[i];
	}
	if (mistake(m))
		value = chance_one_of(&m->chance, 2) ? odd_number(m) :
			value + chance_below(&m->chance, 3) - 1;
	write_number(at, about, value);
}

static bool is_about(const struct type *t)
{
	return t->kind == TYPE_LEN || t->kind == TYPE_BYTESIZE || t->kind == TYPE_OFFSETOF;
}

enum { MAX_MEMBERS = 32 };

static struct extent make_struct(struct maker *m, const struct type *t, struct block *b,
				 unsigned int dir)
{
	struct extent extents[MAX_MEMBERS] = { 0 }, whole;
	size_t offsets[MAX_MEMBERS], begin = b->used;
	unsigned int i, count = t->count < MAX_MEMBERS ? t->count : MAX_MEMBERS;

	for (i = 0; i < count; i++) {
		if (!t->packed)
			pad(b, t->members[i].type->align);
		offsets[i] = b->used - begin;
		extents[i] = make(m, t->members[i].type, b, dir);
	}
	whole.bytes = b->used - begin;
	pad(b, t->align);
	if (!t->packed)
		whole.bytes = b->used - begin;
	whole.count = whole.bytes;
	for (i = 0; i < count; i++) {
		const struct type *about = t->members[i].type;

		if (is_about(about) && begin + offsets[i] + about->size <= b->used)
			fill_about(m, about, t->members, count, extents, offsets, whole,
				   b->p + begin + offsets[i]);
	}
	return whole;
}

static struct extent make_array(struct maker *m, const struct type *t, struct block *b,
				unsigned int dir)
{
	uint64_t n = in_range(m, t->low, t->high), i;
	struct extent e = { .count = n };
	size_t begin = b->used;

	if (t->kind == TYPE_BYTES) {
		for (i = 0; i < n && b->used < BLOCK_BYTES; i++)
			b->p[b->used++] = chance_next(&m->chance) >> 32;
	} else {
		for (i = 0; i < n; i++)
			make(m, t->elem, b, dir);
	}
	e.bytes = b->used - begin;
	return e;
}

static struct extent make_string(struct maker *m, const struct type *t, struct block *b)
{
	unsigned int i = chance_below(&m->chance, t->count), n = t->lengths[i];

	if (b->used + n > BLOCK_BYTES)
		n = 0;
	memcpy(b->p + b->used, t->strings[i], n);
	if (n > 1 && mistake(m))
		b->p[b->used + chance_below(&m->chance, n)] = chance_next(&m->chance) >> 32;
	b->used += n;
	return (struct extent){ n, n };
}

static struct extent make_resource(struct maker *m, const struct type *t, struct block *b,
				   unsigned int dir)
{
	if (!(dir & DIR_IN)) {
		if (m->made_count < MAX_MADE)
			m->made[m->made_count++] = (struct made){ b->p + b->used, t->resource };
		put_number(b, t, m->spec->resources[t->resource].special);
	} else {
		put_number(b, t, m->pick(m->context, mistake(m) ? 0 : t->resource, &m->chance));
	}
	return (struct extent){ t->size, t->size };
}

static struct extent make_vma(struct maker *m, const struct type *t, struct block *b)
{
	uint64_t pages = m->playground->size / PAGE_BYTES;
	uint64_t n = 1 + chance_below(&m->chance, 16), first = chance_below(&m->chance, pages - n);

	put_number(b, t, (uintptr_t)m->playground->base + first * PAGE_BYTES);
	return (struct extent){ n * PAGE_BYTES, n * PAGE_BYTES };
}

static uint64_t number_of(struct maker *m, const struct type *t)
{
	if (mistake(m))
		return odd_number(m);
	switch (t->kind) {
	case TYPE_CONST:
		return t->value;
	case TYPE_FLAGS:
		return some_flags(m, t);
	case TYPE_INT:
		return t->ranged ? (uint64_t)in_range(m, t->low, t->high) : odd_number(m);
	default:
		return 0;
	}
}

static struct extent make(struct maker *m, const struct type *t, struct block *b, unsigned int dir)
{
	switch (t->kind) {
	case TYPE_PTR:
		return make_pointer(m, t, b);
	case TYPE_BYTES:
	case TYPE_ARRAY:
		return make_array(m, t, b, dir);
	case TYPE_STRING:
		return make_string(m, t, b);
	case TYPE_RESOURCE:
		return make_resource(m, t, b, dir);
	case TYPE_STRUCT:
		return make_struct(m, t, b, dir);
	case TYPE_UNION:
		return make(m, t->members[chance_below(&m->chance, t->count)].type, b, dir);
	case TYPE_VMA:
		return make_vma(m, t, b);
	case TYPE_VOID:
		return (struct extent){ 0, 0 };
	default:
		put_number(b, t, number_of(m, t));
		return (struct extent){ t->size, t->size };
	}
}

/* Wrong arguments of these would unmap the program's own memory, or signal other processes. */
static bool is_calm(const struct call *c)
{
	static const char * const calm[] = { "fcntl", "ioctl", "mmap", "mprotect", "madvise" };
	unsigned int i;

	for (i = 0; i < sizeof(calm) / sizeof(*calm); i++)
		if (!strncmp(c->name, calm[i], strlen(calm[i])))
			return true;
	return false;
}

/* A number as a register holds it: an int is sign-extended. */
static uint64_t register_of(const struct type *t, const uint8_t *p)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < t->size; i++)
		value |= (uint64_t)p[t->big_endian ? t->size - 1 - i : i] << 8 * i;
	return t->size == 4 ? (uint64_t)(int32_t)value : value;
}

void values_make(struct maker *m, const struct call *c, uint64_t seed, uint64_t regs[MAX_ARGS])
{
	struct extent extents[MAX_ARGS] = { 0 }, none = { 0 };
	uint8_t room[BLOCK_BYTES];
	size_t offsets[MAX_ARGS] = { 0 };
	struct block b = { room, 0 };
	unsigned int i;

	chance_seed(&m->chance, seed);
	m->arena->used = 0;
	m->made_count = 0;
	m->wild = chance_one_of(&m->chance, WILD) && !is_calm(c);
	for (i = 0; i < c->arg_count; i++) {
		offsets[i] = b.used;
		extents[i] = make(m, c->args[i].type, &b, DIR_IN);
	}
	for (i = 0; i < c->arg_count; i++) {
		if (is_about(c->args[i].type))
			fill_about(m, c->args[i].type, c->args, c->arg_count, extents, offsets,
				   none, room + offsets[i]);
		regs[i] = register_of(c->args[i].type, room + offsets[i]);
	}
	for (; i < MAX_ARGS; i++)
		regs[i] = 0;
}
