// SPDX-License-Identifier: Apache-2.0
// ingot-metal-tools: called as metal, metallib, metal-ar, metal-nm, metal-objdump, sw_vers or xcrun, or with that as its
// first argument.
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "core/file.h"
#include "tools.h"

static const struct tool {
    const char *name;
    int (*run)(int, char **);
} tools[] = {
    {"metal", tool_metal},       {"metallib", tool_metallib},           {"metal-ar", tool_metal_ar},
    {"metal-nm", tool_metal_nm}, {"metal-objdump", tool_metal_objdump}, {"sw_vers", tool_sw_vers},
    {"xcrun", tool_xcrun},
};
enum { TOOL_COUNT = sizeof tools / sizeof *tools };

static const struct tool *find(const char *name) {
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (strcmp(tools[i].name, name) == 0) return &tools[i];
    return NULL;
}

// ---- Where they are ----

// Programs are installed in libexec/ingot, and the names of the tools in a directory below it; in a build they are
// together.
const char *tool_directory(void) {
    static char directory[4096];
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return ".";
    program[length] = '\0';
    const char *own = dirname(program);
    snprintf(directory, sizeof directory, "%s/xcode/metal", own);
    bool installed = igi_file_exists(directory);
    snprintf(directory, sizeof directory, "%s%s", own, installed ? "/xcode" : "");
    return directory;
}

// ---- Memory ----

void *tool_keep(void *memory) {
    static void **kept;
    static size_t count, capacity;
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 16;
        kept = cli_realloc(kept, capacity * sizeof *kept);
    }
    return kept[count++] = memory;
}

// ---- Messages ----

static void print(cli_style style, const char *level, const char *format, va_list arguments) {
    const char *plain = cli_escape(stderr, CLI_PLAIN);
    char *text = igi_vformat(format, arguments);
    fprintf(stderr, "%s%s: %s%s%s: %s", cli_escape(stderr, CLI_BOLD), cli_command_name(), plain,
            cli_escape(stderr, style), level, plain);
    cli_write_visible(stderr, text ? text : "", text ? strlen(text) : 0);
    fputc('\n', stderr);
    free(text);
}

int tool_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(CLI_RED, "error", format, arguments);
    va_end(arguments);
    return 1;
}

void tool_warning(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(CLI_YELLOW, "warning", format, arguments);
    va_end(arguments);
}

int tool_report(ig_status status, ig_error *error) {
    tool_error("%s", error->message ? error->message : ig_status_text(status));
    ig_error_clear(error);
    return 1;
}

void tool_print_version(const char *what) {
    printf("Ingot %s version %s, in place of Apple's\nTarget: ingot (metal%d.%d)\nInstalledDir: %s\n", what,
           ig_version(), TOOL_LANGUAGE_VERSION / 100, TOOL_LANGUAGE_VERSION / 10 % 10, tool_directory());
}

int main(int argc, char **argv) {
    const struct tool *tool = argc ? find(basename(argv[0])) : NULL;
    if (!tool && argc > 1 && (tool = find(argv[1]))) argc--, argv++;
    if (!tool) {
        fputs("ingot-metal-tools: call it as metal, metallib, metal-ar, metal-nm, metal-objdump, sw_vers or xcrun\n",
              stderr);
        return 2;
    }
    cli_begin_command(tool->name);
    cli_show_library_log();
    return cli_finish(tool->run(argc, argv));
}
