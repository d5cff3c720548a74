// SPDX-License-Identifier: Apache-2.0
// The progress bar.
#include "console/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"

void cli_progress_update(cli_progress *progress, uint64_t done) {
    enum { BAR = 24, INTERVAL_NS = 100000000 };
    uint64_t now = igi_now_ns();
    if (now - progress->drawn_ns < INTERVAL_NS || !isatty(fileno(stderr)) || progress->total == 0) return;
    progress->drawn_ns = now;
    progress->shown = true;
    int filled = (int)(done * BAR / progress->total);
    fprintf(stderr, "\r%s [%.*s%*s] %llu/%llu", progress->label, filled, "########################", BAR - filled, "",
            (unsigned long long)done, (unsigned long long)progress->total);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
