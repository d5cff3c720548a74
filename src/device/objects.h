// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of device.h. The front end and backends share it; nothing above the device layer does.
#ifndef INGOT_DEVICE_OBJECTS_H
#define INGOT_DEVICE_OBJECTS_H

#include <ingot/device.h>
#include <ingot/indirect.h>
#include <ingot/texture.h>
#include <pthread.h>

#include "core/arena.h"
#include "core/forked.h"
#include "core/memory.h"
#include "core/status-internal.h"
#include "device/addresses.h"
#include "device/buffer-pool.h"
#include "device/order.h"
#include "msl/reflect.h"

enum { IGI_SLOTS = 31, IGI_TEXTURES = 128, IGI_SAMPLERS = 16 };

struct igi_device_backend;

struct ig_device {
    igi_refcount references;
    const struct igi_device_backend *backend;
    void *state;  // the backend's
    ig_device_properties properties;
    uint64_t deadline_ns;
    bool checked;  // kernels run under checks
    ig_kernel_log_desc kernel_log;
    struct igi_device_profile *profile;            // NULL: nothing is measured
    struct igi_device_line_profile *line_profile;  // NULL: source lines are not counted
    igi_device_order *order;                       // NULL: races are not checked
    uint32_t process;                              // igi_process_number of the process that created it
    igi_device_buffer_pool buffers;
    igi_device_addresses addresses;
    // The backend's cache directory, which upper layers use too; NULL if there is no cache on disk.
    const char *cache_dir;
    struct igi_disk_cache *cache;
    atomic_uint_fast64_t buffer_bytes, buffer_count, peak_buffer_bytes;
    atomic_uint_fast64_t compilations, memory_hits, disk_hits, dispatches;
};

// In a child of the process that created the device, its threads do not exist and its locks may be held. Nothing of it
// is used or freed; calls fail with FORKED, and memory can still be read.
static inline bool igi_device_is_inherited(const ig_device *of) {
    return igi_was_inherited(of->process);
}
ig_status igi_device_error_forked(ig_error *error);
ig_status igi_device_fail_forked(void);  // the same, for calls without an ig_error

struct ig_buffer {
    igi_refcount references;
    ig_device *device;
    void *state;
    void *memory;      // where the host reads and writes; also for private storage on a unified device
    uint64_t address;  // address in kernels
    uint64_t length, id;
    uint64_t capacity;  // the size that the backend opened; more than length if pooled
    ig_storage storage;
    bool borrowed;  // no_copy
    bool pooled;
    atomic_bool addressed;    // its address was requested, so kernels may access it without a binding
    ig_buffer *next_idle;     // in the pool; an idle buffer does not keep the device alive
    ig_buffer *next, **link;  // in the list of the device's addresses
    void (*deallocate)(void *memory, uint64_t length, void *user);
    void *user;
    char *label;  // may be NULL
};

struct ig_library {
    igi_refcount references;
    ig_device *device;
    void *state;
    igi_msl_reflection reflection;
    char *log;
    ig_library **linked;  // whose functions it may call, each once; retained
    size_t linked_count;
};

struct ig_pipeline {
    igi_refcount references;
    ig_library *library;
    void *state;
    ig_pipeline_properties properties;
    ig_kernel_info kernel;  // arguments of this specialisation; strings are the library's
    char *label;
    ig_library **libraries;  // of the linked functions, in their order; retained
    const igi_msl_function **functions;
    size_t function_count;
    struct igi_device_stage *stage;  // what its [[stage_in]] reads; NULL: nothing
    uint64_t resource_id;            // 0: nobody has asked for it
};

struct ig_function_table {
    igi_refcount references;
    ig_pipeline *pipeline;
    ig_buffer *buffer;  // as <metal_visible_function_table> reads it: the count, and then numbers of functions
    uint32_t count;
};

// What the host has recorded of one command.
typedef struct igi_device_recorded {
    ig_pipeline *pipeline;
    ig_buffer *buffers[IGI_SLOTS];
} igi_device_recorded;

struct ig_indirect_commands {
    igi_refcount references;
    ig_device *device;
    ig_buffer *buffer;  // as msl/stdlib/__ingot_command_layout says; kernels write it
    uint32_t count, slots, threadgroup_slots;
    bool inherits_pipeline, inherits_buffers, zeroes;
    igi_device_recorded **recorded;  // for each command; NULL: nothing
    atomic_bool warned;              // that something unset reads as zeros
};

typedef enum igi_device_command_kind {
    IGI_COMMAND_DISPATCH,
    IGI_COMMAND_COPY,
    IGI_COMMAND_FILL,
    IGI_COMMAND_BARRIER,
    IGI_COMMAND_WAIT_EVENT,
    IGI_COMMAND_SIGNAL_EVENT,
    IGI_COMMAND_PRODUCT,
    IGI_COMMAND_PIXELS,
    IGI_COMMAND_MIPMAPS,
    IGI_COMMAND_EXECUTE,
} igi_device_command_kind;

// One argument of a dispatch: a range of a buffer, or bytes kept in the command buffer.
typedef struct igi_device_binding {
    ig_argument_kind kind;
    uint32_t index;
    ig_buffer *buffer;  // NULL for bytes and threadgroup memory
    uint64_t offset;
    void *bytes;
    uint64_t length;  // of bytes or threadgroup memory
    ig_texture *texture;
    ig_texture_sampler *sampler;
    ig_function_table *table;  // whose buffer it is; NULL for other buffers
} igi_device_binding;

typedef struct igi_device_dispatch {
    ig_pipeline *pipeline;
    igi_device_binding *bindings;
    uint32_t binding_count;
    uint64_t threadgroup_bytes;  // of arguments
    bool whole_groups;           // dispatch_threadgroups: no smaller groups at the edges
    ig_size grid, group;         // threads; threads per group
    ig_buffer *indirect;         // read when the dispatch runs: group counts, or grid and group unless whole_groups
    uint64_t indirect_offset;
    ig_size stage_origin, stage_size;  // of [[stage_in]]; a size of zeros: the grid
    ig_buffer *stage_region;           // both are read from here when the dispatch runs
    uint64_t stage_region_offset;
    const uint32_t *stage_strides;  // of the buffers of its attributes, by slot; NULL: the pipeline has them all
    ig_timing timing;
} igi_device_dispatch;

// Commands of an indirect command buffer, and what they inherit.
typedef struct igi_device_execution {
    ig_indirect_commands *indirect;
    uint32_t first, count;
    ig_buffer *range;  // both are read from here when they are executed; NULL: they are known
    uint64_t range_offset;
    ig_pipeline *pipeline;
    igi_device_binding buffers[IGI_SLOTS];
    uint64_t threadgroup_lengths[IGI_SLOTS];
    uint32_t stage_strides[IGI_SLOTS];
} igi_device_execution;

// A matrix of floats in a buffer.
typedef struct igi_device_matrix {
    ig_buffer *buffer;
    uint64_t offset, rows, columns, row_bytes;
} igi_device_matrix;

// result = alpha * left * right, each of them transposed first if its flag is set.
typedef struct igi_device_product {
    igi_device_matrix left, right, result;
    bool transpose_left, transpose_right;
    double alpha;
} igi_device_product;

typedef struct igi_device_command {
    igi_device_command_kind kind;
    union {
        igi_device_dispatch dispatch;
        igi_device_product *product;
        struct igi_device_pixel_copy *pixels;
        ig_texture *mipmaps;
        igi_device_execution *execution;
        struct {
            ig_buffer *source, *target;
            uint64_t source_offset, target_offset, length;
            uint8_t value;
        } blit;
        struct {
            ig_event *event;
            uint64_t value;
        } event;
    };
} igi_device_command;

typedef struct igi_device_callback {
    ig_commands_callback function;
    void *user;
} igi_device_callback;

typedef struct igi_device_retained {
    enum {
        IGI_RETAINED_BUFFER,
        IGI_RETAINED_PIPELINE,
        IGI_RETAINED_EVENT,
        IGI_RETAINED_TEXTURE,
        IGI_RETAINED_SAMPLER,
        IGI_RETAINED_FUNCTION_TABLE,
        IGI_RETAINED_INDIRECT,
    } kind;
    void *object;
} igi_device_retained;

typedef struct igi_device_findings {
    ig_finding *items;
    size_t count, capacity;
    bool failed;  // memory was short
} igi_device_findings;

struct ig_commands {
    igi_refcount references;
    ig_queue *queue;
    char *label;
    uint64_t deadline_ns;
    ig_kernel_log_desc kernel_log;
    // Encoding
    igi_device_command *commands;
    size_t command_count, command_capacity, dispatch_count;
    igi_device_retained *retained;
    size_t retained_count, retained_capacity;
    igi_device_callback *callbacks;
    size_t callback_count, callback_capacity;
    igi_arena arena;
    ig_pipeline *pipeline;
    igi_device_binding buffers[IGI_SLOTS];  // kind BUFFER; unset when buffer and bytes are NULL
    uint64_t threadgroup_lengths[IGI_SLOTS];
    ig_size stage_origin, stage_size;
    ig_buffer *stage_region;  // instead of them
    uint64_t stage_region_offset;
    uint32_t stage_strides[IGI_SLOTS];  // 0: none
    ig_texture *textures[IGI_TEXTURES];
    ig_texture_sampler *samplers[IGI_SAMPLERS];
    // Running
    pthread_mutex_t lock;  // guards error, finished
    pthread_cond_t changed;
    ig_error error;    // of encoding, then of running
    bool finished;     // callbacks have run too
    atomic_int state;  // ig_commands_state
    atomic_uint_fast64_t start_ns, end_ns;
    _Atomic uint32_t abort;  // read by running kernels
    atomic_uint_fast64_t lost_messages;
    igi_device_findings findings;  // written by whoever runs the commands
    igi_device_clock clock;        // what came before they were committed; then, before they ended
    void *backend_state;
    ig_commands *next;  // in the queue
};

struct ig_queue {
    igi_refcount references;
    ig_device *device;
    void *state;
    uint32_t track;   // in the trace
    char *label;      // NULL: none
    uint64_t number;  // in order of creation, from 1 on, and
    uint32_t place;   // in clocks, plus 1; 0: none yet. Both of devices with an order
};

struct ig_event {
    igi_refcount references;
    ig_device *device;
    void *state;
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t changed;
    uint64_t value;
    struct igi_device_event_waiter *waiters;
    igi_device_signals signals;  // of devices with an order
};

// A backend that must not block on an event registers one of these; `wake` is called once, without the lock.
typedef struct igi_device_event_waiter {
    uint64_t value;
    void (*wake)(void *user);
    void *user;
    struct igi_device_event_waiter *next;
} igi_device_event_waiter;

// A queue signals the event; NULL: the host does.
void igi_device_event_signal(ig_event *event, uint64_t value, const ig_queue *queue);
// The device has signalled the value. The event may be about to be destroyed: the caller prevents its backend from
// closing it meanwhile, and no reference is taken.
void igi_device_event_reached(ig_event *event, uint64_t value);
// Returns true if the event has reached the value; otherwise the waiter is registered with the event.
bool igi_device_event_leave_waiter(ig_event *event, igi_device_event_waiter *waiter);
// Removes the waiter; returns false if it is no longer registered, because its wake was called or is about to be.
bool igi_device_event_take_waiter(ig_event *event, igi_device_event_waiter *waiter);

// Called by backends when a command buffer has ended: sets state and error, runs callbacks, wakes waiters, drops the
// reference that commit took. `status` other than OK comes with `error` (taken over).
void igi_device_commands_finish(ig_commands *commands, ig_status status, ig_error *error);

// Whether the device has its own matrix products; only then may commands use them. Rows must be complete in their
// buffers, the last one too.
bool igi_device_has_products(ig_device *device);
ig_status igi_device_commands_product(ig_commands *commands, const igi_device_product *product);

// Takes back what was encoded since the mark, and any error from encoding it, so that earlier commands still run.
typedef struct igi_device_encoding_mark {
    size_t command_count, dispatch_count;
} igi_device_encoding_mark;
igi_device_encoding_mark igi_device_commands_mark(const ig_commands *commands);
void igi_device_commands_rewind(ig_commands *commands, igi_device_encoding_mark mark);
// "kernel 'add' in command buffer 'x'": for messages.
void igi_device_commands_describe(const ig_commands *commands, const ig_pipeline *pipeline, char *text,
                                  size_t capacity);

const ig_argument *igi_device_pipeline_argument(const ig_pipeline *pipeline, ig_argument_kind kind, uint32_t index);

#endif
