/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core for the policy: what policy/ uses of conn/ and socket/.
 *
 * No file of policy/ includes another header of conn/, zcopy/ or socket/, and
 * no file of these three folders includes a header of policy/
 * (scripts/layers.py checks both).
 *
 * The policy makes an SDP socket beside a TCP socket that it has not decided
 * about, gives it the TCP socket's options, address and port, and lets it
 * connect or listen. When SDP is chosen, the SDP socket takes the TCP socket's
 * place: struct socket, file and wait queue stay the same, and the TCP socket
 * is kept in sdp_sock.tcp.
 */
#ifndef SDP_CORE_H
#define SDP_CORE_H

#include "conn/active.h"
#include "conn/addr.h"
#include "conn/autotune.h"
#include "conn/keepalive.h"
#include "conn/options.h"
#include "conn/sock.h"
#include "conn/wake.h"
#include "socket/bind.h"
#include "socket/close.h"
#include "socket/connect.h"
#include "socket/family.h"
#include "socket/ioctl.h"
#include "socket/listen.h"
#include "socket/poll.h"
#include "socket/recv.h"
#include "socket/send.h"
#include "socket/sockopt.h"
#include "socket/sockopt_sock.h"
#include "socket/splice.h"

#endif /* SDP_CORE_H */
