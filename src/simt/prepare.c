// SPDX-License-Identifier: Apache-2.0
// Prepares the thread function for widening: scalars only, two-way branches, one return, simplified loops.
#include <llvm-c/Target.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

// ---- Vector loads and stores, which LLVM's scalarizer leaves alone unless a global option says otherwise ----

static bool is_vector_access(LLVMValueRef instruction) {
    if (!LLVMIsALoadInst(instruction) && !LLVMIsAStoreInst(instruction)) return false;
    LLVMTypeRef type = igi_simt_accessed_type(instruction);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMGetVolatile(instruction)) return false;
    LLVMTypeRef element = LLVMGetElementType(type);
    return LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) % 8 == 0;
}

static unsigned element_alignment(LLVMValueRef access, unsigned bytes, unsigned index) {
    unsigned whole = LLVMGetAlignment(access), offset = bytes * index;
    while (offset % whole) whole /= 2;
    return whole;
}

static void split_access(LLVMBuilderRef builder, LLVMValueRef access) {
    LLVMTypeRef type = igi_simt_accessed_type(access), element = LLVMGetElementType(type);
    LLVMContextRef context = LLVMGetTypeContext(type);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    unsigned invariant = LLVMGetMDKindIDInContext(context, "invariant.load", 14);
    bool store = LLVMIsAStoreInst(access) != NULL;
    LLVMValueRef address = LLVMGetOperand(access, store ? 1 : 0), vector = LLVMGetPoison(type);
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(access)));
    unsigned bytes = (unsigned)LLVMABISizeOfType(LLVMGetModuleDataLayout(module), element);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef index = LLVMConstInt(i32, i, 0), place = igi_simt_field(builder, address, (size_t)bytes * i), part;
        if (store) {
            part =
                LLVMBuildStore(builder, LLVMBuildExtractElement(builder, LLVMGetOperand(access, 0), index, ""), place);
        } else {
            part = LLVMBuildLoad2(builder, element, place, "");
            LLVMSetMetadata(part, invariant, LLVMGetMetadata(access, invariant));
            vector = LLVMBuildInsertElement(builder, vector, part, index, "");
        }
        LLVMSetAlignment(part, element_alignment(access, bytes, i));
    }
    if (!store) LLVMReplaceAllUsesWith(access, vector);
    LLVMInstructionEraseFromParent(access);
}

// ---- Small copies, element by element: lanes can share loads and stores, not calls ----

enum { SMALL_COPY = 256 };

static unsigned gcd(unsigned a, unsigned b) {
    return b ? gcd(b, a % b) : a;
}

static bool is_small_copy(LLVMValueRef i) {
    const char *name = igi_simt_callee_name(i);
    if (strncmp(name, "llvm.memcpy.", 12) != 0 && strncmp(name, "llvm.memset.", 12) != 0) return false;
    LLVMValueRef length = LLVMGetOperand(i, 2), is_volatile = LLVMGetOperand(i, 3);
    return LLVMIsAConstantInt(length) && LLVMConstIntGetZExtValue(length) <= SMALL_COPY && LLVMIsNull(is_volatile);
}

static unsigned pointer_alignment(LLVMValueRef call, unsigned operand) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(call, operand + 1, kind);
    return align ? (unsigned)LLVMGetEnumAttributeValue(align) : 1;
}

// The byte, repeated.
static LLVMValueRef filled(LLVMBuilderRef builder, LLVMValueRef byte, LLVMTypeRef type) {
    LLVMValueRef ones = LLVMConstInt(type, 0x01010101, 0);
    return LLVMBuildMul(builder, LLVMBuildZExtOrBitCast(builder, byte, type, ""), ones, "");
}

static void split_copy(LLVMBuilderRef builder, LLVMValueRef call) {
    bool copy = strncmp(igi_simt_callee_name(call), "llvm.memcpy.", 12) == 0;
    unsigned length = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 2));
    unsigned bytes = gcd(gcd(length, 4), pointer_alignment(call, 0));
    if (copy) bytes = gcd(bytes, pointer_alignment(call, 1));
    LLVMTypeRef type = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(call)), bytes * 8);
    LLVMValueRef parts[SMALL_COPY], to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
    for (unsigned k = 0; k < length / bytes; k++) {
        if (!copy) {
            parts[k] = filled(builder, from, type);
            continue;
        }
        parts[k] = LLVMBuildLoad2(builder, type, igi_simt_field(builder, from, (size_t)k * bytes), "");
        LLVMSetAlignment(parts[k], bytes);
    }
    for (unsigned k = 0; k < length / bytes; k++)
        LLVMSetAlignment(LLVMBuildStore(builder, parts[k], igi_simt_field(builder, to, (size_t)k * bytes)), bytes);
    LLVMInstructionEraseFromParent(call);
}

// ---- Bit casts between a vector and one scalar of its size ----

static bool is_vector(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static bool is_mixed_cast(LLVMValueRef instruction) {
    if (LLVMGetInstructionOpcode(instruction) != LLVMBitCast) return false;
    return is_vector(LLVMTypeOf(instruction)) != is_vector(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
}

static unsigned bits_of(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
        case LLVMHalfTypeKind:
        case LLVMBFloatTypeKind: return 16;
        case LLVMFloatTypeKind: return 32;
        default: return 64;
    }
}

// The first element is the lowest.
static void split_cast(LLVMBuilderRef builder, LLVMValueRef cast) {
    LLVMValueRef from = LLVMGetOperand(cast, 0);
    LLVMTypeRef to = LLVMTypeOf(cast), vector = is_vector(to) ? to : LLVMTypeOf(from);
    LLVMTypeRef scalar = is_vector(to) ? LLVMTypeOf(from) : to, element = LLVMGetElementType(vector);
    LLVMContextRef context = LLVMGetTypeContext(to);
    LLVMTypeRef whole = LLVMIntTypeInContext(context, bits_of(scalar));
    LLVMTypeRef part = LLVMIntTypeInContext(context, bits_of(element)), i32 = LLVMInt32TypeInContext(context);
    LLVMValueRef all = is_vector(to) ? LLVMBuildBitCast(builder, from, whole, "") : LLVMConstNull(whole);
    LLVMValueRef result = LLVMGetPoison(to);
    for (unsigned i = 0; i < LLVMGetVectorSize(vector); i++) {
        LLVMValueRef index = LLVMConstInt(i32, i, 0), distance = LLVMConstInt(whole, (uint64_t)i * bits_of(element), 0);
        if (is_vector(to)) {
            LLVMValueRef bits = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, all, distance, ""), part, "");
            result = LLVMBuildInsertElement(builder, result, LLVMBuildBitCast(builder, bits, element, ""), index, "");
        } else {
            LLVMValueRef bits = LLVMBuildBitCast(builder, LLVMBuildExtractElement(builder, from, index, ""), part, "");
            LLVMValueRef shifted = LLVMBuildShl(builder, LLVMBuildZExt(builder, bits, whole, ""), distance, "");
            all = LLVMBuildOr(builder, all, shifted, "");
        }
    }
    LLVMReplaceAllUsesWith(cast, is_vector(to) ? result : LLVMBuildBitCast(builder, all, to, ""));
    LLVMInstructionEraseFromParent(cast);
}

ig_status igi_simt_pass_prepare(igi_simt_module *m) {
    ig_status status = igi_simt_split_matrices(m);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_small_copy, split_copy);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_vector_access, split_access);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_mixed_cast, split_cast);
    if (status != IG_STATUS_OK) return status;
    status = igi_simt_run_passes(m, "function(lower-switch,scalarizer)");
    // Casts between vectors of different elements have become such between a vector and a scalar.
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_mixed_cast, split_cast);
    if (status != IG_STATUS_OK) return status;
    status =
        igi_simt_run_passes(m,
                            "function(scalarizer,early-cse,instsimplify,dce,mergereturn,"
                            "simplifycfg<no-sink-common-insts>,lower-switch,mergereturn,fix-irreducible,loop-simplify,"
                            "lcssa)");
    if (status == IG_STATUS_OK) status = igi_simt_find_fragments(m);
    if (status == IG_STATUS_OK) status = igi_simt_find_rows(m);
    if (status == IG_STATUS_OK) status = igi_simt_load_in_turn(m);
    return status == IG_STATUS_OK ? igi_simt_chain_products(m) : status;
}
