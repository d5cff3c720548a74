// SPDX-License-Identifier: Apache-2.0
// metal-nm: the functions of files that `metal` and `metallib` wrote, as nm lists them.
#include <stdio.h>
#include <string.h>

#include "console/output.h"
#include "files.h"
#include "tools.h"

static const char help[] =
    "usage: metal-nm [-j] [-u] FILE...\n"
    "\n"
    "List the kernels and visible functions of .air, .metallib and .metalar files.\n"
    "\n"
    "  -j    names only\n"
    "  -u    undefined symbols, of which there are none\n"
    "\n"
    "-a, -g, -n, -p, -U and --defined-only are accepted: every function is defined and external.\n";

typedef struct listing {
    cli_list files;
    bool names_only, undefined;
    int result;
} listing;

static void read_option(listing *l, const char *option) {
    if (strcmp(option, "-j") == 0 || strcmp(option, "--just-symbol-name") == 0) {
        l->names_only = true;
    } else if (strcmp(option, "-u") == 0 || strcmp(option, "--undefined-only") == 0) {
        l->undefined = true;
    } else if (strcmp(option, "--version") == 0) {
        tool_print_version("metal-nm");
        l->result = 0;
    } else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        fputs(help, stdout);
        l->result = 0;
    } else if (strspn(option + 1, "agnpUj") == strlen(option + 1)) {
        l->names_only = l->names_only || strchr(option, 'j');
    } else if (strcmp(option, "--defined-only") != 0 && strcmp(option, "--extern-only") != 0) {
        l->result = tool_error("unknown argument '%s'", option);
    }
}

static void list_unit(const listing *l, const igi_msl_unit *unit) {
    for (size_t i = 0; i < unit->symbol_count && !l->undefined; i++) {
        const char *name = cli_visible(unit->symbols[i].name);
        if (l->names_only)
            puts(name);
        else
            printf("---------------- T %s\n", name);
    }
}

static bool list_file(const listing *l, const char *path) {
    tool_units units = {0};
    bool ok = tool_read_units(&units, path);
    for (size_t i = 0; ok && i < units.count; i++) {
        bool starts = i == 0 || units.items[i].file != units.items[i - 1].file;
        bool member = strcmp(path, "-") != 0 && strcmp(units.items[i].file, path) != 0;
        if (starts && (l->files.count > 1 || member))
            printf("%s%s:\n", i || l->files.items[0] != path ? "\n" : "", cli_visible(units.items[i].file));
        list_unit(l, &units.items[i].unit);
    }
    tool_units_free(&units);
    return ok;
}

int tool_metal_nm(int argc, char **argv) {
    cli_list arguments = {0};
    listing l = {.result = CLI_CONTINUE};
    if (!tool_expand_arguments(argc, argv, &arguments)) return 1;
    for (size_t i = 0; i < arguments.count && l.result == CLI_CONTINUE; i++) {
        if (arguments.items[i][0] == '-' && arguments.items[i][1])
            read_option(&l, arguments.items[i]);
        else
            cli_list_add(&l.files, arguments.items[i]);
    }
    if (l.result == CLI_CONTINUE && !l.files.count) l.result = tool_error("no input files");
    bool ok = true;
    for (size_t i = 0; l.result == CLI_CONTINUE && i < l.files.count; i++) ok = list_file(&l, l.files.items[i]) && ok;
    cli_list_free(&arguments), cli_list_free(&l.files);
    return l.result != CLI_CONTINUE ? l.result : !ok;
}
