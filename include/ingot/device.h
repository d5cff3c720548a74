// SPDX-License-Identifier: Apache-2.0
// Devices, buffers, libraries, pipelines, queues, command buffers and events.
//
// Ownership: create gives the caller one reference, retain adds one, release gives one up; release(NULL) does nothing.
// An object keeps alive what it was made from. Descriptors are copied. Zero in a descriptor selects the stated default,
// and a NULL descriptor, where all fields have defaults, stands for one of zeros.
// Errors: calls that take no ig_error leave the reason for ig_last_error (status.h).
// Threads: every object may be used from any thread. Only one thread at a time may encode into an ig_commands.
// Processes: after fork(), the child's calls on objects of its parent fail with FORKED, and releasing them does nothing.
// The child may read the contents of buffers, and create a device of its own.
#ifndef INGOT_DEVICE_H
#define INGOT_DEVICE_H

#include <ingot/check.h>
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

typedef struct ig_device ig_device;                  // a GPU, or the CPU as a software Metal device
typedef struct ig_buffer ig_buffer;                  // memory that kernels can access
typedef struct ig_library ig_library;                // compiled MSL source
typedef struct ig_pipeline ig_pipeline;              // one kernel of a library, specialised and ready to run
typedef struct ig_queue ig_queue;                    // command buffers that run in order
typedef struct ig_commands ig_commands;              // a command buffer: a list of work that runs once
typedef struct ig_event ig_event;                    // a counter that queues and the host wait for
typedef struct ig_function_table ig_function_table;  // functions that a kernel calls by number

// Width, height and depth of a grid or threadgroup. A zero height or depth after a non-zero width counts as 1.
typedef struct ig_size {
    uint64_t x, y, z;
} ig_size;

#define IG_FOREVER UINT64_MAX  // as timeout_ns: wait as long as it takes

// ---- Devices ----

// What a device is and can do.
typedef struct ig_device_properties {
    char name[128];         // "Ingot software Metal device (AMD EPYC, 2 cores)"
    char backend[16];       // "cpu" or "metal"
    char target[64];        // the processor that code is generated for, "znver4"
    char features[256];     // its vector extensions, "avx2 fma f16c"
    char compiler[64];      // what generates the code, "LLVM 19.1.7, /usr/bin/clang-19"
    uint64_t memory_bytes;  // total memory
    uint64_t max_buffer_bytes;
    uint32_t max_threads_per_threadgroup;  // 1024
    uint32_t execution_width;              // threads in a simdgroup: 32
    uint32_t max_threadgroup_memory;       // 32768
    uint32_t max_buffer_arguments;         // 31
    uint32_t worker_count;                 // CPU threads that run kernels; 0 on a GPU
    uint32_t language_version;             // the newest MSL it compiles, 410 for 4.1
    bool unified_memory;                   // host and device share physical memory
} ig_device_properties;

// Lists the devices of this machine. Fills up to `capacity` entries of `devices`, which may be NULL when capacity is 0,
// and sets *count to the number of devices there are.
ig_status ig_device_enumerate(ig_device_properties *devices, size_t capacity, size_t *count);

// How important a message of a kernel is: os_log_type of <metal_logging>.
typedef enum ig_kernel_log_level {
    IG_KERNEL_LOG_DEBUG,   // log_debug
    IG_KERNEL_LOG_INFO,    // log_info
    IG_KERNEL_LOG_NOTICE,  // log
    IG_KERNEL_LOG_ERROR,   // log_error
    IG_KERNEL_LOG_FAULT,   // log_fault
} ig_kernel_log_level;

// What a kernel has logged with <metal_logging>. Valid only during the callback.
typedef struct ig_kernel_log_entry {
    ig_kernel_log_level level;
    const char *kernel;
    const char *subsystem, *category;  // of the os_log; "" for os_log_default
    const char *text;                  // formatted; may hold any bytes but NUL
} ig_kernel_log_entry;

// Receives the messages of a dispatch when it has ended, before the callbacks of its command buffer. It must not wait for
// commands of the same queue.
typedef void (*ig_kernel_log_callback)(const ig_kernel_log_entry *message, void *user);

// Where messages of kernels go.
typedef struct ig_kernel_log_desc {
    ig_kernel_log_callback callback;  // NULL: they go to the library's log (ig_set_log)
    void *user;                       // passed to `callback`
    ig_kernel_log_level level;        // less important ones are dropped
    // Memory for the messages of one dispatch, from 1 KiB to 1 GiB; 0: 1 MiB. Messages that do not fit are counted and
    // lost: see ig_commands_get_lost_log_entries.
    uint64_t buffer_bytes;
} ig_kernel_log_desc;

// Which device to open, and how.
typedef struct ig_device_desc {
    const char *name;       // "cpu", "metal", or an index as text. NULL: INGOT_DEVICE, else the first one listed
    uint32_t worker_count;  // CPU threads that run kernels; 0: INGOT_WORKERS, else one per core this process may use
    uint64_t deadline_ns;   // the deadline of command buffers that set none; 0: none
    // Directory of the disk cache. NULL: INGOT_CACHE_DIR, else ingot/ in the XDG cache directory. "" turns the disk
    // cache off. A directory that other users own or can write to is not used; this is logged.
    const char *cache_dir;
    uint64_t cache_bytes;  // limit of the disk cache; 0: 512 MiB. Entries larger than a quarter of it are not kept
    uint32_t check;        // flags of ingot/check.h: what to check while kernels run; 0: INGOT_CHECK, else nothing
    // Not 0: the seed of a random order in which threads, simdgroups, threadgroups and indirect commands without barriers
    // run, one at a time. This exposes kernels that depend on the order. 0: INGOT_SCHEDULE, else as fast as possible.
    uint64_t schedule;
    // Directory into which dispatches that fail are written, for `ingot replay`; NULL: INGOT_CAPTURE_DIR, else none are.
    const char *capture_dir;
    // Other dispatches to capture: kernels and numbers of their dispatches, "sum*,scan:0-9"; NULL: INGOT_CAPTURE_DISPATCH
    const char *capture_dispatch;
    bool capturable;                // ig_device_start_capture may be called: libraries remember what they were made of
    ig_kernel_log_desc kernel_log;  // for command buffers without a kernel_log of their own
    bool profile;                   // measure kernels, for ig_device_get_profile
    // Also count where they spend their time, by source line, for ig_device_get_line_profile: on Linux, by timers of the
    // threads that run kernels, which send them SIGPROF. The program must not use that signal itself; afterwards it is
    // ignored.
    bool profile_lines;
    // A file to write a trace to, in Chrome's format; turns `profile` on. NULL: INGOT_TRACE, else none. "": none.
    const char *trace;
    // Show kernels and their lines to "gdb", "perf" or "gdb,perf"; "variables": to gdb with variables, unoptimised and
    // one thread at a time. NULL: INGOT_JIT_DEBUG.
    const char *jit_debug;
} ig_device_desc;

// Opens a device. A NULL desc selects all defaults. errors: DEVICE_UNAVAILABLE when there is no such device here,
// INVALID_ARGUMENT, OUT_OF_MEMORY, SYSTEM when threads cannot be started.
ig_status ig_device_create(const ig_device_desc *desc, ig_device **device, ig_error *error);
ig_device *ig_device_retain(ig_device *device);
void ig_device_release(ig_device *device);
// Fills `properties` with what the device is and can do.
void ig_device_get_properties(const ig_device *device, ig_device_properties *properties);

// What a device has done since it was opened.
typedef struct ig_device_stats {
    uint64_t buffer_bytes, buffer_count;  // of buffers that exist now
    uint64_t peak_buffer_bytes;
    uint64_t compilations;            // number of times clang ran
    uint64_t memory_hits, disk_hits;  // libraries and pipelines found in memory and in the disk cache
    uint64_t dispatches;
} ig_device_stats;
// Fills `stats` with the current counts.
void ig_device_get_stats(const ig_device *device, ig_device_stats *stats);

// What the dispatches of a kernel have cost. Kernels of the same name and width are one row.
typedef struct ig_kernel_profile {
    const char *kernel;
    uint64_t calls;
    uint64_t time_ns, best_ns;  // of all dispatches that ended, and of the shortest
    uint64_t threads;           // that ran
    uint64_t bytes;             // of bound buffers and textures, each once per dispatch; 0 for ring kernels
    uint64_t compile_ns;        // generating or loading its code
    uint32_t width;             // threads that run at once in vector registers; 0 on a GPU
} ig_kernel_profile;
// What kernels have cost since the device was opened, the most expensive first. owns: the caller frees *rows, with
// their names, by one free(). errors: WRONG_STATE unless the device was opened with `profile` or `trace`.
ig_status ig_device_get_profile(ig_device *device, ig_kernel_profile **rows, size_t *count);

// What to capture from now on.
typedef struct ig_capture_desc {
    const char *directory;   // gets a directory for each dispatch; made if it does not exist
    const char *dispatches;  // which, as in `capture_dispatch` of ig_device_desc; NULL: all
    ig_queue *queue;         // of this queue only; NULL: of every queue
} ig_capture_desc;
// Writes the dispatches that begin after this call, up to 100 of them, for `ingot replay`. errors: WRONG_STATE if the
// device captures already, or was not opened as `capturable`; UNSUPPORTED on a GPU; INVALID_ARGUMENT; IO.
ig_status ig_device_start_capture(ig_device *device, const ig_capture_desc *desc, ig_error *error);
// Ends the capture: dispatches that begin after this call are not captured. Returns how many were; 0 if there was none.
size_t ig_device_stop_capture(ig_device *device);

// Time spent in one source line of a kernel, as samples of a thread's processor time. Inlined functions of the standard
// library count for the line that calls them.
typedef struct ig_line_profile {
    const char *kernel;
    const char *file;    // as given; "" when not known
    uint32_t line;       // 0: elsewhere, as in a function of the runtime
    const char *source;  // the text of the line; "" when not known
    uint64_t samples;
} ig_line_profile;
// The lines in which kernels have spent their time since the device was opened, the hottest first. owns: the caller frees
// *rows, with their texts, by one free(). errors: WRONG_STATE unless the device was opened with `profile_lines`.
ig_status ig_device_get_line_profile(ig_device *device, ig_line_profile **rows, size_t *count);

// ---- Buffers ----

// Who can access a buffer.
typedef enum ig_storage {
    IG_STORAGE_SHARED,   // host and device see the same memory
    IG_STORAGE_PRIVATE,  // device only: ig_buffer_contents is NULL; fill the buffer with copies
    IG_STORAGE_MANAGED,  // writes of the host become visible to the device by ig_buffer_did_modify
} ig_storage;

// Describes a new buffer. At most one of `bytes` and `no_copy` may be set; without either, the buffer is zeroed.
typedef struct ig_buffer_desc {
    uint64_t length;  // in bytes, at least 1
    ig_storage storage;
    // Take the memory from the device's pool, and give it back with the last reference (command buffers hold references
    // too). Unless `bytes` is set, the contents are undefined. Storage must be shared.
    bool pooled;
    const void *bytes;  // initial contents, `length` bytes, which are copied; also for private storage
    void *no_copy;      // memory of the caller that is used in place and must outlive the buffer
    void (*deallocate)(void *memory, uint64_t length,
                       void *user);  // called when no_copy is no longer used; may be NULL
    void *user;                      // passed to `deallocate`
    const char *label;               // a name for messages and tools; may be NULL
    // Bytes after the buffer that a kernel may access by mistake without a fault, as on a GPU; zero at first. Only for
    // memory of the software device. Checking still reports such accesses.
    uint32_t tail;
} ig_buffer_desc;

// Creates a buffer. errors: INVALID_ARGUMENT (length 0, or fields that exclude each other), OUT_OF_MEMORY (also when the
// device allows no buffer of this length).
ig_status ig_buffer_create(ig_device *device, const ig_buffer_desc *desc, ig_buffer **buffer);
ig_buffer *ig_buffer_retain(ig_buffer *buffer);
void ig_buffer_release(ig_buffer *buffer);
// The buffer's memory, valid as long as the buffer; NULL for private storage. While a committed command buffer that uses
// the buffer has not completed, do not write it, nor read what the commands write.
void *ig_buffer_contents(const ig_buffer *buffer);
uint64_t ig_buffer_length(const ig_buffer *buffer);     // in bytes
uint64_t ig_buffer_id(const ig_buffer *buffer);         // unique in this process, never reused
ig_storage ig_buffer_storage(const ig_buffer *buffer);  // as it was created
const char *ig_buffer_label(const ig_buffer *buffer);   // "" if none was given; valid as long as the buffer
// The address that kernels see, for pointers inside argument buffers.
uint64_t ig_buffer_device_address(const ig_buffer *buffer);
// Tells the device that the host has written to this range. errors: OUT_OF_RANGE; WRONG_STATE unless storage is managed.
ig_status ig_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length);
// Copies between host memory and a shared or managed buffer, with checks. errors: OUT_OF_RANGE; WRONG_STATE for private
// storage.
ig_status ig_buffer_write(ig_buffer *buffer, uint64_t offset, const void *bytes, uint64_t length);
ig_status ig_buffer_read(const ig_buffer *buffer, uint64_t offset, void *bytes, uint64_t length);

// The device's pool of memory. Memory of pooled buffers is reused: block sizes are powers of two, and a request takes an
// idle block of its size or the next larger one. Idle blocks use at most a quarter of the device's memory, or
// INGOT_POOL_BYTES, and are returned to the system before an allocation fails.
typedef struct ig_pool_stats {
    uint64_t total_bytes;  // in use and idle, in whole blocks
    uint64_t used_bytes, idle_bytes;
    uint64_t peak_bytes;  // the largest total_bytes so far
    uint64_t idle_count;
    uint64_t hits, misses;  // requests served from idle blocks, and requests that were not
    double hit_rate;        // hits divided by all requests; 0 before the first
} ig_pool_stats;
// Fills `stats` with the state of the device's pool.
void ig_device_get_pool_stats(ig_device *device, ig_pool_stats *stats);
// Returns idle blocks of the pool to the system, largest first, until at most `keep_bytes` are idle.
void ig_device_trim_pool(ig_device *device, uint64_t keep_bytes);

// ---- Libraries ----

// How strictly floating-point arithmetic follows IEEE 754.
typedef enum ig_math_mode {
    IG_MATH_FAST,  // Metal's default: faster, less accurate functions; denormals are flushed to zero; a GPU may reorder
    IG_MATH_SAFE,  // infinities, NaN and denormals behave as IEEE 754 says
} ig_math_mode;

// A macro of the preprocessor.
typedef struct ig_define {
    const char *name;
    const char *value;  // NULL: 1
} ig_define;

// What to compile, and how. Exactly one of `source`, `path` and `data` must be set. For a .metallib, which is already
// compiled, macros, language version and math mode are ignored.
typedef struct ig_library_desc {
    const char *source;    // MSL text
    size_t source_length;  // in bytes; 0: source is NUL-terminated
    const char *path;      // of a .metal file, or of a .metallib or Mach-O file, which must not change while it is open
    const char *name;      // the name of `source` in diagnostics; NULL: "program_source"
    const ig_define *defines;
    size_t define_count;
    const char *const *include_dirs;  // only files below these and below the directory of `path` can be included
    size_t include_dir_count;
    uint32_t language_version;  // 300 for Metal 3.0; 0: 310
    ig_math_mode math_mode;
    bool line_tables;     // keep source lines, for remarks, debuggers and profilers; compiling takes longer
    bool describe_types;  // fill the layouts of arguments; compiling takes twice as long
    uint64_t timeout_ns;  // limit on the compiler's CPU time, and on its waiting; 0: 60 s
    const void *data;     // a .metallib in memory; copied
    size_t data_length;   // in bytes
    // Denormals are flushed to zero with IG_MATH_SAFE too, as Apple's compiler does. The Metal device always does what
    // the GPU does.
    bool flush_denormals;
    // Libraries whose [[visible]] functions this one may call, as those of a dynamic library: what the source declares as
    // [[visible]] and does not define is found in the first of them that has it, or in one that they were given in turn.
    // All functions of these libraries are linked to every pipeline, after those of its linked_functions, and can be put
    // into its function tables. They are retained.
    ig_library *const *libraries;
    size_t library_count;
} ig_library_desc;

// Compiles MSL, or loads it from the cache, or opens a .metallib. A kernel of a .metallib is translated when its
// arguments are first queried or its first pipeline is created. If it uses a feature that the software device lacks, that
// call fails; other kernels are not affected. On failure `error` has the first diagnostic in `message`, with its
// location, and all of them in `log`. errors: COMPILE_FAILED, COMPILER_MISSING, COMPILER_CRASHED, COMPILER_TIMEOUT,
// NOT_FOUND (no such file), BAD_FORMAT (a damaged .metallib), INVALID_ARGUMENT, OUT_OF_MEMORY.
ig_status ig_library_create(ig_device *device, const ig_library_desc *desc, ig_library **library, ig_error *error);
ig_library *ig_library_retain(ig_library *library);
void ig_library_release(ig_library *library);
// The compiler's warnings with source lines and carets; "" if there were none. Valid as long as the library.
const char *ig_library_log(const ig_library *library);

// Where a kernel's argument comes from.
typedef enum ig_argument_kind {
    IG_ARGUMENT_BUFFER,                  // a device or constant pointer or reference, set by set_buffer or set_bytes
    IG_ARGUMENT_THREADGROUP,             // a threadgroup pointer, set by set_threadgroup_memory
    IG_ARGUMENT_BUILTIN,                 // the position of the thread and the like, set by the device
    IG_ARGUMENT_TEXTURE,                 // set by set_texture
    IG_ARGUMENT_SAMPLER,                 // set by set_sampler
    IG_ARGUMENT_FUNCTION_TABLE,          // set by set_function_table
    IG_ARGUMENT_STAGE_INPUT,             // a member with [[attribute(n)]]: see ig_stage_input
    IG_ARGUMENT_ACCELERATION_STRUCTURE,  // only of functions that Ingot does not run
} ig_argument_kind;

// What a kernel does with an argument.
typedef enum ig_access {
    IG_ACCESS_NONE,        // not memory; or, for a pipeline, not used, so that it need not be set
    IG_ACCESS_READ,        // read only
    IG_ACCESS_WRITE,       // written only
    IG_ACCESS_READ_WRITE,  // read and written, or not known to be less
} ig_access;

// Types of scalars.
typedef enum ig_type {
    IG_TYPE_BOOL,  // 1 byte, 0 or 1
    IG_TYPE_I8,    // signed integer
    IG_TYPE_U8,    // unsigned integer
    IG_TYPE_I16,   // signed integer
    IG_TYPE_U16,   // unsigned integer
    IG_TYPE_I32,   // signed integer
    IG_TYPE_U32,   // unsigned integer
    IG_TYPE_I64,   // signed integer
    IG_TYPE_U64,   // unsigned integer
    IG_TYPE_F16,   // IEEE half precision
    IG_TYPE_BF16,  // bfloat16: the upper half of an F32
    IG_TYPE_F32,   // IEEE single precision
    IG_TYPE_COUNT,
} ig_type;
const char *ig_type_name(ig_type type);  // "f32"; "unknown" for any other value
uint32_t ig_type_size(ig_type type);     // in bytes; 0 for any other value

// What a part of a type is.
typedef enum ig_layout_kind {
    IG_LAYOUT_SCALAR,   // or a vector or matrix
    IG_LAYOUT_STRUCT,   // its members follow
    IG_LAYOUT_ARRAY,    // its element follows
    IG_LAYOUT_POINTER,  // or reference; what it points to follows, unless that is a struct around it
    IG_LAYOUT_TEXTURE,  // a handle
    IG_LAYOUT_SAMPLER,  // a handle
    IG_LAYOUT_OTHER,    // of known size only
} ig_layout_kind;

// One part of a type as it is in memory. A list of them describes the type: each is followed by the parts that it
// consists of, which are one level deeper.
typedef struct ig_layout {
    const char *name;  // of a member; "" for elements, and for the type itself
    const char *type;  // "float4", "Parameters", "texture2d<float, access::sample>"
    uint32_t depth;    // 0 for the type itself
    ig_layout_kind kind;
    uint32_t offset;  // of a member in its struct, in bytes
    uint32_t size, alignment;
    ig_type scalar;                // of scalars, vectors and matrices
    uint32_t components, columns;  // 3 and 2 of float2x3; columns is 1 for vectors and scalars
    uint32_t count, stride;        // elements of an array, and bytes from one to the next
    uint32_t id;       // of a member in an argument buffer: from [[id(n)]], or one more than the one before it
    ig_access access;  // of pointers and textures
} ig_layout;

// An argument of a kernel, as reflection finds it.
typedef struct ig_argument {
    const char *name;
    const char *type;           // "const float *", "metal::vec<uint, 3>"
    const char *attribute;      // "buffer", "threadgroup", "thread_position_in_grid", ...
    const char *address_space;  // "device", "constant", "threadgroup"; "" for built-ins
    const char *condition;      // name of the function constant that enables it; "" if it is always there
    ig_argument_kind kind;
    ig_access access;
    uint32_t index;         // of the buffer or threadgroup slot; 0 for built-ins
    uint32_t min_bytes;     // least size of the bound range: that of a reference's object, or of one element
    uint32_t array_length;  // textures or samplers of an array, which take consecutive indices; 1 for everything else
    // Of buffers: the type that the argument points to. NULL when it is not known: a source must be compiled with
    // `describe_types`, and a .metallib describes structures only.
    const ig_layout *layout;
    size_t layout_count;
} ig_argument;

// What a function of a library is for. Only kernels and visible functions run.
typedef enum ig_function_kind {
    IG_FUNCTION_KERNEL,        // pipelines are made of it
    IG_FUNCTION_VISIBLE,       // [[visible]] or [[stitchable]]: pipelines can link it
    IG_FUNCTION_VERTEX,        // places a vertex
    IG_FUNCTION_FRAGMENT,      // colours a pixel
    IG_FUNCTION_OBJECT,        // starts mesh functions
    IG_FUNCTION_MESH,          // makes vertices and primitives
    IG_FUNCTION_TILE,          // a kernel that takes an imageblock
    IG_FUNCTION_INTERSECTION,  // called by kernels that trace rays
    IG_FUNCTION_RAY_TRACING,   // a kernel that takes an acceleration structure or a table of intersection functions
    IG_FUNCTION_KIND_COUNT,
} ig_function_kind;
const char *ig_function_kind_name(ig_function_kind kind);  // "vertex"; "unknown" for any other value

// A kernel of a library, or another function that has arguments of its own.
typedef struct ig_kernel_info {
    const char *name;
    const ig_argument *arguments;  // in the order of the source
    size_t argument_count;
    uint32_t static_threadgroup_memory;  // bytes of its threadgroup variables
    uint32_t max_total_threads;          // from [[max_total_threads_per_threadgroup(n)]]; 0 if not stated
    ig_function_kind kind;
} ig_kernel_info;

// A function constant that a library declares.
typedef struct ig_function_constant_info {
    const char *name;
    uint32_t id;
    ig_type type;
    uint32_t components;  // 1 to 4
} ig_function_constant_info;

// The number of kernels in a library.
size_t ig_library_kernel_count(const ig_library *library);
// A kernel by its index, in the order of the source, or NULL past the last. Borrowed from the library.
const ig_kernel_info *ig_library_kernel(const ig_library *library, size_t index);
// The name of a kernel by its index, or NULL past the last. Cheaper than ig_library_kernel for a .metallib, whose kernels
// must be translated before their arguments are known. Borrowed from the library.
const char *ig_library_kernel_name(const ig_library *library, size_t index);
// The kernel with this name, or NULL if there is none. Borrowed from the library.
const ig_kernel_info *ig_library_find_kernel(const ig_library *library, const char *name);
// The number of functions in a library that are neither kernels that run nor visible: those that draw or trace rays. They
// are compiled and listed, and ig_pipeline_create refuses them.
size_t ig_library_other_count(const ig_library *library);
// Such a function by its index, in the order of the source, or NULL past the last. What earlier stages or the device give
// to it is an argument of the kind BUILTIN: `attribute` is "stage_in", "vertex_id"..., or "" if it has none. Borrowed from
// the library.
const ig_kernel_info *ig_library_other(const ig_library *library, size_t index);
// The name of such a function by its index, or NULL past the last: cheaper, as ig_library_kernel_name is. Borrowed from the
// library.
const char *ig_library_other_name(const ig_library *library, size_t index);
// The kind of such a function, without its arguments. pre: there is a function of this index.
ig_function_kind ig_library_other_kind(const ig_library *library, size_t index);
// The function of this name, or NULL if there is none. Borrowed from the library.
const ig_kernel_info *ig_library_find_other(const ig_library *library, const char *name);
// The number of [[visible]] and [[stitchable]] functions in a library, which pipelines can link.
size_t ig_library_function_count(const ig_library *library);
// The name of a visible function by its index, in the order of the source, or NULL past the last. Borrowed from the
// library.
const char *ig_library_function(const ig_library *library, size_t index);
// The number of function constants that a library declares.
size_t ig_library_function_constant_count(const ig_library *library);
// A function constant by its index, in the order of the source, or NULL past the last. Borrowed from the library.
const ig_function_constant_info *ig_library_function_constant(const ig_library *library, size_t index);

// ---- Pipelines ----

// The value of a function constant.
typedef struct ig_function_constant {
    const char *name;  // NULL: identified by `id`
    uint32_t id;
    ig_type type;
    const void *value;    // `components` values of `type`
    uint32_t components;  // 0: 1
} ig_function_constant;

// A [[visible]] function that a kernel may call.
typedef struct ig_linked_function {
    ig_library *library;  // NULL: that of the kernel
    const char *name;     // its name in the library
} ig_linked_function;

// Formats of attributes that are not `components` numbers of a `type`.
typedef enum ig_attribute_packing {
    IG_PACKING_NONE,           // not packed
    IG_PACKING_RGB10A2_UNORM,  // 10 bits each and 2 of alpha, red in the lowest; 0 to 1
    IG_PACKING_RGB10A2_SNORM,  // the same, -1 to 1
    IG_PACKING_BGRA8_UNORM,    // bytes, blue first; 0 to 1
    IG_PACKING_RG11B10_FLOAT,  // floats of 11, 11 and 10 bits
    IG_PACKING_RGB9E5_FLOAT,   // three numbers with a common exponent
} ig_attribute_packing;

// Where the value of a member with [[attribute(index)]] is, and how it is stored.
typedef struct ig_stage_attribute {
    uint32_t index;       // 0 to 30
    ig_type type;         // I8 to U32, F16 or F32; members of integers need integers of their sign, others floats
    uint32_t components;  // 1 to 4; those that the member has and the format lacks are 0, 0, 0 and 1
    bool normalized;      // integers of 8 and 16 bits are 0 to 1, or -1 to 1; only for members of float, half or bfloat
    ig_attribute_packing packing;  // not NONE: instead of type, components and normalized
    uint32_t offset;               // in its element, in bytes
    uint32_t buffer;               // index of the buffer
} ig_stage_attribute;

// Which element of a buffer a thread reads. Positions count from the region of ig_commands_set_stage_region.
typedef enum ig_step {
    IG_STEP_GRID_X,          // that of its position in x
    IG_STEP_GRID_Y,          // in y
    IG_STEP_GRID_X_INDEXED,  // that whose number is in the index buffer, at its position in x
    IG_STEP_GRID_Y_INDEXED,  // in y
    IG_STEP_CONSTANT,        // the first one
} ig_step;

// A stride that is not known before the buffer: ig_commands_set_attribute_stride gives it.
#define IG_STRIDE_DYNAMIC UINT32_MAX

// How a buffer with attributes is read.
typedef struct ig_stage_layout {
    uint32_t buffer;  // its index
    uint32_t stride;  // bytes from one element to the next, or IG_STRIDE_DYNAMIC
    ig_step step;
    uint32_t rate;  // threads that read the same element; 0: 1
} ig_stage_layout;

// How the [[stage_in]] structure of a kernel is filled from buffers, which are bound by ig_commands_set_buffer. Each
// attribute of the kernel must be described, and each buffer needs a layout. Other attributes are ignored.
typedef struct ig_stage_input {
    const ig_stage_attribute *attributes;
    size_t attribute_count;
    const ig_stage_layout *layouts;
    size_t layout_count;
    uint32_t index_buffer;  // index of the buffer of indices, for the indexed steps
    ig_type index_type;     // IG_TYPE_U32; anything else: U16
} ig_stage_input;

// Which kernel to make ready, and with which constants.
typedef struct ig_pipeline_desc {
    const char *kernel;                     // its name in the library
    const ig_function_constant *constants;  // also for the functions that are linked
    size_t constant_count;
    // Functions that the kernel calls through function tables, or declares as [[visible]] without defining them. Those
    // of the kernel's own library that it calls by name need not be listed.
    const ig_linked_function *linked_functions;
    size_t linked_function_count;
    const char *label;
    // Reading a constant that was not set gives zero, as on a GPU; is_function_constant_defined is still false for it.
    // Without this, it is an error if the kernel reads such a constant.
    bool unset_constants_are_zero;
    // On the software device: 1 is code that is made quickly, 2 optimised code, which takes several times longer to make.
    // 3 (or 0): code of tier 1, which is replaced by that of tier 2, made in the background, if the kernel runs for long.
    // Results are the same bits. INGOT_TIER overrides it.
    uint32_t tier;
    const ig_stage_input *stage_input;  // for a kernel with [[stage_in]]; NULL: none
} ig_pipeline_desc;

// Limits and facts of a pipeline.
typedef struct ig_pipeline_properties {
    uint32_t max_threads_per_threadgroup;
    uint32_t execution_width;            // threads in a simdgroup
    uint32_t static_threadgroup_memory;  // bytes
    uint32_t simt_width;  // threads that run at once in vector registers, on the software device; 0 on a GPU
    uint32_t tier;        // the best tier of its code so far, on the software device; 0 on a GPU
} ig_pipeline_properties;

// Compiles one kernel of a library for the device, with its function constants, or loads it from the cache.
// errors: NOT_FOUND (no such kernel or visible function), UNSUPPORTED (the function is no kernel: the message says what it
// is), WRONG_CONSTANT, COMPILE_FAILED, COMPILER_CRASHED, COMPILER_TIMEOUT, THREADGROUP_TOO_LARGE, OUT_OF_MEMORY.
ig_status ig_pipeline_create(ig_library *library, const ig_pipeline_desc *desc, ig_pipeline **pipeline,
                             ig_error *error);

// Called once, on a thread of the device, which must not be kept waiting for long. If `status` is OK, the callee owns the
// pipeline; otherwise it is NULL, and `error` says why until the call returns.
typedef void (*ig_pipeline_callback)(ig_pipeline *pipeline, ig_status status, const ig_error *error, void *user);
// ig_pipeline_create in the background: returns at once, and calls `done` when the pipeline is ready or cannot be made.
// Many pipelines are compiled at a time, one on each core. The descriptor is copied with everything it points to, and the
// library stays alive until then. Where a device has no threads for this, `done` is called before the call returns.
// errors: INVALID_ARGUMENT, OUT_OF_MEMORY; then `done` is not called. All others go to `done`.
ig_status ig_pipeline_create_async(ig_library *library, const ig_pipeline_desc *desc, ig_pipeline_callback done,
                                   void *user);
ig_pipeline *ig_pipeline_retain(ig_pipeline *pipeline);
void ig_pipeline_release(ig_pipeline *pipeline);
// Fills `properties` with the pipeline's limits.
void ig_pipeline_get_properties(const ig_pipeline *pipeline, ig_pipeline_properties *properties);
// The kernel with the arguments of this specialisation: those that its function constants disable are left out.
// Borrowed from the pipeline.
const ig_kernel_info *ig_pipeline_kernel(const ig_pipeline *pipeline);
// The threadgroup size that the device chooses for a dispatch over `grid` with a group of zeros.
ig_size ig_pipeline_threadgroup_size(const ig_pipeline *pipeline, ig_size grid);

// Creates a table of `count` functions, for an argument visible_function_table of the pipeline's kernel. All are empty: a
// call of them does nothing and returns zeros. errors: UNSUPPORTED on a GPU, OUT_OF_MEMORY.
ig_status ig_function_table_create(ig_pipeline *pipeline, uint32_t count, ig_function_table **table);
ig_function_table *ig_function_table_retain(ig_function_table *table);
void ig_function_table_release(ig_function_table *table);
// The number of functions that the table has room for.
uint32_t ig_function_table_count(const ig_function_table *table);
// Puts a function that is linked to the table's pipeline, by its name, at `index`; NULL: none. Do not call it while
// commands that use the table run. errors: NOT_FOUND (not linked), OUT_OF_RANGE.
ig_status ig_function_table_set(ig_function_table *table, uint32_t index, const char *name);
// The address that kernels see, for tables inside argument buffers.
uint64_t ig_function_table_device_address(const ig_function_table *table);

// The code of a pipeline on the software device, as text. `stage` is "air" (of a .metallib, as it is in the file), "llvm" (IR
// for one thread), "simt" (IR for a threadgroup) or "asm". owns: the caller frees *text with free(). errors: UNSUPPORTED on a GPU, and
// "air" of a source; INVALID_ARGUMENT for any other stage.
ig_status ig_pipeline_emit(ig_pipeline *pipeline, const char *stage, char **text);

// A remark of the software device's compiler: the width at which a kernel runs, or something that makes it slower.
typedef struct ig_remark {
    const char *kind;  // "width", "barrier", "gather", "row-gather", "row-scatter", "scatter", "one-by-one",
                       // "divergent-loop", "divergent-branch", "private-array", "not-vectorised"
    const char *file;  // as the user named it; "" when the library has no line tables
    const char *text;
    uint32_t line, column;  // 1-based; 0 when not known
} ig_remark;
// The remarks about a pipeline: its width first, then in the order of the source. owns: the caller frees *remarks, with
// all its strings, by one free(). errors: UNSUPPORTED on a GPU.
ig_status ig_pipeline_get_remarks(ig_pipeline *pipeline, ig_remark **remarks, size_t *count);

// ---- Queues and command buffers ----

// Creates a queue. Command buffers of one queue run in the order in which they are committed; those of different queues
// may run at the same time.
ig_status ig_queue_create(ig_device *device, ig_queue **queue);
// Names the queue in findings of checked kernels. The text is copied; NULL: no name. errors: INVALID_ARGUMENT,
// OUT_OF_MEMORY. threads: call it before command buffers of the queue are committed.
ig_status ig_queue_set_label(ig_queue *queue, const char *label);
ig_queue *ig_queue_retain(ig_queue *queue);
void ig_queue_release(ig_queue *queue);

// The life of a command buffer.
typedef enum ig_commands_state {
    IG_COMMANDS_ENCODING,   // commands can be added
    IG_COMMANDS_COMMITTED,  // waits for its turn in the queue
    IG_COMMANDS_RUNNING,    // has started
    IG_COMMANDS_COMPLETED,  // all of it has run
    IG_COMMANDS_FAILED,     // stopped by an error: see ig_commands_get_error
} ig_commands_state;

// Options of a command buffer.
typedef struct ig_commands_desc {
    uint64_t deadline_ns;  // running time after which the command buffer fails with TIMEOUT; 0: the device's deadline
    const char *label;     // a name for messages and tools; may be NULL
    ig_kernel_log_desc kernel_log;  // what its kernels log; without a callback, the device's is used
} ig_commands_desc;

// Creates a command buffer for a queue. desc may be NULL.
ig_status ig_commands_create(ig_queue *queue, const ig_commands_desc *desc, ig_commands **commands);
ig_commands *ig_commands_retain(ig_commands *commands);
void ig_commands_release(ig_commands *commands);

// Arguments of the dispatches that follow in the same command buffer. They stay set until they are replaced. Buffers and
// pipelines are retained until the command buffer is released. A failed call marks the command buffer: see
// ig_commands_commit.

// Sets the kernel of the dispatches that follow.
ig_status ig_commands_set_pipeline(ig_commands *commands, ig_pipeline *pipeline);
// Binds a buffer, from `offset` on, to the argument [[buffer(index)]]. A NULL buffer removes the binding.
// errors: OUT_OF_RANGE (offset or index), INVALID_ARGUMENT (a buffer of another device).
ig_status ig_commands_set_buffer(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint32_t index);
// Binds a copy of `length` bytes to the argument [[buffer(index)]], for small constants.
ig_status ig_commands_set_bytes(ig_commands *commands, const void *bytes, uint64_t length, uint32_t index);
// A tensor of Metal 4 in a buffer, for an argument `tensor<device T, ...>`. Dimension 0 is the innermost.
typedef struct ig_tensor_argument {
    ig_buffer *buffer;
    uint64_t offset;  // of its first element, in bytes
    uint32_t rank;    // 1 to 16
    uint64_t extents[16];
    uint64_t strides[16];  // in elements; all 0: the product of the extents before it
} ig_tensor_argument;
// Binds a tensor to the argument [[buffer(index)]]. errors: OUT_OF_RANGE (offset, rank or index), INVALID_ARGUMENT,
// UNSUPPORTED on a GPU.
ig_status ig_commands_set_tensor(ig_commands *commands, const ig_tensor_argument *tensor, uint32_t index);
// Binds a function table to the argument [[buffer(index)]]. NULL removes the binding. Dispatches fail with
// INVALID_ARGUMENT if it was made for another pipeline than the one that is set.
ig_status ig_commands_set_function_table(ig_commands *commands, ig_function_table *table, uint32_t index);
// The region over which attributes of [[stage_in]] are read: a thread reads the elements of its position in the grid, from
// `origin` on; threads beyond `size` get zeros. The kernel sees both as grid_origin and grid_size. A size of zeros: the
// whole grid, which is the default.
ig_status ig_commands_set_stage_region(ig_commands *commands, ig_size origin, ig_size size);
// The same with six uint32_t, origin and size, that are read from the buffer when the dispatch runs. Whether the buffers of
// attributes are long enough is not checked then. errors: OUT_OF_RANGE, INVALID_ARGUMENT.
ig_status ig_commands_set_stage_region_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset);
// The bytes from one element to the next in the buffer at `index`, for pipelines whose layout of it has IG_STRIDE_DYNAMIC; 0:
// none, and their dispatches fail with UNBOUND_ARGUMENT. It stays set, whatever is bound. errors: OUT_OF_RANGE.
ig_status ig_commands_set_attribute_stride(ig_commands *commands, uint32_t stride, uint32_t index);
// Gives the argument [[threadgroup(index)]] `length` bytes of threadgroup memory.
ig_status ig_commands_set_threadgroup_memory(ig_commands *commands, uint64_t length, uint32_t index);

// Runs the kernel for a grid of threads, in threadgroups of size `group`; those at the edges may be smaller. With a group
// of zeros the device chooses. Commands run in order, and each sees what those before it wrote.
// errors (also of ig_commands_commit): UNBOUND_ARGUMENT, BUFFER_TOO_SMALL, THREADGROUP_TOO_LARGE, WRONG_STATE without
// a pipeline.
ig_status ig_commands_dispatch_threads(ig_commands *commands, ig_size grid, ig_size group);
// The same with the grid counted in whole threadgroups.
ig_status ig_commands_dispatch_threadgroups(ig_commands *commands, ig_size groups, ig_size group);
// The same with the number of threadgroups, three uint32_t, read from the buffer when the dispatch runs.
ig_status ig_commands_dispatch_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset, ig_size group);
// dispatch_threads with the grid and the threadgroup, six uint32_t, read from the buffer when the dispatch runs. What
// dispatch_threads would refuse fails the command buffer then. errors: UNSUPPORTED on a GPU.
ig_status ig_commands_dispatch_threads_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset);
// Copies bytes from one buffer to another, or within one. errors: OUT_OF_RANGE.
ig_status ig_commands_copy(ig_commands *commands, ig_buffer *source, uint64_t source_offset, ig_buffer *target,
                           uint64_t target_offset, uint64_t length);
// Sets bytes of a buffer to a value. errors: OUT_OF_RANGE.
ig_status ig_commands_fill(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint64_t length, uint8_t value);
// A memory barrier between dispatches. The software device runs them in order anyway.
ig_status ig_commands_barrier(ig_commands *commands);
// Commands after this one wait until the event has reached the value.
ig_status ig_commands_wait_event(ig_commands *commands, ig_event *event, uint64_t value);
// Raises the event to the value when the commands before this one are done.
ig_status ig_commands_signal_event(ig_commands *commands, ig_event *event, uint64_t value);

// Called when a command buffer has completed or failed, on any thread.
typedef void (*ig_commands_callback)(ig_commands *commands, ig_status status, void *user);
// Adds a callback. Callbacks run once each, in the order in which they were added, before ig_commands_wait returns.
// errors: WRONG_STATE after commit.
ig_status ig_commands_on_completed(ig_commands *commands, ig_commands_callback callback, void *user);

// Hands the commands to the queue and returns at once. If a call that encoded failed, returns its error and runs nothing.
ig_status ig_commands_commit(ig_commands *commands);
// Waits for a committed command buffer and returns its status. errors: TIMEOUT when it has not finished after timeout_ns
// (it goes on running) or has run past its deadline, KERNEL_FAULT, WRONG_STATE before commit.
ig_status ig_commands_wait(ig_commands *commands, uint64_t timeout_ns);
// The current state, without waiting.
ig_commands_state ig_commands_get_state(const ig_commands *commands);
// Why the command buffer failed, while it was encoded or while it ran. Fills `error` and returns its status; OK if
// nothing failed.
ig_status ig_commands_get_error(const ig_commands *commands, ig_error *error);

// What checking found while the commands ran. They fail with CHECK_FAILED unless all findings are warnings. Returns the
// number of findings, 0 until the commands have ended. *findings lives as long as the commands.
size_t ig_commands_get_findings(const ig_commands *commands, const ig_finding **findings);

// How many messages of <metal_logging> were lost so far because their memory was full.
uint64_t ig_commands_get_lost_log_entries(const ig_commands *commands);

// When something began and ended, in nanoseconds of a monotonic clock; 0 if it has not yet.
typedef struct ig_timing {
    uint64_t start_ns, end_ns;
} ig_timing;
// When the command buffer started and finished running.
void ig_commands_get_timing(const ig_commands *commands, ig_timing *timing);
// The number of dispatches encoded so far.
size_t ig_commands_dispatch_count(const ig_commands *commands);
// When one dispatch began and ended; `index` counts from 0. errors: WRONG_STATE until the command buffer has ended,
// OUT_OF_RANGE, UNSUPPORTED when the device measures only whole command buffers and this one has several dispatches.
ig_status ig_commands_get_dispatch_timing(const ig_commands *commands, size_t index, ig_timing *timing);

// ---- Events ----

// Creates an event: a counter, 0 at first, that only grows and that queues and the host share.
ig_status ig_event_create(ig_device *device, ig_event **event);
ig_event *ig_event_retain(ig_event *event);
void ig_event_release(ig_event *event);
uint64_t ig_event_value(const ig_event *event);  // the current value
// Raises the event to the value, from the host. A value below the current one changes nothing.
ig_status ig_event_signal(ig_event *event, uint64_t value);
// Waits on the host until the event has reached the value. errors: TIMEOUT.
ig_status ig_event_wait(ig_event *event, uint64_t value, uint64_t timeout_ns);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
