// SPDX-License-Identifier: GPL-2.0
/*
 * Datagram service of a device port, as a SIDR answer of the CM describes it.
 *
 * service.h describes it. The bytes:
 *	0: version   1: number of queue pairs   2: size   4: zero
 *	8: numbers of the queue pairs, 4 bytes each; the rest is zero
 */
#include "datagram.h"
#include "opening.h"
#include "service.h"
#include "wire_bytes.h"

/* Numbers of queue pairs have 24 bits. */
#define QPN_MAX	0xffffff

/**
 * sdp_service_build() - encode the private data of a SIDR answer
 * @buf: %SDP_SERVICE_LEN bytes
 * @s: the service
 */
void sdp_service_build(u8 *buf, const struct sdp_service *s)
{
	u32 i;

	memset(buf, 0, SDP_SERVICE_LEN);
	buf[0] = SDP_DATAGRAM_VERSION;
	buf[1] = s->qps;
	put16(buf + 2, s->size);
	for (i = 0; i < s->qps; i++)
		put32(buf + 8 + 4 * i, s->qpn[i]);
}

/**
 * sdp_service_parse() - decode the private data of a SIDR answer
 * @buf: private data; what is behind %SDP_SERVICE_LEN is ignored
 * @bytes: its length
 * @s: filled in; not valid unless %SDP_VALID is returned
 *
 * Return: %SDP_VALID, or what is wrong with the answer.
 */
enum sdp_violation sdp_service_parse(const u8 *buf, u32 bytes,
				     struct sdp_service *s)
{
	u32 i;

	if (bytes < SDP_SERVICE_LEN)
		return SDP_BAD_LEN;
	s->qps = buf[1];
	s->size = get16(buf + 2);
	if (buf[0] != SDP_DATAGRAM_VERSION || !s->qps ||
	    s->qps > SDP_SERVICE_QPS_MAX || s->size < SDP_DATAGRAM_SIZE_MIN ||
	    s->size > SDP_DATAGRAM_SIZE_MAX)
		return SDP_BAD_HELLO;
	for (i = 0; i < s->qps; i++) {
		s->qpn[i] = get32(buf + 8 + 4 * i);
		/* 0 and 1 are those of management datagrams. */
		if (s->qpn[i] < 2 || s->qpn[i] > QPN_MAX)
			return SDP_BAD_HELLO;
	}
	return SDP_VALID;
}
