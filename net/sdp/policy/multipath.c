// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of MPTCP, which are undecided as those of TCP are. By the verdict
 * tcp, or when SDP does not work, they go on as MPTCP.
 *
 * MPTCP keeps options of IPPROTO_TCP in a struct that is private to it. But an
 * undecided socket's calls come by here, so what its program sets is noted
 * beside it, and set on the SDP socket too.
 */
#include <linux/net.h>
#include <linux/tcp.h>

#include "../conn/sock.h"
#include "undecided.h"

/* Those that MPTCP knows, and that mean something on an SDP socket. */
static const u8 noted[] = {
	TCP_NODELAY, TCP_MAXSEG, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL,
	TCP_KEEPCNT, TCP_USER_TIMEOUT, TCP_SYNCNT, TCP_LINGER2,
	TCP_DEFER_ACCEPT, TCP_NOTSENT_LOWAT, TCP_INQ,
};

static_assert(ARRAY_SIZE(noted) == SDP_MULTIPATH_OPTIONS);

static void set(struct socket *sdp, int name, int value)
{
	/* SDP has the range of TCP, which has taken the value. */
	sdp->ops->setsockopt(sdp, SOL_TCP, name, KERNEL_SOCKPTR(&value),
			     sizeof(value));
}

static void note(struct sdp_shadow *shadow, int name, int value)
{
	size_t i;

	if (name == TCP_FASTOPEN_CONNECT)
		WRITE_ONCE(shadow->only_tcp, value);
	for (i = 0; i < ARRAY_SIZE(noted); i++) {
		if (noted[i] != name)
			continue;
		WRITE_ONCE(shadow->values[i], value);
		set_bit(i, &shadow->valued);
		/* One that connects, or listens, beside it. */
		if (shadow->sdp)
			set(shadow->sdp, name, value);
	}
}

/**
 * sdp_multipath_set() - an option of IPPROTO_TCP is set on an MPTCP socket
 * @shadow: its shadow, locked for reading
 * @name: option
 * @value: its value
 * @len: length of the value
 *
 * Return: 0 or an errno, as MPTCP says it.
 */
int sdp_multipath_set(struct sdp_shadow *shadow, int name, sockptr_t value,
		      unsigned int len)
{
	struct socket *sock = shadow->sock;
	int val, err;

	if (name == TCP_CONGESTION || len < sizeof(val))
		return shadow->tcp->setsockopt(sock, SOL_TCP, name, value, len);
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	err = shadow->tcp->setsockopt(sock, SOL_TCP, name, KERNEL_SOCKPTR(&val),
				      sizeof(val));
	if (!err)
		note(shadow, name, val);
	return err;
}

/**
 * sdp_multipath_carry() - let a new SDP socket have what was set so far
 * @shadow: shadow, locked for writing, of a socket of either protocol
 */
void sdp_multipath_carry(struct sdp_shadow *shadow)
{
	size_t i;

	for_each_set_bit(i, &shadow->valued, ARRAY_SIZE(noted))
		set(shadow->sdp, noted[i], READ_ONCE(shadow->values[i]));
}
