// SPDX-License-Identifier: GPL-2.0
/*
 * MPTCP sockets: SOL_TCP options that an SDP socket must get, too.
 *
 * MPTCP sockets are undecided as TCP sockets are. With the verdict "tcp", or
 * when SDP falls back, they continue as MPTCP.
 *
 * MPTCP keeps options of SOL_TCP in a private struct, so sockopt_sync.c cannot
 * read them. But each setsockopt() of an undecided socket passes our proto_ops.
 * So the shadow records the values and sets them on the SDP socket as well.
 */
#include <linux/net.h>
#include <linux/tcp.h>

#include "undecided.h"

/* The options that MPTCP supports and that have a meaning for SDP. */
static const u8 multipath_options[] = {
	TCP_NODELAY, TCP_MAXSEG, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL,
	TCP_KEEPCNT, TCP_USER_TIMEOUT, TCP_SYNCNT, TCP_LINGER2,
	TCP_DEFER_ACCEPT, TCP_NOTSENT_LOWAT, TCP_INQ,
};

static_assert(ARRAY_SIZE(multipath_options) == SDP_MULTIPATH_OPTIONS);

static void multipath_set_sdp(struct socket *sdp, int name, int value)
{
	/* Cannot fail: MPTCP has accepted it, and SDP has the same ranges. */
	sdp->ops->setsockopt(sdp, SOL_TCP, name, KERNEL_SOCKPTR(&value),
			     sizeof(value));
}

static void multipath_note(struct sdp_shadow *shadow, int name, int value)
{
	size_t i;

	if (name == TCP_FASTOPEN_CONNECT)
		WRITE_ONCE(shadow->only_tcp, value);
	for (i = 0; i < ARRAY_SIZE(multipath_options); i++) {
		if (multipath_options[i] != name)
			continue;
		WRITE_ONCE(shadow->values[i], value);
		set_bit(i, &shadow->valued);
		/* An SDP socket connects or listens beside the MPTCP sock. */
		if (shadow->sdp)
			multipath_set_sdp(shadow->sdp, name, value);
	}
}

/**
 * sdp_multipath_set() - set an option of SOL_TCP on an undecided MPTCP socket
 * @shadow: the socket's shadow, locked for reading
 * @name: option
 * @value: its value
 * @len: length of @value in bytes
 *
 * MPTCP gets the option first. If it accepts the value, the shadow records it,
 * and the shadow's SDP socket gets it, if there is one.
 *
 * Return: 0 or a negative errno, MPTCP's answer.
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
		multipath_note(shadow, name, val);
	return err;
}

/**
 * sdp_multipath_carry() - set the recorded options on a new SDP socket
 * @shadow: shadow, locked for writing, with an SDP socket; the shadow of a TCP
 *	socket has no recorded options
 */
void sdp_multipath_carry(struct sdp_shadow *shadow)
{
	size_t i;

	for_each_set_bit(i, &shadow->valued, ARRAY_SIZE(multipath_options))
		multipath_set_sdp(shadow->sdp, multipath_options[i],
				  READ_ONCE(shadow->values[i]));
}
