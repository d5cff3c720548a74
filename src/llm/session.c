// SPDX-License-Identifier: Apache-2.0
// Sessions: tokens go in, logits come out.
#include <string.h>

#include "core/host.h"
#include "core/status-internal.h"
#include "llm/model.h"

// A prompt is evaluated this many tokens at a time: enough for fast products, without much memory for intermediate
// results.
enum { TOKENS_TOGETHER = 512, DEFAULT_CONTEXT = 4096 };

struct ig_session {
    ig_model *model;
    ig_stream *stream;
    ig_kv_cache *cache;
    uint64_t context;
    ig_tensor *words;  // the last logits
};

// ---- Life ----

void ig_session_release(ig_session *session) {
    if (!session) return;
    ig_tensor_release(session->words);
    ig_kv_cache_release(session->cache);
    ig_stream_release(session->stream);
    ig_model_release(session->model);
    free(session);
}

static double gibibytes(uint64_t bytes) {
    return (double)bytes / (1 << 30);
}

// Memory is committed only as the context fills, when it would be too late to report that there is not enough.
static ig_status make_cache(ig_session *session, ig_type type, ig_error *error) {
    const igi_llm_model_config *c = &session->model->config;
    const ig_kv_cache_desc desc = {.type = type,
                                   .layers = (uint32_t)c->shape.layers,
                                   .heads = c->shape.key_heads,
                                   .dim = c->head_dim,
                                   .capacity = session->context};
    uint64_t bytes = 0, available = igi_host_available_bytes();
    ig_status status = ig_kv_cache_size(&desc, &bytes);
    if (status == IG_STATUS_OK && bytes > available)
        return igi_error_set(error, IG_STATUS_OUT_OF_MEMORY,
                             "a context of %llu tokens needs a KV cache of %.1f GiB, and %.1f GiB of memory are "
                             "available; choose a smaller context",
                             (unsigned long long)session->context, gibibytes(bytes), gibibytes(available));
    if (status == IG_STATUS_OK) status = ig_kv_cache_create(session->model->device, &desc, &session->cache);
    if (status != IG_STATUS_OK)
        igi_error_set(error, status, "no KV cache for %llu positions: %s", (unsigned long long)session->context,
                      ig_status_text(status));
    return status;
}

ig_status ig_session_create(ig_model *model, const ig_session_desc *desc, ig_session **session, ig_error *error) {
    static const ig_session_desc defaults;
    if (!model || !session)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "model and session must not be NULL");
    if (!desc) desc = &defaults;
    ig_session *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    made->model = ig_model_retain(model);
    uint64_t usual = model->config.context < DEFAULT_CONTEXT ? model->config.context : DEFAULT_CONTEXT;
    made->context = desc->context ? desc->context : usual;
    const ig_stream_desc stream = {.backends = desc->backends};
    ig_status status = ig_stream_create(model->device, &stream, &made->stream, error);
    if (status == IG_STATUS_OK) status = make_cache(made, desc->cache_type ? desc->cache_type : IG_TYPE_F16, error);
    if (status == IG_STATUS_OK)
        *session = made;
    else
        ig_session_release(made);
    return status;
}

uint64_t ig_session_length(const ig_session *session) {
    return ig_kv_cache_length(session->cache, 0);
}

uint64_t ig_session_context(const ig_session *session) {
    return session->context;
}

ig_status ig_session_truncate(ig_session *session, uint64_t length) {
    if (!session) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "session_truncate: the session is NULL");
    if (length <= ig_session_length(session)) return ig_kv_cache_truncate(session->cache, length);
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "session_truncate: the session has only %llu tokens, fewer than %llu",
                    (unsigned long long)ig_session_length(session), (unsigned long long)length);
}

// ---- Tokens ----

static ig_status check(const ig_session *session, const int32_t *tokens, uint64_t count, ig_error *error) {
    uint64_t vocabulary = session->model->config.shape.vocabulary, before = ig_session_length(session);
    if (!tokens || !count) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "there are no tokens");
    if (count > session->context - before)
        return igi_error_set(error, IG_STATUS_OUT_OF_RANGE, "%llu tokens after %llu do not fit a context of %llu",
                             (unsigned long long)count, (unsigned long long)before,
                             (unsigned long long)session->context);
    for (uint64_t i = 0; i < count; i++)
        if (tokens[i] < 0 || (uint64_t)tokens[i] >= vocabulary)
            return igi_error_set(error, IG_STATUS_OUT_OF_RANGE, "token %d is not one of %llu", tokens[i],
                                 (unsigned long long)vocabulary);
    return IG_STATUS_OK;
}

static ig_status take_in(ig_session *session, const int32_t *tokens, uint64_t count, ig_tensor **words) {
    ig_status status = IG_STATUS_OK;
    for (uint64_t at = 0, now; at < count && status == IG_STATUS_OK; at += now) {
        now = count - at < TOKENS_TOGETHER ? count - at : TOKENS_TOGETHER;
        bool last = at + now == count;
        status = igi_llm_model_forward(session->model, session->stream, session->cache, tokens + at, now,
                                       last ? words : NULL);
    }
    return status;
}

ig_status ig_session_evaluate(ig_session *session, const int32_t *tokens, uint64_t count, const float **logits,
                              ig_error *error) {
    if (!session) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the session is NULL");
    ig_status status = check(session, tokens, count, error);
    if (status != IG_STATUS_OK) return status;
    uint64_t before = ig_session_length(session);
    ig_tensor *words = NULL;
    const void *values = NULL;
    status = take_in(session, tokens, count, logits ? &words : NULL);
    ig_status synced = ig_stream_sync(session->stream, NULL);
    if (status == IG_STATUS_OK) status = synced;
    if (status == IG_STATUS_OK && words) status = ig_tensor_map(words, &values);
    if (status != IG_STATUS_OK) {
        if (ig_stream_get_error(session->stream, error) != status)
            igi_error_set(error, status, "%s", ig_status_text(status));
        ig_tensor_release(words);
        ig_kv_cache_truncate(session->cache, before);
        return status;
    }
    ig_tensor_release(session->words);
    session->words = words;
    if (logits) *logits = values;
    return IG_STATUS_OK;
}
