// SPDX-License-Identifier: Apache-2.0
// Makes object files runnable inside this process.
#ifndef INGOT_SIMT_JIT_H
#define INGOT_SIMT_JIT_H

#include <stddef.h>

#include "core/status-internal.h"
#include "simt/launch.h"

typedef struct igi_simt_jit igi_simt_jit;

// Tools that are informed about the code, so that they can show it by kernel and source line.
typedef enum igi_simt_jit_audience { IGI_JIT_NOBODY = 0, IGI_JIT_GDB = 1, IGI_JIT_PERF = 2 } igi_simt_jit_audience;

// `audience`: any of igi_simt_jit_audience. errors: UNSUPPORTED if this LLVM cannot inform them.
ig_status igi_simt_jit_create(unsigned audience, igi_simt_jit **jit, ig_error *error);
void igi_simt_jit_destroy(igi_simt_jit *jit);  // after all its code has been unloaded

// One kernel, ready to run.
typedef struct igi_simt_code {
    igi_simt_code_info info;
    igi_simt_run_function run;      // loop form
    igi_simt_start_function start;  // coroutine form
    igi_simt_resume_function resume;
    const struct igi_simt_checked_table *sites;  // of instrumented code
    struct igi_simt_lines *lines;                // lines.h, owned; NULL: nobody asks for them
    uint64_t frame_bytes;                        // of a coroutine, or of a waiting group of lanes
    void *unit;                                  // the JIT's
} igi_simt_code;

// `name`: the kernel that its functions are named after, for an object with line tables; otherwise NULL.
// threads: any number at once. errors: BAD_FORMAT if the object is damaged or of another version.
ig_status igi_simt_jit_load(igi_simt_jit *jit, const char *object, size_t length, const char *name, igi_simt_code *code,
                            ig_error *error);
void igi_simt_jit_unload(igi_simt_jit *jit, igi_simt_code *code);

#endif
