/* SPDX-License-Identifier: GPL-2.0 */
/* busy.h: the busy time of this machine's processors, in nanoseconds. */
#ifndef BUSY_H
#define BUSY_H

struct busy_mark {
	double now_ns;
	double idle_ns;		/* of all processors together, since boot */
};

struct busy_meter {
	struct busy_mark before, begin, end;
};

/* Enclose what is measured; 0, or -1 where the kernel does not tell (only root may know). */
int busy_start(struct busy_meter *meter);
int busy_stop(struct busy_meter *meter);

/* Afterwards: the time in between, and the busy time of all processors in it. */
double busy_elapsed_us(const struct busy_meter *meter);
double busy_us(const struct busy_meter *meter);

#endif
