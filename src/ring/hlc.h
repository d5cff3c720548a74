// SPDX-License-Identifier: Apache-2.0
// Clock functions for callers that have already read the time.
#ifndef INGOT_RING_HLC_H
#define INGOT_RING_HLC_H

#include <ingot/ring.h>

ig_hlc_timestamp igi_ring_hlc_tick_at(ig_hlc *clock, uint64_t now_us);
// The first of `count` new timestamps, whose logical parts are consecutive. pre: count > 0.
ig_hlc_timestamp igi_ring_hlc_tick_many_at(ig_hlc *clock, uint64_t now_us, uint32_t count);
// A timestamp past `horizon_us` is refused, unless the clock has already advanced that far.
ig_status igi_ring_hlc_update_at(ig_hlc *clock, ig_hlc_timestamp received, uint64_t now_us, uint64_t horizon_us,
                                 ig_hlc_timestamp *now);

#endif
