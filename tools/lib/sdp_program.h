/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs for sendmsg() and recvmsg() on AF_SDP sockets: the bytes of a message lie in many places
 * of the memory.
 *
 *	struct sdp_program p;
 *
 *	sdp_program_init(&p);
 *	sdp_program_strided(&p, 8, rows, sizeof(double), rows_apart);
 *	n = sdp_program_send(fd, &p, &matrix, 1, 0, 0, 0);
 *
 * All of it is in this file. Each function that adds to a program returns 0, or -1 with errno set.
 * A program that lacks something after an error is refused by sdp_program_send() and
 * sdp_program_recv() with the same errno, so it is enough to look there. sdp_program(3) describes
 * the functions.
 *
 * A shape begins at the position of the program and leaves it there, so shapes can follow each
 * other and be put into loops.
 */
#ifndef SDP_PROGRAM_LIB_H
#define SDP_PROGRAM_LIB_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <linux/sdp.h>

/**
 * struct sdp_program - a program
 * @ops: number of operations
 * @error: errno of the first addition that failed, or 0
 * @op: operations
 */
struct sdp_program {
	unsigned int ops;
	int error;
	struct sdp_op op[SDP_OPS_MAX];
};

/**
 * struct sdp_block - bytes in memory
 * @at: their position
 * @len: number of bytes
 */
struct sdp_block {
	uint64_t at;
	uint64_t len;
};

/* A control message that has room for any program. */
union sdp_program_control {
	struct cmsghdr cmsg;
	char room[CMSG_SPACE(sizeof(struct sdp_program_hdr) + SDP_OPS_MAX * sizeof(struct sdp_op))];
};

static inline int sdp_program_fail(struct sdp_program *p, int error)
{
	if (!p->error)
		p->error = error;
	errno = p->error;
	return -1;
}

/**
 * sdp_program_init() - begin a program
 * @p: to fill in
 */
static inline void sdp_program_init(struct sdp_program *p)
{
	p->ops = 0;
	p->error = 0;
}

/**
 * sdp_program_op() - add one operation
 * @p: program
 * @code: what it does
 * @n: its number
 *
 * Return: 0, or -1 with errno E2BIG if the program has no room for more.
 */
static inline int sdp_program_op(struct sdp_program *p, enum sdp_op_code code, int64_t n)
{
	if (p->error)
		return sdp_program_fail(p, p->error);
	if (p->ops == SDP_OPS_MAX)
		return sdp_program_fail(p, E2BIG);
	p->op[p->ops++] = (struct sdp_op){ .code = code, .reserved = 0, .n = n };
	return 0;
}

static inline void sdp_program_skip(struct sdp_program *p, int64_t n)
{
	if (n)
		sdp_program_op(p, SDP_OP_SKIP, n);
}

static inline int sdp_program_outcome(struct sdp_program *p)
{
	return p->error ? sdp_program_fail(p, p->error) : 0;
}

/* A product for SKIP; one that is too large makes the program useless. */
static inline int64_t sdp_program_product(struct sdp_program *p, int64_t a, int64_t b)
{
	int64_t n;

	if (__builtin_mul_overflow(a, b, &n))
		sdp_program_fail(p, EOVERFLOW);
	return p->error ? 0 : n;
}

/**
 * sdp_program_strided() - pieces of equal length that lie equally far apart
 * @p: program
 * @at: the first, from the program's position
 * @count: number of pieces
 * @width: bytes of each
 * @apart: bytes from the beginning of one to that of the next; may be negative
 *
 * A column of a matrix, a rectangle of one, or a member of each structure of an array.
 *
 * Return: 0, or -1 with errno set.
 */
static inline int sdp_program_strided(struct sdp_program *p, uint64_t at, uint64_t count,
				      uint64_t width, int64_t apart)
{
	int64_t back = sdp_program_product(p, apart, count);

	sdp_program_skip(p, at);
	sdp_program_op(p, SDP_OP_LOOP, count);
	sdp_program_op(p, SDP_OP_COPY, width);
	sdp_program_skip(p, apart - (int64_t)width);
	sdp_program_op(p, SDP_OP_END, 0);
	sdp_program_skip(p, -back - (int64_t)at);
	return sdp_program_outcome(p);
}

/* Dimension @d and those within it; @apart: bytes from one of its elements to the next. */
static inline void sdp_program_dimension(struct sdp_program *p, unsigned int d,
					 unsigned int dimensions, const uint64_t *part,
					 const int64_t *apart)
{
	if (d == dimensions - 1) {
		int64_t row = sdp_program_product(p, part[d], apart[d]);

		sdp_program_op(p, SDP_OP_COPY, row);
		sdp_program_skip(p, -row);
		return;
	}
	sdp_program_op(p, SDP_OP_LOOP, part[d]);
	sdp_program_dimension(p, d + 1, dimensions, part, apart);
	sdp_program_skip(p, apart[d]);
	sdp_program_op(p, SDP_OP_END, 0);
	sdp_program_skip(p, -sdp_program_product(p, part[d], apart[d]));
}

/**
 * sdp_program_subarray() - a part of an array of several dimensions
 * @p: program; the array begins at its position
 * @dimensions: number of dimensions, 1 to %SDP_OPS_DEPTH_MAX
 * @size: elements of the array in each dimension; the last one's lie next to each other
 * @part: elements of the part
 * @first: index of its first one
 * @element: bytes of an element
 *
 * Return: 0, or -1 with errno set.
 */
static inline int sdp_program_subarray(struct sdp_program *p, unsigned int dimensions,
				       const uint64_t *size, const uint64_t *part,
				       const uint64_t *first, uint64_t element)
{
	int64_t apart[SDP_OPS_DEPTH_MAX], at = 0;
	unsigned int d;

	if (!dimensions || dimensions > SDP_OPS_DEPTH_MAX)
		return sdp_program_fail(p, EINVAL);
	for (d = dimensions; d--;) {
		if (first[d] > size[d] || part[d] > size[d] - first[d])
			return sdp_program_fail(p, EINVAL);
		apart[d] = d == dimensions - 1 ? (int64_t)element :
						 sdp_program_product(p, apart[d + 1], size[d + 1]);
		if (__builtin_add_overflow(at, sdp_program_product(p, first[d], apart[d]), &at))
			return sdp_program_fail(p, EOVERFLOW);
	}
	sdp_program_skip(p, at);
	sdp_program_dimension(p, 0, dimensions, part, apart);
	sdp_program_skip(p, -at);
	return sdp_program_outcome(p);
}

/* Number of blocks from @block on that have the length and the distance of the first two. */
static inline size_t sdp_program_equal(const struct sdp_block *block, size_t blocks)
{
	size_t n = 1;

	while (n < blocks && block[n].len == block[0].len &&
	       block[n].at - block[n - 1].at == block[1].at - block[0].at)
		n++;
	return n;
}

/**
 * sdp_program_blocks() - blocks anywhere
 * @p: program
 * @block: blocks, whose positions are from that of the program
 * @blocks: number of blocks
 *
 * Blocks of equal length that lie equally far apart take the room of one.
 *
 * Return: 0, or -1 with errno set.
 */
static inline int sdp_program_blocks(struct sdp_program *p, const struct sdp_block *block,
				     size_t blocks)
{
	uint64_t at = 0;

	while (blocks && !p->error) {
		size_t n = sdp_program_equal(block, blocks);
		/* Two lie equally far apart in any case, and a loop has no use. */
		bool loop = n > 2;
		int64_t apart = loop ? block[1].at - block[0].at : 0;

		sdp_program_skip(p, block->at - at);
		if (loop)
			sdp_program_op(p, SDP_OP_LOOP, n);
		sdp_program_op(p, SDP_OP_COPY, block->len);
		at = block->at + block->len;
		if (loop) {
			sdp_program_skip(p, apart - (int64_t)block->len);
			sdp_program_op(p, SDP_OP_END, 0);
			at = block->at + n * apart;
		}
		n = loop ? n : 1;
		block += n;
		blocks -= n;
	}
	sdp_program_skip(p, -(int64_t)at);
	return sdp_program_outcome(p);
}

/**
 * sdp_program_enable() - let recvmsg() on a socket take programs
 * @fd: AF_SDP socket
 *
 * Return: 0, or -1 with errno set.
 */
static inline int sdp_program_enable(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SDP, SDP_PROGRAM, &on, sizeof(on));
}

/*
 * Fill in a message with the program, from byte @offset on, for @length bytes. Returns 0, or -1
 * with errno set.
 */
static inline int sdp_program_message(struct msghdr *msg, union sdp_program_control *control,
				      const struct sdp_program *p, const struct iovec *iov,
				      size_t iovs, uint64_t offset, uint64_t length)
{
	struct sdp_program_hdr hdr = {
		.offset = offset, .length = length, .ops = p->ops, .reserved = 0,
	};
	size_t ops = p->ops * sizeof(p->op[0]);

	if (p->error) {
		errno = p->error;
		return -1;
	}
	memset(msg, 0, sizeof(*msg));
	memset(control, 0, CMSG_SPACE(sizeof(hdr)));
	msg->msg_iov = (struct iovec *)iov;
	msg->msg_iovlen = iovs;
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(sizeof(hdr) + ops);
	control->cmsg.cmsg_level = SOL_SDP;
	control->cmsg.cmsg_type = SDP_PROGRAM;
	control->cmsg.cmsg_len = CMSG_LEN(sizeof(hdr) + ops);
	memcpy(CMSG_DATA(&control->cmsg), &hdr, sizeof(hdr));
	memcpy(CMSG_DATA(&control->cmsg) + sizeof(hdr), p->op, ops);
	return 0;
}

/**
 * sdp_program_send() - send the bytes that a program finds
 * @fd: AF_SDP socket
 * @p: program
 * @iov: memory
 * @iovs: number of elements of @iov
 * @offset: bytes of the program that have been sent before
 * @length: largest number of bytes to send; 0: all
 * @flags: MSG_*
 *
 * Return: number of bytes sent, or -1 with errno set.
 */
static inline ssize_t sdp_program_send(int fd, const struct sdp_program *p, const struct iovec *iov,
				       size_t iovs, uint64_t offset, uint64_t length, int flags)
{
	union sdp_program_control control;
	struct msghdr msg;

	if (sdp_program_message(&msg, &control, p, iov, iovs, offset, length))
		return -1;
	return sendmsg(fd, &msg, flags);
}

/**
 * sdp_program_recv() - receive bytes to where a program finds their places
 * @fd: AF_SDP socket on which sdp_program_enable() has been called
 * @p: program
 * @iov: memory
 * @iovs: number of elements of @iov
 * @offset: bytes of the program that have been received before
 * @length: largest number of bytes to receive; 0: all
 * @flags: MSG_*
 *
 * Return: number of bytes received, or -1 with errno set.
 */
static inline ssize_t sdp_program_recv(int fd, const struct sdp_program *p, const struct iovec *iov,
				       size_t iovs, uint64_t offset, uint64_t length, int flags)
{
	union sdp_program_control control;
	struct msghdr msg;

	if (sdp_program_message(&msg, &control, p, iov, iovs, offset, length))
		return -1;
	return recvmsg(fd, &msg, flags);
}

/*
 * A program on its way to the peer: the first eight bytes show what it is, then the number of bytes
 * that it is for and the number of operations, in the byte order of the network.
 */
#define SDP_PROGRAM_TOLD	"SDPprog1"

struct sdp_program_told {
	char what[8];
	uint64_t length;
	uint64_t ops;
};

struct sdp_program_told_op {
	uint64_t code;
	uint64_t n;
};

/* Sends all of it, as far as the socket waits. Returns 0, or -1 with errno set. */
static inline int sdp_program_send_all(int fd, const void *data, size_t len, int flags)
{
	const char *at = data;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = send(fd, at, len, flags | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return -1;
	}
	return 0;
}

/* Receives all of it. Returns 1; 0 if the stream ends before it; or -1 with errno set. */
static inline int sdp_program_recv_all(int fd, void *data, size_t len)
{
	char *at = data;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = recv(fd, at, len, MSG_WAITALL);
		if (n < 0 && errno == EINTR) {
			n = 0;
		} else if (!n && at != data) {
			errno = EPROTO;
			return -1;
		} else if (n <= 0) {
			return n;
		}
	}
	return 1;
}

/**
 * sdp_program_tell() - send a program to the peer, in front of the bytes that it is for
 * @fd: AF_SDP socket that waits (no O_NONBLOCK); any stream socket will do
 * @p: program for the peer's memory
 * @length: number of bytes that follow, by whatever program or calls
 *
 * So one end describes the memory of both. The peer calls sdp_program_hear(). Unless @length is 0,
 * the program may wait for the bytes, to travel with them.
 *
 * Return: 0, or -1 with errno set; then a part of it may have been sent.
 */
static inline int sdp_program_tell(int fd, const struct sdp_program *p, uint64_t length)
{
	struct sdp_program_told_op op[SDP_OPS_MAX];
	struct sdp_program_told told = {
		.length = htobe64(length), .ops = htobe64(p->ops),
	};
	unsigned int i;

	if (p->error) {
		errno = p->error;
		return -1;
	}
	memcpy(told.what, SDP_PROGRAM_TOLD, sizeof(told.what));
	for (i = 0; i < p->ops; i++) {
		op[i].code = htobe64(p->op[i].code);
		op[i].n = htobe64(p->op[i].n);
	}
	return sdp_program_send_all(fd, &told, sizeof(told), p->ops || length ? MSG_MORE : 0) ||
	       sdp_program_send_all(fd, op, p->ops * sizeof(op[0]), length ? MSG_MORE : 0) ? -1 : 0;
}

/**
 * sdp_program_hear() - receive a program that the peer has sent by sdp_program_tell()
 * @fd: socket that waits
 * @p: set to the program, for sdp_program_recv()
 * @length: set to the number of bytes that follow
 *
 * The kernel verifies the program for the memory that sdp_program_recv() is given. It moves nothing
 * outside of that, whoever has made it.
 *
 * Return: 1; 0 at the end of the stream; or -1 with errno set, EPROTO if this is no program.
 */
static inline int sdp_program_hear(int fd, struct sdp_program *p, uint64_t *length)
{
	struct sdp_program_told_op op[SDP_OPS_MAX];
	struct sdp_program_told told;
	uint64_t ops, i;
	int got;

	sdp_program_init(p);
	got = sdp_program_recv_all(fd, &told, sizeof(told));
	if (got <= 0)
		return got;
	ops = be64toh(told.ops);
	if (memcmp(told.what, SDP_PROGRAM_TOLD, sizeof(told.what)) || ops > SDP_OPS_MAX) {
		errno = EPROTO;
		return -1;
	}
	*length = be64toh(told.length);
	got = sdp_program_recv_all(fd, op, ops * sizeof(op[0]));
	if (!got) {
		errno = EPROTO;
		got = -1;
	}
	for (i = 0; got > 0 && i < ops; i++)
		sdp_program_op(p, be64toh(op[i].code), be64toh(op[i].n));
	return got;
}

#endif /* SDP_PROGRAM_LIB_H */
