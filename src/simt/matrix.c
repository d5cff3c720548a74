// SPDX-License-Identifier: Apache-2.0
// Operations on simdgroup matrices, which the standard library calls on a pair: two elements of a row at once. For
// widening they are split into operations on scalars; for single threads, loads and stores become plain ones.
#include <assert.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

static bool is_product(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, "__ig_mma_f32");
}

static bool is_load(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "__ig_matrix_load_", 17) == 0;
}

static bool is_store(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "__ig_matrix_store_", 18) == 0;
}

static LLVMModuleRef module_of(LLVMValueRef instruction) {
    return LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
}

// A pair is a vector of two, or one integer whose lower half comes first.
static LLVMTypeRef part_type(LLVMTypeRef pair) {
    if (LLVMGetTypeKind(pair) == LLVMVectorTypeKind) return LLVMGetElementType(pair);
    return LLVMInt16TypeInContext(LLVMGetTypeContext(pair));
}

static LLVMValueRef part(LLVMBuilderRef builder, LLVMValueRef pair, unsigned index) {
    LLVMTypeRef type = LLVMTypeOf(pair), i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        return LLVMBuildExtractElement(builder, pair, LLVMConstInt(i32, index, 0), "");
    LLVMValueRef low = index ? LLVMBuildLShr(builder, pair, LLVMConstInt(i32, 16, 0), "") : pair;
    return LLVMBuildTrunc(builder, low, part_type(type), "");
}

static LLVMValueRef make_pair(LLVMBuilderRef builder, LLVMTypeRef type, const LLVMValueRef parts[2]) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        LLVMValueRef pair = LLVMGetPoison(type);
        for (unsigned k = 0; k < 2; k++)
            pair = LLVMBuildInsertElement(builder, pair, parts[k], LLVMConstInt(i32, k, 0), "");
        return pair;
    }
    LLVMValueRef high = LLVMBuildZExt(builder, parts[1], i32, "");
    high = LLVMBuildShl(builder, high, LLVMConstInt(i32, 16, 0), "");
    return LLVMBuildOr(builder, high, LLVMBuildZExt(builder, parts[0], i32, ""), "");
}

// ---- Two halves ----

static LLVMValueRef call(LLVMBuilderRef builder, LLVMModuleRef module, const char *name, LLVMTypeRef result,
                         LLVMValueRef *arguments, unsigned count) {
    LLVMTypeRef types[8];
    assert(count <= sizeof types / sizeof *types);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef function = igi_simt_declare(module, name, type);
    igi_simt_add_attribute(function, "convergent");
    return LLVMBuildCall2(builder, type, function, arguments, count, "");
}

// An operation that returns a pair becomes two that return its parts, the even column first.
static void split_result(LLVMBuilderRef builder, LLVMValueRef whole, const char *const names[2],
                         LLVMValueRef *arguments, unsigned count) {
    LLVMTypeRef pair = LLVMTypeOf(whole);
    LLVMValueRef parts[2];
    for (unsigned k = 0; k < 2; k++)
        parts[k] = call(builder, module_of(whole), names[k], part_type(pair), arguments, count);
    LLVMReplaceAllUsesWith(whole, make_pair(builder, pair, parts));
    LLVMInstructionEraseFromParent(whole);
}

static void split_product(LLVMBuilderRef builder, LLVMValueRef product) {
    static const char *const names[] = {"__ig_mma_even", "__ig_mma_odd"};
    LLVMValueRef arguments[6];
    for (unsigned k = 0; k < 6; k++) arguments[k] = part(builder, LLVMGetOperand(product, k / 2), k % 2);
    split_result(builder, product, names, arguments, 6);
}

// Names include the element's type: calls with one name must have one type.
static void split_load(LLVMBuilderRef builder, LLVMValueRef load) {
    char even[40] = "__ig_matrix_even_", odd[40] = "__ig_matrix_odd_";
    const char *suffix = igi_simt_callee_name(load) + 17;
    strncat(even, suffix, 8), strncat(odd, suffix, 8);
    const char *const names[] = {even, odd};
    LLVMValueRef arguments[5];
    for (unsigned k = 0; k < 5; k++) arguments[k] = LLVMGetOperand(load, k);
    split_result(builder, load, names, arguments, 5);
}

static void split_store(LLVMBuilderRef builder, LLVMValueRef store) {
    char name[40] = "__ig_matrix_put_";
    strncat(name, igi_simt_callee_name(store) + 18, 8);
    LLVMValueRef pair = LLVMGetOperand(store, 0);
    LLVMValueRef arguments[7] = {part(builder, pair, 0), part(builder, pair, 1)};
    for (unsigned k = 1; k < 6; k++) arguments[k + 1] = LLVMGetOperand(store, k);
    call(builder, module_of(store), name, LLVMTypeOf(store), arguments, 7);
    LLVMInstructionEraseFromParent(store);
}

ig_status igi_simt_split_matrices(igi_simt_module *m) {
    ig_status status = igi_simt_rewrite_instructions(m, is_product, split_product);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_load, split_load);
    return status == IG_STATUS_OK ? igi_simt_rewrite_instructions(m, is_store, split_store) : status;
}

// ---- One thread ----

static unsigned element_bytes(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMFloatTypeKind ? 4 : 2;
}

static void load_elements(LLVMBuilderRef builder, LLVMValueRef load) {
    LLVMTypeRef pair = LLVMTypeOf(load), type = part_type(pair);
    LLVMValueRef parts[2];
    for (unsigned k = 0; k < 2; k++) {
        parts[k] = LLVMBuildLoad2(builder, type, LLVMGetOperand(load, k), "");
        LLVMSetAlignment(parts[k], element_bytes(type));
    }
    LLVMReplaceAllUsesWith(load, make_pair(builder, pair, parts));
    LLVMInstructionEraseFromParent(load);
}

static void store_elements(LLVMBuilderRef builder, LLVMValueRef store) {
    LLVMValueRef pair = LLVMGetOperand(store, 0);
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef element = part(builder, pair, k);
        LLVMSetAlignment(LLVMBuildStore(builder, element, LLVMGetOperand(store, k + 1)),
                         element_bytes(LLVMTypeOf(element)));
    }
    LLVMInstructionEraseFromParent(store);
}

ig_status igi_simt_lower_matrices(igi_simt_module *m) {
    ig_status status = igi_simt_rewrite_instructions(m, is_load, load_elements);
    return status == IG_STATUS_OK ? igi_simt_rewrite_instructions(m, is_store, store_elements) : status;
}
