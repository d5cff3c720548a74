// SPDX-License-Identifier: Apache-2.0
// Sockets. SOCK_CLOEXEC, SOCK_NONBLOCK, MSG_NOSIGNAL and accept4 are missing; so is SOCK_SEQPACKET, which local
// sockets do not have.
#ifndef STAND_IN_SYS_SOCKET_H
#define STAND_IN_SYS_SOCKET_H

#include <sys/types.h>
#include <sys/uio.h>

#define AF_UNIX 1
#define AF_LOCAL AF_UNIX
#define AF_INET 2
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 0xffff
#define SO_SNDBUF 0x1001
#define SO_RCVBUF 0x1002
#define SO_SNDTIMEO 0x1005
#define SO_RCVTIMEO 0x1006
#define SO_NOSIGPIPE 0x1022
#define MSG_PEEK 0x2
#define MSG_WAITALL 0x40
#define MSG_DONTWAIT 0x80
#define MSG_TRUNC 0x10
#define MSG_CTRUNC 0x20
#define SCM_RIGHTS 1
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
typedef uint32_t socklen_t;
typedef uint8_t sa_family_t;
struct sockaddr {
    uint8_t sa_len;
    sa_family_t sa_family;
    char sa_data[14];
};
struct msghdr {
    void *msg_name;
    socklen_t msg_namelen;
    struct iovec *msg_iov;
    int msg_iovlen;
    void *msg_control;
    socklen_t msg_controllen;
    int msg_flags;
};
struct cmsghdr {
    socklen_t cmsg_len;
    int cmsg_level, cmsg_type;
};
#define STAND_IN_ALIGN(length) (((size_t)(length) + 3) & ~(size_t)3)
#define CMSG_DATA(header) ((unsigned char *)(header) + STAND_IN_ALIGN(sizeof(struct cmsghdr)))
#define CMSG_SPACE(length) (STAND_IN_ALIGN(sizeof(struct cmsghdr)) + STAND_IN_ALIGN(length))
#define CMSG_LEN(length) (STAND_IN_ALIGN(sizeof(struct cmsghdr)) + (length))
#define CMSG_FIRSTHDR(message)                                                                      \
    ((message)->msg_controllen >= sizeof(struct cmsghdr) ? (struct cmsghdr *)(message)->msg_control \
                                                         : (struct cmsghdr *)0)
int socket(int domain, int type, int protocol), socketpair(int domain, int type, int protocol, int ends[2]);
int setsockopt(int socket, int level, int option, const void *value, socklen_t length);
int shutdown(int socket, int how);
ssize_t send(int socket, const void *data, size_t length, int flags);
ssize_t recv(int socket, void *data, size_t length, int flags);
ssize_t sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t recvmsg(int socket, struct msghdr *message, int flags);

#endif
