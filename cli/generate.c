// SPDX-License-Identifier: Apache-2.0
// ingot generate: options and the sequence of steps.
#include "generate.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "console/device.h"
#include "core/clock.h"
#include "core/file.h"

// ---- Opening ----

static const ig_type cache_types[] = {IG_TYPE_F16, IG_TYPE_BF16, IG_TYPE_F32};

static ig_status open_model(generation *g, ig_error *error) {
    const ig_session_desc session = {
        .context = g->context, .cache_type = cache_types[g->cache_type], .backends = g->backend};
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
    int result = generate_answer(g, text, length, false, !cli_json && !g->hides_prompt, &a);
    if (result == CLI_CONTINUE) generate_report(g, &a);
    if (result == CLI_CONTINUE && generate_is_interrupted()) result = 128 + SIGINT;
    generate_free_answer(&a);
    return result;
}

static int run(generation *g) {
    ig_error error = {0};
    char *text = NULL;
    size_t length = 0;
    if (!g->model_path) return cli_usage_error("no model: give -m MODEL.gguf");
    if (!g->chat && !g->prompt && !g->prompt_file) return cli_usage_error("no prompt: give -p TEXT, -f FILE or --chat");
    if (g->prompt && g->prompt_file) return cli_usage_error("give the prompt with -p or with -f, not with both");
    if (g->system && !g->chat) return cli_usage_error("--system needs --chat");
    ig_status status = g->prompt_file ? igi_file_read_stream(g->prompt_file, &text, &length, &error) : IG_STATUS_OK;
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (text) g->prompt = text;
    int result = open_all(g);
    generate_catch_interrupts();
    if (result == CLI_CONTINUE)
        result = g->chat ? generate_chat(g) : complete(g, g->prompt, text ? length : strlen(g->prompt));
    free(text);
    return result;
}

// ---- Options ----

static const char no_download[] = "models are not downloaded; give a file with -m MODEL.gguf";
static const char no_layers[] = "nothing is offloaded; the whole model runs on one device";
static const char no_batch[] = "prompts are read 512 tokens at a time";

static const cli_alias llama_options[] = {
    {.spelling = "-hf", .message = no_download, .refused = true},
    {.spelling = "-hfr", .message = no_download, .refused = true},
    {.spelling = "-hff", .message = no_download, .refused = true},
    {.spelling = "-mu", .message = no_download, .refused = true},
    {.spelling = "--hf-repo", .message = no_download, .refused = true},
    {.spelling = "--hf-file", .message = no_download, .refused = true},
    {.spelling = "--model-url", .message = no_download, .refused = true},
    {.spelling = "-ngl", .message = no_layers, .takes_value = true},
    {.spelling = "--gpu-layers", .message = no_layers, .takes_value = true},
    {.spelling = "--n-gpu-layers", .message = no_layers, .takes_value = true},
    {.spelling = "-sm", .message = no_layers, .takes_value = true},
    {.spelling = "-mg", .message = no_layers, .takes_value = true},
    {.spelling = "-ts", .message = no_layers, .takes_value = true},
    {.spelling = "-fa", .message = "how attention is computed is not a choice", .may_take_value = true},
    {.spelling = "--flash-attn", .message = "how attention is computed is not a choice", .may_take_value = true},
    {.spelling = "-b", .message = no_batch, .takes_value = true},
    {.spelling = "--batch-size", .message = no_batch, .takes_value = true},
    {.spelling = "-ub", .message = no_batch, .takes_value = true},
    {.spelling = "--ubatch-size", .message = no_batch, .takes_value = true},
    {.spelling = "-tb", .message = "-t is for prompts too", .takes_value = true},
    {.spelling = "--threads-batch", .message = "-t is for prompts too", .takes_value = true},
    {.spelling = "--no-mmap", .message = "the file is always mapped"},
    {.spelling = "--mlock", .message = "the file is always mapped"},
    {.spelling = "-no-cnv", .message = "a conversation is held only with --chat"},
    {.spelling = "--no-conversation", .message = "a conversation is held only with --chat"},
    {.spelling = "-st", .message = "with -p there is one turn"},
    {.spelling = "--single-turn", .message = "with -p there is one turn"},
    {.spelling = "-cnv", .option = "chat"},
    {.spelling = "--conversation", .option = "chat"},
    {.spelling = "-sys", .option = "system"},
    {.spelling = "--system-prompt", .option = "system"},
    {.spelling = "-ctk", .option = "cache-type"},
    {.spelling = "-ctv", .option = "cache-type"},
    {.spelling = "--cache-type-k", .option = "cache-type"},
    {.spelling = "--cache-type-v", .option = "cache-type"},
    {.spelling = "--n-predict", .option = "predict"},
    {.spelling = "--temperature", .option = "temp"},
};

static const char details[] =
    "Text is streamed to stdout; speed is reported on stderr. Ctrl-C stops the answer; with --chat, "
    "a second one quits. Options of llama.cpp such as -cnv, -sys and -ctk are understood.";

static const char examples[] =
    "ingot generate -m model.gguf -p 'Once upon a time' -n 64\n"
    "ingot generate -m model.gguf --chat -p 'What is a ring buffer?' --temp 0\n"
    "ingot generate -m model.gguf --chat --system 'Answer in one sentence.'";

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
        {'p', "prompt", CLI_TEXT, &g.prompt, "TEXT", "continue this text; with --chat, answer it"},
        {'f', "file", CLI_TEXT, &g.prompt_file, "FILE", "the same, from a file; instead of --prompt"},
        {'n', "predict", CLI_COUNT, &g.most, "N", "generate at most N tokens (default: until the model ends)"},
        {'c', "ctx-size", CLI_WHOLE, &g.context, "N", "context size in tokens (default: the model's, at most 4096)"},
        {'s', "seed", CLI_WHOLE, &g.seed, "SEED", "random seed (default: from the clock)"},
        {0, "temp", CLI_NUMBER, &g.temperature, "T", "temperature; 0 is greedy, higher is more random (default 0.8)"},
        {0, "top-k", CLI_WHOLE, &g.top_k, "K", "keep the K most likely tokens; 0 keeps all (default 40)"},
        {0, "top-p", CLI_NUMBER, &g.top_p, "P",
         "keep the most likely tokens whose probabilities add up to P (default 0.95)"},
        {0, "min-p", CLI_NUMBER, &g.min_p, "P",
         "drop tokens less likely than P times the most likely one (default 0.05)"},
        {0, "repeat-penalty", CLI_NUMBER, &g.repeat_penalty, "X", "penalise recently used tokens (default 1 = off)"},
        {0, "repeat-last-n", CLI_WHOLE, &g.repeat_last, "N", "how many recent tokens the penalty covers (default 64)"},
        {0, "chat", CLI_FLAG, &g.chat, NULL, "hold a conversation: answer --prompt, or each line of stdin"},
        {0, "system", CLI_TEXT, &g.system, "TEXT", "system message; needs --chat"},
        {0, "no-display-prompt", CLI_FLAG, &g.hides_prompt, NULL, "print only the generated text"},
        {'t', "threads", CLI_COUNT, &g.threads, "N", "worker threads (default: one per core)"},
        {0, "cache-type", CLI_CHOICE, &g.cache_type, "f16|bf16|f32", "type of the KV cache (default f16)"},
        {0, "backend", CLI_TEXT, &g.backend, "NAME", "backend of the tensor operations, as in INGOT_BACKEND"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "-m MODEL.gguf [-p TEXT] [OPTION...]",
        .purpose = "Generate text with a language model from a GGUF file.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .aliases = llama_options,
        .alias_count = sizeof llama_options / sizeof *llama_options,
        .details = details,
        .examples = examples,
    };
    int result = cli_parse(&syntax, argc, argv, NULL);
    if (result == CLI_CONTINUE) result = run(&g);
    close_all(&g);
    return result == CLI_CONTINUE ? CLI_OK : result;
}
