// SPDX-License-Identifier: Apache-2.0
// ingot generate: options and the order of things.
#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "core/clock.h"
#include "core/file.h"
#include "source.h"

// ---- Opening ----

static ig_status open_model(generation *g, ig_error *error) {
    const ig_session_desc session = {.context = g->context, .backends = g->backend};
    ig_status status = ig_gguf_open(g->model_path, &g->file, error);
    if (status == IG_STATUS_OK) status = ig_tokenizer_create(g->file, &g->tokenizer, error);
    if (status == IG_STATUS_OK) status = ig_model_load(g->device, g->file, &g->model, error);
    if (status == IG_STATUS_OK) status = ig_session_create(g->model, &session, &g->session, error);
    return status;
}

static int check_vocabulary(const generation *g) {
    uint64_t words = ig_model_get_shape(g->model).vocabulary, tokens = ig_tokenizer_size(g->tokenizer);
    if (tokens <= words) return CLI_CONTINUE;
    return cli_error(CLI_BAD_INPUT, "%s: there are %llu tokens, but weights for %llu", g->model_path,
                     (unsigned long long)tokens, (unsigned long long)words);
}

static int open_sampler(generation *g) {
    if (g->seed == UINT64_MAX) g->seed = igi_now_ns() & UINT32_MAX;
    const ig_sampler_desc desc = {.temperature = g->temperature,
                                  .top_k = (uint32_t)g->top_k,
                                  .top_p = g->top_p,
                                  .min_p = g->min_p,
                                  .repeat_penalty = g->repeat_penalty,
                                  .repeat_last = (uint32_t)g->repeat_last,
                                  .seed = g->seed};
    if (g->top_k > UINT32_MAX || g->repeat_last > UINT16_MAX)
        return cli_usage_error("--top-k and --repeat-last-n cannot be that large");
    ig_status status = ig_sampler_create(&desc, &g->sampler);
    if (status == IG_STATUS_INVALID_ARGUMENT) return cli_usage_error("--top-p and --min-p are at most 1");
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
}

static int open_all(generation *g) {
    ig_error error = {0};
    int result = open_sampler(g);
    if (result == CLI_CONTINUE)
        result = cli_open_device(&(ig_device_desc){.worker_count = (uint32_t)g->threads}, &g->device);
    if (result != CLI_CONTINUE) return result;
    ig_status status = open_model(g, &error);
    return status == IG_STATUS_OK ? check_vocabulary(g) : cli_report_and_clear(status, &error);
}

static void close_all(generation *g) {
    ig_sampler_release(g->sampler);
    ig_session_release(g->session);
    ig_model_release(g->model);
    ig_tokenizer_release(g->tokenizer);
    ig_gguf_release(g->file);
    ig_device_release(g->device);
    free(g->past);
}

// ---- Completing a text ----

static int complete(generation *g, const char *text, size_t length) {
    answer a = {0};
    if (!cli_json && !g->hides_prompt) fwrite(text, 1, length, stdout), fflush(stdout);
    int result = generate_answer(g, text, length, false, &a);
    if (result == CLI_CONTINUE) generate_report(g, &a);
    generate_free_answer(&a);
    return result;
}

static int run(generation *g) {
    ig_error error = {0};
    char *text = NULL;
    size_t length = 0;
    if (!g->model_path) return cli_usage_error("a model is missing: -m MODEL.gguf");
    if (!g->chat && !g->prompt && !g->prompt_file)
        return cli_usage_error("there is nothing to go on from: -p TEXT, -f FILE or --chat");
    if (g->system && !g->chat) return cli_usage_error("--system goes with --chat");
    ig_status status = g->prompt_file ? igi_file_read_stream(g->prompt_file, &text, &length, &error) : IG_STATUS_OK;
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (text) g->prompt = text;
    int result = open_all(g);
    if (result == CLI_CONTINUE)
        result = g->chat ? generate_chat(g) : complete(g, g->prompt, text ? length : strlen(g->prompt));
    free(text);
    return result;
}

// ---- Options ----

int cmd_generate(int argc, char **argv) {
    generation g = {.temperature = 0.8,
                    .top_k = 40,
                    .top_p = 0.95,
                    .min_p = 0.05,
                    .repeat_penalty = 1,
                    .repeat_last = 64,
                    .seed = UINT64_MAX};
    const cli_option options[] = {
        {'m', "model", CLI_TEXT, &g.model_path, "MODEL.gguf", "the model"},
        {'p', "prompt", CLI_TEXT, &g.prompt, "TEXT", "go on from this text; with --chat, answer it"},
        {'f', "file", CLI_TEXT, &g.prompt_file, "FILE", "the same, from a file"},
        {'n', "predict", CLI_COUNT, &g.most, "N", "at most N tokens (default: until the model ends)"},
        {'c', "ctx-size", CLI_COUNT, &g.context, "N", "room for N tokens (default: the model's, at most 4096)"},
        {'s', "seed", CLI_WHOLE, &g.seed, "SEED", "the same seed gives the same text (default: by the clock)"},
        {0, "temp", CLI_NUMBER, &g.temperature, "T", "0: always the most likely; more: freer (default 0.8)"},
        {0, "top-k", CLI_WHOLE, &g.top_k, "K", "choose from the K most likely; 0: from all (default 40)"},
        {0, "top-p", CLI_NUMBER, &g.top_p, "P", "and from those that make up P of all (default 0.95)"},
        {0, "min-p", CLI_NUMBER, &g.min_p, "P", "and at least P times as likely as the first (default 0.05)"},
        {0, "repeat-penalty", CLI_NUMBER, &g.repeat_penalty, "X", "make what came lately less likely (default 1: not)"},
        {0, "repeat-last-n", CLI_WHOLE, &g.repeat_last, "N", "how many tokens are lately (default 64)"},
        {0, "chat", CLI_FLAG, &g.chat, NULL, "a conversation: answer --prompt, or each line of stdin"},
        {0, "system", CLI_TEXT, &g.system, "TEXT", "tell the model first how to answer"},
        {0, "no-display-prompt", CLI_FLAG, &g.hides_prompt, NULL, "do not print the prompt before what follows"},
        {'t', "threads", CLI_COUNT, &g.threads, "N", "worker threads (default: one per core)"},
        {0, "backend", CLI_TEXT, &g.backend, "NAME", "metal, simd, ... as INGOT_BACKEND"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "-m MODEL.gguf [-p TEXT] [OPTION...]",
        .purpose = "Let a language model of a GGUF file write.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details = "Text goes to stdout as it is made, how fast it was to stderr.",
        .examples =
            "ingot generate -m model.gguf -p 'Once upon a time' -n 64\n"
            "ingot generate -m model.gguf --chat -p 'What is a ring buffer?' --temp 0\n"
            "ingot generate -m model.gguf --chat --system 'Answer in one sentence.'",
    };
    int result = cli_parse(&syntax, argc, argv, NULL);
    if (result == CLI_CONTINUE) result = run(&g);
    close_all(&g);
    return result == CLI_CONTINUE ? CLI_OK : result;
}
