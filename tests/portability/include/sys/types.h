// SPDX-License-Identifier: Apache-2.0
// The types of POSIX, as macOS has them.
#ifndef STAND_IN_SYS_TYPES_H
#define STAND_IN_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef long long off_t;
typedef int pid_t;
typedef unsigned int uid_t, gid_t, id_t;
typedef uint16_t mode_t, nlink_t;
typedef int32_t dev_t, blksize_t;
typedef uint64_t ino_t;
typedef int64_t blkcnt_t;
typedef long time_t, clock_t;
typedef int suseconds_t;
typedef unsigned int useconds_t;
typedef uint32_t sigset_t;
typedef unsigned char u_char;
typedef unsigned int u_int;
typedef struct stand_in_pthread *pthread_t;

#endif
