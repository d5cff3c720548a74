// SPDX-License-Identifier: Apache-2.0
// From bitcode and a kernel's name to an object file for the target (simt/target.h).
#ifndef INGOT_SIMT_COMPILE_H
#define INGOT_SIMT_COMPILE_H

#include <ingot/device.h>

#include "core/status-internal.h"
#include "simt/remarks.h"

enum { IGI_KNOWN_LAYOUTS = 16 };

// A [[visible]] function that the kernel may call, directly or through a table, in which it is its place in the list
// plus 1.
typedef struct igi_simt_linked {
    const char *bitcode;  // NULL: of the kernel
    size_t bitcode_length;
    const char *symbol;
} igi_simt_linked;

typedef struct igi_simt_request {
    const char *bitcode;
    size_t bitcode_length;
    const char *symbol;  // of the kernel in the bitcode
    const char *name;    // the user's name for it
    const ig_function_constant *constants;
    size_t constant_count;
    bool unset_constants_are_zero;
    const igi_simt_linked *linked;
    size_t linked_count;
    bool fast_math;     // IG_MATH_FAST
    bool abortable;     // loops look at the abort flag
    uint32_t width;     // lanes: 0 chooses, 1 is one thread at a time
    bool declined;      // width is 1 because no wider code could be made
    uint32_t group[3];  // threads of every threadgroup it will run; 0: any
    bool batches;       // it may do several threadgroups, neighbours in x, at a time
    bool streaming;     // it will write more than caches hold
    bool first_tier;    // it is wanted soon, and replaced if it runs for long
    bool line_tables;   // the bitcode has source lines: functions keep them and are called after the kernel
    bool variables;     // the bitcode describes them, for a debugger: nothing is optimised
    bool scheduled;     // threads are started one by one, in any order
    // Formats of the first textures, as in msl/stdlib/__ingot_texture_layout, which become constants; 0: not known.
    uint64_t layouts[IGI_KNOWN_LAYOUTS];
    uint32_t check;             // IGI_CHECK_ of simt/checked/state.h: what is checked while it runs
    igi_simt_remarks *remarks;  // remarks are added here; NULL: not wanted
    uint32_t stack_bytes;       // other than IGI_STACK_BYTES, for tests; 0: the same
} igi_simt_request;

typedef enum igi_simt_stage {
    IGI_STAGE_NONE,
    IGI_STAGE_OBJECT,
    IGI_STAGE_LLVM,  // one thread, optimised, before it becomes a threadgroup
    IGI_STAGE_SIMT,  // the threadgroup, optimised
    IGI_STAGE_ASM,
    IGI_STAGE_REMARKS,  // no output; request->remarks is complete
    // For src/codegen: the bitcode is AIR, of which only the name is known, and becomes what air/translate.h describes.
    IGI_STAGE_TRANSLATED,
    IGI_STAGE_AIR,  // the same bitcode as text
} igi_simt_stage;

// owns: *output is the caller's; text stages are NUL-terminated.
// errors: WRONG_CONSTANT, UNSUPPORTED (recursion, mutable globals...), OUT_OF_MEMORY, INTERNAL.
ig_status igi_simt_compile(const igi_simt_request *request, igi_simt_stage stage, char **output, size_t *length,
                           ig_error *error);

// Prepares LLVM, so that a process forked from this one compiles its first kernel as quickly as its second. Sets options
// of LLVM: only for a process of its own.
void igi_simt_warm_up(void);

#endif
