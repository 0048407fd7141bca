// SPDX-License-Identifier: GPL-2.0
/* Output: JSON, tables, and text from other users. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "sdp.h"

bool sdp_json;

/* One line: cells, or a line across all columns in the first one. */
struct sdp_table_line {
	char *cell[SDP_TABLE_COLUMNS];
	bool across;
};

/**
 * sdp_need() - end the program if an allocation failed
 * @memory: result of an allocation
 *
 * Return: @memory, which is not NULL.
 */
void *sdp_need(void *memory)
{
	if (memory)
		return memory;
	fputs("sdp: out of memory\n", stderr);
	exit(SDP_REFUSED);
}

/**
 * sdp_text() - formatted text
 * @format: as in printf()
 *
 * Return: the text, for the caller to free.
 */
char *sdp_text(const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, format);
	len = vasprintf(&text, format, ap);
	va_end(ap);
	return sdp_need(len < 0 ? NULL : text);
}

/**
 * sdp_escaped() - make text of any user harmless for terminals and parsers of lines
 * @bytes: text
 * @len: its length in bytes; a NUL ends it earlier
 *
 * Bytes that are not printable ASCII, and the backslash, become \ooo, as in /proc.
 *
 * Return: the JSON string.
 */
json_t *sdp_escaped(const char *bytes, size_t len)
{
	char *text = sdp_need(malloc(len * 4 + 1)), *to = text;
	json_t *string;
	size_t i;

	for (i = 0; i < len && bytes[i]; i++) {
		unsigned char c = bytes[i];

		if (c < ' ' || c > '~' || c == '\\')
			to += sprintf(to, "\\%03o", c);
		else
			*to++ = c;
	}
	*to = 0;
	string = sdp_need(json_string(text));
	free(text);
	return string;
}

/**
 * sdp_print_json() - print a value and a newline
 * @value: an object or an array
 */
void sdp_print_json(const json_t *value)
{
	char *text = sdp_need(json_dumps(value, JSON_INDENT(2)));

	puts(text);
	free(text);
}

static struct sdp_table_line *new_line(struct sdp_table *table)
{
	struct sdp_table_line *line;

	if (table->count == table->room) {
		table->room = table->room ? table->room * 2 : 64;
		table->lines = sdp_need(reallocarray(table->lines, table->room, sizeof(*line)));
	}
	line = &table->lines[table->count++];
	memset(line, 0, sizeof(*line));
	return line;
}

/**
 * sdp_table_row() - add a row
 * @table: table
 *
 * Further arguments are the cells, char * from sdp_text() or strdup(), which the table owns from
 * then on.
 */
void sdp_table_row(struct sdp_table *table, ...)
{
	struct sdp_table_line *line = new_line(table);
	va_list ap;
	int i;

	va_start(ap, table);
	for (i = 0; i < table->columns; i++) {
		line->cell[i] = sdp_need(va_arg(ap, char *));
		if (strlen(line->cell[i]) > table->width[i])
			table->width[i] = strlen(line->cell[i]);
	}
	va_end(ap);
}

/**
 * sdp_table_across() - add a line that does not follow the columns
 * @table: table
 * @text: the line, which the table owns from then on
 */
void sdp_table_across(struct sdp_table *table, char *text)
{
	struct sdp_table_line *line = new_line(table);

	line->cell[0] = text;
	line->across = true;
}

/* Lines have no trailing blanks. */
static void print_row(const struct sdp_table *table, const struct sdp_table_line *line)
{
	int last = table->columns - 1, i;

	while (last && !*line->cell[last])
		last--;
	for (i = 0; i <= last; i++) {
		int width = i == last && !(table->right & 1u << i) ? 0 : (int)table->width[i];

		if (i)
			fputs("  ", stdout);
		printf("%*s", table->right & 1u << i ? width : -width, line->cell[i]);
	}
	putchar('\n');
}

/**
 * sdp_table_print() - print a table and free its contents
 * @table: table
 */
void sdp_table_print(struct sdp_table *table)
{
	size_t n;
	int i;

	for (n = 0; n < table->count; n++) {
		struct sdp_table_line *line = &table->lines[n];

		if (line->across)
			puts(line->cell[0]);
		else
			print_row(table, line);
		for (i = 0; i < SDP_TABLE_COLUMNS; i++)
			free(line->cell[i]);
	}
	free(table->lines);
	table->lines = NULL;
	table->count = 0;
	table->room = 0;
}
