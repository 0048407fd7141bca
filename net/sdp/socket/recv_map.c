// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_ZEROCOPY_RECEIVE: received pages are mapped instead of copied.
 *
 * An event-driven reader cannot have its memory advertised, because it is not
 * there before the data (srcavail_recv_nowait.c). The bytes are read by RDMA
 * into pages of the kernel, and a recv(2) copies them. A program that has
 * mapped the socket gets these pages into its address space instead, by the
 * option that TCP has for this purpose. So it needs no second way for SDP, and
 * works as well if a connection falls back to TCP. (A ring of registered
 * buffers would save the mapping, too, but no program for TCP uses one, and the
 * peer could change what the program reads.)
 *
 * A call maps whole pages from the beginning of the receive queue, and tells
 * how many bytes have to be read by recv(2) before the next pages
 * (recv_skip_hint). Those are what came in messages: the first bytes of a
 * SrcAvail, and small writes. Their buffers are posted as receives again, and a
 * new buffer would cost more than the copy.
 *
 * Pages are mapped read-only. The mapping has a reference to each, which ends
 * when the program unmaps the page, or maps another one at its address. The
 * buffer can then be used for the next RDMA read (conn/rdma_buf.c). Until then
 * one mapped page keeps up to 32 KiB, the pages that were allocated with it.
 *
 * Locks: rx_mutex, then the mmap lock, as in a recv(2) whose copy faults.
 */
#include <linux/mm.h>
#include <linux/tcp.h>

#include "../conn/flush.h"
#include "../conn/rx_queue.h"
#include "../zcopy/srcavail_recv.h"
#include "cmsg.h"
#include "recv.h"
#include "recv_map.h"

/* Most pages that are mapped at once. */
#define MAP_BATCH	32
/* Buffers in which a call looks for the next page to map. */
#define MAP_HINT_BUFFERS	16
/* The only flag in msg_flags that TCP takes: it asks for timestamps. */
#define MAP_MSG_FLAGS	2

static const struct vm_operations_struct recv_map_vm_ops = {
};

/**
 * sdp_mmap() - mmap(2): reserve addresses for received pages
 * @file: the socket's file
 * @sock: socket
 * @vma: the addresses
 *
 * Return: 0, or -EPERM if the mapping is to be writable or executable.
 */
int sdp_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	sdp_vm_flags(vma, VM_MIXEDMAP, VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &recv_map_vm_ops;
	/* No two mappings of the process share an offset, see map_clear(). */
	vma->vm_pgoff = vma->vm_start >> PAGE_SHIFT;
	return 0;
}

/**
 * struct recv_map - a call that maps received pages
 * @vma: addresses that the program has reserved
 * @address: where the next page goes
 * @left: bytes that may be mapped, whole pages
 * @mapped: bytes that have been mapped
 * @clean: the program says that no page is mapped there
 * @none: there is no room for a page, so everything has to be copied
 */
struct recv_map {
	struct vm_area_struct *vma;
	unsigned long address;
	u32 left;
	u32 mapped;
	bool clean;
	bool none;
};

/*
 * Take earlier pages out of the mapping where the next ones go. Modules can do
 * so only by the offset in the file, which means: in child processes, too.
 */
static void map_clear(const struct recv_map *m)
{
	unsigned long page = m->vma->vm_pgoff +
			     ((m->address - m->vma->vm_start) >> PAGE_SHIFT);

	unmap_mapping_range(m->vma->vm_file->f_mapping,
			    (loff_t)page << PAGE_SHIFT, m->left, 1);
}

/*
 * Find the mapping. The program may have mapped the socket before the policy
 * made an SDP socket of it; nothing can be mapped there, and everything has to
 * be copied. With the mmap lock. @length: bytes that the program has room for.
 */
static int map_begin(struct sdp_sock *ssk, struct recv_map *m, u32 length)
{
	unsigned long queued = READ_ONCE(ssk->rx_bytes), room;

	/* As with TCP, nobody looks. */
	if (queued < PAGE_SIZE)
		return 0;
	m->vma = vma_lookup(current->mm, m->address);
	if (!m->vma || !m->vma->vm_file || !sock_from_file(m->vma->vm_file))
		return -EINVAL;
	room = min_t(unsigned long, length, m->vma->vm_end - m->address);
	m->none = m->vma->vm_ops != &recv_map_vm_ops || room < PAGE_SIZE;
	if (!m->none)
		m->left = min(room, queued) & PAGE_MASK;
	if (m->left && !m->clean)
		map_clear(m);
	return 0;
}

/* Bytes at the beginning of a piece that have to be copied. */
static u32 map_not_whole(const struct sdp_rx_piece *p)
{
	u32 ahead = -p->offset & ~PAGE_MASK;

	if (!sdp_buf_cb(p->skb)->rdma || p->avail < ahead + PAGE_SIZE)
		return p->avail;
	return ahead;
}

/*
 * List up to @most pages of a piece that begins with whole ones. In a buffer of
 * an RDMA read each fragment but the last one has whole pages.
 */
static unsigned int map_list(const struct sdp_rx_piece *p, unsigned int most,
			     struct page **pages)
{
	const skb_frag_t *frag = skb_shinfo(p->skb)->frags;
	unsigned int n, all = min_t(u32, most, p->avail / PAGE_SIZE);
	u32 at = p->offset;

	for (n = 0; n < all; frag++) {
		u32 size = skb_frag_size(frag);

		for (; at < size && n < all; at += PAGE_SIZE)
			pages[n++] = skb_frag_page(frag) + at / PAGE_SIZE;
		at -= min(at, size);
	}
	return n;
}

/* Map pages. Returns the number of bytes, or an errno if there are none. */
static int map_insert(struct recv_map *m, struct page **pages, unsigned int n)
{
	unsigned long left = n;
	int err = vm_insert_pages(m->vma, m->address, pages, &left);

	if (err == -EBUSY && m->clean) {
		/* The program was wrong. */
		m->clean = false;
		map_clear(m);
		left = n;
		err = vm_insert_pages(m->vma, m->address, pages, &left);
	}
	n = (n - left) * PAGE_SIZE;
	m->address += n;
	m->left -= n;
	m->mapped += n;
	return n ?: err;
}

/* Map what is in the queue. Returns 0, or an errno. */
static int map_queue(struct sdp_sock *ssk, struct recv_map *m)
{
	struct page *pages[MAP_BATCH];
	struct sdp_rx_piece p;
	unsigned int most;
	int n = 0;

	while (m->left && sdp_rx_next(ssk, 0, m->mapped, &p)) {
		if (map_not_whole(&p))
			break;
		most = min_t(u32, m->left / PAGE_SIZE, MAP_BATCH);
		n = p.avail ? map_insert(m, pages, map_list(&p, most, pages)) :
			      0;
		if (n < 0)
			break;
		sdp_rx_consume(ssk, p.skb, p.hole + n);
		cond_resched();
	}
	return min(n, 0);
}

/*
 * Bytes of the first buffers of the queue that have to be read by recv(2)
 * before pages can be mapped.
 */
static u32 map_hint(struct sdp_sock *ssk, const struct recv_map *m)
{
	struct sdp_rx_piece p;
	u32 hint = 0, holes = 0, n;
	int i;

	for (i = 0; i < MAP_HINT_BUFFERS; i++) {
		if (!sdp_rx_next(ssk, hint + holes, hint, &p))
			break;
		n = m->none ? p.avail : map_not_whole(&p);
		hint += n;
		/* A recv(2) skips it, and does not count it. */
		holes += p.hole;
		if (n < p.avail)
			break;
	}
	return hint;
}

/*
 * Let more bytes come by RDMA, while the program takes what is in the queue.
 * This does not wait.
 */
static void map_ask(struct sdp_sock *ssk, u32 length)
{
	if (READ_ONCE(ssk->srcavail_rx_left) && !sdp_rx_full(ssk))
		sdp_srcavail_recv(ssk, NULL, length, length, false,
				  SDP_COMES_ASKED, false);
}

/* With rx_mutex. */
static int map_locked(struct sdp_sock *ssk, struct tcp_zerocopy_receive *zc,
		      struct recv_map *m)
{
	int err;

	WRITE_ONCE(ssk->rx_indicated, false);
	mmap_read_lock(current->mm);
	err = map_begin(ssk, m, zc->length);
	if (!err)
		err = map_queue(ssk, m);
	zc->recv_skip_hint = map_hint(ssk, m);
	mmap_read_unlock(current->mm);
	if (err && !m->mapped)
		return err;
	SDP_ADD(sock_net(&ssk->sk), BytesMapped, m->mapped);
	map_ask(ssk, max_t(u32, zc->length, PAGE_SIZE));
	zc->length = m->mapped;
	/* As with TCP. */
	if (!m->mapped && !zc->recv_skip_hint && READ_ONCE(ssk->rx_ended))
		return -EIO;
	return 0;
}

/*
 * Copy the next bytes that cannot be mapped, as far as the program has given
 * memory for that, or all there are if they fit. Returns their number, or an
 * errno.
 */
static int map_copy(struct sdp_sock *ssk, struct tcp_zerocopy_receive *zc,
		    u32 bytes)
{
	void __user *to = u64_to_user_ptr(zc->copybuf_address);
	struct msghdr msg = { };
	int n = -EFAULT;

	if (access_ok(to, bytes)) {
		iov_iter_ubuf(&msg.msg_iter, ITER_DEST, to, bytes);
		n = sdp_recvmsg(ssk->sk.sk_socket, &msg, bytes, MSG_DONTWAIT);
	}
	zc->copybuf_len = n;
	if (n > 0)
		zc->recv_skip_hint -= min_t(u32, n, zc->recv_skip_hint);
	return n;
}

static int map_receive(struct sdp_sock *ssk, struct tcp_zerocopy_receive *zc)
{
	struct recv_map m = {
		.address = zc->address,
		.clean = zc->flags & TCP_RECEIVE_ZEROCOPY_FLAG_TLB_CLEAN_HINT,
	};
	int room = max(zc->copybuf_len, 0), err;
	u32 queued = READ_ONCE(ssk->rx_bytes);

	zc->copybuf_len = 0;
	zc->msg_flags = 0;
	if (!PAGE_ALIGNED(zc->address) || m.address != zc->address)
		return -EINVAL;
	if (READ_ONCE(ssk->sk.sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (queued && queued <= room) {
		zc->length = 0;
		zc->recv_skip_hint = 0;
		return min(map_copy(ssk, zc, queued), 0);
	}
	sdp_flush_begin(ssk);
	mutex_lock(&ssk->rx_mutex);
	err = map_locked(ssk, zc, &m);
	mutex_unlock(&ssk->rx_mutex);
	sdp_flush_end(ssk);
	if (!err && room && zc->recv_skip_hint)
		map_copy(ssk, zc, min_t(u32, room, zc->recv_skip_hint));
	return err;
}

/**
 * sdp_tcp_zerocopy_receive() - option TCP_ZEROCOPY_RECEIVE
 * @ssk: socket; takes rx_mutex
 * @value: struct tcp_zerocopy_receive, or its beginning
 * @len: in: size of @value in bytes; out: bytes written
 *
 * As with TCP, an unaligned address is -EINVAL; so is one that is not in a
 * mapping of a socket, if there is a page to be mapped. A call at the end of
 * the stream is -EIO.
 *
 * Return: 0 or a negative errno.
 */
int sdp_tcp_zerocopy_receive(struct sdp_sock *ssk, char __user *value,
			     int __user *len)
{
	struct tcp_zerocopy_receive zc = { };
	int size, err;

	if (get_user(size, len))
		return -EFAULT;
	if (size < (int)offsetofend(struct tcp_zerocopy_receive, length))
		return -EINVAL;
	if (size > sizeof(zc)) {
		err = check_zeroed_user(value + sizeof(zc), size - sizeof(zc));
		if (err < 1)
			return err ?: -EINVAL;
		size = sizeof(zc);
		if (put_user(size, len))
			return -EFAULT;
	}
	if (copy_from_user(&zc, value, size))
		return -EFAULT;
	if (zc.reserved || (zc.msg_flags & ~MAP_MSG_FLAGS))
		return -EINVAL;
	err = map_receive(ssk, &zc);
	if (err)
		return err;
	/* An older program does not see the error here, but by recv(2). */
	if (size >= (int)offsetofend(struct tcp_zerocopy_receive, err))
		zc.err = sock_error(&ssk->sk);
	zc.inq = sdp_inq_hint(ssk);
	return copy_to_user(value, &zc, size) ? -EFAULT : 0;
}
