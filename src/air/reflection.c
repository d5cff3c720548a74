// SPDX-License-Identifier: Apache-2.0
// The kernel's arguments as libraries report them, from the metadata.
#include <string.h>

#include "air/translator.h"
#include "msl/attributes.h"

static const char *const builtin_names[] = {
#define NAME(name, components) #name,
    IGI_BUILTIN_LIST(NAME)
#undef NAME
};

// What earlier stages or the device give to functions that draw.
static const char *given_name(const char *kind) {
    static const struct {
        const char *kind, *attribute;
    } inputs[] = {{"fragment_input", "stage_in"},
                  {"patch_control_point_input", "stage_in"},
                  {"render_target", "color"},
                  {"mesh", ""}};
    if (!igi_skip(&kind, "air.")) return "";
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strcmp(inputs[i].kind, kind) == 0) return inputs[i].attribute;
    const igi_msl_attribute *found = igi_msl_attribute_find(kind, strlen(kind));
    return found ? found->name : "";
}

static const char *builtin_name(const air_translator *t, const char *kind) {
    if (!igi_air_runs(t)) return given_name(kind);
    if (!igi_skip(&kind, "air.")) return NULL;
    for (size_t i = 0; i < IGI_BUILTIN_COUNT; i++)
        if (strcmp(builtin_names[i], kind) == 0) return builtin_names[i];
    return NULL;
}

// A pointer may be bound to less than one struct, but not to less than a number.
static uint32_t least_bytes(const air_argument *a) {
    enum { LARGEST_VECTOR = 32 };
    if (a->size <= 0 || a->size > UINT32_MAX) return 1;
    return a->reference || a->size <= LARGEST_VECTOR ? (uint32_t)a->size : 1;
}

static void describe_buffer(const air_argument *a, ig_argument *argument) {
    bool threadgroup = a->space == 3;
    argument->kind = threadgroup ? IG_ARGUMENT_THREADGROUP : IG_ARGUMENT_BUFFER;
    argument->attribute = threadgroup ? "threadgroup" : "buffer";
    argument->address_space = threadgroup ? "threadgroup" : a->space == 2 ? "constant" : "device";
    argument->access = a->written || threadgroup ? IG_ACCESS_READ_WRITE : IG_ACCESS_READ;
    argument->index = (uint32_t)a->location;
    argument->min_bytes = least_bytes(a);
}

static void describe_table(const air_argument *a, ig_argument *argument) {
    argument->kind = IG_ARGUMENT_FUNCTION_TABLE;
    argument->attribute = "buffer";
    argument->access = IG_ACCESS_READ;
    argument->index = (uint32_t)a->location;
}

// "texture2d<float, sample>" is "texture2d<float, access::sample>" in a source; other types stay as they are.
static char *type_of_object(const char *type) {
    igi_text text = {0};
    for (const char *at = type; *at; at++) {
        igi_text_append(&text, at, 1);
        bool access = strncmp(at, ", ", 2) == 0 && at[2] >= 'a' && at[2] <= 'z';
        if (!access) continue;
        igi_text_add(&text, " access::");
        at++;
    }
    return igi_text_take(&text);
}

static void describe_attribute(const air_argument *a, ig_argument *argument) {
    argument->kind = IG_ARGUMENT_STAGE_INPUT;
    argument->attribute = "attribute";
    argument->access = IG_ACCESS_READ;
    argument->index = (uint32_t)a->location;
}

static void describe_object(const air_argument *a, ig_argument *argument) {
    bool texture = igi_air_class_of(a) == AIR_TEXTURE;
    argument->kind = texture ? IG_ARGUMENT_TEXTURE : IG_ARGUMENT_SAMPLER;
    argument->attribute = texture ? "texture" : "sampler";
    argument->access = !a->written ? IG_ACCESS_READ : a->write_only ? IG_ACCESS_WRITE : IG_ACCESS_READ_WRITE;
    argument->index = (uint32_t)a->location;
    argument->array_length = (uint32_t)a->count;
}

static char *type_of(const air_argument *a) {
    switch (igi_air_class_of(a)) {
        case AIR_BUFFER:
            return igi_format("%s%s%s", a->written || a->space == 3 ? "" : "const ", a->type, a->reference ? "&" : "*");
        case AIR_TEXTURE: return type_of_object(a->type);
        default: return igi_strdup(a->type);
    }
}

// Moves what was read into the reflection.
static bool describe_members(air_argument *a, ig_argument *argument) {
    if (!a->layout || a->size < 0 || a->size > UINT32_MAX || a->alignment < 0 || a->alignment > UINT32_MAX) return true;
    char *type = igi_strdup(a->type);
    if (!type) return false;
    free((char *)a->layout->type);
    a->layout->type = type;
    a->layout->size = (uint32_t)a->size;
    a->layout->alignment = (uint32_t)a->alignment;
    argument->layout = a->layout;
    argument->layout_count = a->layout_count;
    a->layout = NULL;
    return true;
}

static bool describe(air_translator *t, air_argument *a, ig_argument *argument) {
    air_argument_class class = igi_air_class_of(a);
    *argument = (ig_argument){.name = igi_strdup(a->name),
                              .type = type_of(a),
                              .condition = igi_strdup(a->condition ? a->condition : ""),
                              .attribute = "",
                              .address_space = "",
                              .array_length = 1,
                              .kind = IG_ARGUMENT_BUILTIN};
    if (!argument->name || !argument->type || !argument->condition || !describe_members(a, argument))
        return igi_air_fail_memory(t);
    const char *builtin = builtin_name(t, a->kind);
    if (class == AIR_BUILTIN && !builtin) return igi_air_fail_unknown(t, a->kind);
    if (class == AIR_BUFFER)
        describe_buffer(a, argument);
    else if (class == AIR_TABLE)
        describe_table(a, argument);
    else if (class == AIR_ATTRIBUTE)
        describe_attribute(a, argument);
    else if (class != AIR_BUILTIN)
        describe_object(a, argument);
    else
        argument->attribute = builtin;
    return true;
}

static bool reflect_visible(air_translator *t, igi_msl_reflection *reflection) {
    igi_msl_function *function = igi_calloc(1, sizeof *function);
    if (!function) return igi_air_fail_memory(t);
    *function = (igi_msl_function){igi_strdup(t->name), igi_format(AIR_VISIBLE_PREFIX "%s", t->name)};
    reflection->functions = function;
    reflection->function_count = reflection->function_capacity = 1;
    return (function->name && function->symbol) || igi_air_fail_memory(t);
}

bool igi_air_reflect(air_translator *t, igi_msl_reflection *reflection) {
    if (t->kind == IG_FUNCTION_VISIBLE) return reflect_visible(t, reflection);
    igi_msl_kernel *kernel = igi_calloc(1, sizeof *kernel);
    if (!kernel) return igi_air_fail_memory(t);
    if (igi_air_runs(t)) {
        reflection->kernels = kernel;
        reflection->kernel_count = reflection->kernel_capacity = 1;
    } else {
        reflection->others = kernel;
        reflection->other_count = reflection->other_capacity = 1;
    }
    ig_argument *arguments = igi_calloc(t->argument_count, sizeof *arguments);
    kernel->info = (ig_kernel_info){.name = igi_strdup(t->name), .arguments = arguments, .kind = t->kind};
    kernel->info.max_total_threads = t->max_threads;
    kernel->info.static_threadgroup_memory =
        t->threadgroup_bytes < UINT32_MAX ? (uint32_t)t->threadgroup_bytes : UINT32_MAX;
    kernel->symbol = igi_strdup(AIR_WRAPPER);
    if (!arguments || !kernel->info.name || !kernel->symbol) return igi_air_fail_memory(t);
    bool ok = true;
    for (size_t i = 0; i < t->argument_count && ok; i++) {
        kernel->info.argument_count = i + 1;
        ok = describe(t, &t->arguments[i], &arguments[i]);
    }
    return ok;
}
