// SPDX-License-Identifier: Apache-2.0
// A quick look (checked/quick.h) at what all lanes do at once. Lanes in a row are looked at in line, and so are those at
// one address; for others, and when something is not as it mostly is, there are functions.
#include <stddef.h>
#include <string.h>

#include "simt/checked/pseudo.h"
#include "simt/checked/state.h"
#include "simt/ir.h"
#include "simt/widen.h"

enum { MOST_PIECES = 4, PAGE_BYTES = 1 << IGI_QUICK_PAGE_SHIFT };

// One access of all lanes.
typedef struct touch {
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
} touch;

// ---- Small things ----

static LLVMValueRef number32(const igi_simt_widener *w, uint64_t value) {
    return LLVMConstInt(w->i32, value, 0);
}

static LLVMValueRef number64(const igi_simt_widener *w, uint64_t value) {
    return LLVMConstInt(w->i64, value, 0);
}

static LLVMValueRef splat32(const igi_simt_widener *w, uint64_t value) {
    return igi_simt_splat(igi_simt_widen_type(w, w->i32), value, false);
}

static void mark(igi_simt_widener *w, LLVMValueRef instruction, const char *name) {
    unsigned kind = LLVMGetMDKindIDInContext(w->m->context, name, (unsigned)strlen(name));
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(w->m->context, NULL, 0);
    LLVMSetMetadata(instruction, kind, LLVMMetadataAsValue(w->m->context, nothing));
}

static LLVMValueRef load_field(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef base, size_t offset) {
    return LLVMBuildLoad2(w->builder, type, igi_simt_field(w->builder, base, offset), "");
}

// One that stays as it is while a kernel runs.
static LLVMValueRef load_constant(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef base, size_t offset) {
    LLVMValueRef load = load_field(w, type, base, offset);
    mark(w, load, "invariant.load");
    return load;
}

static LLVMValueRef quick_field(const touch *t, size_t offset) {
    return load_field(t->w, t->w->i32, t->quick, offset);
}

static LLVMValueRef quick_of(igi_simt_widener *w, LLVMValueRef check) {
    return load_constant(w, w->pointer, check, offsetof(igi_simt_checked, quick));
}

static LLVMValueRef call_hook(igi_simt_widener *w, const char *name, LLVMValueRef *arguments, unsigned count) {
    enum { MOST = 12 };
    char full[40] = IGI_CHECKED_PREFIX;
    LLVMTypeRef types[MOST];
    strncat(full, name, sizeof full - strlen(full) - 1);
    for (unsigned i = 0; i < count && i < MOST; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), types, count, 0);
    LLVMValueRef function = igi_simt_declare(w->m->module, full, type);
    igi_simt_add_attribute(function, "nounwind");
    igi_simt_add_attribute(function, "cold");
    return LLVMBuildCall2(w->builder, type, function, arguments, count, "");
}

// A bit for each lane in memory; NULL when all are active.
static LLVMValueRef spill_mask(igi_simt_widener *w) {
    if (!w->mask) return LLVMConstNull(w->pointer);
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width < 8 ? 8 : w->width);
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, bits, IGI_TEMPORARY);
    LLVMTypeRef narrow = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef value = LLVMBuildBitCast(w->builder, w->mask, narrow, "");
    LLVMBuildStore(w->builder, LLVMBuildZExt(w->builder, value, bits, ""), memory);
    return memory;
}

// Goes on in a new block if the condition holds; else in *otherwise, which is new and ends with a branch to *after.
typedef struct fork {
    LLVMBasicBlockRef usual, otherwise, after;
} fork;

static fork branch(igi_simt_widener *w, LLVMValueRef condition) {
    fork f = {igi_simt_new_block(w, "usual"), igi_simt_new_block(w, "rare"), igi_simt_new_block(w, "checked")};
    LLVMBuildCondBr(w->builder, condition, f.usual, f.otherwise);
    LLVMPositionBuilderAtEnd(w->builder, f.otherwise);
    return f;
}

static void meet_at(igi_simt_widener *w, LLVMBasicBlockRef after, LLVMBasicBlockRef next) {
    LLVMBuildBr(w->builder, after);
    LLVMPositionBuilderAtEnd(w->builder, next);
}

static void suspect_unless(igi_simt_widener *w, LLVMValueRef check, LLVMValueRef condition) {
    fork f = branch(w, condition);
    call_hook(w, "quick.suspect", &check, 1);
    meet_at(w, f.after, f.usual);
    meet_at(w, f.after, f.after);
}

// ---- Lanes by a function ----

static void look_at_lanes(const touch *t, bool line) {
    igi_simt_widener *w = t->w;
    LLVMValueRef nothing = LLVMConstNull(w->pointer), memory = nothing;
    if (!line) {
        memory = LLVMBuildAlloca(w->slots, LLVMTypeOf(t->addresses), IGI_TEMPORARY);
        LLVMBuildStore(w->builder, t->addresses, memory);
    }
    uint32_t access = (t->access & ~(uint32_t)(IGI_PSEUDO_ANYWHERE | IGI_PSEUDO_STEADY)) | w->width
                                                                                               << IGI_QUICK_WIDTH_SHIFT;
    LLVMValueRef arguments[] = {t->check,
                                t->object,
                                t->base,
                                t->bytes,
                                t->thread,
                                line ? t->first : number64(w, 0),
                                number64(w, line ? (uint64_t)t->shape.stride : 0),
                                memory,
                                spill_mask(w),
                                t->length,
                                number32(w, access)};
    call_hook(w, "quick.lanes", arguments, 11);
}

// ---- Where they are ----

static LLVMValueRef saturating_sub(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef pair[] = {a, b};
    return igi_simt_call_intrinsic(w->builder, "llvm.usub.sat", &w->i64, 1, pair, 2);
}

// Accesses of objects that mostly nobody writes, or that may be any, are not looked at in line.
static bool is_for_function(const touch *t) {
    return t->access & (IGI_PSEUDO_ANYWHERE | IGI_QUICK_SELDOM);
}

static uint64_t needed_alignment(const touch *t) {
    uint64_t alignment = 1ull << (t->access >> IGI_QUICK_ALIGNMENT_SHIFT & 15);
    uint64_t granule = 1ull << (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    bool cells = (t->access & IGI_QUICK_CELLS) && !is_for_function(t);
    return cells && granule > alignment ? granule : alignment;
}

static bool is_steady(const touch *t, uint64_t alignment) {
    uint64_t own = 1ull << (t->access >> IGI_QUICK_ALIGNMENT_SHIFT & 15);
    return (t->access & IGI_PSEUDO_STEADY) && own == alignment;
}

// Whether the lanes of a line are inside, and all between them.
static LLVMValueRef line_fits(const touch *t) {
    LLVMBuilderRef b = t->w->builder;
    LLVMValueRef offset = LLVMBuildSub(b, t->lowest, t->base, "");
    LLVMValueRef limit = saturating_sub(t->w, t->bytes, LLVMBuildSub(b, t->extent, number64(t->w, 1), ""));
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULT, offset, limit, "fits");
    uint64_t alignment = needed_alignment(t);
    if (alignment == 1) return fits;
    // What does not change in loops is computed before them.
    LLVMValueRef from = is_steady(t, alignment) ? t->base : t->first;
    LLVMValueRef low = LLVMBuildAnd(b, from, number64(t->w, alignment - 1), "");
    return LLVMBuildAnd(b, fits, LLVMBuildICmp(b, LLVMIntEQ, low, number64(t->w, 0), ""), "");
}

static LLVMValueRef lanes_fit(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i64);
    LLVMValueRef at = t->addresses;
    LLVMValueRef limit = saturating_sub(w, t->bytes, number64(w, t->size - 1));
    LLVMValueRef outside = LLVMBuildICmp(b, LLVMIntUGE, LLVMBuildSub(b, at, igi_simt_splat_value(w, t->base), ""),
                                         igi_simt_splat_value(w, limit), "");
    uint64_t alignment = needed_alignment(t);
    if (alignment > 1 && is_steady(t, alignment)) {
        LLVMValueRef low = LLVMBuildAnd(b, t->base, number64(w, alignment - 1), "");
        LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, low, number64(w, 0), "");
        outside = LLVMBuildOr(b, outside, igi_simt_splat_value(w, odd), "");
    } else if (alignment > 1) {
        LLVMValueRef low = LLVMBuildAnd(b, at, igi_simt_splat(type, alignment - 1, false), "");
        outside = LLVMBuildOr(b, outside, LLVMBuildICmp(b, LLVMIntNE, low, LLVMConstNull(type), ""), "");
    }
    if (w->mask) outside = LLVMBuildAnd(b, outside, w->mask, "");
    return LLVMBuildNot(b, igi_simt_any(w, outside), "");
}

static LLVMValueRef owners_of(const touch *t) {
    return load_constant(t->w, t->w->pointer, t->object, offsetof(igi_simt_checked_object, quick.owners));
}

// ---- Saving what is written ----

static void save_line(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef begin = load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, begin));
    LLVMValueRef saved = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.saved));
    LLVMValueRef offset = LLVMBuildSub(b, t->lowest, begin, ""), shift = number64(w, IGI_QUICK_PAGE_SHIFT);
    LLVMValueRef last = LLVMBuildAdd(b, offset, LLVMBuildSub(b, t->extent, number64(w, 1), ""), ""), both = NULL;
    LLVMValueRef ends[] = {LLVMBuildLShr(b, offset, shift, ""), LLVMBuildLShr(b, last, shift, "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef state = LLVMBuildLoad2(b, w->i8, LLVMBuildGEP2(b, w->i8, saved, &ends[i], 1, ""), "");
        both = both ? LLVMBuildAnd(b, both, state, "") : state;
    }
    fork f = branch(w, LLVMBuildICmp(b, LLVMIntNE, both, LLVMConstNull(w->i8), ""));
    LLVMValueRef arguments[] = {t->check, t->object, t->lowest, t->extent};
    call_hook(w, "quick.save", arguments, 4);
    meet_at(w, f.after, f.usual);
    meet_at(w, f.after, f.after);
}

static LLVMValueRef reduce_addresses(const touch *t, const char *name, uint64_t neutral) {
    igi_simt_widener *w = t->w;
    LLVMTypeRef type = LLVMTypeOf(t->addresses);
    LLVMValueRef all = t->addresses;
    if (w->mask) all = LLVMBuildSelect(w->builder, w->mask, all, igi_simt_splat(type, neutral, false), "");
    return igi_simt_call_intrinsic(w->builder, name, &type, 1, &all, 1);
}

// Lanes that are near each other are like a line; what others write is saved lane by lane.
static void save_lanes(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    touch line = *t, lanes = *t;
    line.lowest = reduce_addresses(t, "llvm.vector.reduce.umin", UINT64_MAX);
    LLVMValueRef highest = reduce_addresses(t, "llvm.vector.reduce.umax", 0);
    LLVMValueRef distance = LLVMBuildSub(b, highest, line.lowest, "");
    line.extent = LLVMBuildAdd(b, distance, number64(w, t->size), "");
    lanes.access &= ~(uint32_t)(IGI_QUICK_CELLS | IGI_QUICK_RACES | IGI_QUICK_INIT);
    fork f = branch(w, LLVMBuildICmp(b, LLVMIntULT, distance, number64(w, PAGE_BYTES), ""));
    look_at_lanes(&lanes, false);
    meet_at(w, f.after, f.usual);
    save_line(&line);
    meet_at(w, f.after, f.after);
}

// ---- Cells of a row ----

// Vectors of cells: `piece` of `pieces`, each as long as there are lanes.
typedef struct cells {
    const touch *t;
    uint32_t piece, pieces;
    LLVMValueRef owners, infos;  // addresses: of the first, or, scattered, of each
    bool scattered;
    LLVMValueRef token;  // of the first lane
    LLVMValueRef mask;   // NULL: all
} cells;

// The lane that a cell belongs to.
static uint32_t lane_of(const cells *c, uint32_t at) {
    return (c->piece * c->t->w->width + at) / c->pieces;
}

static LLVMValueRef tokens_of(const cells *c) {
    igi_simt_widener *w = c->t->w;
    LLVMValueRef lanes[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) lanes[i] = number32(w, lane_of(c, i));
    return LLVMBuildAdd(w->builder, igi_simt_splat_value(w, c->token), LLVMConstVector(lanes, w->width), "tokens");
}

static LLVMValueRef mask_of(const cells *c) {
    igi_simt_widener *w = c->t->w;
    uint32_t lanes[IGI_MAX_WIDTH];
    if (!w->mask || c->pieces == 1) return w->mask;
    for (uint32_t i = 0; i < w->width; i++) lanes[i] = lane_of(c, i);
    LLVMValueRef order = igi_simt_shuffle_mask(w, lanes, w->width);
    return LLVMBuildShuffleVector(w->builder, w->mask, LLVMGetPoison(LLVMTypeOf(w->mask)), order, "");
}

static LLVMValueRef has_bits(igi_simt_widener *w, LLVMValueRef value, uint32_t bits) {
    LLVMValueRef part = LLVMBuildAnd(w->builder, value, splat32(w, bits), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, part, LLVMConstNull(LLVMTypeOf(part)), "");
}

static LLVMValueRef keep_if(igi_simt_widener *w, LLVMValueRef condition, LLVMValueRef value) {
    return LLVMBuildSelect(w->builder, condition, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

static LLVMValueRef load_cells(const cells *c, LLVMValueRef places) {
    igi_simt_widener *w = c->t->w;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i32);
    if (!c->scattered) return igi_simt_load_masked(w, type, places, 4, NULL);
    LLVMTypeRef types[] = {type, LLVMTypeOf(places)};
    LLVMValueRef arguments[] = {places, number32(w, 4), igi_simt_active_mask(w), LLVMConstNull(type)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

static void store_cells(const cells *c, LLVMValueRef value, LLVMValueRef places, LLVMValueRef mask) {
    igi_simt_widener *w = c->t->w;
    if (!c->scattered) {
        igi_simt_store_masked(w, value, places, 4, mask);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(places)};
    LLVMValueRef arguments[] = {value, places, number32(w, 4), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.scatter", types, 2, arguments, 4);
}

// What visit_cell of checked/quick.c does, for a vector of cells; answers whether all is right.
static LLVMValueRef visit_cells(const cells *c) {
    static const uint8_t conflicts[] = IGI_QUICK_CONFLICTS;
    const touch *t = c->t;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP, races = t->access & IGI_QUICK_RACES;
    uint32_t act = t->access & IGI_QUICK_ACT, bit = 1u << act, conflicting = conflicts[act];
    LLVMValueRef mask = mask_of(c), tokens = tokens_of(c);
    LLVMValueRef before = load_cells(c, c->owners), was = load_cells(c, c->infos);
    LLVMValueRef first = quick_field(t, offsetof(igi_simt_quick, token));
    LLVMValueRef epoch =
        igi_simt_splat_value(w, quick_field(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0)));
    LLVMValueRef threads = igi_simt_splat_value(w, quick_field(t, offsetof(igi_simt_quick, threads)));
    LLVMValueRef distance = LLVMBuildSub(b, before, igi_simt_splat_value(w, first), "");
    LLVMValueRef together = LLVMBuildICmp(b, LLVMIntULT, distance, threads, "together"), fresh = together;
    LLVMValueRef groups = NULL;
    if (!threadgroup) {
        LLVMValueRef floor = igi_simt_splat_value(w, quick_field(t, offsetof(igi_simt_quick, floor)));
        fresh = LLVMBuildICmp(b, LLVMIntUGE, before, floor, "fresh");
        LLVMValueRef several = LLVMBuildOr(b, LLVMBuildNot(b, together, ""), has_bits(w, was, IGI_QUICK_GROUPS), "");
        groups = LLVMBuildAnd(b, fresh, several, "groups");
    }
    LLVMValueRef difference = LLVMBuildXor(b, was, epoch, "");
    LLVMValueRef same_epoch =
        LLVMBuildICmp(b, LLVMIntULT, difference, splat32(w, 1u << IGI_QUICK_EPOCH_SHIFT), "same.epoch");
    LLVMValueRef recent = LLVMBuildAnd(b, together, same_epoch, "recent");
    LLVMValueRef strange = LLVMBuildICmp(b, LLVMIntNE, before, tokens, "strange");
    LLVMValueRef wrong = LLVMConstNull(w->mask_type);
    if (races) {
        LLVMValueRef others = LLVMBuildOr(b, strange, has_bits(w, was, IGI_QUICK_THREADS), "");
        wrong = LLVMBuildAnd(b, LLVMBuildAnd(b, recent, others, ""), has_bits(w, was, conflicting), "");
    }
    if (races && groups)
        wrong = LLVMBuildOr(b, wrong,
                            LLVMBuildAnd(b, groups, has_bits(w, was, conflicting << IGI_QUICK_EVER_SHIFT), ""), "");
    if (t->access & IGI_QUICK_INIT) {
        uint32_t writes = (IGI_QUICK_WRITE | IGI_QUICK_ATOMIC_WRITE) << IGI_QUICK_EVER_SHIFT;
        LLVMValueRef written = LLVMBuildAnd(b, fresh, has_bits(w, was, writes), "");
        wrong = LLVMBuildOr(b, wrong, LLVMBuildNot(b, written, ""), "");
    }
    LLVMValueRef ever = LLVMBuildAnd(b, was, splat32(w, IGI_QUICK_EVER), "");
    LLVMValueRef now = LLVMBuildAnd(b, was, splat32(w, IGI_QUICK_NOW | IGI_QUICK_THREADS), "");
    now = LLVMBuildOr(b, now, keep_if(w, strange, splat32(w, IGI_QUICK_THREADS)), "");
    LLVMValueRef next = LLVMBuildOr(b, keep_if(w, fresh, ever), keep_if(w, recent, now), "");
    if (groups) next = LLVMBuildOr(b, next, keep_if(w, groups, splat32(w, IGI_QUICK_GROUPS)), "");
    next = LLVMBuildOr(b, next, LLVMBuildOr(b, epoch, splat32(w, bit | bit << IGI_QUICK_EVER_SHIFT), ""), "");
    store_cells(c, tokens, c->owners, mask);
    store_cells(c, next, c->infos, mask);
    if (mask) wrong = LLVMBuildAnd(b, wrong, mask, "");
    return LLVMBuildNot(b, igi_simt_any(w, wrong), "");
}

static void note_touched(const touch *t, LLVMValueRef cell, uint32_t count) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef touched = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.touched));
    LLVMValueRef ends[] = {cell, LLVMBuildAdd(b, cell, number64(w, count - 1), "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef block = LLVMBuildAShr(b, ends[i], number64(w, IGI_QUICK_BLOCK_SHIFT), "");
        LLVMBuildStore(b, LLVMConstInt(w->i8, 1, 0), LLVMBuildGEP2(b, w->i8, touched, &block, 1, ""));
    }
}

// That of an inactive lane may lie before all others.
static LLVMValueRef first_cell(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMValueRef base = load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, cells_base));
    LLVMValueRef shift = number64(w, t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    return LLVMBuildAShr(w->builder, LLVMBuildSub(w->builder, t->first, base, ""), shift, "cell");
}

// Whether, since the last barrier, several threads have done the same and nobody anything else: one more changes nothing.
static LLVMValueRef are_known(const cells *c) {
    const touch *t = c->t;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP;
    uint32_t wanted = 1u << (t->access & IGI_QUICK_ACT) | IGI_QUICK_THREADS;
    LLVMValueRef epoch = quick_field(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef expected = igi_simt_splat_value(w, LLVMBuildOr(b, epoch, number32(w, wanted), ""));
    LLVMValueRef kept = LLVMBuildAnd(b, load_cells(c, c->infos), splat32(w, ~(uint32_t)IGI_QUICK_EVER), "");
    LLVMValueRef first = igi_simt_splat_value(w, quick_field(t, offsetof(igi_simt_quick, token)));
    LLVMValueRef threads = igi_simt_splat_value(w, quick_field(t, offsetof(igi_simt_quick, threads)));
    LLVMValueRef distance = LLVMBuildSub(b, load_cells(c, c->owners), first, "");
    LLVMValueRef unknown = LLVMBuildOr(b, LLVMBuildICmp(b, LLVMIntNE, kept, expected, ""),
                                       LLVMBuildICmp(b, LLVMIntUGE, distance, threads, ""), "");
    if (w->mask) unknown = LLVMBuildAnd(b, unknown, w->mask, "");
    return LLVMBuildNot(b, igi_simt_any(w, unknown), "");
}

// Threads that share a tile read the same rows of it.
static LLVMValueRef visit_unless_known(const cells *c) {
    igi_simt_widener *w = c->t->w;
    bool shared = (c->t->access & IGI_QUICK_THREADGROUP) && (c->t->access & IGI_QUICK_ACT) == IGI_ACT_READ;
    if (!shared || c->pieces > 1) return visit_cells(c);
    LLVMBasicBlockRef unknown = igi_simt_new_block(w, "unknown"), after = igi_simt_new_block(w, "known");
    LLVMBuildCondBr(w->builder, are_known(c), after, unknown);
    LLVMBasicBlockRef from[] = {LLVMGetInsertBlock(w->builder), NULL};
    LLVMPositionBuilderAtEnd(w->builder, unknown);
    LLVMValueRef all[] = {LLVMConstInt(w->i1, 1, 0), visit_cells(c)};
    from[1] = LLVMGetInsertBlock(w->builder);
    meet_at(w, after, after);
    LLVMValueRef right = LLVMBuildPhi(w->builder, w->i1, "");
    LLVMAddIncoming(right, all, from, 2);
    return right;
}

static LLVMValueRef visit_pieces(const touch *t, LLVMValueRef cell, LLVMValueRef token, uint32_t pieces) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef infos = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef right = NULL;
    for (uint32_t i = 0; i < pieces; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, cell, number64(w, (uint64_t)i * w->width), "");
        cells c = {.t = t,
                   .piece = i,
                   .pieces = pieces,
                   .owners = LLVMBuildGEP2(b, w->i32, owners_of(t), &at, 1, ""),
                   .infos = LLVMBuildGEP2(b, w->i32, infos, &at, 1, ""),
                   .token = token};
        LLVMValueRef part = visit_unless_known(&c);
        right = right ? LLVMBuildAnd(b, right, part, "") : part;
    }
    return right;
}

// Some lanes of many.
static LLVMValueRef part_of_mask(igi_simt_widener *w, LLVMValueRef masks, LLVMValueRef from, uint32_t count) {
    LLVMTypeRef type = LLVMVectorType(w->i8, count);
    LLVMValueRef part = LLVMBuildLoad2(w->builder, type, LLVMBuildGEP2(w->builder, w->i8, masks, &from, 1, ""), "");
    LLVMSetAlignment(part, 1);
    return LLVMBuildICmp(w->builder, LLVMIntNE, part, LLVMConstNull(type), "");
}

// A loop over many lanes, a register full at a time: more would not stay in registers, and take long to compile.
typedef struct parts {
    igi_simt_widener *w;
    uint32_t width;  // what the widener had
    LLVMValueRef mask, masks, lane;
    LLVMTypeRef mask_type;
    LLVMBasicBlockRef before, body;
} parts;

static bool has_many_lanes(const igi_simt_widener *w) {
    return w->width > 2 * igi_simt_register_lanes();
}

// From here on, the widener has fewer lanes: those from p->lane on.
static parts begin_parts(igi_simt_widener *w) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef bytes = LLVMVectorType(w->i8, w->width);
    parts p = {.w = w, .width = w->width, .mask = w->mask, .mask_type = w->mask_type};
    if (w->mask) {
        p.masks = LLVMBuildAlloca(w->slots, bytes, IGI_TEMPORARY);
        LLVMBuildStore(b, LLVMBuildZExt(b, w->mask, bytes, ""), p.masks);
    }
    p.before = LLVMGetInsertBlock(b);
    p.body = igi_simt_new_block(w, "part");
    LLVMBuildBr(b, p.body);
    LLVMPositionBuilderAtEnd(b, p.body);
    p.lane = LLVMBuildPhi(b, w->i64, "");
    w->width = igi_simt_register_lanes();
    w->mask_type = LLVMVectorType(w->i1, w->width);
    w->mask = w->mask ? part_of_mask(w, p.masks, p.lane, w->width) : NULL;
    return p;
}

static void end_parts(parts *p) {
    igi_simt_widener *w = p->w;
    LLVMBuilderRef b = w->builder;
    LLVMBasicBlockRef after = igi_simt_new_block(w, "parts.end");
    LLVMValueRef next = LLVMBuildAdd(b, p->lane, number64(w, w->width), "");
    LLVMValueRef lanes[] = {number64(w, 0), next};
    LLVMBasicBlockRef from[] = {p->before, LLVMGetInsertBlock(b)};
    w->width = p->width;
    w->mask = p->mask;
    w->mask_type = p->mask_type;
    LLVMAddIncoming(p->lane, lanes, from, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, number64(w, w->width), ""), p->body, after);
    LLVMPositionBuilderAtEnd(b, after);
}

static LLVMValueRef later_lane(const parts *p, LLVMValueRef first) {
    LLVMBuilderRef b = p->w->builder;
    return LLVMBuildAdd(b, first, LLVMBuildIntCast2(b, p->lane, LLVMTypeOf(first), 0, ""), "");
}

static void visit_long_row(const touch *t, LLVMValueRef cell, LLVMValueRef token) {
    parts p = begin_parts(t->w);
    LLVMValueRef right = visit_pieces(t, later_lane(&p, cell), later_lane(&p, token), 1);
    suspect_unless(t->w, t->check, right);
    end_parts(&p);
}

static void visit_row(const touch *t, uint32_t pieces) {
    igi_simt_widener *w = t->w;
    LLVMValueRef cell = first_cell(t);
    LLVMValueRef token = LLVMBuildAdd(w->builder, quick_field(t, offsetof(igi_simt_quick, token)), t->thread, "");
    if (!(t->access & IGI_QUICK_THREADGROUP)) note_touched(t, cell, pieces * w->width);
    if (pieces == 1 && has_many_lanes(w))
        visit_long_row(t, cell, token);
    else
        suspect_unless(w, t->check, visit_pieces(t, cell, token, pieces));
}

// ---- Cells anywhere ----

static void mark_blocks(const touch *t, LLVMValueRef numbers) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef touched = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.touched));
    LLVMValueRef shift = igi_simt_splat(LLVMTypeOf(numbers), IGI_QUICK_BLOCK_SHIFT, false);
    LLVMValueRef blocks = LLVMBuildLShr(b, numbers, shift, "");
    LLVMValueRef places = LLVMBuildGEP2(b, w->i8, touched, &blocks, 1, "");
    LLVMValueRef ones = igi_simt_splat(igi_simt_widen_type(w, w->i8), 1, false);
    LLVMTypeRef types[] = {LLVMTypeOf(ones), LLVMTypeOf(places)};
    LLVMValueRef arguments[] = {ones, places, number32(w, 1), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(b, "llvm.masked.scatter", types, 2, arguments, 4);
}

// Where two lanes meet in one cell, one of them finds the other's token in it.
static void visit_few(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i64);
    LLVMValueRef base = load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, cells_base));
    LLVMValueRef infos = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef shift = igi_simt_splat(type, t->access >> IGI_QUICK_GRANULE_SHIFT & 15, false);
    LLVMValueRef numbers =
        LLVMBuildLShr(b, LLVMBuildSub(b, t->addresses, igi_simt_splat_value(w, base), ""), shift, "");
    cells c = {.t = t,
               .pieces = 1,
               .scattered = true,
               .owners = LLVMBuildGEP2(b, w->i32, owners_of(t), &numbers, 1, ""),
               .infos = LLVMBuildGEP2(b, w->i32, infos, &numbers, 1, ""),
               .token = LLVMBuildAdd(b, quick_field(t, offsetof(igi_simt_quick, token)), t->thread, "")};
    LLVMBasicBlockRef after = igi_simt_new_block(w, "known"), go_on;
    if ((t->access & IGI_QUICK_ACT) != IGI_ACT_WRITE) {
        go_on = igi_simt_new_block(w, "unknown");
        LLVMBuildCondBr(b, are_known(&c), after, go_on);
        LLVMPositionBuilderAtEnd(b, go_on);
    }
    suspect_unless(w, t->check, visit_cells(&c));
    if (!(t->access & IGI_QUICK_THREADGROUP)) mark_blocks(t, numbers);
    LLVMValueRef met = LLVMBuildICmp(b, LLVMIntNE, load_cells(&c, c.owners), tokens_of(&c), "met");
    if (w->mask) met = LLVMBuildAnd(b, met, w->mask, "");
    fork f = branch(w, LLVMBuildNot(b, igi_simt_any(w, met), ""));
    look_at_lanes(t, false);
    meet_at(w, f.after, f.usual);
    meet_at(w, f.after, f.after);
    meet_at(w, after, after);
}

static void visit_scattered(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    if (!has_many_lanes(w)) {
        visit_few(t);
        return;
    }
    LLVMValueRef all = LLVMBuildAlloca(w->slots, LLVMTypeOf(t->addresses), IGI_TEMPORARY);
    LLVMBuildStore(b, t->addresses, all);
    parts p = begin_parts(w);
    touch part = *t;
    part.thread = later_lane(&p, t->thread);
    LLVMValueRef place = LLVMBuildGEP2(b, w->i64, all, &p.lane, 1, "");
    part.addresses = LLVMBuildLoad2(b, igi_simt_widen_type(w, w->i64), place, "");
    LLVMSetAlignment(part.addresses, 8);
    visit_few(&part);
    end_parts(&p);
}

// ---- One address ----

// Whether many threads have read it since the last barrier: one more changes nothing.
static LLVMValueRef is_known_read(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP;
    LLVMValueRef infos = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef first = first_cell(t), known = NULL;
    LLVMValueRef epoch = quick_field(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef wanted = LLVMBuildOr(b, epoch, number32(w, IGI_QUICK_READ | IGI_QUICK_THREADS), "");
    LLVMValueRef token = quick_field(t, offsetof(igi_simt_quick, token));
    LLVMValueRef threads = quick_field(t, offsetof(igi_simt_quick, threads));
    uint64_t count = t->size >> (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    for (uint64_t i = 0; i < count; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, first, number64(w, i), "");
        LLVMValueRef owner = LLVMBuildLoad2(b, w->i32, LLVMBuildGEP2(b, w->i32, owners_of(t), &at, 1, ""), "");
        LLVMValueRef info = LLVMBuildLoad2(b, w->i32, LLVMBuildGEP2(b, w->i32, infos, &at, 1, ""), "");
        LLVMValueRef kept = LLVMBuildAnd(b, info, number32(w, ~(uint64_t)IGI_QUICK_EVER & UINT32_MAX), "");
        LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, kept, wanted, "");
        same = LLVMBuildAnd(b, same, LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, owner, token, ""), threads, ""), "");
        known = known ? LLVMBuildAnd(b, known, same, "") : same;
    }
    return known;
}

static LLVMValueRef scalar_has(igi_simt_widener *w, LLVMValueRef value, uint32_t bits) {
    LLVMValueRef part = LLVMBuildAnd(w->builder, value, number32(w, bits), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, part, number32(w, 0), "");
}

// As visit_cells, of a cell that several lanes read. *next: what to store if that is right, which is answered.
static LLVMValueRef read_together(const touch *t, LLVMValueRef before, LLVMValueRef was, LLVMValueRef *next) {
    static const uint8_t conflicts[] = IGI_QUICK_CONFLICTS;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP, races = t->access & IGI_QUICK_RACES;
    uint32_t conflicting = races ? conflicts[IGI_ACT_READ] : 0, bits = IGI_QUICK_READ | IGI_QUICK_THREADS;
    LLVMValueRef first = quick_field(t, offsetof(igi_simt_quick, token)), none = number32(w, 0);
    LLVMValueRef threads = quick_field(t, offsetof(igi_simt_quick, threads));
    LLVMValueRef epoch = quick_field(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef together = LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, before, first, ""), threads, "");
    LLVMValueRef fresh = together, right, groups = LLVMConstNull(w->i1);
    if (!threadgroup) {
        fresh = LLVMBuildICmp(b, LLVMIntUGE, before, quick_field(t, offsetof(igi_simt_quick, floor)), "");
        LLVMValueRef several = LLVMBuildOr(b, LLVMBuildNot(b, together, ""), scalar_has(w, was, IGI_QUICK_GROUPS), "");
        groups = LLVMBuildAnd(b, fresh, several, "");
    }
    LLVMValueRef age = LLVMBuildXor(b, was, epoch, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntULT, age, number32(w, 1u << IGI_QUICK_EPOCH_SHIFT), "");
    LLVMValueRef recent = LLVMBuildAnd(b, together, same, "");
    LLVMValueRef wrong = LLVMBuildAnd(b, recent, scalar_has(w, was, conflicting), "");
    wrong =
        LLVMBuildOr(b, wrong, LLVMBuildAnd(b, groups, scalar_has(w, was, conflicting << IGI_QUICK_EVER_SHIFT), ""), "");
    right = LLVMBuildNot(b, wrong, "");
    if (t->access & IGI_QUICK_INIT) {
        uint32_t writes = (IGI_QUICK_WRITE | IGI_QUICK_ATOMIC_WRITE) << IGI_QUICK_EVER_SHIFT;
        right = LLVMBuildAnd(b, right, LLVMBuildAnd(b, fresh, scalar_has(w, was, writes), ""), "");
    }
    LLVMValueRef ever = LLVMBuildAnd(b, was, number32(w, IGI_QUICK_EVER), "");
    LLVMValueRef now = LLVMBuildAnd(b, was, number32(w, IGI_QUICK_NOW), "");
    LLVMValueRef kept =
        LLVMBuildOr(b, LLVMBuildSelect(b, fresh, ever, none, ""), LLVMBuildSelect(b, recent, now, none, ""), "");
    kept = LLVMBuildOr(b, kept, LLVMBuildSelect(b, groups, number32(w, IGI_QUICK_GROUPS), none, ""), "");
    bits |= IGI_QUICK_READ << IGI_QUICK_EVER_SHIFT;
    *next = LLVMBuildOr(b, kept, LLVMBuildOr(b, epoch, number32(w, bits), ""), "");
    return right;
}

static LLVMValueRef has_several_lanes(igi_simt_widener *w) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    if (!w->mask) return LLVMConstInt(w->i1, 1, 0);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, w->mask, bits, "");
    LLVMValueRef rest = LLVMBuildAnd(w->builder, all, LLVMBuildSub(w->builder, all, LLVMConstInt(bits, 1, 0), ""), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, rest, LLVMConstNull(bits), "");
}

// All cells of a value that several lanes read; goes on where what is new of them is stored.
static void read_cells(const touch *t, LLVMBasicBlockRef otherwise) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef infos = load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef first = first_cell(t), right = has_several_lanes(w), places[2][8], next[8];
    LLVMValueRef token = LLVMBuildAdd(b, quick_field(t, offsetof(igi_simt_quick, token)), t->thread, "");
    uint64_t count = t->size >> (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    for (uint64_t i = 0; i < count && i < 8; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, first, number64(w, i), "");
        places[0][i] = LLVMBuildGEP2(b, w->i32, owners_of(t), &at, 1, "");
        places[1][i] = LLVMBuildGEP2(b, w->i32, infos, &at, 1, "");
        LLVMValueRef before = LLVMBuildLoad2(b, w->i32, places[0][i], "");
        LLVMValueRef was = LLVMBuildLoad2(b, w->i32, places[1][i], "");
        right = LLVMBuildAnd(b, right, read_together(t, before, was, &next[i]), "");
    }
    LLVMBasicBlockRef store = igi_simt_new_block(w, "read");
    LLVMBuildCondBr(b, right, store, otherwise);
    LLVMPositionBuilderAtEnd(b, store);
    for (uint64_t i = 0; i < count && i < 8; i++) {
        LLVMBuildStore(b, token, places[0][i]);
        LLVMBuildStore(b, next[i], places[1][i]);
    }
    if (!(t->access & IGI_QUICK_THREADGROUP)) note_touched(t, first, (uint32_t)count);
}

// Known already, read by several lanes at once, or to be asked.
static void visit_one(const touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBasicBlockRef unknown = igi_simt_new_block(w, "unknown"), ask = igi_simt_new_block(w, "ask");
    LLVMBasicBlockRef after = igi_simt_new_block(w, "known");
    LLVMBuildCondBr(w->builder, is_known_read(t), after, unknown);
    LLVMPositionBuilderAtEnd(w->builder, unknown);
    read_cells(t, ask);
    meet_at(w, after, ask);
    look_at_lanes(t, true);
    meet_at(w, after, after);
}

// ---- An access ----

static bool has_cells(const touch *t) {
    return t->access & IGI_QUICK_CELLS;
}

// How many vectors the cells of a row are; 0: it is no row, or a long one.
static uint32_t pieces_of(const touch *t) {
    unsigned granule = t->access >> IGI_QUICK_GRANULE_SHIFT & 15;
    bool row = t->shape.stride > 0 && t->size && (uint64_t)t->shape.stride == t->size && t->span <= PAGE_BYTES;
    uint64_t pieces = row && t->size % (1ull << granule) == 0 ? t->size >> granule : 0;
    return pieces <= MOST_PIECES ? (uint32_t)pieces : 0;
}

static bool is_one_read(const touch *t) {
    enum { MOST_CELLS = 4 };
    unsigned granule = t->access >> IGI_QUICK_GRANULE_SHIFT & 15;
    return t->shape.stride == 0 && t->size && (t->access & IGI_QUICK_ACT) == IGI_ACT_READ &&
           t->size % (1ull << granule) == 0 && t->size >> granule <= MOST_CELLS;
}

static bool fits_granule(const touch *t) {
    return t->size == 1ull << (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
}

// pre: all lanes are inside
static void visit_line(const touch *t) {
    uint32_t pieces = pieces_of(t);
    bool one = is_one_read(t), saves = t->access & IGI_QUICK_SAVE;
    bool apart = has_cells(t) && !pieces && !one;
    if (is_for_function(t) || (apart && (!fits_granule(t) || !t->shape.stride)) || (saves && t->span > PAGE_BYTES)) {
        look_at_lanes(t, true);
        return;
    }
    if (saves) save_line(t);
    if (!has_cells(t)) return;
    if (pieces)
        visit_row(t, pieces);
    else if (one)
        visit_one(t);
    else
        visit_scattered(t);
}

// pre: the same
static void visit_lanes(const touch *t) {
    if (is_for_function(t) || (has_cells(t) && !fits_granule(t))) {
        look_at_lanes(t, false);
        return;
    }
    if (t->access & IGI_QUICK_SAVE) save_lanes(t);
    if (has_cells(t)) visit_scattered(t);
}

// Only where there are cells: nobody writes most buffers that are read.
static void visit_if_tracked(const touch *t, bool line) {
    igi_simt_widener *w = t->w;
    bool device = !(t->access & IGI_QUICK_THREADGROUP), saves = t->access & IGI_QUICK_SAVE;
    if (!has_cells(t) && !saves) return;
    if (device && !saves) {
        LLVMValueRef owners = LLVMBuildPtrToInt(w->builder, owners_of(t), w->i64, "");
        fork f = branch(w, LLVMBuildICmp(w->builder, LLVMIntEQ, owners, number64(w, 0), ""));
        if (line)
            visit_line(t);
        else
            visit_lanes(t);
        meet_at(w, f.after, f.usual);
        meet_at(w, f.after, f.after);
        return;
    }
    if (line)
        visit_line(t);
    else
        visit_lanes(t);
}

// Numbers of the first active lane and of the last.
static void find_ends(igi_simt_widener *w, LLVMValueRef ends[2]) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef arguments[] = {LLVMBuildBitCast(b, w->mask, bits, ""), LLVMConstNull(w->i1)};
    LLVMValueRef before = igi_simt_call_intrinsic(b, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef behind = igi_simt_call_intrinsic(b, "llvm.ctlz", &bits, 1, arguments, 2);
    ends[0] = LLVMBuildIntCast2(b, before, w->i64, 0, "");
    ends[1] = LLVMBuildSub(b, number64(w, w->width - 1), LLVMBuildIntCast2(b, behind, w->i64, 0, ""), "");
}

static void place_line(touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    int64_t stride = t->shape.stride, reach = stride * (int64_t)(w->width - 1);
    t->first = LLVMBuildPtrToInt(b, igi_simt_widen_scalar(w, t->pointer), w->i64, "");
    t->lowest = reach < 0 ? LLVMBuildAdd(b, t->first, number64(w, (uint64_t)reach), "") : t->first;
    t->span = (uint64_t)(reach < 0 ? -reach : reach) + t->size;
    t->extent = number64(w, t->span);
    if (!w->mask || !stride) return;
    LLVMValueRef ends[2], size = number64(w, t->size), step = number64(w, (uint64_t)(stride < 0 ? -stride : stride));
    find_ends(w, ends);
    LLVMValueRef distance = LLVMBuildMul(b, ends[stride < 0], number64(w, (uint64_t)stride), "");
    t->lowest = LLVMBuildAdd(b, t->first, distance, "");
    t->extent = LLVMBuildAdd(b, LLVMBuildMul(b, LLVMBuildSub(b, ends[1], ends[0], ""), step, ""), size, "");
}

static bool keeps_alignment(const touch *t) {
    return t->shape.stride % (int64_t)needed_alignment(t) == 0;
}

static void widen_touch(igi_simt_widener *w, LLVMValueRef call) {
    touch t = {.w = w,
               .pointer = LLVMGetOperand(call, 2),
               .access = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 7))};
    LLVMValueRef object = LLVMGetOperand(call, 3), base = LLVMGetOperand(call, 4), length = LLVMGetOperand(call, 6);
    if (igi_simt_shape_of(&w->s, object).kind != IGI_SHAPE_UNIFORM ||
        igi_simt_shape_of(&w->s, length).kind != IGI_SHAPE_UNIFORM) {
        igi_simt_decline(w, "an access to an object that differs between lanes", call);
        return;
    }
    bool write = (t.access & IGI_QUICK_ACT) == IGI_ACT_WRITE || (t.access & IGI_QUICK_ACT) == IGI_ACT_ATOMIC_WRITE;
    bool fixed = !LLVMIsNull(base);
    t.check = igi_simt_widen_scalar(w, LLVMGetOperand(call, 0));
    t.thread = igi_simt_widen_scalar(w, LLVMGetOperand(call, 1));
    t.object = igi_simt_widen_scalar(w, object);
    t.length = igi_simt_widen_scalar(w, length);
    t.quick = quick_of(w, t.check);
    t.size = LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : 0;
    t.shape = igi_simt_shape_of(&w->s, t.pointer);
    size_t limit = write ? offsetof(igi_simt_checked_object, writable) : offsetof(igi_simt_checked_object, readable);
    t.base = fixed ? LLVMBuildPtrToInt(w->builder, igi_simt_widen_scalar(w, base), w->i64, "")
                   : load_constant(w, w->i64, t.object, offsetof(igi_simt_checked_object, base));
    t.bytes = fixed ? LLVMGetOperand(call, 5) : load_constant(w, w->i64, t.object, limit);
    bool line =
        t.size && (t.shape.kind == IGI_SHAPE_UNIFORM || t.shape.kind == IGI_SHAPE_LINEAR) && keeps_alignment(&t);
    if (line) place_line(&t);
    if (!line || (t.shape.stride && has_cells(&t) && !pieces_of(&t)))
        t.addresses =
            LLVMBuildPtrToInt(w->builder, igi_simt_widen_vector(w, t.pointer), igi_simt_widen_type(w, w->i64), "");
    if (!line && !t.size) {
        look_at_lanes(&t, false);
        return;
    }
    fork f = branch(w, line ? line_fits(&t) : lanes_fit(&t));
    look_at_lanes(&t, line);
    meet_at(w, f.after, f.usual);
    visit_if_tracked(&t, line);
    meet_at(w, f.after, f.after);
}

// ---- The rest ----

static void widen_unless(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef condition = LLVMGetOperand(call, 1), check = igi_simt_widen_scalar(w, LLVMGetOperand(call, 0));
    if (igi_simt_shape_of(&w->s, condition).kind == IGI_SHAPE_UNIFORM) {
        suspect_unless(w, check, igi_simt_widen_scalar(w, condition));
        return;
    }
    LLVMValueRef wrong = LLVMBuildNot(w->builder, igi_simt_widen_vector(w, condition), "");
    if (w->mask) wrong = LLVMBuildAnd(w->builder, wrong, w->mask, "");
    suspect_unless(w, check, LLVMBuildNot(w->builder, igi_simt_any(w, wrong), ""));
}

static LLVMValueRef count_lanes(igi_simt_widener *w) {
    if (!w->mask) return number32(w, w->width);
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, w->mask, bits, "");
    LLVMValueRef count = igi_simt_call_intrinsic(w->builder, "llvm.ctpop", &bits, 1, &all, 1);
    return LLVMBuildIntCast2(w->builder, count, w->i32, 0, "");
}

static void widen_meet(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef flags = LLVMGetOperand(call, 3);
    if (igi_simt_shape_of(&w->s, flags).kind != IGI_SHAPE_UNIFORM) {
        igi_simt_decline(w, "a barrier with flags that differ between lanes", call);
        return;
    }
    LLVMValueRef arguments[] = {igi_simt_widen_scalar(w, LLVMGetOperand(call, 0)),
                                igi_simt_widen_scalar(w, LLVMGetOperand(call, 1)), count_lanes(w),
                                LLVMGetOperand(call, 2), igi_simt_widen_scalar(w, flags)};
    call_hook(w, "quick.meet", arguments, 5);
}

static void widen_together(igi_simt_widener *w, LLVMValueRef call) {
    if (!w->mask) return;
    fork f = branch(w, igi_simt_all(w, w->mask));
    LLVMValueRef arguments[] = {igi_simt_widen_scalar(w, LLVMGetOperand(call, 0)), spill_mask(w),
                                number32(w, w->width)};
    call_hook(w, "quick.part", arguments, 3);
    meet_at(w, f.after, f.usual);
    meet_at(w, f.after, f.after);
}

static const struct {
    const char *name;
    void (*widen)(igi_simt_widener *w, LLVMValueRef call);
} pseudos[] = {{IGI_CHECKED_PREFIX IGI_PSEUDO_TOUCH, widen_touch},
               {IGI_CHECKED_PREFIX IGI_PSEUDO_WRITE, widen_touch},
               {IGI_CHECKED_PREFIX IGI_PSEUDO_UNLESS, widen_unless},
               {IGI_CHECKED_PREFIX IGI_PSEUDO_MEET, widen_meet},
               {IGI_CHECKED_PREFIX IGI_PSEUDO_TOGETHER, widen_together}};
enum { PSEUDO_COUNT = sizeof pseudos / sizeof *pseudos };

bool igi_simt_is_pseudo(LLVMValueRef instruction) {
    const char *name = igi_simt_callee_name(instruction);
    for (size_t i = 0; i < PSEUDO_COUNT; i++)
        if (strcmp(name, pseudos[i].name) == 0) return true;
    return false;
}

bool igi_simt_widen_check(igi_simt_widener *w, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    if (strncmp(name, IGI_CHECKED_PREFIX, sizeof IGI_CHECKED_PREFIX - 1) != 0) return false;
    for (size_t i = 0; i < PSEUDO_COUNT; i++) {
        if (strcmp(name, pseudos[i].name) != 0) continue;
        pseudos[i].widen(w, call);
        return true;
    }
    return false;
}

ig_status igi_simt_drop_pseudos(igi_simt_module *m) {
    igi_simt_values all;
    if (!igi_simt_collect(m->thread, igi_simt_is_pseudo, &all)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < all.count; i++) LLVMInstructionEraseFromParent(all.items[i]);
    igi_simt_values_free(&all);
    return IG_STATUS_OK;
}
