// SPDX-License-Identifier: Apache-2.0
// Reflections as bytes: counts and lengths are 32-bit, strings without a terminator.
#include "msl/reflect-store.h"

#include <string.h>

#include "core/bytes.h"
#include "msl/attributes.h"

enum { LAYOUT_NUMBERS = 12 };

// ---- Writing ----

static void put_layout(igi_text *bytes, const ig_layout *part) {
    igi_put_string(bytes, part->name);
    igi_put_string(bytes, part->type);
    const uint32_t numbers[] = {part->depth,     part->kind,   part->offset,     part->size,
                                part->alignment, part->scalar, part->components, part->columns,
                                part->count,     part->stride, part->id,         part->access};
    for (size_t i = 0; i < LAYOUT_NUMBERS; i++) igi_put_u32(bytes, numbers[i]);
}

static void put_argument(igi_text *bytes, const ig_argument *argument) {
    igi_put_string(bytes, argument->name);
    igi_put_string(bytes, argument->type);
    igi_put_string(bytes, argument->attribute);
    igi_put_string(bytes, argument->address_space);
    igi_put_string(bytes, argument->condition);
    igi_put_u32(bytes, argument->kind);
    igi_put_u32(bytes, argument->access);
    igi_put_u32(bytes, argument->index);
    igi_put_u32(bytes, argument->min_bytes);
    igi_put_u32(bytes, argument->array_length);
    igi_put_u32(bytes, (uint32_t)argument->layout_count);
    for (size_t i = 0; i < argument->layout_count; i++) put_layout(bytes, &argument->layout[i]);
}

static void put_kernel(igi_text *bytes, const igi_msl_kernel *kernel) {
    igi_put_string(bytes, kernel->symbol);
    igi_put_string(bytes, kernel->info.name);
    igi_put_u32(bytes, kernel->info.static_threadgroup_memory);
    igi_put_u32(bytes, kernel->info.max_total_threads);
    igi_put_u32(bytes, kernel->info.kind);
    igi_put_u32(bytes, (uint32_t)kernel->info.argument_count);
    for (size_t k = 0; k < kernel->info.argument_count; k++) put_argument(bytes, &kernel->info.arguments[k]);
}

void igi_msl_reflection_write(const igi_msl_reflection *reflection, igi_text *bytes) {
    igi_put_u32(bytes, (uint32_t)reflection->kernel_count);
    igi_put_u32(bytes, (uint32_t)reflection->constant_count);
    igi_put_u32(bytes, (uint32_t)reflection->function_count);
    igi_put_u32(bytes, (uint32_t)reflection->other_count);
    for (size_t i = 0; i < reflection->kernel_count; i++) put_kernel(bytes, &reflection->kernels[i]);
    for (size_t i = 0; i < reflection->other_count; i++) put_kernel(bytes, &reflection->others[i]);
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const ig_function_constant_info *constant = &reflection->constants[i];
        igi_put_string(bytes, constant->name);
        igi_put_u32(bytes, constant->id);
        igi_put_u32(bytes, constant->type);
        igi_put_u32(bytes, constant->components);
    }
    for (size_t i = 0; i < reflection->function_count; i++) {
        igi_put_string(bytes, reflection->functions[i].name);
        igi_put_string(bytes, reflection->functions[i].symbol);
    }
}

// ---- Reading ----

// One of our own literals, which must not be freed.
static const char *get_known(igi_reader *r, bool attribute) {
    static const char *const spaces[] = {"", "device", "constant", "threadgroup"};
    char *string = igi_get_string(r);
    const char *known = NULL;
    const igi_msl_attribute *found = string && attribute ? igi_msl_attribute_find(string, strlen(string)) : NULL;
    if (found) known = found->name;
    if (string && attribute && !*string) known = "";
    for (size_t i = 0; string && !attribute && i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i], string) == 0) known = spaces[i];
    free(string);
    if (!known) r->failed = true;
    return known;
}

static void get_layout(igi_reader *r, ig_layout *part) {
    part->name = igi_get_string(r);
    part->type = igi_get_string(r);
    uint32_t numbers[LAYOUT_NUMBERS];
    for (size_t i = 0; i < LAYOUT_NUMBERS; i++) numbers[i] = igi_get_u32(r);
    part->depth = numbers[0];
    part->kind = (ig_layout_kind)numbers[1];
    part->offset = numbers[2];
    part->size = numbers[3];
    part->alignment = numbers[4];
    part->scalar = (ig_type)numbers[5];
    part->components = numbers[6];
    part->columns = numbers[7];
    part->count = numbers[8];
    part->stride = numbers[9];
    part->id = numbers[10];
    part->access = (ig_access)numbers[11];
}

// Parts are one level deeper than what they belong to, and an array has an element.
static bool is_tree(const ig_layout *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = i + 1 < count ? parts[i + 1].depth : 0;
        bool has_parts = next > parts[i].depth;
        if (parts[i].kind > IG_LAYOUT_OTHER || parts[i].scalar >= IG_TYPE_COUNT || (i == 0) != (parts[i].depth == 0))
            return false;
        if (next > parts[i].depth + 1 || (parts[i].kind == IG_LAYOUT_ARRAY && !has_parts)) return false;
    }
    return true;
}

static void get_layouts(igi_reader *r, ig_argument *argument) {
    uint32_t count = igi_get_count(r, 8 + 4 * LAYOUT_NUMBERS);
    if (!count || r->failed) return;
    ig_layout *parts = igi_calloc(count, sizeof *parts);
    igi_reader_needs(r, parts);
    argument->layout = parts;
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        argument->layout_count = i + 1;
        get_layout(r, &parts[i]);
    }
    if (!r->failed && !is_tree(parts, count)) r->failed = true;
}

static void get_argument(igi_reader *r, ig_argument *argument) {
    argument->name = igi_get_string(r);
    argument->type = igi_get_string(r);
    argument->attribute = get_known(r, true);
    argument->address_space = get_known(r, false);
    argument->condition = igi_get_string(r);
    argument->kind = (ig_argument_kind)igi_get_u32(r);
    argument->access = (ig_access)igi_get_u32(r);
    argument->index = igi_get_u32(r);
    argument->min_bytes = igi_get_u32(r);
    argument->array_length = igi_get_u32(r);
    if (!argument->array_length || argument->array_length > 128) r->failed = true;
    get_layouts(r, argument);
}

static void get_kernel(igi_reader *r, igi_msl_kernel *kernel, bool runs) {
    kernel->symbol = igi_get_string(r);
    kernel->info.name = igi_get_string(r);
    kernel->info.static_threadgroup_memory = igi_get_u32(r);
    kernel->info.max_total_threads = igi_get_u32(r);
    kernel->info.kind = (ig_function_kind)igi_get_u32(r);
    if (kernel->info.kind >= IG_FUNCTION_KIND_COUNT || runs != (kernel->info.kind == IG_FUNCTION_KERNEL))
        r->failed = true;
    uint32_t count = igi_get_count(r, 40);
    ig_argument *arguments = igi_calloc(count, sizeof *arguments);
    kernel->info.arguments = arguments;
    if (!arguments) r->failed = true;
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        kernel->info.argument_count = i + 1;
        get_argument(r, &arguments[i]);
    }
}

static void get_constant(igi_reader *r, ig_function_constant_info *constant) {
    constant->name = igi_get_string(r);
    constant->id = igi_get_u32(r);
    constant->type = (ig_type)igi_get_u32(r);
    constant->components = igi_get_u32(r);
}

static void get_function(igi_reader *r, igi_msl_function *function) {
    function->name = igi_get_string(r);
    function->symbol = igi_get_string(r);
}

bool igi_msl_reflection_read(const char *bytes, size_t length, size_t *used, igi_msl_reflection *reflection) {
    igi_reader r = igi_read_from(bytes, length);
    *reflection = (igi_msl_reflection){0};
    uint32_t kernels = igi_get_count(&r, 24), constants = igi_get_count(&r, 16), functions = igi_get_count(&r, 8),
             others = igi_get_count(&r, 24);
    reflection->kernels = igi_calloc(kernels, sizeof *reflection->kernels);
    reflection->others = igi_calloc(others, sizeof *reflection->others);
    reflection->constants = igi_calloc(constants, sizeof *reflection->constants);
    reflection->functions = igi_calloc(functions, sizeof *reflection->functions);
    if (!reflection->kernels || !reflection->others || !reflection->constants || !reflection->functions)
        r.failed = true;
    while (!r.failed && reflection->kernel_count < kernels)
        get_kernel(&r, &reflection->kernels[reflection->kernel_count++], true);
    while (!r.failed && reflection->other_count < others)
        get_kernel(&r, &reflection->others[reflection->other_count++], false);
    while (!r.failed && reflection->constant_count < constants)
        get_constant(&r, &reflection->constants[reflection->constant_count++]);
    while (!r.failed && reflection->function_count < functions)
        get_function(&r, &reflection->functions[reflection->function_count++]);
    *used = (size_t)(r.at - bytes);
    if (r.failed) igi_msl_reflection_free(reflection);
    return !r.failed;
}
