/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a connection by datagrams is opened: messages, and the connecting end.
 *
 *	connecting end				listening end
 *	Open		-------------------->	keeps nothing
 *			<--------------------	Challenge: a cookie
 *	Open with the	-------------------->	checks the cookie, makes the
 *	cookie					connection
 *			<--------------------	OpenAck; repeated for each Open
 *	Data, or ACK	-------------------->	the connection is confirmed
 *
 * The cookie depends on the addresses, queue pairs and numbers in the Open, on
 * a secret and on the time. So an Open from a forged address costs no memory,
 * and a Challenge is shorter than the Open, so nobody is flooded by way of it.
 *
 * An Open carries Hello, an OpenAck HelloAck, as the private data of the CM do.
 * The time from the first Open to its Challenge is that of a round trip, from
 * which both ends have their first timeout (rto.h). The second Open tells it to
 * the listening end.
 *
 * Any of these messages may get lost. The connecting end repeats its Open,
 * after a time that doubles; the listening end answers.
 * Once it has made the connection, its transport repeats the OpenAck as well,
 * until it is confirmed.
 *
 * Pure functions. The caller holds the lock of the connection, and says what
 * time it is, in microseconds, which may wrap.
 */
#ifndef SDP_PROTO_OPENING_H
#define SDP_PROTO_OPENING_H

#include "datagram.h"

/* Largest datagram that an end may name: of the least and the largest MTU. */
#define SDP_DATAGRAM_SIZE_MIN	256
#define SDP_DATAGRAM_SIZE_MAX	4096

/**
 * struct sdp_open - body of an Open, before Hello
 * @cookie: cookie of the Challenge; all zeros without one
 * @service_id: where the listener listens, as in a request of the CM
 * @size: bytes of the largest datagram that the connecting end takes
 * @rtt: how long a round trip takes, microseconds; 0 without a cookie
 */
struct sdp_open {
	u8 cookie[SDP_COOKIE_LEN];
	u64 service_id;
	u16 size;
	u32 rtt;
};

/**
 * enum sdp_open_reject - why the listening end does not open a connection
 * @SDP_OPEN_NO_LISTENER: nobody listens
 * @SDP_OPEN_BUSY: as many connections as allowed wait to be accepted
 * @SDP_OPEN_UNSUITABLE: what the Open says cannot be agreed on
 */
enum sdp_open_reject {
	SDP_OPEN_NO_LISTENER = 1,
	SDP_OPEN_BUSY,
	SDP_OPEN_UNSUITABLE,
};

/**
 * enum sdp_opening_state - state of the connecting end
 * @SDP_OPENING_ASKS: has sent an Open, or will, without a cookie
 * @SDP_OPENING_SHOWS: has sent an Open, or will, with a cookie
 * @SDP_OPENING_DONE: OpenAck has come
 */
enum sdp_opening_state {
	SDP_OPENING_ASKS,
	SDP_OPENING_SHOWS,
	SDP_OPENING_DONE,
};

/**
 * struct sdp_opening - a connecting end
 * @state: state
 * @due: an Open is to be sent
 * @tries: Opens that were sent in vain, or were challenged
 * @retries: most of them
 * @since: when the last one was sent; valid unless @due
 * @first: when the first one was sent
 * @rtt: time from an Open to the first Challenge; 0 before that
 * @cookie: cookie of the newest Challenge
 */
struct sdp_opening {
	enum sdp_opening_state state;
	bool due;
	u8 tries;
	u8 retries;
	u32 since;
	u32 first;
	u32 rtt;
	u8 cookie[SDP_COOKIE_LEN];
};

void sdp_open_build(u8 *buf, const struct sdp_open *o);
enum sdp_violation sdp_open_parse(const u8 *buf, struct sdp_open *o);
bool sdp_open_has_cookie(const struct sdp_open *o);
void sdp_open_ack_build(u8 *buf, u16 size);
enum sdp_violation sdp_open_ack_parse(const u8 *buf, u16 *size);
void sdp_open_reject_build(u8 *buf, enum sdp_open_reject why);
enum sdp_violation sdp_open_reject_parse(const u8 *buf,
					 enum sdp_open_reject *why);

void sdp_opening_init(struct sdp_opening *o, u32 retries);
u32 sdp_opening_sent(struct sdp_opening *o, struct sdp_open *open, u32 now);
bool sdp_opening_challenged(struct sdp_opening *o, const u8 *cookie, u32 sent,
			    u32 now);
bool sdp_opening_acked(struct sdp_opening *o);
bool sdp_opening_expired(struct sdp_opening *o, u32 now);
bool sdp_opening_wait(const struct sdp_opening *o, u32 now, u32 *us);

#endif /* SDP_PROTO_OPENING_H */
