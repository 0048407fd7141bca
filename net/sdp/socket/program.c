// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of sendmsg(2) and recvmsg(2): memory in many pieces (H2, H3).
 *
 * A control message (SDP_PROGRAM) has a program. The memory of the call's iovec
 * is what the program's positions refer to. The program is verified against it,
 * and a dry run leads to where the call begins. Then the call moves its bytes
 * in batches of at most PIECES, each of which is an iovec that takes the place
 * of the call's own. So all that a read or write does for an iovec, by messages
 * or by RDMA, it does for a program. If the next pieces are small and at equal
 * distances (a strip), the batch is memory of the kernel instead: a write is
 * given what has been gathered there, and what a read has got there is
 * scattered before it counts as read.
 *
 * A sender's control message is in kernel memory. A reader's control buffer is
 * normally only written to, and may have anything in it before. It is read only
 * if the option SDP_PROGRAM is set.
 */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/sdp.h>

#include "../conn/sock.h"
#include "program.h"
#include "strip.h"

/* Pieces of memory in a batch. */
#define PIECES		UIO_MAXIOV
/* Bytes of a batch that is a strip. */
#define STRIP_BYTES	(PIECES * sizeof(struct iovec))
/* Longer pieces, or fewer, are not worth another copy of their bytes. */
#define STRIP_WIDTH_MAX	256
#define STRIP_PIECES	8
/* Length of a control message without operations. */
#define HEADER		CMSG_LEN(sizeof(struct sdp_program_hdr))

static_assert((int)SDP_OP_COPY == (int)SDP_PROGRAM_COPY);
static_assert((int)SDP_OP_SKIP == (int)SDP_PROGRAM_SKIP);
static_assert((int)SDP_OP_SEEK == (int)SDP_PROGRAM_SEEK);
static_assert((int)SDP_OP_LOOP == (int)SDP_PROGRAM_LOOP);
static_assert((int)SDP_OP_END == (int)SDP_PROGRAM_END);
static_assert((int)SDP_OP_CALL == (int)SDP_PROGRAM_CALL);
static_assert((int)SDP_OP_RETURN == (int)SDP_PROGRAM_RETURN);
static_assert(SDP_OPS_MAX == SDP_PROGRAM_OPS_MAX);
static_assert(SDP_OPS_DEPTH_MAX == SDP_PROGRAM_DEPTH_MAX);

static void program_free(struct sdp_program_run *run)
{
	if (!run)
		return;
	kvfree(run->program);
	kfree(run->iov);
	kfree(run);
}

static struct sdp_program_run *program_alloc(u32 ops)
{
	struct sdp_program_run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return NULL;
	run->iov = kmalloc_array(PIECES, sizeof(*run->iov), GFP_KERNEL);
	run->program = kvzalloc(struct_size(run->program, op, ops + 1),
				GFP_KERNEL);
	if (run->iov && run->program)
		return run;
	program_free(run);
	return NULL;
}

/* Copy one operation of the caller's. Returns 0 or an errno. */
static int program_add(struct sdp_program *p, const struct sdp_op *op)
{
	return op->reserved ? -EINVAL : sdp_program_add(p, op->code, op->n);
}

/* Verify the program for the memory of @msg, and go to where it begins. */
static int program_start(struct sdp_program_run *run, struct msghdr *msg,
			 const struct sdp_program_hdr *hdr)
{
	int err;

	run->whole = msg->msg_iter;
	run->memory = msg->msg_iter;
	run->single = iov_iter_single_seg_count(&run->whole) ==
		      iov_iter_count(&run->whole);
	err = sdp_program_verify(run->program, iov_iter_count(&run->whole));
	if (err)
		return err;
	sdp_program_begin(run->program, &run->state);
	sdp_program_dry(run->program, &run->state, hdr->offset);
	run->left = sdp_program_length(run->program) - run->state.done;
	if (hdr->length)
		run->left = min(run->left, (u64)hdr->length);
	run->left = min_t(u64, run->left, MAX_RW_COUNT);
	return 0;
}

/* Returns 0 if @hdr can be that of a control message of @len bytes. */
static int program_check_hdr(const struct sdp_program_hdr *hdr, size_t len)
{
	return hdr->reserved || hdr->ops > SDP_OPS_MAX ||
	       len != HEADER + hdr->ops * sizeof(struct sdp_op) ? -EINVAL : 0;
}

/*
 * Take the program of a control message of @len bytes, whose header is @hdr and
 * whose operations are at @op. Returns it or an ERR_PTR().
 */
static struct sdp_program_run *program_take(struct msghdr *msg,
					    const struct sdp_program_hdr *hdr,
					    sockptr_t op, size_t len)
{
	int err = program_check_hdr(hdr, len);
	struct sdp_program_run *run;
	struct sdp_op one;
	u32 i;

	/* Kernel memory of io_uring's fixed buffers has no addresses here. */
	if (err || !user_backed_iter(&msg->msg_iter))
		return ERR_PTR(err ?: -EOPNOTSUPP);
	run = program_alloc(hdr->ops);
	if (!run)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < hdr->ops && !err; i++)
		err = copy_from_sockptr_offset(&one, op, i * sizeof(one),
					       sizeof(one)) ?
		      -EFAULT : program_add(run->program, &one);
	err = err ?: program_start(run, msg, hdr);
	if (!err)
		return run;
	program_free(run);
	return ERR_PTR(err);
}

/**
 * sdp_program_of_send() - look for a program of sendmsg(2)
 * @msg: message of the call, its control messages well-formed
 * @run: to fill in; NULL if there is none. sdp_program_over() releases it
 *
 * Return: 0; -EINVAL for a control message of SOL_SDP that is not a program, or
 * a program that is malformed or comes together with MSG_ZEROCOPY; -EFAULT if
 * it moves bytes outside of the memory; -EOPNOTSUPP, -ENOMEM.
 */
int sdp_program_of_send(struct msghdr *msg, struct sdp_program_run **run)
{
	struct cmsghdr *cmsg;

	*run = NULL;
	for_each_cmsghdr(cmsg, msg) {
		const struct sdp_program_hdr *hdr = CMSG_DATA(cmsg);

		if (cmsg->cmsg_level != SOL_SDP)
			continue;
		if (*run || cmsg->cmsg_type != SDP_PROGRAM ||
		    cmsg->cmsg_len < HEADER ||
		    (msg->msg_flags & MSG_ZEROCOPY)) {
			program_free(*run);
			return -EINVAL;
		}
		*run = program_take(msg, hdr, KERNEL_SOCKPTR((void *)hdr->op),
				    cmsg->cmsg_len);
		if (IS_ERR(*run))
			return PTR_ERR(*run);
	}
	return 0;
}

/**
 * sdp_program_of_recv() - look for a program of recvmsg(2)
 * @ssk: socket
 * @msg: message of the call; the first control message in its buffer counts
 * @flags: MSG_*
 * @run: to fill in; NULL if there is none. sdp_program_over() releases it
 *
 * Return: as sdp_program_of_send(); -EOPNOTSUPP also for a 32-bit program.
 */
int sdp_program_of_recv(struct sdp_sock *ssk, struct msghdr *msg, int flags,
			struct sdp_program_run **run)
{
	void __user *control = msg->msg_control_user;
	struct sdp_program_hdr hdr;
	struct cmsghdr cmsg;

	*run = NULL;
	if (!READ_ONCE(ssk->opt.program) || !msg->msg_control_is_user ||
	    msg->msg_controllen < HEADER)
		return 0;
	if (flags & MSG_CMSG_COMPAT)
		return -EOPNOTSUPP;
	if (copy_from_user(&cmsg, control, sizeof(cmsg)))
		return -EFAULT;
	if (cmsg.cmsg_level != SOL_SDP || cmsg.cmsg_type != SDP_PROGRAM)
		return 0;
	if (cmsg.cmsg_len < HEADER || cmsg.cmsg_len > msg->msg_controllen)
		return -EINVAL;
	if (copy_from_user(&hdr, control + CMSG_LEN(0), sizeof(hdr)))
		return -EFAULT;
	*run = program_take(msg, &hdr, USER_SOCKPTR(control + HEADER),
			    cmsg.cmsg_len);
	return PTR_ERR_OR_ZERO(*run);
}

/* Let the iterator of the memory be at position @at. */
static void program_seek(struct sdp_program_run *run, s64 at)
{
	if (at >= run->at)
		iov_iter_advance(&run->memory, at - run->at);
	else
		iov_iter_revert(&run->memory, run->at - at);
	run->at = at;
}

/*
 * Describe the @bytes at position @at by elements of the iovec from number @n
 * on, as far as there are any. Returns how many there are then, and in @bytes
 * how many bytes remain.
 */
static u32 program_map(struct sdp_program_run *run, s64 at, u64 *bytes, u32 n)
{
	program_seek(run, at);
	for (; *bytes && n < PIECES; n++) {
		u64 part = min_t(u64, *bytes,
				 iov_iter_single_seg_count(&run->memory));

		run->iov[n].iov_base =
			(void __user *)sdp_iter_addr(&run->memory);
		run->iov[n].iov_len = part;
		iov_iter_advance(&run->memory, part);
		run->at += part;
		*bytes -= part;
	}
	return n;
}

/* Is the next batch a strip? Fills in run->strip, as long as there is room. */
static bool program_strip_next(struct sdp_program_run *run)
{
	struct sdp_program_strip *strip = &run->strip;

	if (!run->single ||
	    !sdp_program_find_strip(run->program, &run->state, strip) ||
	    strip->width > STRIP_WIDTH_MAX)
		return false;
	/* A call moves less than 2 GiB. */
	strip->n = min_t(u64, strip->n,
			 min_t(u32, run->left, STRIP_BYTES) /
				 (u32)strip->width);
	return strip->n >= STRIP_PIECES;
}

/* Let the batch be run->strip. Returns its number of bytes. */
static size_t program_take_strip(struct sdp_program_run *run,
				 struct msghdr *msg)
{
	size_t bytes = run->strip.n * run->strip.width;

	if (iov_iter_rw(&run->whole) == WRITE) {
		size_t got = sdp_strip_gather(run->iov,
					      sdp_iter_addr(&run->whole),
					      &run->strip);

		run->fault = got < bytes;
		bytes = got;
	}
	sdp_program_dry(run->program, &run->state, bytes);
	run->left = run->fault ? 0 : run->left - bytes;
	run->put = 0;
	run->room.iov_base = run->iov;
	run->room.iov_len = bytes;
	iov_iter_kvec(&msg->msg_iter, iov_iter_rw(&run->whole), &run->room, 1,
		      bytes);
	return bytes;
}

/* Let the batch be run->iov. Returns its number of bytes. */
static size_t program_take_pieces(struct sdp_program_run *run,
				  struct msghdr *msg)
{
	struct sdp_program_state before;
	u64 bytes = 0, rest = 0;
	u32 n = 0;
	s64 at;

	while (n < PIECES && bytes < run->left && !rest) {
		cond_resched();
		before = run->state;
		rest = sdp_program_move(run->program, &run->state,
					run->left - bytes, &at);
		bytes += rest;
		n = program_map(run, at, &rest, n);
	}
	/* The iovec ended within a piece, in which elements of memory meet. */
	if (rest) {
		u64 found = run->state.done - before.done - rest;

		run->state = before;
		sdp_program_dry(run->program, &run->state, found);
		bytes -= rest;
	}
	run->left -= bytes;
	iov_iter_init(&msg->msg_iter, iov_iter_rw(&run->whole), run->iov, n,
		      bytes);
	return bytes;
}

/**
 * sdp_program_next() - let a call go on with the next pieces of its memory
 * @run: program
 * @msg: message of the call, whose iterator becomes that of the pieces
 *
 * With a write, run->fault tells whether the memory could not be read.
 *
 * Return: number of bytes; 0 if there are none left.
 */
size_t sdp_program_next(struct sdp_program_run *run, struct msghdr *msg)
{
	cond_resched();
	run->stripped = program_strip_next(run);
	return run->stripped ? program_take_strip(run, msg) :
			       program_take_pieces(run, msg);
}

/**
 * sdp_program_put() - a read has copied bytes to the iterator
 * @run: program
 * @n: number of bytes, behind those of the calls before
 *
 * Return: number of bytes that are where they belong, or -EFAULT if none is.
 */
int sdp_program_put(struct sdp_program_run *run, size_t n)
{
	size_t done;

	if (!run->stripped)
		return n;
	done = sdp_strip_scatter((char __user *)sdp_iter_addr(&run->whole),
				 &run->strip, run->put,
				 (char *)run->iov + run->put, n);
	run->put += done;
	run->fault |= done < n;
	return done ?: -EFAULT;
}

/**
 * sdp_program_over() - the call has moved what it could
 * @run: program, or NULL; released
 * @msg: message of the call
 * @done: number of bytes moved
 *
 * io_uring may repeat a call with the same message: one that moved nothing as
 * it was, one that moved less than it could for the rest of the iterator. A
 * program has no rest that it could know of.
 */
void sdp_program_over(struct sdp_program_run *run, struct msghdr *msg,
		      size_t done)
{
	if (!run)
		return;
	msg->msg_iter = run->whole;
	if (done)
		iov_iter_advance(&msg->msg_iter, iov_iter_count(&run->whole));
	program_free(run);
}
