#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# probe.sh INCLUDE_DIR...: print sdp_probe.h for the kernel with these headers.
#
# Each feature is looked for in the headers themselves. Version numbers do not
# tell, because stable kernels take over features of later ones.

# has FILE PATTERN NAME: define SDP_HAVE_NAME when FILE has PATTERN. The first
# directory with FILE decides.
has() {
	file=$1 pattern=$2 name=$3
	for dir in $dirs; do
		if [ -f "$dir/$file" ]; then
			grep -Eq -- "$pattern" "$dir/$file" && echo "#define SDP_HAVE_$name 1"
			return
		fi
	done
}

dirs=$*
echo '/* SPDX-License-Identifier: GPL-2.0 */'
echo '/* Made by scripts/probe.sh; do not edit. */'
has linux/net.h 'struct sockaddr_unsized \*' SOCKADDR_UNSIZED
has linux/net.h 'struct proto_accept_arg' PROTO_ACCEPT_ARG
has linux/net.h 'SOCK_CUSTOM_SOCKOPT' CUSTOM_SOCKOPT
has linux/socket.h 'ktime_t ts\[3\]' SCM_TS_KTIME
has linux/sysctl.h 'register_net_sysctl_sz' SYSCTL_SZ
has linux/timer.h 'timer_delete_sync\(' TIMER_DELETE
has linux/sysctl.h 'typedef int proc_handler\(const struct ctl_table' CONST_CTL_TABLE
has net/net_namespace.h 'register_net_sysctl_sz' SYSCTL_SZ
has trace/stages/stage6_event_callback.h 'define __assign_str\(dst\)' ASSIGN_STR_1
has net/sock.h '\*psp_assoc;' PSP
has net/sock.h 'ipv6_pinfo_offset;' PINFO_OFFSET
has linux/net.h '\(\*sendpage\)' SENDPAGE
has linux/net.h '\(\*splice_eof\)' SPLICE_EOF
has linux/net.h 'SOCK_CUSTOM_SOCKOPT' CUSTOM_SOCKOPT
has linux/net.h '\(\*getsockopt_iter\)' GETSOCKOPT_ITER
has linux/fs.h 'get_file_rcu\(struct file __rcu \*\*' GET_FILE_RCU_PLACE
has linux/netlink.h '_msg_buf\[' EXTACK_BUF
has linux/sock_diag.h 'struct module \*owner;' DIAG_OWNER
has net/genetlink.h 'struct genl_split_ops \{' GENL_SPLIT_OPS
has net/netlink.h 'const struct netlink_range_validation \*range;' NLA_CONST_RANGE
has linux/uio.h 'iov_iter_extract_pages' EXTRACT_PAGES
has linux/mm.h 'void vm_flags_set\(' VM_FLAGS_SET
has linux/uio.h 'iter_iov\(const struct' ITER_IOV
has linux/skbuff.h 'bool devmem\)' ZEROCOPY_DEVMEM
has linux/skbuff.h 'struct ubuf_info_ops \{' UBUF_OPS
has net/inet_hashtables.h '__inet_lookup_listener\(net, hashinfo' LISTENER_HASHINFO
has net/inet_sock.h 'INET_FLAGS_BIND_ADDRESS_NO_PORT' INET_FLAGS
has net/proto_memory.h 'sk_under_memory_pressure' PROTO_MEMORY
has uapi/rdma/ib_user_ioctl_verbs.h 'RDMA_DRIVER_IONIC' DRIVER_IONIC
has linux/ftrace.h 'ftrace_regs_get_argument' FTRACE_ARGUMENT
has linux/ftrace_regs.h 'ftrace_regs_get_argument' FTRACE_ARGUMENT
exit 0
