// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of ring.h, and the functions that the files of src/ring share.
#ifndef INGOT_RING_KERNEL_H
#define INGOT_RING_KERNEL_H

#include <assert.h>
#include <ingot/ring.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/status-internal.h"
#include "device/objects.h"
#include "ring/block.h"
#include "ring/hlc.h"
#include "ring/steady.h"

struct ig_ring_kernel {
    igi_refcount references;
    ig_ring_runtime *runtime;
    char *name;
    uint32_t index;  // of the kernel and of its inbox in the runtime
    ig_ring_mode mode;
    uint64_t launched_ns, deadline_ns;
    uint32_t idle_spins;  // 0: depends on how many cores are free
    ig_restart_policy restart;
    uint32_t max_restarts;
    bool k2k;
    // Memory shared with the kernel.
    ig_buffer *arena_buffer, *overflow_buffer;
    char *arena, *overflow;
    ig_ring_control *control;
    igi_ring_block *block;
    ig_k2k_inbox_header *inbox;
    // Copies of the layout in the block, because handlers can overwrite the block.
    igi_ring_place places[IGI_RING_COUNT];
    uint32_t state_offset, message_budget;
    uint64_t state_bytes;
    // What runs: a handler in C, or a pipeline.
    ig_ring_handler handler;
    void *user;
    ig_library *library;
    char *wanted;  // the name of its kernel in the source
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_commands *commands;
    ig_size group;
    ig_buffer *buffers[IGI_RING_BUFFERS];
    uint32_t shared_memory;  // bytes of threadgroup memory for handlers in MSL
    // Life.
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t changed;
    atomic_int state;      // ig_ring_state; written with the lock held
    atomic_bool running;   // some thread is in the loop
    atomic_bool dropping;  // terminate without draining
    _Atomic uint64_t dropping_since_ns;
    uint64_t restarts;
    ig_error error;
    igi_device_findings findings;
    ig_finding *shown_findings;  // what ig_ring_get_findings returned
    pthread_t thread;            // persistent kernels
    bool has_thread;
    // Counted without the lock.
    atomic_uint version;  // changes with the state: a thread checks it before it sleeps
    atomic_uint signal;   // threads that wait for output or room sleep on this word
    atomic_uint_fast64_t dispatches, failures;
    atomic_uint_fast64_t latency[IG_RING_HISTOGRAM];
    // Output, on the host's side.
    pthread_mutex_t receiving;  // guards what follows
    uint32_t output_next;       // the next position to take
    struct igi_ring_stashed *stash, **stash_end;
    _Atomic uint64_t stashed;
    // Event-driven kernels: the queue of those that have something to do.
    ig_ring_kernel *next_ready;
    bool queued;  // guarded by the runtime's ready_lock
    // The supervisor's.
    uint32_t watched_message;
    uint64_t watched_since_ns;
};

enum { IGI_MAX_PEERS = 16 };

struct ig_ring_runtime {
    igi_refcount references;  // of users; dropping the last one shuts the runtime down
    igi_refcount holders;     // one for all users together, and one for each kernel and dispatcher
    bool device_runs_for_ever;
    ig_device *device;
    ig_hlc *clock;
    uint32_t node, max_kernels, hop_limit, pending_ms;
    uint64_t stop_ns;  // how long to wait for a handler when its kernel must end
    ig_buffer *inbox_buffer;
    char *inboxes;
    igi_ring_place inbox_place;
    uint32_t inbox_size;
    atomic_uint_fast64_t message_ids;
    uint64_t generation;  // unique among the runtimes of this process
    atomic_uint busy;     // persistent kernels that are awake
    uint32_t cores;
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t changed;
    ig_ring_kernel **kernels;  // by index; NULL: free
    uint32_t kernel_count;
    ig_ring_runtime *peers[IGI_MAX_PEERS];
    uint32_t peer_count;
    bool ending, ending_supervision;
    pthread_t supervisor;
    bool has_supervisor;
    // Event-driven kernels that have something to do.
    pthread_mutex_t ready_lock;  // guards what follows
    pthread_cond_t ready;
    ig_ring_kernel *first_ready, **last_ready;
    pthread_t *dispatchers;
    uint32_t dispatcher_count, dispatcher_limit;
    uint32_t dispatchers_alive;
    bool dispatching_ends;
};

// A sent message, and its slot.
typedef struct igi_ring_sent {
    uint64_t id;
    uint32_t ring, position;
} igi_ring_sent;

// After fork() no thread serves the kernel in this process.
static inline bool igi_ring_is_inherited(const ig_ring_kernel *kernel) {
    return igi_device_is_inherited(kernel->runtime->device);
}

// For asserts: whether some thread holds the lock.
static inline bool igi_ring_is_locked(pthread_mutex_t *lock) {
    if (pthread_mutex_trylock(lock) != 0) return true;
    pthread_mutex_unlock(lock);
    return false;
}

// Zero in a descriptor means the default.
static inline uint32_t igi_ring_or_default(uint32_t value, uint32_t otherwise) {
    return value ? value : otherwise;
}

// ---- arena.c: the memory of a kernel ----
ig_status igi_ring_place_inboxes(ig_ring_runtime *runtime, const ig_ring_runtime_desc *desc);
ig_status igi_ring_make_arena(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc);
// Returns false if a handler has overwritten the layout of its queues; it is repaired while the loop is not running.
// Call both with the lock held.
bool igi_ring_is_sound(const ig_ring_kernel *kernel);
bool igi_ring_repair(ig_ring_kernel *kernel);

// ---- code.c: the pipeline of a kernel, and entering its loop ----
ig_status igi_ring_make_code(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error);
ig_status igi_ring_run(ig_ring_kernel *kernel, ig_error *error);
void igi_ring_abort(ig_ring_kernel *kernel);

// ---- findings.c: of a checked device ----
// Moves what was found in the loop to the kernel. Call with the lock held, when the loop has ended.
void igi_ring_take_findings(ig_ring_kernel *kernel);
void igi_ring_free_findings(ig_ring_kernel *kernel);

// ---- loop.c: handlers in C ----
// Enters the loop around the kernel's handler; returns when the loop ends.
void igi_ring_run_handler(ig_ring_kernel *kernel);

// ---- outbox.c: what the host does for messages between kernels ----
// How this message ended, or IG_DEAD_NONE. *seen is how many ends were checked before; it is 0 at first.
uint32_t igi_ring_find_end(const igi_ring_block *block, uint64_t id, uint32_t *seen);
// Transfers messages for other devices; returns true if some had to stay.
bool igi_ring_carry_remote(ig_ring_kernel *kernel);
// After a handler that did not return: its message becomes a dead letter, and a slot that it had claimed is released.
void igi_ring_recover(ig_ring_kernel *kernel, uint32_t reason);
// Turns all queued messages into dead letters, as far as there is room for them.
void igi_ring_drop_all(ig_ring_kernel *kernel);

// ---- serve.c: who runs the loop, and when ----
ig_status igi_ring_start(ig_ring_kernel *kernel);
// Call this when there may be work for the kernel.
void igi_ring_wake(ig_ring_kernel *kernel);
void igi_ring_wake_index(ig_ring_runtime *runtime, uint32_t index);
// Serves an event-driven kernel that is queued, in this thread; returns false if it was not queued.
bool igi_ring_assist(ig_ring_kernel *kernel);
// Dispatchers that are still in a handler at the deadline are detached; they end when the handler returns.
void igi_ring_stop_dispatchers(ig_ring_runtime *runtime, uint64_t deadline_ns);

// ---- supervise.c ----
ig_status igi_ring_start_supervisor(ig_ring_runtime *runtime);
void igi_ring_stop_supervisor(ig_ring_runtime *runtime);

// ---- kernel.c ----
// The handler failed: notes it for the thread that waits for an answer, and restarts the kernel or marks it failed. Call
// with the lock held; takes over `error`.
void igi_ring_note_failure(ig_ring_kernel *kernel, uint32_t reason, ig_error *error);
void igi_ring_set_state(ig_ring_kernel *kernel, ig_ring_state state);  // with the lock held
// The kernel must end, and its handler has not returned in time. Call with the lock held.
ig_status igi_ring_note_stuck_handler(ig_ring_kernel *kernel);

// ---- runtime.c ----
bool igi_ring_is_ending(ig_ring_runtime *runtime);
// The kernel, retained; NULL if there is none.
ig_ring_kernel *igi_ring_kernel_at(ig_ring_runtime *runtime, uint32_t index);
// Gives the kernel its number.
ig_status igi_ring_register(ig_ring_runtime *runtime, ig_ring_kernel *kernel, ig_error *error);
// Closes all routes to this number.
void igi_ring_close_routes(ig_ring_runtime *runtime, uint32_t index);
void igi_ring_runtime_drop(ig_ring_runtime *runtime);
// Removes the kernel from the runtime, and joins its thread if that has ended.
void igi_ring_unregister(ig_ring_runtime *runtime, ig_ring_kernel *kernel);

// ---- send.c ----
// As ig_ring_send, and returns the slot of the message too.
ig_status igi_ring_send_at(ig_ring_kernel *kernel, const ig_message *message, uint64_t timeout_ns, igi_ring_sent *sent);

// ---- receive.c ----
void igi_ring_drop_stash(ig_ring_kernel *kernel);

#endif
