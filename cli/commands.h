// SPDX-License-Identifier: Apache-2.0
// The commands of `ingot`. Each gets its own name as argv[0] and returns the exit code.
#ifndef INGOT_CLI_COMMANDS_H
#define INGOT_CLI_COMMANDS_H

int cmd_bench(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_halo(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_ring(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_selftest(int argc, char **argv);

#endif
