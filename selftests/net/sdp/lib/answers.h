/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return values of calls: the same calls are made on TCP and on AF_SDP, and compared.
 */
#ifndef SDP_TEST_ANSWERS_H
#define SDP_TEST_ANSWERS_H

#include "sock.h"

extern unsigned int asked;

void answer_error(const char *what, long value, int error);
void answer(const char *what, long value);

#define ASK(call)	answer(#call, call)

int answers_compare(void (*ask)(void));

#endif /* SDP_TEST_ANSWERS_H */
