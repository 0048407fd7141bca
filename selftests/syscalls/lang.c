// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a description: a tokenizer and a recursive descent parser, see lang.h.
 *
 * A description is as trustworthy as the program's own source, so its first error ends the
 * program, and nothing is freed.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang.h"

enum token { T_END, T_LINE, T_WORD, T_NUMBER, T_STRING, T_SIGN };

/* The position, and the next token. */
static const char *in_file = "description";
static const char *at;
static int at_line;
static enum token token;
static int token_line;
static char *token_text;
static uint64_t token_number;

void lang_error(int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", in_file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

void *lang_alloc(unsigned int size)
{
	void *p = calloc(1, size);

	if (!p)
		lang_error(at_line, "no memory");
	return p;
}

void *lang_grow(void *list, unsigned int count, unsigned int size)
{
	/* The list is full at lengths 0, 1, 2, 4, 8, ... */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2ul * count : 1) * size);
	if (!list)
		lang_error(at_line, "no memory");
	return list;
}

static char *copy(const char *from, unsigned long n)
{
	char *text = lang_alloc(n + 1);

	memcpy(text, from, n);
	return text;
}

static int word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* \n, \t, \0 and \x12, as in C. */
static void read_string(void)
{
	char *out = lang_alloc(strlen(at) + 1), c;
	unsigned int n = 0;

	for (at++; *at != '"'; at++) {
		c = *at;
		if (!c || c == '\n')
			lang_error(at_line, "a string without an end");
		if (c == '\\') {
			c = *++at;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? 0 : c;
		}
		out[n++] = c;
	}
	at++;
	token = T_STRING;
	token_text = out;
	token_number = n;
}

static void read_number(void)
{
	char *end;

	token = T_NUMBER;
	token_number = *at == '-' ? (uint64_t)strtoll(at, &end, 0) : strtoull(at, &end, 0);
	if (end == at || word_char(*end))
		lang_error(at_line, "no number: %.20s", at);
	at = end;
}

static void next(void)
{
	const char *begin;

	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	if (*at == '#')
		at += strcspn(at, "\n");
	token_line = at_line;
	begin = at;
	if (!*at) {
		token = T_END;
	} else if (*at == '\n') {
		token = T_LINE;
		at++;
		at_line++;
	} else if (*at == '"') {
		read_string();
	} else if (isdigit((unsigned char)*at) || (*at == '-' && isdigit((unsigned char)at[1]))) {
		read_number();
	} else if (word_char(*at)) {
		while (word_char(*at))
			at++;
		token = T_WORD;
		token_text = copy(begin, at - begin);
	} else {
		token = T_SIGN;
		token_text = copy(at++, 1);
	}
}

static int is_sign(char c)
{
	return token == T_SIGN && *token_text == c;
}

static void expect_sign(char c)
{
	if (!is_sign(c))
		lang_error(token_line, "'%c' is missing", c);
	next();
}

static int took_sign(char c)
{
	if (!is_sign(c))
		return 0;
	next();
	return 1;
}

static const char *expect_word(void)
{
	const char *text = token_text;

	if (token != T_WORD)
		lang_error(token_line, "a name is missing");
	next();
	return text;
}

static void skip_lines(void)
{
	while (token == T_LINE)
		next();
}

static void expect_line(void)
{
	if (token != T_LINE && token != T_END)
		lang_error(token_line, "the line does not end here");
	skip_lines();
}

/* The rest of the line, unparsed; the next token is that of the next line. */
static const char *rest_of_line(void)
{
	const char *begin = at;
	unsigned long n = strcspn(at, "\n");

	at += n;
	next();
	skip_lines();
	return copy(begin, n);
}

static struct expr *parse_expr(void);

static void parse_args(struct expr *e)
{
	do {
		e->args = lang_grow(e->args, e->count, sizeof(*e->args));
		e->args[e->count++] = parse_expr();
	} while (took_sign(','));
	expect_sign(']');
}

static struct expr *parse_atom(void)
{
	struct expr *e = lang_alloc(sizeof(*e));

	e->line = token_line;
	if (token == T_NUMBER) {
		e->kind = EXPR_NUMBER;
		e->number = token_number;
	} else if (token == T_STRING) {
		e->kind = EXPR_STRING;
		e->text = token_text;
		e->number = token_number;
	} else if (token == T_WORD) {
		e->kind = EXPR_NAME;
		e->text = token_text;
	} else {
		lang_error(token_line, "a type or value is missing");
	}
	next();
	if (e->kind == EXPR_NAME && took_sign('['))
		parse_args(e);
	return e;
}

static struct expr *parse_expr(void)
{
	struct expr *low = parse_atom(), *e;

	if (!took_sign(':'))
		return low;
	e = lang_alloc(sizeof(*e));
	e->kind = EXPR_RANGE;
	e->line = low->line;
	e->count = 2;
	e->args = lang_alloc(2 * sizeof(*e->args));
	e->args[0] = low;
	e->args[1] = parse_atom();
	return e;
}

static void add_field(struct decl *decl, const char *name, struct expr *type)
{
	decl->fields = lang_grow(decl->fields, decl->field_count, sizeof(*decl->fields));
	decl->fields[decl->field_count++] = (struct field){ name, type };
}

/* One field per line, after the opening bracket; then attributes in brackets. */
static void parse_fields(struct decl *decl, char close)
{
	struct expr list = { 0 };
	const char *name;

	expect_line();
	while (!is_sign(close)) {
		name = expect_word();
		add_field(decl, name, parse_expr());
		expect_line();
	}
	next();
	if (!decl->field_count)
		lang_error(decl->line, "%s is empty", decl->name);
	if (took_sign('['))
		parse_args(&list);
	decl->attrs = list.args;
	decl->attr_count = list.count;
	expect_line();
}

static void parse_values(struct decl *decl)
{
	do {
		decl->exprs = lang_grow(decl->exprs, decl->expr_count, sizeof(*decl->exprs));
		decl->exprs[decl->expr_count++] = parse_expr();
	} while (took_sign(','));
	expect_line();
}

static void parse_call(struct decl *decl)
{
	const char *name;

	decl->kind = DECL_CALL;
	while (!is_sign(')')) {
		if (decl->field_count)
			expect_sign(',');
		name = expect_word();
		add_field(decl, name, parse_expr());
	}
	next();
	if (token == T_WORD)
		decl->type = parse_expr();
	expect_line();
}

static void parse_resource(struct decl *decl)
{
	decl->kind = DECL_RESOURCE;
	decl->name = expect_word();
	expect_sign('[');
	decl->type = parse_expr();
	expect_sign(']');
	if (took_sign(':'))
		parse_values(decl);
	else
		expect_line();
}

/* Parses fields or options if they begin here; returns whether they do. */
static int took_body(struct decl *decl)
{
	if (is_sign('{')) {
		decl->kind = DECL_STRUCT;
		next();
		parse_fields(decl, '}');
	} else if (is_sign('[')) {
		decl->kind = DECL_UNION;
		next();
		parse_fields(decl, ']');
	} else {
		return 0;
	}
	return 1;
}

static void parse_type(struct decl *decl)
{
	decl->name = expect_word();
	if (took_sign('[')) {
		do {
			decl->params = lang_grow(decl->params, decl->param_count, sizeof(char *));
			decl->params[decl->param_count++] = expect_word();
		} while (took_sign(','));
		expect_sign(']');
	}
	if (took_body(decl))
		return;
	decl->kind = DECL_ALIAS;
	decl->type = parse_expr();
	expect_line();
}

static void parse_decl(struct description *d)
{
	struct decl *decl;
	const char *word = expect_word();

	if (!strcmp(word, "include")) {
		d->includes = lang_grow(d->includes, d->include_count, sizeof(char *));
		/* The next token is the '<'. */
		d->includes[d->include_count++] = rest_of_line();
		return;
	}
	if (!strcmp(word, "define")) {
		char *both = lang_alloc(strlen(token_text) + strcspn(at, "\n") + 2);

		sprintf(both, "%s ", token_text);
		d->defines = lang_grow(d->defines, d->define_count, sizeof(char *));
		d->defines[d->define_count++] = strcat(both, rest_of_line());
		return;
	}
	d->decls = lang_grow(d->decls, d->decl_count, sizeof(*d->decls));
	decl = memset(&d->decls[d->decl_count++], 0, sizeof(*decl));
	decl->name = word;
	decl->line = token_line;
	if (!strcmp(word, "resource")) {
		parse_resource(decl);
	} else if (!strcmp(word, "type")) {
		parse_type(decl);
	} else if (took_sign('(')) {
		parse_call(decl);
	} else if (took_sign('=')) {
		decl->kind = DECL_VALUES;
		parse_values(decl);
	} else if (!took_body(decl)) {
		lang_error(decl->line, "what is %s?", word);
	}
}

static void check_names(const struct description *d)
{
	unsigned int i, k;

	for (i = 0; i < d->decl_count; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(d->decls[i].name, d->decls[k].name))
				lang_error(d->decls[i].line, "%s is there already, in line %d",
					   d->decls[i].name, d->decls[k].line);
}

struct description *lang_parse(const char *file, const char *text)
{
	struct description *d = lang_alloc(sizeof(*d));

	in_file = file;
	at = text;
	at_line = 1;
	next();
	skip_lines();
	while (token != T_END)
		parse_decl(d);
	check_names(d);
	return d;
}

const struct decl *lang_find(const struct description *d, const char *name, enum decl_kind kind)
{
	unsigned int i;

	for (i = 0; i < d->decl_count; i++)
		if (d->decls[i].kind == kind && !strcmp(d->decls[i].name, name))
			return &d->decls[i];
	return NULL;
}
