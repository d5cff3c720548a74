// SPDX-License-Identifier: Apache-2.0
// Reading a GGUF file: header, keys with their values, descriptions of tensors, data.
//
// Nothing in the file is trusted: each length is compared with the remaining bytes before memory is allocated for it or
// it is skipped, so tables are never more than a few times as large as the file.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "llm/gguf.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they lie in the file");

enum { LEAST_STRING = 8, LEAST_PAIR = 13, LEAST_ENTRY = 24, DEFAULT_ALIGNMENT = 32, MAX_RANK = 4 };

// What is being read, for messages.
typedef struct subject {
    const char *noun;
    uint64_t number;  // from 1 on; 0: there is only one
    ig_text name;     // once it is known
} subject;

typedef struct reader {
    ig_gguf *file;
    uint64_t at;
    subject subject;
    ig_error *error;
} reader;

static uint64_t left(const reader *r) {
    return r->file->size - r->at;
}

// ---- Errors ----

// Names come from the file: a message shows their beginning, without control characters.
static void describe(const subject *of, char text[128]) {
    int length = of->name.length < 80 ? (int)of->name.length : 80;
    if (of->name.data)
        snprintf(text, 128, "%s '%.*s'", of->noun, length, of->name.data);
    else if (of->number)
        snprintf(text, 128, "%s %" PRIu64, of->noun, of->number);
    else
        snprintf(text, 128, "%s", of->noun);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

__attribute__((format(printf, 4, 5))) static ig_status fail(reader *r, ig_status status, uint64_t place,
                                                            const char *format, ...) {
    char who[128];
    va_list arguments;
    va_start(arguments, format);
    char *what = igi_vformat(format, arguments);
    va_end(arguments);
    describe(&r->subject, who);
    igi_error_set(r->error, status, "%s: byte %" PRIu64 ": %s %s", r->file->path, place, who, what ? what : "");
    free(what);
    return status;
}

// ---- Pieces ----

static ig_status take(reader *r, uint64_t length, const char **bytes) {
    if (length > left(r)) {
        fail(r, IG_STATUS_BAD_FORMAT, r->at, "goes on for %" PRIu64 " bytes but the file ends after %" PRIu64, length,
             left(r));
        return IG_STATUS_BAD_FORMAT;
    }
    *bytes = r->file->bytes + r->at;
    r->at += length;
    return IG_STATUS_OK;
}

static ig_status take_u32(reader *r, uint32_t *number) {
    const char *bytes = NULL;
    ig_status status = take(r, sizeof *number, &bytes);
    if (status == IG_STATUS_OK) memcpy(number, bytes, sizeof *number);
    return status;
}

static ig_status take_u64(reader *r, uint64_t *number) {
    const char *bytes = NULL;
    ig_status status = take(r, sizeof *number, &bytes);
    if (status == IG_STATUS_OK) memcpy(number, bytes, sizeof *number);
    return status;
}

static ig_status take_text(reader *r, ig_text *text) {
    uint64_t length;
    ig_status status = take_u64(r, &length);
    if (status == IG_STATUS_OK) status = take(r, length, &text->data);
    if (status == IG_STATUS_OK) text->length = length;
    return status;
}

// Checks that `count` items of at least `least` bytes can follow.
static ig_status check_count(reader *r, uint64_t count, uint64_t least, const char *things) {
    if (count <= left(r) / least) return IG_STATUS_OK;
    return fail(r, IG_STATUS_BAD_FORMAT, r->at, "promises %" PRIu64 " %s, for which the file is too short", count,
                things);
}

// ---- Values ----

static ig_status take_kind(reader *r, ig_gguf_kind *kind) {
    uint32_t number;
    ig_status status = take_u32(r, &number);
    if (status != IG_STATUS_OK) return status;
    if (number >= IG_GGUF_KIND_COUNT)
        return fail(r, IG_STATUS_BAD_FORMAT, r->at - 4, "has a value of unknown kind %" PRIu32, number);
    *kind = (ig_gguf_kind)number;
    return IG_STATUS_OK;
}

static ig_status take_strings(reader *r, uint64_t count, const void **strings) {
    ig_status status = check_count(r, count, LEAST_STRING, "strings");
    if (status != IG_STATUS_OK) return status;
    ig_text *texts = igi_calloc(count, sizeof *texts);
    if (!texts) return igi_error_no_memory(r->error);
    for (uint64_t i = 0; i < count && status == IG_STATUS_OK; i++) status = take_text(r, &texts[i]);
    if (status == IG_STATUS_OK)
        *strings = texts;
    else
        free(texts);
    return status;
}

static ig_status take_scalars(reader *r, ig_gguf_kind kind, uint64_t count, const char **bytes) {
    uint64_t length, place = r->at;
    if (!igi_mul(count, igi_llm_gguf_kind_bytes(kind), &length)) length = UINT64_MAX;
    ig_status status = take(r, length, bytes);
    if (status != IG_STATUS_OK || kind != IG_GGUF_BOOL) return status;
    for (uint64_t i = 0; i < count; i++)
        if ((unsigned char)(*bytes)[i] > 1)
            return fail(r, IG_STATUS_BAD_FORMAT, place + i, "has a bool that is neither 0 nor 1");
    return IG_STATUS_OK;
}

static ig_status take_array(reader *r, ig_gguf_value *value) {
    uint64_t place = r->at;
    const char *bytes = NULL;
    ig_status status = take_kind(r, &value->array.kind);
    if (status == IG_STATUS_OK) status = take_u64(r, &value->array.count);
    if (status != IG_STATUS_OK) return status;
    if (value->array.kind == IG_GGUF_ARRAY)
        return fail(r, IG_STATUS_UNSUPPORTED, place, "is an array of arrays, which Ingot does not read");
    if (value->array.kind == IG_GGUF_STRING) return take_strings(r, value->array.count, &value->array.data);
    status = take_scalars(r, value->array.kind, value->array.count, &bytes);
    value->array.data = bytes;
    return status;
}

static ig_status take_pair(reader *r, igi_llm_gguf_pair *pair) {
    const char *bytes = NULL;
    ig_gguf_value value = {0};
    ig_status status = take_text(r, &pair->key);
    if (status != IG_STATUS_OK) return status;
    r->subject.name = pair->key;
    status = take_kind(r, &value.kind);
    if (status != IG_STATUS_OK) return status;
    if (value.kind == IG_GGUF_ARRAY) {
        status = take_array(r, &value);
    } else if (value.kind == IG_GGUF_STRING) {
        status = take_text(r, &value.text);
    } else {
        status = take_scalars(r, value.kind, 1, &bytes);
        if (status == IG_STATUS_OK) value = igi_llm_gguf_scalar(value.kind, bytes);
    }
    if (status == IG_STATUS_OK) pair->value = value;
    return status;
}

static ig_status check_names(reader *r, const igi_llm_gguf_names *names) {
    const ig_text *twice = igi_llm_gguf_names_twice(names);
    if (!twice) return IG_STATUS_OK;
    r->subject.name = *twice;
    return fail(r, IG_STATUS_BAD_FORMAT, (uint64_t)(twice->data - r->file->bytes), "occurs twice");
}

static ig_status take_pairs(reader *r, uint64_t count) {
    ig_gguf *file = r->file;
    ig_status status = check_count(r, count, LEAST_PAIR, "keys");
    if (status != IG_STATUS_OK) return status;
    file->pairs = igi_calloc(count, sizeof *file->pairs);
    if (!file->pairs) return igi_error_no_memory(r->error);
    for (uint64_t i = 0; i < count; i++) {
        r->subject = (subject){.noun = "key", .number = i + 1};
        status = take_pair(r, &file->pairs[i]);
        if (status != IG_STATUS_OK) return status;
        file->pair_count = i + 1;
    }
    if (!igi_llm_gguf_names_make(&file->keys, file->pairs, sizeof *file->pairs, count))
        return igi_error_no_memory(r->error);
    return check_names(r, &file->keys);
}

// ---- Tensors ----

static ig_status take_entry(reader *r, igi_llm_gguf_entry *entry) {
    ig_gguf_tensor *tensor = &entry->tensor;
    entry->place = r->at;
    ig_status status = take_text(r, &tensor->name);
    if (status != IG_STATUS_OK) return status;
    r->subject.name = tensor->name;
    status = take_u32(r, &tensor->rank);
    if (status == IG_STATUS_OK && tensor->rank > MAX_RANK)
        return fail(r, IG_STATUS_BAD_FORMAT, r->at - 4, "has %" PRIu32 " dimensions, more than %d", tensor->rank,
                    MAX_RANK);
    for (uint32_t i = tensor->rank; i-- > 0 && status == IG_STATUS_OK;) status = take_u64(r, &tensor->shape[i]);
    if (status == IG_STATUS_OK) status = take_u32(r, &tensor->type);
    if (status == IG_STATUS_OK) status = take_u64(r, &entry->offset);
    return status;
}

static ig_status take_entries(reader *r, uint64_t count) {
    ig_gguf *file = r->file;
    r->subject = (subject){.noun = "the header"};
    ig_status status = check_count(r, count, LEAST_ENTRY, "tensors");
    if (status != IG_STATUS_OK) return status;
    file->entries = igi_calloc(count, sizeof *file->entries);
    if (!file->entries) return igi_error_no_memory(r->error);
    for (uint64_t i = 0; i < count; i++) {
        r->subject = (subject){.noun = "tensor", .number = i + 1};
        status = take_entry(r, &file->entries[i]);
        if (status != IG_STATUS_OK) return status;
    }
    file->entry_count = count;
    if (!igi_llm_gguf_names_make(&file->tensors, file->entries, sizeof *file->entries, count))
        return igi_error_no_memory(r->error);
    return check_names(r, &file->tensors);
}

// The size of the data; 0 for unknown types.
static ig_status measure(reader *r, igi_llm_gguf_entry *entry) {
    ig_gguf_tensor *tensor = &entry->tensor;
    const igi_llm_gguf_type *type = igi_llm_gguf_type_of(tensor->type);
    uint64_t columns = tensor->rank ? tensor->shape[tensor->rank - 1] : 1, bytes = columns;
    if (type && columns % type->weights)
        return fail(r, IG_STATUS_BAD_FORMAT, entry->place,
                    "has rows of %" PRIu64 " weights, which is not a multiple of the block size %" PRIu32, columns,
                    type->weights);
    bool fits = !type || igi_mul(columns / type->weights, type->bytes, &bytes);
    for (uint32_t i = 0; i + 1 < tensor->rank; i++) fits = fits && igi_mul(bytes, tensor->shape[i], &bytes);
    if (!fits || bytes > INT64_MAX)
        return fail(r, IG_STATUS_BAD_FORMAT, entry->place, "has more weights than can be counted");
    tensor->bytes = type ? bytes : 0;
    return IG_STATUS_OK;
}

static ig_status place(reader *r, igi_llm_gguf_entry *entry, uint64_t data, uint64_t alignment) {
    uint64_t begin, end;
    ig_status status = measure(r, entry);
    if (status != IG_STATUS_OK) return status;
    if (entry->offset % alignment)
        return fail(r, IG_STATUS_BAD_FORMAT, entry->place,
                    "begins at %" PRIu64 " of the data, which is not a multiple of %" PRIu64, entry->offset, alignment);
    if (!igi_add(data, entry->offset, &begin) || !igi_add(begin, entry->tensor.bytes, &end)) end = UINT64_MAX;
    if (end > r->file->size)
        return fail(r, IG_STATUS_BAD_FORMAT, entry->place, "ends at %" PRIu64 " but the file has %" PRIu64 " bytes",
                    end, r->file->size);
    entry->tensor.data = r->file->bytes + begin;
    return IG_STATUS_OK;
}

static ig_status find_alignment(reader *r, uint64_t *alignment) {
    ig_gguf_value value;
    *alignment = DEFAULT_ALIGNMENT;
    if (ig_gguf_find(r->file, "general.alignment", &value) != IG_STATUS_OK) return IG_STATUS_OK;
    if (value.kind == IG_GGUF_U32 && value.u >= 8 && !(value.u & (value.u - 1))) {
        *alignment = value.u;
        return IG_STATUS_OK;
    }
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT,
                         "%s: key 'general.alignment' must be a power of two of at least 8, of kind u32",
                         r->file->path);
}

static ig_status place_all(reader *r) {
    uint64_t alignment;
    ig_status status = find_alignment(r, &alignment);
    if (status != IG_STATUS_OK) return status;
    uint64_t data = igi_round_up(r->at, alignment);
    for (uint64_t i = 0; i < r->file->entry_count && status == IG_STATUS_OK; i++) {
        r->subject = (subject){.noun = "tensor", .name = r->file->entries[i].tensor.name};
        status = place(r, &r->file->entries[i], data, alignment);
    }
    return status;
}

// ---- The whole ----

static ig_status check_version(reader *r, uint32_t version) {
    const char *path = r->file->path;
    if (version == 2 || version == 3) return IG_STATUS_OK;
    if (version && !(version & 0xffff))
        return igi_error_set(r->error, IG_STATUS_UNSUPPORTED,
                             "%s: this GGUF file is big-endian; Ingot reads little-endian ones", path);
    return igi_error_set(r->error, IG_STATUS_UNSUPPORTED,
                         "%s: this GGUF file has version %" PRIu32 "; Ingot reads versions 2 and 3", path, version);
}

ig_status igi_llm_gguf_read(ig_gguf *file, ig_error *error) {
    reader r = {.file = file, .error = error, .subject = {.noun = "the header"}};
    uint32_t version;
    uint64_t tensors, pairs;
    if (file->size < 4 || memcmp(file->bytes, "GGUF", 4) != 0)
        return igi_error_set(error, IG_STATUS_BAD_FORMAT, "%s is not a GGUF file", file->path);
    r.at = 4;
    ig_status status = take_u32(&r, &version);
    if (status == IG_STATUS_OK) status = check_version(&r, version);
    if (status != IG_STATUS_OK) return status;
    status = take_u64(&r, &tensors);
    if (status == IG_STATUS_OK) status = take_u64(&r, &pairs);
    if (status == IG_STATUS_OK) status = take_pairs(&r, pairs);
    if (status == IG_STATUS_OK) status = take_entries(&r, tensors);
    if (status == IG_STATUS_OK) status = place_all(&r);
    return status;
}
