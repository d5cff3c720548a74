// SPDX-License-Identifier: Apache-2.0
// Device work of a stream between two commits: a command buffer, and which op each dispatch belongs to.
//
// threads: any thread may wait for a batch, which commits it, even while its stream adds work to it.
#ifndef INGOT_TENSOR_BATCH_H
#define INGOT_TENSOR_BATCH_H

#include <ingot/device.h>
#include <stdbool.h>

struct igi_tensor_chain;
typedef struct igi_tensor_batch igi_tensor_batch;

ig_status igi_tensor_batch_create(ig_queue *queue, uint64_t deadline_ns, igi_tensor_batch **batch);
igi_tensor_batch *igi_tensor_batch_retain(igi_tensor_batch *batch);
// The last release of a batch that was never committed drops its work.
void igi_tensor_batch_release(igi_tensor_batch *batch);
bool igi_tensor_batch_same_stream(const igi_tensor_batch *a, const igi_tensor_batch *b);

// Encoding one op: between begin and end the batch is locked. begin returns NULL if the batch has been committed, or
// memory is short (`status` says which). end with a failure removes what the op encoded.
ig_commands *igi_tensor_batch_begin(igi_tensor_batch *batch, const char *op, ig_status *status);
void igi_tensor_batch_end(igi_tensor_batch *batch, ig_status status);
size_t igi_tensor_batch_dispatches(igi_tensor_batch *batch);

// A batch that consists of one chain: it runs, or is encoded, when it is committed. owns: takes over the chain, also on
// failure.
ig_status igi_tensor_batch_create_of_chain(ig_queue *queue, uint64_t deadline_ns, struct igi_tensor_chain *chain,
                                           igi_tensor_batch **batch);
// Between lock and unlock, ops may be added. NULL, and not locked: it has been committed.
struct igi_tensor_chain *igi_tensor_batch_lock_chain(igi_tensor_batch *batch);
void igi_tensor_batch_unlock_chain(igi_tensor_batch *batch);

// Submits the work to the device, once. Failures are reported when waiting.
void igi_tensor_batch_commit(igi_tensor_batch *batch);
// Commits if necessary and waits. Returns the status of the work.
ig_status igi_tensor_batch_wait(igi_tensor_batch *batch);
bool igi_tensor_batch_is_done(igi_tensor_batch *batch);
// After waiting: the reason for a failure, naming the op.
void igi_tensor_batch_get_error(igi_tensor_batch *batch, ig_error *error);

#endif
