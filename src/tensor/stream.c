// SPDX-License-Identifier: Apache-2.0
// Streams: ops run at once on the host, or are collected into command buffers; dependent work waits.
#include "tensor/stream.h"

#include <string.h>

#include "core/settings.h"
#include "tensor/chain.h"
#include "tensor/overrides.h"

// A command buffer with this many dispatches is submitted, so that the device can begin while more is encoded.
enum { LARGE_BATCH = 64 };

// ---- Life ----

static void destroy(ig_stream *stream) {
    igi_tensor_batch_release(stream->open);
    igi_tensor_batch_release(stream->chain);
    for (uint32_t i = 0; i < stream->flying_count; i++) igi_tensor_batch_release(stream->flying[i]);
    ig_queue_release(stream->queue);
    ig_error_clear(&stream->failure);
    ig_error_clear(&stream->error);
    igi_tensor_runtime_release(stream->runtime);
    free(stream);
}

ig_status igi_tensor_stream_create_on(igi_tensor_runtime *runtime, const ig_stream_desc *desc, ig_stream **stream,
                                      ig_error *error) {
    static const ig_stream_desc defaults;
    if (!desc) desc = &defaults;
    ig_stream *made = igi_calloc(1, sizeof *made);
    if (!made) {
        igi_tensor_runtime_release(runtime);
        return igi_error_no_memory(error);
    }
    igi_ref_init(&made->references);
    made->runtime = runtime;
    made->deadline_ns = desc->deadline_ns;
    made->error_serial = igi_failure_serial();
    made->fusion = igi_tensor_fusion_mode_wanted();
    ig_status status = ig_queue_create(runtime->device, &made->queue);
    if (status != IG_STATUS_OK) igi_error_set(error, status, "cannot make a queue: %s", ig_status_text(status));
    const char *backends = desc->backends ? desc->backends : igi_setting_text(IGI_SETTING_BACKEND);
    if (status == IG_STATUS_OK) status = igi_tensor_overrides_parse(backends ? backends : "", made->forced, error);
    if (status == IG_STATUS_OK)
        *stream = made;
    else
        destroy(made);
    return status;
}

ig_status ig_stream_create(ig_device *device, const ig_stream_desc *desc, ig_stream **stream, ig_error *error) {
    if (!device || !stream)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "device and stream must not be NULL");
    igi_tensor_runtime *runtime = NULL;
    ig_status status = igi_tensor_runtime_get(device, &runtime, error);
    return status == IG_STATUS_OK ? igi_tensor_stream_create_on(runtime, desc, stream, error) : status;
}

ig_stream *ig_stream_retain(ig_stream *stream) {
    if (stream) igi_ref_take(&stream->references);
    return stream;
}

void ig_stream_release(ig_stream *stream) {
    if (!stream || !igi_ref_drop(&stream->references)) return;
    ig_stream_sync(stream, NULL);
    destroy(stream);
}

ig_device *ig_stream_device(const ig_stream *stream) {
    return stream->runtime->device;
}

ig_status ig_stream_set_backends(ig_stream *stream, const char *backends, ig_error *error) {
    if (!stream || !backends)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "stream and backends must not be NULL");
    return igi_tensor_overrides_parse(backends, stream->forced, error);
}

// ---- Errors ----

// stream->error becomes the thread's last failure too.
static ig_status publish(ig_stream *stream) {
    igi_fail_as(&stream->error);
    stream->error_serial = igi_failure_serial();
    return stream->error.status;
}

ig_status igi_tensor_stream_fail(ig_stream *stream, ig_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    igi_error_set(&stream->error, status, "%s", message ? message : ig_status_text(status));
    free(message);
    return publish(stream);
}

const char *igi_tensor_stream_enter(ig_stream *stream, const char *name) {
    if (!stream) return NULL;
    const char *outer = stream->caller;
    if (!outer) stream->caller = name;
    return outer;
}

ig_status igi_tensor_stream_leave(ig_stream *stream, const char *outer, ig_status status) {
    if (stream) stream->caller = outer;
    return status;
}

ig_status ig_stream_get_error(const ig_stream *stream, ig_error *error) {
    if (!stream) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "stream_get_error: the stream is NULL");
    if (igi_failure_serial() > stream->error_serial) return ig_last_error(error);
    if (stream->error.status == IG_STATUS_OK)
        ig_error_clear(error);
    else
        igi_error_copy(error, &stream->error);
    return stream->error.status;
}

// ---- Waiting ----

static void land_oldest(ig_stream *stream) {
    igi_tensor_batch *batch = stream->flying[0];
    if (igi_tensor_batch_wait(batch) != IG_STATUS_OK && stream->failure.status == IG_STATUS_OK)
        igi_tensor_batch_get_error(batch, &stream->failure);
    igi_tensor_batch_release(batch);
    memmove(stream->flying, stream->flying + 1, --stream->flying_count * sizeof *stream->flying);
}

// Commits what has been collected, if anything.
static void launch(ig_stream *stream, igi_tensor_batch **collecting) {
    igi_tensor_batch *batch = *collecting;
    if (!batch) return;
    *collecting = NULL;
    if (stream->flying_count == IGI_FLYING_BATCHES) land_oldest(stream);
    igi_tensor_batch_commit(batch);
    stream->flying[stream->flying_count++] = batch;
}

ig_status ig_stream_flush(ig_stream *stream) {
    if (!stream) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "stream_flush: the stream is NULL");
    launch(stream, &stream->open);
    launch(stream, &stream->chain);
    return IG_STATUS_OK;
}

ig_status ig_stream_sync(ig_stream *stream, ig_error *error) {
    if (!stream) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the stream is NULL");
    ig_stream_flush(stream);
    while (stream->flying_count) land_oldest(stream);
    ig_status status = stream->failure.status;
    if (status == IG_STATUS_OK) return status;
    igi_error_copy(&stream->error, &stream->failure);
    publish(stream);
    igi_error_copy(error, &stream->failure);
    ig_error_clear(&stream->failure);
    return status;
}

// ---- Running on the host ----

static ig_status wait_for_operands(const igi_tensor_call *call) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < call->input_count && status == IG_STATUS_OK; i++)
        if (call->in[i].storage) status = igi_tensor_storage_wait_to_read(call->in[i].storage);
    for (uint32_t i = 0; i < call->output_count && status == IG_STATUS_OK; i++)
        status = igi_tensor_storage_wait_to_write(call->out[i].storage);
    return status;
}

static ig_status run_on_host(igi_tensor_call *call, const igi_tensor_implementation *row) {
    ig_status status = wait_for_operands(call);
    if (status != IG_STATUS_OK)
        return igi_error_set(call->error, status, "%s: an operand could not be computed: %s",
                             igi_tensor_call_name(call), ig_status_text(status));
    return row->run(call);
}

// ---- Encoding ----

static ig_status prepare_operands(const igi_tensor_call *call, igi_tensor_batch *batch) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < call->input_count && status == IG_STATUS_OK; i++)
        if (call->in[i].storage) status = igi_tensor_storage_prepare(call->in[i].storage, batch, false);
    for (uint32_t i = 0; i < call->output_count && status == IG_STATUS_OK; i++)
        status = igi_tensor_storage_prepare(call->out[i].storage, batch, true);
    return status;
}

static void mark_operands(const igi_tensor_call *call, igi_tensor_batch *batch) {
    for (uint32_t i = 0; i < call->input_count; i++)
        if (call->in[i].storage) igi_tensor_storage_used_by(call->in[i].storage, batch, false);
    for (uint32_t i = 0; i < call->output_count; i++) igi_tensor_storage_used_by(call->out[i].storage, batch, true);
}

// The open batch, unless another thread that waited for one of its tensors has committed it in the meantime.
static ig_status begin_encoding(ig_stream *stream, igi_tensor_call *call) {
    for (;;) {
        ig_status status = IG_STATUS_OK;
        if (!stream->open) status = igi_tensor_batch_create(stream->queue, stream->deadline_ns, &stream->open);
        if (status == IG_STATUS_OK) status = prepare_operands(call, stream->open);
        if (status != IG_STATUS_OK) return status;
        call->commands = igi_tensor_batch_begin(stream->open, igi_tensor_call_name(call), &status);
        if (status != IG_STATUS_WRONG_STATE) return status;
        launch(stream, &stream->open);
    }
}

static ig_status encode(ig_stream *stream, igi_tensor_call *call, const igi_tensor_implementation *row) {
    launch(stream, &stream->chain);
    ig_status status = begin_encoding(stream, call);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_batch *batch = stream->open;
    status = row->run(call);
    igi_tensor_batch_end(batch, status);
    call->commands = NULL;
    if (status != IG_STATUS_OK) return status;
    mark_operands(call, batch);
    if (igi_tensor_batch_dispatches(batch) >= LARGE_BATCH) launch(stream, &stream->open);
    return IG_STATUS_OK;
}

// ---- Deferring ----

// Host work of a chain comes after everything that uses its operands, so it need not check again when it runs; device
// work comes after earlier work of its queue.
static ig_status settle_operands(const igi_tensor_call *call, igi_tensor_batch *chain, bool encodes) {
    if (encodes) return prepare_operands(call, chain);
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < call->input_count && status == IG_STATUS_OK; i++)
        status = igi_tensor_storage_settle(call->in[i].storage, chain);
    return status == IG_STATUS_OK ? igi_tensor_storage_settle(call->out[0].storage, chain) : status;
}

static bool begin_chain(ig_stream *stream, bool encodes) {
    if (encodes) launch(stream, &stream->open);
    igi_tensor_chain *chain = igi_tensor_chain_create(stream->runtime, stream->fusion, encodes);
    return chain &&
           igi_tensor_batch_create_of_chain(stream->queue, stream->deadline_ns, chain, &stream->chain) == IG_STATUS_OK;
}

static bool add_to_chain(ig_stream *stream, const igi_tensor_call *call, const igi_tensor_implementation *row,
                         bool encodes, bool *full) {
    igi_tensor_chain *chain = igi_tensor_batch_lock_chain(stream->chain);
    if (!chain) return false;
    bool added = chain->encodes == encodes && igi_tensor_chain_add(chain, call, row);
    *full = igi_tensor_chain_is_full(chain);
    igi_tensor_batch_unlock_chain(stream->chain);
    return added;
}

// Adds the call to the stream's chain, or to a new one. Returns false if it must run separately.
static bool put_off(ig_stream *stream, const igi_tensor_call *call, const igi_tensor_implementation *row,
                    bool encodes) {
    bool added = false, full = false;
    for (int attempt = 0; attempt < 2 && !added; attempt++) {
        if (attempt) launch(stream, &stream->chain);
        if (!stream->chain && !begin_chain(stream, encodes)) return false;
        if (settle_operands(call, stream->chain, encodes) != IG_STATUS_OK) return false;
        added = add_to_chain(stream, call, row, encodes, &full);
    }
    if (!added) return false;
    mark_operands(call, stream->chain);
    if (full) launch(stream, &stream->chain);
    return true;
}

// If a backend is requested, it is used, and at once.
static bool may_be_put_off(const ig_stream *stream, const igi_tensor_call *call, ig_backend only) {
    ig_backend forced = (ig_backend)stream->forced[call->op];
    return only == IG_BACKEND_ANY && (forced == IG_BACKEND_ANY || forced == IG_BACKEND_MSL) &&
           igi_tensor_chain_takes(stream->runtime, stream->fusion, call);
}

static ig_status choose_and_run(ig_stream *stream, igi_tensor_call *call, ig_backend only) {
    ig_backend chosen = IG_BACKEND_ANY, forced = (ig_backend)stream->forced[call->op];
    const igi_tensor_implementation *row = igi_tensor_choose(stream->runtime, call, forced, only, &chosen);
    if (!row) return igi_tensor_explain_refusal(stream->runtime, call, only, call->error);
    bool encodes = stream->runtime->backends[chosen]->encodes;
    if (may_be_put_off(stream, call, only) && put_off(stream, call, row, encodes)) return IG_STATUS_OK;
    return encodes ? encode(stream, call, row) : run_on_host(call, row);
}

ig_status igi_tensor_stream_run(ig_stream *stream, igi_tensor_call *call, ig_backend only) {
    ig_error why = {0};
    call->runtime = stream->runtime;
    call->commands = NULL;
    call->error = &why;
    ig_status status = choose_and_run(stream, call, only);
    call->error = NULL;
    if (status == IG_STATUS_OK) return status;
    if (!why.message)
        return igi_tensor_stream_fail(stream, status, "%s: %s", igi_tensor_call_name(call), ig_status_text(status));
    ig_error_clear(&stream->error);
    stream->error = why;
    stream->error.status = status;
    return publish(stream);
}
