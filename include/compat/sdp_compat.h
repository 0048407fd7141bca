/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel compatibility: the only file that knows kernel versions.
 *
 * Kbuild includes this header into every file of the module. sdp_probe.h is
 * made by scripts/probe.sh from the headers of the target kernel; it defines
 * SDP_HAVE_* for each feature that they have. Version numbers do not tell,
 * because stable kernels take over features of later ones. The versions in the
 * comments below are those of the mainline kernel.
 */
#ifndef SDP_COMPAT_H
#define SDP_COMPAT_H

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <net/netlink.h>

#include "sdp_probe.h"

/* Before 6.9 these functions are in net/sock.h. */
#ifdef SDP_HAVE_PROTO_MEMORY
#include <net/proto_memory.h>
#endif

/* The ionic driver is new in 6.18; before, this ID matches no driver. */
#ifndef SDP_HAVE_DRIVER_IONIC
#define RDMA_DRIVER_IONIC	U32_MAX
#endif

/* Since 6.19 proto_ops.bind and .connect take a struct sockaddr_unsized. */
#ifdef SDP_HAVE_SOCKADDR_UNSIZED
#define sdp_sockaddr	sockaddr_unsized
#else
#define sdp_sockaddr	sockaddr
#endif

/* Since 6.10 proto_ops.accept takes its arguments in a structure. */
#ifdef SDP_HAVE_PROTO_ACCEPT_ARG
#define SDP_ACCEPT_ARGS		struct proto_accept_arg *arg
#define SDP_ACCEPT_FLAGS	(arg->flags)
#define SDP_ACCEPT_KERN		(arg->kern)
#define SDP_ACCEPT_PASS		arg
/*
 * Tells io_uring's multishot accept that another connection may be queued, so
 * that it calls accept again. Told that the queue is empty, it waits in poll.
 */
#define SDP_ACCEPT_MORE_UNKNOWN	(arg->is_empty = -1)

/* Accepts without waiting for a connection. */
#define sdp_accept_now(ops, sock, newsock, arg) ({			\
	struct proto_accept_arg sdp_now = *(arg);			\
	int sdp_err;							\
									\
	sdp_now.flags |= O_NONBLOCK;					\
	sdp_err = (ops)->accept(sock, newsock, &sdp_now);		\
	(arg)->is_empty = sdp_now.is_empty;				\
	sdp_err;							\
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

/* Since 6.11 the table that a proc_handler gets is const. */
#ifdef SDP_HAVE_CONST_CTL_TABLE
typedef const struct ctl_table sdp_ctl_table;
#else
typedef struct ctl_table sdp_ctl_table;
#endif

/*
 * 6.1 needs an empty last entry in a sysctl table and takes no size; later
 * kernels take the number of entries.
 */
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

/* Waits until the timer does not run; the older name is gone since 6.15. */
#ifdef SDP_HAVE_TIMER_DELETE
#define sdp_timer_end(timer)	timer_delete_sync(timer)
#else
#define sdp_timer_end(timer)	del_timer_sync(timer)
#endif

/* Since 6.10 __assign_str() has no source argument. */
#ifdef SDP_HAVE_ASSIGN_STR_1
#define sdp_assign_str(dst, src)	__assign_str(dst)
#else
#define sdp_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * The offset of struct ipv6_pinfo in a socket: since 6.6 struct proto has it,
 * before that the IPv6 code takes the end of the object.
 */
#ifdef SDP_HAVE_PINFO_OFFSET
#define SDP_PROTO_PINFO(type, member) \
	.ipv6_pinfo_offset = offsetof(type, member),
#else
#define SDP_PROTO_PINFO(type, member)
#endif

/*
 * Before 6.5 splice(2) and sendfile(2) hand over each page by
 * proto_ops.sendpage; since then they use sendmsg with MSG_SPLICE_PAGES.
 */
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

/* TCP-MD5 and TCP-AO; macros, since struct tcp_sock is not declared here. */
#ifdef CONFIG_TCP_MD5SIG
#define sdp_tcp_md5(tp)		rcu_access_pointer((tp)->md5sig_info)
#else
#define sdp_tcp_md5(tp)		false
#endif
#ifdef CONFIG_TCP_AO
#define sdp_tcp_signs(tp) \
	(sdp_tcp_md5(tp) || rcu_access_pointer((tp)->ao_info))
#else
#define sdp_tcp_signs(tp)	sdp_tcp_md5(tp)
#endif

/*
 * PSP can encrypt TCP segments. The association exists once a key was
 * requested, even before the socket is connected.
 */
#if defined(SDP_HAVE_PSP) && IS_ENABLED(CONFIG_INET_PSP)
#define sdp_tcp_psp(sk)		rcu_access_pointer((sk)->psp_assoc)
#else
#define sdp_tcp_psp(sk)		false
#endif

/*
 * IP_BIND_ADDRESS_NO_PORT and IP_FREEBIND; macros, since struct inet_sock is
 * not declared here.
 */
#ifdef SDP_HAVE_INET_FLAGS
#define sdp_inet_no_port(sk)	inet_test_bit(BIND_ADDRESS_NO_PORT, sk)
#define sdp_inet_freebind(sk)	inet_test_bit(FREEBIND, sk)
#else
#define sdp_inet_no_port(sk)	(inet_sk(sk)->bind_address_no_port)
#define sdp_inet_freebind(sk)	(inet_sk(sk)->freebind)
#endif

/* Since 6.17 the listener lookup has no hash table argument. */
#ifdef SDP_HAVE_LISTENER_HASHINFO
#define SDP_TCP_HASHINFO(net)	(net)->ipv4.tcp_death_row.hashinfo,
#else
#define SDP_TCP_HASHINFO(net)
#endif

/*
 * A second getsockopt hook. If a later TCP sets it, calls must still reach the
 * module's getsockopt.
 */
#ifdef SDP_HAVE_GETSOCKOPT_ITER
#define sdp_one_getsockopt(ops)	((ops)->getsockopt_iter = NULL)
#else
#define sdp_one_getsockopt(ops)	do { } while (0)
#endif

/* A splice to a socket whose proto_ops may be exchanged uses sendmsg alone. */
#ifdef SDP_HAVE_SENDPAGE
#define sdp_plain_splice(ops)	((ops)->sendpage = sock_no_sendpage)
#else
#define sdp_plain_splice(ops)	((ops)->splice_eof = NULL)
#endif

/* Since 6.5 proto_ops.splice_eof ends a splice that had announced more data. */
#ifdef SDP_HAVE_SPLICE_EOF
#define SDP_SPLICE_EOF(function)	.splice_eof	= (function),
#define sdp_set_splice_eof(ops, function)	((ops)->splice_eof = (function))
#else
#define SDP_SPLICE_EOF(function)
#define sdp_set_splice_eof(ops, function)	((void)(function))
#endif

/* The last argument, where there is one, is for device memory. */
#ifdef SDP_HAVE_ZEROCOPY_DEVMEM
#define sdp_zerocopy_alloc(sk, size) \
	msg_zerocopy_realloc(sk, size, NULL, false)
#else
#define sdp_zerocopy_alloc(sk, size)	msg_zerocopy_realloc(sk, size, NULL)
#endif

/* The function of a ubuf_info: a pointer in it, or in a table of its own. */
#ifdef SDP_HAVE_UBUF_OPS
#define SDP_UBUF_OPS(name, function) \
	static const struct ubuf_info_ops name = { .complete = (function) }
#define sdp_ubuf_set_ops(ubuf, name)	((ubuf)->ops = &(name))
#else
#define SDP_UBUF_OPS(name, function) \
	static void (*const name)(struct sk_buff *skb, \
				  struct ubuf_info *ubuf, bool success) = \
		(function)
#define sdp_ubuf_set_ops(ubuf, name)	((ubuf)->callback = (name))
#endif

#ifdef SDP_HAVE_ITER_IOV
#define sdp_iter_iov(iter)	iter_iov(iter)
#else
#define sdp_iter_iov(iter)	((iter)->iov)
#endif

/*
 * Takes one page from an iterator over kernel memory and advances it. The page
 * has no new reference: the iterator's owner holds one. Returns the number of
 * bytes, or an errno.
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

/* Since 6.3 the flags of a mapping are changed by functions. */
static inline void sdp_vm_flags(struct vm_area_struct *vma,
				unsigned long with, unsigned long without)
{
#ifdef SDP_HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, with, without);
#else
	vma->vm_flags = (vma->vm_flags | with) & ~without;
#endif
}

/* Address of the first byte left in an iterator over user memory. */
static inline const void __user *sdp_iter_addr(const struct iov_iter *iter)
{
	if (iter_is_ubuf(iter))
		return iter->ubuf + iter->iov_offset;
	return sdp_iter_iov(iter)->iov_base + iter->iov_offset;
}

/* Tells generic code what sockets of this family support. */
static inline void sdp_socket_flags(struct socket *sock)
{
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
#ifdef SDP_HAVE_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

/* Since 7.0 timestamps for user space are passed as ktime_t. */
#ifdef SDP_HAVE_SCM_TS_KTIME
#define sdp_scm_ts(stamp)	(stamp)
#else
#define sdp_scm_ts(stamp)	ktime_to_timespec64(stamp)
#endif

/* Since 6.7 get_file_rcu() takes the place of the pointer. */
#ifdef SDP_HAVE_GET_FILE_RCU_PLACE
#define sdp_get_file(place)	get_file_rcu(place)
#else
#define sdp_get_file(place) ({					\
	struct file *sdp_file = rcu_dereference(*(place));	\
								\
	sdp_file && get_file_rcu(sdp_file) ? sdp_file : NULL;	\
})
#endif

/* The executable of a process, with a reference, or NULL. */
#define sdp_exe_file(mm) ({					\
	struct file *sdp_exe;					\
								\
	rcu_read_lock();					\
	sdp_exe = sdp_get_file(&(mm)->exe_file);		\
	rcu_read_unlock();					\
	sdp_exe;						\
})

/*
 * Before 6.6 closing a socket loads sock->ops twice: to find their owner, and
 * to call release(). Code that exchanges the proto_ops while the application
 * may close the socket must keep it open, by a reference to its file.
 * sdp_keep_open() fails when the file is being closed already. The other form
 * of get_file_rcu(), which is new in 6.7, identifies the kernels that do not
 * need this.
 */
#ifdef SDP_HAVE_GET_FILE_RCU_PLACE
#define sdp_keep_open(file)	true
#define sdp_let_close(file)	((void)(file))
#else
#define sdp_keep_open(file)	get_file_rcu(file)
#define sdp_let_close(file)	fput(file)
#endif

/*
 * An argument of a function that ftrace stops at, where ftrace passes
 * arguments. Before 6.2 only x86 can read it without a kprobe. On s390 the
 * function that reads it is not exported.
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && !defined(CONFIG_S390)
#ifdef SDP_HAVE_FTRACE_ARGUMENT
#define sdp_traced_argument(fregs, n)	ftrace_regs_get_argument(fregs, n)
#else
#define sdp_traced_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif
#endif

/* The first argument of a function that a kprobe stops at. */
#if defined(CONFIG_S390)
#define sdp_probed_first(regs)	((regs)->gprs[2])
#elif defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define sdp_probed_first(regs)	regs_get_kernel_argument(regs, 0)
#elif defined(CONFIG_ARM)
#define sdp_probed_first(regs)	((regs)->ARM_r0)
#endif

/*
 * Replaces the first argument of a function that ftrace stops at with all
 * registers saved.
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

/*
 * Sends text that is composed at run time, or @instead, a constant string, if
 * the kernel's extended acknowledgment has no place for text.
 */
#ifdef SDP_HAVE_EXTACK_BUF
#define sdp_extack_text(extack, text, instead) do {			\
	struct netlink_ext_ack *sdp_extack = (extack);			\
									\
	if (sdp_extack) {						\
		strscpy(sdp_extack->_msg_buf, text,			\
			sizeof(sdp_extack->_msg_buf));			\
		sdp_extack->_msg = sdp_extack->_msg_buf;		\
	}								\
} while (0)
#else
#define sdp_extack_text(extack, text, instead)	NL_SET_ERR_MSG(extack, instead)
#endif

/* A member of struct sock_diag_handler; without it a mutex keeps the module. */
#ifdef SDP_HAVE_DIAG_OWNER
#define SDP_DIAG_OWNER	.owner = THIS_MODULE,
#else
#define SDP_DIAG_OWNER
#endif

/*
 * Since 6.2 a netlink family may have separate operations for the do and the
 * dump of a command. Before that, an operation has both. No command of this
 * module has both, so its table of operations is right for either.
 */
#ifndef SDP_HAVE_GENL_SPLIT_OPS
#define genl_split_ops	genl_ops
#define split_ops	ops
#define n_split_ops	n_ops
#endif

/* Before 6.7 the range in a policy is not const, but nothing changes it. */
#ifndef SDP_HAVE_NLA_CONST_RANGE
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, _range) {				\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),			\
	.validation_type = NLA_VALIDATE_RANGE_PTR,			\
	.range = (struct netlink_range_validation *)(_range),		\
}
#endif

/* A macro that 6.12 does not have. */
#ifndef NLA_POLICY_MAX_LEN
#define NLA_POLICY_MAX_LEN(_len)	NLA_POLICY_MAX(NLA_BINARY, _len)
#endif

/*
 * True when poll_wait() would register a waiter. Newer kernels have no
 * poll_does_not_wait().
 */
static inline bool sdp_poll_registers(const poll_table *wait)
{
	return wait && wait->_qproc;
}

#endif /* SDP_COMPAT_H */
