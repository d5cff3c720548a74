// SPDX-License-Identifier: Apache-2.0
// Preloaded, makes a system with pages of 4 KiB behave like one with 64 KiB, as many ARM servers have: sysconf says so,
// mappings begin at multiples of 64 KiB, and calls for parts of a page fail.
#undef _FILE_OFFSET_BITS  // it would rename mmap
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 64 << 10 };
#define EXPORT __attribute__((visibility("default")))

static size_t whole_pages(size_t bytes) {
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static int is_misplaced(const void *address) {
    if ((uintptr_t)address % PAGE == 0) return 0;
    errno = EINVAL;
    return 1;
}

static void *map(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

EXPORT long sysconf(int name) {
    static long (*next)(int);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PAGESIZE) return PAGE;
    return name == _SC_PHYS_PAGES ? next(name) / (PAGE / 4096) : next(name);
}

EXPORT int getpagesize(void) {
    return PAGE;
}

// Too much is reserved, and what is not aligned is given back.
EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (flags & MAP_FIXED)
        return is_misplaced(address) ? MAP_FAILED : map(address, bytes, protection, flags, file, offset);
    size_t whole = whole_pages(bytes);
    char *room = whole < bytes ? MAP_FAILED
                               : map(NULL, whole + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return errno = ENOMEM, MAP_FAILED;
    char *begin = room + (whole_pages((uintptr_t)room) - (uintptr_t)room);
    if (begin > room) syscall(SYS_munmap, room, begin - room);
    if (room + PAGE > begin) syscall(SYS_munmap, begin + whole, room + PAGE - begin);
    void *made = map(begin, bytes, protection, flags | MAP_FIXED, file, offset);
    if (made == MAP_FAILED) syscall(SYS_munmap, begin, whole);
    return made;
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    return mmap(address, bytes, protection, flags, file, offset);
}

EXPORT int munmap(void *address, size_t bytes) {
    return is_misplaced(address) ? -1 : (int)syscall(SYS_munmap, address, whole_pages(bytes));
}

EXPORT int mprotect(void *address, size_t bytes, int protection) {
    return is_misplaced(address) ? -1 : (int)syscall(SYS_mprotect, address, whole_pages(bytes), protection);
}

EXPORT int madvise(void *address, size_t bytes, int advice) {
    return is_misplaced(address) ? -1 : (int)syscall(SYS_madvise, address, bytes, advice);
}
