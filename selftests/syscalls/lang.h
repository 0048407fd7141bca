/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A part of the language of syzkaller's descriptions, parsed into trees.
 *
 * types.c converts the trees to types. The parser supports
 *
 *	include <FILE>, define NAME VALUE, # comments
 *	resource NAME[BASE]: VALUE, ...
 *	NAME = VALUE, ... and NAME = "STRING", ...
 *	NAME { fields }, NAME [ options ], with attributes [packed, align[N]]
 *	type NAME[PARAMETERS] TYPE, or fields, or options
 *	CALL$VARIANT(argument type, ...) RESOURCE
 *
 * and the types const, flags, intN and intNbe with values or ranges, intptr, len, bytesize,
 * offsetof, ptr, array, string, stringnoz, resources, vma, void, structs, unions and templates of
 * these.
 */
#ifndef SYSCALLS_LANG_H
#define SYSCALLS_LANG_H

#include <stdint.h>

enum expr_kind { EXPR_NAME, EXPR_NUMBER, EXPR_STRING, EXPR_RANGE };

/* NAME, NAME[ARGUMENT, ...], a number, a string, or LOW:HIGH in the two arguments */
struct expr {
	enum expr_kind kind;
	int line;
	const char *text;
	uint64_t number;
	struct expr **args;
	unsigned int count;
};

struct field {
	const char *name;
	struct expr *type;
};

enum decl_kind { DECL_RESOURCE, DECL_VALUES, DECL_STRUCT, DECL_UNION, DECL_ALIAS, DECL_CALL };

/* A declaration; @params are a template's, @exprs the values, or the base of a resource. */
struct decl {
	enum decl_kind kind;
	int line;
	const char *name;
	const char **params;
	unsigned int param_count;
	struct field *fields;
	unsigned int field_count;
	struct expr **exprs;
	unsigned int expr_count;
	struct expr *type;		/* of an alias; a call's result; a resource's base */
	struct expr **attrs;
	unsigned int attr_count;
};

struct description {
	struct decl *decls;
	unsigned int decl_count;
	const char **includes;
	unsigned int include_count;
	const char **defines;		/* NAME VALUE */
	unsigned int define_count;
};

/* Ends the program with a message if @text is not valid; @file is named in it. */
struct description *lang_parse(const char *file, const char *text);

/* Ends the program with FILE:LINE: and the message. */
void lang_error(int line, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

const struct decl *lang_find(const struct description *d, const char *name, enum decl_kind kind);

/* Makes room in a list: list = lang_grow(list, count, sizeof(*list)) before [count] is set. */
void *lang_grow(void *list, unsigned int count, unsigned int size);
void *lang_alloc(unsigned int size);

#endif
