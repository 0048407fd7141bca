/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output: JSON, tables, and text from other users.
 *
 * These functions do not fail: without memory the program ends.
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
 * struct sdp_table - lines of text in columns that are as wide as their contents
 * @columns: number of columns
 * @right: bit mask (1 << column) of right-aligned columns
 * @width: of each column
 * @lines: rows, and lines across all columns
 * @count: number of lines
 * @room: number of lines that @lines has room for
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
