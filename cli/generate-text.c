// SPDX-License-Identifier: Apache-2.0
// ingot generate: from text to tokens and back.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/progress.h"
#include "core/clock.h"
#include "generate.h"

// For a long prompt, progress is shown after this many tokens.
enum { TOKENS_TOGETHER = 512 };

// ---- Tokens ----

static int encode(const generation *g, const char *text, uint64_t length, bool special, int32_t **tokens,
                  uint64_t *count) {
    const ig_encode_desc desc = {.special = special};
    ig_status status = ig_tokenizer_encode(g->tokenizer, text, length, &desc, NULL, 0, count);
    *tokens = cli_alloc((*count + 1) * sizeof **tokens);
    if (status == IG_STATUS_OUT_OF_RANGE)
        status = ig_tokenizer_encode(g->tokenizer, text, length, &desc, *tokens, *count, count);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    return *count ? CLI_CONTINUE : cli_error(CLI_BAD_INPUT, "the prompt is empty");
}

static int evaluate(generation *g, const int32_t *tokens, uint64_t count, const float **logits) {
    ig_error error = {0};
    ig_status status = ig_session_evaluate(g->session, tokens, count, logits, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (g->past_count + count > g->past_capacity) {
        g->past_capacity = 2 * (g->past_count + count);
        g->past = cli_realloc(g->past, g->past_capacity * sizeof *g->past);
    }
    memcpy(g->past + g->past_count, tokens, count * sizeof *tokens);
    g->past_count += count;
    return CLI_CONTINUE;
}

// How many tokens, from the first on, the session already holds; the last is always computed, for its logits.
static uint64_t count_known(const generation *g, const int32_t *tokens, uint64_t count) {
    uint64_t i = 0;
    while (i + 1 < count && i < g->past_count && g->past[i] == tokens[i]) i++;
    return i;
}

static int read_prompt(generation *g, const int32_t *tokens, uint64_t count, const float **logits, answer *a) {
    cli_progress progress = {.label = "prompt", .total = count};
    int result = CLI_CONTINUE;
    uint64_t at = count_known(g, tokens, count), start = igi_now_ns();
    if (count >= ig_session_context(g->session))
        return cli_error(CLI_BAD_INPUT, "the prompt has %llu tokens, which leaves no room in a context of %llu; see -c",
                         (unsigned long long)count, (unsigned long long)ig_session_context(g->session));
    ig_session_truncate(g->session, at);
    g->past_count = a->known_tokens = at;
    for (uint64_t now; at < count && result == CLI_CONTINUE && !generate_is_interrupted(); at += now) {
        now = count - at < TOKENS_TOGETHER ? count - at : TOKENS_TOGETHER;
        result = evaluate(g, tokens + at, now, at + now == count ? logits : NULL);
        cli_progress_update(&progress, at + now);
    }
    cli_progress_end(&progress);
    for (uint64_t i = 0; i < count; i++) ig_sampler_accept(g->sampler, tokens[i]);
    a->prompt_tokens = count;
    a->prompt_ns = igi_now_ns() - start;
    return result;
}

// ---- Answers ----

// The length of the text up to the last complete character: tokens may end inside one.
static size_t whole_characters(const igi_text *text) {
    for (size_t back = 1; back <= 3 && back <= text->length; back++) {
        unsigned char byte = (unsigned char)text->data[text->length - back];
        if ((byte & 0xc0) == 0x80) continue;
        size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return needed > back ? text->length - back : text->length;
    }
    return text->length;
}

static void show(answer *a, bool all) {
    size_t end = all || !isatty(STDOUT_FILENO) ? a->text.length : whole_characters(&a->text);
    if (cli_json || end == a->shown) return;
    cli_write_data(stdout, a->text.data + a->shown, end - a->shown);
    fflush(stdout);
    a->shown = end;
}

static void put(const generation *g, int32_t token, answer *a) {
    ig_text bytes = {0};
    if (ig_tokenizer_decode(g->tokenizer, token, &bytes) != IG_STATUS_OK) return;
    igi_text_append(&a->text, bytes.data, bytes.length);
    show(a, false);
}

static int write_answer(generation *g, const float *logits, answer *a) {
    int result = CLI_CONTINUE;
    uint32_t words = (uint32_t)ig_model_get_shape(g->model).vocabulary;
    for (uint64_t start = igi_now_ns(); result == CLI_CONTINUE; a->ns = igi_now_ns() - start) {
        int32_t token = 0;
        ig_status status = ig_sampler_next(g->sampler, logits, words, &token);
        if (status != IG_STATUS_OK) return cli_error(CLI_FAILED, "the model computed values that are not finite");
        a->end = ig_tokenizer_is_last(g->tokenizer, token) ? "end" : NULL;
        if (a->end) break;
        put(g, token, a);
        a->tokens++;
        a->end = a->tokens == g->most                              ? "length"
                 : g->past_count == ig_session_context(g->session) ? "context"
                 : generate_is_interrupted()                       ? "interrupted"
                                                                   : NULL;
        if (a->end) break;
        result = evaluate(g, &token, 1, &logits);
    }
    return result;
}

int generate_answer(generation *g, const char *text, uint64_t length, bool special, bool echo, answer *a) {
    int32_t *tokens = NULL;
    uint64_t count = 0;
    const float *logits = NULL;
    *a = (answer){0};
    int result = encode(g, text, length, special, &tokens, &count);
    if (result == CLI_CONTINUE) result = read_prompt(g, tokens, count, &logits, a);
    // Only now, because the progress of the prompt used the line.
    if (result == CLI_CONTINUE && echo) cli_write_data(stdout, text, length), fflush(stdout);
    if (generate_is_interrupted()) a->end = "interrupted";
    if (result == CLI_CONTINUE && !a->end) result = write_answer(g, logits, a);
    show(a, true);
    free(tokens);
    return result;
}

void generate_free_answer(answer *a) {
    igi_text_free(&a->text);
}

// ---- Figures ----

static double rate(uint64_t tokens, uint64_t ns) {
    return ns ? (double)tokens * 1e9 / (double)ns : 0;
}

static const char *reason(const answer *a) {
    static const char *const reasons[][2] = {{"end", "ended by the model"},
                                             {"length", "stopped at the limit of -n"},
                                             {"context", "stopped because the context is full; see -c"},
                                             {"interrupted", "interrupted"}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i][0], a->end) == 0) return reasons[i][1];
    return a->end;
}

void generate_report(const generation *g, const answer *a) {
    uint64_t computed = a->prompt_tokens - a->known_tokens;
    if (!cli_json) {
        putchar('\n');
        cli_note("prompt %llu tokens, %.1f tokens/s; output %llu tokens, %.1f tokens/s; %s",
                 (unsigned long long)a->prompt_tokens, rate(computed, a->prompt_ns), (unsigned long long)a->tokens,
                 rate(a->tokens, a->ns), reason(a));
        return;
    }
    igi_json *json = cli_begin_row();
    igi_json_key(json, "text");
    igi_json_string_n(json, a->text.data ? a->text.data : "", a->text.length);
    igi_json_put_string(json, "end", a->end);
    igi_json_put_u64(json, "seed", g->seed);
    igi_json_put_u64(json, "prompt_tokens", a->prompt_tokens);
    igi_json_put_u64(json, "tokens", a->tokens);
    igi_json_put_double(json, "prompt_tokens_per_second", rate(computed, a->prompt_ns));
    igi_json_put_double(json, "tokens_per_second", rate(a->tokens, a->ns));
    cli_end_row();
    fflush(stdout);  // another program may be waiting for this answer
}
