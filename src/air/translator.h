// SPDX-License-Identifier: Apache-2.0
// What the steps of the translation share.
#ifndef INGOT_AIR_TRANSLATOR_H
#define INGOT_AIR_TRANSLATOR_H

#include <ingot/device.h>
#include <llvm-c/Core.h>

#include "air/translate.h"
#include "core/memory.h"
#include "core/status-internal.h"

// An argument of the kernel, as the metadata describe it. Strings are owned.
typedef struct air_argument {
    char *kind;  // "air.buffer", "air.thread_position_in_grid"
    char *name, *type;
    char *condition;  // the function constant that switches it on; NULL if none
    int64_t location, space, size, alignment;
    ig_layout *layout;  // as ig_argument has it; NULL if it is no structure
    size_t layout_count, layout_capacity;
    int64_t count;   // of textures or samplers that it is an array of
    bool reference;  // T &, not T *
    bool written, write_only;
} air_argument;

typedef enum air_argument_class {
    AIR_BUFFER,
    AIR_TABLE,
    AIR_TEXTURE,
    AIR_SAMPLER,
    AIR_ATTRIBUTE,  // a member of [[stage_in]]
    AIR_BUILTIN
} air_argument_class;

enum { AIR_MAX_ARGUMENTS = 64 };

typedef struct air_translator {
    const char *name;  // of the kernel
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMModuleRef *runtime;  // the modules of runtime.h that were read
    LLVMBuilderRef builder;
    LLVMValueRef kernel;    // Apple's function
    ig_function_kind kind;  // what it is
    LLVMValueRef wrapper;   // ours, which calls it
    LLVMTypeRef i32, i64, pointer;
    air_argument arguments[AIR_MAX_ARGUMENTS];
    size_t argument_count;
    uint32_t max_threads;        // of a threadgroup; 0 if not stated
    uint64_t threadgroup_bytes;  // of variables
    bool flushes_denormals;
    ig_status status;  // the first failure, after which nothing else is reported
    ig_error *error;
} air_translator;

// All return false, so that a failing step can return their result.
__attribute__((format(printf, 3, 4))) bool igi_air_fail(air_translator *t, ig_status status, const char *format, ...);
bool igi_air_fail_memory(air_translator *t);
// "kernel 'x' uses WHAT, which ..."
bool igi_air_fail_unknown(air_translator *t, const char *what);

bool igi_air_verify(air_translator *t, ig_status status);  // fails with the status if LLVM finds the module broken

// The steps, in order. Each returns false if it failed.
bool igi_air_parse(air_translator *t, const char *bitcode, size_t length);  // parse.c: one address space
bool igi_air_read_metadata(air_translator *t);  // metadata.c: arguments, limits, options, function constants
bool igi_air_drop_logging(air_translator *t);   // logging.c: messages are not kept
bool igi_air_tidy(air_translator *t);           // tidy.c: names, linkage, attributes, metadata
bool igi_air_lower_matrices(air_translator *t, LLVMValueRef function);  // matrices.c
bool igi_air_lower_calls(air_translator *t, LLVMValueRef function);     // calls.c
bool igi_air_unroll_recursion(air_translator *t);                       // recursion.c
bool igi_air_wrap(air_translator *t);                                   // wrapper.c: the kernel as src/simt binds it
bool igi_air_expose(air_translator *t);                                 // visible.c: the same for a visible function
bool igi_air_link_runtime(air_translator *t);                           // runtime.c
bool igi_air_place_threadgroup(air_translator *t);                      // threadgroup.c, once everything is inlined

bool igi_air_check_threadgroup(air_translator *t);  // that nothing of it is left

bool igi_air_open_runtime(air_translator *t);
void igi_air_close_runtime(air_translator *t);
// A call of a function of the runtime. NULL if there is none of this name and type.
LLVMValueRef igi_air_call_runtime(air_translator *t, const char *symbol, LLVMTypeRef result, LLVMValueRef *arguments,
                                  unsigned count);
LLVMValueRef igi_air_call_intrinsic(air_translator *t, const char *name, LLVMTypeRef *types, size_t type_count,
                                    LLVMValueRef *arguments, unsigned count);
// An annotation of a variable, as clang makes of our attributes; `argument` < 0: without a number.
void igi_air_annotate(air_translator *t, LLVMValueRef variable, const char *text, int64_t argument);
const char *igi_air_symbol(LLVMValueRef value);
// Calls of textures.c: air.sample_texture_2d.v4f32. NULL: it is not known.
bool igi_air_is_texture_call(const char *name);
LLVMValueRef igi_air_lower_texture_call(air_translator *t, const char *name, LLVMValueRef call);
// visible.c: the visible functions that the module declares and calls get the names by which src/simt finds them.
bool igi_air_name_reference(air_translator *t, LLVMValueRef function, const char *name);
// samplers.c: the state of a sampler that the source has.
bool igi_air_read_sampler(air_translator *t, const uint64_t words[2], uint64_t *state);
// stage-input.c: the value of an attribute, of this type; NULL: it is none that kernels have.
LLVMValueRef igi_air_fetch_attribute(air_translator *t, const air_argument *argument, LLVMTypeRef type);
air_argument_class igi_air_class_of(const air_argument *argument);        // metadata.c
bool igi_air_is_array(const air_argument *argument);                      // of textures or samplers
bool igi_air_reflect(air_translator *t, igi_msl_reflection *reflection);  // reflection.c
bool igi_air_runs(const air_translator *t);  // that it is a kernel or a visible function; others are only reflected

// As igi_air_translate, of a module that igi_air_parse made: for tests that change it in between.
// pre: LLVM finds it valid. owns: takes the module; its context stays the caller's.
ig_status igi_air_translate_parsed(LLVMModuleRef module, const char *name, char **output, size_t *output_length,
                                   ig_error *error);

// Named by parse.c.
#define AIR_THREADGROUP_SECTION "air.threadgroup"
#define AIR_WRAPPER "air.kernel"
// Before the name of a visible function, where it is declared and where it is defined.
#define AIR_VISIBLE_PREFIX "air.visible:"

#endif
