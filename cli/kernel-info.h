// SPDX-License-Identifier: Apache-2.0
// A kernel, or another function, and its arguments, as ingot compile and ingot info show them.
#ifndef INGOT_CLI_KERNEL_INFO_H
#define INGOT_CLI_KERNEL_INFO_H

#include <ingot/device.h>

void cli_print_kernel(const ig_kernel_info *kernel);
void cli_put_kernel(const ig_kernel_info *kernel);
// A visible function, which has no arguments of its own.
void cli_print_visible(const char *name);
void cli_put_visible(const char *name);

#endif
