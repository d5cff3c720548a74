// SPDX-License-Identifier: Apache-2.0
// What `compile` and `run` share: from a .metal file and options to a library, a kernel and a pipeline.
#ifndef INGOT_CLI_SOURCE_H
#define INGOT_CLI_SOURCE_H

#include <ingot/device.h>

#include "console/options.h"
#include "spec.h"

typedef struct cli_source {
    const char *path;
    // As given by the options:
    const char *kernel;
    const char *standard;
    cli_list define_texts;    // N or N=V
    cli_list include_dirs;    //
    cli_list constant_texts;  // ID=TYPE:VALUE
    int math;                 // an ig_math_mode
    bool flush_denormals;
    bool line_tables;  // for remarks with source lines
    bool unset_constants_are_zero;
    uint32_t tier;  // of ig_pipeline_desc
    // As read by cli_source_read_options:
    uint32_t language_version;
    ig_define *defines;
    ig_function_constant *constants;
    cli_spec *constant_values;
    char **constant_names;
    const ig_stage_input *stage_input;  // of ingot run; NULL: none
} cli_source;

#define CLI_SOURCE_OPTIONS(source)                                                                   \
    {'D', "define", CLI_TEXTS, &(source).define_texts, "NAME[=VALUE]", "define a macro"},            \
        {'I', "include", CLI_TEXTS, &(source).include_dirs, "DIR", "search DIR for #include"},       \
        {0, "std", CLI_TEXT, &(source).standard, "VERSION", "language version (default metal3.1)"},  \
        {0, "math", CLI_CHOICE, &(source).math, "fast|safe", "floating-point rules (default fast)"}, \
        {0,        "flush-denormals",                                                                \
         CLI_FLAG, &(source).flush_denormals,                                                        \
         NULL,     "count denormals as zero with --math safe too"},                                  \
        {0, "constant", CLI_TEXTS, &(source).constant_texts, "ID=TYPE:VALUE", "a function constant, by number or name"}

// All except free return CLI_CONTINUE, or the exit code after printing an error. The caller releases outputs. Reading
// the options compiles and opens nothing.
int cli_source_read_options(cli_source *source);
void cli_source_free(cli_source *source);
// Shows the compiler's warnings. elapsed_ns may be NULL.
int cli_source_compile(const cli_source *source, ig_device *device, ig_library **library, uint64_t *elapsed_ns);
// The kernel that --kernel names, or the only one.
int cli_source_choose_kernel(const cli_source *source, const ig_library *library, const ig_kernel_info **kernel);
// Whether source->kernel names a function that is no kernel.
bool cli_source_has_other(const cli_source *source, const ig_library *library);
int cli_source_specialise(const cli_source *source, ig_library *library, const char *kernel, ig_pipeline **pipeline);

// source-syntax.c: clang's syntax tree of a kernel. owns: *text is the caller's.
ig_status cli_source_syntax(const cli_source *source, const char *kernel, char **text, ig_error *error);

// In MSL's notation, "device const float*".
enum { CLI_TYPE_TEXT = 256 };
const char *cli_argument_type(const ig_argument *argument, char text[CLI_TYPE_TEXT]);

#endif
