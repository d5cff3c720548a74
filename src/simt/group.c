// SPDX-License-Identifier: Apache-2.0
// From one thread to a threadgroup: groups of lanes in loops, or, one thread at a time, coroutines where threads wait
// for each other.
#include <stdalign.h>
#include <string.h>

#include "simt/coroutine.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/regions.h"

static void add_attribute(LLVMValueRef function, unsigned parameter, const char *name, uint64_t value) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, parameter, LLVMCreateEnumAttribute(context, kind, value));
}

// A kernel writes to buffers, never to the igi_simt_group that it reads from, which can also be read speculatively:
// loops over threads then read it once, even if the threads branch first.
static void promise_group(LLVMValueRef function) {
    unsigned count = LLVMCountParams(function);
    add_attribute(function, 1, "noalias", 0);
    add_attribute(function, 1, "readonly", 0);
    add_attribute(function, 1, "align", alignof(igi_simt_group));
    add_attribute(function, 1, "dereferenceable", sizeof(igi_simt_group));
    if (count != 3 && count != 7) return;
    // Contexts and arrays, of ig.run and of a widened function.
    add_attribute(function, count == 3 ? 2 : 5, "noalias", 0);
    add_attribute(function, count == 3 ? 3 : 7, "noalias", 0);
}

ig_status igi_simt_pass_info(igi_simt_module *m) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context);
    uint32_t fields[sizeof m->info / 4];
    memcpy(fields, &m->info, sizeof m->info);
    LLVMValueRef items[sizeof fields / 4];
    for (size_t i = 0; i < sizeof fields / 4; i++) items[i] = LLVMConstInt(i32, fields[i], 0);
    LLVMValueRef value = LLVMConstArray2(i32, items, sizeof fields / 4);
    LLVMValueRef global = LLVMAddGlobal(m->module, LLVMTypeOf(value), "ig.info");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    return IG_STATUS_OK;
}

// ---- Widening ----

// Without mask registers, branches ask first whether all lanes go the same way (widen-agree.c): what follows from that is
// found by threading jumps, but not once simplifycfg has made one condition of several.
static const char *simplification_for(const igi_simt_module *m, uint32_t width) {
    if (igi_simt_is_hasty(m)) return "function(sroa,early-cse,simplifycfg,instsimplify,simplifycfg)";
    if (!igi_simt_should_agree(m, width))
        return "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    return "function(sroa,jump-threading,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
}

// A group of lanes that is the whole threadgroup need not wait: its barriers can be removed.
static bool is_whole_threadgroup(const igi_simt_module *m, uint32_t width) {
    const uint32_t *size = m->request->group;
    return size[0] == width && size[1] == m->rows && size[2] == 1;
}

static ig_status widen(igi_simt_module *m) {
    static const char *const names[] = {"ig.tail", "ig.full"};
    uint32_t width = igi_simt_choose_width(m);
    // For all lanes together, at most what one thread may have.
    if (igi_simt_private_bytes_of_thread(m) > IGI_MAX_PRIVATE / width) width = 1;
    const char *declined = NULL;
    ig_status status = IG_STATUS_OK;
    m->info.width = 1;
    if (width > IGI_SIMD_WIDTH) status = igi_simt_lower_places(m);
    if (width > 1 && is_whole_threadgroup(m, width) && !igi_simt_is_hasty(m) && status == IG_STATUS_OK)
        status = igi_simt_unroll_waiting(m);
    if (width > 1 && status == IG_STATUS_OK) status = igi_simt_pass_prepare(m);
    if (width > 1 && status == IG_STATUS_OK) status = igi_simt_pass_interleave(m, width);
    if (width > 1 && status == IG_STATUS_OK) status = igi_simt_pass_inside(m, width);
    // Only now are coordinates no longer vectors.
    m->info.columns = width > 1 && m->info.any_groups && igi_simt_has_common_columns(m);
    // Compiling a second copy of a large kernel costs more than masks cost at run time.
    bool hasty = igi_simt_is_hasty(m);
    bool only_full = m->request->group[0] && m->request->group[0] % width == 0;
    for (int i = only_full; i < (hasty ? only_full + 1 : 2) && width > 1 && status == IG_STATUS_OK && !declined; i++)
        status = igi_simt_widen(m, width, i == 1, names[i], &m->wide[i], &declined);
    if (declined) igi_log(IG_LOG_INFO, "kernel '%s' runs one thread at a time: %s", m->request->name, declined);
    // Code that was prepared for lanes cannot run single threads: igi_simt_compile starts again.
    m->declined = declined != NULL;
    if (declined) return IG_STATUS_UNSUPPORTED;
    if (width == 1) return status;
    m->info.width = width;
    if (status == IG_STATUS_OK) status = igi_simt_run_passes(m, simplification_for(m, width));
    return status;
}

static ig_status drop_barriers(igi_simt_module *m) {
    igi_simt_values barriers;
    if (!igi_simt_collect(m->wide[1], igi_simt_is_barrier, &barriers)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < barriers.count; i++) LLVMInstructionEraseFromParent(barriers.items[i]);
    igi_simt_values_free(&barriers);
    return IG_STATUS_OK;
}

// Both copies have the same barriers, in the same order. Loops get exits of their own, for what they accumulate.
static ig_status split_at_barriers(igi_simt_module *m, igi_simt_regions *regions) {
    *regions = (igi_simt_regions){0};
    ig_status ready = m->request->first_tier ? IG_STATUS_OK : igi_simt_run_passes(m, "function(loop-simplify)");
    if (ready != IG_STATUS_OK) return ready;
    for (int i = 0; i < 2; i++) {
        igi_simt_regions of_copy;
        if (!m->wide[i]) continue;
        ig_status status = igi_simt_split_regions(m, m->wide[i], &of_copy);
        if (status != IG_STATUS_OK) return status;
        regions->count = of_copy.count;
        if (of_copy.context_bytes > regions->context_bytes) regions->context_bytes = of_copy.context_bytes;
        if (of_copy.array_bytes > regions->array_bytes) regions->array_bytes = of_copy.array_bytes;
    }
    return regions->count ? igi_simt_run_passes(m, "function(sroa,early-cse,simplifycfg)") : IG_STATUS_OK;
}

static ig_status group_lanes(igi_simt_module *m) {
    igi_simt_regions regions;
    ig_status status = m->wide[1] && is_whole_threadgroup(m, m->info.width) ? drop_barriers(m) : IG_STATUS_OK;
    if (status == IG_STATUS_OK) status = split_at_barriers(m, &regions);
    if (status != IG_STATUS_OK) return status;
    m->info.form = IGI_FORM_LOOP;
    if (regions.context_bytes > UINT32_MAX || regions.array_bytes > IGI_MAX_PRIVATE)
        return igi_simt_refuse_private(m, regions.array_bytes);
    m->info.context_bytes = (uint32_t)regions.context_bytes;
    m->info.array_bytes = (uint32_t)regions.array_bytes;
    igi_simt_build_run(m, &regions);
    promise_group(LLVMGetNamedFunction(m->module, "ig.run"));
    return IG_STATUS_OK;
}

static ig_status group_threads(igi_simt_module *m) {
    igi_simt_sites sites;
    ig_status status = igi_simt_lower_matrices(m);
    if (status == IG_STATUS_OK) status = igi_simt_lower_places(m);
    if (status == IG_STATUS_OK) status = igi_simt_drop_pseudos(m);
    if (status == IG_STATUS_OK) status = igi_simt_find_sites(m, m->thread, &sites);
    if (status != IG_STATUS_OK) return status;
    bool one_by_one = sites.count || m->request->scheduled;
    m->info.form = one_by_one ? IGI_FORM_COROUTINE : IGI_FORM_LOOP;
    if (one_by_one) status = igi_simt_move_arrays_to_lane(m);
    if (one_by_one && status == IG_STATUS_OK)
        status = igi_simt_make_coroutine(m, &sites);
    else if (status == IG_STATUS_OK)
        igi_simt_build_run(m, &(igi_simt_regions){0});
    igi_simt_sites_free(&sites);
    return status;
}

// ---- Threadgroups of another shape ----

static bool is_cooperation(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "__ig_", 5) == 0;
}

static bool touches_memory(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
            return true;
    return false;
}

// Whether loops access memory, in their own order.
static bool has_order(const igi_simt_cfg *cfg) {
    for (uint32_t b = 0; b < cfg->count; b++)
        if (cfg->blocks[b].loop != IGI_NONE && touches_memory(cfg->blocks[b].block)) return true;
    return false;
}

// Independent threads can be grouped arbitrarily. If no loop accesses memory, the order of accesses is that of threads;
// otherwise the shape may have been chosen for the loops.
static ig_status note_freedom(igi_simt_module *m) {
    igi_simt_values found;
    igi_simt_cfg cfg;
    if (m->knows_its_group || m->info.threadgroup_bytes) return IG_STATUS_OK;
    if (!igi_simt_collect(m->thread, is_cooperation, &found)) return igi_error_no_memory(m->error);
    bool alone = !found.count;
    igi_simt_values_free(&found);
    if (!igi_simt_cfg_build(m->thread, &cfg)) return igi_error_no_memory(m->error);
    m->info.any_groups = alone && !has_order(&cfg);
    igi_simt_cfg_free(&cfg);
    return IG_STATUS_OK;
}

ig_status igi_simt_pass_group(igi_simt_module *m) {
    m->info.instructions = (uint32_t)igi_simt_instruction_count(m->thread);
    ig_status status = note_freedom(m);
    if (status == IG_STATUS_OK) status = widen(m);
    if (status != IG_STATUS_OK) return status;
    m->info.version = IGI_CODE_VERSION;
    promise_group(m->thread);
    for (int i = 0; i < 2; i++)
        if (m->wide[i]) promise_group(m->wide[i]);
    return igi_simt_is_wide(m) ? group_lanes(m) : group_threads(m);
}
