// SPDX-License-Identifier: Apache-2.0
// The trip count of a loop, as far as it can be proved.
#ifndef INGOT_SIMT_TRIPS_H
#define INGOT_SIMT_TRIPS_H

#include "simt/cfg.h"

// An upper bound on the number of iterations, at most `limit`; 0 if none can be proved.
uint64_t igi_simt_trips(const igi_simt_cfg *cfg, uint32_t loop, uint64_t limit);

#endif
