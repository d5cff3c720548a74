// SPDX-License-Identifier: Apache-2.0
// A progress bar.
#ifndef INGOT_CONSOLE_PROGRESS_H
#define INGOT_CONSOLE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

// A bar on stderr, drawn only on a terminal and at most ten times a second.
typedef struct cli_progress {
    const char *label;
    uint64_t total;
    uint64_t drawn_ns;
    bool shown;
} cli_progress;
void cli_progress_update(cli_progress *progress, uint64_t done);
void cli_progress_end(cli_progress *progress);

#endif
