// SPDX-License-Identifier: Apache-2.0
// Loops that may run for ever look at the abort flag on their way back.
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { SMALL_TRIP_COUNT = 4096 };

static bool feeds(LLVMValueRef phi, LLVMValueRef value) {
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingValue(phi, i) == value) return true;
    return false;
}

// phi plus or minus a constant, that goes back into the phi.
static bool is_counter(LLVMValueRef value) {
    if (!LLVMIsABinaryOperator(value) || LLVMGetInstructionOpcode(value) != LLVMAdd) return false;
    LLVMValueRef phi = LLVMGetOperand(value, 0), step = LLVMGetOperand(value, 1);
    return LLVMIsAPHINode(phi) && LLVMIsAConstantInt(step) && !LLVMIsNull(step) && feeds(phi, value);
}

// A loop that counts to a small constant ends soon by itself.
static bool is_short(LLVMValueRef terminator) {
    if (!LLVMIsConditional(terminator)) return false;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    if (!LLVMIsAICmpInst(condition)) return false;
    LLVMValueRef bound = LLVMGetOperand(condition, 1);
    return LLVMIsAConstantInt(bound) && LLVMConstIntGetZExtValue(bound) <= SMALL_TRIP_COUNT &&
           is_counter(LLVMGetOperand(condition, 0));
}

static void check_before(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef terminator, LLVMBasicBlockRef leave) {
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(terminator);
    LLVMBasicBlockRef head = igi_split_before(terminator);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context), pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMPositionBuilderAtEnd(builder, head);
    LLVMValueRef field = igi_field(builder, LLVMGetParam(m->thread, 0), offsetof(igi_group, abort));
    LLVMValueRef flag = LLVMBuildLoad2(builder, i32, LLVMBuildLoad2(builder, pointer, field, ""), "");
    LLVMSetVolatile(flag, 1);
    LLVMValueRef set = LLVMBuildICmp(builder, LLVMIntNE, flag, LLVMConstInt(i32, 0, 0), "");
    LLVMBuildCondBr(builder, set, leave, rest);
}

static bool is_latch(const igi_cfg *cfg, uint32_t block) {
    for (uint32_t k = 0; k < cfg->blocks[block].successor_count; k++)
        if (igi_cfg_is_back_edge(cfg, block, cfg->blocks[block].successors[k])) return true;
    return false;
}

ig_status igi_pass_abort(igi_simt_module *m) {
    igi_cfg cfg;
    if (!m->request->abortable) return IG_STATUS_OK;
    if (!igi_cfg_build(m->thread, &cfg)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMBasicBlockRef leave = NULL;
    for (uint32_t i = 0; i < cfg.count; i++) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(cfg.blocks[i].block);
        if (!is_latch(&cfg, i) || (LLVMIsABranchInst(terminator) && is_short(terminator))) continue;
        if (!leave) {
            leave = LLVMAppendBasicBlockInContext(m->context, m->thread, "aborted");
            LLVMPositionBuilderAtEnd(builder, leave);
            LLVMBuildRet(builder, LLVMConstPointerNull(LLVMPointerTypeInContext(m->context, 0)));
        }
        check_before(m, builder, terminator, leave);
    }
    LLVMDisposeBuilder(builder);
    igi_cfg_free(&cfg);
    return IG_STATUS_OK;
}
