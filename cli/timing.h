// SPDX-License-Identifier: Apache-2.0
// Best, median and spread of repeated measurements.
#ifndef INGOT_CLI_TIMING_H
#define INGOT_CLI_TIMING_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_timing {
    size_t runs;
    double best_ns, median_ns;
    double spread;  // width of the middle 80 % of the runs, relative to the median
} cli_timing;

// Sorts the measurements. pre: runs > 0.
cli_timing cli_timing_of(uint64_t *nanoseconds, size_t runs);

#endif
