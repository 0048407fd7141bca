/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A namespace's sockets, for who shows them piece by piece: one after the other, and what is
 * shown of one.
 *
 * A position is the number of a list, and a place in it. In each list the youngest socket comes
 * first, and a place follows from its age; so whatever comes and goes between two pieces, a
 * socket that is there all the time is met once.
 */
#ifndef SDP_SOCKS_H
#define SDP_SOCKS_H

#include "../conn/sock.h"

/* Before the first socket. */
#define SDP_SOCKS_BEGIN	0

/**
 * struct sdp_look - numbers of one socket, taken under its lock
 * @local: its address
 * @peer: the other one; port 0 for none
 * @device: RDMA device, or "loop"; "" without a link
 * @tx_queue: bytes written that have not arrived
 * @rx_queue: bytes to be read; of a listener, connections to be accepted
 * @credit: messages that may be sent
 * @posted: receives posted
 * @theirs: messages that the peer may send
 * @sent: messages
 * @received: messages
 * @state: TCP_ESTABLISHED and so on
 * @tx_mode: SDP_MODE_* of the direction out
 * @rx_mode: of the direction in
 * @timer: its timer runs
 */
struct sdp_look {
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	char device[SDP_DEVICE_NAME];
	u32 tx_queue;
	u32 rx_queue;
	u32 credit;
	u16 posted;
	u16 theirs;
	u64 sent;
	u64 received;
	u8 state;
	u8 tx_mode;
	u8 rx_mode;
	bool timer;
};

struct sdp_sock *sdp_socks_at(struct sdp_net *sn, loff_t *pos);
struct sdp_sock *sdp_socks_next(struct sdp_net *sn, struct sdp_sock *ssk,
				loff_t *pos);
void sdp_socks_look(struct sdp_sock *ssk, struct sdp_look *look,
		    struct sdp_info *info);

#endif /* SDP_SOCKS_H */
