// SPDX-License-Identifier: Apache-2.0
// Devices, buffers, libraries, pipelines, queues, command buffers and events.
//
// Ownership: create gives one reference; retain adds one, release takes one away and release(NULL) does nothing.
// An object keeps alive what it was made from. Descriptors are copied; zero in a descriptor is the stated default.
// Errors: calls without an ig_error leave their sentence for ig_last_error (status.h).
// Threads: every object may be used from any thread. Encoding into one ig_commands is for one thread at a time.
// Processes: after fork() the child's calls on objects of its parent fail with FORKED, and releasing them does nothing. It
// may read the contents of buffers, and create a device of its own.
#ifndef INGOT_DEVICE_H
#define INGOT_DEVICE_H

#include <ingot/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct ig_device ig_device;
typedef struct ig_buffer ig_buffer;
typedef struct ig_library ig_library;
typedef struct ig_pipeline ig_pipeline;
typedef struct ig_queue ig_queue;
typedef struct ig_commands ig_commands;
typedef struct ig_event ig_event;

// Width, height and depth of a grid or threadgroup. A zero height or depth after a non-zero width counts as 1.
typedef struct ig_size {
    uint64_t x, y, z;
} ig_size;

#define IG_FOREVER UINT64_MAX  // for every timeout_ns

// ---- Devices ----

typedef struct ig_device_properties {
    char name[128];         // "Ingot software Metal device (AMD EPYC, 2 cores)"
    char backend[16];       // "cpu" or "metal"
    char target[64];        // processor the code is made for, "znver4"
    char features[256];     // its vector extensions, "avx2 fma f16c"
    char compiler[64];      // what makes the code, "LLVM 19.1.7, /usr/bin/clang-19"
    uint64_t memory_bytes;  // of the whole device
    uint64_t max_buffer_bytes;
    uint32_t max_threads_per_threadgroup;  // 1024
    uint32_t execution_width;              // threads of a simdgroup: 32
    uint32_t max_threadgroup_memory;       // 32768
    uint32_t max_buffer_arguments;         // 31
    uint32_t worker_count;                 // CPU threads that run kernels; 0 on a GPU
    uint32_t language_version;             // newest MSL it compiles, 310 for 3.1
    bool unified_memory;
} ig_device_properties;

// Fills up to `capacity` entries and sets *count to the number of devices of this machine.
ig_status ig_device_enumerate(ig_device_properties *devices, size_t capacity, size_t *count);

// Defaults: the device INGOT_DEVICE names ("cpu", "metal" or an index), else the first enumerated.
typedef struct ig_device_desc {
    const char *name;       // "cpu", "metal", or an index as text
    uint32_t worker_count;  // 0: INGOT_WORKERS, else one per core this process may use
    uint64_t deadline_ns;   // for command buffers that set none; 0: none
    // NULL: INGOT_CACHE_DIR, else ingot/ in the XDG cache; "" turns the disk cache off. A directory that other users
    // own or can write is not used, which is logged.
    const char *cache_dir;
    uint64_t cache_bytes;   // bound of the disk cache; 0: 512 MiB. An entry larger than a quarter of it is not kept
    const char *jit_debug;  // show kernels and their lines to "gdb", "perf" or "gdb,perf"; NULL: INGOT_JIT_DEBUG
} ig_device_desc;

ig_status ig_device_create(const ig_device_desc *desc, ig_device **device, ig_error *error);
ig_device *ig_device_retain(ig_device *device);
void ig_device_release(ig_device *device);
void ig_device_get_properties(const ig_device *device, ig_device_properties *properties);

typedef struct ig_device_stats {
    uint64_t buffer_bytes, buffer_count;  // alive now
    uint64_t peak_buffer_bytes;
    uint64_t compilations;            // times clang ran
    uint64_t memory_hits, disk_hits;  // libraries and pipelines served from memory and from disk
    uint64_t dispatches;
} ig_device_stats;
void ig_device_get_stats(const ig_device *device, ig_device_stats *stats);

// ---- Buffers ----

typedef enum ig_storage {
    IG_STORAGE_SHARED,   // host and device see the same memory
    IG_STORAGE_PRIVATE,  // device only: no contents, fill it by copies
    IG_STORAGE_MANAGED,  // host writes become visible through ig_buffer_did_modify
} ig_storage;

// length > 0. With `bytes`, they are copied in (for private storage too); otherwise the buffer starts as zeros.
// With `no_copy`, the memory stays the caller's, is used in place and must outlive the buffer; `deallocate`,
// if set, is called when the buffer ends.
// With `pooled`, the memory comes from the device's pool and goes back there with the last reference, which command
// buffers hold too; unless `bytes` are given, what it holds is undefined. Storage must be shared.
typedef struct ig_buffer_desc {
    uint64_t length;
    ig_storage storage;
    bool pooled;
    const void *bytes;
    void *no_copy;
    void (*deallocate)(void *memory, uint64_t length, void *user);
    void *user;
    const char *label;
} ig_buffer_desc;

ig_status ig_buffer_create(ig_device *device, const ig_buffer_desc *desc, ig_buffer **buffer);
ig_buffer *ig_buffer_retain(ig_buffer *buffer);
void ig_buffer_release(ig_buffer *buffer);
void *ig_buffer_contents(const ig_buffer *buffer);  // NULL for private storage
uint64_t ig_buffer_length(const ig_buffer *buffer);
uint64_t ig_buffer_id(const ig_buffer *buffer);  // unique in this process, never reused
ig_storage ig_buffer_storage(const ig_buffer *buffer);
const char *ig_buffer_label(const ig_buffer *buffer);  // "" when none was given
// Address a kernel sees, for pointers inside argument buffers.
uint64_t ig_buffer_device_address(const ig_buffer *buffer);
// Says that the host wrote this range. errors: OUT_OF_RANGE; WRONG_STATE unless managed.
ig_status ig_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length);
// Checked copies between host memory and a shared or managed buffer. errors: OUT_OF_RANGE; WRONG_STATE when private.
ig_status ig_buffer_write(ig_buffer *buffer, uint64_t offset, const void *bytes, uint64_t length);
ig_status ig_buffer_read(const ig_buffer *buffer, uint64_t offset, void *bytes, uint64_t length);

// Memory of pooled buffers is kept for the next one: sizes are powers of two, a request takes an idle block of its own
// size or of the next, and what is idle stays below a quarter of the device's memory (INGOT_POOL_BYTES sets another
// bound). When memory is short, idle blocks are given back before anything fails.
typedef struct ig_pool_stats {
    uint64_t total_bytes;  // in use and idle, in whole blocks
    uint64_t used_bytes, idle_bytes;
    uint64_t peak_bytes;  // of total_bytes
    uint64_t idle_count;
    uint64_t hits, misses;  // requests served from idle blocks, and those that were not
    double hit_rate;        // hits among all; 0 before the first
} ig_pool_stats;
void ig_device_get_pool_stats(ig_device *device, ig_pool_stats *stats);
// Gives idle blocks back to the system, largest first, until at most `keep_bytes` are idle.
void ig_device_trim_pool(ig_device *device, uint64_t keep_bytes);

// ---- Libraries ----

typedef enum ig_math_mode { IG_MATH_FAST, IG_MATH_SAFE } ig_math_mode;  // fast is Metal's default

typedef struct ig_define {
    const char *name;
    const char *value;  // NULL: 1
} ig_define;

// Exactly one of `source` and `path`.
typedef struct ig_library_desc {
    const char *source;    // MSL text
    size_t source_length;  // 0: source ends at its NUL
    const char *path;      // of a .metal file
    const char *name;      // how diagnostics call `source`; NULL: "program_source"
    const ig_define *defines;
    size_t define_count;
    const char *const *include_dirs;  // files outside of these and of the directory of `path` cannot be included
    size_t include_dir_count;
    uint32_t language_version;  // 300 for Metal 3.0; 0: 310
    ig_math_mode math_mode;
    bool line_tables;     // keep source lines, for remarks, debuggers and profilers; costs compile time
    uint64_t timeout_ns;  // CPU time for the compiler, clock time if it does not use the CPU; 0: 60 s
} ig_library_desc;

ig_status ig_library_create(ig_device *device, const ig_library_desc *desc, ig_library **library, ig_error *error);
ig_library *ig_library_retain(ig_library *library);
void ig_library_release(ig_library *library);
// Warnings of the compiler with source lines and carets, "" when there were none. Lives as long as the library.
const char *ig_library_log(const ig_library *library);

typedef enum ig_argument_kind {
    IG_ARGUMENT_BUFFER,       // device or constant pointer or reference, set by set_buffer or set_bytes
    IG_ARGUMENT_THREADGROUP,  // threadgroup pointer, set by set_threadgroup_memory
    IG_ARGUMENT_BUILTIN,      // thread position and the like, given by the device
} ig_argument_kind;

typedef enum ig_access { IG_ACCESS_NONE, IG_ACCESS_READ, IG_ACCESS_WRITE, IG_ACCESS_READ_WRITE } ig_access;

typedef struct ig_argument {
    const char *name;
    const char *type;           // "const float *", "metal::vec<uint, 3>"
    const char *attribute;      // "buffer", "threadgroup", "thread_position_in_grid", ...
    const char *address_space;  // "device", "constant", "threadgroup"; "" for built-ins
    const char *condition;      // name of the function constant that switches it on; "" when always there
    ig_argument_kind kind;
    ig_access access;
    uint32_t index;      // of the buffer or threadgroup slot; 0 for built-ins
    uint32_t min_bytes;  // what the bound range must hold at least: size of a reference's object, else one element
} ig_argument;

typedef struct ig_kernel_info {
    const char *name;
    const ig_argument *arguments;
    size_t argument_count;
    uint32_t static_threadgroup_memory;
    uint32_t max_total_threads;  // from [[max_total_threads_per_threadgroup(n)]]; 0 when not stated
} ig_kernel_info;

typedef enum ig_type {
    IG_TYPE_BOOL,
    IG_TYPE_I8,
    IG_TYPE_U8,
    IG_TYPE_I16,
    IG_TYPE_U16,
    IG_TYPE_I32,
    IG_TYPE_U32,
    IG_TYPE_I64,
    IG_TYPE_U64,
    IG_TYPE_F16,
    IG_TYPE_BF16,
    IG_TYPE_F32,
    IG_TYPE_COUNT,
} ig_type;
const char *ig_type_name(ig_type type);  // "f32"
uint32_t ig_type_size(ig_type type);

typedef struct ig_function_constant_info {
    const char *name;
    uint32_t id;
    ig_type type;
    uint32_t components;  // 1 to 4
} ig_function_constant_info;

// Borrowed from the library, in source order.
size_t ig_library_kernel_count(const ig_library *library);
const ig_kernel_info *ig_library_kernel(const ig_library *library, size_t index);           // NULL past the end
const ig_kernel_info *ig_library_find_kernel(const ig_library *library, const char *name);  // NULL when absent
size_t ig_library_function_constant_count(const ig_library *library);
const ig_function_constant_info *ig_library_function_constant(const ig_library *library, size_t index);

// ---- Pipelines ----

typedef struct ig_function_constant {
    const char *name;  // or NULL to go by id
    uint32_t id;
    ig_type type;
    const void *value;    // `components` values of `type`
    uint32_t components;  // 0: 1
} ig_function_constant;

typedef struct ig_pipeline_desc {
    const char *kernel;
    const ig_function_constant *constants;
    size_t constant_count;
    const char *label;
} ig_pipeline_desc;

typedef struct ig_pipeline_properties {
    uint32_t max_threads_per_threadgroup;
    uint32_t execution_width;
    uint32_t static_threadgroup_memory;
    uint32_t simt_width;  // threads per machine register on the software device; 0 on a GPU
} ig_pipeline_properties;

ig_status ig_pipeline_create(ig_library *library, const ig_pipeline_desc *desc, ig_pipeline **pipeline,
                             ig_error *error);
ig_pipeline *ig_pipeline_retain(ig_pipeline *pipeline);
void ig_pipeline_release(ig_pipeline *pipeline);
void ig_pipeline_get_properties(const ig_pipeline *pipeline, ig_pipeline_properties *properties);
// Arguments of this specialisation: those whose function_constant condition is false are left out.
const ig_kernel_info *ig_pipeline_kernel(const ig_pipeline *pipeline);
// The threadgroup size a dispatch with a zero group gets.
ig_size ig_pipeline_threadgroup_size(const ig_pipeline *pipeline, ig_size grid);

// What the software device's compiler made: "llvm" (per thread), "simt" (per threadgroup) or "asm".
// owns: *text is the caller's, free() it. errors: UNSUPPORTED on a GPU, INVALID_ARGUMENT for another stage.
ig_status ig_pipeline_emit(ig_pipeline *pipeline, const char *stage, char **text);

// What became of the kernel on the software device: at which width it runs, and what keeps it from running faster.
typedef struct ig_remark {
    const char *kind;  // "width", "barrier", "gather", "row-gather", "row-scatter", "scatter", "one-by-one",
                       // "divergent-loop", "divergent-branch", "private-array", "not-vectorised"
    const char *file;  // as the user named it; "" when the library has no line tables
    const char *text;
    uint32_t line, column;  // 1-based; 0 when not known
} ig_remark;
// The width first, then by place. owns: *remarks is the caller's, one free() for all. errors: UNSUPPORTED on a GPU.
ig_status ig_pipeline_get_remarks(ig_pipeline *pipeline, ig_remark **remarks, size_t *count);

// ---- Queues and command buffers ----

ig_status ig_queue_create(ig_device *device, ig_queue **queue);
ig_queue *ig_queue_retain(ig_queue *queue);
void ig_queue_release(ig_queue *queue);

typedef enum ig_commands_state {
    IG_COMMANDS_ENCODING,
    IG_COMMANDS_COMMITTED,
    IG_COMMANDS_RUNNING,
    IG_COMMANDS_COMPLETED,
    IG_COMMANDS_FAILED,
} ig_commands_state;

typedef struct ig_commands_desc {
    uint64_t deadline_ns;  // running time after which the command buffer fails with TIMEOUT; 0: the device's
    const char *label;
} ig_commands_desc;

ig_status ig_commands_create(ig_queue *queue, const ig_commands_desc *desc, ig_commands **commands);
ig_commands *ig_commands_retain(ig_commands *commands);
void ig_commands_release(ig_commands *commands);

// State set here stays for later dispatches of the same command buffer. Encoded buffers and pipelines are retained.
ig_status ig_commands_set_pipeline(ig_commands *commands, ig_pipeline *pipeline);
// A NULL buffer unbinds the slot.
ig_status ig_commands_set_buffer(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint32_t index);
ig_status ig_commands_set_bytes(ig_commands *commands, const void *bytes, uint64_t length, uint32_t index);
ig_status ig_commands_set_threadgroup_memory(ig_commands *commands, uint64_t length, uint32_t index);

// Work, in order; each sees what the ones before it wrote. A group of zeros is chosen by the device.
// errors (also at commit): UNBOUND_ARGUMENT, BUFFER_TOO_SMALL, THREADGROUP_TOO_LARGE, WRONG_STATE without pipeline.
ig_status ig_commands_dispatch_threads(ig_commands *commands, ig_size grid, ig_size group);
ig_status ig_commands_dispatch_threadgroups(ig_commands *commands, ig_size groups, ig_size group);
// Three uint32_t group counts are read from the buffer when the dispatch runs.
ig_status ig_commands_dispatch_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset, ig_size group);
ig_status ig_commands_copy(ig_commands *commands, ig_buffer *source, uint64_t source_offset, ig_buffer *target,
                           uint64_t target_offset, uint64_t length);
ig_status ig_commands_fill(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint64_t length, uint8_t value);
// Memory barrier between dispatches; the software device runs in order anyway.
ig_status ig_commands_barrier(ig_commands *commands);
ig_status ig_commands_wait_event(ig_commands *commands, ig_event *event, uint64_t value);
ig_status ig_commands_signal_event(ig_commands *commands, ig_event *event, uint64_t value);

// Called once each, in order, on any thread, when the commands ended or failed; ig_commands_wait returns after them.
typedef void (*ig_commands_callback)(ig_commands *commands, ig_status status, void *user);
ig_status ig_commands_on_completed(ig_commands *commands, ig_commands_callback callback, void *user);

// Hands the commands to the queue and returns at once. Fails, running nothing, with the first error of encoding.
ig_status ig_commands_commit(ig_commands *commands);
// Status of the finished command buffer; TIMEOUT when it is not finished after timeout_ns (it goes on running).
ig_status ig_commands_wait(ig_commands *commands, uint64_t timeout_ns);
ig_commands_state ig_commands_get_state(const ig_commands *commands);
// Why it failed, or which encoding call did. owns: fills the caller's error; OK and an empty one when nothing failed.
ig_status ig_commands_get_error(const ig_commands *commands, ig_error *error);

// Monotonic nanoseconds. Zero while not yet reached.
typedef struct ig_timing {
    uint64_t start_ns, end_ns;
} ig_timing;
void ig_commands_get_timing(const ig_commands *commands, ig_timing *timing);
size_t ig_commands_dispatch_count(const ig_commands *commands);
// errors: UNSUPPORTED where the device tells the time of whole command buffers only, and this one has several.
ig_status ig_commands_get_dispatch_timing(const ig_commands *commands, size_t index, ig_timing *timing);

// ---- Events ----

// A counter that only grows, shared by queues and host.
ig_status ig_event_create(ig_device *device, ig_event **event);
ig_event *ig_event_retain(ig_event *event);
void ig_event_release(ig_event *event);
uint64_t ig_event_value(const ig_event *event);
// A value below the present one changes nothing.
ig_status ig_event_signal(ig_event *event, uint64_t value);
ig_status ig_event_wait(ig_event *event, uint64_t value, uint64_t timeout_ns);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
