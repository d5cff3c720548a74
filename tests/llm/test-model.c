// SPDX-License-Identifier: Apache-2.0
// Models and sessions: logits against a reference in doubles, prompts in pieces, incomplete files.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the headers before it.
#include <cmocka.h>

#include "core/memory.h"
#include "model-file.h"
#include "tiny-model.h"

enum { TOKENS = 37, WORDS = 101 };

static ig_device *device;
static int32_t tokens[TOKENS];

static ig_model *load(const tiny_model *m) {
    gguf_writer writer = {0};
    ig_error error = {0};
    ig_model *model = NULL;
    tiny_write(m, &writer, NULL);
    ig_gguf *file = save_and_open(&writer);
    ig_status status = ig_model_load(device, file, &model, &error);
    if (status != IG_STATUS_OK) print_error("%s\n", error.message);
    assert_int_equal(status, IG_STATUS_OK);
    ig_gguf_release(file);  // the model keeps it alive
    return model;
}

static ig_session *begin(ig_model *model, const ig_session_desc *desc) {
    ig_session *session = NULL;
    assert_int_equal(ig_session_create(model, desc, &session, NULL), IG_STATUS_OK);
    return session;
}

static const ig_session_desc exact = {.cache_type = IG_TYPE_F32};

// Sums of up to a hundred products of floats, through a few layers: 1e-4 of the largest logit.
static void assert_near(const float *logits, const double *expected, double tolerance) {
    double most = 0;
    for (int i = 0; i < WORDS; i++) most = fmax(most, fabs(expected[i]));
    for (int i = 0; i < WORDS; i++) assert_true(fabs((double)logits[i] - expected[i]) <= tolerance * most);
}

static void logits_are_those_of_the_reference(void **state) {
    (void)state;
    static const char *const backends[] = {"scalar", "simd", "msl", ""};
    for (int kind = 0; kind < TINY_KINDS; kind++) {
        tiny_model m = tiny_make_kind(kind, WORDS, 11);
        ig_model *model = load(&m);
        double expected[WORDS];
        tiny_logits(&m, tokens, TOKENS, expected);
        for (int b = 0; b < 4; b++) {
            const float *logits = NULL;
            ig_session *session = begin(model, &(ig_session_desc){.cache_type = IG_TYPE_F32, .backends = backends[b]});
            assert_int_equal(ig_session_evaluate(session, tokens, TOKENS, &logits, NULL), IG_STATUS_OK);
            assert_near(logits, expected, 1e-4);
            ig_session_release(session);
        }
        ig_model_release(model);
        tiny_free(&m);
    }
}

// The cache's type decides how exact it is.
static void caches_may_be_of_halves(void **state) {
    (void)state;
    tiny_model m = tiny_make_kind(0, WORDS, 5);
    ig_model *model = load(&m);
    double expected[WORDS];
    const float *logits = NULL;
    tiny_logits(&m, tokens, TOKENS, expected);
    ig_session *session = begin(model, NULL);
    assert_int_equal(ig_session_context(session), 64);
    assert_int_equal(ig_session_evaluate(session, tokens, TOKENS, &logits, NULL), IG_STATUS_OK);
    assert_near(logits, expected, 5e-3);
    ig_session_release(session);
    ig_model_release(model);
    tiny_free(&m);
}

static void prompts_may_come_in_pieces(void **state) {
    (void)state;
    static const uint64_t pieces[] = {1, 2, 7, 36};
    tiny_model m = tiny_make_kind(1, WORDS, 3);
    ig_model *model = load(&m);
    double expected[WORDS];
    tiny_logits(&m, tokens, TOKENS, expected);
    ig_session *session = begin(model, &exact);
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        const float *logits = NULL;
        for (uint64_t at = 0, now; at < TOKENS; at += now) {
            now = TOKENS - at < pieces[p] ? TOKENS - at : pieces[p];
            assert_int_equal(ig_session_evaluate(session, tokens + at, now, at + now == TOKENS ? &logits : NULL, NULL),
                             IG_STATUS_OK);
            assert_int_equal(ig_session_length(session), at + now);
        }
        assert_near(logits, expected, 1e-4);
        assert_int_equal(ig_session_truncate(session, 0), IG_STATUS_OK);
    }
    ig_session_release(session);
    ig_model_release(model);
    tiny_free(&m);
}

static void what_is_forgotten_has_not_been(void **state) {
    (void)state;
    tiny_model m = tiny_make_kind(2, WORDS, 9);
    ig_model *model = load(&m);
    double expected[WORDS];
    const float *logits = NULL;
    const int32_t others[] = {5, 4, 3, 2, 1};
    tiny_logits(&m, tokens, 20, expected);
    ig_session *session = begin(model, &exact);
    assert_int_equal(ig_session_evaluate(session, tokens, 12, NULL, NULL), IG_STATUS_OK);
    assert_int_equal(ig_session_evaluate(session, others, 5, &logits, NULL), IG_STATUS_OK);
    assert_int_equal(ig_session_truncate(session, 18), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(ig_session_truncate(session, 12), IG_STATUS_OK);
    assert_int_equal(ig_session_evaluate(session, tokens + 12, 8, &logits, NULL), IG_STATUS_OK);
    assert_near(logits, expected, 1e-4);
    ig_session_release(session);
    ig_model_release(model);
    tiny_free(&m);
}

static void assert_error(ig_status status, ig_status expected, ig_error *error, const char *part) {
    assert_int_equal(status, expected);
    assert_non_null(error->message);
    if (!strstr(error->message, part)) print_error("'%s' lacks '%s'\n", error->message, part);
    assert_non_null(strstr(error->message, part));
    ig_error_clear(error);
}

static void wrong_tokens_change_nothing(void **state) {
    (void)state;
    tiny_model m = tiny_make_kind(0, WORDS, 1);
    ig_model *model = load(&m);
    ig_error error = {0};
    const float *logits = NULL;
    const int32_t bad[] = {1, WORDS}, negative = -1;
    ig_session *session = begin(model, &(ig_session_desc){.context = 10});
    assert_int_equal(ig_session_evaluate(session, tokens, 4, NULL, NULL), IG_STATUS_OK);
    assert_error(ig_session_evaluate(session, bad, 2, &logits, &error), IG_STATUS_OUT_OF_RANGE, &error, "token 101");
    assert_error(ig_session_evaluate(session, &negative, 1, &logits, &error), IG_STATUS_OUT_OF_RANGE, &error, "-1");
    assert_error(ig_session_evaluate(session, tokens, 7, &logits, &error), IG_STATUS_OUT_OF_RANGE, &error,
                 "context of 10");
    assert_error(ig_session_evaluate(session, tokens, 0, &logits, &error), IG_STATUS_INVALID_ARGUMENT, &error,
                 "no tokens");
    assert_int_equal(ig_session_evaluate(session, tokens, UINT64_MAX, &logits, NULL), IG_STATUS_OUT_OF_RANGE);
    assert_null(logits);
    assert_int_equal(ig_session_length(session), 4);
    assert_int_equal(ig_session_evaluate(session, tokens, 6, &logits, NULL), IG_STATUS_OK);
    ig_session_release(session);
    ig_model_release(model);
    tiny_free(&m);
}

// ---- Incomplete files ----

static ig_status load_written(gguf_writer *writer, ig_error *error) {
    ig_model *model = NULL;
    ig_gguf *file = save_and_open(writer);
    ig_status status = ig_model_load(device, file, &model, error);
    ig_model_release(model);
    ig_gguf_release(file);
    return status;
}

static void assert_each_is_needed(int kind, const char *const *needed, size_t count) {
    tiny_model m = tiny_make_kind(kind, WORDS, 1);
    for (size_t i = 0; i < count; i++) {
        gguf_writer writer = {0};
        ig_error error = {0};
        tiny_write(&m, &writer, needed[i]);
        assert_error(load_written(&writer, &error), IG_STATUS_BAD_FORMAT, &error, needed[i]);
    }
    tiny_free(&m);
}

static void whatever_is_missing_is_named(void **state) {
    (void)state;
    static const char *const llama[] = {
        "general.architecture",   "llama.block_count",         "llama.embedding_length", "llama.attention.head_count",
        "llama.context_length",   "llama.feed_forward_length", "token_embd.weight",      "output_norm.weight",
        "blk.0.attn_norm.weight", "blk.1.ffn_norm.weight",     "blk.0.attn_q.weight",    "blk.0.attn_k.weight",
        "blk.0.attn_v.weight",    "blk.1.attn_output.weight",  "blk.1.ffn_gate.weight",  "blk.1.ffn_up.weight",
        "blk.1.ffn_down.weight"};
    // Without these the model would load and generate nonsense.
    static const char *const qwen2[] = {"blk.0.attn_q.bias", "blk.1.attn_k.bias", "blk.2.attn_v.bias"};
    static const char *const qwen3[] = {"blk.0.attn_q_norm.weight", "blk.0.attn_k_norm.weight"};
    assert_each_is_needed(0, llama, sizeof llama / sizeof *llama);
    assert_each_is_needed(1, qwen2, sizeof qwen2 / sizeof *qwen2);
    assert_each_is_needed(2, qwen3, sizeof qwen3 / sizeof *qwen3);
}

typedef void (*change)(gguf_writer *writer);

static void other_architecture(gguf_writer *w) {
    gguf_add_string(w, "general.architecture", "mamba");
}
static void no_heads(gguf_writer *w) {
    gguf_add_u32(w, "llama.attention.head_count", 0);
}
static void many_layers(gguf_writer *w) {
    gguf_add_u32(w, "llama.block_count", 4000000000u);
}
static void text_layers(gguf_writer *w) {
    gguf_add_string(w, "llama.block_count", "two");
}
static void odd_key_heads(gguf_writer *w) {
    gguf_add_u32(w, "llama.attention.head_count_kv", 4);
}
static void negative_base(gguf_writer *w) {
    gguf_add_f32(w, "llama.rope.freq_base", -1);
}
static void odd_dims(gguf_writer *w) {
    gguf_add_u32(w, "llama.rope.dimension_count", 7);
}
static void yarn(gguf_writer *w) {
    gguf_add_string(w, "llama.rope.scaling.type", "yarn");
}
static void wide_values(gguf_writer *w) {
    gguf_add_u32(w, "llama.attention.value_length", 16);
}
static void short_norm(gguf_writer *w) {
    static const float few[3];
    gguf_add_tensor(w, "output_norm.weight", 0, 1, (uint64_t[]){3}, few, sizeof few);
}
static void odd_norm(gguf_writer *w) {
    static const uint16_t halves[48];
    gguf_add_tensor(w, "output_norm.weight", 1, 1, (uint64_t[]){48}, halves, sizeof halves);
}
static void few_factors(gguf_writer *w) {
    static const float few[3] = {1, 1, 1};
    gguf_add_tensor(w, "rope_freqs.weight", 0, 1, (uint64_t[]){3}, few, sizeof few);
}
static void flat_embedding(gguf_writer *w) {
    static const float few[48];
    gguf_add_tensor(w, "token_embd.weight", 0, 1, (uint64_t[]){48}, few, sizeof few);
}

static void whatever_is_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        const char *what;  // instead of it
        change change;
        ig_status status;
        const char *message;
    } cases[] = {
        {"general.architecture", other_architecture, IG_STATUS_UNSUPPORTED,
         "'mamba' are not supported; supported are: llama, qwen2, qwen3"},
        {"llama.attention.head_count", no_heads, IG_STATUS_BAD_FORMAT, "head_count"},
        {"llama.block_count", many_layers, IG_STATUS_BAD_FORMAT, "block_count"},
        {"llama.block_count", text_layers, IG_STATUS_BAD_FORMAT, "block_count"},
        {"llama.attention.head_count_kv", odd_key_heads, IG_STATUS_BAD_FORMAT, "head_count_kv"},
        {"llama.rope.freq_base", negative_base, IG_STATUS_BAD_FORMAT, "freq_base"},
        {NULL, odd_dims, IG_STATUS_BAD_FORMAT, "rope.dimension_count"},
        {NULL, yarn, IG_STATUS_UNSUPPORTED, "rope.scaling.type"},
        {"llama.attention.value_length", wide_values, IG_STATUS_UNSUPPORTED, "value_length"},
        {"output_norm.weight", short_norm, IG_STATUS_BAD_FORMAT, "'output_norm.weight' is not 1 x 48 but 1 x 3"},
        {"output_norm.weight", odd_norm, IG_STATUS_UNSUPPORTED, "F16"},
        {NULL, few_factors, IG_STATUS_BAD_FORMAT, "'rope_freqs.weight' is not 4 x F32"},
        {"token_embd.weight", flat_embedding, IG_STATUS_BAD_FORMAT, "token_embd.weight"},
    };
    tiny_model m = tiny_make_kind(0, WORDS, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gguf_writer writer = {0};
        ig_error error = {0};
        tiny_write(&m, &writer, cases[i].what);
        cases[i].change(&writer);
        assert_error(load_written(&writer, &error), cases[i].status, &error, cases[i].message);
    }
    tiny_free(&m);
}

static void memory_may_be_short(void **state) {
    (void)state;
    tiny_model m = tiny_make_kind(1, WORDS, 2);
    gguf_writer writer = {0};
    tiny_write(&m, &writer, NULL);
    ig_gguf *file = save_and_open(&writer);
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != IG_STATUS_OK; n++) {
        ig_model *model = NULL;
        ig_session *session = NULL;
        igi_alloc_fail_at(n);
        status = ig_model_load(device, file, &model, NULL);
        if (status == IG_STATUS_OK) status = ig_session_create(model, &exact, &session, NULL);
        igi_alloc_fail_at(0);
        if (status != IG_STATUS_OK) assert_int_equal(status, IG_STATUS_OUT_OF_MEMORY);
        ig_session_release(session);
        ig_model_release(model);
    }
    ig_gguf_release(file);
    tiny_free(&m);
}

static int open_device(void **state) {
    for (int i = 0; i < TOKENS; i++) tokens[i] = i * 29 % WORDS;
    if (make_model_directory(state) != 0) return -1;
    return ig_device_create(NULL, &device, NULL) == IG_STATUS_OK ? 0 : -1;
}

static int close_device(void **state) {
    ig_device_release(device);
    return remove_model_directory(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_those_of_the_reference), cmocka_unit_test(caches_may_be_of_halves),
        cmocka_unit_test(prompts_may_come_in_pieces),        cmocka_unit_test(what_is_forgotten_has_not_been),
        cmocka_unit_test(wrong_tokens_change_nothing),       cmocka_unit_test(whatever_is_missing_is_named),
        cmocka_unit_test(whatever_is_wrong_is_named),        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests_name("model", tests, open_device, close_device);
}
