// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: results of send and receive calls, with every flag. */
#include "info.h"
#include "oracle.h"

static void calls_basic(void)
{
	struct pair p = pair_make();
	char a[4] = { 0 }, b[16] = { 0 };
	struct iovec out[3] = { { "one", 3 }, { "", 0 }, { "two!", 4 } };
	struct iovec in[2] = { { a, 3 }, { b, sizeof(b) } };
	struct addr from = { .len = sizeof(from.ss) };
	struct msghdr msg = { .msg_iov = out, .msg_iovlen = 3 };

	REC("write", write(p.c, "alpha", 5));
	await_bytes(p.s, 5);
	REC("read", read(p.s, b, sizeof(b)));
	rec_bytes("data", b, 5);
	REC("writev", writev(p.s, out, 3));
	await_bytes(p.c, 7);
	REC("readv", readv(p.c, in, 2));
	rec_bytes("first", a, 3);
	rec_bytes("second", b, 4);
	REC("sendmsg", sendmsg(p.c, &msg, 0));
	await_bytes(p.s, 7);
	msg = (struct msghdr){ .msg_name = &from.ss, .msg_namelen = sizeof(from.ss),
			       .msg_iov = in, .msg_iovlen = 2, .msg_flags = -1 };
	REC("recvmsg", recvmsg(p.s, &msg, 0));
	rec("flags, name length, control length", "%#x %u %zu", msg.msg_flags, msg.msg_namelen,
	    msg.msg_controllen);
	REC("sendto without address", sendto(p.s, "x", 1, 0, NULL, 0));
	await_bytes(p.c, 1);
	REC("recvfrom", recvfrom(p.c, b, sizeof(b), 0, &from.sa, &from.len));
	rec("name length", "%u", from.len);
}

/* A stream has no message boundaries. */
static void calls_split_and_join(void)
{
	struct pair p = pair_make();
	int i;

	for (i = 0; i < 10; i++)
		send_all(p.c, "0123456789" + i, 10 - i);
	await_bytes(p.s, 55);
	rec_recv("first", p.s, 7, 0);
	rec_recv("across", p.s, 20, 0);
	rec_recv("rest", p.s, 1000, 0);
	REC("nothing left", recv(p.s, scratch, 1, MSG_DONTWAIT));
}

static void send_to_address(void)
{
	struct pair p = pair_make();
	struct addr other = server_addr(9);
	int fd = fresh(0);

	handle(SIGPIPE, on_pipe, 0);
	REC("connected", sendto(p.c, "x", 1, 0, &other.sa, other.len));
	rec_recv("goes to the peer all the same", p.s, 10, 0);
	REC("fresh", sendto(fd, "x", 1, 0, &other.sa, other.len));
	rec("SIGPIPE", "%d", pipes);
}

static void zero_length(void)
{
	struct pair p = pair_make();
	struct iovec none = { "", 0 };
	char b[4];

	REC("send", send(p.c, "", 0, 0));
	REC("write", write(p.c, "", 0));
	REC("writev of nothing", writev(p.c, &none, 0));
	REC("writev of an empty piece", writev(p.c, &none, 1));
	REC("peer got nothing", recv(p.s, b, 1, MSG_DONTWAIT));
	REC("recv, no data", recv(p.s, b, 0, MSG_DONTWAIT));
	REC("read, no data", read(p.s, b, 0));
	send_all(p.c, "abc", 3);
	await_bytes(p.s, 3);
	REC("recv", recv(p.s, b, 0, 0));
	REC("recv, peek", recv(p.s, b, 0, MSG_PEEK));
	REC("read", read(p.s, b, 0));
	rec("still there", "%d", queued_bytes(p.s));
	shutdown(p.s, SHUT_WR);
	poll_for(p.c, POLLIN, WAIT_MS);
	REC("recv at the end", recv(p.c, b, 0, 0));
	REC("send after shutdown", send(p.s, "", 0, MSG_NOSIGNAL));
}

static void dont_wait(void)
{
	struct pair p = pair_make();
	char b[4];

	REC("recv", recv(p.c, b, 1, MSG_DONTWAIT));
	REC("peek", recv(p.c, b, 1, MSG_DONTWAIT | MSG_PEEK));
	REC("wait for all", recv(p.c, b, 2, MSG_DONTWAIT | MSG_WAITALL));
	send_all(p.s, "x", 1);
	await_bytes(p.c, 1);
	REC("wait for all, half there", recv(p.c, b, 2, MSG_DONTWAIT | MSG_WAITALL));
	set_nonblock(p.c, true);
	REC("O_NONBLOCK, recv", recv(p.c, b, 1, 0));
	REC("O_NONBLOCK, read", read(p.c, b, 1));
}

static void peek(void)
{
	struct pair p = pair_make();

	send_all(p.c, "hello", 5);
	send_all(p.c, "world", 5);
	await_bytes(p.s, 10);
	rec_recv("partial", p.s, 3, MSG_PEEK);
	rec_recv("again", p.s, 3, MSG_PEEK);
	rec_recv("across", p.s, 8, MSG_PEEK);
	rec_recv("more than there is", p.s, 100, MSG_PEEK);
	rec_recv("all", p.s, 10, MSG_PEEK | MSG_WAITALL);
	rec("all still there", "%d", queued_bytes(p.s));
	rec_recv("taken", p.s, 7, 0);
	rec_recv("what is left", p.s, 100, MSG_PEEK);
	rec_recv("taken", p.s, 100, 0);
	rec_recv("empty", p.s, 1, MSG_PEEK | MSG_DONTWAIT);
	shutdown(p.c, SHUT_WR);
	poll_for(p.s, POLLIN, WAIT_MS);
	rec_recv("end", p.s, 1, MSG_PEEK);
	rec_recv("end, again", p.s, 1, MSG_PEEK);
	rec_recv("end, taken", p.s, 1, 0);
}

static void peek_waits(void)
{
	struct pair p = pair_make();
	long long start = now_ms();

	set_timeout(p.s, SO_RCVTIMEO, 60);
	rec_recv("nothing comes", p.s, 4, MSG_PEEK);
	rec_bool("waited", took_at_least(start, 60));
	send_all(p.c, "ab", 2);
	await_bytes(p.s, 2);
	rec_recv("half, all wanted", p.s, 4, MSG_PEEK | MSG_WAITALL);
	rec("still there", "%d", queued_bytes(p.s));
}

static int other_end;

static void send_on_third_tick(int sig)
{
	if (++ticks == 3 && send(other_end, "fgh", 3, 0) != 3)
		_exit(EXIT_FAILED);
}

static void wait_all(void)
{
	struct pair p = pair_make();
	long long start;

	send_all(p.c, "abcd", 4);
	send_all(p.c, "efgh", 4);
	rec_recv("whole", p.s, 8, MSG_WAITALL);
	send_all(p.c, "abc", 3);
	await_bytes(p.s, 3);
	set_timeout(p.s, SO_RCVTIMEO, 60);
	start = now_ms();
	rec_recv("timeout midway", p.s, 8, MSG_WAITALL);
	rec_bool("waited", took_at_least(start, 60));
	rec_recv("timeout, nothing", p.s, 8, MSG_WAITALL);
	set_timeout(p.s, SO_RCVTIMEO, 0);
	send_all(p.c, "abc", 3);
	await_bytes(p.s, 3);
	ticks_start(on_tick, 0);
	rec_recv("signal midway", p.s, 8, MSG_WAITALL);
	rec_recv("signal, nothing", p.s, 8, MSG_WAITALL);
	ticks_stop();
	send_all(p.c, "abcde", 5);
	await_bytes(p.s, 5);
	other_end = p.c;
	ticks_start(send_on_third_tick, SA_RESTART);
	rec_recv("restarted, midway", p.s, 8, MSG_WAITALL);
	ticks_stop();
}

static void wait_all_end(void)
{
	struct pair p = pair_make();

	send_all(p.c, "abc", 3);
	shutdown(p.c, SHUT_WR);
	rec_recv("end midway", p.s, 8, MSG_WAITALL);
	rec_recv("end", p.s, 8, MSG_WAITALL);
}

static void truncate_receive(void)
{
	struct pair p = pair_make();
	char b[8] = "untouch";

	send_all(p.c, "0123456789", 10);
	await_bytes(p.s, 10);
	REC("throw away", recv(p.s, b, 4, MSG_TRUNC));
	rec_bytes("buffer", b, 7);
	REC("without a buffer", recv(p.s, NULL, 3, MSG_TRUNC));
	REC("peek", recv(p.s, b, 2, MSG_TRUNC | MSG_PEEK));
	rec_recv("rest", p.s, 10, 0);
	REC("nothing there", recv(p.s, b, 4, MSG_TRUNC | MSG_DONTWAIT));
}

static void more_to_come(void)
{
	struct pair p = pair_make();

	REC("piece", send(p.c, "abc", 3, MSG_MORE));
	REC("piece", send(p.c, "def", 3, MSG_MORE));
	REC("last", send(p.c, "ghi", 3, 0));
	rec_recv("whole", p.s, 9, MSG_WAITALL);
	REC("alone", send(p.c, "later", 5, MSG_MORE));
	rec("gets there all the same", "%d", await_bytes(p.s, 5));
	rec_recv("alone", p.s, 5, 0);
	REC("before the end", send(p.c, "end", 3, MSG_MORE));
	shutdown(p.c, SHUT_WR);
	rec_recv("before the end", p.s, 9, MSG_WAITALL);
}

static void pipe_signal(void)
{
	struct pair p = pair_make();
	struct iovec byte = { "x", 1 };

	handle(SIGPIPE, on_pipe, 0);
	shutdown(p.c, SHUT_WR);
	REC("send", send(p.c, "x", 1, 0));
	rec("SIGPIPE", "%d", pipes);
	REC("write", write(p.c, "x", 1));
	rec("SIGPIPE", "%d", pipes);
	REC("writev", writev(p.c, &byte, 1));
	rec("SIGPIPE", "%d", pipes);
	REC("MSG_NOSIGNAL", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec("SIGPIPE", "%d", pipes);
	handle(SIGPIPE, SIG_IGN, 0);
	REC("ignored", send(p.c, "x", 1, 0));
}

/* Without a handler, SIGPIPE kills the process. */
static void pipe_signal_kills(void)
{
	struct pair p = pair_make();
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGPIPE, SIG_DFL);
		shutdown(p.c, SHUT_WR);
		send(p.c, "x", 1, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rec("killed by", "%d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void rec_not_connected(const char *state, int fd)
{
	struct addr a = { .len = sizeof(a.ss) };
	char b[4];

	rec("state", "%s", state);
	pipes = 0;
	REC("send", send(fd, "x", 1, MSG_DONTWAIT));
	rec("SIGPIPE", "%d", pipes);
	REC("send nothing", send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL));
	REC("recv", recv(fd, b, 1, MSG_DONTWAIT));
	REC("recv nothing", recv(fd, b, 0, MSG_DONTWAIT));
	REC("peek", recv(fd, b, 1, MSG_DONTWAIT | MSG_PEEK));
	REC("getpeername", getpeername(fd, &a.sa, &a.len));
	rec_so_error("SO_ERROR", fd);
	rec_mask("mask", fd);
}

static void not_connected(void)
{
	struct addr a = server_addr(0);
	int fd = fresh(0);

	handle(SIGPIPE, on_pipe, 0);
	rec_not_connected("fresh", fd);
	REC("shutdown", shutdown(fd, SHUT_RDWR));
	rec_mask("mask after that", fd);
	REC("bind", bind(fd, &a.sa, a.len));
	rec_not_connected("bound", fd);
	REC("shutdown", shutdown(fd, SHUT_WR));
	close(fd);
	fd = fresh(0);
	REC("listen", bind(fd, &a.sa, a.len) ?: listen(fd, 1));
	rec_not_connected("listening", fd);
}

static void receive_timeout(void)
{
	struct pair p = pair_make();
	long long start = now_ms();
	char b[4];

	set_timeout(p.c, SO_RCVTIMEO, 60);
	REC("recv", recv(p.c, b, 1, 0));
	rec_bool("waited", took_at_least(start, 60));
	REC("read", read(p.c, b, 1));
	ticks_start(on_tick, SA_RESTART);
	set_timeout(p.c, SO_RCVTIMEO, 5000);
	REC("signal before the timeout", recv(p.c, b, 1, 0));
	ticks_stop();
	send_all(p.s, "x", 1);
	REC("in time", recv(p.c, b, 1, 0));
}

/*
 * Sends on a full socket until send() fails. TCP accepts a few bytes now and then, when it probes a
 * zero window; they are added to *@sent and not compared.
 */
static long send_until_failure(int fd, long *sent, size_t len, int flags)
{
	static char big[1 << 20];
	ssize_t n;

	while ((n = send(fd, big, len, flags)) > 0)
		*sent += n;
	return n;
}

static long write_until_failure(int fd, long *sent)
{
	ssize_t n;

	while ((n = write(fd, scratch, 10)) > 0)
		*sent += n;
	return n;
}

static void send_timeout(void)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	static char big[1 << 20];
	long long start;
	long sent, n;

	set_timeout(p.c, SO_SNDTIMEO, 60);
	n = send(p.c, big, sizeof(big), 0);
	rec_bool("a part fits", n > 0 && n < (long)sizeof(big));
	sent = n + fill_ends(p.c, p.s);
	start = now_ms();
	REC("full", send_until_failure(p.c, &sent, sizeof(big), 0));
	rec_bool("waited", took_at_least(start, 60));
	drain(p.s, sent);
	REC("room again", send(p.c, big, 1, 0));
	rec_recv("data", p.s, 10, 0);
}

static void low_water_mark(void)
{
	struct pair p = pair_make();

	set_int(p.c, SOL_SOCKET, SO_RCVBUF, 20000);
	set_int(p.c, SOL_SOCKET, SO_RCVLOWAT, 1000000);
	rec_int("not more than half of the buffer", p.c, SOL_SOCKET, SO_RCVLOWAT);
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 100);
	send_all(p.c, scratch, 99);
	rec("below", "%d", await_bytes(p.s, 99));
	rec_mask("mask, below", p.s);
	set_timeout(p.s, SO_RCVTIMEO, 60);
	REC("recv gets what there is at its timeout",
	    recv(p.s, scratch, 200, MSG_PEEK));
	REC("recv that does not want as much", recv(p.s, scratch, 50, MSG_PEEK));
	send_all(p.c, "x", 1);
	rec_mask_at("mask, reached", p.s, POLLIN);
	REC("recv", recv(p.s, scratch, 200, 0));
	send_all(p.c, "y", 1);
	await_bytes(p.s, 1);
	rec_mask("mask, one byte", p.s);
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 1);
	rec_mask("mask, lowered", p.s);
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 100);
	shutdown(p.c, SHUT_WR);
	rec_mask_at("mask, end", p.s, POLLRDHUP);
	REC("recv before the end", recv(p.s, scratch, 200, 0));
	REC("recv at the end", recv(p.s, scratch, 200, 0));
}

static void full_buffer(void)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	static char big[4 << 20];
	long sent;

	sent = send(p.c, big, sizeof(big), MSG_DONTWAIT);
	rec_bool("a part fits", sent > 0 && sent < (long)sizeof(big));
	sent += fill_ends(p.c, p.s);
	rec_mask("full", p.c);
	REC("send", send_until_failure(p.c, &sent, 1, MSG_DONTWAIT));
	set_nonblock(p.c, true);
	REC("write", write_until_failure(p.c, &sent));
	rec_bool("SIOCOUTQ counts", unsent_bytes(p.c) > 0);
	drain(p.s, sent);
	rec_mask_at("drained", p.c, POLLOUT);
	REC("nothing more came", recv(p.s, big, 1, MSG_DONTWAIT));
	REC("send", send(p.c, big, 1, 0));
}

static void count_unread(void)
{
	struct pair p = pair_make();
	int fd = listener(1, NULL);

	rec("none", "%d", queued_bytes(p.s));
	send_all(p.c, scratch, 100);
	rec("one", "%d", await_bytes(p.s, 100));
	send_all(p.c, scratch, 3000);
	rec("more", "%d", await_bytes(p.s, 3100));
	recv_all(p.s, scratch, 40);
	rec("some read", "%d", queued_bytes(p.s));
	shutdown(p.c, SHUT_WR);
	poll_for(p.s, POLLRDHUP, WAIT_MS);
	rec("end is not a byte", "%d", queued_bytes(p.s));
	recv_all(p.s, scratch, 3060);
	rec("empty, at the end", "%d", queued_bytes(p.s));
	REC("listening", ioctl(fd, FIONREAD, &scratch_int));
	rec("fresh", "%d", queued_bytes(fresh(0)));
	REC("bad pointer", ioctl(p.c, FIONREAD, 8));
	REC("unknown ioctl", ioctl(p.c, 0x89ef, &scratch_int));
}

static void count_unsent(void)
{
	struct pair p = pair_make();
	int fd = listener(1, NULL);
	long long end = now_ms() + WAIT_MS;

	rec("none", "%d", unsent_bytes(p.c));
	send_all(p.c, scratch, 1000);
	while (unsent_bytes(p.c) && now_ms() < end)
		pause_ms(1);
	rec("arrived", "%d", unsent_bytes(p.c));
	rec("unread at the peer", "%d", await_bytes(p.s, 1000));
	REC("listening", ioctl(fd, SIOCOUTQ, &scratch_int));
	rec("fresh", "%d", unsent_bytes(fresh(0)));
	shutdown(p.c, SHUT_WR);
	poll_for(p.s, POLLRDHUP, WAIT_MS);
	end = now_ms() + WAIT_MS;
	while (unsent_bytes(p.c) && now_ms() < end)
		pause_ms(1);
	rec("after shutdown", "%d", unsent_bytes(p.c));
}

/* Two pages, of which the second is not accessible. Returns the address of the second. */
static char *half_bad_pages(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need_errno(p != MAP_FAILED, "mmap");
	need_errno(!mprotect(p + page, page, PROT_NONE), "mprotect");
	return p + page;
}

static void bad_buffers(void)
{
	char *bad = half_bad_pages();
	struct pair p = pair_make();
	struct iovec mixed[2] = { { "good", 4 }, { bad, 4 } };
	struct iovec room[2] = { { bad - 4, 4 }, { bad, 4 } };

	REC("send", send(p.c, bad, 10, 0));
	REC("send across", send(p.c, bad - 5, 10, 0));
	REC("writev, second piece bad", writev(p.c, mixed, 2));
	REC("sendmsg, bad header", sendmsg(p.c, (void *)bad, 0));
	REC("the peer got", recv(p.s, scratch, 100, MSG_DONTWAIT));
	send_all(p.c, "0123456789", 10);
	await_bytes(p.s, 10);
	REC("recv", recv(p.s, bad, 10, 0));
	rec("nothing lost", "%d", queued_bytes(p.s));
	REC("peek", recv(p.s, bad, 10, MSG_PEEK));
	REC("recv across", recv(p.s, bad - 5, 10, 0));
	rec("left", "%d", queued_bytes(p.s));
	REC("readv, second piece bad", readv(p.s, room, 2));
	rec("left", "%d", queued_bytes(p.s));
	rec_recv("good buffer", p.s, 100, MSG_DONTWAIT);
	REC("recvmsg, bad header", recvmsg(p.s, (void *)bad, 0));
}

static void bad_pointers(void)
{
	char *bad = half_bad_pages();
	socklen_t len = 16, *bad_len = (void *)bad;
	struct addr where;
	int fd = listener(4, &where), client = fresh(0);
	struct pair p = pair_make();

	REC("bind", bind(client, (void *)bad, where.len));
	REC("connect", connect(client, (void *)bad, where.len));
	REC("getsockname, address", getsockname(fd, (void *)bad, &len));
	REC("getsockname, length", getsockname(fd, &where.sa, bad_len));
	REC("getpeername, address", getpeername(p.c, (void *)bad, &len));
	REC("getpeername, length", getpeername(p.c, &where.sa, bad_len));
	connect_to(client, &where);
	poll_for(fd, POLLIN, WAIT_MS);
	REC_FD("accept, address", accept(fd, (void *)bad, &len));
	rec_mask_at("its client", client, POLLIN);
	rec_recv("its client", client, 10, 0);
	set_nonblock(fd, true);
	REC_FD("the queue", accept(fd, NULL, NULL));
}

static void interrupted_receive(void)
{
	struct iovec byte = { scratch, 1 };
	struct pair p = pair_make();

	ticks_start(on_tick, 0);
	REC("recv", recv(p.c, scratch, 1, 0));
	REC("read", read(p.c, scratch, 1));
	REC("readv", readv(p.c, &byte, 1));
	REC("peek", recv(p.c, scratch, 1, MSG_PEEK));
	REC("poll", poll(&(struct pollfd){ .fd = p.c, .events = POLLIN }, 1, WAIT_MS));
	ticks_stop();
	other_end = p.s;
	ticks_start(send_on_third_tick, SA_RESTART);
	rec_recv("recv, restarted", p.c, 10, 0);
	ticks_stop();
}

static int late_client;

static struct addr late_where;

static void connect_on_third_tick(int sig)
{
	if (++ticks == 3)
		connect(late_client, &late_where.sa, late_where.len);
}

static void interrupted_accept(void)
{
	int fd = listener(4, &late_where);

	ticks_start(on_tick, 0);
	REC_FD("accept", accept(fd, NULL, NULL));
	ticks_stop();
	late_client = fresh(SOCK_NONBLOCK);
	ticks_start(connect_on_third_tick, SA_RESTART);
	REC_FD("restarted", accept(fd, NULL, NULL));
	ticks_stop();
	rec_mask_at("client", late_client, POLLOUT);
}

static void interrupted_send(void)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	static char big[1 << 20];
	long sent, n;

	ticks_start(on_tick, 0);
	n = send(p.c, big, sizeof(big), 0);
	rec_bool("a part is sent", n > 0 && n < (long)sizeof(big));
	ticks_stop();
	sent = n + fill_ends(p.c, p.s);
	ticks_start(on_tick, 0);
	REC("full", send_until_failure(p.c, &sent, 10, 0));
	REC("full, write", write_until_failure(p.c, &sent));
	ticks_stop();
	drain(p.s, sent);
	REC("nothing more came", recv(p.s, big, 1, MSG_DONTWAIT));
}

static const struct scenario scenarios[] = {
	SCENARIO(calls_basic),
	SCENARIO(calls_split_and_join),
	SCENARIO(send_to_address),
	SCENARIO(zero_length),
	SCENARIO(dont_wait),
	SCENARIO(peek),
	SCENARIO(peek_waits),
	SCENARIO(wait_all),
	SCENARIO(wait_all_end),
	SCENARIO(truncate_receive),
	SCENARIO(more_to_come),
	SCENARIO(pipe_signal),
	SCENARIO(pipe_signal_kills),
	SCENARIO(not_connected),
	SCENARIO(receive_timeout),
	SLOW_SCENARIO(send_timeout),
	SCENARIO(low_water_mark),
	SCENARIO(full_buffer),
	SCENARIO(count_unread),
	SCENARIO(count_unsent),
	SCENARIO(bad_buffers),
	SCENARIO(bad_pointers),
	SCENARIO(interrupted_receive),
	SCENARIO(interrupted_accept),
	SLOW_SCENARIO(interrupted_send),
};

const struct scenario_list data_scenarios = SCENARIO_LIST(scenarios);
