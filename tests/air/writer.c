// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <assert.h>
#include <string.h>

static void put(igi_text *out, uint64_t value, size_t bytes) {
    igi_text_append(out, (const char *)&value, bytes);
}

static void put_tag(igi_text *out, const char *name, const void *data, size_t length) {
    igi_text_append(out, name, 4);
    put(out, length, 2);
    igi_text_append(out, data, length);
}

// ---- Public metadata: function constants ----

static void put_metadata(igi_text *out, const written_function *f) {
    igi_text list = {0}, tags = {0};
    put(&list, f->constant_count, 2);
    for (size_t i = 0; i < f->constant_count; i++) {
        igi_text_append(&list, f->constants[i].name, strlen(f->constants[i].name) + 1);
        put(&list, f->constants[i].data_type, 1);
        put(&list, f->constants[i].id, 2);
        put(&list, 1, 1);
    }
    if (f->constant_count) put_tag(&tags, "CNST", list.data, list.length);
    igi_text_add(&tags, "ENDT");
    put(out, tags.length + 4, 4);
    igi_text_append(out, tags.data, tags.length);
    igi_text_free(&list), igi_text_free(&tags);
}

// ---- Functions ----

static void put_function(igi_text *out, const written_function *f, uint64_t metadata, uint64_t bitcode) {
    igi_text tags = {0};
    uint64_t place[3] = {metadata, 0, bitcode}, length = f->bitcode_length;
    static const char hash[32];
    const uint16_t versions[4] = {2, 6, 3, 1};
    put_tag(&tags, "NAME", f->name, strlen(f->name) + 1);
    put_tag(&tags, "TYPE", &f->kind, 1);
    put_tag(&tags, "HASH", hash, sizeof hash);
    put_tag(&tags, "MDSZ", &length, sizeof length);
    put_tag(&tags, "OFFT", place, sizeof place);
    put_tag(&tags, "VERS", versions, sizeof versions);
    igi_text_add(&tags, "ENDT");
    put(out, tags.length + 4, 4);
    igi_text_append(out, tags.data, tags.length);
    igi_text_free(&tags);
}

static void put_header(igi_text *out, const igi_text *list, const igi_text *metadata, const igi_text *bitcode) {
    enum { HEADER = 88 };
    uint64_t at = HEADER, after_list = at + list->length, after_metadata = after_list + metadata->length;
    igi_text_add(out, "MTLB");
    put(out, 0x8001, 2), put(out, 2, 2), put(out, 7, 2);
    put(out, 0, 1), put(out, 0x81, 1), put(out, 14, 2), put(out, 0, 2);
    put(out, after_metadata + bitcode->length, 8);
    put(out, at, 8), put(out, list->length - 4, 8);
    put(out, after_list, 8), put(out, metadata->length, 8);
    put(out, after_metadata, 8), put(out, 0, 8);
    put(out, after_metadata, 8), put(out, bitcode->length, 8);
    assert(out->length == HEADER);
}

void write_metallib(const written_function *functions, size_t count, igi_text *file) {
    igi_text list = {0}, metadata = {0}, bitcode = {0};
    put(&list, count, 4);
    for (size_t i = 0; i < count; i++) {
        put_function(&list, &functions[i], metadata.length, bitcode.length);
        put_metadata(&metadata, &functions[i]);
        igi_text_append(&bitcode, functions[i].bitcode, functions[i].bitcode_length);
    }
    put_header(file, &list, &metadata, &bitcode);
    igi_text_append(file, list.data, list.length);
    igi_text_append(file, metadata.data, metadata.length);
    igi_text_append(file, bitcode.data, bitcode.length);
    igi_text_free(&list), igi_text_free(&metadata), igi_text_free(&bitcode);
}

void write_universal(const igi_text *libraries, const uint32_t *kinds, uint32_t count, igi_text *file) {
    uint64_t at = 8 + 20ull * count;
    igi_text_append(file, "\xcb\xfe\xba\xbe", 4);
    put(file, __builtin_bswap32(count), 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slice[5] = {0x1000017, kinds[i], (uint32_t)at, (uint32_t)libraries[i].length, 4};
        for (int k = 0; k < 5; k++) put(file, __builtin_bswap32(slice[k]), 4);
        at += libraries[i].length;
    }
    for (uint32_t i = 0; i < count; i++) igi_text_append(file, libraries[i].data, libraries[i].length);
}
