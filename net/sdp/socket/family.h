/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What main.c needs of the socket layer.
 */
#ifndef SDP_FAMILY_H
#define SDP_FAMILY_H

struct sdp_link_events;

extern const struct sdp_link_events sdp_stream_events;

int sdp_family_init(void);
void sdp_family_exit(void);

#endif /* SDP_FAMILY_H */
