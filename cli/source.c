// SPDX-License-Identifier: Apache-2.0
// Libraries, kernels and pipelines from command-line options.
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "console/diagnostics.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/nearest.h"

int cli_source_compile(const cli_source *source, ig_device *device, ig_library **library, uint64_t *elapsed_ns) {
    ig_library_desc desc = {
        .path = source->path,
        .defines = source->defines,
        .define_count = source->define_texts.count,
        .include_dirs = source->include_dirs.items,
        .include_dir_count = source->include_dirs.count,
        .language_version = source->language_version,
        .math_mode = (ig_math_mode)source->math,
        .flush_denormals = source->flush_denormals,
        .line_tables = source->line_tables,
    };
    ig_error error = {0};
    uint64_t start = igi_now_ns();
    ig_status status = ig_library_create(device, &desc, library, &error);
    if (elapsed_ns) *elapsed_ns = igi_now_ns() - start;
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (cli_json) cli_put_diagnostics(ig_library_log(*library));
    cli_print_diagnostics(stderr, ig_library_log(*library));
    return CLI_CONTINUE;
}

// The kind of a function that is no kernel; IG_FUNCTION_KERNEL if the library has none of this name.
static ig_function_kind kind_of_other(const ig_library *library, const char *name) {
    for (size_t i = 0; i < ig_library_function_count(library); i++)
        if (strcmp(ig_library_function(library, i), name) == 0) return IG_FUNCTION_VISIBLE;
    for (size_t i = 0; i < ig_library_other_count(library); i++)
        if (strcmp(ig_library_other_name(library, i), name) == 0) return ig_library_other_kind(library, i);
    return IG_FUNCTION_KERNEL;
}

bool cli_source_has_other(const cli_source *source, const ig_library *library) {
    return kind_of_other(library, source->kernel) != IG_FUNCTION_KERNEL;
}

static int unknown_kernel(const cli_source *source, const ig_library *library) {
    ig_function_kind kind = kind_of_other(library, source->kernel);
    if (kind != IG_FUNCTION_KERNEL)
        return cli_error(CLI_BAD_INPUT, "%s has no kernel '%s', but a function of this name (%s)", source->path,
                         source->kernel, ig_function_kind_name(kind));
    size_t count = ig_library_kernel_count(library);
    const char **names = cli_alloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = ig_library_kernel_name(library, i);
    const char *nearest = igi_nearest(source->kernel, names, count);
    free(names);
    if (nearest)
        return cli_error(CLI_BAD_INPUT, "%s has no kernel '%s'; did you mean '%s'?", source->path, source->kernel,
                         nearest);
    return cli_error(CLI_BAD_INPUT, "%s has no kernel '%s'; 'ingot compile %s' lists its kernels", source->path,
                     source->kernel, source->path);
}

static int ambiguous_kernel(const cli_source *source, const ig_library *library) {
    igi_text names = {0};
    size_t count = ig_library_kernel_count(library);
    for (size_t i = 0; i < count; i++) igi_text_addf(&names, "\n  %s", ig_library_kernel_name(library, i));
    char *list = igi_text_take(&names);
    int result = cli_error(CLI_BAD_INPUT, "%s has %zu kernels; choose one with --kernel:%s", source->path, count,
                           list ? list : "");
    free(list);
    return result;
}

int cli_source_choose_kernel(const cli_source *source, const ig_library *library, const ig_kernel_info **kernel) {
    if (source->kernel) {
        *kernel = ig_library_find_kernel(library, source->kernel);
        return *kernel ? CLI_CONTINUE : unknown_kernel(source, library);
    }
    size_t count = ig_library_kernel_count(library);
    if (count == 0) return cli_error(CLI_BAD_INPUT, "%s has no kernel", source->path);
    if (count > 1) return ambiguous_kernel(source, library);
    *kernel = ig_library_kernel(library, 0);
    return CLI_CONTINUE;
}

static const ig_function_constant_info *find_constant(const ig_library *library, const ig_function_constant *given) {
    for (size_t i = 0; i < ig_library_function_constant_count(library); i++) {
        const ig_function_constant_info *known = ig_library_function_constant(library, i);
        if (given->name ? strcmp(known->name, given->name) == 0 : known->id == given->id) return known;
    }
    return NULL;
}

static int unknown_constant(const cli_source *source, const ig_library *library, const ig_function_constant *given) {
    if (!given->name) return cli_error(CLI_BAD_INPUT, "%s has no function constant %u", source->path, given->id);
    size_t count = ig_library_function_constant_count(library);
    const char **names = cli_alloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = ig_library_function_constant(library, i)->name;
    const char *nearest = igi_nearest(given->name, names, count);
    free(names);
    if (nearest)
        return cli_error(CLI_BAD_INPUT, "%s has no function constant '%s'; did you mean '%s'?", source->path,
                         given->name, nearest);
    return cli_error(CLI_BAD_INPUT, "%s has no function constant '%s'", source->path, given->name);
}

// The library, like Metal, ignores values for constants that do not exist; here they are an error.
static int check_constants(const cli_source *source, const ig_library *library) {
    for (size_t i = 0; i < source->constant_texts.count; i++)
        if (!find_constant(library, &source->constants[i]))
            return unknown_constant(source, library, &source->constants[i]);
    return CLI_CONTINUE;
}

int cli_source_specialise(const cli_source *source, ig_library *library, const char *kernel, ig_pipeline **pipeline) {
    int result = check_constants(source, library);
    if (result != CLI_CONTINUE) return result;
    // Whatever may be called is linked.
    size_t function_count = ig_library_function_count(library);
    ig_linked_function *functions = igi_calloc(function_count, sizeof *functions);
    if (!functions) return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; i < function_count; i++) functions[i].name = ig_library_function(library, i);
    ig_pipeline_desc desc = {
        .kernel = kernel,
        .constants = source->constants,
        .constant_count = source->constant_texts.count,
        .linked_functions = functions,
        .linked_function_count = function_count,
        .unset_constants_are_zero = source->unset_constants_are_zero,
        .tier = source->tier,
        .stage_input = source->stage_input,
    };
    ig_error error = {0};
    ig_status status = ig_pipeline_create(library, &desc, pipeline, &error);
    free(functions);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

const char *cli_argument_type(const ig_argument *argument, char text[CLI_TYPE_TEXT]) {
    const char *type = argument->type;
    bool constant = strcmp(argument->address_space, "constant") == 0;
    if (constant && strncmp(type, "const ", 6) == 0) type += 6;  // the address space says so already
    snprintf(text, CLI_TYPE_TEXT, "%s%s%s", argument->address_space, *argument->address_space ? " " : "", type);
    return text;
}

// ---- Options ----

// "metal3.1", "3.1" -> 310
static int parse_standard(const char *text, uint32_t *version) {
    const char *digits = strncmp(text, "metal", 5) == 0 ? text + 5 : text;
    bool formed = digits[0] >= '1' && digits[0] <= '9' && digits[1] == '.' && digits[2] >= '0' && digits[2] <= '9' &&
                  digits[3] == '\0';
    if (!formed) return cli_usage_error("--std takes a language version like metal3.1, not '%s'", text);
    *version = (uint32_t)(digits[0] - '0') * 100 + (uint32_t)(digits[2] - '0') * 10;
    return CLI_CONTINUE;
}

// The table and the texts it points to are one allocation.
static int parse_defines(cli_source *source) {
    const cli_list *list = &source->define_texts;
    size_t text_bytes = 0;
    for (size_t i = 0; i < list->count; i++) text_bytes += strlen(list->items[i]) + 1;
    source->defines = cli_alloc(list->count * sizeof *source->defines + text_bytes);
    char *text = (char *)(source->defines + list->count);
    for (size_t i = 0; i < list->count; i++) {
        size_t bytes = strlen(list->items[i]) + 1, name = strcspn(list->items[i], "=");
        if (name == 0) return cli_usage_error("-D takes NAME or NAME=VALUE, not '%s'", list->items[i]);
        memcpy(text, list->items[i], bytes);
        bool has_value = text[name] == '=';
        text[name] = '\0';
        source->defines[i] = (ig_define){.name = text, .value = has_value ? text + name + 1 : NULL};
        text += bytes;
    }
    return CLI_CONTINUE;
}

static int parse_constant(cli_source *source, size_t index) {
    const char *text = source->constant_texts.items[index];
    cli_spec *value = &source->constant_values[index];
    size_t length = strcspn(text, "=");
    if (length == 0 || text[length] != '=')
        return cli_usage_error("--constant takes ID=TYPE:VALUE, like 0=bool:true or tile=u32:16, not '%s'", text);
    ig_error error = {0};
    if (cli_constant_parse(text + length + 1, value, &error) != IG_STATUS_OK) {
        int result = cli_usage_error("--constant %s", error.message);
        ig_error_clear(&error);
        return result;
    }
    uint64_t id = 0;
    bool by_id = cli_parse_u64(text, length, &id) && id <= UINT32_MAX;
    if (!by_id) source->constant_names[index] = igi_strndup(text, length);
    source->constants[index] = (ig_function_constant){
        .name = source->constant_names[index],
        .id = (uint32_t)id,
        .type = value->type,
        .value = value->values,
        .components = (uint32_t)value->count,
    };
    return CLI_CONTINUE;
}

static void *zeroed(size_t count, size_t size) {
    return memset(cli_alloc(count * size + 1), 0, count * size);
}

int cli_source_read_options(cli_source *source) {
    size_t count = source->constant_texts.count;
    source->constants = zeroed(count, sizeof *source->constants);
    source->constant_values = zeroed(count, sizeof *source->constant_values);
    source->constant_names = zeroed(count, sizeof *source->constant_names);
    int result = source->standard ? parse_standard(source->standard, &source->language_version) : CLI_CONTINUE;
    if (result == CLI_CONTINUE) result = parse_defines(source);
    for (size_t i = 0; i < count && result == CLI_CONTINUE; i++) result = parse_constant(source, i);
    return result;
}

void cli_source_free(cli_source *source) {
    for (size_t i = 0; source->constants && i < source->constant_texts.count; i++) {
        cli_spec_free(&source->constant_values[i]);
        free(source->constant_names[i]);
    }
    free(source->defines);
    free(source->constants);
    free(source->constant_values);
    free(source->constant_names);
    cli_list_free(&source->define_texts);
    cli_list_free(&source->include_dirs);
    cli_list_free(&source->constant_texts);
}
