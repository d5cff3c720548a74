// SPDX-License-Identifier: Apache-2.0
// The software Metal device: MSL compiled by src/msl and src/simt, run by worker threads on the CPU.
#ifndef INGOT_DEVICE_CPU_H
#define INGOT_DEVICE_CPU_H

#include "codegen/codegen.h"
#include "core/disk-cache.h"
#include "core/pool.h"
#include "core/watchdog.h"
#include "device/backend.h"
#include "device/cpu/memory.h"
#include "msl/compiler.h"
#include "simt/compile.h"
#include "simt/jit.h"

// Which dispatches get code for their threadgroup size.
typedef enum cpu_shaping { CPU_SHAPE_LARGE, CPU_SHAPE_ALWAYS, CPU_SHAPE_NEVER } cpu_shaping;

// What code of a program is made: quickly made code, optimised code, or first the one and then the other.
typedef enum cpu_tier { CPU_TIER_ANY, CPU_TIER_FIRST, CPU_TIER_SECOND, CPU_TIER_BOTH } cpu_tier;

typedef struct cpu_device {
    igi_pool *pool;
    igi_msl_compiler *compiler;
    igi_disk_cache *cache;
    igi_codegen *codegen;
    igi_simt_jit *jit;
    igi_watchdog *watchdog;
    char *cache_dir;
    uint32_t width;  // of compiled kernels; 0: the compiler chooses
    cpu_shaping shaping;
    cpu_tier tier;                // of all programs; CPU_TIER_ANY: each has its own
    bool line_tables;             // for every library: a debugger or profiler is attached
    bool variables;               // a debugger shows them: nothing is optimised, one thread runs at a time
    struct cpu_checker *checker;  // NULL: kernels run unchecked
    uint32_t checks;              // IG_CHECK_
    bool keeps_origins;           // dispatches may be captured
    struct cpu_samples *samples;  // NULL: source lines are not counted
    uint64_t schedule;            // not 0: the order of threads is made from it
    igi_device_slabs slabs;
    pthread_mutex_t lock;           // guards what follows
    struct cpu_captures *captures;  // NULL: no dispatch is captured
    struct cpu_module *modules;     // alive, by key
    struct cpu_program *programs;   // alive, by key
    igi_pool *background;           // makes code of the second tier; NULL: there was none to make yet
    igi_pool *creators;             // make pipelines that nobody waits for; NULL: likewise
} cpu_device;

// A compiled library, shared by all ig_library of the same key.
typedef struct cpu_module {
    uint64_t references;  // guarded by the device's lock
    igi_hash key;
    char *bitcode;
    size_t bitcode_length;
    char *log;  // the compiler's warnings
    ig_math_mode math_mode;
    bool flushes_denormals;
    uint64_t timeout_ns;  // for compiling one of its kernels; 0: the default
    bool line_tables;
    igi_msl_sources sources;  // with line tables: the user's names of files, and columns
    struct cpu_compiled
        *compiled;              // kernels that were compiled elsewhere, each a module of its own; NULL: bitcode is here
    struct cpu_units *units;    // of a library that Ingot's own tools wrote, each a module; NULL: bitcode is here
    struct cpu_origin *origin;  // what it was made of, when dispatches are captured; may be NULL
    struct cpu_module *next;
} cpu_module;

// What code was compiled for.
typedef struct cpu_purpose {
    bool abortable;                       // looks at the abort flag
    bool narrow;                          // runs one thread at a time
    bool streaming;                       // writes more than caches hold
    bool first_tier;                      // made quickly; the same variant may have better code later
    uint32_t check;                       // IG_CHECK_: looks for these
    bool scheduled;                       // starts threads one by one
    uint32_t group[3];                    // threadgroups of this size only; 0: of any
    uint64_t layouts[IGI_KNOWN_LAYOUTS];  // of textures
} cpu_purpose;

typedef struct cpu_variant {
    cpu_purpose purpose;
    igi_simt_code code;                      // that was made when it was first needed
    igi_simt_code better;                    // that was made in the background
    _Atomic(const igi_simt_code *) current;  // one of them; NULL: neither is there
    atomic_bool failed;                      // what was tried last
    atomic_bool settled;                     // no better code will come, or it is being made
    atomic_uint_fast64_t spent_ns;           // that dispatches ran which better code would make shorter
    uint64_t worth_ns;                       // after which better code is made
    struct cpu_variant *next;
} cpu_variant;

// A kernel with its constants, shared by all ig_pipeline of the same key and tier. Code is made when first needed.
typedef struct cpu_program {
    uint64_t references;  // guarded by the device's lock
    igi_hash key;
    cpu_module *module;
    char *symbol, *name;
    bool single;                      // its threadgroups have one thread
    ig_function_constant *constants;  // owned, with their values
    size_t constant_count;
    bool unset_constants_are_zero;
    cpu_tier tier;
    igi_simt_linked *linked;      // functions; symbols are owned
    cpu_module **linked_modules;  // of each, referenced
    size_t linked_count;
    pthread_mutex_t lock;  // guards what follows
    struct cpu_variant *variants;
    struct cpu_program *next;
} cpu_program;

static inline cpu_device *igi_cpu(const ig_device *device) {
    return device->state;
}

ig_status igi_cpu_library_open(ig_library *library, const ig_library_desc *desc, ig_error *error);
void igi_cpu_library_close(ig_library *library);
ig_status igi_cpu_pipeline_open(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                ig_error *error);
void igi_cpu_pipeline_close(ig_pipeline *pipeline);
ig_status igi_cpu_pipeline_emit(ig_pipeline *pipeline, const char *stage, char **text);
ig_status igi_cpu_pipeline_remarks(ig_pipeline *pipeline, ig_remark **remarks, size_t *count);
// Formats that are likely to be bound, for code that is made before they are.
void igi_cpu_guess_layouts(const ig_kernel_info *kernel, uint64_t layouts[IGI_KNOWN_LAYOUTS]);
cpu_program *igi_cpu_program_retain(cpu_device *cpu, cpu_program *program);
void igi_cpu_program_release(cpu_device *cpu, cpu_program *program);
igi_simt_request igi_cpu_simt_request(const cpu_device *cpu, const cpu_program *program, cpu_purpose purpose);
ig_status igi_cpu_generate(ig_device *device, const cpu_program *program, const igi_simt_request *request,
                           igi_simt_stage stage, char **output, size_t *length, ig_error *error);
// The best code of a variant so far; NULL: there is none yet.
static inline const igi_simt_code *igi_cpu_variant_code(cpu_variant *variant) {
    return atomic_load_explicit(&variant->current, memory_order_acquire);
}

// The variant for a purpose, which has code; compiled on first use.
ig_status igi_cpu_program_variant(ig_device *device, cpu_program *program, cpu_purpose purpose, cpu_variant **variant,
                                  ig_error *error);
// How often this thread has compiled or loaded code.
uint64_t igi_cpu_codes_made(void);
// Whether a dispatch reads and writes more than the caches hold.
bool igi_cpu_exceeds_caches(const igi_device_dispatch *dispatch, uint64_t threads);
// Whether a dispatch of this many threads is worth specialised code and its own order of threads.
bool igi_cpu_is_worth_shaping(const cpu_device *cpu, uint64_t threads);
// The variant for threadgroups of this size, which may have no code, or none yet. NULL: there is none.
cpu_variant *igi_cpu_shaped_variant(ig_device *device, cpu_program *program, cpu_purpose purpose);
// Makes or loads code for the purpose, of the tier it says; *how: "cache" or "LLVM".
ig_status igi_cpu_make_code(ig_device *device, const cpu_program *program, cpu_purpose purpose, igi_simt_code *code,
                            ig_error *error);
bool igi_cpu_load_cached(ig_device *device, const cpu_program *program, cpu_purpose purpose, igi_simt_code *code);

ig_status igi_cpu_buffer_open(ig_buffer *buffer, const ig_buffer_desc *desc);
void igi_cpu_buffer_close(ig_buffer *buffer);
// Whether the address is in the buffer's memory or in the guards around it.
bool igi_cpu_is_near_buffer(const ig_buffer *buffer, uint64_t address);

void igi_cpu_module_release(cpu_device *cpu, cpu_module *module);
// A request with what the device adds to every one: line tables for debuggers, marks for checks.
void igi_cpu_complete_request(const ig_device *device, const ig_library_desc *desc, igi_msl_request *request);
// A packed library (msl/packed.h) from a file, which is known to be made for a request.
typedef struct cpu_kept {
    igi_hash key;  // that of its module
    const char *packed;
    size_t length;
} cpu_kept;
// Opens the request as a library: what was kept for it, if that is not NULL and sound; else from memory, from disk, or from
// clang. Sets reflection, log and state. The module of what was kept is not shared with other libraries.
ig_status igi_cpu_open_request(ig_library *library, igi_msl_request *request, const cpu_kept *kept, ig_error *error);

ig_status igi_cpu_queue_open(ig_queue *queue);
void igi_cpu_queue_close(ig_queue *queue);
ig_status igi_cpu_commit(ig_commands *commands);
void igi_cpu_assist(ig_commands *commands);
ig_status igi_cpu_run_here(ig_commands *commands, ig_error *error);

// Runs one dispatch to its end on this thread and idle workers.
ig_status igi_cpu_dispatch(ig_commands *commands, igi_device_dispatch *dispatch, ig_error *error);

#endif
