/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Printing: JSON, columns, and text that others have chosen.
 *
 * Nothing here fails: without memory the program ends.
 */
#ifndef SDP_TOOL_OUTPUT_H
#define SDP_TOOL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

extern bool sdp_json;	/* --json */

void *sdp_need(void *memory);
char *sdp_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *sdp_escaped(const char *bytes, size_t len);
void sdp_print_json(const json_t *value);

#define SDP_TABLE_COLUMNS	8

/**
 * struct sdp_table - lines of text in columns as wide as what is in them
 * @columns: how many there are
 * @right: 1 << column of those that are aligned to the right
 * @width: of each column
 * @lines: rows, and lines that go across
 * @count: of lines
 * @room: for so many
 */
struct sdp_table {
	int columns;
	unsigned int right;
	size_t width[SDP_TABLE_COLUMNS];
	struct sdp_table_line *lines;
	size_t count;
	size_t room;
};

void sdp_table_row(struct sdp_table *table, ...);
void sdp_table_across(struct sdp_table *table, char *text);
void sdp_table_print(struct sdp_table *table);

#endif /* SDP_TOOL_OUTPUT_H */
