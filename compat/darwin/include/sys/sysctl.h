// SPDX-License-Identifier: Apache-2.0
// The facts about the machine that programs for a Mac ask for by name. glibc has no sysctl any more.
#ifndef INGOT_SYS_SYSCTL_H
#define INGOT_SYS_SYSCTL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define CTL_HW 6
#define HW_NCPU 3
#define HW_PAGESIZE 7
#define HW_MEMSIZE 24

static inline int ingot_sysctl_give(const void *value, size_t size, void *old, size_t *old_size) {
    if (!old_size) return 0;
    size_t room = *old_size;
    *old_size = size;
    if (!old) return 0;
    if (room < size) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(old, value, size);
    return 0;
}

// Whole numbers are given as 32 or 64 bits, whichever the caller has room for.
static inline int ingot_sysctl_number(uint64_t number, size_t size, void *old, size_t *old_size) {
    uint32_t small = (uint32_t)number;
    if (old && old_size && *old_size == sizeof small) size = sizeof small;
    if (old && old_size && *old_size >= sizeof number) size = sizeof number;
    return size == sizeof small ? ingot_sysctl_give(&small, sizeof small, old, old_size)
                                : ingot_sysctl_give(&number, sizeof number, old, old_size);
}

// "model name : ..." of /proc/cpuinfo.
static inline int ingot_sysctl_brand(void *old, size_t *old_size) {
    char line[256], brand[256] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0 || !strchr(line, ':')) continue;
        snprintf(brand, sizeof brand, "%s", strchr(line, ':') + 2);
        brand[strcspn(brand, "\n")] = 0;
        break;
    }
    if (file) fclose(file);
    return ingot_sysctl_give(brand, strlen(brand) + 1, old, old_size);
}

static inline int sysctlbyname(const char *name, void *old, size_t *old_size, void *set, size_t set_size) {
    (void)set_size;
    if (set) {
        errno = EPERM;
        return -1;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
    static const char *const counts[] = {"hw.ncpu",
                                         "hw.activecpu",
                                         "hw.logicalcpu",
                                         "hw.logicalcpu_max",
                                         "hw.physicalcpu",
                                         "hw.physicalcpu_max",
                                         "hw.perflevel0.physicalcpu",
                                         "hw.perflevel0.logicalcpu"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(name, counts[i]) == 0)
            return ingot_sysctl_number((uint64_t)sysconf(_SC_NPROCESSORS_ONLN), 4, old, old_size);
    if (strcmp(name, "hw.memsize") == 0) return ingot_sysctl_number(page * pages, 8, old, old_size);
    if (strcmp(name, "hw.pagesize") == 0) return ingot_sysctl_number(page, 8, old, old_size);
    if (strcmp(name, "hw.cachelinesize") == 0) return ingot_sysctl_number(64, 8, old, old_size);
    if (strcmp(name, "machdep.cpu.brand_string") == 0) return ingot_sysctl_brand(old, old_size);
    errno = ENOENT;
    return -1;
}

static inline int sysctl(int *name, unsigned count, void *old, size_t *old_size, void *set, size_t set_size) {
    if (count == 2 && name[0] == CTL_HW && name[1] == HW_NCPU)
        return sysctlbyname("hw.ncpu", old, old_size, set, set_size);
    if (count == 2 && name[0] == CTL_HW && name[1] == HW_PAGESIZE)
        return sysctlbyname("hw.pagesize", old, old_size, set, set_size);
    if (count == 2 && name[0] == CTL_HW && name[1] == HW_MEMSIZE)
        return sysctlbyname("hw.memsize", old, old_size, set, set_size);
    errno = ENOENT;
    return -1;
}

#endif
