// SPDX-License-Identifier: Apache-2.0
// sw_vers: the system that is stood in for, which build systems ask about before they look for an SDK.
#include <stdio.h>
#include <string.h>

#include "tools.h"

static const char help[] =
    "usage: sw_vers [--productName | --productVersion | --buildVersion]\n"
    "\n"
    "Print the version of macOS whose API libMetal follows.\n";

static const struct {
    const char *label, *option, *value;
} facts[] = {
    {"ProductName:", "--productName", "macOS"},
    {"ProductVersion:", "--productVersion", TOOL_SDK_VERSION},
    {"BuildVersion:", "--buildVersion", "ingot"},
};
enum { FACT_COUNT = sizeof facts / sizeof *facts };

// With one dash or two.
static bool is(const char *argument, const char *option) {
    return strcmp(argument, option) == 0 || strcmp(argument, option + 1) == 0;
}

static int print_fact(const char *option) {
    for (size_t i = 0; i < FACT_COUNT; i++)
        if (is(option, facts[i].option)) return puts(facts[i].value) < 0;
    return tool_error("unrecognized option '%s'; see sw_vers --help", option);
}

int tool_sw_vers(int argc, char **argv) {
    if (argc > 2) return tool_error("one option at most");
    if (argc == 2 && is(argv[1], "--help")) return fputs(help, stdout) < 0;
    if (argc == 2) return print_fact(argv[1]);
    for (size_t i = 0; i < FACT_COUNT; i++) printf("%s\t\t%s\n", facts[i].label, facts[i].value);
    return 0;
}
