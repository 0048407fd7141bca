// SPDX-License-Identifier: GPL-2.0
/*
 * A user of TCP in the kernel, with a socket as NVMe over TCP creates it in 6.12.
 *
 * Like a program's socket it has a file and is not marked as the kernel's own. Loading the module
 * connects it to 127.0.0.1 and releases it.
 */
#include <linux/file.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/sock.h>

static unsigned short port;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "where to");

static int outcome;
module_param(outcome, int, 0444);
MODULE_PARM_DESC(outcome, "what the connect has said");

static unsigned int protocol;
module_param(protocol, uint, 0444);
MODULE_PARM_DESC(protocol, "what the socket is afterwards");

static int __init user_init(void)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct socket *sock;
	struct file *file;
	int err = sock_create(AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);

	if (err)
		return err;
	file = sock_alloc_file(sock, 0, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	/* The cast covers kernels in which the type of the address has another name. */
	outcome = kernel_connect(sock, (void *)&in, sizeof(in), 0);
	protocol = sock->sk->sk_protocol;
	fput(file);
	return 0;
}

static void __exit user_exit(void)
{
}

module_init(user_init);
module_exit(user_exit);
MODULE_DESCRIPTION("a user of TCP in the kernel");
MODULE_LICENSE("GPL");
