/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Iteration over the sockets of a namespace, and a snapshot of one.
 *
 * /proc and netlink show the sockets in pieces, and keep only a position
 * between the pieces. A position is the number of a list (sdp_net.socks) and a
 * place in it. A socket's place is computed from its serial number and never
 * changes. Each list is in the order of places; it begins with the newest
 * socket. So a socket that exists all the time is shown exactly once, whatever
 * other sockets are added or removed between the pieces.
 */
#ifndef SDP_SOCKS_H
#define SDP_SOCKS_H

#include "../conn/sock.h"
#include "../socket/info.h"

/* Position before the first socket. */
#define SDP_SOCKS_BEGIN	0

/**
 * struct sdp_look - snapshot of one socket, taken under its lock
 * @local: own address and port
 * @peer: address and port of the peer; port 0 if there is none
 * @device: name of the RDMA device, or "loop"; empty without a link
 * @tx_queue: bytes that the application has written and that have not arrived
 *	at the peer, as far as we know
 * @rx_queue: bytes to be read; for a listener, child sockets to be accepted
 * @credit: number of messages that we may send
 * @posted: number of receives posted
 * @theirs: number of messages that the peer may send
 * @sent: number of messages sent
 * @received: number of messages received
 * @state: TCP_ESTABLISHED and so on
 * @tx_mode: SDP_MODE_* of the direction that we send
 * @rx_mode: SDP_MODE_* of the direction that we receive
 * @timer: sk_timer is pending
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
