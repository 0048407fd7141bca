/* SPDX-License-Identifier: GPL-2.0 */
/* busy.h: the time that the processors of this machine were not idle, to the nanosecond. */
#ifndef BUSY_H
#define BUSY_H

struct busy_mark {
	double now_ns;
	double idle_ns;		/* of all processors together, since they were started */
};

struct busy_meter {
	struct busy_mark before, begin, end;
};

/* Around what is measured; 0, or -1 where the kernel does not tell (only root is told). */
int busy_start(struct busy_meter *meter);
int busy_stop(struct busy_meter *meter);

/* After that: the time between the two, and the busy time of all processors in it. */
double busy_elapsed_us(const struct busy_meter *meter);
double busy_us(const struct busy_meter *meter);

#endif
