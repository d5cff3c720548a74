// SPDX-License-Identifier: Apache-2.0
// Guarded memory. Address space costs nothing, but a process may have a limited amount of it.
#include "core/guarded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory.h"

// The thread sanitizer needs several bytes for each of ours, and allows mappings only in a small part of the address
// space.
#if defined(__SANITIZE_THREAD__)
#define MOST_ADDRESS_BITS 35
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MOST_ADDRESS_BITS 35
#endif
#endif
#ifndef MOST_ADDRESS_BITS
#define MOST_ADDRESS_BITS 46
#endif

// A guard takes a fraction of what is left, so that something always remains, for the host too.
enum { LEAST_ADDRESS_BITS = 24, HUGE_PAGE = 2 << 20, SMALLEST_GUARD = 64 << 10, PLACES = 16 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t page_bytes;
static atomic_int_fast64_t address_space;    // left for guards; may go below zero
static atomic_uint_fast64_t large_mappings;  // made so far

// Inaccessible pages do not count towards memory limits; usable ones do, so that excessive requests are refused.
static void *reserve(uint64_t bytes) {
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

// Half of the largest reservation that succeeds.
static void measure(void) {
    long page = sysconf(_SC_PAGESIZE);
    page_bytes = page > 0 ? (uint64_t)page : 4096;
    int bits = MOST_ADDRESS_BITS;
    void *room = NULL;
    while (!(room = reserve(1ull << bits)) && bits > LEAST_ADDRESS_BITS) bits--;
    if (room) munmap(room, 1ull << bits);
    atomic_store(&address_space, (1ll << bits) / 2);
}

uint64_t igi_page_bytes(void) {
    pthread_once(&once, measure);
    return page_bytes;
}

static uint64_t smallest_guard(void) {
    return page_bytes > SMALLEST_GUARD ? page_bytes : SMALLEST_GUARD;
}

// Bytes on each side.
static uint64_t choose_guard(igi_guard_size size) {
    int64_t left = atomic_load_explicit(&address_space, memory_order_relaxed);
    uint64_t guard = left > 0 ? (uint64_t)left / size : 0;
    guard &= ~(smallest_guard() - 1);
    return guard ? guard : smallest_guard();
}

static uint64_t smaller(uint64_t guard) {
    guard = guard / 8 & ~(smallest_guard() - 1);
    return guard ? guard : smallest_guard();
}

// Large mappings at distances that differ in high bits of the address only are slow together: AMD's processors
// choose the way of a first-level cache by a hash of bits 12 to 27, and take one mapping for the other. A kernel that reads one
// buffer and writes another took twice as long. Therefore neighbours differ in bits 21 to 24.
static uint64_t choose_place(void) {
    return atomic_fetch_add_explicit(&large_mappings, 1, memory_order_relaxed) % PLACES * HUGE_PAGE;
}

static bool place(igi_guarded *g, uint64_t bytes, uint64_t guard) {
    bool large = bytes >= HUGE_PAGE, placed = large && guard >= (uint64_t)PLACES * HUGE_PAGE;
    uint64_t alignment = (large ? HUGE_PAGE : page_bytes) * (placed ? PLACES : 1), reserved;
    uint64_t shift = placed ? choose_place() : 0;
    if (!igi_add(bytes, 2 * guard + shift + alignment, &reserved)) return false;
    char *room = reserve(reserved);
    if (!room) return false;
    char *memory = room + (igi_round_up((uintptr_t)room + guard, alignment) + shift - (uintptr_t)room);
    *g = (igi_guarded){.memory = memory, .bytes = bytes, .reservation = room, .reserved = reserved};
    return true;
}

void *igi_map_zeros(uint64_t bytes) {
    if (igi_alloc_is_refused()) return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool igi_guarded_open(igi_guarded *guarded, uint64_t bytes, igi_guard_size size) {
    *guarded = (igi_guarded){0};
    pthread_once(&once, measure);
    if (igi_alloc_is_refused() || bytes > UINT64_MAX - page_bytes) return false;
    bytes = igi_round_up(bytes ? bytes : 1, page_bytes);
    igi_guarded made = {0};
    uint64_t guard = choose_guard(size);
    while (!place(&made, bytes, guard) && guard > smallest_guard()) guard = smaller(guard);
    if (!made.memory) return false;
    if (mprotect(made.memory, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(made.reservation, made.reserved);
        return false;
    }
    atomic_fetch_sub_explicit(&address_space, (int64_t)(made.reserved - made.bytes), memory_order_relaxed);
    *guarded = made;
    return true;
}

void igi_guarded_close(igi_guarded *guarded) {
    if (guarded->reservation) {
        munmap(guarded->reservation, guarded->reserved);
        atomic_fetch_add_explicit(&address_space, (int64_t)(guarded->reserved - guarded->bytes), memory_order_relaxed);
    }
    *guarded = (igi_guarded){0};
}

bool igi_guarded_surrounds(const igi_guarded *guarded, uint64_t address) {
    return address - (uintptr_t)guarded->reservation < guarded->reserved;
}
