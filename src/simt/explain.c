// SPDX-License-Identifier: Apache-2.0
// Follows a value back to the instruction where its lanes begin to differ.
#include "simt/explain.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"

typedef struct cause {
    LLVMValueRef instruction;
    bool direct;  // only conversions on the way
} cause;

static igi_simt_shape_kind kind_of(const igi_simt_explainer *e, LLVMValueRef value) {
    return igi_simt_shape_of(e->shapes, value).kind;
}

// ---- Finding it ----

enum { MOST_STEPS = 64 };

typedef struct trail {
    LLVMValueRef steps[MOST_STEPS];
    int count;
} trail;

static bool passed(const trail *t, LLVMValueRef value) {
    for (int i = 0; i < t->count; i++)
        if (t->steps[i] == value) return true;
    return false;
}

// Lanes differ from here on, whatever the operands are.
static bool is_source(const igi_simt_explainer *e, LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMLoad:
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg: return true;
        case LLVMCall: return strncmp(igi_simt_callee_name(i), "__ig_", 5) == 0;
        case LLVMPHI: {
            uint32_t block = igi_simt_cfg_index(&e->shapes->cfg, LLVMGetInstructionParent(i));
            return block != IGI_NONE && e->shapes->join[block];
        }
        default: return false;
    }
}

static LLVMValueRef varying_operand(const igi_simt_explainer *e, LLVMValueRef i, const trail *t) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        bool value = LLVMIsAInstruction(operand) && !passed(t, operand);
        if (value && kind_of(e, operand) == IGI_SHAPE_VARYING) return operand;
    }
    return NULL;
}

static cause find_cause(const igi_simt_explainer *e, LLVMValueRef value) {
    cause found = {value, true};
    trail t = {0};
    while (t.count < MOST_STEPS && LLVMIsAInstruction(found.instruction) && !is_source(e, found.instruction)) {
        t.steps[t.count++] = found.instruction;
        LLVMValueRef next = varying_operand(e, found.instruction, &t);
        if (!next) break;
        bool converts = LLVMIsACastInst(found.instruction) || LLVMIsAFreezeInst(found.instruction);
        found = (cause){next, found.direct && converts};
    }
    return found;
}

// ---- Saying it ----

static const struct {
    LLVMOpcode opcode;
    const char *phrase;
} phrases[] = {
    {LLVMAtomicRMW, "comes from an atomic operation"},
    {LLVMAtomicCmpXchg, "comes from an atomic operation"},
    {LLVMMul, "is multiplied by a number that is not known at compile time"},
    {LLVMShl, "is shifted by a number that is not known at compile time"},
    {LLVMUDiv, "is divided, which is not linear in the lane"},
    {LLVMSDiv, "is divided, which is not linear in the lane"},
    {LLVMLShr, "is divided or shifted, which is not linear in the lane"},
    {LLVMAShr, "is divided or shifted, which is not linear in the lane"},
    {LLVMURem, "is a remainder, which is not linear in the lane"},
    {LLVMSRem, "is a remainder, which is not linear in the lane"},
    {LLVMAnd, "is a remainder or masked, which is not linear in the lane"},
    {LLVMOr, "is a combination of bits, which is not linear in the lane"},
    {LLVMXor, "is a combination of bits, which is not linear in the lane"},
    {LLVMFPToUI, "is computed from floating-point numbers"},
    {LLVMFPToSI, "is computed from floating-point numbers"},
    {LLVMSelect, "is chosen by a condition that differs between lanes"},
    {LLVMPHI, "depends on the way each lane took to get here"},
    {LLVMAlloca, "is the address of private memory"},
};

static const char *call_phrase(LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    if (strncmp(name, "__ig_", 5) == 0) return "comes from an operation among lanes";
    static const char *const extremes[] = {"llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++)
        if (strncmp(name, extremes[i], strlen(extremes[i])) == 0) return "is clamped, which is not linear in the lane";
    return "is not linear in the lane";
}

// Whether lanes differ for a reason other than being different threads.
static bool comes_from_elsewhere(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMLoad:
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg:
        case LLVMPHI: return true;
        case LLVMCall: return strncmp(igi_simt_callee_name(i), "__ig_", 5) == 0;
        default: return false;
    }
}

// An address may be linear in the lane; anything else must be the same in all lanes.
static char *phrase_for(const cause *c, bool in_address) {
    LLVMValueRef i = c->instruction;
    bool instruction = LLVMIsAInstruction(i) != NULL;
    if (!in_address && !(instruction && comes_from_elsewhere(i)))
        return igi_strdup("depends on the position of the thread");
    if (!instruction) return igi_strdup("is not linear in the lane");
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    switch (opcode) {
        case LLVMLoad:
            return igi_strdup(c->direct ? "is loaded from memory" : "is computed from a value loaded from memory");
        case LLVMZExt:
        case LLVMSExt:
            return igi_format("is an integer of %u bits, which may wrap around between lanes",
                              LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))));
        case LLVMCall: return igi_strdup(call_phrase(i));
        default: break;
    }
    for (size_t k = 0; k < sizeof phrases / sizeof *phrases; k++)
        if (phrases[k].opcode == opcode) return igi_strdup(phrases[k].phrase);
    return igi_strdup("is not linear in the lane");
}

static char *explain(const igi_simt_explainer *e, LLVMValueRef value, bool in_address) {
    cause c = find_cause(e, value);
    char *phrase = phrase_for(&c, in_address);
    LLVMMetadataRef place = LLVMIsAInstruction(c.instruction) ? LLVMInstructionGetDebugLoc(c.instruction) : NULL;
    char *where = igi_simt_remarks_mention(e->remarks, place, e->place);
    char *text = phrase && where ? igi_format("%s%s", phrase, where) : NULL;
    free(phrase), free(where);
    return text;
}

char *igi_simt_explain_condition(const igi_simt_explainer *e, LLVMValueRef condition) {
    return explain(e, condition, false);
}

// ---- Addresses ----

static LLVMValueRef base_of(LLVMValueRef address) {
    return LLVMIsAGetElementPtrInst(address) ? LLVMGetOperand(address, 0) : NULL;
}

static bool is_private(LLVMValueRef address) {
    for (LLVMValueRef base; (base = base_of(address));) address = base;
    return LLVMIsAAllocaInst(address) != NULL;
}

// The part of an address that varies: an index, or the base pointer.
static LLVMValueRef varying_part(const igi_simt_explainer *e, LLVMValueRef address, bool *index) {
    for (LLVMValueRef base; (base = base_of(address)); address = base) {
        for (int k = 1; k < LLVMGetNumOperands(address); k++) {
            LLVMValueRef operand = LLVMGetOperand(address, (unsigned)k);
            if (kind_of(e, operand) != IGI_SHAPE_VARYING) continue;
            *index = true;
            return operand;
        }
    }
    *index = false;
    return address;
}

char *igi_simt_explain_address(const igi_simt_explainer *e, LLVMValueRef address) {
    igi_simt_shape shape = igi_simt_shape_of(e->shapes, address);
    bool own = is_private(address), index;
    if (shape.kind == IGI_SHAPE_UNIFORM) return igi_strdup("all lanes use the same address, one after the other");
    if (shape.kind == IGI_SHAPE_LINEAR && own) return igi_strdup("each lane has a private array of its own");
    if (shape.kind == IGI_SHAPE_LINEAR)
        return igi_format("neighbouring lanes are %lld bytes apart", (long long)shape.stride);
    if (shape.kind == IGI_SHAPE_PATTERN) return igi_strdup("lanes are at known distances from each other");
    LLVMValueRef part = varying_part(e, address, &index);
    char *why = explain(e, part, true);
    char *text = why ? igi_format("%s %s",
                                  own     ? "the index into a private array"
                                  : index ? "the index"
                                          : "the pointer",
                                  why)
                     : NULL;
    free(why);
    return text;
}
