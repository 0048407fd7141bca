/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a link, given to the engine. */
#ifndef SDP_CONN_INPUT_H
#define SDP_CONN_INPUT_H

#include "sock.h"

extern const struct sdp_link_events sdp_input_events;

#endif /* SDP_CONN_INPUT_H */
