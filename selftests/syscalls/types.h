/* SPDX-License-Identifier: GPL-2.0 */
/* The meaning of a description: types with sizes and values, and calls. */
#ifndef SYSCALLS_TYPES_H
#define SYSCALLS_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "lang.h"

enum type_kind {
	TYPE_INT,		/* @low to @high, or any value */
	TYPE_CONST,
	TYPE_FLAGS,		/* of @values */
	TYPE_LEN,		/* of @of: number of array elements, otherwise bytes */
	TYPE_BYTESIZE,
	TYPE_OFFSETOF,		/* offset of @of */
	TYPE_PTR,
	TYPE_BYTES,		/* @low to @high of them */
	TYPE_ARRAY,		/* @low to @high of @elem */
	TYPE_STRING,		/* one of @strings */
	TYPE_RESOURCE,
	TYPE_STRUCT,
	TYPE_UNION,
	TYPE_VMA,
	TYPE_VOID,
};

enum { DIR_IN = 1, DIR_OUT = 2 };

struct member {
	const char *name;
	struct type *type;
};

struct type {
	enum type_kind kind;
	unsigned int size;	/* of a number, 1 to 8 */
	unsigned int align;
	bool big_endian;
	bool ranged;		/* @low and @high are valid */
	bool optional;		/* a pointer that may be NULL */
	bool packed;
	unsigned int dir;	/* of a pointer */
	int64_t low, high;
	uint64_t value;		/* of a constant */
	const uint64_t *values;
	const char **strings;
	const unsigned int *lengths;	/* of the strings, in bytes */
	unsigned int count;	/* of values, strings or members */
	const char *of;
	struct type *elem;	/* of a pointer or an array */
	struct member *members;
	unsigned int resource;	/* index */
};

enum { MAX_ARGS = 6, MAX_RESOURCES = 32 };

struct resource {
	const char *name;
	int parent;		/* index, or -1 */
	unsigned int size;
	uint64_t special;	/* value that means none */
};

struct call {
	const char *name;
	long number;		/* of the system call; -1: a call that only the program knows */
	struct member args[MAX_ARGS];
	unsigned int arg_count;
	int result;		/* index of a resource, or -1 */
};

struct spec {
	struct resource resources[MAX_RESOURCES];
	unsigned int resource_count;
	struct call *calls;
	unsigned int call_count;
};

/* The value of a name that the description does not define. Returns false if there is none. */
typedef bool (*constant_fn)(void *context, const char *name, uint64_t *value);

/* Ends the program with a message at the first error. */
struct spec *types_build(const struct description *d, constant_fn constant, void *context);

int types_resource(const struct spec *spec, const char *name);

/* True if resource @kind is valid where @wanted is required. */
bool types_is_a(const struct spec *spec, int kind, int wanted);

#endif
