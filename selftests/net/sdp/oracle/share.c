// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: sockets shared by processes and descriptors. */
#include "oracle.h"

static void run_child(const char *label, void (*body)(int fd), int fd)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		body(fd);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rec(label, "%#x", status);
}

static void child_talks(int fd)
{
	char b[16] = { 0 };

	recv_all(fd, b, 5);
	rec_bytes("child read", b, 5);
	send_all(fd, "from child", 10);
}

/* The log is shared memory, so what a child has recorded is there once the child has exited. */
static void fork_shares(void)
{
	struct pair p = pair_make();

	send_all(p.s, "12345rest", 9);
	run_child("child", child_talks, p.c);
	rec_recv("peer", p.s, 10, MSG_WAITALL);
	await_bytes(p.c, 4);
	rec_recv("parent reads on", p.c, 10, 0);
	REC("parent sends", send(p.c, "me", 2, 0));
	rec_recv("peer", p.s, 10, 0);
}

/* The connection ends when the last process has closed it. */
static void fork_close(void)
{
	struct pair p = pair_make();
	pid_t pid = fork();

	if (!pid) {
		await_bytes(p.c, 1);
		_exit(0);
	}
	REC("close", close(p.c));
	rec_events("the child holds it open", poll_for(p.s, POLLIN | POLLRDHUP, 60));
	REC("send", send(p.s, "x", 1, 0));
	rec_mask_at("child ended, unread data", p.s, POLLERR);
	rec_recv("recv", p.s, 10, 0);
	waitpid(pid, NULL, 0);
}

static void accept_in_child(int fd)
{
	int accepted = accept_from(fd);

	rec_peername("accepted in the child", accepted);
	send_all(accepted, "served", 6);
}

static void fork_accepts(void)
{
	struct addr where;
	int fd = listener(4, &where), client = fresh(0);

	connect_to(client, &where);
	rec_sockname("client", client);
	run_child("child", accept_in_child, fd);
	rec_recv("client", client, 6, MSG_WAITALL);
	rec_recv("end", client, 6, 0);
	client = fresh(0);
	REC("the parent's listener lives", connect(client, &where.sa, where.len));
}

static void dup_shares(void)
{
	struct pair p = pair_make();
	int copy = dup(p.c);

	set_nonblock(copy, true);
	rec("O_NONBLOCK of the original", "%d", !!(fcntl(p.c, F_GETFL) & O_NONBLOCK));
	set_nonblock(copy, false);
	REC("close the original", close(p.c));
	rec_events("nothing ended", poll_for(p.s, POLLIN | POLLRDHUP, 60));
	REC("send on the copy", send(copy, "copy", 4, 0));
	rec_recv("peer", p.s, 10, 0);
	rec_sockname("copy", copy);
	p.c = dup(copy);
	REC("shutdown of the one", shutdown(copy, SHUT_WR));
	REC("send on the other", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec_mask_at("peer", p.s, POLLRDHUP);
	REC("dup2 over the last", (close(copy), dup2(0, p.c) == p.c));
	rec_mask("peer, all closed", p.s);
}

static void give_descriptor(int unix_fd, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec byte = { "x", 1 };
	struct msghdr msg = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	need_errno(sendmsg(unix_fd, &msg, 0) == 1, "sendmsg of a descriptor");
}

static int take_descriptor(int unix_fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd;

	need_errno(recvmsg(unix_fd, &msg, 0) == 1, "recvmsg of a descriptor");
	need(CMSG_FIRSTHDR(&msg), "no descriptor came");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void use_passed(int unix_fd)
{
	int fd = take_descriptor(unix_fd), listening;

	rec_recv("passed socket reads", fd, 7, MSG_WAITALL);
	send_all(fd, "thanks", 6);
	close(fd);
	listening = take_descriptor(unix_fd);
	accept_in_child(listening);
}

/*
 * A socket is passed to another process, and the first owner closes it while it is in flight in an
 * AF_UNIX queue.
 */
static void pass_descriptors(void)
{
	struct addr where;
	struct pair p = pair_make();
	int fd = listener(4, &where), client = fresh(0), unix_fd[2];

	need_errno(!socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fd), "socketpair");
	give_descriptor(unix_fd[0], p.s);
	close(p.s);
	give_descriptor(unix_fd[0], fd);
	close(fd);
	REC("send", send(p.c, "to whom", 7, 0));
	connect_to(client, &where);
	rec_sockname("client", client);
	run_child("child", use_passed, unix_fd[1]);
	rec_recv("answer", p.c, 6, MSG_WAITALL);
	close(unix_fd[1]);		/* the queue held its own reference until now */
	close(unix_fd[0]);
	rec_recv("end", p.c, 6, 0);
	rec_recv("served", client, 6, MSG_WAITALL);
}

/* A socket that nobody takes out of an AF_UNIX queue is closed with the queue. */
static void pass_and_drop(void)
{
	struct pair p = pair_make();
	int unix_fd[2];

	need_errno(!socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fd), "socketpair");
	give_descriptor(unix_fd[0], p.s);
	close(p.s);
	rec_events("in flight", poll_for(p.c, POLLIN | POLLRDHUP, 60));
	close(unix_fd[0]);
	close(unix_fd[1]);
	rec_mask_at("dropped", p.c, POLLRDHUP);
}

static void nonblock_by_ioctl(void)
{
	struct pair p = pair_make();
	int on = 1;

	REC("FIONBIO", ioctl(p.c, FIONBIO, &on));
	REC("recv", recv(p.c, scratch, 1, 0));
	rec("O_NONBLOCK", "%d", !!(fcntl(p.c, F_GETFL) & O_NONBLOCK));
	on = 0;
	REC("FIONBIO", ioctl(p.c, FIONBIO, &on));
	rec("O_NONBLOCK", "%d", !!(fcntl(p.c, F_GETFL) & O_NONBLOCK));
}

/* The peer of a killed process sees what it would see after a close(). */
static void killed_process(void)
{
	struct addr where;
	int fd = listener(4, &where), clean, unread;
	pid_t pid = fork();

	if (!pid) {
		clean = fresh(0);
		unread = fresh(0);
		connect_to(clean, &where);
		connect_to(unread, &where);
		need(await_bytes(unread, 5) == 5, "no data");
		send_all(clean, "last words", 10);
		kill(getpid(), SIGKILL);
	}
	clean = accept_from(fd);
	unread = accept_from(fd);
	send_all(unread, "hello", 5);
	waitpid(pid, NULL, 0);
	await_bytes(clean, 10);
	rec_recv("last words", clean, 100, 0);
	rec_mask_at("mask, clean", clean, POLLRDHUP);
	rec_recv("end", clean, 100, 0);
	rec_mask_at("mask, unread", unread, POLLERR);
	rec_recv("reset", unread, 100, 0);
}

static const struct scenario scenarios[] = {
	SCENARIO(fork_shares),
	SCENARIO(fork_close),
	SCENARIO(fork_accepts),
	SCENARIO(dup_shares),
	SCENARIO(pass_descriptors),
	SCENARIO(pass_and_drop),
	SCENARIO(nonblock_by_ioctl),
	SCENARIO(killed_process),
};

const struct scenario_list share_scenarios = SCENARIO_LIST(scenarios);
