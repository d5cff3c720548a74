// SPDX-License-Identifier: Apache-2.0
// Streams, internals.
#ifndef INGOT_TENSOR_STREAM_H
#define INGOT_TENSOR_STREAM_H

#include "core/status-internal.h"
#include "tensor/batch.h"
#include "tensor/fusion.h"

// Committed batches; one more first waits for the oldest, so that memory of finished work is returned.
enum { IGI_FLYING_BATCHES = 4 };

struct ig_stream {
    igi_refcount references;
    igi_tensor_runtime *runtime;
    ig_queue *queue;
    uint64_t deadline_ns;
    igi_tensor_batch *open;                        // collects device work; NULL: none yet
    igi_tensor_batch *flying[IGI_FLYING_BATCHES];  // committed, oldest first
    uint32_t flying_count;
    igi_tensor_batch *chain;  // deferred elementwise ops; NULL: none
    igi_tensor_fusion_mode fusion;
    ig_error failure;             // of device work, the first since the last sync
    ig_error error;               // of the last call that failed
    uint64_t error_serial;        // of that failure, see igi_failure_serial
    const char *caller;           // the running public call that consists of others; NULL: none
    uint8_t forced[IG_OP_COUNT];  // ig_backend
};

// A stream on a separate runtime, for tests. owns: takes over the runtime, also on failure.
ig_status igi_tensor_stream_create_on(igi_tensor_runtime *runtime, const ig_stream_desc *desc, ig_stream **stream,
                                      ig_error *error);

// Runs the call or encodes it. The message of a failure is put into stream->error.
ig_status igi_tensor_stream_run(ig_stream *stream, igi_tensor_call *call, ig_backend only);

// Calls that consist of others name themselves, so that messages do not mention a call that the user did not make:
//     const char *outer = igi_tensor_stream_enter(stream, "dot");
//     ...
//     return igi_tensor_stream_leave(stream, outer, status);
// The outermost name counts. `stream` may be NULL.
const char *igi_tensor_stream_enter(ig_stream *stream, const char *name);
ig_status igi_tensor_stream_leave(ig_stream *stream, const char *outer, ig_status status);

// Sets stream->error and the thread's last error and returns `status`.
__attribute__((format(printf, 3, 4))) ig_status igi_tensor_stream_fail(ig_stream *stream, ig_status status,
                                                                       const char *format, ...);

#endif
