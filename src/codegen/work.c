// SPDX-License-Identifier: Apache-2.0
// What a worker does.
#include "codegen/work.h"

#include "air/translate.h"

ig_status igi_codegen_work(const igi_simt_request *request, igi_simt_stage stage, char **output, size_t *length,
                           ig_error *error) {
    if (stage == IGI_STAGE_TRANSLATED)
        return igi_air_translate(request->bitcode, request->bitcode_length, request->name, output, length, error);
    if (stage == IGI_STAGE_AIR)
        return igi_air_print(request->bitcode, request->bitcode_length, request->name, output, length, error);
    return igi_simt_compile(request, stage, output, length, error);
}
