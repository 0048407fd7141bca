// SPDX-License-Identifier: GPL-2.0
/*
 * State and mode of a connection, as user space sees them.
 *
 * sk_state has TCP's names. It follows the state of the engine, from which
 * tcp_state() derives it. Other files set it where there is no engine yet or
 * none any more: listening, connecting, and the end of a connection.
 *
 * The socket's lock covers all of this, with one exception: sdp_port_listen()
 * makes a socket a listener under the lock of the port's bucket.
 */
#include "state.h"
#include "../base/trace.h"

/**
 * sdp_set_state() - set the state that user space sees
 * @ssk: socket, locked
 * @state: new state, TCP_*
 *
 * Also counts the established connections of the namespace.
 */
void sdp_set_state(struct sdp_sock *ssk, int state)
{
	struct sock *sk = &ssk->sk;
	int old = sk->sk_state;

	if (old == state)
		return;
	if (state == TCP_ESTABLISHED)
		SDP_INC(sock_net(sk), CurrEstab);
	else if (old == TCP_ESTABLISHED)
		SDP_ADD(sock_net(sk), CurrEstab, -1);
	trace_sdp_state(sk, ssk->local.port, ssk->peer.port, old, state,
			sdp_conn_state_name(ssk->engine.state));
	WRITE_ONCE(sk->sk_state, state);
}

/* TCP's name for the engine's state; @e->shutdown: we will send no more. */
static int tcp_state(const struct sdp_engine *e)
{
	switch (e->state) {
	case SDP_ESTABLISHED:
		return e->shutdown ? TCP_FIN_WAIT1 : TCP_ESTABLISHED;
	case SDP_DISC_SENT:
		return TCP_FIN_WAIT1;
	case SDP_DISC_ARRIVED:
		return TCP_FIN_WAIT2;
	case SDP_DISC_CROSSED:
		return TCP_CLOSING;
	case SDP_DISC_RCVD:
		return e->shutdown ? TCP_LAST_ACK : TCP_CLOSE_WAIT;
	case SDP_DISC_ANSWERED:
		return TCP_LAST_ACK;
	default:
		return TCP_CLOSE;
	}
}

/**
 * sdp_conn_follow_state() - set sk_state from the engine's state
 * @ssk: socket, locked
 *
 * Does nothing before the connection is established.
 */
void sdp_conn_follow_state(struct sdp_sock *ssk)
{
	if (ssk->engine.state >= SDP_ESTABLISHED)
		sdp_set_state(ssk, tcp_state(&ssk->engine));
}

/**
 * sdp_conn_note_mode() - record and count a change of mode (C2, C3)
 * @ssk: socket, locked
 * @msg: the ModeChange
 * @ours: we have sent it; else the peer has
 *
 * ModeChange names the half of its receiver (wire section 6). So our sending
 * half changes if we receive one for the sending half, or send one for the
 * receiving half.
 */
void sdp_conn_note_mode(struct sdp_sock *ssk, const struct sdp_msg *msg,
			bool ours)
{
	bool sends = msg->mode_send_half != ours;
	u8 *mode = sends ? &ssk->tx_mode : &ssk->rx_mode;
	struct net *net = sock_net(&ssk->sk);

	trace_sdp_mode(&ssk->sk, ssk->local.port, ssk->peer.port, sends, *mode,
		       msg->mode, ours);
	WRITE_ONCE(*mode, msg->mode);
	if (msg->mode == SDP_MODE_BUFFERED)
		SDP_INC(net, ModeBuffered);
	else if (msg->mode == SDP_MODE_PIPELINED)
		SDP_INC(net, ModePipelined);
	else
		SDP_INC(net, ModeCombined);
}
