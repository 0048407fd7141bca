/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. Force-included into every file of the
 * module; sdp_probe.h, made by scripts/probe.sh from the target tree's headers, says
 * which features that tree has (stable kernels take features over, so their version
 * number says little).
 */
#ifndef SDP_COMPAT_H
#define SDP_COMPAT_H

#include <linux/ftrace.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <linux/uio.h>

#include "sdp_probe.h"

/* Before 6.9 this is in sock.h. */
#ifdef SDP_HAVE_PROTO_MEMORY
#include <net/proto_memory.h>
#endif

/* The driver came with 6.18; no driver before that has its number. */
#ifndef SDP_HAVE_DRIVER_IONIC
#define RDMA_DRIVER_IONIC	U32_MAX
#endif

/* proto_ops.bind and .connect take another address type since 6.19. */
#ifdef SDP_HAVE_SOCKADDR_UNSIZED
#define sdp_sockaddr	sockaddr_unsized
#else
#define sdp_sockaddr	sockaddr
#endif

/* proto_ops.accept got its arguments in a structure with 6.10. */
#ifdef SDP_HAVE_PROTO_ACCEPT_ARG
#define SDP_ACCEPT_ARGS		struct proto_accept_arg *arg
#define SDP_ACCEPT_FLAGS	(arg->flags)
#define SDP_ACCEPT_KERN		(arg->kern)
#define SDP_ACCEPT_PASS		arg
/*
 * io_uring waits for the next connection where it is told that no other one is
 * there.
 */
#define SDP_ACCEPT_MORE_UNKNOWN	((void)(arg->is_empty = -1))

/* Accept without waiting. */
#define sdp_accept_now(ops, sock, newsock, arg) ({				\
	struct proto_accept_arg sdp_now = *(arg);				\
	int sdp_err;								\
										\
	sdp_now.flags |= O_NONBLOCK;						\
	sdp_err = (ops)->accept(sock, newsock, &sdp_now);			\
	(arg)->is_empty = sdp_now.is_empty;					\
	sdp_err;								\
})
#else
#define SDP_ACCEPT_ARGS		int accept_flags, bool accept_kern
#define SDP_ACCEPT_FLAGS	accept_flags
#define SDP_ACCEPT_KERN		accept_kern
#define SDP_ACCEPT_PASS		accept_flags, accept_kern
#define SDP_ACCEPT_MORE_UNKNOWN	do { } while (0)

static inline int sdp_accept_now(const struct proto_ops *ops,
				 struct socket *sock, struct socket *newsock,
				 int flags, bool kern)
{
	return ops->accept(sock, newsock, flags | O_NONBLOCK, kern);
}
#endif

/* What a proc_handler gets is const since 6.11. */
#ifdef SDP_HAVE_CONST_CTL_TABLE
typedef const struct ctl_table sdp_ctl_table;
#else
typedef struct ctl_table sdp_ctl_table;
#endif

/* sysctl tables: 6.1 wants an empty last entry and no size, newer ones the reverse. */
#ifdef SDP_HAVE_SYSCTL_SZ
#define sdp_register_net_sysctl(net, path, table, n) \
	register_net_sysctl_sz(net, path, table, n)
#else
#define sdp_register_net_sysctl(net, path, table, n) \
	register_net_sysctl(net, path, table)
#endif

#ifndef timer_container_of
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

/* __assign_str() lost its source argument with 6.10. */
#ifdef SDP_HAVE_ASSIGN_STR_1
#define sdp_assign_str(dst, src)	__assign_str(dst)
#else
#define sdp_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * Where the kernel's IPv6 code finds its part of a socket: before 6.6 at the end of the
 * object, now where struct proto says.
 */
#ifdef SDP_HAVE_PINFO_OFFSET
#define SDP_PROTO_PINFO(type, member)	.ipv6_pinfo_offset = offsetof(type, member),
#else
#define SDP_PROTO_PINFO(type, member)
#endif

/* How splice(2) and sendfile(2) hand over a page before 6.5; since then, by sendmsg. */
#ifdef SDP_HAVE_SENDPAGE
static inline ssize_t sdp_sendpage(struct socket *sock, struct page *page,
				   int offset, size_t size, int flags)
{
	struct bio_vec bvec = { .bv_page = page,
				.bv_offset = offset,
				.bv_len = size };
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };

	if (flags & MSG_SENDPAGE_NOTLAST)
		msg.msg_flags |= MSG_MORE;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bvec, 1, size);
	return sock->ops->sendmsg(sock, &msg, size);
}

#define SDP_SENDPAGE	.sendpage = sdp_sendpage,
#else
#define SDP_SENDPAGE
#endif

/* Signatures of TCP's segments; a macro, as struct tcp_sock is not known here. */
#ifdef CONFIG_TCP_MD5SIG
#define sdp_tcp_md5(tp)		rcu_access_pointer((tp)->md5sig_info)
#else
#define sdp_tcp_md5(tp)		false
#endif
#ifdef CONFIG_TCP_AO
#define sdp_tcp_signs(tp)	(sdp_tcp_md5(tp) || rcu_access_pointer((tp)->ao_info))
#else
#define sdp_tcp_signs(tp)	sdp_tcp_md5(tp)
#endif

/*
 * PSP encrypts TCP's segments since 6.18, once a key was asked for, connected
 * or not.
 */
#if defined(SDP_HAVE_PSP) && IS_ENABLED(CONFIG_INET_PSP)
#define sdp_tcp_psp(sk)		rcu_access_pointer((sk)->psp_assoc)
#else
#define sdp_tcp_psp(sk)		false
#endif

/* IP_BIND_ADDRESS_NO_PORT, IP_FREEBIND; macros, as struct inet_sock is not known here. */
#ifdef SDP_HAVE_INET_FLAGS
#define sdp_inet_no_port(sk)	inet_test_bit(BIND_ADDRESS_NO_PORT, sk)
#define sdp_inet_freebind(sk)	inet_test_bit(FREEBIND, sk)
#else
#define sdp_inet_no_port(sk)	(inet_sk(sk)->bind_address_no_port)
#define sdp_inet_freebind(sk)	(inet_sk(sk)->freebind)
#endif

/* Looking for a listener takes no table of TCP's sockets since 6.17. */
#ifdef SDP_HAVE_LISTENER_HASHINFO
#define SDP_TCP_HASHINFO(net)	(net)->ipv4.tcp_death_row.hashinfo,
#else
#define SDP_TCP_HASHINFO(net)
#endif

/* A second getsockopt, which TCP might have one day, must not pass by ours. */
#ifdef SDP_HAVE_GETSOCKOPT_ITER
#define sdp_one_getsockopt(ops)	((ops)->getsockopt_iter = NULL)
#else
#define sdp_one_getsockopt(ops)	do { } while (0)
#endif

/* A splice to a socket whose calls may change meanwhile goes by sendmsg. */
#ifdef SDP_HAVE_SENDPAGE
#define sdp_plain_splice(ops)	((ops)->sendpage = sock_no_sendpage)
#else
#define sdp_plain_splice(ops)	((ops)->splice_eof = NULL)
#endif

/* proto_ops.splice_eof: a splice that has announced more has come to its end. */
#ifdef SDP_HAVE_SPLICE_EOF
#define SDP_SPLICE_EOF(function)	.splice_eof = (function),
#define sdp_set_splice_eof(ops, function)	((ops)->splice_eof = (function))
#else
#define SDP_SPLICE_EOF(function)
#define sdp_set_splice_eof(ops, function)	((void)(function))
#endif

/* The last argument is for the memory of devices. */
#ifdef SDP_HAVE_ZEROCOPY_DEVMEM
#define sdp_zerocopy_alloc(sk, size)	msg_zerocopy_realloc(sk, size, NULL, false)
#else
#define sdp_zerocopy_alloc(sk, size)	msg_zerocopy_realloc(sk, size, NULL)
#endif

#ifdef SDP_HAVE_ITER_IOV
#define sdp_iter_iov(iter)	iter_iov(iter)
#else
#define sdp_iter_iov(iter)	((iter)->iov)
#endif

/*
 * One page of an iterator over kernel memory, without a reference: whoever made the
 * iterator has one. The iterator advances; returns bytes or an errno.
 */
static inline ssize_t sdp_iter_page(struct iov_iter *iter, size_t max,
				    struct page **page, size_t *offset)
{
#ifdef SDP_HAVE_EXTRACT_PAGES
	return iov_iter_extract_pages(iter, &page, max, 1, 0, offset);
#else
	ssize_t n = iov_iter_get_pages2(iter, page, max, 1, offset);

	if (n > 0)
		put_page(*page);
	return n;
#endif
}

/* Where the first piece of an iterator over a program's memory lies. */
static inline const void __user *sdp_iter_addr(const struct iov_iter *iter)
{
	if (iter_is_ubuf(iter))
		return iter->ubuf + iter->iov_offset;
	return sdp_iter_iov(iter)->iov_base + iter->iov_offset;
}

/* What the generic code may do with sockets of this family. */
static inline void sdp_socket_flags(struct socket *sock)
{
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
#ifdef SDP_HAVE_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

/* Time stamps on their way to user space are kept in another form since 7.0. */
#ifdef SDP_HAVE_SCM_TS_KTIME
#define sdp_scm_ts(stamp)	(stamp)
#else
#define sdp_scm_ts(stamp)	ktime_to_timespec64(stamp)
#endif

/* The file that a process executes, with a reference; or NULL. */
#ifdef SDP_HAVE_GET_FILE_RCU_PLACE
#define sdp_get_file(place)	get_file_rcu(place)
#else
#define sdp_get_file(place) ({					\
	struct file *sdp_file = rcu_dereference(*(place));	\
								\
	sdp_file && get_file_rcu(sdp_file) ? sdp_file : NULL;	\
})
#endif
#define sdp_exe_file(mm) ({					\
	struct file *sdp_exe;					\
								\
	rcu_read_lock();					\
	sdp_exe = sdp_get_file(&(mm)->exe_file);		\
	rcu_read_unlock();					\
	sdp_exe;						\
})

/*
 * Closing a socket looks at its calls twice before 6.6: for who owns them, and for release(). Who
 * exchanges them while the program may close it, makes sure that it does not: with a reference to
 * the file, which is not to be had any more when that is being closed. Kernels from 6.7 on tell
 * themselves by the other get_file_rcu().
 */
#ifdef SDP_HAVE_GET_FILE_RCU_PLACE
#define sdp_keep_open(file)	true
#define sdp_let_close(file)	((void)(file))
#else
#define sdp_keep_open(file)	get_file_rcu(file)
#define sdp_let_close(file)	fput(file)
#endif

/* An argument of a function that ftrace stops at; before 6.2 x86 alone can say without a kprobe. */
#ifdef SDP_HAVE_FTRACE_ARGUMENT
#define sdp_traced_argument(fregs, n)	ftrace_regs_get_argument(fregs, n)
#else
#define sdp_traced_argument(fregs, n)	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/*
 * Let a function that ftrace stops at, with all registers saved, have another
 * first argument.
 */
#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define SDP_TRACED_SET_FIRST(fregs, value) do {			\
	struct pt_regs *sdp_regs = ftrace_get_regs(fregs);	\
								\
	if (sdp_regs)						\
		sdp_regs->di = (unsigned long)(value);		\
} while (0)
#endif

/* A text that is made up at the time can be said in an extended acknowledgment since 6.2. */
#ifdef SDP_HAVE_EXTACK_BUF
#define sdp_extack_text(extack, text, instead) do {				\
	struct netlink_ext_ack *sdp_extack = (extack);				\
										\
	if (sdp_extack) {							\
		strscpy(sdp_extack->_msg_buf, text, sizeof(sdp_extack->_msg_buf)); \
		sdp_extack->_msg = sdp_extack->_msg_buf;			\
	}									\
} while (0)
#else
#define sdp_extack_text(extack, text, instead)	NL_SET_ERR_MSG(extack, instead)
#endif

/* poll_does_not_wait() is gone; the question is whether poll_wait() would register. */
static inline bool sdp_poll_registers(const poll_table *wait)
{
	return wait && wait->_qproc;
}

#endif /* SDP_COMPAT_H */
