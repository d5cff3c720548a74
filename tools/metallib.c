// SPDX-License-Identifier: Apache-2.0
// metallib: links the files that `metal -c` wrote into a library.
#include <stdio.h>
#include <string.h>

#include "console/output.h"
#include "files.h"
#include "tools.h"

static const char help[] =
    "usage: metallib [-o FILE.metallib] FILE...\n"
    "\n"
    "Link files that `metal -c` wrote (.air), archives of them (.metalar) and libraries into one library. A name of - "
    "is\n"
    "standard input or output, and @FILE the words in a file. The default output is default.metallib.\n";

typedef struct linking {
    cli_list inputs;
    const char *output;
    int result;  // CLI_CONTINUE, or an exit code
} linking;

// What Apple's knows and what has no meaning here, with the number of values that follow.
static const struct {
    const char *spelling;
    int values;
} ignored[] = {{"-v", 0},    {"-split-module", 0}, {"-split-module-without-linking", 0},
               {"-flto", 0}, {"-sdk", 1},          {"-platform", 1},
               {"-arch", 1}, {"-isysroot", 1},     {"--embed-source", 0}};

static bool skip_ignored(const cli_list *arguments, size_t *at) {
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        if (strcmp(arguments->items[*at], ignored[i].spelling) != 0) continue;
        *at += (size_t)ignored[i].values;
        return true;
    }
    return false;
}

static void read_option(linking *l, const cli_list *arguments, size_t *at) {
    const char *argument = arguments->items[*at];
    if (strcmp(argument, "-o") == 0 && *at + 1 < arguments->count) {
        l->output = arguments->items[++*at];
    } else if (strcmp(argument, "-o") == 0) {
        l->result = tool_error("argument to '-o' is missing (expected 1 value)");
    } else if (strncmp(argument, "-o", 2) == 0) {
        l->output = argument + 2;
    } else if (strcmp(argument, "--version") == 0 || strcmp(argument, "-version") == 0) {
        tool_print_version("metallib");
        l->result = 0;
    } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-help") == 0 || strcmp(argument, "-h") == 0) {
        fputs(help, stdout);
        l->result = 0;
    } else if (!skip_ignored(arguments, at)) {
        l->result = tool_error("unknown argument: '%s'", argument);
    }
}

int tool_metallib(int argc, char **argv) {
    cli_list arguments = {0};
    linking l = {.output = "default.metallib", .result = CLI_CONTINUE};
    tool_units units = {0};
    if (!tool_expand_arguments(argc, argv, &arguments)) return 1;
    for (size_t i = 0; i < arguments.count && l.result == CLI_CONTINUE; i++) {
        bool option = arguments.items[i][0] == '-' && arguments.items[i][1];
        if (option)
            read_option(&l, &arguments, &i);
        else
            cli_list_add(&l.inputs, arguments.items[i]);
    }
    if (l.result == CLI_CONTINUE && !l.inputs.count) l.result = tool_error("no input files");
    bool ok = l.result == CLI_CONTINUE;
    for (size_t i = 0; ok && i < l.inputs.count; i++) ok = tool_read_units(&units, l.inputs.items[i]);
    ok = ok && tool_link(&units, l.output);
    tool_units_free(&units);
    cli_list_free(&arguments), cli_list_free(&l.inputs);
    return l.result != CLI_CONTINUE ? l.result : !ok;
}
