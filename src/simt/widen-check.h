// SPDX-License-Identifier: Apache-2.0
// What the two halves of the quick look share: one access of all lanes, and small pieces of code.
#ifndef INGOT_SIMT_WIDEN_CHECK_H
#define INGOT_SIMT_WIDEN_CHECK_H

#include <stddef.h>
#include <string.h>

#include "simt/checked/pseudo.h"
#include "simt/checked/state.h"
#include "simt/ir.h"
#include "simt/widen.h"

// One access of all lanes.
typedef struct igi_simt_touch {
    igi_simt_widener *w;
    LLVMValueRef check, quick, object, thread;
    LLVMValueRef pointer;    // of the thread function
    LLVMValueRef addresses;  // of lanes in no line, as integers
    LLVMValueRef base, bytes, length;
    igi_simt_shape shape;
    uint64_t size;  // the length, if it is a constant; 0: it is not
    uint32_t access;
    LLVMValueRef first;           // of lines: address of the first lane
    LLVMValueRef lowest, extent;  // of lines: the lowest address of an active lane, and bytes from there on
    uint64_t span;                // of lines: bytes from the lowest to the highest, if all lanes are active
} igi_simt_touch;

// ---- By functions ----

// Leaves the quick look unless the condition holds.
void igi_simt_touch_suspect_unless(igi_simt_widener *w, LLVMValueRef check, LLVMValueRef condition);
// Checks the lanes of an access one by one: at addresses in a line, or at any.
void igi_simt_touch_lanes(const igi_simt_touch *t, bool line);

// ---- Cells: widen-check-cells.c ----

// All are for accesses whose lanes are inside their object. A row is `pieces` vectors of cells.
void igi_simt_touch_row(const igi_simt_touch *t, uint32_t pieces);
void igi_simt_touch_scattered(const igi_simt_touch *t);
// A read of all lanes at one address.
void igi_simt_touch_one(const igi_simt_touch *t);

// ---- Small things ----

static inline LLVMValueRef igi_simt_touch_u32(const igi_simt_widener *w, uint64_t value) {
    return LLVMConstInt(w->i32, value, 0);
}

static inline LLVMValueRef igi_simt_touch_u64(const igi_simt_widener *w, uint64_t value) {
    return LLVMConstInt(w->i64, value, 0);
}

static inline LLVMValueRef igi_simt_touch_splat(const igi_simt_widener *w, uint64_t value) {
    return igi_simt_splat(igi_simt_widen_type(w, w->i32), value, false);
}

static inline LLVMValueRef igi_simt_touch_load(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef base,
                                               size_t offset) {
    return LLVMBuildLoad2(w->builder, type, igi_simt_field(w->builder, base, offset), "");
}

// One that stays as it is while a kernel runs.
static inline LLVMValueRef igi_simt_touch_load_constant(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef base,
                                                        size_t offset) {
    LLVMValueRef load = igi_simt_touch_load(w, type, base, offset);
    unsigned kind = LLVMGetMDKindIDInContext(w->m->context, "invariant.load", 14);
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(w->m->context, NULL, 0);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(w->m->context, nothing));
    return load;
}

static inline LLVMValueRef igi_simt_touch_quick(const igi_simt_touch *t, size_t offset) {
    return igi_simt_touch_load(t->w, t->w->i32, t->quick, offset);
}

static inline LLVMValueRef igi_simt_touch_owners(const igi_simt_touch *t) {
    return igi_simt_touch_load_constant(t->w, t->w->pointer, t->object,
                                        offsetof(igi_simt_checked_object, quick.owners));
}

// Goes on in a new block if the condition holds; else in *otherwise, which is new and ends with a branch to *after.
typedef struct igi_simt_fork {
    LLVMBasicBlockRef usual, otherwise, after;
} igi_simt_fork;

static inline igi_simt_fork igi_simt_touch_fork_if(igi_simt_widener *w, LLVMValueRef condition) {
    igi_simt_fork f = {igi_simt_new_block(w, "usual"), igi_simt_new_block(w, "rare"), igi_simt_new_block(w, "checked")};
    LLVMBuildCondBr(w->builder, condition, f.usual, f.otherwise);
    LLVMPositionBuilderAtEnd(w->builder, f.otherwise);
    return f;
}

static inline void igi_simt_touch_meet_at(igi_simt_widener *w, LLVMBasicBlockRef after, LLVMBasicBlockRef next) {
    LLVMBuildBr(w->builder, after);
    LLVMPositionBuilderAtEnd(w->builder, next);
}

#endif
