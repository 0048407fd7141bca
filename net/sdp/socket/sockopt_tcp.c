// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of the level IPPROTO_TCP.
 *
 * Ranges and errnos are TCP's. Some options have an effect, others are only
 * stored and reported; sdp-options.rst lists both kinds with the reasons. An
 * option that an application sets because it needs the effect, which SDP does
 * not have, fails with ENOPROTOOPT: TCP_MD5SIG, TCP_AO_*, TCP_REPAIR, TCP_ULP,
 * TCP_TX_DELAY and so on.
 */
#include <linux/tcp.h>
#include <net/tcp.h>

#include "../conn/keepalive.h"
#include "../conn/options.h"
#include "../conn/tx_queue.h"
#include "info.h"
#include "recv_map.h"
#include "sockopt.h"
#include "sockopt_tcp.h"

/* Value of TCP_MAXSEG that TCP reports before there is a connection. */
#define MSS_UNCONNECTED	536
/*
 * The only value of TCP_CONGESTION: credits and the fabric control congestion.
 */
static const char congestion_name[TCP_CA_NAME_MAX] = "sdp";

static bool before_connect(const struct sdp_sock *ssk)
{
	u8 state = READ_ONCE(ssk->sk.sk_state);

	return state == TCP_CLOSE || state == TCP_LISTEN;
}

/* Like TCP, setting TCP_NODELAY also sends the data that TCP_CORK holds. */
static void nodelay_changed(struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->opt.nodelay))
		sdp_tx_push(ssk);
}

static void cork_changed(struct sdp_sock *ssk)
{
	if (!READ_ONCE(ssk->opt.cork))
		sdp_tx_push(ssk);
}

static int set_maxseg(struct sdp_sock *ssk, int val)
{
	if (val && (val < TCP_MIN_MSS || val > MAX_TCP_WINDOW))
		return -EINVAL;
	WRITE_ONCE(ssk->opt.maxseg, val);
	return 0;
}

static int get_maxseg(struct sdp_sock *ssk)
{
	int val = READ_ONCE(ssk->opt.maxseg);

	if (before_connect(ssk) || !READ_ONCE(ssk->engine.resize.send_size))
		return val ?: MSS_UNCONNECTED;
	return sdp_engine_payload_max(&ssk->engine);
}

static int set_window_clamp(struct sdp_sock *ssk, int val)
{
	if (!val && READ_ONCE(ssk->sk.sk_state) != TCP_CLOSE)
		return -EINVAL;
	WRITE_ONCE(ssk->opt.window_clamp,
		   val ? max(val, (int)SOCK_MIN_RCVBUF / 2) : 0);
	return 0;
}

static int set_linger2(struct sdp_sock *ssk, int val)
{
	WRITE_ONCE(ssk->opt.linger2,
		   val < 0 ? -1 : min(val, TCP_FIN_TIMEOUT_MAX / HZ));
	return 0;
}

static int get_linger2(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	return READ_ONCE(ssk->opt.linger2) ?:
	       READ_ONCE(set->fin_timeout_ms) / 1000;
}

/*
 * Like TCP, round @val seconds up to the time that a whole number of
 * retransmissions takes. getsockopt() reports the rounded time.
 */
static int set_defer_accept(struct sdp_sock *ssk, int val)
{
	int waits = 0;

	while (waits < U8_MAX && sdp_backoff_seconds(waits) < val)
		waits++;
	WRITE_ONCE(ssk->opt.defer_accept, sdp_backoff_seconds(waits));
	return 0;
}

static int get_syncnt(struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->opt.syncnt) ?:
	       READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_tcp_syn_retries);
}

static int set_fastopen(struct sdp_sock *ssk, int val)
{
	if (val < 0 || !before_connect(ssk))
		return -EINVAL;
	WRITE_ONCE(ssk->opt.fastopen,
		   min(val,
		       READ_ONCE(sock_net(&ssk->sk)->core.sysctl_somaxconn)));
	return 0;
}

static int set_fastopen_connect(struct sdp_sock *ssk, int val)
{
	if (val < 0 || val > 1 || READ_ONCE(ssk->sk.sk_state) != TCP_CLOSE)
		return -EINVAL;
	WRITE_ONCE(ssk->opt.fastopen_connect, val);
	return 0;
}

static int set_fastopen_no_cookie(struct sdp_sock *ssk, int val)
{
	if (val < 0 || val > 1 || !before_connect(ssk))
		return -EINVAL;
	WRITE_ONCE(ssk->opt.fastopen_no_cookie, val);
	return 0;
}

/* Like TCP, accept 0 and 1 and ignore them: the option is always off. */
static int set_thin_dupack(struct sdp_sock *ssk, int val)
{
	return val < 0 || val > 1 ? -EINVAL : 0;
}

static int get_zero(struct sdp_sock *ssk)
{
	return 0;
}

/* A larger TCP_NOTSENT_LOWAT may make the socket writable. */
static void lowat_changed(struct sdp_sock *ssk)
{
	ssk->sk.sk_write_space(&ssk->sk);
}

static const struct sdp_option tcp_options[] = {
	{ SDP_OPTION_FLAG(TCP_NODELAY, nodelay), .changed = nodelay_changed },
	{ SDP_OPTION_FLAG(TCP_CORK, cork), .changed = cork_changed },
	{ SDP_OPTION_FLAG(TCP_QUICKACK, quickack) },
	{ SDP_OPTION(TCP_KEEPIDLE, keepidle, 1, MAX_TCP_KEEPIDLE),
	  .get = sdp_keepidle, .changed = sdp_keepalive_changed },
	{ SDP_OPTION(TCP_KEEPINTVL, keepintvl, 1, MAX_TCP_KEEPINTVL),
	  .get = sdp_keepintvl, .changed = sdp_keepalive_changed },
	{ SDP_OPTION(TCP_KEEPCNT, keepcnt, 1, MAX_TCP_KEEPCNT),
	  .get = sdp_keepcnt, .changed = sdp_keepalive_changed },
	{ SDP_OPTION(TCP_USER_TIMEOUT, user_timeout, 0, INT_MAX),
	  .changed = sdp_keepalive_changed },
	{ SDP_OPTION(TCP_SYNCNT, syncnt, 1, MAX_TCP_SYNCNT),
	  .get = get_syncnt },
	{ SDP_OPTION(TCP_LINGER2, linger2, 0, 0),
	  .set = set_linger2, .get = get_linger2 },
	{ SDP_OPTION(TCP_DEFER_ACCEPT, defer_accept, 0, 0),
	  .set = set_defer_accept },
	{ SDP_OPTION(TCP_NOTSENT_LOWAT, notsent_lowat, INT_MIN, INT_MAX),
	  .changed = lowat_changed },
	{ SDP_OPTION(TCP_MAXSEG, maxseg, 0, 0),
	  .set = set_maxseg, .get = get_maxseg },
	{ SDP_OPTION(TCP_WINDOW_CLAMP, window_clamp, 0, 0),
	  .set = set_window_clamp },
	{ SDP_OPTION(TCP_THIN_LINEAR_TIMEOUTS, thin_timeouts, 0, 1) },
	{ SDP_OPTION(TCP_THIN_DUPACK, thin_timeouts, 0, 0),
	  .set = set_thin_dupack, .get = get_zero },
	{ SDP_OPTION(TCP_FASTOPEN, fastopen, 0, 0), .set = set_fastopen },
	{ SDP_OPTION(TCP_FASTOPEN_CONNECT, fastopen_connect, 0, 0),
	  .set = set_fastopen_connect },
	{ SDP_OPTION(TCP_FASTOPEN_NO_COOKIE, fastopen_no_cookie, 0, 0),
	  .set = set_fastopen_no_cookie },
	{ SDP_OPTION(TCP_SAVE_SYN, save_syn, 0, 2) },
	{ SDP_OPTION(TCP_INQ, inq, 0, 1) },
};

static int set_congestion(sockptr_t value, unsigned int len)
{
	char name[TCP_CA_NAME_MAX];
	long n;

	if (len < 1)
		return -EINVAL;
	n = strncpy_from_sockptr(name, value,
				 min_t(long, TCP_CA_NAME_MAX - 1, len));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	return strcmp(name, congestion_name) ? -ENOENT : 0;
}

/**
 * sdp_tcp_set() - set an option of IPPROTO_TCP
 * @ssk: socket
 * @name: option
 * @value: new value: a string for TCP_CONGESTION, else an int
 * @len: length of @value in bytes
 *
 * Return: 0 or a negative errno.
 */
int sdp_tcp_set(struct sdp_sock *ssk, int name, sockptr_t value,
		unsigned int len)
{
	int val;

	if (name == TCP_CONGESTION)
		return set_congestion(value, len);
	if (len < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	return sdp_option_set(ssk, tcp_options, ARRAY_SIZE(tcp_options), name,
			      val);
}

/**
 * sdp_tcp_get() - get an option of IPPROTO_TCP
 * @ssk: socket
 * @name: option
 * @value: user buffer for the value
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Return: 0 or a negative errno.
 */
int sdp_tcp_get(struct sdp_sock *ssk, int name, char __user *value,
		int __user *len)
{
	int val = 0, err;

	switch (name) {
	case TCP_INFO:
		return sdp_tcp_info(ssk, value, len);
	case TCP_CONGESTION:
		return sdp_option_copy(value, len, congestion_name,
				       sizeof(congestion_name));
	case TCP_ZEROCOPY_RECEIVE:
		return sdp_tcp_zerocopy_receive(ssk, value, len);
	case TCP_SAVED_SYN:
		/* SDP has no SYN: report a length of 0. */
		return put_user(val, len);
	default:
		err = sdp_option_get(ssk, tcp_options, ARRAY_SIZE(tcp_options),
				     name, &val);
		return err ? err : sdp_option_copy(value, len, &val,
						   sizeof(val));
	}
}
