// SPDX-License-Identifier: GPL-2.0
/*
 * pipeline: an application of filters, each in a process of its own, joined by sockets.
 *
 * The sockets carry units of work of 1 KiB (figure 10 of the paper).
 *
 *	pipeline prepare FILE BYTES		writes the first BYTES of FILE to FILE.BYTES, and
 *						compressed to FILE.BYTES.z
 *	pipeline NAME FAMILY ADDRESS PORT FILE	NAME: microscope or words, see filters.c; FILE: a
 *						prepared file; ports from PORT on
 *
 * The first stage reads the file, which should be in the page cache. Prints the time from when all
 * processes are ready until the last one has its result, and a checksum of the result, which
 * depends on the data only: pipeline name=... bytes=... us=... sum=...
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "ends.h"
#include "pipeline.h"

#define AT_ONCE		65536	/* a filter takes all available data up to this size */
#define STAGES_MAX	8
#define BYTES_MAX	(1u << 30)

void put(struct outflow *out, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		size_t n = UNIT - out->used < len ? UNIT - out->used : len;

		memcpy(out->unit + out->used, p, n);
		out->used += n;
		p += n;
		len -= n;
		if (out->used < UNIT)
			break;
		send_all(out->fd, out->unit, UNIT);
		out->used = 0;
	}
}

static void put_rest(struct outflow *out)
{
	if (out->used)
		send_all(out->fd, out->unit, out->used);
	if (shutdown(out->fd, SHUT_WR))
		err(1, "shutdown");
}

/* A stage: runs its filter on all its input. */
static void run_filter(filter run, int in, struct outflow *out, struct result *result)
{
	static unsigned char data[AT_ONCE];
	ssize_t n;

	do {
		n = recv(in, data, sizeof(data), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err(1, "recv");
		if (result)
			result->bytes += n;
		run(data, n, out, result);
	} while (n);
	if (out)
		put_rest(out);
}

static void read_file(FILE *file, struct outflow *out)
{
	char data[UNIT];
	size_t n;

	while ((n = fread(data, 1, sizeof(data), file)))
		put(out, data, n);
	if (ferror(file))
		errx(1, "the file cannot be read");
	put_rest(out);
}

static FILE *open_input(const char *file, const char *suffix, uint64_t *bytes)
{
	struct stat st;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", file, suffix);
	f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st))
		err(1, "%s", path);
	*bytes = st.st_size;
	return f;
}

static void close_all_but(const struct ends *links, int n, int one, int other)
{
	int i;

	for (i = 0; i < n; i++) {
		if (links[i].from != one && links[i].from != other)
			close(links[i].from);
		if (links[i].to != one && links[i].to != other)
			close(links[i].to);
	}
}

/* Stage 0 reads the file, stage n has filter n - 1; each but the last is a child process. */
static void start_stage(const struct pipeline *p, const struct ends *links, int n, int stage,
			FILE *file, const int go[2])
{
	struct outflow out = { .fd = links[stage].from };
	int in = stage ? links[stage - 1].to : -1;
	pid_t pid = fork();
	char byte;

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_all_but(links, n, in, out.fd);
	close(go[1]);
	if (stage) {
		run_filter(p->filters[stage - 1], in, &out, NULL);
	} else {
		if (read(go[0], &byte, 1) != 1)
			errx(1, "no word to begin");
		read_file(file, &out);
	}
	exit(0);
}

static void run(const struct pipeline *p, char **argv)
{
	int family = family_number(argv[0]), port = number(argv[2], 65000);
	struct result result = { .sum = 14695981039346656037ull };
	struct ends links[STAGES_MAX];
	uint64_t bytes;
	FILE *file = open_input(argv[3], p->input, &bytes);
	int n = 0, i, status, go[2];
	double began;

	for (; p->filters[n]; n++)
		links[n] = connect_ends(family, argv[1], port + n, 0);
	if (pipe(go))
		err(1, "pipe");
	for (i = 0; i < n; i++)
		start_stage(p, links, n, i, file, go);
	close_all_but(links, n, links[n - 1].to, -1);
	began = now_us();
	if (write(go[1], "!", 1) != 1)
		err(1, "pipe");
	run_filter(p->filters[n - 1], links[n - 1].to, NULL, &result);
	printf("pipeline name=%s bytes=%llu us=%.1f last=%llu sum=%016llx\n", p->name,
	       (unsigned long long)bytes, now_us() - began, (unsigned long long)result.bytes,
	       (unsigned long long)result.sum);
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a stage has failed");
}

static void write_file(const char *path, const char *suffix, const void *data, size_t len)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	f = fopen(name, "w");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		err(1, "%s", name);
}

static void prepare(const char *file, const char *size)
{
	size_t len = number(size, BYTES_MAX);
	uLongf packed_len = compressBound(len);
	unsigned char *data = malloc(len), *packed = malloc(packed_len);
	char path[4096];
	FILE *f = fopen(file, "r");

	if (!data || !packed)
		err(1, "no memory for %zu bytes", len);
	if (!f || fread(data, 1, len, f) != len)
		errx(1, "%s has no %zu bytes", file, len);
	if (compress2(packed, &packed_len, data, len, 6) != Z_OK)
		errx(1, "zlib does not compress");
	snprintf(path, sizeof(path), "%s.%zu", file, len);
	write_file(path, "", data, len);
	write_file(path, ".z", packed, packed_len);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc == 4 && !strcmp(argv[1], "prepare")) {
		prepare(argv[2], argv[3]);
		return 0;
	}
	for (i = 0; argc == 6 && i < pipeline_count; i++) {
		if (strcmp(argv[1], pipelines[i].name))
			continue;
		run(&pipelines[i], argv + 2);
		return 0;
	}
	fputs("usage: pipeline prepare FILE BYTES\n"
	      "       pipeline microscope|words FAMILY ADDRESS PORT FILE\n", stderr);
	return 2;
}
