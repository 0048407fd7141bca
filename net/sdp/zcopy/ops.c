// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of zcopy/ that a connection calls, as one table.
 */
#include "../conn/zcopy_ops.h"
#include "background.h"
#include "background_send.h"
#include "sinkavail_recv.h"
#include "srcavail_recv.h"
#include "srcavail_send.h"

const struct sdp_zcopy_ops sdp_zcopy_ops = {
	.srcavail_tx_take	= sdp_srcavail_send_take,
	.srcavail_tx_answered	= sdp_srcavail_send_answered,
	.srcavail_tx_over	= sdp_srcavail_send_over,
	.background_close	= sdp_background_close,
	.background_next	= sdp_background_next,
	.background_cut		= sdp_background_cut,
	.background_drop	= sdp_background_drop,
	.srcavail_rx_arrived	= sdp_srcavail_recv_arrived,
	.srcavail_rx_read	= sdp_srcavail_recv_end,
	.sinkavail_rx_check	= sdp_sinkavail_recv_check,
	.sinkavail_rx_over	= sdp_sinkavail_recv_over,
	.sinkavail_rx_end	= sdp_sinkavail_recv_end,
};
