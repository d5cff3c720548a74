// SPDX-License-Identifier: Apache-2.0
// Options of `metal`, from a table.
#include "metal-options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/memory.h"
#include "dependencies.h"
#include "tools.h"

static const char help[] =
    "usage: metal [OPTION...] FILE...\n"
    "\n"
    "Check Metal sources and make libraries that Ingot loads.\n"
    "\n"
    "  -c                    compile only: FILE.air\n"
    "  -o FILE               the output; - is standard output (default: default.metallib)\n"
    "  -E, -P, -dM           preprocess only\n"
    "  -S                    print LLVM's IR\n"
    "  -fsyntax-only         only report errors\n"
    "  -M, -MM, -MD, -MMD    list what the sources include, instead of or besides compiling; -MF, -MT, -MQ, -MP, -H\n"
    "  -std=metal3.2         the language; also macos-metal2.4, ios-metal2.4\n"
    "  -ffast-math, -fno-fast-math, -fmetal-math-mode=fast|relaxed|safe\n"
    "  -D NAME[=VALUE], -U NAME, -I DIR, -isystem DIR, -iquote DIR, -idirafter DIR, -include FILE\n"
    "  -W..., -w, -Werror, -pedantic\n"
    "  -mmacosx-version-min=VERSION, -target TRIPLE\n"
    "  -x metal              of every input, also of - (standard input)\n"
    "  @FILE                 options in a file\n"
    "  -v, -###, --version, --help\n"
    "\n"
    "ingot-metal-tools(1) lists the options that are accepted without effect.\n";

// `spelling` is what was found, `value` what follows it; "" if it takes none.
typedef void applier(metal_options *options, const char *spelling, const char *value);

// ---- Actions ----

// The last one counts, but for what stops earlier: -E wins over -c, as with clang.
static void set_action(metal_options *options, metal_action action) {
    if (action > options->action) options->action = action;
}

static void act_object(metal_options *o, const char *s, const char *v) {
    set_action(o, METAL_OBJECT);
}
static void act_text(metal_options *o, const char *s, const char *v) {
    set_action(o, METAL_TEXT);
}
static void act_check(metal_options *o, const char *s, const char *v) {
    set_action(o, METAL_CHECK);
}
static void act_preprocess(metal_options *o, const char *s, const char *v) {
    set_action(o, METAL_PREPROCESS);
}
static void act_dependencies(metal_options *o, const char *s, const char *v) {
    set_action(o, METAL_DEPENDENCIES);
}
static void act_write_dependencies(metal_options *o, const char *s, const char *v) {
    o->writes_dependencies = true;
}
static void set_phony(metal_options *o, const char *s, const char *v) {
    o->phony = true;
}
static void set_lists_headers(metal_options *o, const char *s, const char *v) {
    o->lists_headers = true;
}
static void set_dependency_file(metal_options *o, const char *s, const char *v) {
    o->dependency_file = v;
}
static void add_target(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->targets, v);
}
static void add_quoted_target(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->targets, tool_keep(tool_make_quoted(v)));
}
static void set_output(metal_options *o, const char *s, const char *v) {
    o->output = v;
}
static void set_verbose(metal_options *o, const char *s, const char *v) {
    o->verbose = true;
}
static void set_dry_run(metal_options *o, const char *s, const char *v) {
    o->verbose = o->dry_run = true;
}
static void show_version(metal_options *o, const char *s, const char *v) {
    tool_print_version("metal");
    o->result = 0;
}
static void show_help(metal_options *o, const char *s, const char *v) {
    fputs(help, stdout);
    o->result = 0;
}

// ---- The language ----

static void set_language(metal_options *o, const char *s, const char *v) {
    bool known = strcmp(v, "metal") == 0 || strcmp(v, "none") == 0;
    if (!known) o->result = tool_error("language not recognized: '%s'", v);
    o->language = strcmp(v, "none") == 0 ? NULL : v;
}

// Of "3.2": 320. 0 if it is none.
static uint32_t read_language_version(const char *text) {
    bool formed = text[0] >= '1' && text[0] <= '4' && text[1] == '.' && text[2] >= '0' && text[2] <= '9' && !text[3];
    uint32_t version = formed ? (uint32_t)(text[0] - '0') * 100 + (uint32_t)(text[2] - '0') * 10 : 0;
    static const uint32_t newest[] = {0, 120, 240, 320, 410};
    return formed && version <= newest[text[0] - '0'] ? version : 0;
}

static void set_standard(metal_options *o, const char *s, const char *v) {
    static const char *const families[] = {"metal", "macos-metal", "ios-metal", "osx-metal", "air"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i]);
        if (strncmp(v, families[i], length) != 0) continue;
        o->language_version = read_language_version(v + length);
        if (o->language_version) return;
    }
    o->result = tool_error("invalid value '%s' in '%s%s'; the newest are metal3.2 and metal4.1", v, s, v);
}

// A system of that version brings this language.
typedef struct system_language {
    unsigned major, minor;
    uint32_t language;
} system_language;

static const system_language mac_languages[] = {{26, 0, 400},  {15, 0, 320},  {14, 0, 310},  {13, 0, 300},
                                                {12, 0, 240},  {11, 0, 230},  {10, 15, 220}, {10, 14, 210},
                                                {10, 13, 200}, {10, 12, 120}, {10, 11, 110}, {0, 0, 110}};
static const system_language phone_languages[] = {{26, 0, 400}, {18, 0, 320}, {17, 0, 310}, {16, 0, 300},
                                                  {15, 0, 240}, {14, 0, 230}, {13, 0, 220}, {12, 0, 210},
                                                  {11, 0, 200}, {10, 0, 120}, {9, 0, 110},  {0, 0, 100}};

static uint32_t language_of(const system_language *languages, const char *version) {
    unsigned major = 0, minor = 0;
    if (sscanf(version, "%u.%u", &major, &minor) < 1) return 0;
    while (languages->major && (major < languages->major || (major == languages->major && minor < languages->minor)))
        languages++;
    return languages->language;
}

static void set_mac_version(metal_options *o, const char *s, const char *v) {
    o->system_version = language_of(mac_languages, v);
    if (!o->system_version) o->result = tool_error("invalid version number in '%s%s'", s, v);
}
static void set_phone_version(metal_options *o, const char *s, const char *v) {
    o->system_version = language_of(phone_languages, v);
    if (!o->system_version) o->result = tool_error("invalid version number in '%s%s'", s, v);
}

// air64-apple-macos14.0, air64-apple-ios17.0-simulator
static void set_target(metal_options *o, const char *s, const char *v) {
    const char *mac = strstr(v, "-macos"), *phone = strstr(v, "-ios");
    const char *system = mac ? mac + 6 : phone ? phone + 4 : NULL;
    if (strncmp(v, "air64", 5) != 0) o->result = tool_error("unknown target triple '%s'", v);
    if (!system) return;
    if (mac && *system == 'x') system++;
    uint32_t language = *system ? language_of(mac ? mac_languages : phone_languages, system) : 0;
    if (language) o->system_version = language;
}

static void set_fast(metal_options *o, const char *s, const char *v) {
    o->math_mode = IG_MATH_FAST;
}
static void set_safe(metal_options *o, const char *s, const char *v) {
    o->math_mode = IG_MATH_SAFE;
}
static void set_math(metal_options *o, const char *s, const char *v) {
    bool safe = strcmp(v, "safe") == 0;
    if (!safe && strcmp(v, "fast") != 0 && strcmp(v, "relaxed") != 0)
        o->result = tool_error("invalid value '%s' in '%s%s'; it is fast, relaxed or safe", v, s, v);
    o->math_mode = safe ? IG_MATH_SAFE : IG_MATH_FAST;
}

// ---- Macros and directories ----

static void remove_define(metal_options *o, const char *name, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < o->define_count; i++) {
        bool same = strncmp(o->defines[i].name, name, length) == 0 && !o->defines[i].name[length];
        if (!same) o->defines[kept++] = o->defines[i];
    }
    o->define_count = kept;
}

static void undefine(metal_options *o, const char *s, const char *v) {
    size_t known = o->define_count;
    remove_define(o, v, strlen(v));
    if (o->define_count == known && strncmp(v, "__", 2) == 0)
        tool_warning("-U%s has no effect: macros that the compiler predefines stay", v);
}

static void define(metal_options *o, const char *s, const char *v) {
    size_t length = strcspn(v, "=");
    if (!length) {
        o->result = tool_error("macro name missing in '-D%s'", v);
        return;
    }
    remove_define(o, v, length);
    char *name = tool_keep(igi_strndup(v, length));
    if (!name || !igi_grow((void **)&o->defines, &o->define_capacity, o->define_count + 1, sizeof *o->defines)) {
        o->result = tool_error("out of memory");
        return;
    }
    o->defines[o->define_count++] = (ig_define){name, v[length] ? v + length + 1 : NULL};
}

static void add_directory(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->include_dirs, v);
}
static void add_system_directory(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->system_dirs, v);
}
static void add_directory_after(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->after_dirs, v);
}
static void add_before(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->before, v);
}

// ---- Passed on, or without effect ----

static void add_style(metal_options *o, const char *s, const char *v) {
    cli_list_add(&o->styles, *v ? tool_keep(igi_format("%s%s", s, v)) : s);
}
// -Wl, -Wp and -Wa are for other programs. Warnings that only Apple's compiler has are not an error with -Werror.
static void add_warning(metal_options *o, const char *s, const char *v) {
    bool other = v[0] && v[1] == ',';
    if (other) o->result = tool_error("unknown argument: '%s%s'", s, v);
    if (other) return;
    if (!o->has_warnings) cli_list_add(&o->styles, "-Wno-unknown-warning-option");
    o->has_warnings = true;
    add_style(o, s, v);
}
static void use_color(metal_options *o, const char *s, const char *v) {
    cli_color_mode = CLI_COLOR_ALWAYS;
}
static void use_no_color(metal_options *o, const char *s, const char *v) {
    cli_color_mode = CLI_COLOR_NEVER;
}
static void ignore(metal_options *o, const char *s, const char *v) {}
static void warn_ignored(metal_options *o, const char *s, const char *v) {
    tool_warning("'%s%s' has no effect here", s, v);
}
static void refuse(metal_options *o, const char *s, const char *v) {
    o->result = tool_error("unsupported option '%s%s'", s, v);
}

typedef enum value_form { NONE, JOINED, NEXT, EITHER } value_form;

// The first that fits counts. JOINED: what follows in the same argument; NEXT: the next argument; EITHER: one of them.
static const struct option {
    const char *spelling;
    value_form form;
    applier *apply;
} table[] = {
    {"-c", NONE, act_object},
    {"-S", NONE, act_text},
    {"-E", NONE, act_preprocess},
    {"-fsyntax-only", NONE, act_check},
    {"-M", NONE, act_dependencies},
    {"-MM", NONE, act_dependencies},
    {"-MD", NONE, act_write_dependencies},
    {"-MMD", NONE, act_write_dependencies},
    {"-MP", NONE, set_phony},
    {"-MF", EITHER, set_dependency_file},
    {"-MT", EITHER, add_target},
    {"-MQ", EITHER, add_quoted_target},
    {"-H", NONE, set_lists_headers},
    {"-o", EITHER, set_output},
    {"-x", EITHER, set_language},
    {"-v", NONE, set_verbose},
    {"-###", NONE, set_dry_run},
    {"--version", NONE, show_version},
    {"-version", NONE, show_version},
    {"--help", NONE, show_help},
    {"-help", NONE, show_help},
    {"-std=", JOINED, set_standard},
    {"--std=", JOINED, set_standard},
    {"-ffast-math", NONE, set_fast},
    {"-fno-fast-math", NONE, set_safe},
    {"-fmetal-math-mode=", JOINED, set_math},
    {"-mmacosx-version-min=", JOINED, set_mac_version},
    {"-mmacos-version-min=", JOINED, set_mac_version},
    {"-miphoneos-version-min=", JOINED, set_phone_version},
    {"-mios-version-min=", JOINED, set_phone_version},
    {"-mios-simulator-version-min=", JOINED, set_phone_version},
    {"-mtvos-version-min=", JOINED, set_phone_version},
    {"--target=", JOINED, set_target},
    {"-target", NEXT, set_target},
    {"-D", EITHER, define},
    {"-U", EITHER, undefine},
    {"-include", NEXT, add_before},
    {"-include-pch", NEXT, refuse},
    {"-isystem", EITHER, add_system_directory},
    {"-iquote", EITHER, add_directory},
    {"-idirafter", EITHER, add_directory_after},
    {"-isysroot", EITHER, ignore},
    {"-iframework", EITHER, ignore},
    {"-I", EITHER, add_directory},
    {"-F", EITHER, ignore},
    // About messages, and about the form of preprocessed text
    {"-W", JOINED, add_warning},
    {"-w", NONE, add_style},
    {"-pedantic-errors", NONE, add_style},
    {"-pedantic", NONE, add_style},
    {"-ferror-limit=", JOINED, add_style},
    {"-P", NONE, add_style},
    {"-CC", NONE, add_style},
    {"-C", NONE, add_style},
    {"-dM", NONE, add_style},
    {"-dD", NONE, add_style},
    {"-dI", NONE, add_style},
    {"-fcolor-diagnostics", NONE, use_color},
    {"-fdiagnostics-color=always", NONE, use_color},
    {"-fdiagnostics-color", NONE, use_color},
    {"-fno-color-diagnostics", NONE, use_no_color},
    {"-fno-diagnostics-color", NONE, use_no_color},
    {"-fdiagnostics-color=", JOINED, ignore},
    {"-fdiagnostics-", JOINED, ignore},
    {"-fno-diagnostics-", JOINED, ignore},
    {"-fcaret-diagnostics", NONE, ignore},
    {"-fmessage-length=", JOINED, ignore},
    {"-fmacro-backtrace-limit=", JOINED, ignore},
    {"-ftemplate-backtrace-limit=", JOINED, ignore},
    {"-serialize-diagnostics", NEXT, ignore},
    {"--serialize-diagnostics", NEXT, ignore},
    // What a library for this machine does not depend on
    {"-O", JOINED, ignore},
    {"-g", JOINED, ignore},
    {"-arch", NEXT, ignore},
    {"-emit-llvm", NONE, ignore},
    {"-frecord-sources", JOINED, ignore},
    {"-fno-record-sources", NONE, ignore},
    {"-fmodules", JOINED, ignore},
    {"-fno-modules", JOINED, ignore},
    {"-fmodule-", JOINED, ignore},
    {"-ftext", JOINED, ignore},
    {"-finline", JOINED, ignore},
    {"-fno-inline", JOINED, ignore},
    {"-fvectorize", NONE, ignore},
    {"-fno-vectorize", NONE, ignore},
    {"-fpreserve-invariance", NONE, ignore},
    {"-fno-preserve-invariance", NONE, ignore},
    {"-fmetal-enable-logging", NONE, ignore},
    {"-fmetal-math-fp32-functions=", JOINED, ignore},
    {"-fdebug-", JOINED, ignore},
    {"-ffile-", JOINED, ignore},
    {"-fmacro-prefix-map=", JOINED, ignore},
    {"-index-store-path", NEXT, ignore},
    {"-index-unit-output-path", NEXT, ignore},
    {"-index-ignore-system-symbols", NONE, ignore},
    {"-gen-cdb-fragment-path", NEXT, ignore},
    {"-MG", NONE, ignore},
    {"-MV", NONE, ignore},
    {"-pipe", NONE, ignore},
    {"-Qunused-arguments", NONE, ignore},
    {"-nostdinc", NONE, ignore},
    {"-ffp-contract=", JOINED, warn_ignored},
    {"-fno-", JOINED, warn_ignored},
    {"-Xclang", NEXT, refuse},
    {"-Xpreprocessor", NEXT, refuse},
    {"-Xlinker", NEXT, refuse},
    {"-dynamiclib", NONE, refuse},
    {"-fcikernel", NONE, refuse},
};
enum { OPTION_COUNT = sizeof table / sizeof *table };

static bool fits(const struct option *option, const char *argument) {
    size_t length = strlen(option->spelling);
    if (option->form == NONE || option->form == NEXT) return strcmp(argument, option->spelling) == 0;
    return strncmp(argument, option->spelling, length) == 0;
}

static const struct option *find_option(const char *argument) {
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (fits(&table[i], argument)) return &table[i];
    return NULL;
}

static void read_option(metal_options *options, const cli_list *arguments, size_t *at) {
    const char *argument = arguments->items[*at];
    const struct option *option = find_option(argument);
    if (!option) {
        options->result = tool_error("unknown argument: '%s'", argument);
        return;
    }
    const char *value = argument + strlen(option->spelling);
    bool next = option->form == NEXT || (option->form == EITHER && !*value);
    if (next && *at + 1 == arguments->count) {
        options->result = tool_error("argument to '%s' is missing (expected 1 value)", argument);
        return;
    }
    option->apply(options, option->spelling, next ? arguments->items[++*at] : value);
}

static void check_options(metal_options *options) {
    if (options->result != CLI_CONTINUE) return;
    bool one_output =
        options->action != METAL_LINK && options->action != METAL_PREPROCESS && options->action != METAL_DEPENDENCIES;
    if (!options->inputs.count && !options->verbose)
        options->result = tool_error("no input files");
    else if (!options->inputs.count)
        options->result = 0;
    else if (options->output && options->inputs.count > 1 && one_output)
        options->result = tool_error("cannot specify -o when generating multiple output files");
}

void metal_read_options(metal_options *options, const cli_list *arguments) {
    *options = (metal_options){.result = CLI_CONTINUE, .math_mode = IG_MATH_FAST};
    for (size_t i = 0; i < arguments->count && options->result == CLI_CONTINUE; i++) {
        bool option = arguments->items[i][0] == '-' && arguments->items[i][1];
        if (option)
            read_option(options, arguments, &i);
        else
            cli_list_add(&options->inputs, arguments->items[i]);
    }
    for (size_t i = 0; i < options->system_dirs.count; i++)
        cli_list_add(&options->include_dirs, options->system_dirs.items[i]);
    for (size_t i = 0; i < options->after_dirs.count; i++)
        cli_list_add(&options->include_dirs, options->after_dirs.items[i]);
    if (!options->language_version)
        options->language_version = options->system_version ? options->system_version : TOOL_LANGUAGE_VERSION;
    check_options(options);
}

void metal_free_options(metal_options *options) {
    cli_list *const lists[] = {&options->inputs, &options->include_dirs, &options->system_dirs, &options->after_dirs,
                               &options->before, &options->styles,       &options->targets};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) cli_list_free(lists[i]);
    free(options->defines);
}
