// SPDX-License-Identifier: Apache-2.0
// Requests to the code generator's process and its replies, as bytes.
#ifndef INGOT_CODEGEN_MESSAGE_H
#define INGOT_CODEGEN_MESSAGE_H

#include "simt/compile.h"

// Limits for one compilation.
typedef struct igi_codegen_limits {
    uint64_t cpu_seconds;
    uint64_t wall_seconds;
    uint64_t memory_bytes;  // of address space; 0: no limit
} igi_codegen_limits;

// The message for a kernel that takes too long, used by both sides: its name and the seconds.
#define IGI_CODEGEN_TOO_LONG \
    "compiling kernel '%.200s' was stopped after %llu s; simplify it, or raise timeout_ns of its library"

// A request as read by the other process. `request` points into the bytes it was read from and into the rest of the
// job, so neither may move.
typedef struct igi_codegen_job {
    igi_simt_request request;
    igi_simt_stage stage;
    igi_codegen_limits limits;
    // What request points to:
    char *symbol, *name;
    ig_function_constant *constants;
    igi_simt_linked *linked;
    igi_simt_remarks remarks;
    igi_msl_sources sources;
} igi_codegen_job;

void igi_codegen_write_job(const igi_simt_request *request, igi_simt_stage stage, igi_codegen_limits limits,
                           igi_text *bytes);
// errors: BAD_FORMAT (also for a request of another version of Ingot), OUT_OF_MEMORY. The job must be freed in any
// case.
ig_status igi_codegen_read_job(const char *bytes, size_t length, igi_codegen_job *job, ig_error *error);
void igi_codegen_job_free(igi_codegen_job *job);

// `remarks` may be NULL.
void igi_codegen_write_reply(ig_status status, const char *message, const char *output, size_t length,
                             const igi_simt_remarks *remarks, igi_text *bytes);
// Fills what igi_simt_compile fills, and returns what it returned. errors: BAD_FORMAT when the reply is damaged.
ig_status igi_codegen_read_reply(const char *bytes, size_t count, igi_simt_remarks *remarks, char **output,
                                 size_t *length, ig_error *error);

#endif
