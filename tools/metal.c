// SPDX-License-Identifier: Apache-2.0
// metal: the compiler driver. Sources are compiled as the library compiles them, so what it accepts runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "console/output.h"
#include "core/disk-cache.h"
#include "files.h"
#include "metal-options.h"
#include "tools.h"

static bool has_ending(const char *name, const char *ending) {
    size_t length = strlen(name), wanted = strlen(ending);
    return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

static bool is_object(const metal_options *options, const char *name) {
    static const char *const endings[] = {".air", ".metallib", ".metalar", ".a", ".o"};
    for (size_t i = 0; !options->language && i < sizeof endings / sizeof *endings; i++)
        if (has_ending(name, endings[i])) return true;
    return false;
}

// "dir/name.metal" gives "name" and the ending, in the current directory. owns: the process keeps it.
static const char *output_name(const char *input, const char *ending) {
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input, *dot = strrchr(name, '.');
    if (strcmp(input, "-") == 0) return "-";
    return tool_keep(igi_format("%.*s%s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name, ending));
}

// "path/x.air" gives "path/x.d".
static const char *dependency_name(const char *output) {
    const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
    bool ends = dot && (!slash || dot > slash + 1);
    return tool_keep(igi_format("%.*s.d", ends ? (int)(dot - output) : (int)strlen(output), output));
}

static bool write_output(const char *path, const igi_text *bytes) {
    return tool_write(path, bytes->data ? bytes->data : "", bytes->length);
}

// Where the results of an action go if no file is named.
static const struct {
    const char *ending;
    bool prints;  // to standard output
} outputs[] = {
    [METAL_LINK] = {".air", false}, [METAL_OBJECT] = {".air", false},    [METAL_TEXT] = {".ll", false},
    [METAL_CHECK] = {".air", true}, [METAL_PREPROCESS] = {".air", true}, [METAL_DEPENDENCIES] = {".air", true},
};

static const char *output_of(const metal_options *options, const char *input) {
    if (options->output) return options->output;
    return outputs[options->action].prints ? "-" : output_name(input, outputs[options->action].ending);
}

// What is not compiled is a rule for the object that would be.
static metal_rule rule_of(const metal_options *options, const char *input, const char *output) {
    bool compiles = options->action != METAL_DEPENDENCIES && options->action != METAL_PREPROCESS;
    metal_rule rule = {.target = compiles ? output : output_name(input, ".air")};
    if (options->action == METAL_DEPENDENCIES)
        rule.path = options->dependency_file ? options->dependency_file : output;
    else if (options->writes_dependencies)
        rule.path = options->dependency_file ? options->dependency_file : dependency_name(rule.target);
    return rule;
}

// One source: what becomes of it goes to a file, or into `units` when it is to be linked.
static bool compile_input(const metal_options *options, igi_msl_compiler *compiler, const char *input,
                          tool_units *units) {
    const char *output = output_of(options, input);
    const metal_rule rule = rule_of(options, input, output);
    igi_text result = {0};
    bool ok = metal_compile(options, compiler, input, &rule, &result);
    bool writes = !units && options->action != METAL_CHECK && options->action != METAL_DEPENDENCIES;
    if (ok && units) ok = tool_add_units(units, input, result.data, result.length);
    if (ok && writes) ok = write_output(output, &result);
    if (units)
        tool_keep(result.data);
    else
        igi_text_free(&result);
    return ok;
}

static bool compile_inputs(const metal_options *options, igi_msl_compiler *compiler) {
    tool_units units = {0};
    bool ok = true, links = options->action == METAL_LINK;
    for (size_t i = 0; i < options->inputs.count; i++) {
        const char *input = options->inputs.items[i];
        if (is_object(options, input) && !links)
            tool_warning("%s: 'linker' input unused", input);
        else if (is_object(options, input))
            ok = tool_read_units(&units, input) && ok;
        else
            ok = compile_input(options, compiler, input, links ? &units : NULL) && ok;
    }
    if (links && ok) ok = tool_link(&units, options->output ? options->output : "default.metallib");
    tool_units_free(&units);
    return ok;
}

// A source on standard input has no ending that says what it is.
static int check_inputs(const metal_options *options) {
    for (size_t i = 0; i < options->inputs.count; i++) {
        bool unnamed = strcmp(options->inputs.items[i], "-") == 0 && !options->language;
        if (unnamed && options->action != METAL_PREPROCESS)
            return tool_error("-E or -x required when input is from standard input");
    }
    return CLI_CONTINUE;
}

static int run(const metal_options *options) {
    char *cache = igi_cache_dir(NULL);
    igi_msl_compiler *compiler = NULL;
    ig_status status = igi_msl_compiler_create(cache, &compiler);
    bool ok = status == IG_STATUS_OK && compile_inputs(options, compiler);
    if (status != IG_STATUS_OK) tool_error("%s", ig_status_text(status));
    igi_msl_compiler_destroy(compiler);
    free(cache);
    return !ok;
}

int tool_metal(int argc, char **argv) {
    cli_list arguments = {0};
    metal_options options;
    if (!tool_expand_arguments(argc, argv, &arguments)) return 1;
    metal_read_options(&options, &arguments);
    if (options.verbose) fprintf(stderr, "Ingot metal version %s\nInstalledDir: %s\n", ig_version(), tool_directory());
    if (options.result == CLI_CONTINUE) options.result = check_inputs(&options);
    if (options.result == CLI_CONTINUE && options.dry_run) options.result = 0;
    if (options.result == CLI_CONTINUE) options.result = run(&options);
    metal_free_options(&options);
    cli_list_free(&arguments);
    return options.result;
}
