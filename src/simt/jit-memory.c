// SPDX-License-Identifier: Apache-2.0
// A reservation for each object, from which its sections are taken: code from the start, data from the middle.
#include "simt/jit-memory.h"

#include <llvm-c/Core.h>
#include <llvm-c/OrcEE.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/guarded.h"
#include "core/memory.h"

// Kernels are refused long before they are that large.
enum { HALF = 32 << 20 };

typedef struct object_memory {
    char *reservation;  // NULL: there was no address space
    uint64_t code_bytes, data_bytes;
} object_memory;

static void *open_object(void *context) {
    (void)context;
    object_memory *o = igi_calloc(1, sizeof *o);
    if (!o) return NULL;
    void *reservation = mmap(NULL, 2ull * HALF, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation != MAP_FAILED) o->reservation = reservation;
    return o;
}

static void close_object(void *opaque) {
    object_memory *o = opaque;
    if (o && o->reservation) munmap(o->reservation, 2ull * HALF);
    free(o);
}

// The next `bytes` of one half, writable. NULL if they do not fit.
static uint8_t *take(char *half, uint64_t *used, uint64_t bytes, uint64_t alignment) {
    uint64_t begin = igi_round_up(*used, alignment ? alignment : 1);
    if (begin > HALF || bytes > HALF - begin) return NULL;
    *used = begin + bytes;
    if (mprotect(half, igi_round_up(*used, igi_page_bytes()), PROT_READ | PROT_WRITE) != 0) return NULL;
    return (uint8_t *)half + begin;
}

static uint8_t *take_code(void *opaque, uintptr_t bytes, unsigned alignment, unsigned section, const char *name) {
    (void)section, (void)name;
    object_memory *o = opaque;
    return o && o->reservation ? take(o->reservation, &o->code_bytes, bytes, alignment) : NULL;
}

static uint8_t *take_data(void *opaque, uintptr_t bytes, unsigned alignment, unsigned section, const char *name,
                          LLVMBool read_only) {
    (void)section, (void)name, (void)read_only;
    object_memory *o = opaque;
    return o && o->reservation ? take(o->reservation + HALF, &o->data_bytes, bytes, alignment) : NULL;
}

// Kernels have no variables: all their data is constant.
static LLVMBool finish_object(void *opaque, char **message) {
    object_memory *o = opaque;
    uint64_t page = igi_page_bytes(), code = igi_round_up(o->code_bytes, page),
             data = igi_round_up(o->data_bytes, page);
    bool ok = mprotect(o->reservation, code, PROT_READ | PROT_EXEC) == 0 &&
              mprotect(o->reservation + HALF, data, PROT_READ) == 0;
    if (!ok) *message = LLVMCreateMessage("cannot make code executable");
    __builtin___clear_cache(o->reservation, o->reservation + code);
    return !ok;
}

static void end(void *context) {
    (void)context;
}

LLVMOrcObjectLayerRef igi_simt_jit_memory_layer(LLVMOrcExecutionSessionRef session) {
    return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
        session, NULL, open_object, end, take_code, take_data, finish_object, close_object);
}
