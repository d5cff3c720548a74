// SPDX-License-Identifier: Apache-2.0
// The quick look at cells: who accessed each granule of memory last, and how.
#include "simt/widen-check.h"

// ---- Cells of a row ----

// Vectors of cells: `piece` of `pieces`, each as long as there are lanes.
typedef struct cells {
    const igi_simt_touch *t;
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
    for (uint32_t i = 0; i < w->width; i++) lanes[i] = igi_simt_touch_u32(w, lane_of(c, i));
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
    LLVMValueRef part = LLVMBuildAnd(w->builder, value, igi_simt_touch_splat(w, bits), "");
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
    LLVMValueRef arguments[] = {places, igi_simt_touch_u32(w, 4), igi_simt_active_mask(w), LLVMConstNull(type)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

static void store_cells(const cells *c, LLVMValueRef value, LLVMValueRef places, LLVMValueRef mask) {
    igi_simt_widener *w = c->t->w;
    if (!c->scattered) {
        igi_simt_store_masked(w, value, places, 4, mask);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(places)};
    LLVMValueRef arguments[] = {value, places, igi_simt_touch_u32(w, 4), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.scatter", types, 2, arguments, 4);
}

// What visit_cell of checked/quick.c does, for a vector of cells; returns whether all is right.
static LLVMValueRef visit_cells(const cells *c) {
    static const uint8_t conflicts[] = IGI_QUICK_CONFLICTS;
    const igi_simt_touch *t = c->t;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP, races = t->access & IGI_QUICK_RACES;
    uint32_t act = t->access & IGI_QUICK_ACT, bit = 1u << act, conflicting = conflicts[act];
    LLVMValueRef mask = mask_of(c), tokens = tokens_of(c);
    LLVMValueRef before = load_cells(c, c->owners), was = load_cells(c, c->infos);
    LLVMValueRef first = igi_simt_touch_quick(t, offsetof(igi_simt_quick, token));
    LLVMValueRef epoch =
        igi_simt_splat_value(w, igi_simt_touch_quick(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0)));
    LLVMValueRef threads = igi_simt_splat_value(w, igi_simt_touch_quick(t, offsetof(igi_simt_quick, threads)));
    LLVMValueRef distance = LLVMBuildSub(b, before, igi_simt_splat_value(w, first), "");
    LLVMValueRef together = LLVMBuildICmp(b, LLVMIntULT, distance, threads, "together"), fresh = together;
    LLVMValueRef groups = NULL;
    if (!threadgroup) {
        LLVMValueRef floor = igi_simt_splat_value(w, igi_simt_touch_quick(t, offsetof(igi_simt_quick, floor)));
        fresh = LLVMBuildICmp(b, LLVMIntUGE, before, floor, "fresh");
        LLVMValueRef several = LLVMBuildOr(b, LLVMBuildNot(b, together, ""), has_bits(w, was, IGI_QUICK_GROUPS), "");
        groups = LLVMBuildAnd(b, fresh, several, "groups");
    }
    LLVMValueRef difference = LLVMBuildXor(b, was, epoch, "");
    LLVMValueRef same_epoch =
        LLVMBuildICmp(b, LLVMIntULT, difference, igi_simt_touch_splat(w, 1u << IGI_QUICK_EPOCH_SHIFT), "same.epoch");
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
    LLVMValueRef ever = LLVMBuildAnd(b, was, igi_simt_touch_splat(w, IGI_QUICK_EVER), "");
    LLVMValueRef now = LLVMBuildAnd(b, was, igi_simt_touch_splat(w, IGI_QUICK_NOW | IGI_QUICK_THREADS), "");
    now = LLVMBuildOr(b, now, keep_if(w, strange, igi_simt_touch_splat(w, IGI_QUICK_THREADS)), "");
    LLVMValueRef next = LLVMBuildOr(b, keep_if(w, fresh, ever), keep_if(w, recent, now), "");
    if (groups) next = LLVMBuildOr(b, next, keep_if(w, groups, igi_simt_touch_splat(w, IGI_QUICK_GROUPS)), "");
    next =
        LLVMBuildOr(b, next, LLVMBuildOr(b, epoch, igi_simt_touch_splat(w, bit | bit << IGI_QUICK_EVER_SHIFT), ""), "");
    store_cells(c, tokens, c->owners, mask);
    store_cells(c, next, c->infos, mask);
    if (mask) wrong = LLVMBuildAnd(b, wrong, mask, "");
    return LLVMBuildNot(b, igi_simt_any(w, wrong), "");
}

static void note_touched(const igi_simt_touch *t, LLVMValueRef cell, uint32_t count) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef touched =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.touched));
    LLVMValueRef ends[] = {cell, LLVMBuildAdd(b, cell, igi_simt_touch_u64(w, count - 1), "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef block = LLVMBuildAShr(b, ends[i], igi_simt_touch_u64(w, IGI_QUICK_BLOCK_SHIFT), "");
        LLVMBuildStore(b, LLVMConstInt(w->i8, 1, 0), LLVMBuildGEP2(b, w->i8, touched, &block, 1, ""));
    }
}

// That of an inactive lane may lie before all others.
static LLVMValueRef first_cell(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMValueRef base =
        igi_simt_touch_load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, cells_base));
    LLVMValueRef shift = igi_simt_touch_u64(w, t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    return LLVMBuildAShr(w->builder, LLVMBuildSub(w->builder, t->first, base, ""), shift, "cell");
}

// Whether, since the last barrier, several threads have done the same and nobody anything else: one more changes nothing.
static LLVMValueRef are_known(const cells *c) {
    const igi_simt_touch *t = c->t;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP;
    uint32_t wanted = 1u << (t->access & IGI_QUICK_ACT) | IGI_QUICK_THREADS;
    LLVMValueRef epoch = igi_simt_touch_quick(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef expected = igi_simt_splat_value(w, LLVMBuildOr(b, epoch, igi_simt_touch_u32(w, wanted), ""));
    LLVMValueRef kept =
        LLVMBuildAnd(b, load_cells(c, c->infos), igi_simt_touch_splat(w, ~(uint32_t)IGI_QUICK_EVER), "");
    LLVMValueRef first = igi_simt_splat_value(w, igi_simt_touch_quick(t, offsetof(igi_simt_quick, token)));
    LLVMValueRef threads = igi_simt_splat_value(w, igi_simt_touch_quick(t, offsetof(igi_simt_quick, threads)));
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
    igi_simt_touch_meet_at(w, after, after);
    LLVMValueRef right = LLVMBuildPhi(w->builder, w->i1, "");
    LLVMAddIncoming(right, all, from, 2);
    return right;
}

static LLVMValueRef visit_pieces(const igi_simt_touch *t, LLVMValueRef cell, LLVMValueRef token, uint32_t pieces) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef infos =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef right = NULL;
    for (uint32_t i = 0; i < pieces; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, cell, igi_simt_touch_u64(w, (uint64_t)i * w->width), "");
        cells c = {.t = t,
                   .piece = i,
                   .pieces = pieces,
                   .owners = LLVMBuildGEP2(b, w->i32, igi_simt_touch_owners(t), &at, 1, ""),
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
    LLVMValueRef next = LLVMBuildAdd(b, p->lane, igi_simt_touch_u64(w, w->width), "");
    LLVMValueRef lanes[] = {igi_simt_touch_u64(w, 0), next};
    LLVMBasicBlockRef from[] = {p->before, LLVMGetInsertBlock(b)};
    w->width = p->width;
    w->mask = p->mask;
    w->mask_type = p->mask_type;
    LLVMAddIncoming(p->lane, lanes, from, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, igi_simt_touch_u64(w, w->width), ""), p->body, after);
    LLVMPositionBuilderAtEnd(b, after);
}

static LLVMValueRef later_lane(const parts *p, LLVMValueRef first) {
    LLVMBuilderRef b = p->w->builder;
    return LLVMBuildAdd(b, first, LLVMBuildIntCast2(b, p->lane, LLVMTypeOf(first), 0, ""), "");
}

static void visit_long_row(const igi_simt_touch *t, LLVMValueRef cell, LLVMValueRef token) {
    parts p = begin_parts(t->w);
    LLVMValueRef right = visit_pieces(t, later_lane(&p, cell), later_lane(&p, token), 1);
    igi_simt_touch_suspect_unless(t->w, t->check, right);
    end_parts(&p);
}

void igi_simt_touch_row(const igi_simt_touch *t, uint32_t pieces) {
    igi_simt_widener *w = t->w;
    LLVMValueRef cell = first_cell(t);
    LLVMValueRef token =
        LLVMBuildAdd(w->builder, igi_simt_touch_quick(t, offsetof(igi_simt_quick, token)), t->thread, "");
    if (!(t->access & IGI_QUICK_THREADGROUP)) note_touched(t, cell, pieces * w->width);
    if (pieces == 1 && has_many_lanes(w))
        visit_long_row(t, cell, token);
    else
        igi_simt_touch_suspect_unless(w, t->check, visit_pieces(t, cell, token, pieces));
}

// ---- Cells anywhere ----

static void mark_blocks(const igi_simt_touch *t, LLVMValueRef numbers) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef touched =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.touched));
    LLVMValueRef shift = igi_simt_splat(LLVMTypeOf(numbers), IGI_QUICK_BLOCK_SHIFT, false);
    LLVMValueRef blocks = LLVMBuildLShr(b, numbers, shift, "");
    LLVMValueRef places = LLVMBuildGEP2(b, w->i8, touched, &blocks, 1, "");
    LLVMValueRef ones = igi_simt_splat(igi_simt_widen_type(w, w->i8), 1, false);
    LLVMTypeRef types[] = {LLVMTypeOf(ones), LLVMTypeOf(places)};
    LLVMValueRef arguments[] = {ones, places, igi_simt_touch_u32(w, 1), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(b, "llvm.masked.scatter", types, 2, arguments, 4);
}

// Where two lanes meet in one cell, one of them finds the other's token in it.
static void visit_few(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i64);
    LLVMValueRef base =
        igi_simt_touch_load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, cells_base));
    LLVMValueRef infos =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef shift = igi_simt_splat(type, t->access >> IGI_QUICK_GRANULE_SHIFT & 15, false);
    LLVMValueRef numbers =
        LLVMBuildLShr(b, LLVMBuildSub(b, t->addresses, igi_simt_splat_value(w, base), ""), shift, "");
    cells c = {.t = t,
               .pieces = 1,
               .scattered = true,
               .owners = LLVMBuildGEP2(b, w->i32, igi_simt_touch_owners(t), &numbers, 1, ""),
               .infos = LLVMBuildGEP2(b, w->i32, infos, &numbers, 1, ""),
               .token = LLVMBuildAdd(b, igi_simt_touch_quick(t, offsetof(igi_simt_quick, token)), t->thread, "")};
    LLVMBasicBlockRef after = igi_simt_new_block(w, "known"), go_on;
    if ((t->access & IGI_QUICK_ACT) != IGI_ACT_WRITE) {
        go_on = igi_simt_new_block(w, "unknown");
        LLVMBuildCondBr(b, are_known(&c), after, go_on);
        LLVMPositionBuilderAtEnd(b, go_on);
    }
    igi_simt_touch_suspect_unless(w, t->check, visit_cells(&c));
    if (!(t->access & IGI_QUICK_THREADGROUP)) mark_blocks(t, numbers);
    LLVMValueRef met = LLVMBuildICmp(b, LLVMIntNE, load_cells(&c, c.owners), tokens_of(&c), "met");
    if (w->mask) met = LLVMBuildAnd(b, met, w->mask, "");
    igi_simt_fork f = igi_simt_touch_fork_if(w, LLVMBuildNot(b, igi_simt_any(w, met), ""));
    igi_simt_touch_lanes(t, false);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    igi_simt_touch_meet_at(w, f.after, f.after);
    igi_simt_touch_meet_at(w, after, after);
}

void igi_simt_touch_scattered(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    if (!has_many_lanes(w)) {
        visit_few(t);
        return;
    }
    LLVMValueRef all = LLVMBuildAlloca(w->slots, LLVMTypeOf(t->addresses), IGI_TEMPORARY);
    LLVMBuildStore(b, t->addresses, all);
    parts p = begin_parts(w);
    igi_simt_touch part = *t;
    part.thread = later_lane(&p, t->thread);
    LLVMValueRef place = LLVMBuildGEP2(b, w->i64, all, &p.lane, 1, "");
    part.addresses = LLVMBuildLoad2(b, igi_simt_widen_type(w, w->i64), place, "");
    LLVMSetAlignment(part.addresses, 8);
    visit_few(&part);
    end_parts(&p);
}

// ---- One address ----

// Whether many threads have read it since the last barrier: one more changes nothing.
static LLVMValueRef is_known_read(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP;
    LLVMValueRef infos =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef first = first_cell(t), known = NULL;
    LLVMValueRef epoch = igi_simt_touch_quick(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef wanted = LLVMBuildOr(b, epoch, igi_simt_touch_u32(w, IGI_QUICK_READ | IGI_QUICK_THREADS), "");
    LLVMValueRef token = igi_simt_touch_quick(t, offsetof(igi_simt_quick, token));
    LLVMValueRef threads = igi_simt_touch_quick(t, offsetof(igi_simt_quick, threads));
    uint64_t count = t->size >> (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    for (uint64_t i = 0; i < count; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, first, igi_simt_touch_u64(w, i), "");
        LLVMValueRef owner =
            LLVMBuildLoad2(b, w->i32, LLVMBuildGEP2(b, w->i32, igi_simt_touch_owners(t), &at, 1, ""), "");
        LLVMValueRef info = LLVMBuildLoad2(b, w->i32, LLVMBuildGEP2(b, w->i32, infos, &at, 1, ""), "");
        LLVMValueRef kept = LLVMBuildAnd(b, info, igi_simt_touch_u32(w, ~(uint64_t)IGI_QUICK_EVER & UINT32_MAX), "");
        LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, kept, wanted, "");
        same = LLVMBuildAnd(b, same, LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, owner, token, ""), threads, ""), "");
        known = known ? LLVMBuildAnd(b, known, same, "") : same;
    }
    return known;
}

static LLVMValueRef scalar_has(igi_simt_widener *w, LLVMValueRef value, uint32_t bits) {
    LLVMValueRef part = LLVMBuildAnd(w->builder, value, igi_simt_touch_u32(w, bits), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, part, igi_simt_touch_u32(w, 0), "");
}

// Like visit_cells, for a cell that several lanes read. Returns whether that is right; *next is what to store then.
static LLVMValueRef read_together(const igi_simt_touch *t, LLVMValueRef before, LLVMValueRef was, LLVMValueRef *next) {
    static const uint8_t conflicts[] = IGI_QUICK_CONFLICTS;
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    bool threadgroup = t->access & IGI_QUICK_THREADGROUP, races = t->access & IGI_QUICK_RACES;
    uint32_t conflicting = races ? conflicts[IGI_ACT_READ] : 0, bits = IGI_QUICK_READ | IGI_QUICK_THREADS;
    LLVMValueRef first = igi_simt_touch_quick(t, offsetof(igi_simt_quick, token)), none = igi_simt_touch_u32(w, 0);
    LLVMValueRef threads = igi_simt_touch_quick(t, offsetof(igi_simt_quick, threads));
    LLVMValueRef epoch = igi_simt_touch_quick(t, offsetof(igi_simt_quick, epochs) + (threadgroup ? 4 : 0));
    LLVMValueRef together = LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, before, first, ""), threads, "");
    LLVMValueRef fresh = together, right, groups = LLVMConstNull(w->i1);
    if (!threadgroup) {
        fresh = LLVMBuildICmp(b, LLVMIntUGE, before, igi_simt_touch_quick(t, offsetof(igi_simt_quick, floor)), "");
        LLVMValueRef several = LLVMBuildOr(b, LLVMBuildNot(b, together, ""), scalar_has(w, was, IGI_QUICK_GROUPS), "");
        groups = LLVMBuildAnd(b, fresh, several, "");
    }
    LLVMValueRef age = LLVMBuildXor(b, was, epoch, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntULT, age, igi_simt_touch_u32(w, 1u << IGI_QUICK_EPOCH_SHIFT), "");
    LLVMValueRef recent = LLVMBuildAnd(b, together, same, "");
    LLVMValueRef wrong = LLVMBuildAnd(b, recent, scalar_has(w, was, conflicting), "");
    wrong =
        LLVMBuildOr(b, wrong, LLVMBuildAnd(b, groups, scalar_has(w, was, conflicting << IGI_QUICK_EVER_SHIFT), ""), "");
    right = LLVMBuildNot(b, wrong, "");
    if (t->access & IGI_QUICK_INIT) {
        uint32_t writes = (IGI_QUICK_WRITE | IGI_QUICK_ATOMIC_WRITE) << IGI_QUICK_EVER_SHIFT;
        right = LLVMBuildAnd(b, right, LLVMBuildAnd(b, fresh, scalar_has(w, was, writes), ""), "");
    }
    LLVMValueRef ever = LLVMBuildAnd(b, was, igi_simt_touch_u32(w, IGI_QUICK_EVER), "");
    LLVMValueRef now = LLVMBuildAnd(b, was, igi_simt_touch_u32(w, IGI_QUICK_NOW), "");
    LLVMValueRef kept =
        LLVMBuildOr(b, LLVMBuildSelect(b, fresh, ever, none, ""), LLVMBuildSelect(b, recent, now, none, ""), "");
    kept = LLVMBuildOr(b, kept, LLVMBuildSelect(b, groups, igi_simt_touch_u32(w, IGI_QUICK_GROUPS), none, ""), "");
    bits |= IGI_QUICK_READ << IGI_QUICK_EVER_SHIFT;
    *next = LLVMBuildOr(b, kept, LLVMBuildOr(b, epoch, igi_simt_touch_u32(w, bits), ""), "");
    return right;
}

static LLVMValueRef has_several_lanes(igi_simt_widener *w) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    if (!w->mask) return LLVMConstInt(w->i1, 1, 0);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, w->mask, bits, "");
    LLVMValueRef rest = LLVMBuildAnd(w->builder, all, LLVMBuildSub(w->builder, all, LLVMConstInt(bits, 1, 0), ""), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, rest, LLVMConstNull(bits), "");
}

// All cells of a value that several lanes read. Leaves the builder where their new contents are stored.
static void read_cells(const igi_simt_touch *t, LLVMBasicBlockRef otherwise) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef infos =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.infos));
    LLVMValueRef first = first_cell(t), right = has_several_lanes(w), places[2][8], next[8];
    LLVMValueRef token = LLVMBuildAdd(b, igi_simt_touch_quick(t, offsetof(igi_simt_quick, token)), t->thread, "");
    uint64_t count = t->size >> (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    for (uint64_t i = 0; i < count && i < 8; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, first, igi_simt_touch_u64(w, i), "");
        places[0][i] = LLVMBuildGEP2(b, w->i32, igi_simt_touch_owners(t), &at, 1, "");
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

// Three cases: the read is known already, it can be checked inline, or a function must be called.
void igi_simt_touch_one(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBasicBlockRef unknown = igi_simt_new_block(w, "unknown"), ask = igi_simt_new_block(w, "ask");
    LLVMBasicBlockRef after = igi_simt_new_block(w, "known");
    LLVMBuildCondBr(w->builder, is_known_read(t), after, unknown);
    LLVMPositionBuilderAtEnd(w->builder, unknown);
    read_cells(t, ask);
    igi_simt_touch_meet_at(w, after, ask);
    igi_simt_touch_lanes(t, true);
    igi_simt_touch_meet_at(w, after, after);
}
