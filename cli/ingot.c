// SPDX-License-Identifier: Apache-2.0
// The `ingot` command: finds the subcommand and runs it.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "console/output.h"
#include "core/nearest.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *purpose;
} commands[] = {
    {"info", cmd_info, "show the devices of this machine and what they can do"},
    {"compile", cmd_compile, "compile a .metal file and list its kernels"},
    {"run", cmd_run, "run one kernel on arrays"},
    {"check", cmd_check, "run one kernel and report the errors in it"},
    {"compare", cmd_compare, "run the kernels that two libraries share and compare their results"},
    {"replay", cmd_replay, "run a captured dispatch again and compare its results"},
    {"ring", cmd_ring, "launch ring kernels and exchange messages with them"},
    {"halo", cmd_halo, "simulate heat or waves on tiles that exchange their borders"},
    {"generate", cmd_generate, "generate text with a language model from a GGUF file"},
    {"bench", cmd_bench, "measure Ingot and the peers found on this machine"},
    {"selftest", cmd_selftest, "check that everything works on this machine's device"},
    {"demo", cmd_demo, "a tour: the device, a picture, a measurement"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_help(void) {
    const char *bold = cli_escape(stdout, CLI_BOLD), *plain = cli_escape(stdout, CLI_PLAIN);
    printf("%sUsage:%s ingot COMMAND [OPTION...]\n", bold, plain);
    printf("Metal compute for C, with or without a Mac.\n");
    printf("\n%sCommands%s\n", bold, plain);
    for (size_t i = 0; i < COMMAND_COUNT; i++) printf("  %-10s %s\n", commands[i].name, commands[i].purpose);
    printf("\n%sOptions%s\n", bold, plain);
    printf("  -h, --help     show this help; 'ingot help COMMAND' shows a command's\n");
    printf("      --version  show the version\n");
    printf("\n%sExamples%s\n", bold, plain);
    printf("  ingot demo\n");
    printf("  ingot compile saxpy.metal\n");
    printf("  ingot run saxpy.metal --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --print 0\n");
    return CLI_OK;
}

static int print_version(void) {
    printf("ingot %s\n", ig_version());
    return CLI_OK;
}

static int unknown_command(const char *name) {
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    const char *nearest = igi_nearest(name, names, COMMAND_COUNT);
    const char *what = name[0] == '-' ? "option" : "command";
    if (nearest) return cli_usage_error("unknown %s '%s'; did you mean '%s'?", what, name, nearest);
    return cli_usage_error("unknown %s '%s'", what, name);
}

// argv[0] is the command's name.
static int run_command(int argc, char **argv) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[0], commands[i].name) != 0) continue;
        cli_begin_command(argv[0]);
        return commands[i].run(argc, argv);
    }
    return unknown_command(argv[0]);
}

static int run(int argc, char **argv) {
    if (argc < 2) return cli_usage_error("no command given");
    const char *name = argv[1];
    bool help = strcmp(name, "help") == 0;
    if (help && argc > 2) return run_command(2, (char *[]){argv[2], "--help", NULL});
    if (help || strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) return print_help();
    if (strcmp(name, "--version") == 0) return print_version();
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    cli_show_library_log();
    return cli_finish(run(argc, argv));
}
