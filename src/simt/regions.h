// SPDX-License-Identifier: Apache-2.0
// Barriers of a widened function: it is cut there, and the whole threadgroup runs one piece before the next begins.
#ifndef INGOT_SIMT_REGIONS_H
#define INGOT_SIMT_REGIONS_H

#include "simt/passes.h"

// What a widened function returns if its lanes have returned; otherwise it returns the number of the barrier at which
// they wait.
#define IGI_REGION_DONE UINT32_MAX

typedef struct igi_simt_regions {
    uint32_t count;          // barriers; region 0 begins at the entry, region k after barrier k
    uint64_t context_bytes;  // what a group of lanes saves between two regions
    uint64_t array_bytes;    // of its private arrays
} igi_simt_regions;

// Rewrites `function`, i32 (group, x, y, z, context, at, arrays): it continues at region `at`, runs to the next barrier
// or to its end, and returns which. Values that outlive a barrier are kept in `context`, or recomputed if that is
// cheap. Private arrays are kept in `arrays`, far away from them: a kernel may write past an array, but must not
// overwrite pointers. pre: widened. post: without barriers the function is unchanged and `at` is ignored.
ig_status igi_simt_split_regions(igi_simt_module *m, LLVMValueRef function, igi_simt_regions *regions);

// "ig.run": all lanes of a threadgroup, region by region. It calls wide[1] for full groups of lanes and wide[0] for
// others, or the thread function if there is no wide one.
void igi_simt_build_run(igi_simt_module *m, const igi_simt_regions *regions);

#endif
