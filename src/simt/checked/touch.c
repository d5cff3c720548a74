// SPDX-License-Identifier: Apache-2.0
// Accesses and barriers for a quick look: each is announced by a call, without control flow, so that threads become
// lanes as ever. igi_simt_widen_check makes code of the calls.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/checked/instrument.h"
#include "simt/checked/pseudo.h"

static LLVMValueRef call(igi_simt_instrumenter *in, const char *name, LLVMValueRef *arguments, unsigned count) {
    LLVMValueRef made = igi_simt_call_hook(in, name, in->void_type, arguments, count);
    igi_simt_add_attribute(LLVMGetCalledValue(made), "willreturn");
    return made;
}

// Touches no memory that the program can see.
static void promise_seclusion(igi_simt_instrumenter *in, LLVMValueRef made) {
    enum { INACCESSIBLE_READ_WRITE = 3 << 2 };  // llvm::MemoryEffects
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(in->m->context, kind, INACCESSIBLE_READ_WRITE);
    LLVMAddAttributeAtIndex(LLVMGetCalledValue(made), (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void igi_simt_suspect_unless(igi_simt_instrumenter *in, LLVMValueRef condition) {
    LLVMValueRef arguments[] = {in->check, condition};
    if (LLVMIsAConstantInt(condition) && LLVMConstIntGetZExtValue(condition)) return;
    promise_seclusion(in, call(in, IGI_PSEUDO_UNLESS, arguments, 2));
}

// ---- Granules ----

static unsigned logarithm(uint64_t power) {
    return (unsigned)__builtin_ctzll(power);
}

enum { DEVICE, THREADGROUP, MEMORIES };

// What all accesses have in common.
typedef struct survey {
    uint64_t lengths[MEMORIES];  // of accesses to memory that is written, or-ed
    uint64_t granules[MEMORIES];
    uint64_t read, written;  // bits of slots that are
    bool strays;             // through pointers from memory
} survey;

static bool is_slot(const igi_simt_provenance *of) {
    return of->space == IGI_SPACE_BUFFER || of->space == IGI_SPACE_ARGUMENT;
}

static bool is_threadgroup(const igi_simt_provenance *of) {
    return of->space == IGI_SPACE_VARIABLE || of->space == IGI_SPACE_ARGUMENT;
}

static void survey_slots(const igi_simt_instrumenter *in, const igi_simt_access *a, survey *s) {
    igi_simt_provenance of = igi_simt_trace_pointer(in, a->pointer);
    if (!of.known) return;
    if (of.space == IGI_SPACE_UNKNOWN) s->strays = true;
    if (!is_slot(&of)) return;
    if (igi_simt_is_write(a->act)) s->written |= 1ull << of.index;
    if (a->act != IGI_ACT_WRITE) s->read |= 1ull << of.index;
}

static void survey_lengths(const igi_simt_instrumenter *in, const igi_simt_access *a, survey *s) {
    igi_simt_provenance of = igi_simt_trace_pointer(in, a->pointer);
    if (!of.known || !igi_simt_is_shared(of.space)) return;
    if (of.space == IGI_SPACE_BUFFER && !(s->written >> of.index & 1)) return;
    uint64_t length = LLVMIsAConstantInt(a->length) ? LLVMConstIntGetZExtValue(a->length) : 1;
    s->lengths[is_threadgroup(&of) ? THREADGROUP : DEVICE] |= length;
    if (a->alignment > 1) s->lengths[is_threadgroup(&of) ? THREADGROUP : DEVICE] |= a->alignment;
}

static unsigned all_accesses(const igi_simt_instrumenter *in, LLVMValueRef i, igi_simt_access all[2]) {
    if (igi_simt_is_access(i)) return igi_simt_list_accesses(in, i, all);
    igi_simt_list_matrix_accesses(in, i, all);
    return 2;
}

static void survey_each(const igi_simt_instrumenter *in, const igi_simt_values *all, survey *s,
                        void (*look)(const igi_simt_instrumenter *in, const igi_simt_access *a, survey *s)) {
    for (size_t i = 0; i < all->count; i++) {
        igi_simt_access accesses[2];
        unsigned count = all_accesses(in, all->items[i], accesses);
        for (unsigned k = 0; k < count; k++) look(in, &accesses[k], s);
    }
}

static survey survey_all(const igi_simt_instrumenter *in, const igi_simt_values *all) {
    enum { LARGEST = 16 };
    survey s = {.lengths = {LARGEST, LARGEST}};
    survey_each(in, all, &s, survey_slots);
    survey_each(in, all, &s, survey_lengths);
    // A pointer from memory may point to either.
    if (s.strays) s.lengths[DEVICE] = s.lengths[THREADGROUP] = s.lengths[DEVICE] | s.lengths[THREADGROUP];
    for (int i = 0; i < MEMORIES; i++) s.granules[i] = s.lengths[i] & -s.lengths[i];
    return s;
}

// ---- Private variables ----

// Bytes from the variable to the pointer; NULL when the way there is not straight.
static LLVMValueRef offset_from(igi_simt_instrumenter *in, LLVMValueRef pointer, LLVMValueRef variable) {
    LLVMBuilderRef b = in->builder;
    LLVMValueRef offset = igi_simt_number64(in, 0);
    for (int depth = 0; depth < 16 && pointer != variable; depth++, pointer = LLVMGetOperand(pointer, 0)) {
        if (!LLVMIsAGetElementPtrInst(pointer)) return NULL;
        LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
        for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(pointer); i++) {
            LLVMValueRef index = LLVMGetOperand(pointer, i);
            if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
                unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
                uint64_t bytes = LLVMOffsetOfElement(in->layout, type, field);
                offset = LLVMBuildAdd(b, offset, igi_simt_number64(in, bytes), "");
                type = LLVMStructGetTypeAtIndex(type, field);
                continue;
            }
            if (i > 1) type = LLVMGetElementType(type);
            LLVMValueRef bytes = igi_simt_number64(in, LLVMABISizeOfType(in->layout, type));
            index = LLVMBuildIntCast2(b, index, in->i64, 1, "");
            offset = LLVMBuildAdd(b, offset, LLVMBuildMul(b, index, bytes, ""), "");
        }
    }
    return pointer == variable ? offset : NULL;
}

static void touch_private(igi_simt_instrumenter *in, const igi_simt_access *a, const igi_simt_provenance *of) {
    LLVMBuilderRef b = in->builder;
    if (!(in->checks & IG_CHECK_MEMORY)) return;
    LLVMValueRef offset = offset_from(in, a->pointer, of->base);
    if (!offset)
        offset = LLVMBuildSub(b, LLVMBuildPtrToInt(b, a->pointer, in->i64, ""),
                              LLVMBuildPtrToInt(b, of->base, in->i64, ""), "");
    LLVMValueRef pair[] = {igi_simt_number64(in, of->bytes), a->length};
    LLVMValueRef limit = igi_simt_call_intrinsic(b, "llvm.usub.sat", &in->i64, 1, pair, 2);
    LLVMValueRef reaches = LLVMBuildICmp(b, LLVMIntULE, a->length, pair[0], "");
    igi_simt_suspect_unless(in, LLVMBuildAnd(b, reaches, LLVMBuildICmp(b, LLVMIntULE, offset, limit, ""), ""));
}

// ---- Arrays inside of something larger ----

static LLVMValueRef narrow_index(LLVMValueRef index) {
    return LLVMIsAZExtInst(index) ? LLVMGetOperand(index, 0) : index;
}

static void touch_index(void *user, const igi_simt_array_index *index) {
    igi_simt_instrumenter *in = user;
    LLVMValueRef narrow = narrow_index(LLVMGetOperand(index->gep, index->operand));
    LLVMTypeRef type = LLVMTypeOf(narrow);
    if (LLVMGetIntTypeWidth(type) < 64 && index->length >> LLVMGetIntTypeWidth(type)) return;
    LLVMValueRef length = LLVMConstInt(type, index->length, 0);
    igi_simt_suspect_unless(in, LLVMBuildICmp(in->builder, LLVMIntULT, narrow, length, "in_array"));
}

// ---- Shared memory ----

// Where the access may be: an object, or base and bytes where those are constants.
typedef struct bounds {
    LLVMValueRef object, base, bytes;
} bounds;

static bounds find_bounds(igi_simt_instrumenter *in, LLVMValueRef i, const igi_simt_access *a,
                          const igi_simt_provenance *of) {
    bounds found = {LLVMConstNull(in->pointer), LLVMConstNull(in->pointer), igi_simt_number64(in, of->bytes)};
    switch (of->space) {
        case IGI_SPACE_BUFFER:
        case IGI_SPACE_ARGUMENT: found.object = igi_simt_object_at(in, of->index); break;
        case IGI_SPACE_UNKNOWN: found.object = igi_simt_find_object(in, of->base); break;
        case IGI_SPACE_VARIABLE: found.object = igi_simt_object_at(in, IGI_CHECKED_STATICS); break;
        default: break;
    }
    LLVMPositionBuilderBefore(in->builder, i);
    if (of->space == IGI_SPACE_VARIABLE || of->space == IGI_SPACE_CONSTANT) found.base = of->base;
    if (of->space == IGI_SPACE_CONSTANT && igi_simt_is_write(a->act)) found.bytes = igi_simt_number64(in, 0);
    return found;
}

// Whether all that is added to the pointer's beginning are multiples of the alignment.
static bool steps_are_whole(const igi_simt_instrumenter *in, LLVMValueRef pointer, uint64_t alignment) {
    for (; LLVMIsAGetElementPtrInst(pointer); pointer = LLVMGetOperand(pointer, 0)) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
        if (LLVMABISizeOfType(in->layout, type) % alignment) return false;
        for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(pointer); i++) {
            LLVMValueRef index = LLVMGetOperand(pointer, i);
            bool structure = LLVMGetTypeKind(type) == LLVMStructTypeKind;
            unsigned field = structure ? (unsigned)LLVMConstIntGetZExtValue(index) : 0;
            if (structure && LLVMOffsetOfElement(in->layout, type, field) % alignment) return false;
            type = structure ? LLVMStructGetTypeAtIndex(type, field) : LLVMGetElementType(type);
            if (!structure && LLVMABISizeOfType(in->layout, type) % alignment) return false;
        }
    }
    return LLVMIsALoadInst(pointer) || igi_simt_calls(pointer, "ig.object");
}

// What is written and never read is written again when the dispatch runs again: it need not be saved.
static bool is_only_written(const igi_simt_provenance *of, const survey *s) {
    return of->space == IGI_SPACE_BUFFER && !s->strays && !(s->read >> of->index & 1);
}

static uint32_t describe(const igi_simt_instrumenter *in, const igi_simt_access *a, const igi_simt_provenance *of,
                         const survey *s) {
    bool shared = igi_simt_is_shared(of->space), reads = !igi_simt_is_write(a->act);
    bool threadgroup = is_threadgroup(of);
    bool device = of->space == IGI_SPACE_BUFFER || of->space == IGI_SPACE_UNKNOWN;
    uint32_t access = a->act | logarithm(s->granules[threadgroup ? THREADGROUP : DEVICE]) << IGI_QUICK_GRANULE_SHIFT;
    if (a->alignment > 1) access |= logarithm(a->alignment) << IGI_QUICK_ALIGNMENT_SHIFT;
    if (of->space != IGI_SPACE_UNKNOWN && steps_are_whole(in, a->pointer, a->alignment)) access |= IGI_PSEUDO_STEADY;
    if (threadgroup) access |= IGI_QUICK_THREADGROUP;
    if (in->checks & IG_CHECK_MEMORY) access |= IGI_QUICK_BOUNDS;
    bool races = (in->checks & IG_CHECK_RACES) && shared;
    bool init = (in->checks & IG_CHECK_INIT) && shared && of->space != IGI_SPACE_BUFFER;
    if (races) access |= IGI_QUICK_RACES;
    if (init && reads) access |= IGI_QUICK_INIT;
    if (races || init) access |= (uint32_t)IGI_QUICK_CELLS;
    if (device && !reads && !is_only_written(of, s)) access |= IGI_QUICK_SAVE;
    if (of->space == IGI_SPACE_UNKNOWN) access |= IGI_PSEUDO_ANYWHERE;
    if (of->space == IGI_SPACE_BUFFER && !(s->written >> of->index & 1)) access |= IGI_QUICK_SELDOM;
    return access;
}

static void touch_shared(igi_simt_instrumenter *in, LLVMValueRef i, const igi_simt_access *a,
                         const igi_simt_provenance *of, const survey *s) {
    uint32_t access = describe(in, a, of, s);
    if (!(access & (IGI_QUICK_BOUNDS | IGI_QUICK_CELLS | IGI_QUICK_SAVE))) return;
    bounds where = find_bounds(in, i, a, of);
    LLVMValueRef arguments[] = {in->check,  in->thread,  a->pointer, where.object,
                                where.base, where.bytes, a->length,  igi_simt_number32(in, access)};
    bool saves = access & IGI_QUICK_SAVE;
    LLVMValueRef made = call(in, saves ? IGI_PSEUDO_WRITE : IGI_PSEUDO_TOUCH, arguments, 8);
    if (!saves) promise_seclusion(in, made);
}

static void touch(igi_simt_instrumenter *in, LLVMValueRef i, const igi_simt_access *a, const survey *s) {
    bool inside = false;
    igi_simt_provenance of = igi_simt_trace_pointer(in, a->pointer);
    if (!of.known || igi_simt_is_function_constant(&of)) return;
    igi_simt_is_out_of_place(in, a, &inside);
    if (inside) return;
    LLVMPositionBuilderBefore(in->builder, i);
    LLVMSetCurrentDebugLocation2(in->builder, LLVMInstructionGetDebugLoc(i));
    if (in->checks & IG_CHECK_MEMORY) igi_simt_visit_array_indices(a->pointer, touch_index, in);
    if (of.space == IGI_SPACE_PRIVATE)
        touch_private(in, a, &of);
    else
        touch_shared(in, i, a, &of, s);
}

static bool is_any_access(LLVMValueRef i) {
    return igi_simt_is_access(i) || igi_simt_is_matrix_access(i);
}

void igi_simt_touch_accesses(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_any_access, &all)) {
        in->failed = true;
        return;
    }
    in->sites.too_many |= all.count > IGI_CHECKED_MAX_SITES;
    survey s = survey_all(in, &all);
    in->m->info.granules[0] = logarithm(s.granules[DEVICE]);
    in->m->info.granules[1] = logarithm(s.granules[THREADGROUP]);
    in->m->info.unsaved = s.strays ? 0 : (uint32_t)(s.written & ~s.read);
    for (size_t i = 0; i < all.count; i++) {
        igi_simt_access accesses[2];
        unsigned count = all_accesses(in, all.items[i], accesses);
        for (unsigned k = 0; k < count; k++) touch(in, all.items[i], &accesses[k], &s);
    }
    igi_simt_values_free(&all);
}

// ---- Barriers and lanes ----

static bool is_barrier(LLVMValueRef i) {
    return igi_simt_calls(i, "__ig_barrier");
}

// What needs all lanes of a simdgroup, or asks another lane.
static bool needs_lanes(LLVMValueRef i) {
    static const char *const names[] = {"__ig_simd_barrier", "__ig_shuffle_", "__ig_rotate_", "__ig_mma_"};
    const char *name = igi_simt_callee_name(i);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0) return true;
    return false;
}

static void announce_meeting(igi_simt_instrumenter *in, LLVMValueRef barrier) {
    LLVMPositionBuilderBefore(in->builder, barrier);
    uint32_t site = igi_simt_add_site(in, barrier, IGI_ACT_BARRIER, NULL, 0, 0);
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, site), LLVMGetOperand(barrier, 0)};
    call(in, IGI_PSEUDO_MEET, arguments, 4);
}

static void announce_lanes(igi_simt_instrumenter *in, LLVMValueRef operation) {
    LLVMPositionBuilderBefore(in->builder, operation);
    LLVMValueRef arguments[] = {in->check};
    promise_seclusion(in, call(in, IGI_PSEUDO_TOGETHER, arguments, 1));
}

void igi_simt_touch_waits(igi_simt_instrumenter *in) {
    bool epochs = in->checks & (IG_CHECK_RACES | IG_CHECK_SYNC);
    if (epochs) igi_simt_instrument_all(in, is_barrier, announce_meeting);
    if (in->checks & IG_CHECK_SYNC) igi_simt_instrument_all(in, needs_lanes, announce_lanes);
}
