// SPDX-License-Identifier: Apache-2.0
// ingot bench llm: the speed of prompt evaluation and generation, compared with llama.cpp.
#include <ingot/llm.h>
#include <stdlib.h>
#include <time.h>

#include "bench/common/median.h"
#include "bench/common/python.h"
#include "bench/common/row.h"
#include "bench/suites.h"
#include "console/device.h"
#include "console/output.h"
#include "core/clock.h"

// The sizes that llama-bench uses.
enum { PROMPT = 512, WRITTEN = 128, CONTEXT = 1024 };
// Other programs' threads keep spinning after their work.
static const struct timespec rest = {.tv_nsec = 200000000};

typedef struct llm_bench {
    ig_device *device;
    ig_gguf *file;
    ig_model *model;
    ig_session *session;
    bench_python *peer;  // NULL: not available
} llm_bench;

static int open_bench(llm_bench *b, const char *path) {
    ig_error error = {0};
    int result = cli_open_device(NULL, &b->device);
    if (result != CLI_CONTINUE) return result;
    ig_status status = ig_gguf_open(path, &b->file, &error);
    if (status == IG_STATUS_OK) status = ig_model_load(b->device, b->file, &b->model, &error);
    if (status == IG_STATUS_OK)
        status = ig_session_create(b->model, &(ig_session_desc){.context = CONTEXT}, &b->session, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    ig_device_properties properties;
    char threads[16];
    ig_device_get_properties(b->device, &properties);
    snprintf(threads, sizeof threads, "%u", properties.worker_count ? properties.worker_count : 1);
    b->peer = bench_python_start("llama-cpp.py", (const char *[]){threads, path, NULL});
    cli_note("%s: %s, %s", properties.name, properties.target, properties.features);
    cli_note("peers:%s", b->peer ? " llama.cpp" : " none");
    return CLI_CONTINUE;
}

static void close_bench(llm_bench *b) {
    bench_python_end(b->peer);
    ig_session_release(b->session);
    ig_model_release(b->model);
    ig_gguf_release(b->file);
    ig_device_release(b->device);
}

// ---- Ingot ----

static double rate(uint64_t tokens, uint64_t start) {
    return (double)tokens * 1e9 / (double)(igi_now_ns() - start);
}

// Tokens that every vocabulary has.
static int32_t token_at(uint64_t i, uint64_t words) {
    return (int32_t)((100 + i * 37 % 400) % words);
}

static double take_prompt(llm_bench *b) {
    int32_t tokens[PROMPT];
    const float *logits;
    for (uint64_t i = 0; i < PROMPT; i++) tokens[i] = token_at(i, ig_model_get_shape(b->model).vocabulary);
    ig_session_truncate(b->session, 0);
    uint64_t start = igi_now_ns();
    ig_status status = ig_session_evaluate(b->session, tokens, PROMPT, &logits, NULL);
    return status == IG_STATUS_OK ? rate(PROMPT, start) : -1;
}

static double write_text(llm_bench *b) {
    uint64_t words = ig_model_get_shape(b->model).vocabulary;
    int32_t token = token_at(0, words);
    ig_sampler *sampler = NULL;
    ig_status status = ig_sampler_create(&(ig_sampler_desc){0}, &sampler);
    ig_session_truncate(b->session, 0);
    uint64_t start = igi_now_ns();
    for (int i = 0; i < WRITTEN && status == IG_STATUS_OK; i++) {
        const float *logits;
        status = ig_session_evaluate(b->session, &token, 1, &logits, NULL);
        if (status == IG_STATUS_OK) status = ig_sampler_next(sampler, logits, (uint32_t)words, &token);
    }
    double result = status == IG_STATUS_OK ? rate(WRITTEN, start) : -1;
    ig_sampler_release(sampler);
    return result;
}

// ---- Cases ----

static const struct llm_case {
    const char *name, *request;  // of the peer
    double (*run)(llm_bench *b);
} cases[] = {{"prompt 512", "prompt 512\n", take_prompt}, {"generate 128", "generate 128\n", write_text}};
enum { CASES = sizeof cases / sizeof *cases };

// In turns, so that other load on the machine affects both.
static int measure(llm_bench *b, const struct llm_case *test, uint64_t repeats) {
    double *own = cli_alloc(repeats * sizeof *own), *other = cli_alloc(repeats * sizeof *other);
    bool failed = test->run(b) < 0;  // warms up
    for (uint64_t i = 0; i < repeats && !failed; i++) {
        own[i] = test->run(b);
        other[i] = b->peer ? bench_python_ask(b->peer, test->request) : 0;
        failed = own[i] < 0;
        if (b->peer) nanosleep(&rest, NULL);
    }
    bench_row row = {.suite = "llm", .name = test->name, .unit = "tokens/s"};
    if (!failed) {
        row.value = bench_median_of(own, repeats);
        bench_add_peer(&row, "llama.cpp", bench_median_of(other, repeats));
        bench_report(&row);
    }
    free(own), free(other);
    return failed ? cli_error(CLI_FAILED, "%s: the model failed", test->name) : CLI_CONTINUE;
}

int bench_llm(const bench_context *context) {
    const char *path = context->model ? context->model : getenv("INGOT_MODEL");
    const char *names[CASES];
    llm_bench b = {0};
    if (!path || !*path) {
        cli_note("llm: skipped, because no model was given; use -m MODEL.gguf or set INGOT_MODEL");
        return CLI_CONTINUE;
    }
    for (size_t i = 0; i < CASES; i++) names[i] = cases[i].name;
    int result = bench_check_chosen(context, "case", names, CASES);
    if (result == CLI_CONTINUE) result = open_bench(&b, path);
    for (size_t i = 0; i < CASES && result == CLI_CONTINUE; i++)
        if (bench_chosen(context, cases[i].name)) result = measure(&b, &cases[i], context->repeats);
    close_bench(&b);
    return result;
}
