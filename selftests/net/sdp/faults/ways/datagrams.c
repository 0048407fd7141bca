// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by datagrams, for sweeps over their allocations.
 *
 * Without memory a packet counts as lost, so nothing but the calls themselves may fail.
 */
#include "datagrams.h"

static void by_datagrams(void)
{
	need(setting_write("service", "ud\n"), "the setting service");
}

static void need_datagrams(int fd)
{
	need(!strcmp(info_of(fd).transport, "ud"), "it is by %s", info_of(fd).transport);
}

void setup_datagrams(struct state *s)
{
	by_datagrams();
	s->p = pair_make();
	need_datagrams(s->p.c);
}

void setup_datagram_listener(struct state *s)
{
	by_datagrams();
	setup_listener(s);
}

/* It has not become a connection of another kind. */
void after_datagram_connect(struct state *s)
{
	need_datagrams(s->fd);
	after_connect(s);
}

/* As at_random(), with allocations of the transport that fail while datagrams arrive. */
int at_random_datagrams(void *arg)
{
	long long sent = counter("DatagramsSent");
	int status;

	by_datagrams();
	status = at_random(arg);
	need(status != EXIT_OK || counter("DatagramsSent") > sent, "nothing went by datagrams");
	return status;
}
