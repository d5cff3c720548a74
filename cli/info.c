// SPDX-License-Identifier: Apache-2.0
// ingot info: devices, their limits, versions.
#include <stdlib.h>
#include <string.h>

#include "air/container.h"
#include "commands.h"
#include "console/options.h"
#include "console/output.h"
#include "core/memory.h"
#include "format.h"
#include "info-library.h"
#include "info-ops.h"
#include "info-trace.h"
#include "msl/bundle.h"

static void print_row(const char *key, const char *value) {
    printf("  %s%-22s%s %s\n", cli_escape(stdout, CLI_DIM), key, cli_escape(stdout, CLI_PLAIN), value);
}

static void print_number(const char *key, uint32_t value) {
    char text[CLI_FORMAT_TEXT];
    snprintf(text, sizeof text, "%u", value);
    print_row(key, text);
}

static void print_bytes(const char *key, uint64_t value) {
    char text[CLI_FORMAT_TEXT];
    print_row(key, cli_format_bytes(value, text));
}

static void print_device(size_t index, const ig_device_properties *device) {
    char language[CLI_FORMAT_TEXT];
    snprintf(language, sizeof language, "Metal %u.%u", device->language_version / 100,
             device->language_version / 10 % 10);
    printf("\n%sDevice %zu: %s%s\n", cli_escape(stdout, CLI_BOLD), index, device->name, cli_escape(stdout, CLI_PLAIN));
    print_row("backend", device->backend);
    print_row("target", device->target);
    if (device->features[0]) print_row("features", device->features);
    if (device->compiler[0]) print_row("compiler", device->compiler);
    print_row("language", language);
    if (device->worker_count) print_number("worker threads", device->worker_count);
    print_bytes("memory", device->memory_bytes);
    print_row("unified memory", device->unified_memory ? "yes" : "no");
    print_bytes("largest buffer", device->max_buffer_bytes);
    print_number("buffer arguments", device->max_buffer_arguments);
    print_number("threads per group", device->max_threads_per_threadgroup);
    print_number("threads per simdgroup", device->execution_width);
    print_bytes("threadgroup memory", device->max_threadgroup_memory);
}

static void put_device(size_t index, const ig_device_properties *device) {
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, "device", index);
    igi_json_put_string(row, "name", device->name);
    igi_json_put_string(row, "backend", device->backend);
    igi_json_put_string(row, "target", device->target);
    igi_json_put_string(row, "features", device->features);
    igi_json_put_string(row, "compiler", device->compiler);
    igi_json_put_u64(row, "language_version", device->language_version);
    igi_json_put_u64(row, "worker_count", device->worker_count);
    igi_json_put_u64(row, "memory_bytes", device->memory_bytes);
    igi_json_put_bool(row, "unified_memory", device->unified_memory);
    igi_json_put_u64(row, "max_buffer_bytes", device->max_buffer_bytes);
    igi_json_put_u64(row, "max_buffer_arguments", device->max_buffer_arguments);
    igi_json_put_u64(row, "max_threads_per_threadgroup", device->max_threads_per_threadgroup);
    igi_json_put_u64(row, "execution_width", device->execution_width);
    igi_json_put_u64(row, "max_threadgroup_memory", device->max_threadgroup_memory);
    igi_json_put_string(row, "ingot_version", ig_version());
    cli_end_row();
}

static ig_status list_devices(ig_device_properties **devices, size_t *count) {
    size_t capacity = 0;
    *devices = NULL;
    ig_status status = ig_device_enumerate(NULL, 0, count);
    while (status == IG_STATUS_OK && *count > capacity) {
        capacity = *count;
        *devices = cli_realloc(*devices, capacity * sizeof **devices);
        status = ig_device_enumerate(*devices, capacity, count);
    }
    return status;
}

static int show_devices(void) {
    ig_device_properties *devices;
    size_t count = 0;
    ig_status status = list_devices(&devices, &count);
    if (status == IG_STATUS_OK && !cli_json) printf("Ingot %s\n", ig_version());
    for (size_t i = 0; status == IG_STATUS_OK && i < count; i++) (cli_json ? put_device : print_device)(i, &devices[i]);
    free(devices);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    return count ? CLI_OK : cli_error(CLI_FAILED, "this machine has no device");
}

static int show_file(const cli_list *names, const char *pattern) {
    const char *name = names->items[0];
    if (names->count == 1 && igi_ends_with(name, ".json")) return info_trace(name);
    if (names->count == 1 &&
        (igi_ends_with(name, ".metallib") || igi_air_is_container_file(name) || igi_msl_is_bundle_file(name)))
        return info_library(name, pattern);
    return cli_usage_error("unexpected argument '%s'", names->items[names->count > 1]);
}

int cmd_info(int argc, char **argv) {
    bool ops = false;
    const char *pattern = NULL;
    const cli_option options[] = {
        {0, "ops", CLI_FLAG, &ops, NULL, "show the op table: which backend serves each op and type"},
        {'k', "kernel", CLI_TEXT, &pattern, "PATTERN",
         "show only functions of the .metallib that match, with their arguments"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "[--json] | --ops [OP...] [--json] | TRACE.json [--json] | LIBRARY.metallib [-k PATTERN] [--json]",
        .purpose =
            "Show the devices of this machine, or the op table, or what kernels cost according to a trace,\n"
            "or the functions of a compiled library.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .examples =
            "ingot info\n"
            "ingot info --json\n"
            "INGOT_WORKERS=1 ingot info\n"
            "ingot info --ops softmax matmul\n"
            "INGOT_TRACE=trace.json ./program && ingot info trace.json\n"
            "ingot info mlx.metallib -k 'rope_*'",
        .max_operands = SIZE_MAX,
        .operand = "an op",
    };
    cli_list names = {0};
    int result = cli_parse(&syntax, argc, argv, &names);
    if (result == CLI_CONTINUE && !ops && names.count) result = show_file(&names, pattern);
    if (result == CLI_CONTINUE) result = ops ? info_ops(&names) : show_devices();
    cli_list_free(&names);
    return result;
}
