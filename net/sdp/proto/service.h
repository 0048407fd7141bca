/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagram service of a device port, as a SIDR answer of the CM describes it.
 *
 * A host that wants to open connections by datagrams asks the peer's CM for its
 * queue pairs (service id resolution, SIDR). The answer has them in its private
 * data. The queue pair that the answer itself names is the first of them.
 *
 * Pure functions.
 */
#ifndef SDP_PROTO_SERVICE_H
#define SDP_PROTO_SERVICE_H

#include "wire.h"

#define SDP_SERVICE_QPS_MAX	4
/* Bytes. */
#define SDP_SERVICE_LEN		(8 + 4 * SDP_SERVICE_QPS_MAX)

/**
 * struct sdp_service - the datagram service of a port
 * @size: bytes of the largest datagram that it takes
 * @qps: number of its queue pairs, 1 to %SDP_SERVICE_QPS_MAX
 * @qpn: their numbers
 */
struct sdp_service {
	u16 size;
	u8 qps;
	u32 qpn[SDP_SERVICE_QPS_MAX];
};

void sdp_service_build(u8 *buf, const struct sdp_service *s);
enum sdp_violation sdp_service_parse(const u8 *buf, u32 bytes,
				     struct sdp_service *s);

#endif /* SDP_PROTO_SERVICE_H */
