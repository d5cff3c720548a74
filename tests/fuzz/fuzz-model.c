// SPDX-License-Identifier: Apache-2.0
// Models with something changed in them load and evaluate tokens, or are refused with a message. An input is a list of
// changes to a small valid model: its first byte selects the model, and every three bytes after it a field of the file
// and its new value. So nearly all inputs get past the reader of files, to the loader and the decoder.
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "fuzz.h"
#include "scratch.h"
#include "tiny-model.h"

enum { WORDS = 40, MOST_FIELDS = 1024, TOKENS = 3, CONTEXT = 8 };

typedef struct field {
    size_t at, bytes;
} field;

typedef struct valid_file {
    char *bytes;
    size_t length, data_at;  // where weights begin
    field fields[MOST_FIELDS];
    size_t field_count;
} valid_file;

static valid_file files[TINY_KINDS];
static ig_device *device;
static char *cache_dir;
static int descriptor;

// ---- Fields of a file that this program wrote itself ----

static uint64_t number_at(const valid_file *f, size_t at, size_t bytes) {
    uint64_t number = 0;
    memcpy(&number, f->bytes + at, bytes);
    return number;
}

static uint64_t add_field(valid_file *f, size_t *at, size_t bytes) {
    MUST(f->field_count < MOST_FIELDS && *at + bytes <= f->length);
    f->fields[f->field_count++] = (field){*at, bytes};
    *at += bytes;
    return bytes <= 8 ? number_at(f, *at - bytes, bytes) : 0;
}

static void add_text(valid_file *f, size_t *at) {
    uint64_t length = add_field(f, at, 8);
    if (length) add_field(f, at, length);
}

static void find_fields(valid_file *f) {
    size_t at = 4;
    add_field(f, &at, 4);
    uint64_t tensors = add_field(f, &at, 8), pairs = add_field(f, &at, 8);
    for (uint64_t i = 0; i < pairs; i++) {
        add_text(f, &at);
        uint64_t kind = add_field(f, &at, 4);
        if (kind == IG_GGUF_STRING)
            add_text(f, &at);
        else
            add_field(f, &at, 4);  // numbers in these files have four bytes
    }
    for (uint64_t i = 0; i < tensors; i++) {
        add_text(f, &at);
        uint64_t rank = add_field(f, &at, 4);
        for (uint64_t k = 0; k < rank; k++) add_field(f, &at, 8);
        add_field(f, &at, 4);
        add_field(f, &at, 8);
    }
    f->data_at = at;
}

static void make_file(valid_file *f, int kind) {
    tiny_model m = tiny_make_kind(kind, WORDS, 7);
    gguf_writer writer = {0};
    tiny_write(&m, &writer, NULL);
    f->bytes = gguf_file(&writer, &f->length);
    find_fields(f);
    gguf_free(&writer);
    tiny_free(&m);
}

// ---- Changes ----

static uint64_t changed(uint64_t old, uint8_t how) {
    static const uint64_t numbers[] = {0,  1,          2,          3,          31,         32,
                                       33, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    if (how < COUNT) return numbers[how];
    switch (how % 8) {
        case 0: return old + 1;
        case 1: return old - 1;
        case 2: return old * 2;
        case 3: return old / 2;
        case 4: return old ^ (uint64_t)1 << how % 64;
        case 5: return how;
        case 6: return old + 32;
        default: return ~old;
    }
}

static void change_weights(char *data, size_t length, uint8_t where, uint8_t how) {
    static const float values[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e-45f, 0, -1, 1e6f};
    size_t count = length / sizeof(float), from = count * where / 256;
    for (size_t i = from; i < count && i < from + 64; i++) memcpy(data + 4 * i, &values[how % 8], sizeof(float));
}

static void change(const valid_file *f, char *bytes, const uint8_t step[3]) {
    size_t which = (size_t)(step[0] | step[1] << 8) % (f->field_count + 16);
    if (which >= f->field_count) {
        change_weights(bytes + f->data_at, f->length - f->data_at, step[0], step[2]);
        return;
    }
    const field *place = &f->fields[which];
    if (place->bytes > 8 || place->bytes % 4) {  // a text
        bytes[place->at + step[2] % place->bytes] ^= (char)(1 << step[1] % 8);
        return;
    }
    uint64_t number = 0;
    memcpy(&number, bytes + place->at, place->bytes);
    number = changed(number, step[2]);
    memcpy(bytes + place->at, &number, place->bytes);
}

// ---- Running ----

static void close_device(void) {
    ig_device_release(device);
    igi_remove_tree(cache_dir);
    free(cache_dir);
    for (int i = 0; i < TINY_KINDS; i++) free(files[i].bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < TINY_KINDS; i++) make_file(&files[i], i);
    cache_dir = igi_make_temp_dir();
    MUST(cache_dir);
    MUST(ig_device_create(&(ig_device_desc){.cache_dir = cache_dir, .worker_count = 1}, &device, NULL) == IG_STATUS_OK);
    descriptor = open_scratch_file();
    atexit(close_device);
    return 0;
}

static void evaluate(ig_model *model) {
    const int32_t tokens[TOKENS] = {1, WORDS - 1, 0};
    const float *logits = NULL;
    ig_session *session = NULL;
    ig_error error = {0};
    ig_status status = ig_session_create(model, &(ig_session_desc){.context = CONTEXT}, &session, &error);
    MUST(status == IG_STATUS_OK ? session && !error.message : !session && error.message);
    // One token, then the rest.
    if (session) status = ig_session_evaluate(session, tokens, 1, NULL, &error);
    if (session && status == IG_STATUS_OK)
        status = ig_session_evaluate(session, tokens + 1, TOKENS - 1, &logits, &error);
    MUST(status == IG_STATUS_OK || error.message);
    if (session && status == IG_STATUS_OK) {
        volatile float sum = 0;
        for (uint64_t i = 0; i < ig_model_get_shape(model).vocabulary; i++) sum = sum + logits[i];
    }
    ig_session_release(session);
    ig_error_clear(&error);
}

static void load(void) {
    ig_gguf *file = NULL;
    ig_model *model = NULL;
    ig_error error = {0};
    if (ig_gguf_open(scratch_path, &file, &error) == IG_STATUS_OK) {
        ig_status status = ig_model_load(device, file, &model, &error);
        MUST(status == IG_STATUS_OK ? model && !error.message : !model && error.message);
        if (model) evaluate(model);
    } else {
        MUST(error.message);
    }
    ig_model_release(model);
    ig_gguf_release(file);
    ig_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const valid_file *f = &files[data[0] % TINY_KINDS];
    char *bytes = malloc(f->length);
    MUST(bytes);
    memcpy(bytes, f->bytes, f->length);
    for (size_t i = 1; i + 3 <= size && i < 1 + 3 * 8; i += 3) change(f, bytes, data + i);
    MUST(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, f->length, 0) == (ssize_t)f->length);
    free(bytes);
    load();
    return 0;
}
