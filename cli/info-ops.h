// SPDX-License-Identifier: Apache-2.0
// ingot info --ops.
#ifndef INGOT_CLI_INFO_OPS_H
#define INGOT_CLI_INFO_OPS_H

#include "console/options.h"

// The table of all ops, or each of `names` in detail. Returns the exit code.
int info_ops(const cli_list *names);

#endif
