// SPDX-License-Identifier: Apache-2.0
// The machine this runs on: what sysctl says where there is one, as on macOS, and what Linux writes into /proc.
#include "core/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t igi_host_peak_bytes(void) {
#ifdef __MACH__
    enum { UNIT = 1 };  // macOS counts bytes
#else
    enum { UNIT = 1024 };
#endif
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * UNIT : 0;
}

#ifdef IGI_HAS_SYSCTLBYNAME

#include <sys/sysctl.h>

uint32_t igi_host_cores(void) {
    return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

uint64_t igi_host_memory_bytes(void) {
    uint64_t bytes = 0;
    size_t size = sizeof bytes;
    return sysctlbyname("hw.memsize", &bytes, &size, NULL, 0) == 0 ? bytes : 0;
}

uint64_t igi_host_available_bytes(void) {
    return UINT64_MAX;
}

void igi_host_cpu_name(char *name, size_t capacity) {
    if (sysctlbyname("machdep.cpu.brand_string", name, &capacity, NULL, 0) != 0) snprintf(name, capacity, "CPU");
}

bool igi_host_has_feature(igi_host_feature feature) {
    static const char *const names[] = {
        [IGI_HOST_CRC32] = "hw.optional.armv8_crc32",
        [IGI_HOST_DOT_PRODUCT] = "hw.optional.arm.FEAT_DotProd",
        [IGI_HOST_HALF_ARITHMETIC] = "hw.optional.arm.FEAT_FP16",
        [IGI_HOST_BFLOAT] = "hw.optional.arm.FEAT_BF16",
    };
    int found = 0;
    size_t size = sizeof found;
    return sysctlbyname(names[feature], &found, &size, NULL, 0) == 0 && found;
}

int igi_host_this_core(void) {
    return -1;
}

bool igi_host_leave_core(int core) {
    (void)core;
    return false;
}

#else

#include <sched.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

uint32_t igi_host_cores(void) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    return (uint32_t)CPU_COUNT(&cores);
}

uint64_t igi_host_memory_bytes(void) {
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t read_number(const char *path) {
    FILE *file = fopen(path, "re");
    unsigned long long value = UINT64_MAX;
    if (file && fscanf(file, "%llu", &value) != 1) value = UINT64_MAX;  // "max"
    if (file) fclose(file);
    return value;
}

// Of cgroup version 2, at the root that a container sees.
static uint64_t left_in_cgroup(void) {
    uint64_t most = read_number("/sys/fs/cgroup/memory.max"), used = read_number("/sys/fs/cgroup/memory.current");
    if (most == UINT64_MAX || used == UINT64_MAX) return UINT64_MAX;
    return most > used ? most - used : 0;
}

uint64_t igi_host_available_bytes(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kibibytes;
    uint64_t available = UINT64_MAX, limit = left_in_cgroup();
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kibibytes) == 1) available = kibibytes * 1024;
    if (file) fclose(file);
    return available < limit ? available : limit;
}

void igi_host_cpu_name(char *name, size_t capacity) {
    snprintf(name, capacity, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        snprintf(name, capacity, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file) fclose(file);
}

#if defined(__aarch64__)
bool igi_host_has_feature(igi_host_feature feature) {
    unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    switch (feature) {
        case IGI_HOST_CRC32: return first & HWCAP_CRC32;
        case IGI_HOST_DOT_PRODUCT: return first & HWCAP_ASIMDDP;
        case IGI_HOST_HALF_ARITHMETIC: return (first & HWCAP_FPHP) && (first & HWCAP_ASIMDHP);
        case IGI_HOST_BFLOAT: return second & HWCAP2_BF16;
    }
    return false;
}
#else
bool igi_host_has_feature(igi_host_feature feature) {
    (void)feature;
    return false;
}
#endif

int igi_host_this_core(void) {
    return sched_getcpu();
}

bool igi_host_leave_core(int core) {
    cpu_set_t allowed, others;
    if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    others = allowed;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
    sched_setaffinity(0, sizeof allowed, &allowed);
    return true;
}

#endif
