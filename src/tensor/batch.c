// SPDX-License-Identifier: Apache-2.0
// Batches of device work.
#include "tensor/batch.h"

#include <assert.h>
#include <sched.h>

#include "core/clock.h"
#include "device/objects.h"
#include "tensor/chain.h"

typedef struct encoded_op {
    const char *name;
    size_t first_dispatch;
} encoded_op;

struct igi_tensor_batch {
    igi_refcount references;
    const void *stream;     // the queue's address, for comparing
    pthread_mutex_t lock;   // guards what follows
    ig_commands *commands;  // NULL once done, so that buffers return to the pool as soon as possible
    igi_device_encoding_mark mark;
    encoded_op *ops;
    size_t op_count, op_capacity;
    size_t dispatches;
    bool committed, done;
    igi_tensor_chain *chain;  // not run or encoded yet
    ig_error error;
    bool is_chain;
    pthread_mutex_t running;  // of chains: held while the chain runs; taken before `lock`
};

static void completed(ig_commands *commands, ig_status status, void *user);

ig_status igi_tensor_batch_create(ig_queue *queue, uint64_t deadline_ns, igi_tensor_batch **batch) {
    igi_tensor_batch *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    ig_status status = ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = deadline_ns}, &made->commands);
    if (status == IG_STATUS_OK) status = ig_commands_on_completed(made->commands, completed, made);
    if (status != IG_STATUS_OK) {
        ig_commands_release(made->commands);
        free(made);
        return status;
    }
    igi_ref_init(&made->references);
    made->stream = queue;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->running, NULL);
    *batch = made;
    return IG_STATUS_OK;
}

igi_tensor_batch *igi_tensor_batch_retain(igi_tensor_batch *batch) {
    if (batch) igi_ref_take(&batch->references);
    return batch;
}

void igi_tensor_batch_release(igi_tensor_batch *batch) {
    if (!batch || !igi_ref_drop(&batch->references)) return;
    ig_commands_release(batch->commands);
    igi_tensor_chain_free(batch->chain);
    free(batch->ops);
    ig_error_clear(&batch->error);
    pthread_mutex_destroy(&batch->lock);
    pthread_mutex_destroy(&batch->running);
    free(batch);
}

bool igi_tensor_batch_same_stream(const igi_tensor_batch *a, const igi_tensor_batch *b) {
    return a->stream == b->stream;
}

// ---- Encoding ----

static ig_status add_op(igi_tensor_batch *batch, const char *name, size_t first_dispatch) {
    if (!igi_grow((void **)&batch->ops, &batch->op_capacity, batch->op_count + 1, sizeof *batch->ops))
        return IG_STATUS_OUT_OF_MEMORY;
    batch->ops[batch->op_count++] = (encoded_op){name, first_dispatch};
    return IG_STATUS_OK;
}

ig_commands *igi_tensor_batch_begin(igi_tensor_batch *batch, const char *op, ig_status *status) {
    pthread_mutex_lock(&batch->lock);
    *status = batch->committed ? IG_STATUS_WRONG_STATE : IG_STATUS_OK;
    if (*status == IG_STATUS_OK) {
        batch->mark = igi_device_commands_mark(batch->commands);
        *status = add_op(batch, op, batch->mark.dispatch_count);
    }
    if (*status == IG_STATUS_OK) return batch->commands;
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

void igi_tensor_batch_end(igi_tensor_batch *batch, ig_status status) {
    if (status != IG_STATUS_OK) {
        igi_device_commands_rewind(batch->commands, batch->mark);
        batch->op_count--;
    }
    batch->dispatches = ig_commands_dispatch_count(batch->commands);
    pthread_mutex_unlock(&batch->lock);
}

size_t igi_tensor_batch_dispatches(igi_tensor_batch *batch) {
    pthread_mutex_lock(&batch->lock);
    size_t count = batch->dispatches;
    pthread_mutex_unlock(&batch->lock);
    return count;
}

// ---- Chains ----

ig_status igi_tensor_batch_create_of_chain(ig_queue *queue, uint64_t deadline_ns, igi_tensor_chain *chain,
                                           igi_tensor_batch **batch) {
    igi_tensor_batch *made = NULL;
    ig_status status = igi_tensor_batch_create(queue, deadline_ns, &made);
    if (status != IG_STATUS_OK) {
        igi_tensor_chain_free(chain);
        return status;
    }
    made->chain = chain;
    made->is_chain = true;
    *batch = made;
    return IG_STATUS_OK;
}

igi_tensor_chain *igi_tensor_batch_lock_chain(igi_tensor_batch *batch) {
    pthread_mutex_lock(&batch->lock);
    if (batch->chain) return batch->chain;
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

void igi_tensor_batch_unlock_chain(igi_tensor_batch *batch) {
    pthread_mutex_unlock(&batch->lock);
}

// ---- Running ----

// The op of the last dispatch that was started: those after a failed one are not started.
static const char *failed_op(const igi_tensor_batch *batch, const ig_commands *commands) {
    size_t failed = 0;
    ig_timing timing;
    for (size_t i = 0; i < ig_commands_dispatch_count(commands); i++)
        if (ig_commands_get_dispatch_timing(commands, i, &timing) == IG_STATUS_OK && timing.start_ns) failed = i;
    const char *name = batch->op_count ? batch->ops[0].name : "none";
    for (size_t i = 0; i < batch->op_count && batch->ops[i].first_dispatch <= failed; i++) name = batch->ops[i].name;
    return name;
}

static void record(igi_tensor_batch *batch, ig_commands *commands, ig_status status) {
    ig_error why = {0};
    ig_commands_get_error(commands, &why);
    const char *text = why.message ? why.message : ig_status_text(status);
    igi_error_set(&batch->error, status, "op '%s' failed: %s", failed_op(batch, commands), text);
    ig_error_clear(&why);
}

// Call with the lock held.
static void finish(igi_tensor_batch *batch, ig_commands *commands, ig_status status) {
    if (status != IG_STATUS_OK) record(batch, commands, status);
    batch->done = true;
    batch->commands = NULL;
}

static void completed(ig_commands *commands, ig_status status, void *user) {
    igi_tensor_batch *batch = user;
    pthread_mutex_lock(&batch->lock);
    finish(batch, commands, status);
    pthread_mutex_unlock(&batch->lock);
    igi_tensor_batch_release(batch);
    ig_commands_release(commands);
}

// Drops the reference that was held until completion. The committing thread has another one, so it is not the last.
static void give_back(igi_tensor_batch *batch, ig_commands *commands) {
    bool last = igi_ref_drop(&batch->references);
    assert(!last);
    (void)last;
    ig_commands_release(commands);
}

static void send(igi_tensor_batch *batch, ig_commands *commands) {
    ig_status status = ig_commands_commit(commands);
    // Work that the device refused was completed with an error; only work that was never submitted needs that here.
    if (status == IG_STATUS_OK || ig_commands_get_state(commands) != IG_COMMANDS_ENCODING) return;
    pthread_mutex_lock(&batch->lock);
    finish(batch, commands, status);
    pthread_mutex_unlock(&batch->lock);
    give_back(batch, commands);
}

// No commands will run: the host has done everything, or failed to.
static void finish_on_host(igi_tensor_batch *batch, ig_commands *commands, ig_status status, ig_error *why) {
    pthread_mutex_lock(&batch->lock);
    const char *name = batch->op_count ? batch->ops[batch->op_count - 1].name : "none";
    if (status != IG_STATUS_OK && !why->message)
        igi_error_set(why, status, "op '%s' failed: %s", name, ig_status_text(status));
    if (status != IG_STATUS_OK) batch->error = *why, *why = (ig_error){0};
    batch->done = true;
    batch->commands = NULL;
    pthread_mutex_unlock(&batch->lock);
    give_back(batch, commands);
}

static ig_status begin_op(void *user, const char *op) {
    igi_tensor_batch *batch = user;
    return add_op(batch, op, ig_commands_dispatch_count(batch->commands));
}

// No other thread uses the ops and commands of a chain's batch.
static void run_chain(igi_tensor_batch *batch, igi_tensor_chain *chain, ig_commands *commands) {
    ig_error why = {0};
    igi_tensor_chain_outcome outcome;
    igi_tensor_fusion_choice choice;
    ig_status status = igi_tensor_fusion_run(chain, commands, begin_op, batch, &outcome, &choice, &why);
    if (status != IG_STATUS_OK || outcome == IGI_CHAIN_DONE) {
        finish_on_host(batch, commands, status, &why);
    } else {
        uint64_t start = igi_now_ns();
        send(batch, commands);
        // On the host's own cores it would not run concurrently with anything; waiting shows how long it takes.
        bool good = !chain->encodes && ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_OK;
        if (good) igi_tensor_fusion_measured(chain, choice, igi_now_ns() - start);
    }
    ig_error_clear(&why);
    igi_tensor_chain_free(chain);
}

static void commit(igi_tensor_batch *batch) {
    pthread_mutex_lock(&batch->lock);
    ig_commands *commands = batch->committed ? NULL : ig_commands_retain(batch->commands);
    igi_tensor_chain *chain = batch->chain;
    batch->committed = true;
    batch->chain = NULL;
    pthread_mutex_unlock(&batch->lock);
    if (!commands) return;
    igi_tensor_batch_retain(batch);  // until completed
    if (chain)
        run_chain(batch, chain, commands);
    else
        send(batch, commands);
    ig_commands_release(commands);
}

void igi_tensor_batch_commit(igi_tensor_batch *batch) {
    if (!batch->is_chain) {
        commit(batch);
        return;
    }
    pthread_mutex_lock(&batch->running);
    commit(batch);
    pthread_mutex_unlock(&batch->running);
}

ig_status igi_tensor_batch_wait(igi_tensor_batch *batch) {
    igi_tensor_batch_commit(batch);
    pthread_mutex_lock(&batch->lock);
    ig_commands *commands = ig_commands_retain(batch->commands);
    pthread_mutex_unlock(&batch->lock);
    // Another thread may be about to commit it.
    while (commands && !igi_tensor_batch_is_done(batch) &&
           ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_WRONG_STATE)
        sched_yield();
    ig_commands_release(commands);
    pthread_mutex_lock(&batch->lock);
    ig_status status = batch->error.status;
    pthread_mutex_unlock(&batch->lock);
    return status;
}

bool igi_tensor_batch_is_done(igi_tensor_batch *batch) {
    pthread_mutex_lock(&batch->lock);
    bool done = batch->done;
    pthread_mutex_unlock(&batch->lock);
    return done;
}

void igi_tensor_batch_get_error(igi_tensor_batch *batch, ig_error *error) {
    pthread_mutex_lock(&batch->lock);
    igi_error_copy(error, &batch->error);
    pthread_mutex_unlock(&batch->lock);
}
