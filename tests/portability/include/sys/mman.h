// SPDX-License-Identifier: Apache-2.0
// Memory. memfd_create, mremap, MADV_HUGEPAGE and MAP_POPULATE are missing.
#ifndef STAND_IN_SYS_MMAN_H
#define STAND_IN_SYS_MMAN_H

#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_FIXED 0x0010
#define MAP_NORESERVE 0x0040
#define MAP_JIT 0x0800
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
#define MAP_FAILED ((void *)-1)
#define MS_ASYNC 1
#define MS_SYNC 16
#define MADV_NORMAL 0
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
#define MADV_FREE 5
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int munmap(void *address, size_t bytes), mprotect(void *address, size_t bytes, int protection);
int madvise(void *address, size_t bytes, int advice), msync(void *address, size_t bytes, int flags);
int mlock(const void *address, size_t bytes), munlock(const void *address, size_t bytes);
int shm_open(const char *name, int flags, ...), shm_unlink(const char *name);

#endif
