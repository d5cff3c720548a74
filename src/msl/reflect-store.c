// SPDX-License-Identifier: Apache-2.0
// Reflections as bytes: counts and lengths are 32-bit, strings without a terminator.
#include "msl/reflect-store.h"

#include <string.h>

#include "msl/attributes.h"

// ---- Writing ----

static void put_u32(igi_text *bytes, uint32_t value) {
    igi_text_append(bytes, (const char *)&value, sizeof value);
}

static void put_string(igi_text *bytes, const char *string) {
    size_t length = strlen(string);
    put_u32(bytes, (uint32_t)length);
    igi_text_append(bytes, string, length);
}

static void put_argument(igi_text *bytes, const ig_argument *argument) {
    put_string(bytes, argument->name);
    put_string(bytes, argument->type);
    put_string(bytes, argument->attribute);
    put_string(bytes, argument->address_space);
    put_string(bytes, argument->condition);
    put_u32(bytes, argument->kind);
    put_u32(bytes, argument->access);
    put_u32(bytes, argument->index);
    put_u32(bytes, argument->min_bytes);
}

void igi_reflection_write(const igi_reflection *reflection, igi_text *bytes) {
    put_u32(bytes, (uint32_t)reflection->kernel_count);
    put_u32(bytes, (uint32_t)reflection->constant_count);
    for (size_t i = 0; i < reflection->kernel_count; i++) {
        const igi_kernel *kernel = &reflection->kernels[i];
        put_string(bytes, kernel->symbol);
        put_string(bytes, kernel->info.name);
        put_u32(bytes, kernel->info.static_threadgroup_memory);
        put_u32(bytes, kernel->info.max_total_threads);
        put_u32(bytes, (uint32_t)kernel->info.argument_count);
        for (size_t k = 0; k < kernel->info.argument_count; k++) put_argument(bytes, &kernel->info.arguments[k]);
    }
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const ig_function_constant_info *constant = &reflection->constants[i];
        put_string(bytes, constant->name);
        put_u32(bytes, constant->id);
        put_u32(bytes, constant->type);
        put_u32(bytes, constant->components);
    }
}

// ---- Reading ----

typedef struct reader {
    const char *at, *end;
    bool failed;
} reader;

static uint32_t get_u32(reader *r) {
    uint32_t value = 0;
    if (r->failed || (size_t)(r->end - r->at) < sizeof value) {
        r->failed = true;
        return 0;
    }
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return value;
}

static char *get_string(reader *r) {
    uint32_t length = get_u32(r);
    if (r->failed || (size_t)(r->end - r->at) < length) {
        r->failed = true;
        return NULL;
    }
    char *string = igi_strndup(r->at, length);
    if (!string) r->failed = true;
    r->at += length;
    return string;
}

// A count of things that take at least `bytes` each: a lie would run past the end anyway, so refuse it early.
static uint32_t get_count(reader *r, size_t bytes) {
    uint32_t count = get_u32(r);
    if (count > (size_t)(r->end - r->at) / bytes) r->failed = true;
    return r->failed ? 0 : count;
}

// One of our own literals, so that nobody frees it.
static const char *get_known(reader *r, bool attribute) {
    static const char *const spaces[] = {"", "device", "constant", "threadgroup"};
    char *string = get_string(r);
    const char *known = NULL;
    const igi_attribute *found = string && attribute ? igi_attribute_find(string, strlen(string)) : NULL;
    if (found) known = found->name;
    for (size_t i = 0; string && !attribute && i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i], string) == 0) known = spaces[i];
    free(string);
    if (!known) r->failed = true;
    return known;
}

static void get_argument(reader *r, ig_argument *argument) {
    argument->name = get_string(r);
    argument->type = get_string(r);
    argument->attribute = get_known(r, true);
    argument->address_space = get_known(r, false);
    argument->condition = get_string(r);
    argument->kind = (ig_argument_kind)get_u32(r);
    argument->access = (ig_access)get_u32(r);
    argument->index = get_u32(r);
    argument->min_bytes = get_u32(r);
}

static void get_kernel(reader *r, igi_kernel *kernel) {
    kernel->symbol = get_string(r);
    kernel->info.name = get_string(r);
    kernel->info.static_threadgroup_memory = get_u32(r);
    kernel->info.max_total_threads = get_u32(r);
    uint32_t count = get_count(r, 36);
    ig_argument *arguments = igi_calloc(count, sizeof *arguments);
    kernel->info.arguments = arguments;
    if (!arguments) r->failed = true;
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        kernel->info.argument_count = i + 1;
        get_argument(r, &arguments[i]);
    }
}

static void get_constant(reader *r, ig_function_constant_info *constant) {
    constant->name = get_string(r);
    constant->id = get_u32(r);
    constant->type = (ig_type)get_u32(r);
    constant->components = get_u32(r);
}

bool igi_reflection_read(const char *bytes, size_t length, size_t *used, igi_reflection *reflection) {
    reader r = {bytes, bytes + length, false};
    *reflection = (igi_reflection){0};
    uint32_t kernels = get_count(&r, 20), constants = get_count(&r, 16);
    reflection->kernels = igi_calloc(kernels, sizeof *reflection->kernels);
    reflection->constants = igi_calloc(constants, sizeof *reflection->constants);
    if (!reflection->kernels || !reflection->constants) r.failed = true;
    while (!r.failed && reflection->kernel_count < kernels)
        get_kernel(&r, &reflection->kernels[reflection->kernel_count++]);
    while (!r.failed && reflection->constant_count < constants)
        get_constant(&r, &reflection->constants[reflection->constant_count++]);
    *used = (size_t)(r.at - bytes);
    if (r.failed) igi_reflection_free(reflection);
    return !r.failed;
}
