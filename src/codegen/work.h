// SPDX-License-Identifier: Apache-2.0
// One request, done in this process: in a worker of ingot-codegen, or for INGOT_CODEGEN=in-process.
#ifndef INGOT_CODEGEN_WORK_H
#define INGOT_CODEGEN_WORK_H

#include "simt/compile.h"

ig_status igi_codegen_work(const igi_simt_request *request, igi_simt_stage stage, char **output, size_t *length,
                           ig_error *error);

#endif
