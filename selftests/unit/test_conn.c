// SPDX-License-Identifier: GPL-2.0
/*
 * Table of connection states: every state with every event.
 *
 * Wire section 10.
 */
#include "conn.h"
#include "test.h"

#define NO	SDP_CONN_STATES		/* the event is refused */

/*
 * Written independently, from the diagram in conn.h. The columns are in the order HELLO_SENT,
 * HELLO_RCVD, ESTABLISHED, DISC_SENT, DISC_ARRIVED, DISC_RCVD, END.
 */
static const enum sdp_conn_state table[SDP_CONN_STATES][SDP_CONN_EVENTS] = {
	[SDP_CLOSED] = { SDP_HELLO_SENT, SDP_HELLO_RCVD, NO, NO, NO, NO, SDP_CLOSED },
	[SDP_HELLO_SENT] = { NO, NO, SDP_ESTABLISHED, NO, NO, NO, SDP_CLOSED },
	[SDP_HELLO_RCVD] = { NO, NO, SDP_ESTABLISHED, NO, NO, NO, SDP_CLOSED },
	[SDP_ESTABLISHED] = { NO, NO, NO, SDP_DISC_SENT, NO, SDP_DISC_RCVD, SDP_CLOSED },
	[SDP_DISC_SENT] = { NO, NO, NO, NO, SDP_DISC_ARRIVED, SDP_DISC_CROSSED, SDP_CLOSED },
	[SDP_DISC_ARRIVED] = { NO, NO, NO, NO, NO, SDP_FINISHED, SDP_CLOSED },
	[SDP_DISC_CROSSED] = { NO, NO, NO, NO, SDP_FINISHED, NO, SDP_CLOSED },
	[SDP_DISC_RCVD] = { NO, NO, NO, SDP_DISC_ANSWERED, NO, NO, SDP_CLOSED },
	[SDP_DISC_ANSWERED] = { NO, NO, NO, NO, SDP_DISC_ANSWERED, NO, SDP_CLOSED },
	[SDP_FINISHED] = { NO, NO, NO, NO, NO, NO, SDP_CLOSED },
};

TEST(sdp_conn_step__every_state_and_event)
{
	enum sdp_conn_state from, want, state;
	enum sdp_conn_event event;
	bool legal;

	for (from = SDP_CLOSED; from < SDP_CONN_STATES; from++)
		for (event = 0; event < SDP_CONN_EVENTS; event++) {
			want = table[from][event];
			state = from;
			legal = sdp_conn_step(&state, event);
			EXPECT_EQ(want != NO, legal);
			/* A refused event changes nothing. */
			EXPECT_EQ(want == NO ? from : want, state);
		}
}

/* wire 10: the side that sent DisConn first ends the link. If both cross, both sides may. */
TEST(sdp_conn_step__closing_paths)
{
	enum sdp_conn_state s = SDP_ESTABLISHED;

	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_SENT));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_ARRIVED));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_RCVD));
	EXPECT_EQ(SDP_FINISHED, s);

	s = SDP_ESTABLISHED;
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_SENT));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_RCVD));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_ARRIVED));
	EXPECT_EQ(SDP_FINISHED, s);

	s = SDP_ESTABLISHED;
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_RCVD));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_SENT));
	EXPECT_TRUE(sdp_conn_step(&s, SDP_EV_DISC_ARRIVED));
	EXPECT_EQ(SDP_DISC_ANSWERED, s);
}

/* wire 10: each half is open until its DisConn. */
TEST(sdp_conn_may_send__and_receive)
{
	static const struct { bool send, receive, begun; } want[SDP_CONN_STATES] = {
		[SDP_ESTABLISHED] = { true, true, false },
		[SDP_DISC_SENT] = { false, true, true },
		[SDP_DISC_ARRIVED] = { false, true, true },
		[SDP_DISC_CROSSED] = { false, false, true },
		[SDP_DISC_RCVD] = { true, false, true },
		[SDP_DISC_ANSWERED] = { false, false, true },
		[SDP_FINISHED] = { false, false, true },
	};
	enum sdp_conn_state s;

	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++) {
		EXPECT_EQ(want[s].send, sdp_conn_may_send(s));
		EXPECT_EQ(want[s].receive, sdp_conn_may_receive(s));
		EXPECT_EQ(want[s].begun, sdp_conn_disconn_begun(s));
	}
}

TEST(sdp_conn_state_name__all)
{
	enum sdp_conn_state s, t;

	EXPECT_STREQ("closed", sdp_conn_state_name(SDP_CLOSED));
	EXPECT_STREQ("established", sdp_conn_state_name(SDP_ESTABLISHED));
	EXPECT_STREQ("finished", sdp_conn_state_name(SDP_FINISHED));
	EXPECT_STREQ("unknown", sdp_conn_state_name(SDP_CONN_STATES));
	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++)
		for (t = SDP_CLOSED; t < s; t++)
			EXPECT_NE(0, strcmp(sdp_conn_state_name(s), sdp_conn_state_name(t)));
}

TEST_MAIN
