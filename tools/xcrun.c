// SPDX-License-Identifier: Apache-2.0
// xcrun: finds and runs the tools. There is no SDK of Apple's: its place is the root of this machine, so that compilers
// that get it as their -isysroot find this machine's headers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "core/file.h"
#include "tools.h"

static const char help[] =
    "usage: xcrun [-sdk NAME] [--find] TOOL [ARGUMENT...]\n"
    "       xcrun [-sdk NAME] --show-sdk-path | --show-sdk-version\n"
    "\n"
    "Run Ingot's metal, metallib, metal-ar, metal-nm or metal-objdump, or any program of PATH.\n"
    "\n"
    "  -f, --find TOOL    print where it is\n"
    "  -r, --run TOOL     run it (the default)\n"
    "  -sdk, --sdk NAME   macosx, iphoneos, ...: the SDK that is asked about; it has no effect on tools\n"
    "  -l, --log          print the command that is run\n"
    "  --show-sdk-path, --show-sdk-version, --show-sdk-build-version,\n"
    "  --show-sdk-platform-path, --show-sdk-platform-version, --show-toolchain-path\n"
    "  -v, -n, -k, --verbose, --no-cache, --kill-cache, --toolchain NAME    accepted\n";

// What Apple's returns for a tool or an SDK that it does not find.
enum { NOT_FOUND = 72 };

typedef struct xcrun_options {
    const char *sdk;
    bool finds, logs;
    int result;
} xcrun_options;

// With one dash or two.
static bool is(const char *argument, const char *letter, const char *word) {
    return strcmp(argument, letter) == 0 || strcmp(argument, word) == 0 || strcmp(argument, word + 1) == 0;
}

// ---- The SDK ----

static bool is_sdk(const char *name) {
    static const char *const names[] = {"macosx",           "iphoneos", "iphonesimulator", "appletvos",
                                        "appletvsimulator", "watchos",  "watchsimulator",  "xros",
                                        "xrsimulator",      "driverkit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        bool same = strncmp(name, names[i], length) == 0;
        if (same && strspn(name + length, "0123456789.") == strlen(name + length)) return true;
    }
    return name[0] == '/';
}

static const struct {
    const char *option, *answer;
} answers[] = {
    {"--show-sdk-path", "/"},
    {"--show-sdk-version", TOOL_SDK_VERSION},
    {"--show-sdk-build-version", "ingot"},
    {"--show-sdk-platform-path", "/"},
    {"--show-sdk-platform-version", TOOL_SDK_VERSION},
};

// "macosx14.2" is version 14.2.
static void answer(const xcrun_options *options, const char *text) {
    const char *digits = options->sdk ? strpbrk(options->sdk, "0123456789") : NULL;
    bool named = digits && options->sdk[0] != '/' && strcmp(text, TOOL_SDK_VERSION) == 0;
    puts(named ? digits : text);
}

static bool show(xcrun_options *options, const char *option) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (!is(option, "", answers[i].option)) continue;
        answer(options, answers[i].answer);
        options->result = 0;
        return true;
    }
    return false;
}

// ---- Tools ----

// In the directory of the tools, else in PATH. owns: the process keeps it; NULL: there is none.
static const char *find_tool(const char *name) {
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    if (!*name || !path) return NULL;
    char *own = *path ? tool_keep(igi_path_join(tool_directory(), name)) : NULL;
    if (own && access(own, X_OK) == 0) return own;
    if (!*path) return access(name, X_OK) == 0 ? name : NULL;
    while (*path) {
        size_t length = strcspn(path, ":");
        char *file = tool_keep(igi_format("%.*s/%s", length ? (int)length : 1, length ? path : ".", name));
        if (file && access(file, X_OK) == 0) return file;
        path += length + (path[length] == ':');
    }
    return NULL;
}

static int run(const xcrun_options *options, char **command) {
    const char *tool = find_tool(command[0]);
    if (!tool) {
        tool_error("unable to find utility \"%s\", not a developer tool or in PATH", command[0]);
        return NOT_FOUND;
    }
    if (options->finds) {
        puts(cli_visible(tool));
        return 0;
    }
    for (char **word = command; options->logs && *word; word++)
        fprintf(stderr, "%s%s", word == command ? tool : cli_visible(*word), word[1] ? " " : "\n");
    fflush(stdout);
    execv(tool, command);
    tool_error("cannot run %s: %s", tool, strerror(errno));
    return NOT_FOUND;
}

// ---- Options ----

// Returns the number of arguments that belong to it.
static int read_option(xcrun_options *options, char **argument) {
    const char *option = argument[0];
    if (is(option, "", "--sdk") || is(option, "", "--toolchain")) {
        if (!argument[1]) options->result = tool_error("%s needs a name", option);
        if (argument[1] && is(option, "", "--sdk")) options->sdk = argument[1];
        return 2;
    }
    if (is(option, "-f", "--find")) {
        options->finds = true;
    } else if (is(option, "-l", "--log")) {
        options->logs = true;
    } else if (is(option, "-h", "--help")) {
        fputs(help, stdout);
        options->result = 0;
    } else if (is(option, "", "--version")) {
        printf("xcrun version %s of Ingot, in place of Apple's\n", ig_version());
        options->result = 0;
    } else if (is(option, "", "--show-toolchain-path")) {
        puts(tool_directory());
        options->result = 0;
    } else if (!is(option, "-r", "--run") && !is(option, "-v", "--verbose") && !is(option, "-n", "--no-cache") &&
               !is(option, "-k", "--kill-cache")) {
        if (!show(options, option)) options->result = tool_error("unrecognized option '%s'", option);
    }
    return 1;
}

static int check_sdk(const xcrun_options *options) {
    if (!options->sdk || is_sdk(options->sdk)) return CLI_CONTINUE;
    tool_error("SDK \"%s\" cannot be located", options->sdk);
    return NOT_FOUND;
}

// An SDK may be named after the question about it.
static int read_sdk(int argc, char **argv, xcrun_options *options) {
    const char *variable = getenv("SDKROOT");
    if (variable && *variable) options->sdk = variable;
    for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i++)
        if (is(argv[i], "", "--sdk")) options->sdk = argv[++i];
    return check_sdk(options);
}

int tool_xcrun(int argc, char **argv) {
    xcrun_options options = {.result = CLI_CONTINUE};
    int at = 1;
    options.result = read_sdk(argc, argv, &options);
    while (options.result == CLI_CONTINUE && at < argc && argv[at][0] == '-') at += read_option(&options, &argv[at]);
    if (options.result != CLI_CONTINUE) return options.result;
    if (at >= argc) {
        tool_error("no tool was named; see xcrun --help");
        return 64;
    }
    return run(&options, &argv[at]);
}
