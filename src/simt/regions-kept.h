// SPDX-License-Identifier: Apache-2.0
// What regions.c and accumulate.c share: a function that is being cut, and the context that outlives its barriers.
#ifndef INGOT_SIMT_REGIONS_KEPT_H
#define INGOT_SIMT_REGIONS_KEPT_H

#include <llvm-c/Target.h>

#include "simt/cfg.h"
#include "simt/passes.h"

typedef struct igi_simt_cut {
    LLVMBasicBlockRef before, after;
    LLVMValueRef barrier;  // first of `after`, until everything is done
} igi_simt_cut;

typedef struct igi_simt_crossing {
    LLVMValueRef value, variable;
    uint64_t offset;  // in the context, 0: recomputed; of a variable, in the arrays
    bool *at;         // by cut: outlives it
    bool *fresh;      // by cut: may have been computed since the last one, so that the context has an older value
    bool early;       // it is stored in the context when it is computed; nothing is fresh then
} igi_simt_crossing;

typedef struct igi_simt_splitter {
    igi_simt_module *m;
    LLVMValueRef function, context, arrays;
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    igi_simt_cfg cfg;
    igi_simt_cut *cuts;
    uint32_t cut_count;
    igi_simt_crossing *crossings;
    size_t count, capacity;
    uint64_t bytes, array_bytes;  // of the context and the arrays so far
    bool *live;                   // by block: the current value is needed at its beginning
    uint32_t *stack;
} igi_simt_splitter;

// Marks in `live` the blocks at whose beginning the value is alive.
void igi_simt_mark_live(igi_simt_splitter *s, LLVMValueRef value);
// Marks in `live` the blocks on the paths from where the value is computed to the next cuts.
void igi_simt_mark_until_cuts(igi_simt_splitter *s, LLVMValueRef value);
// Whether the value that was marked last outlives the cut.
bool igi_simt_lives_at(const igi_simt_splitter *s, const igi_simt_cut *c);

// A place for a value of this type.
uint64_t igi_simt_take_context(igi_simt_splitter *s, LLVMTypeRef type);
LLVMValueRef igi_simt_load_context(igi_simt_splitter *s, LLVMTypeRef type, uint64_t offset);
void igi_simt_store_context(igi_simt_splitter *s, LLVMValueRef value, uint64_t offset);

// Vectors that a loop with barriers accumulates become places in the context. Returns false when memory is short.
bool igi_simt_keep_accumulators(igi_simt_splitter *s);

#endif
