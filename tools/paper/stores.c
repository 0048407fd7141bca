// SPDX-License-Identifier: GPL-2.0
/*
 * stores: bulk stores that wait for each other, and stores that do not.
 *
 *	stores [-w] FAMILY ADDRESS PORT SIZE COUNT
 *
 * One process writes COUNT times SIZE bytes to another one, which checks every byte. The reader
 * answers by one byte when it has everything.
 *
 *	-w	the reader answers each store, and the writer waits for that before the next one: a
 *		store has ended when the data is there
 *
 * Prints: stores size=... count=... us=DURATION mbps=..., 10^6 bytes per second.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

#define MAX_BYTES	(64u << 20)
#define MAX_COUNT	10000000
/* The connection learns first, in as many stores that do not count. */
#define WARM(count)	((count) / 8 + 4)

static struct {
	size_t size;
	size_t count;
	bool waits;
	char *data;
	char *in;
} cfg;

static void answer(int fd)
{
	char byte = 'a';

	send_all(fd, &byte, 1);
}

static void await(int fd)
{
	char byte;

	if (!recv_all(fd, &byte, 1))
		errx(1, "the reader has ended");
}

static void take(int fd, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!recv_all(fd, cfg.in, cfg.size))
			errx(1, "the stream has ended");
		if (memcmp(cfg.in, cfg.data, cfg.size))
			errx(1, "data came wrong");
		if (cfg.waits)
			answer(fd);
	}
	if (!cfg.waits)
		answer(fd);
}

static void read_all(int fd)
{
	take(fd, WARM(cfg.count));
	take(fd, cfg.count);
}

static void store(int fd, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		send_all(fd, cfg.data, cfg.size);
		if (cfg.waits)
			await(fd);
	}
	if (!cfg.waits)
		await(fd);
}

static void measure(int fd)
{
	double us;

	store(fd, WARM(cfg.count));
	us = now_us();
	store(fd, cfg.count);
	us = now_us() - us;
	printf("stores size=%zu count=%zu us=%.1f mbps=%.2f\n", cfg.size, cfg.count, us,
	       cfg.size * cfg.count / us);
}

static void prepare(char **argv)
{
	size_t i;

	cfg.size = number(argv[0], MAX_BYTES);
	cfg.count = number(argv[1], MAX_COUNT);
	if (!cfg.size || !cfg.count)
		errx(2, "there has to be a store, with a byte in it");
	cfg.data = malloc(cfg.size);
	cfg.in = malloc(cfg.size);
	if (!cfg.data || !cfg.in)
		err(1, "no memory for %zu bytes", cfg.size);
	for (i = 0; i < cfg.size; i++)
		cfg.data[i] = i * 2654435761u >> 24;
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+w")) == 'w')
		cfg.waits = true;
	argv += optind;
	if (option != -1 || argc - optind != 5) {
		fputs("usage: stores [-w] FAMILY ADDRESS PORT SIZE COUNT\n", stderr);
		return 2;
	}
	prepare(argv + 3);
	run_ends(connect_ends(family_number(argv[0]), argv[1], number(argv[2], 65535), 0), measure,
		 read_all);
	return 0;
}
