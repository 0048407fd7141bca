/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets for the tests: the same code makes TCP or AF_SDP sockets, over each address set.
 *
 * So TCP can always say what the right result is.
 */
#ifndef SDP_TEST_SOCK_H
#define SDP_TEST_SOCK_H

#include "tap.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <linux/sockios.h>

#ifndef AF_SDP
#define AF_SDP		27
#endif
#ifndef IPPROTO_SDP
#define IPPROTO_SDP	257
#endif
#define WAIT_MS		10000	/* longer than any working operation takes, on any kernel */
#define MSG_PAYLOAD	1520	/* payload of a message with the default buffer size */

bool slow_kernel(void);
int quiet_ms(void);

struct addrset {
	const char *name;
	int family;
	const char *client;	/* the client's address as the server sees it */
	const char *server;
};

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

enum { SET_LO4, SET_LO6, SET_RC4, SET_RC6, SET_COUNT };

extern struct addrset addrsets[SET_COUNT];

/* What the current process uses. */
extern const struct addrset *set;

extern bool use_sdp;
extern bool use_twin;		/* IPPROTO_SDP of AF_INET and AF_INET6, not family 27 */
extern bool use_policy;	/* TCP sockets that the policy makes SDP by thread name */

/* Thread names that rules of the policy can tell apart. */
#define SDP_SIDE	"sdp-side"

#define TCP_SIDE	"tcp-side"

void addrsets_from_environment(void);
bool dealt_out(unsigned int n, unsigned int sets);
const char *missing(const struct addrset *which, bool sdp);
struct addr addr_make(int family, const char *text, unsigned int port);
const char *wildcard_text(int family);
struct addr server_addr(unsigned int port);
struct addr client_addr(unsigned int port);
struct addr wildcard_addr(unsigned int port);
unsigned int addr_port(const struct addr *a);
void addr_set_port(struct addr *a, unsigned int port);
struct addr name_of(int fd);
struct addr peer_of(int fd);
int socket_for(int family, int flags);
int fresh(int flags);
int get_int(int fd, int level, int option);
void set_int(int fd, int level, int option, int value);
void set_timeout(int fd, int option, int ms);
void set_nonblock(int fd, bool on);
short poll_for(int fd, short events, int ms);
int listener_on(const struct addr *bind_to, int backlog, struct addr *where);
int listener(int backlog, struct addr *where);
void connect_to(int fd, const struct addr *where);
int accept_from(int listening);

struct pair {
	int c, s;		/* the end that connected, the end that was accepted */
};

struct pair pair_sized(int buffer);
struct pair pair_make(void);
int queued_bytes(int fd);
int unsent_bytes(int fd);
int await_bytes(int fd, int n);
long send_until_full(int fd);
long fill(int fd);
void drain(int fd, long n);
void send_all(int fd, const void *data, size_t len);
void recv_all(int fd, void *data, size_t len);
void await_asleep(pid_t tid);
void linger_zero(int fd);

#endif /* SDP_TEST_SOCK_H */
