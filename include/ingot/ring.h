// SPDX-License-Identifier: Apache-2.0
// Ring kernels: actors on a device. Each handles the messages of its input ring, one after the other, and answers into
// its output ring or sends to other kernels. Handlers are written in MSL (<ingot/ring> there) or are C functions.
//
// Threads: every call may come from any thread. Messages of one sender and one priority class stay in order; none is
// lost or delivered twice. When a queue is full, the call returns QUEUE_FULL or waits.
// Errors: calls that take no ig_error leave the reason for ig_last_error (status.h).
#ifndef INGOT_RING_H
#define INGOT_RING_H

#include <ingot/device.h>
#include <ingot/ring-layout.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// ---- Hybrid logical clocks ----

// A hybrid logical clock.
typedef struct ig_hlc ig_hlc;

// Creates the clock of a node. errors: OUT_OF_MEMORY.
ig_status ig_hlc_create(uint64_t node, ig_hlc **clock);
void ig_hlc_release(ig_hlc *clock);
// A new timestamp, later than all that this clock has given or received. Lock-free.
ig_hlc_timestamp ig_hlc_tick(ig_hlc *clock);
// Advances the clock past a timestamp of another clock; *now, if wanted, is later than both. errors: CLOCK_SKEW when
// the timestamp is more than 60 s ahead of this process's time, of the wall clock and of this clock, which is then
// unchanged.
ig_status ig_hlc_update(ig_hlc *clock, ig_hlc_timestamp received, ig_hlc_timestamp *now);
// The latest timestamp, without making a new one.
ig_hlc_timestamp ig_hlc_read(const ig_hlc *clock);
int ig_hlc_compare(ig_hlc_timestamp a, ig_hlc_timestamp b);  // -1, 0 or 1
// 128 bits that compare as the timestamps do: physical in [1], logical and node in [0].
// errors: OVERFLOW when logical needs more than 48 bits or node more than 16.
ig_status ig_hlc_pack(ig_hlc_timestamp moment, uint64_t packed[2]);
// The moment that ig_hlc_pack packed.
ig_hlc_timestamp ig_hlc_unpack(const uint64_t packed[2]);

// ---- Messages ----

// To send, fill in what matters: type, correlation_id, priority, deadline_us, payload; the rest of the header is set by
// the call. To receive, start with a zeroed message: its payload grows as needed, and it can be used again.
typedef struct ig_message {
    ig_message_header header;
    void *payload;
    uint64_t payload_capacity;  // of memory that ig_message_clear frees; 0 when the payload is the caller's
    uint64_t deadline_us;       // for sending: expires this long after it was sent; 0: never
} ig_message;

// Frees the payload, if the message owns it, and sets all of it to zero.
void ig_message_clear(ig_message *message);

// A message of the struct at `value`.
#define IG_MESSAGE(type, value) \
    ((ig_message){.header = {.message_type = (type), .payload_size = sizeof *(value)}, .payload = (void *)(value)})
// The struct in a message; NULL if the message is of another type or size.
#define IG_MESSAGE_AS(T, type, message)                                                                                \
    ((message)->header.message_type == (type) && (message)->header.payload_size == sizeof(T) ? (T *)(message)->payload \
                                                                                             : (T *)NULL)
// The CRC-32 of a payload, as it is in headers.
uint32_t ig_message_checksum(const void *payload, uint64_t bytes);

// ---- Runtimes ----

// The ring kernels of a device.
typedef struct ig_ring_runtime ig_ring_runtime;
// A kernel that handles messages.
typedef struct ig_ring_kernel ig_ring_kernel;

// Options of a runtime.
typedef struct ig_ring_runtime_desc {
    uint32_t node;            // number of this runtime: the upper half of its kernels' ids
    uint32_t max_kernels;     // 0: 64
    uint32_t inbox_capacity;  // messages from other kernels that may wait for a kernel, a power of two; 0: 128
    uint32_t inbox_payload;   // largest payload between kernels; 0: 65536
    uint32_t dispatchers;     // threads that serve event-driven kernels; 0: one per core, at most 4
    uint32_t hop_limit;       // 0: 8
    uint32_t pending_ms;      // how long a kernel keeps a message whose receiver is full; 0: 5000
    uint32_t stop_ms;         // how long to wait for a handler when its kernel is to stop; 0: 5000
} ig_ring_runtime_desc;

// Creates a runtime. desc may be NULL. errors: INVALID_ARGUMENT, OUT_OF_MEMORY, SYSTEM.
ig_status ig_ring_runtime_create(ig_device *device, const ig_ring_runtime_desc *desc, ig_ring_runtime **runtime);
// Terminates all kernels, drops their messages and releases the caller's reference. Handlers in MSL that do not return
// are stopped. errors: TIMEOUT when a handler in C, which cannot be stopped, has not returned within stop_ms: its
// thread, its kernel, the runtime and the device then stay until it returns, and so must everything it uses;
// ig_ring_get_error of the kernel names it.
ig_status ig_ring_runtime_shutdown(ig_ring_runtime *runtime);
ig_ring_runtime *ig_ring_runtime_retain(ig_ring_runtime *runtime);
void ig_ring_runtime_release(ig_ring_runtime *runtime);   // the last reference shuts it down
ig_hlc *ig_ring_runtime_clock(ig_ring_runtime *runtime);  // borrowed
// From now on the host transfers messages between kernels of the two. Both must outlive that traffic.
ig_status ig_ring_runtime_join(ig_ring_runtime *a, ig_ring_runtime *b);

// ---- Handlers in C ----

// What a handler sees of its message and its kernel, valid during the call.
typedef struct ig_ring_context ig_ring_context;
// A handler in C; `user` is that of the launch.
typedef void (*ig_ring_handler)(ig_ring_context *context, void *user);

// The header of the message.
const ig_message_header *ig_ring_context_message(const ig_ring_context *context);
// The payload of the message.
const void *ig_ring_context_payload(const ig_ring_context *context);
// With the option `batches` one call may be for several messages that were sent together. They differ only in their
// payloads, ids and times; ids and times are consecutive, starting with those of the message. The payload past the last
// is NULL.
uint64_t ig_ring_context_count(const ig_ring_context *context);
// The payload of one of the messages of a call, NULL past the last.
const void *ig_ring_context_payload_at(const ig_ring_context *context, uint64_t which);
// The state of the kernel, which stays from message to message; *bytes, if wanted, is its size.
void *ig_ring_context_state(const ig_ring_context *context, uint64_t *bytes);
// A new moment of the kernel's clock.
ig_hlc_timestamp ig_ring_context_now(ig_ring_context *context);
// Answers the message. Returns IG_DELIVERED or why not.
uint32_t ig_ring_context_reply(ig_ring_context *context, uint64_t type, const void *payload, uint64_t bytes);
// Sends a message to a kernel. Returns IG_DELIVERED or why not.
uint32_t ig_ring_context_send(ig_ring_context *context, uint64_t dest, uint64_t type, const void *payload,
                              uint64_t bytes);
// Several messages of one type and size, adjacent in memory; returns how many were taken. They share slots in the
// receiver's inbox, which makes each of them much cheaper.
uint64_t ig_ring_context_send_batch(ig_ring_context *context, uint64_t dest, uint64_t type, const void *payloads,
                                    uint64_t bytes, uint64_t count);
// Sends a message along all routes. Returns IG_DELIVERED or why not.
uint32_t ig_ring_context_broadcast(ig_ring_context *context, uint64_t type, const void *payload, uint64_t bytes);
// Sends the message being handled on to another kernel. Returns IG_DELIVERED or why not.
uint32_t ig_ring_context_forward(ig_ring_context *context, uint64_t dest);
// Marks the message as failed, with a code of the handler's: IG_RING_ERROR_USER and above.
void ig_ring_context_fail(ig_ring_context *context, uint32_t error);

// ---- Kernels ----

// Who enters the loop over messages.
typedef enum ig_ring_mode {
    IG_RING_PERSISTENT,    // the kernel has its own thread, which waits for messages
    IG_RING_EVENT_DRIVEN,  // the host dispatches the kernel when there are messages; the only mode on Metal's GPUs
} ig_ring_mode;

// Whether a kernel goes on after its handler failed.
typedef enum ig_restart_policy {
    IG_RESTART_NEVER,       // the kernel is then Failed
    IG_RESTART_ON_FAILURE,  // with the next message, at most max_restarts times
} ig_restart_policy;

// What to launch. Exactly one of source, path and handler is set.
typedef struct ig_ring_launch_desc {
    const char *name;    // unique among running kernels
    const char *kernel;  // in MSL, the name given to INGOT_RING_KERNEL; NULL: `name`
    const char *source;
    const char *path;
    ig_ring_handler handler;
    void *user;
    ig_ring_mode mode;
    uint32_t grid;            // threadgroups; 0: 1; more are not supported, because they would break the order
    uint32_t block;           // threads that handle a message together, in MSL; 0: 256
    uint32_t input_capacity;  // powers of two; 0: 1024
    uint32_t output_capacity;
    uint32_t dead_letter_capacity;  // 0: 64
    uint32_t max_payload;           // 0: 65536
    uint64_t state_bytes;           // lasts between messages, zero at first; 0: 64
    ig_buffer *buffers[4];          // for context.buffer(n)
    uint32_t shared_memory;         // bytes of threadgroup memory for context.shared<T>(), in MSL; 0: none
    bool start_inactive;            // Launched, not Active
    bool k2k;                       // may have routes
    bool batches;                   // the handler takes several messages per call: see ig_ring_context_count
    uint64_t deadline_ns;           // for one message; 0: none
    uint32_t message_budget;        // event-driven: messages a dispatch may handle; 0: 64
    uint32_t idle_spins;            // persistent: looks at empty rings before it sleeps; 0: more when cores are free
    ig_restart_policy restart;
    uint32_t max_restarts;  // 0: 3
} ig_ring_launch_desc;

// Launches a kernel. errors: INVALID_ARGUMENT (also when the name is taken), OUT_OF_RANGE (max_kernels), UNSUPPORTED,
// WRONG_STATE (the runtime is shut down), OUT_OF_MEMORY, and those of ig_library_create and ig_pipeline_create.
ig_status ig_ring_launch(ig_ring_runtime *runtime, const ig_ring_launch_desc *desc, ig_ring_kernel **kernel,
                         ig_error *error);
ig_ring_kernel *ig_ring_kernel_retain(ig_ring_kernel *kernel);
void ig_ring_kernel_release(ig_ring_kernel *kernel);
uint64_t ig_ring_kernel_id(const ig_ring_kernel *kernel);       // the node in the upper half
const char *ig_ring_kernel_name(const ig_ring_kernel *kernel);  // valid as long as the kernel
// Retained for the caller; NULL when there is none.
ig_ring_kernel *ig_ring_find(ig_ring_runtime *runtime, const char *name);
// Retains up to `capacity` kernels in order of launch; returns how many there are.
size_t ig_ring_list(ig_ring_runtime *runtime, ig_ring_kernel **kernels, size_t capacity);

// The life of a kernel.
typedef enum ig_ring_state {
    IG_RING_CREATED,      // not launched yet
    IG_RING_LAUNCHED,     // takes no messages before ig_ring_activate
    IG_RING_ACTIVE,       // takes and handles messages
    IG_RING_DEACTIVATED,  // keeps its state and what waits, and handles nothing
    IG_RING_TERMINATING,  // takes no more messages, and handles what waits
    IG_RING_TERMINATED,   // has ended
    IG_RING_FAILED,       // a handler failed and there is no restart left; activate begins anew
} ig_ring_state;
const char *ig_ring_state_name(ig_ring_state state);  // "active"

// What becomes of waiting messages when a kernel is terminated.
typedef enum ig_ring_ending {
    IG_RING_DRAIN,  // they are handled first
    IG_RING_DROP,   // they become dead letters
} ig_ring_ending;

// Lets a kernel that was launched, deactivated or failed handle messages. errors: WRONG_STATE; ig_ring_get_error then
// names both states.
ig_status ig_ring_activate(ig_ring_kernel *kernel);
// Returns when no message is being handled any more. errors: TIMEOUT when a handler has not returned within stop_ms:
// the kernel is deactivated all the same, and the call may be repeated to wait longer.
ig_status ig_ring_deactivate(ig_ring_kernel *kernel);
// Returns at once. Queued messages are handled first, or dropped into the dead letters as far as they have room.
ig_status ig_ring_terminate(ig_ring_kernel *kernel, ig_ring_ending ending);
// Waits until the kernel is terminated or failed. errors: TIMEOUT; also, however long the timeout, when the kernel was
// to drop its messages and its handler has not returned within stop_ms.
ig_status ig_ring_wait(ig_ring_kernel *kernel, uint64_t timeout_ns);
// The last error of the kernel or of a call on it. owns: the caller clears `error`.
ig_status ig_ring_get_error(const ig_ring_kernel *kernel, ig_error *error);
// On a device that checks kernels: what was found in this kernel's handler so far. The findings of a message are
// available when its handler has returned and the kernel is idle, deactivated or terminated; its error is then
// CHECK_FAILED. Returns the number of findings. *findings may be used until the next call for this kernel, or until the
// kernel is released. See docs/checking.md.
size_t ig_ring_get_findings(ig_ring_kernel *kernel, const ig_finding **findings);

enum { IG_RING_HISTOGRAM = 48 };  // buckets of ig_ring_status.latency
// What a kernel has done and what is waiting for it.
typedef struct ig_ring_status {
    ig_ring_state state;
    ig_ring_mode mode;
    uint64_t input_depth, output_depth, inbox_depth, outbox_depth, dead_letters;
    uint64_t in_flight, errors, restarts;
    // Messages to the kernel, each counted once when it ends. The first five and the messages queued in the input and
    // the inbox are all that were ever sent to it.
    uint64_t processed;  // the handler returned
    uint64_t stopped;    // the handler was stopped, or accessed memory it does not own
    uint64_t expired;    // past their deadline
    uint64_t invalid;    // bad header or checksum, or from another node whose clock is too far ahead
    uint64_t dropped;    // queued when the kernel was terminated
    uint64_t failed;     // of those processed: the handler called fail
    // Messages from the kernel. All that it ever sent were received, are queued in an output, inbox or outbox, or are
    // undelivered.
    uint64_t sent;
    uint64_t undelivered;  // given up: the receiver was full for too long or ended, or the sender was terminated
    uint64_t refused;      // not sent: no route, too large, too many hops, or an answer for which there was no room
    // Dead letters are all stopped, expired, invalid, dropped, failed, undelivered and refused messages.
    uint64_t dead_lost;   // for which the dead letters had no room
    uint64_t dispatches;  // times the loop was entered
    uint64_t uptime_ns;
    uint32_t last_error;
    ig_hlc_timestamp clock;
    uint64_t latency[IG_RING_HISTOGRAM];  // answers received by the host, by log2 of nanoseconds since the question
} ig_ring_status;
// Fills `status` with the current figures.
void ig_ring_get_status(const ig_ring_kernel *kernel, ig_ring_status *status);
// The latency in nanoseconds that this fraction of the answers did not exceed, from the histogram; 0 when there are none.
uint64_t ig_ring_latency_quantile(const ig_ring_status *status, double fraction);

// ---- Sending and receiving ----

// A timeout of 0 tries once. errors: QUEUE_FULL after the timeout, WRONG_STATE unless active, OVERFLOW for a payload
// larger than the kernel takes. *id, if wanted, is the correlation_id of the answer.
ig_status ig_ring_send(ig_ring_kernel *kernel, const ig_message *message, uint64_t timeout_ns, uint64_t *id);
// Sends in order; *sent, if wanted, is how many were sent. Messages that differ only in their payloads share slots of
// the ring, which makes each of them much cheaper.
ig_status ig_ring_send_batch(ig_ring_kernel *kernel, const ig_message *messages, size_t count, uint64_t timeout_ns,
                             size_t *sent);
// The same for an array of structs: `message` is the first, and the payloads of the others follow it in memory.
ig_status ig_ring_send_array(ig_ring_kernel *kernel, const ig_message *message, size_t count, uint64_t timeout_ns,
                             size_t *sent);
// Takes the next message out of the output. errors: TIMEOUT when there is nothing; WRONG_STATE when nothing can come any
// more.
ig_status ig_ring_receive(ig_ring_kernel *kernel, ig_message *message, uint64_t timeout_ns);
// The same for up to `count` messages: waits for the first, then takes what is there. *received says how many.
ig_status ig_ring_receive_batch(ig_ring_kernel *kernel, ig_message *messages, size_t count, uint64_t timeout_ns,
                                size_t *received);
// Waits for the answer to that message; other answers stay queued. errors, when there will be no answer:
// INVALID_ARGUMENT when the handler failed, KERNEL_FAULT, TIMEOUT when the handler or the message exceeded its deadline,
// BAD_FORMAT, WRONG_STATE when the kernel was terminated; ig_ring_get_error says which. A request also returns NOT_FOUND
// when the handler returned without an answer.
ig_status ig_ring_receive_correlated(ig_ring_kernel *kernel, uint64_t id, ig_message *message, uint64_t timeout_ns);
// Sends a question and waits for its answer: ig_ring_send, then ig_ring_receive_correlated, with their errors.
ig_status ig_ring_request(ig_ring_kernel *kernel, const ig_message *question, ig_message *answer, uint64_t timeout_ns);

// A slot of a ring, for sending and receiving without a copy. To send, reserve a slot, write type, correlation_id and so
// on into the header and `bytes` bytes into the payload, and commit it. Commit or cancel every reservation soon, because
// the messages after it wait. To receive, peek at a slot and consume it, which frees it for the kernel.
typedef struct ig_ring_slot {
    ig_message_header *header;
    void *payload;
    uint32_t ring, position;
} ig_ring_slot;
// Reserves a slot for a payload of `bytes`. errors: as ig_ring_send.
ig_status ig_ring_reserve(ig_ring_kernel *kernel, uint64_t bytes, uint64_t timeout_ns, ig_ring_slot *slot);
// Sends the message in a reserved slot.
void ig_ring_commit(ig_ring_kernel *kernel, ig_ring_slot *slot);
// Gives up a reserved slot; the receiver skips it.
void ig_ring_cancel(ig_ring_kernel *kernel, ig_ring_slot *slot);
// The next message of the output, in place, until ig_ring_consume. errors: as ig_ring_receive.
ig_status ig_ring_peek(ig_ring_kernel *kernel, uint64_t timeout_ns, ig_ring_slot *slot);
// Ends the use of a slot that ig_ring_peek gave: the message has been received.
void ig_ring_consume(ig_ring_kernel *kernel, ig_ring_slot *slot);

// A reason in words. Never NULL, for any value.
const char *ig_dead_reason_text(ig_dead_reason reason);
// The oldest message that was not handled; header.dead_reason says why. errors: TIMEOUT when there is none.
ig_status ig_ring_receive_dead(ig_ring_kernel *kernel, ig_message *message);

// ---- Kernel to kernel ----

// Routes of the kernel at number `self` of a grid of kernels numbered from `first`: id = first + (z * gy + y) * gx + x.
// errors: INVALID_ARGUMENT when self is not in the grid.
ig_status ig_k2k_routing_table_grid(ig_k2k_routing_table *table, uint32_t self, uint32_t first, const uint32_t grid[3],
                                    ig_neighbourhood neighbourhood, bool periodic, uint32_t inbox_size);
// Adds a route, so that one kernel can send to another. errors: WRONG_STATE without the k2k option, OVERFLOW past 26
// routes.
ig_status ig_ring_connect(ig_ring_kernel *from, ig_ring_kernel *to);
// Removes a route.
ig_status ig_ring_disconnect(ig_ring_kernel *from, ig_ring_kernel *to);
// Connects all kernels of a grid with their neighbours. `kernels` are in the order of their numbers, of one runtime, with
// consecutive ids.
ig_status ig_ring_connect_grid(ig_ring_kernel *const *kernels, const uint32_t grid[3], ig_neighbourhood neighbourhood,
                               bool periodic);
// Fills `table` with the routes of a kernel.
void ig_ring_get_routes(const ig_ring_kernel *kernel, ig_k2k_routing_table *table);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
