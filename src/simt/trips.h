// SPDX-License-Identifier: Apache-2.0
// How often a loop goes round, as far as that can be proved.
#ifndef INGOT_SIMT_TRIPS_H
#define INGOT_SIMT_TRIPS_H

#include "simt/cfg.h"

// At most so many rounds, never more than `limit`; 0 when that cannot be shown.
uint64_t igi_simt_trips(const igi_cfg *cfg, uint32_t loop, uint64_t limit);

#endif
