// SPDX-License-Identifier: Apache-2.0
// The compiler's remarks about a pipeline, in one block of memory.
#include <string.h>

#include "device/cpu/cpu.h"
#include "simt/compile.h"

static size_t text_bytes(const igi_simt_remarks *remarks) {
    size_t bytes = 0;
    for (size_t i = 0; i < remarks->count; i++)
        bytes += strlen(remarks->items[i].file) + strlen(remarks->items[i].text) + 2;
    return bytes;
}

static const char *place(char **end, const char *text) {
    char *copy = *end;
    size_t bytes = strlen(text) + 1;
    memcpy(copy, text, bytes);
    *end += bytes;
    return copy;
}

static ig_remark *pack(const igi_simt_remarks *remarks) {
    ig_remark *packed = igi_alloc(remarks->count * sizeof *packed + text_bytes(remarks));
    if (!packed) return NULL;
    char *end = (char *)(packed + remarks->count);
    for (size_t i = 0; i < remarks->count; i++) {
        const igi_simt_remark *from = &remarks->items[i];
        packed[i] = (ig_remark){.kind = igi_simt_remark_kind_name(from->kind),
                                .file = place(&end, from->file),
                                .text = place(&end, from->text),
                                .line = from->line,
                                .column = from->column};
    }
    return packed;
}

ig_status igi_cpu_pipeline_remarks(ig_pipeline *pipeline, ig_remark **remarks, size_t *count) {
    const cpu_program *program = pipeline->state;
    igi_simt_remarks found = {.sources = &program->module->sources, .name = program->name};
    cpu_purpose purpose = {0};
    igi_cpu_guess_layouts(&pipeline->kernel, purpose.layouts);
    igi_simt_request request = igi_cpu_simt_request(igi_cpu(pipeline->library->device), program, purpose);
    request.remarks = &found;
    ig_status status =
        igi_cpu_generate(pipeline->library->device, program, &request, IGI_STAGE_REMARKS, NULL, NULL, NULL);
    ig_remark *packed = status == IG_STATUS_OK ? pack(&found) : NULL;
    if (packed) {
        *remarks = packed;
        *count = found.count;
    } else if (status == IG_STATUS_OK) {
        status = IG_STATUS_OUT_OF_MEMORY;
    }
    igi_simt_remarks_free(&found);
    return status;
}
