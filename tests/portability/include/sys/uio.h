// SPDX-License-Identifier: Apache-2.0
// Vectors of buffers.
#ifndef STAND_IN_SYS_UIO_H
#define STAND_IN_SYS_UIO_H

#include <sys/types.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};
ssize_t readv(int file, const struct iovec *parts, int count), writev(int file, const struct iovec *parts, int count);

#endif
