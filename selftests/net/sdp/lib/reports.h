/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports of MSG_ZEROCOPY, from the error queue.
 */
#ifndef SDP_TEST_REPORTS_H
#define SDP_TEST_REPORTS_H

#include "sock.h"

/* The reports so far. */
struct reports {
	long count;		/* sends, as a report covers a range */
	long copied;		/* of these, sends that were copied after all */
	unsigned int next;	/* next expected number */
};

void lend(int fd);
bool report_take(int fd, struct reports *r);
void reports_await(int fd, struct reports *r, long count);

#endif /* SDP_TEST_REPORTS_H */
