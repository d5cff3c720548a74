// SPDX-License-Identifier: Apache-2.0
// A quick look (checked/quick.h) at what all lanes do at once. Accesses of lanes in a row, or at one address, are checked
// inline (widen-check-cells.c); all others, and unusual cases, call functions.
#include <assert.h>

#include "simt/widen-check.h"

enum { MOST_PIECES = 4, PAGE_BYTES = 1 << IGI_QUICK_PAGE_SHIFT };

// ---- Small things ----

static LLVMValueRef quick_of(igi_simt_widener *w, LLVMValueRef check) {
    return igi_simt_touch_load_constant(w, w->pointer, check, offsetof(igi_simt_checked, quick));
}

static LLVMValueRef call_hook(igi_simt_widener *w, const char *name, LLVMValueRef *arguments, unsigned count) {
    enum { MOST = 12 };
    char full[40] = IGI_CHECKED_PREFIX;
    LLVMTypeRef types[MOST];
    assert(count <= MOST && strlen(full) + strlen(name) < sizeof full);
    strncat(full, name, sizeof full - strlen(full) - 1);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
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

void igi_simt_touch_suspect_unless(igi_simt_widener *w, LLVMValueRef check, LLVMValueRef condition) {
    igi_simt_fork f = igi_simt_touch_fork_if(w, condition);
    call_hook(w, "quick.suspect", &check, 1);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    igi_simt_touch_meet_at(w, f.after, f.after);
}

// ---- Lanes by a function ----

void igi_simt_touch_lanes(const igi_simt_touch *t, bool line) {
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
                                line ? t->first : igi_simt_touch_u64(w, 0),
                                igi_simt_touch_u64(w, line ? (uint64_t)t->shape.stride : 0),
                                memory,
                                spill_mask(w),
                                t->length,
                                igi_simt_touch_u32(w, access)};
    call_hook(w, "quick.lanes", arguments, 11);
}

// ---- Where they are ----

static LLVMValueRef saturating_sub(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef pair[] = {a, b};
    return igi_simt_call_intrinsic(w->builder, "llvm.usub.sat", &w->i64, 1, pair, 2);
}

// Accesses to objects that are seldom written, or not known, are not checked inline.
static bool is_for_function(const igi_simt_touch *t) {
    return t->access & (IGI_PSEUDO_ANYWHERE | IGI_QUICK_SELDOM);
}

static uint64_t needed_alignment(const igi_simt_touch *t) {
    uint64_t alignment = 1ull << (t->access >> IGI_QUICK_ALIGNMENT_SHIFT & 15);
    uint64_t granule = 1ull << (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
    bool cells = (t->access & IGI_QUICK_CELLS) && !is_for_function(t);
    return cells && granule > alignment ? granule : alignment;
}

static bool is_steady(const igi_simt_touch *t, uint64_t alignment) {
    uint64_t own = 1ull << (t->access >> IGI_QUICK_ALIGNMENT_SHIFT & 15);
    return (t->access & IGI_PSEUDO_STEADY) && own == alignment;
}

// Whether the lanes of a line are inside, and all between them.
static LLVMValueRef line_fits(const igi_simt_touch *t) {
    LLVMBuilderRef b = t->w->builder;
    LLVMValueRef offset = LLVMBuildSub(b, t->lowest, t->base, "");
    LLVMValueRef limit = saturating_sub(t->w, t->bytes, LLVMBuildSub(b, t->extent, igi_simt_touch_u64(t->w, 1), ""));
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULT, offset, limit, "fits");
    uint64_t alignment = needed_alignment(t);
    if (alignment == 1) return fits;
    // What does not change in loops is computed before them.
    LLVMValueRef from = is_steady(t, alignment) ? t->base : t->first;
    LLVMValueRef low = LLVMBuildAnd(b, from, igi_simt_touch_u64(t->w, alignment - 1), "");
    return LLVMBuildAnd(b, fits, LLVMBuildICmp(b, LLVMIntEQ, low, igi_simt_touch_u64(t->w, 0), ""), "");
}

static LLVMValueRef lanes_fit(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i64);
    LLVMValueRef at = t->addresses;
    LLVMValueRef limit = saturating_sub(w, t->bytes, igi_simt_touch_u64(w, t->size - 1));
    LLVMValueRef outside = LLVMBuildICmp(b, LLVMIntUGE, LLVMBuildSub(b, at, igi_simt_splat_value(w, t->base), ""),
                                         igi_simt_splat_value(w, limit), "");
    uint64_t alignment = needed_alignment(t);
    if (alignment > 1 && is_steady(t, alignment)) {
        LLVMValueRef low = LLVMBuildAnd(b, t->base, igi_simt_touch_u64(w, alignment - 1), "");
        LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, low, igi_simt_touch_u64(w, 0), "");
        outside = LLVMBuildOr(b, outside, igi_simt_splat_value(w, odd), "");
    } else if (alignment > 1) {
        LLVMValueRef low = LLVMBuildAnd(b, at, igi_simt_splat(type, alignment - 1, false), "");
        outside = LLVMBuildOr(b, outside, LLVMBuildICmp(b, LLVMIntNE, low, LLVMConstNull(type), ""), "");
    }
    if (w->mask) outside = LLVMBuildAnd(b, outside, w->mask, "");
    return LLVMBuildNot(b, igi_simt_any(w, outside), "");
}

// ---- Saving what is written ----

static void save_line(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef begin = igi_simt_touch_load_constant(w, w->i64, t->object, offsetof(igi_simt_checked_object, begin));
    LLVMValueRef saved =
        igi_simt_touch_load_constant(w, w->pointer, t->object, offsetof(igi_simt_checked_object, quick.saved));
    LLVMValueRef offset = LLVMBuildSub(b, t->lowest, begin, ""), shift = igi_simt_touch_u64(w, IGI_QUICK_PAGE_SHIFT);
    LLVMValueRef last = LLVMBuildAdd(b, offset, LLVMBuildSub(b, t->extent, igi_simt_touch_u64(w, 1), ""), ""),
                 both = NULL;
    LLVMValueRef ends[] = {LLVMBuildLShr(b, offset, shift, ""), LLVMBuildLShr(b, last, shift, "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef state = LLVMBuildLoad2(b, w->i8, LLVMBuildGEP2(b, w->i8, saved, &ends[i], 1, ""), "");
        both = both ? LLVMBuildAnd(b, both, state, "") : state;
    }
    igi_simt_fork f = igi_simt_touch_fork_if(w, LLVMBuildICmp(b, LLVMIntNE, both, LLVMConstNull(w->i8), ""));
    LLVMValueRef arguments[] = {t->check, t->object, t->lowest, t->extent};
    call_hook(w, "quick.save", arguments, 4);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    igi_simt_touch_meet_at(w, f.after, f.after);
}

static LLVMValueRef reduce_addresses(const igi_simt_touch *t, const char *name, uint64_t neutral) {
    igi_simt_widener *w = t->w;
    LLVMTypeRef type = LLVMTypeOf(t->addresses);
    LLVMValueRef all = t->addresses;
    if (w->mask) all = LLVMBuildSelect(w->builder, w->mask, all, igi_simt_splat(type, neutral, false), "");
    return igi_simt_call_intrinsic(w->builder, name, &type, 1, &all, 1);
}

// Lanes that are near each other are like a line; what others write is saved lane by lane.
static void save_lanes(const igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    igi_simt_touch line = *t, lanes = *t;
    line.lowest = reduce_addresses(t, "llvm.vector.reduce.umin", UINT64_MAX);
    LLVMValueRef highest = reduce_addresses(t, "llvm.vector.reduce.umax", 0);
    LLVMValueRef distance = LLVMBuildSub(b, highest, line.lowest, "");
    line.extent = LLVMBuildAdd(b, distance, igi_simt_touch_u64(w, t->size), "");
    lanes.access &= ~(uint32_t)(IGI_QUICK_CELLS | IGI_QUICK_RACES | IGI_QUICK_INIT);
    igi_simt_fork f =
        igi_simt_touch_fork_if(w, LLVMBuildICmp(b, LLVMIntULT, distance, igi_simt_touch_u64(w, PAGE_BYTES), ""));
    igi_simt_touch_lanes(&lanes, false);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    save_line(&line);
    igi_simt_touch_meet_at(w, f.after, f.after);
}

// ---- An access ----

static bool has_cells(const igi_simt_touch *t) {
    return t->access & IGI_QUICK_CELLS;
}

// The number of vectors that hold the cells of a row; 0 if it is not a row, or too long.
static uint32_t pieces_of(const igi_simt_touch *t) {
    unsigned granule = t->access >> IGI_QUICK_GRANULE_SHIFT & 15;
    bool row = t->shape.stride > 0 && t->size && (uint64_t)t->shape.stride == t->size && t->span <= PAGE_BYTES;
    uint64_t pieces = row && t->size % (1ull << granule) == 0 ? t->size >> granule : 0;
    return pieces <= MOST_PIECES ? (uint32_t)pieces : 0;
}

static bool is_one_read(const igi_simt_touch *t) {
    enum { MOST_CELLS = 4 };
    unsigned granule = t->access >> IGI_QUICK_GRANULE_SHIFT & 15;
    return t->shape.stride == 0 && t->size && (t->access & IGI_QUICK_ACT) == IGI_ACT_READ &&
           t->size % (1ull << granule) == 0 && t->size >> granule <= MOST_CELLS;
}

static bool fits_granule(const igi_simt_touch *t) {
    return t->size == 1ull << (t->access >> IGI_QUICK_GRANULE_SHIFT & 15);
}

// pre: all lanes are inside
static void visit_line(const igi_simt_touch *t) {
    uint32_t pieces = pieces_of(t);
    bool one = is_one_read(t), saves = t->access & IGI_QUICK_SAVE;
    bool apart = has_cells(t) && !pieces && !one;
    if (is_for_function(t) || (apart && (!fits_granule(t) || !t->shape.stride)) || (saves && t->span > PAGE_BYTES)) {
        igi_simt_touch_lanes(t, true);
        return;
    }
    if (saves) save_line(t);
    if (!has_cells(t)) return;
    if (pieces)
        igi_simt_touch_row(t, pieces);
    else if (one)
        igi_simt_touch_one(t);
    else
        igi_simt_touch_scattered(t);
}

// pre: the same
static void visit_lanes(const igi_simt_touch *t) {
    if (is_for_function(t) || (has_cells(t) && !fits_granule(t))) {
        igi_simt_touch_lanes(t, false);
        return;
    }
    if (t->access & IGI_QUICK_SAVE) save_lanes(t);
    if (has_cells(t)) igi_simt_touch_scattered(t);
}

// Only where there are cells: nobody writes most buffers that are read.
static void visit_if_tracked(const igi_simt_touch *t, bool line) {
    igi_simt_widener *w = t->w;
    bool device = !(t->access & IGI_QUICK_THREADGROUP), saves = t->access & IGI_QUICK_SAVE;
    if (!has_cells(t) && !saves) return;
    if (device && !saves) {
        LLVMValueRef owners = LLVMBuildPtrToInt(w->builder, igi_simt_touch_owners(t), w->i64, "");
        igi_simt_fork f =
            igi_simt_touch_fork_if(w, LLVMBuildICmp(w->builder, LLVMIntEQ, owners, igi_simt_touch_u64(w, 0), ""));
        if (line)
            visit_line(t);
        else
            visit_lanes(t);
        igi_simt_touch_meet_at(w, f.after, f.usual);
        igi_simt_touch_meet_at(w, f.after, f.after);
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
    ends[1] = LLVMBuildSub(b, igi_simt_touch_u64(w, w->width - 1), LLVMBuildIntCast2(b, behind, w->i64, 0, ""), "");
}

static void place_line(igi_simt_touch *t) {
    igi_simt_widener *w = t->w;
    LLVMBuilderRef b = w->builder;
    int64_t stride = t->shape.stride, reach = stride * (int64_t)(w->width - 1);
    t->first = LLVMBuildPtrToInt(b, igi_simt_widen_scalar(w, t->pointer), w->i64, "");
    t->lowest = reach < 0 ? LLVMBuildAdd(b, t->first, igi_simt_touch_u64(w, (uint64_t)reach), "") : t->first;
    t->span = (uint64_t)(reach < 0 ? -reach : reach) + t->size;
    t->extent = igi_simt_touch_u64(w, t->span);
    if (!w->mask || !stride) return;
    LLVMValueRef ends[2], size = igi_simt_touch_u64(w, t->size),
                          step = igi_simt_touch_u64(w, (uint64_t)(stride < 0 ? -stride : stride));
    find_ends(w, ends);
    LLVMValueRef distance = LLVMBuildMul(b, ends[stride < 0], igi_simt_touch_u64(w, (uint64_t)stride), "");
    t->lowest = LLVMBuildAdd(b, t->first, distance, "");
    t->extent = LLVMBuildAdd(b, LLVMBuildMul(b, LLVMBuildSub(b, ends[1], ends[0], ""), step, ""), size, "");
}

static bool keeps_alignment(const igi_simt_touch *t) {
    return t->shape.stride % (int64_t)needed_alignment(t) == 0;
}

static void widen_touch(igi_simt_widener *w, LLVMValueRef call) {
    igi_simt_touch t = {.w = w,
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
                   : igi_simt_touch_load_constant(w, w->i64, t.object, offsetof(igi_simt_checked_object, base));
    t.bytes = fixed ? LLVMGetOperand(call, 5) : igi_simt_touch_load_constant(w, w->i64, t.object, limit);
    bool line =
        t.size && (t.shape.kind == IGI_SHAPE_UNIFORM || t.shape.kind == IGI_SHAPE_LINEAR) && keeps_alignment(&t);
    if (line) place_line(&t);
    if (!line || (t.shape.stride && has_cells(&t) && !pieces_of(&t)))
        t.addresses =
            LLVMBuildPtrToInt(w->builder, igi_simt_widen_vector(w, t.pointer), igi_simt_widen_type(w, w->i64), "");
    if (!line && !t.size) {
        igi_simt_touch_lanes(&t, false);
        return;
    }
    igi_simt_fork f = igi_simt_touch_fork_if(w, line ? line_fits(&t) : lanes_fit(&t));
    igi_simt_touch_lanes(&t, line);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    visit_if_tracked(&t, line);
    igi_simt_touch_meet_at(w, f.after, f.after);
}

// ---- The rest ----

static void widen_unless(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef condition = LLVMGetOperand(call, 1), check = igi_simt_widen_scalar(w, LLVMGetOperand(call, 0));
    if (igi_simt_shape_of(&w->s, condition).kind == IGI_SHAPE_UNIFORM) {
        igi_simt_touch_suspect_unless(w, check, igi_simt_widen_scalar(w, condition));
        return;
    }
    LLVMValueRef wrong = LLVMBuildNot(w->builder, igi_simt_widen_vector(w, condition), "");
    if (w->mask) wrong = LLVMBuildAnd(w->builder, wrong, w->mask, "");
    igi_simt_touch_suspect_unless(w, check, LLVMBuildNot(w->builder, igi_simt_any(w, wrong), ""));
}

static LLVMValueRef count_lanes(igi_simt_widener *w) {
    if (!w->mask) return igi_simt_touch_u32(w, w->width);
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
    igi_simt_fork f = igi_simt_touch_fork_if(w, igi_simt_all(w, w->mask));
    LLVMValueRef arguments[] = {igi_simt_widen_scalar(w, LLVMGetOperand(call, 0)), spill_mask(w),
                                igi_simt_touch_u32(w, w->width)};
    call_hook(w, "quick.part", arguments, 3);
    igi_simt_touch_meet_at(w, f.after, f.usual);
    igi_simt_touch_meet_at(w, f.after, f.after);
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
