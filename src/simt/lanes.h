// SPDX-License-Identifier: Apache-2.0
// Lane operations for threads that run one at a time: the reference for every wider form.
#ifndef INGOT_SIMT_LANES_H
#define INGOT_SIMT_LANES_H

#include "simt/launch.h"

// Executes the operation for the `count` lanes in `lanes`, of which those in the mask `active` take part. All wait for
// the same operation at the same site. Lane numbers are positions in the simdgroup.
void igi_simt_lanes_answer(igi_simt_lane *lanes, uint32_t count, uint32_t active);

#endif
