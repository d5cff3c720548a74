// SPDX-License-Identifier: Apache-2.0
// Instructions and types that a kernel may contain.
#include "msl/contents-internal.h"

// Integers of 128 bits come from the calling convention; wider ones, and division of either, need a runtime library or
// an excessive amount of time.
enum { MAX_INTEGER_BITS = 128, MAX_NATIVE_BITS = 64, MAX_VECTOR_ELEMENTS = 64 };

// ---- Types ----

static const char *refused_scalar(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMVoidTypeKind:
        case LLVMHalfTypeKind:
        case LLVMBFloatTypeKind:
        case LLVMFloatTypeKind:
        case LLVMDoubleTypeKind:
        case LLVMFP128TypeKind:  // a literal that becomes a half; is_long_arithmetic handles the rest
        case LLVMLabelTypeKind:
        case LLVMMetadataTypeKind:
        case LLVMFunctionTypeKind: return NULL;
        case LLVMIntegerTypeKind:
            return LLVMGetIntTypeWidth(type) > MAX_INTEGER_BITS ? "integers of more than 128 bits" : NULL;
        case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(type) ? "numbered address spaces" : NULL;
        default: return "types that belong to one processor";
    }
}

// Checked once: a type that was refused is not reported again.
static const char *refused_aggregate(contents *c, LLVMTypeRef type) {
    const char *refused = NULL;
    if (!contents_is_new(c, type)) return NULL;
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) return contents_refused_type(c, LLVMGetElementType(type));
    unsigned count = LLVMIsOpaqueStruct(type) ? 0 : LLVMCountStructElementTypes(type);
    for (unsigned i = 0; i < count && !refused; i++)
        refused = contents_refused_type(c, LLVMStructGetTypeAtIndex(type, i));
    return refused;
}

const char *contents_refused_type(contents *c, LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMStructTypeKind:
        case LLVMArrayTypeKind: return refused_aggregate(c, type);
        case LLVMVectorTypeKind:
            if (LLVMGetVectorSize(type) > MAX_VECTOR_ELEMENTS) return "vectors of more than 64 elements";
            return refused_scalar(LLVMGetElementType(type));
        default: return refused_scalar(type);
    }
}

static bool is_wide_integer(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > MAX_NATIVE_BITS;
}

// ---- Instructions ----

// Literals of type half are first long doubles and are truncated at once. Anything else would need a runtime library.
static bool is_long_arithmetic(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFNeg:
        case LLVMFCmp:
        case LLVMFPToUI:
        case LLVMFPToSI: return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(instruction, 0))) == LLVMFP128TypeKind;
        case LLVMFPExt:
        case LLVMUIToFP:
        case LLVMSIToFP: return LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMFP128TypeKind;
        default: return false;
    }
}

static bool is_atomic(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMAtomicCmpXchg:
        case LLVMAtomicRMW: return true;
        case LLVMLoad:
        case LLVMStore: return LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
        default: return false;
    }
}

// The type of the value that an atomic operation reads or writes.
static LLVMTypeRef atomic_type(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMStore: return LLVMTypeOf(LLVMGetOperand(instruction, 0));
        case LLVMAtomicCmpXchg: return LLVMTypeOf(LLVMGetOperand(instruction, 1));
        default: return LLVMTypeOf(instruction);
    }
}

static bool converts_to_wide(LLVMValueRef instruction) {
    return is_wide_integer(LLVMTypeOf(instruction)) &&
           (!LLVMIsACallInst(instruction) || LLVMGetIntrinsicID(LLVMGetCalledValue(instruction)));
}

static const char *refused_code(LLVMValueRef instruction) {
    static const char wide[] = "arithmetic on 128 bits";
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMUDiv:
        case LLVMSDiv:
        case LLVMURem:
        case LLVMSRem:
        case LLVMUIToFP:
        case LLVMSIToFP: return is_wide_integer(LLVMTypeOf(LLVMGetOperand(instruction, 0))) ? wide : NULL;
        case LLVMFPToUI:
        case LLVMFPToSI:
        case LLVMCall: return converts_to_wide(instruction) ? wide : NULL;
        case LLVMFRem: return "remainder of floating-point numbers but fmod";
        case LLVMIndirectBr: return "computed goto";
        case LLVMVAArg: return "variable arguments";
        case LLVMInvoke:
        case LLVMCallBr:
        case LLVMResume:
        case LLVMLandingPad:
        case LLVMCleanupRet:
        case LLVMCatchRet:
        case LLVMCatchPad:
        case LLVMCleanupPad:
        case LLVMCatchSwitch: return "exceptions";
        default: return NULL;
    }
}

// Memory whose size or number is known only when the code runs.
static bool is_dynamic_alloca(LLVMValueRef instruction) {
    if (!LLVMIsAAllocaInst(instruction)) return false;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    return !LLVMIsAConstantInt(LLVMGetOperand(instruction, 0)) ||
           LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block)) != block;
}

void contents_check_instruction(contents *c, LLVMValueRef instruction) {
    const char *refused = is_long_arithmetic(instruction) ? "long double" : refused_code(instruction);
    if (!refused && is_atomic(instruction) && is_wide_integer(atomic_type(instruction)))
        refused = "atomic operations on 128 bits";
    if (!refused && is_dynamic_alloca(instruction)) refused = "arrays of variable length";
    if (!refused) refused = contents_refused_type(c, LLVMTypeOf(instruction));
    if (!refused && LLVMIsAAllocaInst(instruction))
        refused = contents_refused_type(c, LLVMGetAllocatedType(instruction));
    for (int i = 0; !refused && i < LLVMGetNumOperands(instruction); i++)
        refused = contents_refused_type(c, LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)i)));
    if (refused) contents_refuse(c, instruction, NULL, "Metal has no %s", refused);
}
