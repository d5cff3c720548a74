// SPDX-License-Identifier: Apache-2.0
// Remarks about a kernel as a whole: its width, its barriers, and how many accesses there are of each kind.
#include <llvm-c/DebugInfo.h>

#include "core/memory.h"
#include "core/settings.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/remarks.h"

// Called before barriers are replaced; what they became is added later.
ig_status igi_simt_pass_note_barriers(igi_simt_module *m) {
    igi_simt_remarks *remarks = m->request->remarks;
    igi_simt_values barriers;
    if (!remarks) return IG_STATUS_OK;
    if (!igi_simt_collect(m->thread, igi_simt_is_barrier, &barriers)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < barriers.count; i++)
        igi_simt_remarks_add(remarks, IGI_REMARK_BARRIER, LLVMInstructionGetDebugLoc(barriers.items[i]),
                             igi_strdup(""));
    igi_simt_values_free(&barriers);
    return IG_STATUS_OK;
}

static void describe_barriers(const igi_simt_module *m) {
    igi_simt_remarks *remarks = m->request->remarks;
    for (size_t i = 0; i < remarks->count; i++) {
        if (remarks->items[i].kind != IGI_REMARK_BARRIER) continue;
        free(remarks->items[i].text);
        if (m->info.form == IGI_FORM_COROUTINE)
            remarks->items[i].text = igi_strdup("threads are suspended here, as coroutines");
        else
            remarks->items[i].text = igi_format(
                "the loop over the threadgroup is cut in two here; %u threads at a time keep %u bytes across barriers",
                m->info.width, m->info.context_bytes);
        if (!remarks->items[i].text) remarks->failed = true;
    }
}

static const char *reason_for_width(const igi_simt_module *m) {
    if (m->info.simdgroups && m->info.width == IGI_SIMD_WIDTH)
        return ", a whole simdgroup for the operations among its lanes";
    if (m->info.width == m->request->width)
        return igi_setting_number(IGI_SETTING_SIMT_WIDTH, 0) == m->info.width ? ", as INGOT_SIMT_WIDTH asks" : "";
    if (m->info.width == 1) return "";
    if (m->info.width > 2 * igi_simt_register_lanes()) return ", a whole row, which reads memory side by side";
    return m->info.width > igi_simt_register_lanes() ? ", as many as two vector registers hold"
                                                     : ", as many as a vector register holds";
}

// "; memory: 3 contiguous, 1 gather". Source locations are counted, so there must be some.
static void add_counts(const igi_simt_module *m, igi_text *text) {
    static const igi_simt_remark_kind kinds[] = {IGI_REMARK_CONTIGUOUS, IGI_REMARK_SHUFFLED,   IGI_REMARK_UNIFORM,
                                                 IGI_REMARK_GATHER,     IGI_REMARK_ROW_GATHER, IGI_REMARK_ROW_SCATTER,
                                                 IGI_REMARK_SCATTER,    IGI_REMARK_ONE_BY_ONE};
    const igi_simt_remarks *remarks = m->request->remarks;
    const char *separator = "; accesses: ";
    for (size_t k = 0; m->subprogram && k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0;
        for (size_t i = 0; i < remarks->count; i++) count += remarks->items[i].kind == kinds[k];
        if (!count) continue;
        igi_text_addf(text, "%s%zu %s", separator, count, igi_simt_remark_kind_name(kinds[k]));
        separator = ", ";
    }
}

ig_status igi_simt_pass_remarks(igi_simt_module *m) {
    igi_simt_remarks *remarks = m->request->remarks;
    if (!remarks) return IG_STATUS_OK;
    igi_simt_remarks_sort(remarks);
    igi_text text = {0};
    igi_text_addf(&text, "kernel '%s' runs %u thread%s per step%s", m->request->name, m->info.width,
                  m->info.width == 1 ? "" : "s", reason_for_width(m));
    add_counts(m, &text);
    igi_simt_remarks_add(remarks, IGI_REMARK_WIDTH, igi_simt_kernel_place(m), igi_text_take(&text));
    describe_barriers(m);
    igi_simt_remarks_drop(remarks, IGI_REMARK_CONTIGUOUS);
    if (remarks->failed) return igi_error_no_memory(m->error);
    igi_simt_remarks_sort(remarks);
    return IG_STATUS_OK;
}
