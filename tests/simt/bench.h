// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of src/simt: kernels between passes, and functions that examine the IR.
#ifndef INGOT_TESTS_SIMT_BENCH_H
#define INGOT_TESTS_SIMT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>
#include <llvm-c/Core.h>

#include "msl/reflect.h"
#include "simt/compile.h"
#include "simt/ir.h"
#include "simt/jit.h"
#include "simt/passes.h"
#include "simt/run.h"
#include "simt/target.h"

#define assert_ok(call) assert_string_equal(ig_status_name(call), "IG_STATUS_OK")

// Before every source.
#define METAL "#include <metal_stdlib>\nusing namespace metal;\n"
#define MATRIX "#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n"

// One kernel, between two passes.
typedef struct bench {
    char *bitcode;
    size_t length;
    igi_msl_reflection reflection;
    igi_simt_request request;
    igi_simt_module m;
    ig_error error;
} bench;

typedef ig_status (*pass)(igi_simt_module *m);

// The fixture of a group of tests that compile MSL.
int open_compiler(void **state);
int close_compiler(void **state);
// owns: *bitcode and *reflection are the caller's. Fails the test if the source is wrong.
void compile(const char *source, char **bitcode, size_t *length, igi_msl_reflection *reflection);

// A kernel of an MSL source before the first pass, and after `last` (each pass must leave valid IR).
bench *start(const char *source, const char *kernel);
bench *start_to(const char *source, const char *kernel, pass last);
// A function @thread, ptr (ptr group, i32 x, i32 y, i32 z, ptr lane), given as text. It needs no compiler.
bench *start_ir(const char *text);
// The same, given the text between the braces; functions that kernels may call are declared.
bench *start_body(const char *body);
void end(bench *b);
// Runs passes from the first up to and including `last`.
ig_status run_to(bench *b, pass last);
void verify(const bench *b, const char *what);

// Prepares and widens the thread. Fails the test if that is declined.
LLVMValueRef widen(bench *b, uint32_t width, bool full);
// Why it cannot be widened; NULL if it can.
const char *why_declined(bench *b, uint32_t width);

// The rest of the way: from a thread after the check pass to machine code of request.width lanes. Returns false if it
// cannot be widened.
bool load_code(bench *b, igi_simt_jit *jit, igi_simt_code *code);
// The kernel k of a source, by way of all passes. The caller unloads it.
igi_simt_code load_kernel(igi_simt_jit *jit, const char *source, uint32_t width);

// A grid of threads; its groups run one after the other. `narrow` is for groups that `code` cannot run.
typedef struct grid {
    uint32_t threads[3], group[3];
    void **arguments;  // 2 * IGI_MAX_SLOTS
} grid;
void run_grid(const grid *g, const igi_simt_code *code, const igi_simt_code *narrow);

// ---- Looking at IR ----

LLVMValueRef value_named(LLVMValueRef function, const char *name);
bool has_block(LLVMValueRef function, const char *name);
size_t count_if(LLVMValueRef function, bool (*wanted)(LLVMValueRef instruction));
size_t count_opcode(LLVMValueRef function, LLVMOpcode opcode);
size_t count_calls(LLVMValueRef function, const char *prefix);
// Loads, or stores, of vectors with this many elements; 1: of scalars.
size_t count_loads(LLVMValueRef function, unsigned elements);
size_t count_stores(LLVMValueRef function, unsigned elements);
size_t bodies(LLVMModuleRef module);
bool module_has(const igi_simt_module *m, const char *part);

#endif
