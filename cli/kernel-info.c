// SPDX-License-Identifier: Apache-2.0
// A kernel, or another function, and its arguments, as a table or as a row of JSON.
#include "kernel-info.h"

#include <stdio.h>
#include <string.h>

#include "console/output.h"
#include "format.h"
#include "source.h"

static const char *const access_names[] = {
    [IG_ACCESS_NONE] = "none",
    [IG_ACCESS_READ] = "read",
    [IG_ACCESS_WRITE] = "write",
    [IG_ACCESS_READ_WRITE] = "read-write",
};
static const char *const kind_names[] = {
    [IG_ARGUMENT_BUFFER] = "buffer",         [IG_ARGUMENT_THREADGROUP] = "threadgroup",
    [IG_ARGUMENT_BUILTIN] = "builtin",       [IG_ARGUMENT_TEXTURE] = "texture",
    [IG_ARGUMENT_SAMPLER] = "sampler",       [IG_ARGUMENT_FUNCTION_TABLE] = "functions",
    [IG_ARGUMENT_STAGE_INPUT] = "attribute", [IG_ARGUMENT_ACCELERATION_STRUCTURE] = "structure",
};

static void add_argument(cli_table *table, const ig_argument *argument) {
    bool builtin = argument->kind == IG_ARGUMENT_BUILTIN;
    if (builtin) {
        bool numbered = strcmp(argument->attribute, "color") == 0;
        cli_table_add(table, numbered ? "%u" : "-", argument->index);
        cli_table_add(table, "%s", *argument->attribute ? argument->attribute : "-");
    } else {
        cli_table_add(table, "%u", argument->index);
        cli_table_add(table, "%s", kind_names[argument->kind]);
    }
    char type[CLI_TYPE_TEXT];
    cli_table_add(table, "%s", cli_argument_type(argument, type));
    cli_table_add(table, "%s", argument->name);
    cli_table_add(table, "%s%s%s", builtin ? "-" : access_names[argument->access], *argument->condition ? ", if " : "",
                  argument->condition);
}

static void print_arguments(const ig_kernel_info *kernel) {
    static const char *const headings[] = {"index", "kind", "type", "name", "access"};
    cli_table table = {.columns = sizeof headings / sizeof *headings, .right_aligned = 1};
    for (size_t i = 0; i < table.columns; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < kernel->argument_count; i++) add_argument(&table, &kernel->arguments[i]);
    cli_table_print(&table, 2);
}

void cli_print_kernel(const ig_kernel_info *kernel) {
    char bytes[CLI_FORMAT_TEXT];
    printf("\n%s%s %s%s\n", cli_escape(stdout, CLI_BOLD), ig_function_kind_name(kernel->kind),
           cli_visible(kernel->name), cli_escape(stdout, CLI_PLAIN));
    if (kernel->argument_count) print_arguments(kernel);
    if (kernel->static_threadgroup_memory)
        printf("  %s of threadgroup memory\n", cli_format_bytes(kernel->static_threadgroup_memory, bytes));
    if (kernel->max_total_threads) printf("  at most %u threads per threadgroup\n", kernel->max_total_threads);
}

// The members of a structure, each followed by its own, which are deeper.
static void put_members(igi_json *row, const ig_argument *argument) {
    if (argument->layout_count < 2) return;
    igi_json_key(row, "members");
    igi_json_begin_array(row);
    for (size_t i = 1; i < argument->layout_count; i++) {
        const ig_layout *part = &argument->layout[i];
        igi_json_begin_object(row);
        igi_json_put_string(row, "name", part->name);
        igi_json_put_string(row, "type", part->type);
        igi_json_put_u64(row, "depth", part->depth);
        igi_json_put_u64(row, "offset", part->offset);
        igi_json_put_u64(row, "size", part->size);
        igi_json_put_u64(row, "count", part->kind == IG_LAYOUT_ARRAY ? part->count : 1);
        igi_json_end_object(row);
    }
    igi_json_end_array(row);
}

static void put_argument(igi_json *row, const ig_argument *argument) {
    igi_json_begin_object(row);
    igi_json_put_u64(row, "index", argument->index);
    igi_json_put_string(row, "kind", kind_names[argument->kind]);
    igi_json_put_string(row, "type", argument->type);
    igi_json_put_string(row, "name", argument->name);
    igi_json_put_string(row, "access", access_names[argument->access]);
    igi_json_put_string(row, "attribute", argument->attribute);
    igi_json_put_string(row, "address_space", argument->address_space);
    igi_json_put_string(row, "condition", argument->condition);
    igi_json_put_u64(row, "min_bytes", argument->min_bytes);
    put_members(row, argument);
    igi_json_end_object(row);
}

void cli_put_kernel(const ig_kernel_info *kernel) {
    igi_json *row = cli_begin_row();
    bool runs = kernel->kind == IG_FUNCTION_KERNEL;
    igi_json_put_string(row, runs ? "kernel" : "function", kernel->name);
    if (!runs) igi_json_put_string(row, "kind", ig_function_kind_name(kernel->kind));
    igi_json_key(row, "arguments");
    igi_json_begin_array(row);
    for (size_t k = 0; k < kernel->argument_count; k++) put_argument(row, &kernel->arguments[k]);
    igi_json_end_array(row);
    igi_json_put_u64(row, "threadgroup_memory", kernel->static_threadgroup_memory);
    igi_json_put_u64(row, "max_total_threads", kernel->max_total_threads);
    cli_end_row();
}

void cli_print_visible(const char *name) {
    printf("\n%svisible %s%s\n", cli_escape(stdout, CLI_BOLD), cli_visible(name), cli_escape(stdout, CLI_PLAIN));
}

void cli_put_visible(const char *name) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "function", name);
    igi_json_put_string(row, "kind", ig_function_kind_name(IG_FUNCTION_VISIBLE));
    cli_end_row();
}
