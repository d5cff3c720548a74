// SPDX-License-Identifier: Apache-2.0
// GGUF files: whatever they contain, opening ends, and everything that opens is inside the file and is found by its
// name. Chats are formatted for any template, and texts become tokens that exist.
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "llm/gguf.h"
#include "scratch.h"

static int descriptor;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    descriptor = open_scratch_file();
    return 0;
}

static void check_inside(const ig_gguf *file, const void *data, uint64_t length) {
    MUST(igi_in_range((uint64_t)((const char *)data - file->bytes), length, file->size));
}

static void check_text(const ig_gguf *file, ig_text text) {
    check_inside(file, text.data, text.length);
}

static void check_value(const ig_gguf *file, const ig_gguf_value *value) {
    MUST((unsigned)value->kind < IG_GGUF_KIND_COUNT);
    if (value->kind == IG_GGUF_STRING) check_text(file, value->text);
    if (value->kind != IG_GGUF_ARRAY) return;
    for (uint64_t i = 0; i < value->array.count; i++) {
        ig_gguf_value element;
        MUST(ig_gguf_element(value, i, &element) == IG_STATUS_OK && element.kind != IG_GGUF_ARRAY);
        check_value(file, &element);
    }
}

// Names that contain a NUL cannot be looked up.
static char *name_of(ig_text text) {
    return memchr(text.data, 0, text.length) ? NULL : igi_strndup(text.data, text.length);
}

static void check_pairs(const ig_gguf *file) {
    for (uint64_t i = 0; i < ig_gguf_value_count(file); i++) {
        ig_gguf_value value;
        ig_text key = ig_gguf_key(file, i);
        check_text(file, key);
        char *name = name_of(key);
        if (name) {
            MUST(ig_gguf_find(file, name, &value) == IG_STATUS_OK);
            check_value(file, &value);
        }
        free(name);
    }
}

static void check_tensors(const ig_gguf *file) {
    for (uint64_t i = 0; i < ig_gguf_tensor_count(file); i++) {
        ig_gguf_tensor tensor, found;
        MUST(ig_gguf_tensor_at(file, i, &tensor) == IG_STATUS_OK && tensor.rank <= 4);
        check_text(file, tensor.name);
        check_inside(file, tensor.data, tensor.bytes);
        MUST((uintptr_t)tensor.data % 8 == 0);
        char *name = name_of(tensor.name);
        if (name) MUST(ig_gguf_find_tensor(file, name, &found) == IG_STATUS_OK && found.data == tensor.data);
        free(name);
    }
}

static void check_chat(const ig_gguf *file) {
    static const ig_chat_message chat[] = {{"system", " a "}, {"user", " b "}, {"assistant", " c "}, {"user", " d "}};
    uint64_t length = 0, again = 0;
    ig_status status = ig_chat_format(file, chat, 4, NULL, 0, &length);
    if (status == IG_STATUS_UNSUPPORTED) return;
    MUST(status == IG_STATUS_OUT_OF_RANGE);
    char *text = igi_alloc(length + 1);
    MUST(text && ig_chat_format(file, chat, 4, text, length + 1, &again) == IG_STATUS_OK);
    MUST(again == length && !text[length]);
    free(text);
    ig_chat_format(file, chat + 1, 1, NULL, 0, &length);
}

static void check_encoding(const ig_tokenizer *tokenizer, const char *text, uint64_t length, bool special) {
    const ig_encode_desc desc = {.special = special};
    uint64_t count = 0, again = 0;
    ig_status status = ig_tokenizer_encode(tokenizer, text, length, &desc, NULL, 0, &count);
    MUST(status == (count ? IG_STATUS_OUT_OF_RANGE : IG_STATUS_OK));
    int32_t *tokens = igi_alloc(count * sizeof *tokens);
    MUST(tokens && ig_tokenizer_encode(tokenizer, text, length, &desc, tokens, count, &again) == IG_STATUS_OK);
    MUST(again == count);
    for (uint64_t i = 0; i < count; i++) {
        ig_text bytes;
        MUST(ig_tokenizer_decode(tokenizer, tokens[i], &bytes) == IG_STATUS_OK && bytes.data);
    }
    free(tokens);
}

// The file itself serves as a text that contains all of its tokens.
static void check_tokens(ig_gguf *file) {
    ig_tokenizer *tokenizer = NULL;
    ig_error error = {0};
    ig_status status = ig_tokenizer_create(file, &tokenizer, &error);
    MUST(status == IG_STATUS_OK ? tokenizer && !error.message : !tokenizer && error.message);
    ig_error_clear(&error);
    if (status != IG_STATUS_OK) return;
    check_encoding(tokenizer, file->bytes, file->size, true);
    check_encoding(tokenizer, "hello  it's <s> 12345\n", 22, false);
    ig_tokenizer_release(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    MUST(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, data, size, 0) == (ssize_t)size);
    ig_gguf *file = NULL;
    ig_error error = {0};
    ig_status status = ig_gguf_open(scratch_path, &file, &error);
    MUST(status == IG_STATUS_OK ? file && !error.message : !file && error.message);
    if (status == IG_STATUS_OK) {
        check_pairs(file);
        check_tensors(file);
        check_chat(file);
        check_tokens(file);
    }
    ig_gguf_release(file);
    ig_error_clear(&error);
    return 0;
}
