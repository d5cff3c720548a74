// SPDX-License-Identifier: Apache-2.0
// Function constants in the order of the source.
#ifndef INGOT_MSL_CONSTANT_ORDER_H
#define INGOT_MSL_CONSTANT_ORDER_H

#include <ingot/device.h>

#include "msl/sources.h"

// Sorts them by their declarations; those of a header count where it is included. Constants whose names only a macro
// spells out come last, in their old order. Returns false when memory is short.
bool igi_msl_order_constants(const igi_msl_sources *sources, ig_function_constant_info *constants, size_t count);

#endif
