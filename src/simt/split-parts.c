// SPDX-License-Identifier: Apache-2.0
// The registers that a vector of many becomes (split.h).
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/split.h"

// ---- Intrinsics ----

static bool is_named(LLVMValueRef call, const char *const *names, size_t count) {
    const char *name = igi_simt_callee_name(call);
    for (size_t k = 0; k < count; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0) return true;
    return false;
}

bool igi_simt_split_is_masked_read(LLVMValueRef i) {
    static const char *const names[] = {"llvm.masked.load.", "llvm.masked.gather."};
    return LLVMIsACallInst(i) && is_named(i, names, 2);
}

bool igi_simt_split_is_masked_write(LLVMValueRef i) {
    static const char *const names[] = {"llvm.masked.store.", "llvm.masked.scatter."};
    return LLVMIsACallInst(i) && is_named(i, names, 2);
}

// With one overloaded type, that of the result and of all vectors among the operands.
static bool is_simple(LLVMValueRef call) {
    static const char *const names[] = {
        "llvm.fma.",   "llvm.fmuladd.", "llvm.sqrt.",  "llvm.fabs.",     "llvm.minnum.", "llvm.maxnum.",
        "llvm.floor.", "llvm.ceil.",    "llvm.trunc.", "llvm.rint.",     "llvm.round.",  "llvm.roundeven.",
        "llvm.umin.",  "llvm.umax.",    "llvm.smin.",  "llvm.smax.",     "llvm.abs.",    "llvm.copysign.",
        "llvm.fshl.",  "llvm.fshr.",    "llvm.ctpop.", "llvm.nearbyint."};
    return is_named(call, names, sizeof names / sizeof *names);
}

bool igi_simt_split_is_elementwise_call(LLVMValueRef i) {
    return is_simple(i) || igi_simt_split_is_masked_read(i) || igi_simt_split_is_masked_write(i);
}

// ---- Parts ----

static LLVMTypeRef part_type(const igi_simt_splitter *s, LLVMTypeRef type) {
    return LLVMVectorType(LLVMGetElementType(type), s->each);
}

bool igi_simt_split_has_parts(const igi_simt_splitter *s, LLVMValueRef value) {
    uint32_t first;
    return LLVMIsAInstruction(value) && igi_map_get(&s->first, value, &first);
}

static unsigned part_count(const igi_simt_splitter *s, LLVMValueRef i) {
    bool write = LLVMIsAStoreInst(i) || igi_simt_split_is_masked_write(i);
    return LLVMGetVectorSize(LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i)) / s->each;
}

bool igi_simt_split_note(igi_simt_splitter *s, LLVMValueRef i) {
    if (!igi_map_set(&s->first, i, (uint32_t)s->parts.count) || !igi_simt_values_add(&s->split, i)) return false;
    for (unsigned k = 0; k < part_count(s, i); k++)
        if (!igi_simt_values_add(&s->parts, NULL)) return false;
    return true;
}

static LLVMValueRef *part_of(igi_simt_splitter *s, LLVMValueRef value, unsigned part) {
    uint32_t first = 0;
    igi_map_get(&s->first, value, &first);
    return &s->parts.items[first + part];
}

static LLVMValueRef lanes_of(igi_simt_splitter *s, LLVMValueRef vector, unsigned first, unsigned count) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(s->m->context);
    LLVMValueRef lanes[IGI_MAX_WIDTH];
    for (unsigned k = 0; k < count; k++) lanes[k] = LLVMConstInt(i32, first + k, false);
    return LLVMBuildShuffleVector(s->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(lanes, count),
                                  "");
}

// A scalar is its own part.
static LLVMValueRef get(igi_simt_splitter *s, LLVMValueRef value, unsigned part) {
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) return value;
    if (igi_simt_split_has_parts(s, value)) return *part_of(s, value, part);
    return lanes_of(s, value, part * s->each, s->each);
}

LLVMValueRef igi_simt_split_join(igi_simt_splitter *s, LLVMValueRef value) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(s->m->context);
    LLVMValueRef parts[IGI_MAX_WIDTH], lanes[IGI_MAX_WIDTH];
    unsigned count = part_count(s, value), size = s->each;
    for (unsigned k = 0; k < count; k++) parts[k] = get(s, value, k);
    for (unsigned k = 0; k < IGI_MAX_WIDTH; k++) lanes[k] = LLVMConstInt(i32, k, false);
    for (; count > 1; size *= 2) {
        for (unsigned k = 0; k < count / 2; k++)
            parts[k] = LLVMBuildShuffleVector(s->builder, parts[(size_t)2 * k], parts[(size_t)2 * k + 1],
                                              LLVMConstVector(lanes, 2 * size), "");
        count /= 2;
    }
    return parts[0];
}

// ---- One part of an instruction ----

static void copy_metadata(LLVMValueRef from, LLVMValueRef to) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(from));
    size_t count;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(from, &count);
    for (unsigned k = 0; k < count; k++)
        LLVMSetMetadata(to, LLVMValueMetadataEntriesGetKind(entries, k),
                        LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, k)));
    LLVMDisposeValueMetadataEntries(entries);
}

// Bytes from the beginning of the row to a part of it.
static uint64_t offset_of(igi_simt_splitter *s, LLVMTypeRef type, unsigned part) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->m->module);
    return LLVMABISizeOfType(layout, LLVMGetElementType(type)) * s->each * part;
}

static unsigned common_alignment(unsigned whole, uint64_t offset) {
    while (offset % whole) whole /= 2;
    return whole;
}

static LLVMValueRef access_part(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    bool store = LLVMIsAStoreInst(i) != NULL;
    LLVMTypeRef type = store ? LLVMTypeOf(LLVMGetOperand(i, 0)) : LLVMTypeOf(i);
    uint64_t offset = offset_of(s, type, part);
    LLVMValueRef address = igi_simt_field(s->builder, LLVMGetOperand(i, store ? 1 : 0), offset);
    LLVMValueRef access = store ? LLVMBuildStore(s->builder, get(s, LLVMGetOperand(i, 0), part), address)
                                : LLVMBuildLoad2(s->builder, part_type(s, type), address, "");
    LLVMSetAlignment(access, common_alignment(LLVMGetAlignment(i), offset));
    copy_metadata(i, access);
    return access;
}

static LLVMValueRef masked_part(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    bool write = igi_simt_split_is_masked_write(i);
    unsigned at = write ? 1 : 0;
    LLVMValueRef arguments[4];
    for (unsigned k = 0; k < 4; k++) arguments[k] = get(s, LLVMGetOperand(i, k), part);
    LLVMTypeRef type = LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i);
    if (LLVMGetTypeKind(LLVMTypeOf(arguments[at])) == LLVMPointerTypeKind)
        arguments[at] = igi_simt_field(s->builder, arguments[at], offset_of(s, type, part));
    LLVMTypeRef types[] = {part_type(s, type), LLVMTypeOf(arguments[at])};
    char name[32] = {0};
    const char *callee = igi_simt_callee_name(i);
    memcpy(name, callee, (size_t)(strchr(callee + strlen("llvm.masked."), '.') - callee));
    LLVMValueRef call = igi_simt_call_intrinsic(s->builder, name, types, 2, arguments, 4);
    copy_metadata(i, call);
    return call;
}

static LLVMValueRef call_part(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    if (!is_simple(i)) return masked_part(s, i, part);
    enum { MOST_ARGUMENTS = 3 };
    LLVMValueRef arguments[MOST_ARGUMENTS];
    unsigned count = LLVMGetNumArgOperands(i);
    assert(count <= MOST_ARGUMENTS);
    for (unsigned k = 0; k < count; k++) arguments[k] = get(s, LLVMGetOperand(i, k), part);
    LLVMTypeRef type = part_type(s, LLVMTypeOf(i));
    char name[32] = {0};
    const char *callee = igi_simt_callee_name(i);
    memcpy(name, callee, (size_t)(strchr(callee + strlen("llvm."), '.') - callee));
    return igi_simt_call_intrinsic(s->builder, name, &type, 1, arguments, count);
}

static LLVMValueRef address_part(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    LLVMValueRef indices[IGI_MAX_INDICES];
    unsigned count = LLVMGetNumIndices(i);
    assert(count <= IGI_MAX_INDICES);
    for (unsigned k = 0; k < count; k++) indices[k] = get(s, LLVMGetOperand(i, k + 1), part);
    return LLVMBuildGEP2(s->builder, LLVMGetGEPSourceElementType(i), get(s, LLVMGetOperand(i, 0), part), indices, count,
                         "");
}

static LLVMValueRef build_part(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    LLVMBuilderRef b = s->builder;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (opcode == LLVMLoad || opcode == LLVMStore) return access_part(s, i, part);
    if (opcode == LLVMCall) return call_part(s, i, part);
    if (opcode == LLVMGetElementPtr) return address_part(s, i, part);
    LLVMValueRef first = get(s, LLVMGetOperand(i, 0), part);
    if (opcode == LLVMFNeg) return LLVMBuildFNeg(b, first, "");
    if (opcode == LLVMFreeze) return LLVMBuildFreeze(b, first, "");
    if (LLVMIsACastInst(i)) return LLVMBuildCast(b, opcode, first, part_type(s, LLVMTypeOf(i)), "");
    LLVMValueRef second = get(s, LLVMGetOperand(i, 1), part);
    if (opcode == LLVMICmp) return LLVMBuildICmp(b, LLVMGetICmpPredicate(i), first, second, "");
    if (opcode == LLVMFCmp) return LLVMBuildFCmp(b, LLVMGetFCmpPredicate(i), first, second, "");
    if (opcode == LLVMSelect) return LLVMBuildSelect(b, first, second, get(s, LLVMGetOperand(i, 2), part), "");
    return LLVMBuildBinOp(b, opcode, first, second, "");
}

bool igi_simt_split_emit(igi_simt_splitter *s, LLVMValueRef i, unsigned part) {
    LLVMSetCurrentDebugLocation2(s->builder, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef made = build_part(s, i, part);
    if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(i) && LLVMCanValueUseFastMathFlags(made))
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(i));
    *part_of(s, i, part) = made;
    return true;
}

bool igi_simt_split_splat(igi_simt_splitter *s, LLVMValueRef shuffle) {
    if (!igi_simt_split_note(s, shuffle)) return false;
    LLVMValueRef from = LLVMGetOperand(shuffle, 0), zero = LLVMConstNull(LLVMInt32TypeInContext(s->m->context));
    LLVMTypeRef type = part_type(s, LLVMTypeOf(shuffle));
    // It may have fewer lanes than a part.
    LLVMValueRef lanes = igi_simt_split_has_parts(s, from) ? *part_of(s, from, 0) : from;
    LLVMValueRef scalar = LLVMIsAInsertElementInst(from) && LLVMIsNull(LLVMGetOperand(from, 2))
                              ? LLVMGetOperand(from, 1)
                              : LLVMBuildExtractElement(s->builder, lanes, zero, "");
    LLVMValueRef first = LLVMBuildInsertElement(s->builder, LLVMGetPoison(type), scalar, zero, "");
    LLVMTypeRef i32s = LLVMVectorType(LLVMTypeOf(zero), s->each);
    LLVMValueRef made = LLVMBuildShuffleVector(s->builder, first, LLVMGetPoison(type), LLVMConstNull(i32s), "");
    for (unsigned k = 0; k < part_count(s, shuffle); k++) *part_of(s, shuffle, k) = made;
    return true;
}

// ---- Phi nodes ----

bool igi_simt_split_phi(igi_simt_splitter *s, LLVMValueRef phi) {
    if (!igi_simt_split_note(s, phi)) return false;
    LLVMPositionBuilderBefore(s->builder, phi);
    for (unsigned k = 0; k < part_count(s, phi); k++)
        *part_of(s, phi, k) = LLVMBuildPhi(s->builder, part_type(s, LLVMTypeOf(phi)), "");
    return true;
}

static void complete_phi(igi_simt_splitter *s, LLVMValueRef phi) {
    for (unsigned from = 0; from < LLVMCountIncoming(phi); from++) {
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, from);
        LLVMValueRef value = LLVMGetIncomingValue(phi, from);
        LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(block));
        for (unsigned k = 0; k < part_count(s, phi); k++) {
            LLVMValueRef part = get(s, value, k);
            LLVMAddIncoming(*part_of(s, phi, k), &part, &block, 1);
        }
    }
}

bool igi_simt_split_complete_phis(igi_simt_splitter *s) {
    for (size_t k = 0; k < s->split.count; k++)
        if (LLVMIsAPHINode(s->split.items[k])) complete_phi(s, s->split.items[k]);
    return true;
}

// ---- Tests ----

// All parts combined, as bits.
static LLVMValueRef combined(igi_simt_splitter *s, LLVMValueRef mask, LLVMOpcode how) {
    LLVMValueRef all = get(s, mask, 0);
    for (unsigned k = 1; k < part_count(s, mask); k++) all = LLVMBuildBinOp(s->builder, how, all, get(s, mask, k), "");
    return LLVMBuildBitCast(s->builder, all, LLVMIntTypeInContext(s->m->context, s->each), "");
}

// Of a number that is only compared with 0 and with all ones: whether it is neither, 0 or all ones, as 1, 0 and 2.
static LLVMValueRef kind_of_mask(igi_simt_splitter *s, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(s->m->context, s->each), i8 = LLVMInt8TypeInContext(s->m->context);
    LLVMValueRef any = LLVMBuildICmp(s->builder, LLVMIntNE, combined(s, mask, LLVMOr), LLVMConstNull(bits), "any");
    LLVMValueRef all = LLVMBuildICmp(s->builder, LLVMIntEQ, combined(s, mask, LLVMAnd), LLVMConstAllOnes(bits), "all");
    return LLVMBuildAdd(s->builder, LLVMBuildZExt(s->builder, any, i8, ""), LLVMBuildZExt(s->builder, all, i8, ""), "");
}

static bool is_extreme(LLVMValueRef constant) {
    return LLVMIsAConstantInt(constant) && (LLVMIsNull(constant) || constant == LLVMConstAllOnes(LLVMTypeOf(constant)));
}

static bool only_asks_for_extremes(LLVMValueRef user, LLVMValueRef bits) {
    if (LLVMIsAICmpInst(user)) {
        LLVMIntPredicate predicate = LLVMGetICmpPredicate(user);
        return (predicate == LLVMIntEQ || predicate == LLVMIntNE) && LLVMGetOperand(user, 0) == bits &&
               is_extreme(LLVMGetOperand(user, 1));
    }
    if (!LLVMIsASwitchInst(user) || LLVMGetOperand(user, 0) != bits) return false;
    for (int k = 2; k < LLVMGetNumOperands(user); k += 2)
        if (!is_extreme(LLVMGetOperand(user, (unsigned)k))) return false;
    return true;
}

static LLVMValueRef kind_of_constant(LLVMValueRef constant, LLVMTypeRef type) {
    return LLVMConstInt(type, LLVMIsNull(constant) ? 0 : 2, false);
}

static void ask_for_kind(igi_simt_splitter *s, LLVMValueRef user, LLVMValueRef kind) {
    LLVMTypeRef type = LLVMTypeOf(kind);
    LLVMPositionBuilderBefore(s->builder, user);
    if (LLVMIsAICmpInst(user)) {
        LLVMValueRef constant = kind_of_constant(LLVMGetOperand(user, 1), type);
        LLVMReplaceAllUsesWith(user, LLVMBuildICmp(s->builder, LLVMGetICmpPredicate(user), kind, constant, ""));
    } else {
        LLVMValueRef choice = LLVMBuildSwitch(s->builder, kind, LLVMGetSwitchDefaultDest(user), 2);
        for (int k = 2; k < LLVMGetNumOperands(user); k += 2)
            LLVMAddCase(choice, kind_of_constant(LLVMGetOperand(user, (unsigned)k), type),
                        LLVMValueAsBasicBlock(LLVMGetOperand(user, (unsigned)k + 1)));
    }
    LLVMInstructionEraseFromParent(user);
}

// bitcast <N x i1> to iN
static bool is_test(const igi_simt_splitter *s, LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) != LLVMBitCast || !igi_simt_split_has_parts(s, LLVMGetOperand(i, 0))) return false;
    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use))
        if (!only_asks_for_extremes(LLVMGetUser(use), i)) return false;
    return LLVMGetIntTypeWidth(LLVMTypeOf(i)) == LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(i, 0)));
}

static bool is_extraction(const igi_simt_splitter *s, LLVMValueRef i) {
    return LLVMIsAExtractElementInst(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
           igi_simt_split_has_parts(s, LLVMGetOperand(i, 0));
}

bool igi_simt_split_use_parts(igi_simt_splitter *s, LLVMValueRef i) {
    LLVMPositionBuilderBefore(s->builder, i);
    if (is_extraction(s, i)) {
        unsigned lane = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
        LLVMValueRef part = get(s, LLVMGetOperand(i, 0), lane / s->each);
        LLVMSetOperand(i, 0, part);
        LLVMSetOperand(i, 1, LLVMConstInt(LLVMTypeOf(LLVMGetOperand(i, 1)), lane % s->each, false));
        return true;
    }
    if (!is_test(s, i) || !igi_simt_values_add(&s->replaced, i)) return false;
    LLVMValueRef kind = kind_of_mask(s, LLVMGetOperand(i, 0));
    for (LLVMUseRef use; (use = LLVMGetFirstUse(i)) != NULL;) ask_for_kind(s, LLVMGetUser(use), kind);
    return true;
}

// ---- The end ----

void igi_simt_split_remove_originals(igi_simt_splitter *s) {
    for (size_t k = 0; k < s->replaced.count; k++) LLVMInstructionEraseFromParent(s->replaced.items[k]);
    for (size_t k = 0; k < s->split.count; k++) {
        LLVMValueRef i = s->split.items[k];
        if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
        LLVMInstructionEraseFromParent(i);
    }
}

void igi_simt_split_free(igi_simt_splitter *s) {
    igi_simt_values_free(&s->run);
    igi_simt_values_free(&s->split);
    igi_simt_values_free(&s->replaced);
    igi_simt_values_free(&s->parts);
    igi_map_free(&s->first);
    LLVMDisposeBuilder(s->builder);
}
