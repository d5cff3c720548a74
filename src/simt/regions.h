// SPDX-License-Identifier: Apache-2.0
// Barriers of a widened function: it is cut there, and the whole threadgroup runs one piece before the next begins.
#ifndef INGOT_SIMT_REGIONS_H
#define INGOT_SIMT_REGIONS_H

#include "simt/passes.h"

// What a widened function returns when its lanes have returned; otherwise the number of the barrier they wait at.
#define IGI_REGION_DONE UINT32_MAX

typedef struct igi_simt_regions {
    uint32_t count;          // barriers; region 0 begins at the entry, region k after barrier k
    uint64_t context_bytes;  // what a group of lanes keeps between two regions
    uint64_t array_bytes;    // and of its private arrays
} igi_simt_regions;

// Rewrites `function`, i32 (group, x, y, z, context, at, arrays): it goes on at region `at`, runs to the next barrier
// or to its end, and says which. Values that outlive a barrier are kept in `context`, or made again where that is
// cheap. Private arrays are kept in `arrays`, far away from them: a kernel may write past an array, but not over
// pointers. pre: widened. post: without barriers the function is unchanged and `at` ignored.
ig_status igi_simt_split_regions(igi_simt_module *m, LLVMValueRef function, igi_simt_regions *regions);

// "ig.run": all lanes of a threadgroup, region by region. `function` is wide[1] where a group of lanes is full and
// wide[0] where not, or the thread function when there is no wide one.
void igi_simt_build_run(igi_simt_module *m, const igi_simt_regions *regions);

#endif
