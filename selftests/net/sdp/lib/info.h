/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SDP_INFO of a connection, and waiting until nothing is in flight.
 */
#ifndef SDP_TEST_INFO_H
#define SDP_TEST_INFO_H

#include "sock.h"
#include <linux/sdp.h>

struct sdp_info info_of(int fd);
void await_ends_rest(int one, int other);
long fill_to_rest(int fd, int other);
long fill_ends(int fd, int other);
void await_reader(int fd, long at, pid_t reader);
void await_posted(int fd, unsigned int want);
int sockets(void);
struct pair pair_by(int out, int in);

#endif /* SDP_TEST_INFO_H */
