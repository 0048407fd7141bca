/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a system call, as a program says (SDP_PROGRAM). */
#ifndef SDP_SOCKET_PROGRAM_H
#define SDP_SOCKET_PROGRAM_H

#include <linux/uio.h>

#include "../proto/program.h"

struct sdp_sock;

/**
 * struct sdp_program_run - a program while a system call executes it
 * @memory: the memory of the call
 * @whole: the same, from its beginning
 * @at: position of @memory
 * @left: bytes that are still to be found
 * @flags: MSG_* of a write
 * @state: state of the program behind those that have been found
 * @single: the memory is one piece, so that strips are of use
 * @stripped: what has been found last is @strip, and not in @iov
 * @fault: bytes of a strip could not be copied
 * @strip: the strip
 * @put: bytes of it that a read has copied to the memory
 * @room: @iov, as memory for the bytes of a strip one after the other
 * @iov: what has been found last
 * @program: the program
 *
 * Owned by the call, which runs it while it is alone in reading or writing.
 */
struct sdp_program_run {
	struct iov_iter memory;
	struct iov_iter whole;
	s64 at;
	u64 left;
	int flags;
	struct sdp_program_state state;
	bool single;
	bool stripped;
	bool fault;
	struct sdp_program_strip strip;
	size_t put;
	struct kvec room;
	struct iovec *iov;
	struct sdp_program *program;
};

int sdp_program_of_send(struct msghdr *msg, struct sdp_program_run **run);
int sdp_program_of_recv(struct sdp_sock *ssk, struct msghdr *msg, int flags,
			struct sdp_program_run **run);
size_t sdp_program_next(struct sdp_program_run *run, struct msghdr *msg);
int sdp_program_put(struct sdp_program_run *run, size_t n);
void sdp_program_over(struct sdp_program_run *run, struct msghdr *msg,
		      size_t done);

#endif /* SDP_SOCKET_PROGRAM_H */
