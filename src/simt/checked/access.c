// SPDX-License-Identifier: Apache-2.0
// Every access to memory: whether it is inside its object, and which other threads access the same bytes.
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/checked/instrument.h"

typedef igi_simt_access access;

// What is known about an access while its checks are built.
typedef struct guard {
    igi_simt_provenance of;
    LLVMValueRef object;  // igi_simt_checked_object or null
    LLVMValueRef base, bytes, address;
    uint32_t site;
} guard;

// ---- What accesses memory ----

static bool is_copy(LLVMValueRef i) {
    const char *name = igi_simt_callee_name(i);
    return strncmp(name, "llvm.memcpy.", 12) == 0 || strncmp(name, "llvm.memmove.", 13) == 0;
}

static bool is_fill(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.memset.", 12) == 0;
}

bool igi_simt_is_access(LLVMValueRef i) {
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
           is_copy(i) || is_fill(i);
}

static LLVMValueRef store_size(const igi_simt_instrumenter *in, LLVMTypeRef type) {
    return igi_simt_number64(in, LLVMStoreSizeOfType(in->layout, type));
}

static bool is_number(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMVectorTypeKind) kind = LLVMGetTypeKind(LLVMGetElementType(type));
    return kind == LLVMIntegerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind ||
           kind == LLVMBFloatTypeKind;
}

// Vectors need only the alignment of their elements: working kernels rely on it.
static uint32_t needed_alignment(const igi_simt_instrumenter *in, LLVMTypeRef type, uint32_t promised) {
    uint64_t natural = LLVMStoreSizeOfType(in->layout, igi_simt_element_type(type));
    return natural < promised ? (uint32_t)natural : promised;
}

unsigned igi_simt_list_accesses(const igi_simt_instrumenter *in, LLVMValueRef i, access all[2]) {
    if (LLVMIsALoadInst(i)) {
        bool atomic = LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
        all[0] =
            (access){LLVMGetOperand(i, 0), store_size(in, LLVMTypeOf(i)), atomic ? IGI_ACT_ATOMIC_READ : IGI_ACT_READ,
                     needed_alignment(in, LLVMTypeOf(i), LLVMGetAlignment(i)), false};
        return 1;
    }
    if (LLVMIsAStoreInst(i)) {
        bool atomic = LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0));
        all[0] = (access){LLVMGetOperand(i, 1), store_size(in, type), atomic ? IGI_ACT_ATOMIC_WRITE : IGI_ACT_WRITE,
                          needed_alignment(in, type, LLVMGetAlignment(i)), !atomic && is_number(type)};
        return 1;
    }
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 1));
        all[0] = (access){LLVMGetOperand(i, 0), store_size(in, type), IGI_ACT_ATOMIC_WRITE,
                          (uint32_t)LLVMStoreSizeOfType(in->layout, type), false};
        return 1;
    }
    all[0] = (access){LLVMGetOperand(i, 0), LLVMGetOperand(i, 2), IGI_ACT_WRITE, 1, is_fill(i)};
    all[1] = (access){LLVMGetOperand(i, 1), LLVMGetOperand(i, 2), IGI_ACT_READ, 1, false};
    return is_copy(i) ? 2 : 1;
}

// ---- Constant places ----

bool igi_simt_is_out_of_place(const igi_simt_instrumenter *in, const access *a, bool *inside) {
    LLVMValueRef variable;
    int64_t offset;
    *inside = false;
    if (!LLVMIsAConstantInt(a->length) || !igi_simt_constant_place(in, a->pointer, &variable, &offset)) return false;
    uint64_t bytes = igi_simt_variable_bytes(in, variable), length = LLVMConstIntGetZExtValue(a->length);
    *inside = offset >= 0 && igi_in_range((uint64_t)offset, length, bytes);
    return !*inside;
}

static LLVMValueRef address_of(igi_simt_instrumenter *in, LLVMValueRef pointer) {
    return LLVMBuildPtrToInt(in->builder, pointer, in->i64, "");
}

static void report(igi_simt_instrumenter *in, const guard *g) {
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, g->site), g->address, g->base,
                                g->bytes,  g->object};
    igi_simt_call_hook(in, "outside", in->void_type, arguments, 7);
}

static uint32_t add_site(igi_simt_instrumenter *in, LLVMValueRef i, const access *a, const igi_simt_provenance *of) {
    uint64_t bytes = LLVMIsAConstantInt(a->length) ? LLVMConstIntGetZExtValue(a->length) : 0;
    uint32_t site = igi_simt_add_site(in, i, a->act, of, bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes, 0);
    if (site < in->sites.count) in->sites.items[site].alignment = a->alignment;
    return site;
}

static void replace_by_report(igi_simt_instrumenter *in, LLVMValueRef i, const access *a) {
    igi_simt_provenance of = igi_simt_trace_pointer(in, a->pointer);
    LLVMPositionBuilderBefore(in->builder, i);
    guard g = {.of = of,
               .object = LLVMConstNull(in->pointer),
               .base = address_of(in, of.base),
               .bytes = igi_simt_number64(in, of.bytes),
               .address = address_of(in, a->pointer),
               .site = add_site(in, i, a, &of)};
    report(in, &g);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(i, LLVMConstNull(LLVMTypeOf(i)));
    LLVMInstructionEraseFromParent(i);
}

void igi_simt_instrument_constant_places(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!(in->checks & IG_CHECK_MEMORY)) return;
    if (!igi_simt_collect(in->m->thread, igi_simt_is_access, &all)) {
        in->failed = true;
        return;
    }
    for (size_t k = 0; k < all.count; k++) {
        access accesses[2];
        bool inside;
        unsigned count = igi_simt_list_accesses(in, all.items[k], accesses);
        for (unsigned i = 0; i < count; i++) {
            if (!igi_simt_is_out_of_place(in, &accesses[i], &inside)) continue;
            replace_by_report(in, all.items[k], &accesses[i]);
            break;
        }
    }
    igi_simt_values_free(&all);
}

// ---- Objects ----

LLVMValueRef igi_simt_object_at(igi_simt_instrumenter *in, uint32_t index) {
    return igi_simt_field(in->builder, in->check,
                          offsetof(igi_simt_checked, objects) + (size_t)index * sizeof(igi_simt_checked_object));
}

static LLVMValueRef object_field(igi_simt_instrumenter *in, LLVMValueRef object, size_t offset) {
    LLVMValueRef load = LLVMBuildLoad2(in->builder, in->i64, igi_simt_field(in->builder, object, offset), "");
    unsigned kind = LLVMGetMDKindIDInContext(in->m->context, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(in->m->context, LLVMMDNodeInContext2(in->m->context, NULL, 0)));
    return load;
}

void igi_simt_position_after(igi_simt_instrumenter *in, LLVMValueRef value) {
    LLVMValueRef at = LLVMGetNextInstruction(LLVMIsAInstruction(value) ? value : in->thread);
    while (at && LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
    if (at)
        LLVMPositionBuilderBefore(in->builder, at);
    else
        LLVMPositionBuilderAtEnd(in->builder, LLVMGetInstructionParent(value));
}

LLVMValueRef igi_simt_find_object(igi_simt_instrumenter *in, LLVMValueRef base) {
    for (size_t i = 0; i < in->found_count; i++)
        if (in->found[i].base == base) return in->found[i].object;
    LLVMBasicBlockRef block = LLVMGetInsertBlock(in->builder);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(in->builder);
    igi_simt_position_after(in, base);
    LLVMValueRef arguments[] = {in->check, address_of(in, base)};
    LLVMValueRef object = igi_simt_call_hook(in, "find", in->pointer, arguments, 2);
    LLVMPositionBuilderAtEnd(in->builder, block);
    LLVMSetCurrentDebugLocation2(in->builder, place);
    if (!igi_grow((void **)&in->found, &in->found_capacity, in->found_count + 1, sizeof *in->found)) {
        in->failed = true;
        return object;
    }
    in->found[in->found_count++] = (igi_simt_found_object){base, object};
    return object;
}

// pre: the builder is at the end of a block
static void find_bounds(igi_simt_instrumenter *in, const access *a, guard *g) {
    assert(!LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(in->builder)));
    bool write = igi_simt_is_write(a->act);
    switch (g->of.space) {
        case IGI_SPACE_BUFFER:
        case IGI_SPACE_ARGUMENT: g->object = igi_simt_object_at(in, g->of.index); break;
        case IGI_SPACE_UNKNOWN:
        case IGI_SPACE_PART: g->object = igi_simt_find_object(in, g->of.base); break;
        case IGI_SPACE_VARIABLE: g->object = igi_simt_object_at(in, IGI_CHECKED_STATICS); break;
        default: g->object = LLVMConstNull(in->pointer);
    }
    g->address = address_of(in, a->pointer);
    if (g->of.space == IGI_SPACE_VARIABLE || g->of.space == IGI_SPACE_PRIVATE || g->of.space == IGI_SPACE_CONSTANT) {
        g->base = address_of(in, g->of.base);
        g->bytes = igi_simt_number64(in, write && g->of.space == IGI_SPACE_CONSTANT ? 0 : g->of.bytes);
        return;
    }
    if (g->of.space == IGI_SPACE_PART) {
        g->base = address_of(in, g->of.base);
        g->bytes = LLVMGetOperand(g->of.base, 1);
        return;
    }
    g->base = object_field(in, g->object, offsetof(igi_simt_checked_object, base));
    g->bytes =
        object_field(in, g->object,
                     write ? offsetof(igi_simt_checked_object, writable) : offsetof(igi_simt_checked_object, readable));
}

// ---- Conditions ----

static LLVMValueRef is_inside(igi_simt_instrumenter *in, const access *a, const guard *g) {
    LLVMBuilderRef b = in->builder;
    LLVMValueRef offset = LLVMBuildSub(b, g->address, g->base, "offset");
    LLVMValueRef one = igi_simt_number64(in, 1);
    LLVMValueRef arguments[] = {g->bytes, LLVMBuildSub(b, a->length, one, "")};
    LLVMValueRef limit = igi_simt_call_intrinsic(b, "llvm.usub.sat", &in->i64, 1, arguments, 2);
    LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, offset, limit, "inside");
    if (LLVMIsAConstantInt(a->length)) return inside;
    return LLVMBuildOr(b, inside, LLVMBuildICmp(b, LLVMIntEQ, a->length, igi_simt_number64(in, 0), ""), "");
}

static LLVMValueRef is_aligned(igi_simt_instrumenter *in, const access *a, const guard *g) {
    LLVMValueRef low = LLVMBuildAnd(in->builder, g->address, igi_simt_number64(in, a->alignment - 1), "");
    return LLVMBuildICmp(in->builder, LLVMIntEQ, low, igi_simt_number64(in, 0), "aligned");
}

typedef struct array_check {
    igi_simt_instrumenter *in;
    guard *g;
    LLVMValueRef ok;
} array_check;

// If the index leaves the array, g->base and g->bytes become those of the array.
static void check_array_index(void *user, const igi_simt_array_index *index) {
    array_check *check = user;
    igi_simt_instrumenter *in = check->in;
    guard *g = check->g;
    LLVMBuilderRef b = in->builder;
    LLVMValueRef position = LLVMGetOperand(index->gep, index->operand), indices[IGI_MAX_INDICES];
    LLVMTypeRef type = LLVMTypeOf(position);
    LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, position, LLVMConstInt(type, index->length, 0), "in_array");
    for (unsigned i = 1; i < index->operand; i++) indices[i - 1] = LLVMGetOperand(index->gep, i);
    indices[index->operand - 1] = LLVMConstNull(type);
    LLVMValueRef array = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(index->gep), LLVMGetOperand(index->gep, 0),
                                       indices, index->operand, "");
    uint64_t bytes = index->length * LLVMABISizeOfType(in->layout, index->element);
    g->base = LLVMBuildSelect(b, inside, g->base, address_of(in, array), "");
    g->bytes = LLVMBuildSelect(b, inside, g->bytes, igi_simt_number64(in, bytes), "");
    check->ok = LLVMBuildAnd(b, check->ok, inside, "");
}

static LLVMValueRef keeps_to_arrays(igi_simt_instrumenter *in, LLVMValueRef pointer, LLVMValueRef ok, guard *g) {
    array_check check = {in, g, ok};
    igi_simt_visit_array_indices(pointer, check_array_index, &check);
    return check.ok;
}

// ---- Code ----

// A block that calls the hook for an access outside of its object, and ends in a branch to `next`.
static LLVMBasicBlockRef build_report(igi_simt_instrumenter *in, const guard *g, LLVMBasicBlockRef join) {
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(in->m->context, in->m->thread, "outside");
    LLVMPositionBuilderAtEnd(in->builder, block);
    report(in, g);
    LLVMBuildBr(in->builder, join);
    return block;
}

// Whether a store would change nothing.
static LLVMValueRef is_stored(igi_simt_instrumenter *in, LLVMValueRef store) {
    LLVMBuilderRef b = in->builder;
    LLVMValueRef value = LLVMGetOperand(store, 0);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef bits = LLVMIntTypeInContext(in->m->context, (unsigned)LLVMSizeOfTypeInBits(in->layout, type));
    LLVMValueRef old = LLVMBuildLoad2(b, type, LLVMGetOperand(store, 1), "");
    LLVMSetAlignment(old, LLVMGetAlignment(store));
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildBitCast(b, old, bits, ""),
                                      LLVMBuildFreeze(b, LLVMBuildBitCast(b, value, bits, ""), ""), "");
    return LLVMBuildZExt(b, same, in->i32, "");
}

// Whether memset would change nothing: threadgroup variables with an initialiser are filled by every thread.
static LLVMValueRef is_filled(igi_simt_instrumenter *in, LLVMValueRef fill) {
    LLVMValueRef byte = LLVMBuildZExt(in->builder, LLVMGetOperand(fill, 1), in->i32, "");
    LLVMValueRef length = LLVMBuildZExtOrBitCast(in->builder, LLVMGetOperand(fill, 2), in->i64, "");
    LLVMValueRef arguments[] = {address_of(in, LLVMGetOperand(fill, 0)), length, byte};
    return igi_simt_call_hook(in, "filled", in->i32, arguments, 3);
}

// For two conflicting plain writes: do they write the same value? The builder continues after it.
static void build_comparison(igi_simt_instrumenter *in, LLVMValueRef store, LLVMValueRef conflict, const guard *g) {
    LLVMBuilderRef b = in->builder;
    LLVMContextRef context = in->m->context;
    LLVMBasicBlockRef compare = LLVMAppendBasicBlockInContext(context, in->m->thread, "conflict");
    LLVMBasicBlockRef go_on = LLVMAppendBasicBlockInContext(context, in->m->thread, "written");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, conflict, igi_simt_number32(in, 0), ""), go_on, compare);
    LLVMPositionBuilderAtEnd(b, compare);
    LLVMValueRef same = is_fill(store) ? is_filled(in, store) : is_stored(in, store);
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, g->site), same};
    igi_simt_call_hook(in, "conflict", in->void_type, arguments, 4);
    LLVMBuildBr(b, go_on);
    LLVMPositionBuilderAtEnd(b, go_on);
}

// Memory that nobody writes needs no record. The builder continues where there are cells; the other path leads to
// *without.
static void skip_without_cells(igi_simt_instrumenter *in, const guard *g, LLVMBasicBlockRef without) {
    LLVMBuilderRef b = in->builder;
    LLVMBasicBlockRef with = LLVMAppendBasicBlockInContext(in->m->context, in->m->thread, "tracked");
    LLVMValueRef cells = object_field(in, g->object, offsetof(igi_simt_checked_object, cells));
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, cells, igi_simt_number64(in, 0), ""), without, with);
    LLVMPositionBuilderAtEnd(b, with);
}

static void build_race_check(igi_simt_instrumenter *in, LLVMValueRef i, const access *a, const guard *g) {
    LLVMBuilderRef b = in->builder;
    if (!(in->checks & IG_CHECK_RACES) || !igi_simt_is_shared(g->of.space)) return;
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(in->m->context, in->m->thread, "recorded");
    skip_without_cells(in, g, after);
    uint64_t flags = (uint64_t)a->act << IGI_CHECKED_ACT_SHIFT | (a->comparable ? IGI_CHECKED_COMPARABLE : 0);
    LLVMValueRef most[] = {a->length, igi_simt_number64(in, IGI_CHECKED_MAX_BYTES)};
    LLVMValueRef length = igi_simt_call_intrinsic(b, "llvm.umin", &in->i64, 1, most, 2);
    LLVMValueRef bytes_and_act =
        LLVMBuildOr(b, LLVMBuildTrunc(b, length, in->i32, ""), igi_simt_number32(in, flags), "");
    LLVMValueRef arguments[] = {in->check,  in->thread, igi_simt_number32(in, g->site),
                                g->address, g->object,  bytes_and_act};
    LLVMValueRef conflict = igi_simt_call_hook(in, "access", in->i32, arguments, 6);
    if (a->comparable) build_comparison(in, i, conflict, g);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, after);
}

// LLVM turns selects between bfloats into calls.
static LLVMTypeRef joined_type(LLVMTypeRef type) {
    return LLVMGetTypeKind(igi_simt_element_type(type)) == LLVMBFloatTypeKind ? igi_simt_integers_like(type, 16) : type;
}

static LLVMValueRef cast(igi_simt_instrumenter *in, LLVMValueRef value, LLVMTypeRef type) {
    if (LLVMTypeOf(value) == type) return value;
    LLVMValueRef made = LLVMBuildBitCast(in->builder, value, type, "");
    igi_simt_mark_own(in, made);
    return made;
}

// Users of the value get it, or zero if the access was skipped. pre: the builder is after the instruction.
static void join_values(igi_simt_instrumenter *in, LLVMValueRef i, LLVMBasicBlockRef join, LLVMBasicBlockRef *reports) {
    LLVMTypeRef type = LLVMTypeOf(i), joined = joined_type(type);
    LLVMBasicBlockRef done = LLVMGetInsertBlock(in->builder);
    LLVMValueRef carried = cast(in, i, joined), zero = LLVMConstNull(joined);
    LLVMBuildBr(in->builder, join);
    LLVMPositionBuilderBefore(in->builder, LLVMGetFirstInstruction(join));
    LLVMValueRef phi = LLVMBuildPhi(in->builder, joined, "");
    igi_simt_mark_own(in, phi);
    LLVMValueRef result = cast(in, phi, type);
    LLVMReplaceAllUsesWith(i, result);
    if (carried != i) LLVMSetOperand(carried, 0, i);
    LLVMAddIncoming(phi, carried == i ? &i : &carried, &done, 1);
    for (unsigned k = 0; k < 2; k++)
        if (reports[k]) LLVMAddIncoming(phi, &zero, &reports[k], 1);
}

// The instruction moves into a block that is skipped if one of its addresses is wrong; its value is then zero.
static void guard_instruction(igi_simt_instrumenter *in, LLVMValueRef i, const access *accesses, guard *guards,
                              unsigned count) {
    LLVMContextRef context = in->m->context;
    LLVMBuilderRef b = in->builder;
    bool memory = in->checks & IG_CHECK_MEMORY, has_value = LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
    LLVMBasicBlockRef join = LLVMGetInstructionParent(i), head = igi_simt_split_before(i), reports[2] = {NULL, NULL};
    LLVMPositionBuilderAtEnd(b, head);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
    for (unsigned k = 0; k < count; k++) {
        guard *g = &guards[k];
        bool inside_always = false;
        if (g->of.space == IGI_SPACE_PRIVATE) igi_simt_is_out_of_place(in, &accesses[k], &inside_always);
        find_bounds(in, &accesses[k], g);
        if (!memory || inside_always) continue;
        LLVMValueRef ok = is_inside(in, &accesses[k], g);
        ok = keeps_to_arrays(in, accesses[k].pointer, ok, g);
        if (accesses[k].alignment > 1) ok = LLVMBuildAnd(b, ok, is_aligned(in, &accesses[k], g), "ok");
        LLVMBasicBlockRef from = LLVMGetInsertBlock(b);
        LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(context, in->m->thread, "inside");
        reports[k] = build_report(in, g, join);
        LLVMPositionBuilderAtEnd(b, from);
        LLVMBuildCondBr(b, ok, inside, reports[k]);
        LLVMPositionBuilderAtEnd(b, inside);
    }
    for (unsigned k = 0; k < count; k++) build_race_check(in, i, &accesses[k], &guards[k]);
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilderWithName(b, i, "");
    if (has_value && (reports[0] || reports[1]))
        join_values(in, i, join, reports);
    else
        LLVMBuildBr(b, join);
}

// One without a value must disappear if it is not used.
bool igi_simt_is_function_constant(const igi_simt_provenance *of) {
    return of->space == IGI_SPACE_CONSTANT && LLVMIsDeclaration(of->base);
}

static void instrument(igi_simt_instrumenter *in, LLVMValueRef i) {
    access accesses[2];
    guard guards[2];
    unsigned count = igi_simt_list_accesses(in, i, accesses), needed = 0;
    for (unsigned k = 0; k < count; k++) {
        bool inside = false;
        guards[k] = (guard){.of = igi_simt_trace_pointer(in, accesses[k].pointer)};
        if (!guards[k].of.known || igi_simt_is_function_constant(&guards[k].of)) return;
        igi_simt_is_out_of_place(in, &accesses[k], &inside);
        needed += !inside;
    }
    if (!needed) return;
    for (unsigned k = 0; k < count; k++) guards[k].site = add_site(in, i, &accesses[k], &guards[k].of);
    guard_instruction(in, i, accesses, guards, count);
}

// ---- simdgroup matrices, if they are not split ----

static bool is_matrix_load(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "__ig_matrix_load_", 17) == 0;
}

bool igi_simt_is_matrix_access(LLVMValueRef i) {
    return is_matrix_load(i) || strncmp(igi_simt_callee_name(i), "__ig_matrix_store_", 18) == 0;
}

// All lanes execute it together, so it cannot be skipped: errors are only reported.
static void report_only(igi_simt_instrumenter *in, LLVMValueRef i, const access *a) {
    guard g = {.of = igi_simt_trace_pointer(in, a->pointer)};
    if (!g.of.known) return;
    g.site = add_site(in, i, a, &g.of);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(i), head = igi_simt_split_before(i);
    LLVMPositionBuilderAtEnd(in->builder, head);
    find_bounds(in, a, &g);
    LLVMValueRef ok = is_inside(in, a, &g);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(in->builder), outside = build_report(in, &g, rest);
    LLVMPositionBuilderAtEnd(in->builder, from);
    LLVMBuildCondBr(in->builder, ok, rest, outside);
}

// The two elements of a lane are at two addresses.
void igi_simt_list_matrix_accesses(const igi_simt_instrumenter *in, LLVMValueRef i, access all[2]) {
    bool load = is_matrix_load(i);
    bool floats = strstr(igi_simt_callee_name(i), "_f32") != NULL;
    for (unsigned k = 0; k < 2; k++)
        all[k] = (access){LLVMGetOperand(i, load ? k : k + 1), igi_simt_number64(in, floats ? 4 : 2),
                          load ? IGI_ACT_READ : IGI_ACT_WRITE, 1, false};
}

static void instrument_matrix(igi_simt_instrumenter *in, LLVMValueRef i) {
    access all[2];
    igi_simt_list_matrix_accesses(in, i, all);
    for (unsigned k = 0; k < 2; k++) report_only(in, i, &all[k]);
}

static void instrument_matrices(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, igi_simt_is_matrix_access, &all)) {
        in->failed = true;
        return;
    }
    for (size_t k = 0; k < all.count; k++) instrument_matrix(in, all.items[k]);
    igi_simt_values_free(&all);
}

void igi_simt_instrument_accesses(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!(in->checks & (IG_CHECK_MEMORY | IG_CHECK_RACES))) return;
    if (!igi_simt_collect(in->m->thread, igi_simt_is_access, &all)) {
        in->failed = true;
        return;
    }
    for (size_t k = 0; k < all.count; k++) instrument(in, all.items[k]);
    igi_simt_values_free(&all);
    if (in->checks & IG_CHECK_MEMORY) instrument_matrices(in);
}
