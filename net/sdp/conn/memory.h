/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_MEMORY_H
#define SDP_CONN_MEMORY_H

#include "sock.h"

extern atomic_long_t sdp_memory_allocated;
DECLARE_PER_CPU(int, sdp_memory_per_cpu_fw_alloc);
extern struct percpu_counter sdp_sockets_allocated;
extern unsigned long sdp_memory_pressure;
extern int sdp_memory_least[3];

void sdp_memory_enter_pressure(struct sock *sk);
void sdp_memory_note_shortage(struct sock *sk);
void sdp_memory_leave_pressure(struct sock *sk);
bool sdp_memory_is_short(const struct sock *sk);
bool sdp_memory_beyond_limit(const struct sock *sk);
bool sdp_memory_reclaim(struct sock *sk);
int sdp_memory_of_receive(const struct sdp_sock *ssk, u32 size);
u16 sdp_memory_for_receives(struct sdp_sock *ssk, u16 want, u32 size);
void sdp_memory_settle(struct sdp_sock *ssk);
bool sdp_memory_for_write(struct sdp_sock *ssk, int bytes);
void sdp_memory_charge_tx(struct sdp_sock *ssk, int bytes);
void sdp_memory_inherit(struct sock *child, const struct sock *parent);
void sdp_memory_end(struct sdp_sock *ssk);
int sdp_memory_init(void);
void sdp_memory_exit(void);

#endif /* SDP_CONN_MEMORY_H */
