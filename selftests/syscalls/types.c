// SPDX-License-Identifier: GPL-2.0
/*
 * Converts a description's trees to types and calls.
 *
 * A template is instantiated by replacing its parameters in a copy of its trees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"

/* The current conversion, for the functions below. */
static const struct description *desc;
static struct spec *spec;
static constant_fn constant_of;
static void *constant_context;

/* The arguments of the template in which a tree is. */
struct scope {
	const struct decl *decl;
	const struct expr *use;
};

enum { MAX_DEPTH = 16 };

static struct type *build(const struct expr *e, unsigned int depth);

static bool named(const struct expr *e, const char *name)
{
	return e->kind == EXPR_NAME && !strcmp(e->text, name);
}

static uint64_t number_of(const struct expr *e)
{
	uint64_t value = 0;

	if (e->kind == EXPR_NUMBER)
		return e->number;
	if (e->kind != EXPR_NAME || e->count)
		lang_error(e->line, "a number is wanted");
	if (!constant_of(constant_context, e->text, &value))
		lang_error(e->line, "%s has no value", e->text);
	return value;
}

/* A copy of @e with the template's parameters replaced. */
static struct expr *bind(const struct expr *e, const struct scope *s)
{
	struct expr *new;
	unsigned int i;

	for (i = 0; e->kind == EXPR_NAME && !e->count && i < s->decl->param_count; i++)
		if (!strcmp(e->text, s->decl->params[i]))
			return s->use->args[i];
	new = lang_alloc(sizeof(*new));
	*new = *e;
	new->args = lang_alloc(e->count * sizeof(*new->args) + 1);
	for (i = 0; i < e->count; i++)
		new->args[i] = bind(e->args[i], s);
	return new;
}

static void want_args(const struct expr *e, unsigned int low, unsigned int high)
{
	if (e->count < low || e->count > high)
		lang_error(e->line, "%s has %u arguments", e->text, e->count);
}

/* int8 to int64, intptr, and the same with be: sets size and byte order. */
static bool int_name(const char *text, struct type *t)
{
	unsigned int bits = 0;
	int n = 0;

	if (!strcmp(text, "intptr")) {
		bits = 64;
	} else if (sscanf(text, "int%u%n", &bits, &n) != 1 ||
		   (text[n] && strcmp(text + n, "be"))) {
		return false;
	}
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return false;
	t->big_endian = n && text[n];
	t->size = bits / 8;
	t->align = t->size;
	return true;
}

static void set_range(struct type *t, const struct expr *e)
{
	t->ranged = true;
	if (e->kind == EXPR_RANGE) {
		t->low = number_of(e->args[0]);
		t->high = number_of(e->args[1]);
	} else {
		t->low = number_of(e);
		t->high = t->low;
	}
	if (t->low > t->high)
		lang_error(e->line, "a range that begins above its end");
}

/* The last argument of const, flags, len and so on: the size; 8 for a call's argument. */
static void set_base(struct type *t, const struct expr *e, unsigned int i)
{
	t->size = 8;
	t->align = 8;
	if (i < e->count && !(e->args[i]->kind == EXPR_NAME && int_name(e->args[i]->text, t)))
		lang_error(e->line, "%s: an int is wanted", e->text);
}

static struct type *new_type(enum type_kind kind)
{
	struct type *t = lang_alloc(sizeof(*t));

	t->kind = kind;
	t->align = 1;
	return t;
}

static const struct decl *values_of(const struct expr *e, const char *name)
{
	const struct decl *decl = lang_find(desc, name, DECL_VALUES);

	if (!decl)
		lang_error(e->line, "no values %s", name);
	return decl;
}

static struct type *build_flags(const struct expr *e)
{
	struct type *t = new_type(TYPE_FLAGS);
	const struct decl *decl;
	uint64_t *values;
	unsigned int i;

	want_args(e, 1, 2);
	if (e->args[0]->kind != EXPR_NAME)
		lang_error(e->line, "flags of what?");
	decl = values_of(e, e->args[0]->text);
	values = lang_alloc(decl->expr_count * sizeof(*values));
	for (i = 0; i < decl->expr_count; i++)
		values[i] = number_of(decl->exprs[i]);
	t->values = values;
	t->count = decl->expr_count;
	set_base(t, e, 1);
	return t;
}

static struct type *build_string(const struct expr *e)
{
	struct type *t = new_type(TYPE_STRING);
	const struct decl *decl;
	struct expr **list = e->args;
	unsigned int i, *lengths;

	want_args(e, 1, 1);
	t->count = 1;
	if (e->args[0]->kind == EXPR_NAME) {
		decl = values_of(e, e->args[0]->text);
		list = decl->exprs;
		t->count = decl->expr_count;
	}
	t->strings = lang_alloc(t->count * sizeof(*t->strings));
	lengths = lang_alloc(t->count * sizeof(*lengths));
	for (i = 0; i < t->count; i++) {
		if (list[i]->kind != EXPR_STRING)
			lang_error(e->line, "a string is wanted");
		t->strings[i] = list[i]->text;
		/* With the terminating NUL, except for stringnoz. */
		lengths[i] = list[i]->number + named(e, "string");
	}
	t->lengths = lengths;
	return t;
}

static struct type *build_ptr(const struct expr *e, unsigned int depth)
{
	struct type *t = new_type(TYPE_PTR);

	want_args(e, 2, 3);
	t->size = 8;
	t->align = 8;
	t->optional = e->count == 3 && named(e->args[2], "opt");
	if (named(e->args[0], "in"))
		t->dir = DIR_IN;
	else if (named(e->args[0], "out"))
		t->dir = DIR_OUT;
	else if (named(e->args[0], "inout"))
		t->dir = DIR_IN | DIR_OUT;
	else
		lang_error(e->line, "a pointer that is neither in, out nor inout");
	t->elem = build(e->args[1], depth);
	return t;
}

static struct type *build_array(const struct expr *e, unsigned int depth)
{
	struct type *t = new_type(TYPE_ARRAY);

	want_args(e, 1, 2);
	t->elem = build(e->args[0], depth);
	t->align = t->elem->align;
	t->high = 8;
	if (e->count == 2)
		set_range(t, e->args[1]);
	if (t->low < 0)
		lang_error(e->line, "an array of less than nothing");
	if (t->elem->kind == TYPE_INT && t->elem->size == 1 && !t->elem->ranged)
		t->kind = TYPE_BYTES;
	return t;
}

/* len[x, int], bytesize[x, int], offsetof[x, int] */
static struct type *build_about(const struct expr *e, enum type_kind kind)
{
	struct type *t = new_type(kind);

	want_args(e, 1, 2);
	if (e->args[0]->kind != EXPR_NAME)
		lang_error(e->line, "%s of what?", e->text);
	t->of = e->args[0]->text;
	set_base(t, e, 1);
	return t;
}

/* Checks that there is a field of that name, or that it is the whole. */
static void check_about(const struct expr *e, const struct type *t, const struct member *m,
			unsigned int count)
{
	unsigned int i;

	if (t->kind != TYPE_LEN && t->kind != TYPE_BYTESIZE && t->kind != TYPE_OFFSETOF)
		return;
	if (!strcmp(t->of, "parent"))
		return;
	for (i = 0; i < count; i++)
		if (!strcmp(m[i].name, t->of))
			return;
	lang_error(e->line, "there is no %s here", t->of);
}

static void set_attributes(struct type *t, const struct decl *decl)
{
	unsigned int i;

	for (i = 0; i < decl->attr_count; i++) {
		if (named(decl->attrs[i], "packed"))
			t->packed = true;
		else if (named(decl->attrs[i], "align") && decl->attrs[i]->count == 1)
			t->low = number_of(decl->attrs[i]->args[0]);
		else
			lang_error(decl->line, "an attribute that is not known");
	}
	if (t->packed)
		t->align = 1;
	if (t->low)
		t->align = t->low;
}

static struct type *build_members(const struct decl *decl, const struct expr *use,
				  unsigned int depth)
{
	struct type *t = new_type(decl->kind == DECL_STRUCT ? TYPE_STRUCT : TYPE_UNION);
	struct scope s = { decl, use };
	unsigned int i;

	if (use->count != decl->param_count)
		lang_error(use->line, "%s has %u parameters", decl->name, decl->param_count);
	t->count = decl->field_count;
	t->members = lang_alloc(t->count * sizeof(*t->members));
	for (i = 0; i < t->count; i++) {
		t->members[i].name = decl->fields[i].name;
		t->members[i].type = build(bind(decl->fields[i].type, &s), depth);
		if (t->members[i].type->align > t->align)
			t->align = t->members[i].type->align;
	}
	for (i = 0; i < t->count && t->kind == TYPE_STRUCT; i++)
		check_about(use, t->members[i].type, t->members, t->count);
	set_attributes(t, decl);
	return t;
}

static struct type *build_declared(const struct expr *e, unsigned int depth)
{
	const struct decl *decl;
	struct type *t;
	int resource = types_resource(spec, e->text);

	if (resource >= 0) {
		t = new_type(TYPE_RESOURCE);
		t->resource = resource;
		t->size = spec->resources[resource].size;
		t->align = t->size;
		return t;
	}
	decl = lang_find(desc, e->text, DECL_ALIAS);
	if (decl) {
		struct scope s = { decl, e };

		if (e->count != decl->param_count)
			lang_error(e->line, "%s has %u parameters", e->text, decl->param_count);
		return build(bind(decl->type, &s), depth);
	}
	decl = lang_find(desc, e->text, DECL_STRUCT);
	if (!decl)
		decl = lang_find(desc, e->text, DECL_UNION);
	if (!decl)
		lang_error(e->line, "what is %s?", e->text);
	return build_members(decl, e, depth);
}

static struct type *build_int(const struct expr *e, struct type *t)
{
	want_args(e, 0, 1);
	if (e->count)
		set_range(t, e->args[0]);
	return t;
}

static struct type *build_const(const struct expr *e)
{
	struct type *t = new_type(TYPE_CONST);

	want_args(e, 1, 2);
	t->value = number_of(e->args[0]);
	set_base(t, e, 1);
	return t;
}

static struct type *build_vma(void)
{
	struct type *t = new_type(TYPE_VMA);

	t->size = 8;
	t->align = 8;
	return t;
}

static struct type *build(const struct expr *e, unsigned int depth)
{
	struct type *t = new_type(TYPE_INT);

	if (++depth > MAX_DEPTH)
		lang_error(e->line, "%s goes too deep, or for ever", e->text);
	if (e->kind != EXPR_NAME)
		lang_error(e->line, "a type is wanted");
	if (int_name(e->text, t))
		return build_int(e, t);
	if (named(e, "const"))
		return build_const(e);
	if (named(e, "flags"))
		return build_flags(e);
	if (named(e, "len"))
		return build_about(e, TYPE_LEN);
	if (named(e, "bytesize"))
		return build_about(e, TYPE_BYTESIZE);
	if (named(e, "offsetof"))
		return build_about(e, TYPE_OFFSETOF);
	if (named(e, "ptr"))
		return build_ptr(e, depth);
	if (named(e, "array"))
		return build_array(e, depth);
	if (named(e, "string") || named(e, "stringnoz"))
		return build_string(e);
	if (named(e, "vma"))
		return build_vma();
	if (named(e, "void"))
		return new_type(TYPE_VOID);
	return build_declared(e, depth);
}

static void add_resource(const struct decl *decl)
{
	struct resource *r = &spec->resources[spec->resource_count];
	struct type base = { 0 };

	if (spec->resource_count == MAX_RESOURCES)
		lang_error(decl->line, "more than %d resources", MAX_RESOURCES);
	r->name = decl->name;
	r->parent = types_resource(spec, decl->type->text);
	if (r->parent >= 0) {
		r->size = spec->resources[r->parent].size;
		r->special = spec->resources[r->parent].special;
	} else if (int_name(decl->type->text, &base)) {
		r->size = base.size;
	} else {
		lang_error(decl->line, "%s: what is %s?", decl->name, decl->type->text);
	}
	if (decl->expr_count)
		r->special = number_of(decl->exprs[0]);
	spec->resource_count++;
}

static void add_call(const struct decl *decl)
{
	struct call *c;
	char name[64];
	uint64_t number;
	unsigned int i;

	spec->calls = lang_grow(spec->calls, spec->call_count, sizeof(*spec->calls));
	c = memset(&spec->calls[spec->call_count++], 0, sizeof(*c));
	c->name = decl->name;
	c->number = -1;
	c->result = -1;
	snprintf(name, sizeof(name), "__NR_%.*s", (int)strcspn(c->name, "$"), c->name);
	if (strncmp(c->name, "syz_", 4)) {
		if (!constant_of(constant_context, name, &number))
			lang_error(decl->line, "there is no system call %s", name);
		c->number = number;
	}
	if (decl->field_count > MAX_ARGS)
		lang_error(decl->line, "%s has too many arguments", c->name);
	c->arg_count = decl->field_count;
	for (i = 0; i < c->arg_count; i++) {
		c->args[i].name = decl->fields[i].name;
		c->args[i].type = build(decl->fields[i].type, 0);
	}
	for (i = 0; i < c->arg_count; i++)
		check_about(decl->fields[i].type, c->args[i].type, c->args, c->arg_count);
	if (decl->type)
		c->result = types_resource(spec, decl->type->text);
	if (decl->type && c->result < 0)
		lang_error(decl->line, "%s is no resource", decl->type->text);
}

struct spec *types_build(const struct description *d, constant_fn constant, void *context)
{
	unsigned int i;

	desc = d;
	spec = lang_alloc(sizeof(*spec));
	constant_of = constant;
	constant_context = context;
	for (i = 0; i < d->decl_count; i++)
		if (d->decls[i].kind == DECL_RESOURCE)
			add_resource(&d->decls[i]);
	for (i = 0; i < d->decl_count; i++)
		if (d->decls[i].kind == DECL_CALL)
			add_call(&d->decls[i]);
	if (!spec->call_count)
		lang_error(0, "no call is described");
	return spec;
}

int types_resource(const struct spec *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->resource_count; i++)
		if (!strcmp(s->resources[i].name, name))
			return i;
	return -1;
}

bool types_is_a(const struct spec *s, int kind, int wanted)
{
	for (; kind >= 0; kind = s->resources[kind].parent)
		if (kind == wanted)
			return true;
	return false;
}
