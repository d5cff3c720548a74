// SPDX-License-Identifier: Apache-2.0
// What kernels cost, as a table or as rows of JSON.
#ifndef INGOT_CLI_PROFILE_H
#define INGOT_CLI_PROFILE_H

#include <ingot/device.h>

// The lines that cost most, with their source.
void cli_profile_show_lines(const ig_line_profile *rows, size_t count);
void cli_profile_show(const ig_kernel_profile *rows, size_t count);

#endif
