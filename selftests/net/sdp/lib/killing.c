// SPDX-License-Identifier: GPL-2.0
#include <sys/sendfile.h>

#include "killing.h"
#include "reports.h"

#define KILLED_WRITE	(1 << 18)

static void endless_writer(void *arg)
{
	const struct pair *p = arg;
	long at;

	close(p->s);
	for (at = 0; send(p->c, pattern(at), KILLED_WRITE, MSG_NOSIGNAL) > 0; at += KILLED_WRITE)
		;
}

static void endless_reader(void *arg)
{
	static unsigned char buf[KILLED_WRITE];
	const struct pair *p = arg;

	close(p->c);
	while (recv(p->s, buf, sizeof(buf), 0) > 0)
		;
}

static void talk_endlessly(int fd, int other, bool begins)
{
	static unsigned char buf[KILLED_WRITE];

	close(other);
	while ((begins || recv(fd, buf, sizeof(buf), MSG_WAITALL) > 0) &&
	       send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		begins = false;
}

static void endless_ping(void *arg)
{
	const struct pair *p = arg;

	talk_endlessly(p->c, p->s, true);
}

static void endless_pong(void *arg)
{
	const struct pair *p = arg;

	talk_endlessly(p->s, p->c, false);
}

/* By calls that do not wait. */
static void nowait_writer(void *arg)
{
	const struct pair *p = arg;
	long at;

	close(p->s);
	for (at = 0;; at += KILLED_WRITE) {
		while (send(p->c, pattern(at), KILLED_WRITE, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			if (errno != EAGAIN)
				return;
			poll_for(p->c, POLLOUT, WAIT_MS);
		}
	}
}

/* By MSG_ZEROCOPY. */
static void lent_writer(void *arg)
{
	const struct pair *p = arg;
	struct reports done = { 0 };
	long at;

	close(p->s);
	lend(p->c);
	for (at = 0;; at += KILLED_WRITE) {
		if (send(p->c, pattern(at), KILLED_WRITE, MSG_ZEROCOPY | MSG_NOSIGNAL) < 0 &&
		    errno != ENOBUFS)
			return;
		report_take(p->c, &done);
	}
}

/* By sendfile(2). */
static void file_writer(void *arg)
{
	const struct pair *p = arg;
	int file = pattern_file(KILLED_WRITE);
	off_t at = 0;

	close(p->s);
	signal(SIGPIPE, SIG_IGN);
	while (sendfile(p->c, file, &at, KILLED_WRITE) >= 0)
		at = 0;
}

const struct talk endless_stream = { endless_writer, endless_reader };

const struct talk endless_dialogue = { endless_ping, endless_pong };

const struct talk endless_nowait = { nowait_writer, endless_reader };

const struct talk endless_lent = { lent_writer, endless_reader };

const struct talk endless_file = { file_writer, endless_reader };

/* Kills one process. The other one sees the connection end, and exits. */
void talk_killed(const struct talk *talk, int after_us, bool kill_c)
{
	struct pair p = pair_make();
	pid_t c = helper_start(talk->at_c, &p), s = helper_start(talk->at_s, &p);
	int status;

	close(p.c);
	close(p.s);
	usleep(after_us);
	kill(kill_c ? c : s, SIGKILL);
	waitpid(kill_c ? c : s, &status, 0);
	helper_end(kill_c ? s : c);
}

/* Kills @rounds processes, at each end in turn, at random moments of the first @longest_ms. */
void talks_killed(const struct talk *talk, int rounds, int longest_ms, unsigned int seed)
{
	long long established = counter("CurrEstab");
	int i;

	for (i = 0; i < rounds; i++)
		talk_killed(talk, 1000 * random_up_to(&seed, longest_ms), i % 2);
	await_unpinned();
	await_established(established);
}
