// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the matrix that move bytes.
 */
#include "matrix.h"
#include <sys/sendfile.h>

#define MSG_UNKNOWN	0x01000000

static const char letters[] = "abcdefghijklmnop";

static long do_send(struct cell *x, const struct call *c)
{
	return send(x->fd, letters, c->b, c->a);
}

static long do_send_many(struct cell *x, const struct call *c)
{
	static char many[3000];

	memset(many, 'm', sizeof(many));
	/*
	 * With SDP a reset may come between two messages of a write; TCP sees it after the write.
	 * So where a reset is to come, one message is sent.
	 */
	return send(x->fd, many, x->state->kind & S_BREAK ? 1400 : sizeof(many), c->a);
}

/* MSG_MORE, then more data. When the first part alone would leave is a matter of time. */
static long do_send_more(struct cell *x, const struct call *c)
{
	long ret = send(x->fd, letters, 3, c->a);
	int error = errno;

	noted(" then %s", send(x->fd, "!", 1, c->a & ~MSG_MORE) < 0 ? errno_text(errno) : "1");
	errno = error;
	return ret;
}

static long do_sendto(struct cell *x, const struct call *c)
{
	return sendto(x->fd, letters, 3, c->a, &spare_at.sa, spare_at.len);
}

static long do_sendto_length(struct cell *x, const struct call *c)
{
	return sendto(x->fd, letters, 3, MSG_NOSIGNAL, &spare_at.sa, c->a);
}

static long do_sendto_forbidden(struct cell *x, const struct call *c)
{
	return sendto(x->fd, letters, 3, MSG_NOSIGNAL, (struct sockaddr *)forbidden, spare_at.len);
}

static long do_send_forbidden(struct cell *x, const struct call *c)
{
	return send(x->fd, forbidden, 3, c->a);
}

static long do_sendmsg(struct cell *x, const struct call *c)
{
	struct iovec iov[3] = { { (char *)letters, 2 }, { NULL, 0 }, { (char *)letters + 2, 2 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };

	return sendmsg(x->fd, &msg, c->a);
}

static long do_sendmsg_half_forbidden(struct cell *x, const struct call *c)
{
	struct iovec iov[2] = { { (char *)letters, 2 }, { forbidden, 2 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	return sendmsg(x->fd, &msg, c->a);
}

static long do_sendmsg_vector(struct cell *x, const struct call *c)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)forbidden, .msg_iovlen = c->a };

	return sendmsg(x->fd, &msg, MSG_NOSIGNAL);
}

static long do_sendmsg_forbidden(struct cell *x, const struct call *c)
{
	return sendmsg(x->fd, (struct msghdr *)forbidden, MSG_NOSIGNAL);
}

/* Sends a control message of level @a, type @b. */
static long do_sendmsg_control(struct cell *x, const struct call *c)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = "" };
	struct iovec iov = { (char *)letters, 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = c->a;
	cmsg->cmsg_type = c->b;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	return sendmsg(x->fd, &msg, MSG_NOSIGNAL);
}

/* Sends a control message that claims to be longer than its buffer. */
static long do_sendmsg_bad_control(struct cell *x, const struct call *c)
{
	struct cmsghdr cmsg = { .cmsg_len = 1000, .cmsg_level = SOL_SOCKET };
	struct iovec iov = { (char *)letters, 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg,
			      .msg_controllen = sizeof(cmsg) };

	return sendmsg(x->fd, &msg, MSG_NOSIGNAL);
}

static long do_write(struct cell *x, const struct call *c)
{
	return write(x->fd, letters, c->a);
}

static long do_writev(struct cell *x, const struct call *c)
{
	struct iovec iov[3] = { { (char *)letters, 1 }, { NULL, 0 }, { (char *)letters + 1, 2 } };

	return writev(x->fd, iov, c->a);
}

static long do_pwrite(struct cell *x, const struct call *c)
{
	return pwrite(x->fd, letters, 1, 0);
}

static long do_sendfile(struct cell *x, const struct call *c)
{
	int file = memfd_create("sdp", 0);
	long ret;

	need_errno(file >= 0 && write(file, letters, 5) == 5, "memfd");
	lseek(file, 0, SEEK_SET);
	ret = sendfile(x->fd, file, NULL, c->a);
	close(file);
	return ret;
}

static long do_splice_in(struct cell *x, const struct call *c)
{
	int ends[2];
	long ret;

	need_errno(!pipe(ends) && write(ends[1], letters, 3) == 3, "pipe");
	ret = splice(ends[0], NULL, x->fd, NULL, 3, c->a);
	close(ends[0]);
	close(ends[1]);
	return ret;
}

static long do_recv(struct cell *x, const struct call *c)
{
	char b[64] = "";
	long ret = recv(x->fd, b, c->b, c->a);

	if (!(c->a & MSG_TRUNC))
		noted_bytes(b, ret);
	return ret;
}

static long do_recvfrom(struct cell *x, const struct call *c)
{
	struct addr from = { .len = sizeof(from.ss) };
	char b[64] = "";
	long ret = recvfrom(x->fd, b, sizeof(b), c->a, &from.sa, &from.len);

	noted_bytes(b, ret);
	if (ret >= 0)
		noted(", %u bytes of address", from.len);
	return ret;
}

static long do_recvmsg(struct cell *x, const struct call *c)
{
	char b[2] = "", d[60] = "", control[64];
	struct iovec iov[2] = { { b, sizeof(b) }, { d, sizeof(d) } };
	struct addr from;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2, .msg_name = &from.ss,
			      .msg_namelen = sizeof(from.ss), .msg_control = control,
			      .msg_controllen = sizeof(control), .msg_flags = -1 };
	long ret = recvmsg(x->fd, &msg, c->a);

	noted_bytes(b, ret < 2 ? ret : 2);
	noted_bytes(d, ret - 2);
	if (ret >= 0)
		noted(", flags %#x, name %u, control %zu", msg.msg_flags, msg.msg_namelen,
		      msg.msg_controllen);
	return ret;
}

static long do_recv_forbidden(struct cell *x, const struct call *c)
{
	return recv(x->fd, forbidden, 3, c->a);
}

static long do_recvmsg_forbidden(struct cell *x, const struct call *c)
{
	return recvmsg(x->fd, (struct msghdr *)forbidden, MSG_DONTWAIT);
}

static long do_read(struct cell *x, const struct call *c)
{
	char b[64] = "";
	long ret = read(x->fd, b, c->a);

	noted_bytes(b, ret);
	return ret;
}

static long do_readv(struct cell *x, const struct call *c)
{
	char b[2] = "", d[60] = "";
	struct iovec iov[2] = { { b, sizeof(b) }, { d, sizeof(d) } };
	long ret = readv(x->fd, iov, c->a);

	noted_bytes(b, ret < 2 ? ret : 2);
	noted_bytes(d, ret - 2);
	return ret;
}

static long do_pread(struct cell *x, const struct call *c)
{
	char b[4];

	return pread(x->fd, b, 1, 0);
}

static long do_splice_out(struct cell *x, const struct call *c)
{
	int ends[2];
	char b[64] = "";
	long ret;

	need_errno(!pipe(ends), "pipe");
	ret = splice(x->fd, NULL, ends[1], NULL, sizeof(b), c->a);
	if (ret > 0)
		noted_bytes(b, read(ends[0], b, sizeof(b)));
	close(ends[0]);
	close(ends[1]);
	return ret;
}

#define SENDS		(S_BREAK | S_ERROR)
#define RECEIVES	(S_INPUT | S_ERROR)
#define SEND(how, flags, len)	{ "send " how, do_send, SENDS, flags, len, .sends = true }
#define RECV(how, flags, len)	{ "recv " how, do_recv, RECEIVES, flags, len }

static const struct call sends[] = {
	SEND("0", 0, 3),
	SEND("MSG_DONTWAIT", MSG_DONTWAIT, 3),
	SEND("MSG_NOSIGNAL", MSG_NOSIGNAL, 3),
	SEND("MSG_DONTWAIT|MSG_NOSIGNAL", MSG_DONTWAIT | MSG_NOSIGNAL, 3),
	SEND("MSG_EOR", MSG_EOR, 3),
	SEND("MSG_DONTROUTE", MSG_DONTROUTE, 3),
	SEND("MSG_CONFIRM", MSG_CONFIRM, 3),
	SEND("MSG_ZEROCOPY", MSG_ZEROCOPY, 3),
	SEND("MSG_PEEK", MSG_PEEK, 3),
	SEND("MSG_TRUNC", MSG_TRUNC, 3),
	SEND("unknown flag", MSG_UNKNOWN, 3),
	SEND("nothing", 0, 0),
	SEND("nothing, MSG_DONTWAIT", MSG_DONTWAIT, 0),
	{ "send many", do_send_many, SENDS, 0, .sends = true },
	{ "send MSG_MORE", do_send_more, SENDS, MSG_MORE, .sends = true },
	{ "send MSG_MORE|MSG_NOSIGNAL", do_send_more, SENDS, MSG_MORE | MSG_NOSIGNAL,
	  .sends = true },
	{ "send MSG_OOB", do_send, SENDS | S_ROOM, MSG_OOB, 3 },
	{ "send MSG_OOB|MSG_DONTWAIT", do_send, SENDS | S_ROOM, MSG_OOB | MSG_DONTWAIT, 1 },
	{ "send MSG_OOB, nothing", do_send, SENDS | S_ROOM, MSG_OOB, 0 },
	{ "send, bad pointer", do_send_forbidden, SENDS, MSG_NOSIGNAL, .sends = true },
	{ "sendto", do_sendto, SENDS, 0, .sends = true },
	{ "sendto, short address", do_sendto_length, SENDS, 1, .sends = true },
	{ "sendto, endless address", do_sendto_length, SENDS, 1000, .sends = true },
	{ "sendto, bad pointer", do_sendto_forbidden, SENDS, .sends = true },
	{ "sendmsg", do_sendmsg, SENDS, 0, .sends = true },
	{ "sendmsg MSG_DONTWAIT", do_sendmsg, SENDS, MSG_DONTWAIT, .sends = true },
	{ "sendmsg, half a bad pointer", do_sendmsg_half_forbidden, SENDS, MSG_NOSIGNAL,
	  .sends = true },
	{ "sendmsg, bad vector", do_sendmsg_vector, SENDS, 1, .sends = true },
	{ "sendmsg, endless vector", do_sendmsg_vector, SENDS, 5000, .sends = true },
	{ "sendmsg, no vector", do_sendmsg_vector, SENDS, 0, .sends = true },
	{ "sendmsg, bad header", do_sendmsg_forbidden, SENDS, .sends = true },
	{ "sendmsg, control of another level", do_sendmsg_control, SENDS, SOL_IP, 99,
	  .sends = true },
	{ "sendmsg, unknown control", do_sendmsg_control, SENDS, SOL_SOCKET, 99, .sends = true },
	{ "sendmsg, bad control", do_sendmsg_bad_control, SENDS, .sends = true },
	{ "write", do_write, SENDS, 3, .sends = true },
	{ "write nothing", do_write, SENDS, 0, .sends = true },
	{ "writev", do_writev, SENDS, 3, .sends = true },
	{ "writev of nothing", do_writev, SENDS, 0, .sends = true },
	{ "writev, bad count", do_writev, SENDS, -1, .sends = true },
	{ "pwrite", do_pwrite, 0 },
	{ "sendfile", do_sendfile, SENDS, 5, .sends = true },
	{ "sendfile of more than there is", do_sendfile, SENDS, 50, .sends = true },
	{ "sendfile of nothing", do_sendfile, SENDS, 0, .sends = true },
	{ "splice in", do_splice_in, SENDS, 0, .sends = true },
	{ "splice in, SPLICE_F_NONBLOCK", do_splice_in, SENDS, SPLICE_F_NONBLOCK, .sends = true },
	{ "splice in, SPLICE_F_MORE", do_splice_in, SENDS, SPLICE_F_MORE },
};

const struct call_list send_calls = CALL_LIST(sends);

static const struct call receives[] = {
	RECV("0", 0, 64),
	RECV("MSG_DONTWAIT", MSG_DONTWAIT, 64),
	RECV("MSG_PEEK", MSG_PEEK, 64),
	RECV("MSG_PEEK|MSG_DONTWAIT", MSG_PEEK | MSG_DONTWAIT, 64),
	RECV("MSG_WAITALL", MSG_WAITALL, 64),
	RECV("MSG_WAITALL, less", MSG_WAITALL, 3),
	RECV("MSG_WAITALL|MSG_DONTWAIT", MSG_WAITALL | MSG_DONTWAIT, 64),
	RECV("MSG_WAITALL|MSG_PEEK", MSG_WAITALL | MSG_PEEK, 64),
	RECV("MSG_TRUNC", MSG_TRUNC, 3),
	RECV("MSG_TRUNC|MSG_DONTWAIT", MSG_TRUNC | MSG_DONTWAIT, 64),
	RECV("MSG_TRUNC|MSG_PEEK", MSG_TRUNC | MSG_PEEK | MSG_DONTWAIT, 2),
	RECV("MSG_OOB", MSG_OOB, 1),
	RECV("MSG_OOB|MSG_PEEK", MSG_OOB | MSG_PEEK, 1),
	RECV("MSG_OOB, nothing", MSG_OOB, 0),
	RECV("MSG_ERRQUEUE", MSG_ERRQUEUE, 64),
	RECV("MSG_DONTROUTE", MSG_DONTROUTE | MSG_DONTWAIT, 64),
	RECV("unknown flag", MSG_UNKNOWN | MSG_DONTWAIT, 64),
	RECV("one byte", MSG_DONTWAIT, 1),
	RECV("nothing", 0, 0),
	RECV("nothing, MSG_DONTWAIT", MSG_DONTWAIT, 0),
	RECV("nothing, MSG_PEEK", MSG_PEEK | MSG_DONTWAIT, 0),
	RECV("nothing, MSG_WAITALL", MSG_WAITALL | MSG_DONTWAIT, 0),
	{ "recv, bad pointer", do_recv_forbidden, RECEIVES, MSG_DONTWAIT },
	{ "recv MSG_TRUNC, bad pointer", do_recv_forbidden, RECEIVES, MSG_DONTWAIT | MSG_TRUNC },
	{ "recvfrom", do_recvfrom, RECEIVES, 0 },
	{ "recvfrom MSG_DONTWAIT", do_recvfrom, RECEIVES, MSG_DONTWAIT },
	{ "recvmsg", do_recvmsg, RECEIVES, 0 },
	{ "recvmsg MSG_PEEK", do_recvmsg, RECEIVES, MSG_PEEK | MSG_DONTWAIT },
	{ "recvmsg MSG_CMSG_CLOEXEC", do_recvmsg, RECEIVES, MSG_CMSG_CLOEXEC | MSG_DONTWAIT },
	{ "recvmsg MSG_ERRQUEUE", do_recvmsg, RECEIVES, MSG_ERRQUEUE },
	{ "recvmsg, bad header", do_recvmsg_forbidden, RECEIVES },
	{ "read", do_read, RECEIVES, 64 },
	{ "read one byte", do_read, S_INPUT | S_ERROR, 1 },
	{ "read nothing", do_read, RECEIVES, 0 },
	{ "readv", do_readv, RECEIVES, 2 },
	{ "readv of nothing", do_readv, RECEIVES, 0 },
	{ "readv, bad count", do_readv, RECEIVES, -1 },
	{ "pread", do_pread, 0 },
	{ "splice out", do_splice_out, RECEIVES, 0 },
	{ "splice out, SPLICE_F_NONBLOCK", do_splice_out, RECEIVES, SPLICE_F_NONBLOCK },
};

const struct call_list recv_calls = CALL_LIST(receives);
