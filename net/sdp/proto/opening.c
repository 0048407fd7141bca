// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection by datagrams is opened.
 *
 * opening.h describes it. Bodies, behind the header of the datagram:
 *	Open		0 cookie (16)   16 service id (8)   24 size   26 zero
 *			28 round trip   32 Hello
 *	Challenge	0 cookie (16)
 *	OpenAck		0 size   2 zero   8 HelloAck
 *	OpenReject	0 reason   2 zero
 */
#include "opening.h"
#include "rto.h"
#include "wire_bytes.h"

static enum sdp_violation get_size(const u8 *p, u16 *size)
{
	*size = get16(p);
	if (*size < SDP_DATAGRAM_SIZE_MIN || *size > SDP_DATAGRAM_SIZE_MAX)
		return SDP_BAD_HELLO;
	return SDP_VALID;
}

/**
 * sdp_open_build() - encode the body of an Open
 * @buf: %SDP_OPEN_LEN bytes; those of Hello, from byte 32 on, stay as they are
 * @o: body
 */
void sdp_open_build(u8 *buf, const struct sdp_open *o)
{
	memcpy(buf, o->cookie, SDP_COOKIE_LEN);
	put64(buf + 16, o->service_id);
	put16(buf + 24, o->size);
	put16(buf + 26, 0);
	put32(buf + 28, o->rtt);
}

/**
 * sdp_open_parse() - decode the body of an Open
 * @buf: %SDP_OPEN_LEN bytes
 * @o: filled in
 *
 * Return: %SDP_VALID or %SDP_BAD_HELLO.
 */
enum sdp_violation sdp_open_parse(const u8 *buf, struct sdp_open *o)
{
	memcpy(o->cookie, buf, SDP_COOKIE_LEN);
	o->service_id = get64(buf + 16);
	o->rtt = get32(buf + 28);
	return get_size(buf + 24, &o->size);
}

/**
 * sdp_open_has_cookie() - does an Open answer a Challenge?
 * @o: its body
 *
 * Return: true if so; whether the cookie is the right one is another question.
 */
bool sdp_open_has_cookie(const struct sdp_open *o)
{
	static const u8 none[SDP_COOKIE_LEN];

	return memcmp(o->cookie, none, SDP_COOKIE_LEN);
}

/**
 * sdp_open_ack_build() - encode the body of an OpenAck
 * @buf: %SDP_OPEN_ACK_LEN bytes; those of HelloAck, from byte 8 on, stay
 * @size: bytes of the largest datagram that the listening end takes
 */
void sdp_open_ack_build(u8 *buf, u16 size)
{
	put16(buf, size);
	memset(buf + 2, 0, 6);
}

/**
 * sdp_open_ack_parse() - decode the body of an OpenAck
 * @buf: %SDP_OPEN_ACK_LEN bytes
 * @size: filled in
 *
 * Return: %SDP_VALID or %SDP_BAD_HELLO.
 */
enum sdp_violation sdp_open_ack_parse(const u8 *buf, u16 *size)
{
	return get_size(buf, size);
}

/**
 * sdp_open_reject_build() - encode the body of an OpenReject
 * @buf: %SDP_OPEN_REJECT_LEN bytes
 * @why: reason
 */
void sdp_open_reject_build(u8 *buf, enum sdp_open_reject why)
{
	memset(buf, 0, SDP_OPEN_REJECT_LEN);
	put16(buf, why);
}

/**
 * sdp_open_reject_parse() - decode the body of an OpenReject
 * @buf: %SDP_OPEN_REJECT_LEN bytes
 * @why: filled in
 *
 * Return: %SDP_VALID, or %SDP_BAD_FIELD for a reason that there is not.
 */
enum sdp_violation sdp_open_reject_parse(const u8 *buf,
					 enum sdp_open_reject *why)
{
	*why = get16(buf);
	return *why >= SDP_OPEN_NO_LISTENER && *why <= SDP_OPEN_UNSUITABLE ?
		       SDP_VALID :
		       SDP_BAD_FIELD;
}

/**
 * sdp_opening_init() - an end begins to connect: an Open is due
 * @o: connecting end
 * @retries: Opens that may be sent in vain before it gives up
 */
void sdp_opening_init(struct sdp_opening *o, u32 retries)
{
	*o = (struct sdp_opening){ .due = true, .retries = retries };
}

/**
 * sdp_opening_sent() - the Open that was due is sent
 * @o: connecting end
 * @open: its body; @cookie and @rtt are filled in
 * @now: the time
 *
 * Return: Ack of its header: microseconds since the first Open. The Challenge
 * brings it back, so the time of its Open is known.
 */
u32 sdp_opening_sent(struct sdp_opening *o, struct sdp_open *open, u32 now)
{
	memcpy(open->cookie, o->cookie, SDP_COOKIE_LEN);
	open->rtt = o->rtt;
	if (o->state == SDP_OPENING_ASKS && !o->tries)
		o->first = now;
	o->due = false;
	o->since = now;
	return now - o->first;
}

/* Another Open is to be sent, if not too many were. */
static bool once_more(struct sdp_opening *o)
{
	if (o->tries >= o->retries)
		return false;
	o->tries++;
	o->due = true;
	return true;
}

/**
 * sdp_opening_challenged() - a Challenge has come
 * @o: connecting end
 * @cookie: its cookie
 * @sent: Seq of its header: when the Open was sent that it answers
 * @now: the time
 *
 * The first one costs no try. The cookie of an Open that was long on the way
 * may be too old, so a second Challenge is answered as well, but not for ever,
 * and not when the same one comes twice.
 *
 * Return: false if it is ignored. An Open is due otherwise.
 */
bool sdp_opening_challenged(struct sdp_opening *o, const u8 *cookie, u32 sent,
			    u32 now)
{
	u32 waited = now - o->first;

	if (o->state == SDP_OPENING_DONE ||
	    !memcmp(o->cookie, cookie, SDP_COOKIE_LEN))
		return false;
	if (o->state == SDP_OPENING_ASKS) {
		o->state = SDP_OPENING_SHOWS;
		o->due = true;
		/* An Open that was not sent yet is none. */
		o->rtt = max(sent <= waited ? waited - sent : waited, 1U);
	} else if (!once_more(o)) {
		return false;
	}
	memcpy(o->cookie, cookie, SDP_COOKIE_LEN);
	return true;
}

/**
 * sdp_opening_acked() - an OpenAck has come
 * @o: connecting end
 *
 * Return: true for the first one that answers an Open with a cookie: the
 * connection is established. The others are repetitions, or wrong.
 */
bool sdp_opening_acked(struct sdp_opening *o)
{
	if (o->state != SDP_OPENING_SHOWS)
		return false;
	o->state = SDP_OPENING_DONE;
	o->due = false;
	return true;
}

static u32 timeout(const struct sdp_opening *o)
{
	struct sdp_rto rto = { .doubled = o->tries };

	return sdp_rto_us(&rto);
}

/**
 * sdp_opening_expired() - the time of sdp_opening_wait() has come
 * @o: connecting end
 * @now: the time; earlier, nothing happens
 *
 * Return: false if the listening end does not answer: ETIMEDOUT. Otherwise an
 * Open may be due.
 */
bool sdp_opening_expired(struct sdp_opening *o, u32 now)
{
	u32 us;

	return !sdp_opening_wait(o, now, &us) || us || once_more(o);
}

/**
 * sdp_opening_wait() - when has sdp_opening_expired() to be called?
 * @o: connecting end
 * @now: the time
 * @us: filled in: microseconds from now on
 *
 * Return: false if there is nothing to wait for.
 */
bool sdp_opening_wait(const struct sdp_opening *o, u32 now, u32 *us)
{
	u32 waited = now - o->since;

	if (o->due || o->state == SDP_OPENING_DONE)
		return false;
	*us = waited < timeout(o) ? timeout(o) - waited : 0;
	return true;
}
