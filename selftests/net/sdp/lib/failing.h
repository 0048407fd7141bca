/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail, on a kernel with fault injection (the debug kernel).
 */
#ifndef SDP_TEST_FAILING_H
#define SDP_TEST_FAILING_H

#include <fcntl.h>
#include "tap.h"

#define SLAB	"/sys/kernel/debug/failslab/"
#define PAGES	"/sys/kernel/debug/fail_page_alloc/"

void write_to(const char *path, const char *text);
bool can_fail(void);
void fail_at(int n);
int left_to_fail(void);
bool has_failed(void);

/* Addresses of code: @first, and the one after the last. */
struct text {
	unsigned long first;
	unsigned long last;
};

bool function_text(const char *of, struct text *text);
bool module_function_text(const char *of, struct text *text);
void only_in(const struct text *text);
void not_in(const struct text *text);
void only_the_module(bool on);
void fail_often(unsigned int percent);

#endif /* SDP_TEST_FAILING_H */
