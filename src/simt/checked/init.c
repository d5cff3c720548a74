// SPDX-License-Identifier: Apache-2.0
// Functions that code instrumented by LLVM's memory sanitizer calls (its interface for kernels of operating systems).
#include "simt/checked/init.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "core/guarded.h"
#include "core/memory.h"

// A range of memory with shadow.
typedef struct range {
    uint64_t begin, bytes;
    uint8_t *shadow;    // NULL: none was needed yet
    uint8_t *origins;   // as long as the shadow
    uint64_t capacity;  // of either
} range;

enum { RANGE_THREADGROUP, RANGE_PRIVATE, RANGE_FRAMES, RANGE_STACK, RANGE_COUNT };
enum { NOWHERE_BYTES = 1 << 16, MOST_NAMES = 4096, NAME_LENGTH = 48 };

typedef struct igi_simt_checked_shadow {
    igi_simt_checked *checked;
    range ranges[RANGE_COUNT];
    uint64_t context[1024];  // arguments of calls: the kernel has none
    uint8_t sink[2 * NOWHERE_BYTES];
    const char *last_name;  // of a variable, in the running code
    uint32_t last_number;
} state;

typedef struct metadata {
    void *shadow, *origin;
} metadata;

// Set while checked code runs on this thread. Small: a library that is loaded at run time has little thread-local
// memory.
static _Thread_local state *here __attribute__((tls_model("initial-exec")));

// Names of variables, as the sanitizer passes them: few, and never freed.
static char names[MOST_NAMES][NAME_LENGTH];
static atomic_uint name_count;

// ---- Ranges ----

static void unmap(range *r) {
    if (r->shadow) munmap(r->shadow, r->capacity);
    if (r->origins) munmap(r->origins, r->capacity);
    *r = (range){0};
}

static bool cover(range *r, const igi_guarded *memory) {
    uint64_t begin = (uintptr_t)memory->memory;
    if (!begin || (r->begin == begin && r->bytes == memory->bytes)) return true;
    if (r->capacity < memory->bytes) {
        unmap(r);
        r->shadow = igi_map_zeros(memory->bytes);
        r->origins = igi_map_zeros(memory->bytes);
        r->capacity = memory->bytes;
    }
    if (!r->shadow || !r->origins) {
        if (r->shadow) munmap(r->shadow, r->capacity);
        if (r->origins) munmap(r->origins, r->capacity);
        *r = (range){0};
        return false;
    }
    r->begin = begin;
    r->bytes = memory->bytes;
    return true;
}

static void mark(uint64_t address, uint64_t bytes, uint8_t shadow, uint32_t origin) {
    for (int i = 0; here && i < RANGE_COUNT; i++) {
        range *r = &here->ranges[i];
        uint64_t offset = address - r->begin;
        if (!r->shadow || !igi_in_range(offset, bytes, r->bytes)) continue;
        memset(r->shadow + offset, shadow, bytes);
        for (uint64_t k = offset / 4; shadow && k * 4 < offset + bytes; k++) ((uint32_t *)r->origins)[k] = origin;
        return;
    }
}

bool igi_simt_checked_enter(igi_simt_checked *checked, igi_simt_scratch *scratch, const igi_simt_group *group,
                            uint64_t threadgroup_bytes) {
    const igi_guarded *privates[IGI_CHECKED_PRIVATES] = {&scratch->privates, &scratch->frames, &scratch->stack};
    for (int i = 0; i < IGI_CHECKED_PRIVATES; i++)
        checked->privates[i] = (igi_simt_checked_object){
            .base = (uintptr_t)privates[i]->memory, .readable = privates[i]->bytes, .writable = privates[i]->bytes};
    if (!(checked->checks & IG_CHECK_INIT)) return true;
    if (!scratch->shadow) scratch->shadow = igi_calloc(1, sizeof *scratch->shadow);
    if (!scratch->shadow) return false;
    here = scratch->shadow;
    here->checked = checked;
    here->last_name = NULL;  // its code may have been unloaded
    bool ok = cover(&here->ranges[RANGE_THREADGROUP], &scratch->threadgroup) &&
              cover(&here->ranges[RANGE_PRIVATE], &scratch->privates) &&
              cover(&here->ranges[RANGE_FRAMES], &scratch->frames) &&
              cover(&here->ranges[RANGE_STACK], &scratch->stack);
    if (ok && threadgroup_bytes)
        mark((uintptr_t)group->threadgroup_memory, threadgroup_bytes, 0xff, IGI_ORIGIN_THREADGROUP);
    if (!ok) here = NULL;
    return ok;
}

void igi_simt_checked_shadow_free(struct igi_simt_checked_shadow *shadow) {
    for (int i = 0; shadow && i < RANGE_COUNT; i++) unmap(&shadow->ranges[i]);
    free(shadow);
}

void igi_simt_checked_leave(void) {
    here = NULL;
}

const char *igi_simt_checked_variable(uint32_t origin) {
    uint32_t number = origin & ~(uint32_t)IGI_ORIGIN_VARIABLE;
    return (origin & IGI_ORIGIN_VARIABLE) && number < MOST_NAMES ? names[number] : "";
}

// ---- Shadow of an address ----

static bool find(uint64_t address, uint64_t bytes, metadata *found) {
    if (!here) return false;
    for (int i = 0; i < RANGE_COUNT; i++) {
        const range *r = &here->ranges[i];
        uint64_t offset = address - r->begin;
        if (!r->shadow || !igi_in_range(offset, bytes, r->bytes)) continue;
        *found = (metadata){r->shadow + offset, r->origins + offset / 4 * 4};
        return true;
    }
    const igi_simt_checked_object *object =
        here->checked->find_shadowed ? here->checked->find_shadowed(here->checked->user, address) : NULL;
    if (!object || !object->shadow || !igi_in_range(address - object->begin, bytes, object->length)) return false;
    uint64_t offset = address - object->cells_base;
    *found = (metadata){object->shadow + offset, (uint8_t *)object->origins + offset / 4 * 4};
    return true;
}

static uint8_t nothing[NOWHERE_BYTES];

static metadata for_load(uint64_t address, uint64_t bytes) {
    metadata found = {nothing, nothing};
    if (bytes <= NOWHERE_BYTES && find(address, bytes, &found)) return found;
    return (metadata){nothing, nothing};
}

static metadata for_store(uint64_t address, uint64_t bytes) {
    metadata found;
    assert(here && bytes <= NOWHERE_BYTES);
    if (find(address, bytes, &found)) return found;
    return (metadata){here->sink, here->sink + NOWHERE_BYTES};
}

#define METADATA(bytes)                                   \
    static metadata for_load_##bytes(uint64_t address) {  \
        return for_load(address, bytes);                  \
    }                                                     \
    static metadata for_store_##bytes(uint64_t address) { \
        return for_store(address, bytes);                 \
    }
METADATA(1)
METADATA(2)
METADATA(4)
METADATA(8)

// ---- The rest ----

static void *context_state(void) {
    assert(here);
    return here->context;
}

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

// Called with the lock held.
static uint32_t find_name(const char *name) {
    unsigned count = atomic_load(&name_count);
    size_t length = strcspn(name, ".");
    if (length >= NAME_LENGTH) length = NAME_LENGTH - 1;
    for (unsigned i = 1; i <= count && i < MOST_NAMES; i++)
        if (strncmp(names[i], name, length) == 0 && !names[i][length]) return i;
    if (count + 1 >= MOST_NAMES) return 0;
    unsigned number = atomic_fetch_add(&name_count, 1) + 1;
    if (number >= MOST_NAMES) return 0;
    memcpy(names[number], name, length);
    return number;
}

static uint32_t name_number(const char *name) {
    assert(here);
    if (name == here->last_name) return here->last_number;
    pthread_mutex_lock(&names_lock);
    here->last_number = find_name(name);
    pthread_mutex_unlock(&names_lock);
    here->last_name = name;
    return here->last_number;
}

static void poison_alloca(uint64_t address, uint64_t bytes, const char *name) {
    mark(address, bytes, 0xff, IGI_ORIGIN_VARIABLE | name_number(name ? name : ""));
}

static void unpoison_alloca(uint64_t address, uint64_t bytes) {
    mark(address, bytes, 0, 0);
}

static uint32_t chain_origin(uint32_t origin) {
    return origin;
}

static void set_origin(uint64_t address, uint64_t bytes, uint32_t origin) {
    (void)address, (void)bytes, (void)origin;
}

static void copy_shadow(uint64_t to, uint64_t from, uint64_t bytes) {
    for (uint64_t done = 0, step; done < bytes; done += step) {
        step = bytes - done < NOWHERE_BYTES ? bytes - done : NOWHERE_BYTES;
        metadata source = for_load(from + done, step), target = for_store(to + done, step);
        memmove(target.shadow, source.shadow, step);
        memmove(target.origin, source.origin, step / 4 * 4);
    }
}

static void *checked_memmove(void *to, const void *from, uint64_t bytes) {
    copy_shadow((uintptr_t)to, (uintptr_t)from, bytes);
    return memmove(to, from, bytes);
}

static void *checked_memset(void *to, int value, uint64_t bytes) {
    for (uint64_t done = 0, step; done < bytes; done += step) {
        step = bytes - done < NOWHERE_BYTES ? bytes - done : NOWHERE_BYTES;
        memset(for_store((uintptr_t)to + done, step).shadow, 0, step);
    }
    return memset(to, value, bytes);
}

void (*igi_simt_checked_sanitizer_symbol(const char *name))(void) {
    static const struct {
        const char *name;
        void (*address)(void);
    } symbols[] = {
#define SYMBOL(name, function) {"__msan_" name, (void (*)(void))(function)}
        SYMBOL("metadata_ptr_for_load_1", for_load_1),
        SYMBOL("metadata_ptr_for_load_2", for_load_2),
        SYMBOL("metadata_ptr_for_load_4", for_load_4),
        SYMBOL("metadata_ptr_for_load_8", for_load_8),
        SYMBOL("metadata_ptr_for_load_n", for_load),
        SYMBOL("metadata_ptr_for_store_1", for_store_1),
        SYMBOL("metadata_ptr_for_store_2", for_store_2),
        SYMBOL("metadata_ptr_for_store_4", for_store_4),
        SYMBOL("metadata_ptr_for_store_8", for_store_8),
        SYMBOL("metadata_ptr_for_store_n", for_store),
        SYMBOL("get_context_state", context_state),
        SYMBOL("poison_alloca", poison_alloca),
        SYMBOL("unpoison_alloca", unpoison_alloca),
        SYMBOL("chain_origin", chain_origin),
        SYMBOL("set_origin", set_origin),
        SYMBOL("memcpy", checked_memmove),
        SYMBOL("memmove", checked_memmove),
        SYMBOL("memset", checked_memset),
#undef SYMBOL
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0) return symbols[i].address;
    return NULL;
}
