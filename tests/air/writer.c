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

// ---- Mach-O ----

static void put_name(igi_text *out, const char *name) {
    char padded[16] = {0};
    for (size_t i = 0; i < sizeof padded && name[i]; i++) padded[i] = name[i];
    igi_text_append(out, padded, sizeof padded);
}

static void put_section(igi_text *out, const char *name, uint64_t length, uint32_t offset, uint32_t flags) {
    put_name(out, name), put_name(out, "__TEXT");
    put(out, 0x1000 + offset, 8), put(out, length, 8), put(out, offset, 4);
    put(out, 0, 4), put(out, 0, 4), put(out, 0, 4), put(out, flags, 4);
    put(out, 0, 8), put(out, 0, 4);
}

void write_macho(const igi_text *libraries, const char *const *names, uint32_t count, igi_text *file) {
    enum { HEADER = 32, SEGMENT = 72, SECTION = 80, SYMBOLS = 24, DYNAMIC_LIBRARY = 6 };
    static const char text[] = "not a Metal library";
    const uint32_t sections = count + 2, commands = SEGMENT + SECTION * sections + SYMBOLS;
    uint32_t at = HEADER + commands;
    put(file, 0xfeedfacf, 4), put(file, 0x100000c, 4), put(file, 0, 4), put(file, DYNAMIC_LIBRARY, 4);
    put(file, 2, 4), put(file, commands, 4), put(file, 0, 8);
    put(file, 2, 4), put(file, SYMBOLS, 4), put(file, 0, 8), put(file, 0, 8);  // a command without sections
    put(file, 0x19, 4), put(file, SEGMENT + SECTION * sections, 4), put_name(file, "__TEXT");
    put(file, 0x1000, 8), put(file, 0, 8), put(file, 0, 8), put(file, 0, 8);
    put(file, 5, 4), put(file, 5, 4), put(file, sections, 4), put(file, 0, 4);
    put_section(file, "__text", sizeof text, at, 0);
    put_section(file, "__bss", 1u << 30, 0, 1);
    at += sizeof text;
    for (uint32_t i = 0; i < count; at += (uint32_t)libraries[i].length, i++)
        put_section(file, names[i], libraries[i].length, at, 0);
    igi_text_append(file, text, sizeof text);
    for (uint32_t i = 0; i < count; i++) igi_text_append(file, libraries[i].data, libraries[i].length);
}

static void put_processor(igi_text *file, uint64_t offset, uint64_t length, bool wide) {
    put(file, 0, 8);
    put(file, wide ? __builtin_bswap64(offset) : __builtin_bswap32((uint32_t)offset), wide ? 8 : 4);
    put(file, wide ? __builtin_bswap64(length) : __builtin_bswap32((uint32_t)length), wide ? 8 : 4);
    put(file, 0, wide ? 8 : 4);
}

void write_fat(const igi_text *macho, bool wide, igi_text *file) {
    const uint64_t first = 8 + 2 * (wide ? 32 : 20);
    igi_text_append(file, wide ? "\xca\xfe\xba\xbf" : "\xca\xfe\xba\xbe", 4);
    put(file, __builtin_bswap32(2), 4);
    put_processor(file, first, 4, wide);
    put_processor(file, first + 4, macho->length, wide);
    put(file, 0xfeedface, 4);  // of 32 bits
    igi_text_append(file, macho->data, macho->length);
}
