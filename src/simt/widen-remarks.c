// SPDX-License-Identifier: Apache-2.0
// The remarks of the widener.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "simt/explain.h"
#include "simt/ir.h"
#include "simt/widen.h"

// The instruction's own location or, if LLVM has lost it, that of one of its operands, or the kernel's.
static LLVMMetadataRef place_of(const igi_simt_widener *w, LLVMValueRef i) {
    const igi_simt_remarks *remarks = w->m->request->remarks;
    for (int depth = 0; depth < 4 && i && LLVMIsAInstruction(i); depth++) {
        LLVMMetadataRef place = LLVMInstructionGetDebugLoc(i);
        if (igi_simt_remarks_line(remarks, place)) return place;
        i = LLVMGetNumOperands(i) ? LLVMGetOperand(i, 0) : NULL;
    }
    return igi_simt_kernel_place(w->m);
}

static igi_simt_explainer explainer_at(const igi_simt_widener *w, LLVMMetadataRef place) {
    return (igi_simt_explainer){&w->s, w->m->request->remarks, place};
}

// ---- Memory ----

// Arguments and built-in values come from igi_simt_group, which users do not know.
static bool is_binding(const igi_simt_widener *w, LLVMValueRef access) {
    unsigned kind = LLVMGetMDKindIDInContext(w->m->context, "invariant.load", 14);
    return LLVMGetMetadata(access, kind) != NULL;
}

static char *describe_one_by_one(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg: return igi_strdup("atomic operations are done lane by lane");
        case LLVMLoad:
        case LLVMStore:
            if (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
                return igi_strdup("atomic loads and stores are done lane by lane");
            if (LLVMGetVolatile(i)) return igi_strdup("volatile loads and stores are done lane by lane");
            return igi_strdup("a value of this type is loaded and stored lane by lane");
        case LLVMCall:
            if (strncmp(igi_simt_callee_name(i), "llvm.mem", 8) == 0)
                return igi_strdup("whole objects are copied or filled lane by lane");
            return igi_format("'%s' has no vector form and is done lane by lane", igi_simt_callee_name(i));
        default: return igi_strdup("an operation on this type is done lane by lane");
    }
}

// The first source location among the uses of a variable.
static LLVMMetadataRef first_use(const igi_simt_widener *w, LLVMValueRef variable) {
    LLVMMetadataRef first = NULL;
    uint32_t lowest = UINT32_MAX;
    for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
        LLVMMetadataRef place = LLVMInstructionGetDebugLoc(LLVMGetUser(use));
        uint32_t line = igi_simt_remarks_line(w->m->request->remarks, place);
        if (!line || line >= lowest) continue;
        lowest = line;
        first = place;
    }
    return first ? first : igi_simt_kernel_place(w->m);
}

// As in the source, without the spare element of interleave.c.
static LLVMTypeRef declared_type(const igi_simt_widener *w, LLVMValueRef variable) {
    LLVMTypeRef type = LLVMGetAllocatedType(variable);
    unsigned stride = LLVMGetMDKindIDInContext(w->m->context, IGI_LANE_STRIDE, strlen(IGI_LANE_STRIDE));
    return LLVMGetMetadata(variable, stride) ? LLVMStructGetTypeAtIndex(type, 0) : type;
}

static void note_private(igi_simt_widener *w, LLVMValueRef variable) {
    LLVMTypeRef type = declared_type(w, variable);
    bool array = LLVMGetTypeKind(type) == LLVMArrayTypeKind;
    unsigned long long bytes = LLVMABISizeOfType(w->s.layout, type);
    igi_simt_remarks_add(w->m->request->remarks, IGI_REMARK_PRIVATE_ARRAY, first_use(w, variable),
                         igi_format("a private %s of %llu bytes stays in memory, once for each lane",
                                    array ? "array" : "variable", bytes));
}

void igi_simt_note(igi_simt_widener *w, igi_simt_remark_kind kind, LLVMValueRef i) {
    igi_simt_remarks *remarks = w->m->request->remarks;
    if (!remarks || (LLVMIsALoadInst(i) && is_binding(w, i)) || igi_simt_is_at_edge(i)) return;
    if (kind == IGI_REMARK_PRIVATE_ARRAY) {
        note_private(w, i);
        return;
    }
    LLVMMetadataRef place = place_of(w, i);
    igi_simt_explainer e = explainer_at(w, place);
    char *text = NULL;
    switch (kind) {
        case IGI_REMARK_GATHER:
        case IGI_REMARK_ROW_GATHER: text = igi_simt_explain_address(&e, LLVMGetOperand(i, 0)); break;
        case IGI_REMARK_ROW_SCATTER:
        case IGI_REMARK_SCATTER: text = igi_simt_explain_address(&e, LLVMGetOperand(i, 1)); break;
        case IGI_REMARK_ONE_BY_ONE: text = describe_one_by_one(i); break;
        default: text = igi_strdup(""); break;  // only counted
    }
    igi_simt_remarks_add(remarks, kind, place, text);
}

void igi_simt_note_bundle(igi_simt_widener *w, const LLVMValueRef *members, uint32_t count, bool interleaved) {
    for (uint32_t i = 0; i < count; i++) {
        bool store = LLVMIsAStoreInst(members[i]) != NULL;
        igi_simt_note(w,
                      interleaved ? IGI_REMARK_SHUFFLED
                      : store     ? IGI_REMARK_ROW_SCATTER
                                  : IGI_REMARK_ROW_GATHER,
                      members[i]);
    }
}

// ---- Control flow ----

// Whether the branch at the end of a block leads out of a loop.
static bool leaves_loop(const igi_simt_cfg *cfg, uint32_t block, uint32_t loop) {
    for (uint32_t k = 0; k < cfg->blocks[block].successor_count; k++)
        if (!igi_simt_cfg_in_loop(cfg, cfg->blocks[block].successors[k], loop)) return true;
    return false;
}

static void note_branch(igi_simt_widener *w, uint32_t block) {
    const igi_simt_cfg *cfg = &w->s.cfg;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(cfg->blocks[block].block);
    uint32_t loop = cfg->blocks[block].loop;
    bool ends = loop != IGI_NONE && leaves_loop(cfg, block, loop);
    LLVMMetadataRef place = place_of(w, branch);
    igi_simt_explainer e = explainer_at(w, place);
    char *why = igi_simt_explain_condition(&e, LLVMGetCondition(branch));
    const char *what =
        ends ? "the loop goes on until its last lane leaves" : "both sides are executed, each with its own lanes";
    igi_simt_remarks_add(w->m->request->remarks, ends ? IGI_REMARK_DIVERGENT_LOOP : IGI_REMARK_DIVERGENT_BRANCH, place,
                         why ? igi_format("%s: the condition %s", what, why) : NULL);
    free(why);
}

void igi_simt_note_control(igi_simt_widener *w) {
    if (!w->m->request->remarks) return;
    for (uint32_t block = 0; block < w->s.cfg.count; block++)
        if (w->s.divergent_branch[block]) note_branch(w, block);
}

void igi_simt_note_declined(igi_simt_widener *w) {
    igi_simt_remarks *remarks = w->m->request->remarks;
    if (!remarks || !w->declined) return;
    igi_simt_remarks_drop(remarks, IGI_REMARK_GATHER);
    LLVMMetadataRef place = w->declined_at ? place_of(w, w->declined_at) : igi_simt_kernel_place(w->m);
    igi_simt_remarks_add(remarks, IGI_REMARK_DECLINED, place, igi_format("one thread at a time: %s", w->declined));
}
