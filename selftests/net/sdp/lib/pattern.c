// SPDX-License-Identifier: GPL-2.0
#include "pattern.h"

unsigned char pattern_bytes[PATTERN_PERIOD + PATTERN_LARGEST];

void pattern_make(void)
{
	unsigned int i, x = 12345;

	for (i = 0; i < PATTERN_PERIOD; i++)
		pattern_bytes[i] = next_random(&x) >> 11;
	for (; i < sizeof(pattern_bytes); i++)
		pattern_bytes[i] = pattern_bytes[i - PATTERN_PERIOD];
}

/* The stream from position @at; PATTERN_LARGEST bytes can be read there. */
const unsigned char *pattern(long at)
{
	return pattern_bytes + at % PATTERN_PERIOD;
}

void pattern_check(long at, const unsigned char *data, long len)
{
	const unsigned char *want = pattern(at);
	long i;

	if (!memcmp(data, want, len))
		return;
	for (i = 0; data[i] == want[i]; i++)
		;
	give_up("byte %ld is %#x instead of %#x (%ld of %ld in this piece)", at + i, data[i],
		want[i], i, len);
}

/* Reads @len bytes of the stream from position @at, in calls of at most @piece bytes. */
void pattern_read(int fd, long at, long len, long piece)
{
	static unsigned char buf[PATTERN_LARGEST];
	long end = at + len;

	while (at < end) {
		ssize_t n = read(fd, buf, end - at < piece ? end - at : piece);

		need_errno(n >= 0, "read");
		need(n, "the stream ended at byte %ld, %ld are missing", at, end - at);
		pattern_check(at, buf, n);
		at += n;
	}
}

/* Like pattern_read(), but polls before each call, so that none waits for the data. */
void pattern_read_polled(int fd, long at, long len, long piece)
{
	static unsigned char buf[PATTERN_LARGEST];
	long end = at + len;

	set_nonblock(fd, true);
	while (at < end) {
		ssize_t n;

		need(poll_for(fd, POLLIN, WAIT_MS), "nothing at byte %ld, %ld are missing", at,
		     end - at);
		n = read(fd, buf, piece);
		need_errno(n > 0 || (n < 0 && errno == EAGAIN), "read");
		if (n < 0)
			continue;
		pattern_check(at, buf, n);
		at += n;
	}
}

void pattern_write(int fd, long at, long len)
{
	while (len) {
		long part = len < PATTERN_LARGEST ? len : PATTERN_LARGEST;

		send_all(fd, pattern(at), part);
		at += part;
		len -= part;
	}
}

/* Sends @n writes of @size bytes from *@at of the stream; each is read before the next one. */
void in_step(int from, int to, long *at, int n, long size)
{
	while (n--) {
		pattern_write(from, *at, size);
		pattern_read(to, *at, size, PATTERN_LARGEST);
		*at += size;
	}
}

/* Returns an unnamed file that holds the first @len bytes of the stream. */
int pattern_file(long len)
{
	int fd = memfd_create("pattern", 0);
	long at = 0;

	need_errno(fd >= 0, "memfd_create");
	while (at < len) {
		long part = len - at < PATTERN_LARGEST ? len - at : PATTERN_LARGEST;
		ssize_t n = write(fd, pattern(at), part);

		need_errno(n == part, "write to a file");
		at += n;
	}
	return fd;
}

/* Starts a process in the test's process group. It runs @body and exits with 0 if all was well. */
pid_t helper_start(void (*body)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need_errno(pid >= 0, "fork");
	if (!pid) {
		body(arg);
		fflush(stdout);
		_exit(EXIT_OK);
	}
	return pid;
}

void helper_end(pid_t pid)
{
	int status;

	need_errno(waitpid(pid, &status, 0) == pid, "waitpid");
	need(!status, "the other process ended with status %#x", status);
}

void pattern_reader_main(void *arg)
{
	struct pattern_reader *r = arg;
	char more;

	close(r->other);
	pause_ms(r->pause_first);
	pattern_read(r->fd, 0, r->len, r->piece);
	need(read(r->fd, &more, 1) == 0, "more than the %ld bytes sent", r->len);
}
