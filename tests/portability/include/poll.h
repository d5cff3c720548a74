// SPDX-License-Identifier: Apache-2.0
// Waiting for files. ppoll is missing.
#ifndef STAND_IN_POLL_H
#define STAND_IN_POLL_H

enum { POLLIN = 1, POLLPRI = 2, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32 };
typedef unsigned int nfds_t;
struct pollfd {
    int fd;
    short events, revents;
};
int poll(struct pollfd *files, nfds_t count, int timeout_ms);

#endif
