// SPDX-License-Identifier: Apache-2.0
// Vectors of many registers, as a whole threadgroup in one group of lanes has, become vectors of one register each.
//
// LLVM would do the same while it generates code, but one instruction after the other: all registers of a sum, then all
// of the product that it is a factor of. Every intermediate result then goes through memory. Here a run of
// instructions is done for the first register, then for the second, and so on, so that only values that outlive the run do.
#include <string.h>

#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/split.h"
#include "simt/target.h"

enum { FEW_REGISTERS = 3 };

// ---- What is split ----

static bool is_split_type(const igi_simt_splitter *s, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return false;
    unsigned lanes = LLVMGetVectorSize(type);
    return lanes > FEW_REGISTERS * s->each && lanes <= IGI_MAX_WIDTH && lanes % s->each == 0;
}

static bool is_splat(LLVMValueRef i) {
    if (!LLVMIsAShuffleVectorInst(i)) return false;
    for (unsigned k = 0; k < LLVMGetNumMaskElements(i); k++)
        if (LLVMGetMaskValue(i, k) != 0) return false;
    return true;
}

static bool is_plain(LLVMValueRef access) {
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

// The type whose lanes it computes: that of its result, or of what it stores.
static LLVMTypeRef type_of(LLVMValueRef i) {
    if (LLVMIsAStoreInst(i) || igi_simt_split_is_masked_write(i)) return LLVMTypeOf(LLVMGetOperand(i, 0));
    return LLVMTypeOf(i);
}

// Bits are not addressed one by one: eight of a mask share a byte.
static bool has_addresses(LLVMValueRef access) {
    LLVMTypeRef element = LLVMGetElementType(type_of(access));
    return LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) % 8 == 0;
}

static bool computes_lanes(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMFNeg:
        case LLVMICmp:
        case LLVMFCmp:
        case LLVMSelect:
        case LLVMFreeze:
        case LLVMGetElementPtr: return true;
        case LLVMLoad:
        case LLVMStore: return is_plain(i) && has_addresses(i);
        case LLVMCall: return igi_simt_split_is_elementwise_call(i);
        default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
    }
}

// Vectors among the operands have as many lanes as the result.
static bool has_matching_operands(LLVMValueRef i, unsigned lanes) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, (unsigned)k));
        if (LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) != lanes) return false;
    }
    return true;
}

static bool is_split(const igi_simt_splitter *s, LLVMValueRef i) {
    LLVMTypeRef type = type_of(i);
    return is_split_type(s, type) && computes_lanes(i) && has_matching_operands(i, LLVMGetVectorSize(type));
}

// ---- Runs ----

static bool is_in_run(const igi_simt_splitter *s, LLVMValueRef value) {
    for (size_t k = 0; k < s->run.count; k++)
        if (s->run.items[k] == value) return true;
    return false;
}

static bool uses_run(const igi_simt_splitter *s, LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (is_in_run(s, LLVMGetOperand(i, (unsigned)k))) return true;
    return false;
}

static bool reads(LLVMValueRef i) {
    return (LLVMIsALoadInst(i) && !igi_simt_is_invariant_load(i)) || igi_simt_split_is_masked_read(i);
}

static bool writes(LLVMValueRef i) {
    return LLVMIsAStoreInst(i) || igi_simt_split_is_masked_write(i);
}

static bool may_touch_memory(LLVMValueRef i) {
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i);
}

// Whether the registers of both may be done in turns: if lanes write, it is what they themselves read.
static bool may_take_turns(LLVMValueRef earlier, LLVMValueRef later) {
    if (!writes(later) && !writes(earlier)) return true;
    if (!(reads(earlier) || writes(earlier)) || !(reads(later) || writes(later))) return true;
    if (!LLVMIsAStoreInst(later) || !LLVMIsALoadInst(earlier)) return false;
    return LLVMGetOperand(later, 1) == LLVMGetOperand(earlier, 0) && type_of(later) == type_of(earlier);
}

// Loads that a store of the run may not overtake are done first, for all registers; if that is not possible, the run
// ends before it.
static bool fits_into_run(igi_simt_splitter *s, LLVMValueRef i) {
    for (size_t k = 0; k < s->run.count; k++) {
        LLVMValueRef earlier = s->run.items[k];
        if (may_take_turns(earlier, i)) continue;
        if (!LLVMIsALoadInst(earlier) || !LLVMIsAStoreInst(i)) return false;
    }
    return true;
}

static bool is_early(const igi_simt_splitter *s, LLVMValueRef i) {
    if (!LLVMIsALoadInst(i)) return false;
    for (size_t k = 0; k < s->run.count; k++)
        if (!may_take_turns(i, s->run.items[k])) return true;
    return false;
}

static bool emit(igi_simt_splitter *s, LLVMValueRef i, unsigned first, unsigned end) {
    for (unsigned part = first; part < end; part++)
        if (!igi_simt_split_emit(s, i, part)) return false;
    return true;
}

// pre: the builder is where the run ends.
static bool emit_run(igi_simt_splitter *s) {
    unsigned most = 0;
    for (size_t k = 0; k < s->run.count; k++) {
        unsigned parts = LLVMGetVectorSize(type_of(s->run.items[k])) / s->each;
        if (parts > most) most = parts;
        if (is_early(s, s->run.items[k]) && !emit(s, s->run.items[k], 0, parts)) return false;
    }
    for (unsigned part = 0; part < most; part++)
        for (size_t k = 0; k < s->run.count; k++) {
            LLVMValueRef i = s->run.items[k];
            if (part >= LLVMGetVectorSize(type_of(i)) / s->each || is_early(s, i)) continue;
            if (!emit(s, i, part, part + 1)) return false;
        }
    return true;
}

static bool end_run(igi_simt_splitter *s, LLVMValueRef before) {
    LLVMPositionBuilderBefore(s->builder, before);
    bool ok = emit_run(s);
    s->run.count = 0;
    return ok;
}

// ---- Instructions that are not split ----

static bool use_whole(igi_simt_splitter *s, LLVMValueRef i) {
    LLVMPositionBuilderBefore(s->builder, i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (igi_simt_split_has_parts(s, operand)) LLVMSetOperand(i, (unsigned)k, igi_simt_split_join(s, operand));
    }
    return true;
}

static bool visit(igi_simt_splitter *s, LLVMValueRef i) {
    if (is_split_type(s, LLVMTypeOf(i)) && is_splat(i)) {
        if (uses_run(s, i) && !end_run(s, i)) return false;
        LLVMPositionBuilderBefore(s->builder, i);
        return igi_simt_split_splat(s, i);
    }
    if (is_split(s, i)) {
        if (!fits_into_run(s, i) && !end_run(s, i)) return false;
        return igi_simt_split_note(s, i) && igi_simt_values_add(&s->run, i);
    }
    if ((uses_run(s, i) || may_touch_memory(i) || LLVMIsATerminatorInst(i)) && !end_run(s, i)) return false;
    return igi_simt_split_use_parts(s, i) || use_whole(s, i);
}

static bool visit_block(igi_simt_splitter *s, LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (!LLVMIsAPHINode(i) && !visit(s, i)) return false;
    return true;
}

// ---- The pass ----

static bool split_phis(igi_simt_splitter *s, LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        if (is_split_type(s, LLVMTypeOf(i)) && !igi_simt_split_phi(s, i)) return false;
    return true;
}

static bool split_blocks(igi_simt_splitter *s, const igi_simt_cfg *cfg) {
    for (uint32_t b = 0; b < cfg->count; b++)
        if (!split_phis(s, cfg->blocks[b].block)) return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (!visit_block(s, cfg->blocks[b].block)) return false;
    return true;
}

static ig_status split_function(igi_simt_module *m, LLVMValueRef function) {
    igi_simt_splitter s = {
        .m = m, .each = igi_simt_register_lanes(), .builder = LLVMCreateBuilderInContext(m->context)};
    igi_simt_cfg cfg;
    bool ok = igi_simt_cfg_build(function, &cfg);
    if (ok) {
        ok = split_blocks(&s, &cfg) && igi_simt_split_complete_phis(&s);
        igi_simt_cfg_free(&cfg);
    }
    if (ok) igi_simt_split_remove_originals(&s);
    igi_simt_split_free(&s);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}

ig_status igi_simt_pass_split(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    if (!igi_simt_is_for_x86() || igi_simt_is_hasty(m)) return status;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) status = split_function(m, f);
    return status;
}
