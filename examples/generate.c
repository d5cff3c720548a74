// SPDX-License-Identifier: Apache-2.0
// Continues a text with a language model: generate MODEL.gguf TEXT [TOKENS]
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 512 };

typedef struct writer {
    ig_gguf *file;
    ig_tokenizer *tokenizer;
    ig_model *model;
    ig_session *session;
    ig_sampler *sampler;
} writer;

static ig_status open_writer(writer *w, ig_device *device, const char *path, ig_error *error) {
    const ig_sampler_desc likely = {.temperature = 0};
    ig_status status = ig_gguf_open(path, &w->file, error);
    if (status == IG_STATUS_OK) status = ig_tokenizer_create(w->file, &w->tokenizer, error);
    if (status == IG_STATUS_OK) status = ig_model_load(device, w->file, &w->model, error);
    if (status == IG_STATUS_OK) status = ig_session_create(w->model, NULL, &w->session, error);
    return status == IG_STATUS_OK ? ig_sampler_create(&likely, &w->sampler) : status;
}

static void close_writer(writer *w) {
    ig_sampler_release(w->sampler);
    ig_session_release(w->session);
    ig_model_release(w->model);
    ig_tokenizer_release(w->tokenizer);
    ig_gguf_release(w->file);
}

// Each token is one that the model considers likely after all those before it.
static ig_status go_on(writer *w, const char *text, int count, ig_error *error) {
    int32_t tokens[MOST_TOKENS];
    uint64_t taken = 0;
    uint32_t words = (uint32_t)ig_model_get_shape(w->model).vocabulary;
    ig_status status = ig_tokenizer_encode(w->tokenizer, text, strlen(text), NULL, tokens, MOST_TOKENS, &taken);
    printf("%s", text);
    while (status == IG_STATUS_OK && count-- > 0) {
        const float *logits;
        ig_text bytes = {0};
        status = ig_session_evaluate(w->session, tokens, taken, &logits, error);
        if (status == IG_STATUS_OK) status = ig_sampler_next(w->sampler, logits, words, &tokens[0]);
        if (status != IG_STATUS_OK || ig_tokenizer_is_last(w->tokenizer, tokens[0])) break;
        taken = 1;
        ig_tokenizer_decode(w->tokenizer, tokens[0], &bytes);
        printf("%.*s", (int)bytes.length, bytes.data);
        fflush(stdout);
    }
    printf("\n");
    return status;
}

int main(int argc, char **argv) {
    ig_device *device = NULL;
    writer w = {0};
    ig_error error = {0};
    if (argc < 3) return fprintf(stderr, "usage: generate MODEL.gguf TEXT [TOKENS]\n"), 2;
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = open_writer(&w, device, argv[1], &error);
    if (status == IG_STATUS_OK) status = go_on(&w, argv[2], argc > 3 ? atoi(argv[3]) : 64, &error);
    if (status != IG_STATUS_OK) fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    ig_error_clear(&error);
    close_writer(&w);
    ig_device_release(device);
    return status != IG_STATUS_OK;
}
