// SPDX-License-Identifier: Apache-2.0
// Device work of a stream between two commits: a command buffer, and which op each dispatch belongs to.
//
// threads: a batch may be waited for, and thereby committed, from any thread, also while its stream gives it more.
#ifndef INGOT_TENSOR_BATCH_H
#define INGOT_TENSOR_BATCH_H

#include <ingot/device.h>
#include <stdbool.h>

struct igi_chain;
typedef struct igi_batch igi_batch;

ig_status igi_batch_create(ig_queue *queue, uint64_t deadline_ns, igi_batch **batch);
igi_batch *igi_batch_retain(igi_batch *batch);
// The last release of a batch that was never committed drops its work.
void igi_batch_release(igi_batch *batch);
bool igi_batch_same_stream(const igi_batch *a, const igi_batch *b);

// Encoding one op: between begin and end the batch is locked. begin gives NULL when the batch has been committed, or
// memory is short (`status` says which). end with a failure takes back what the op encoded.
ig_commands *igi_batch_begin(igi_batch *batch, const char *op, ig_status *status);
void igi_batch_end(igi_batch *batch, ig_status status);
size_t igi_batch_dispatches(igi_batch *batch);

// A batch that is a chain and nothing else: it runs, or is encoded, when it is committed. owns: takes the chain over,
// also when it fails.
ig_status igi_batch_create_of_chain(ig_queue *queue, uint64_t deadline_ns, struct igi_chain *chain, igi_batch **batch);
// Between lock and unlock ops may be added. NULL, without a lock: it has been committed.
struct igi_chain *igi_batch_lock_chain(igi_batch *batch);
void igi_batch_unlock_chain(igi_batch *batch);

// Hands the work to the device, once. Failures show when waiting.
void igi_batch_commit(igi_batch *batch);
// Commits if need be and waits. Status of the work.
ig_status igi_batch_wait(igi_batch *batch);
bool igi_batch_is_done(igi_batch *batch);
// After waiting: why it failed, naming the op.
void igi_batch_get_error(igi_batch *batch, ig_error *error);

#endif
