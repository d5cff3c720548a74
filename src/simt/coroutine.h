// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other: every barrier and lane operation becomes a suspension.
#ifndef INGOT_SIMT_COROUTINE_H
#define INGOT_SIMT_COROUTINE_H

#include "simt/passes.h"

typedef struct igi_simt_site {
    LLVMValueRef instruction;  // the call; at the end of a loop's body, the latch's terminator
    igi_simt_wait wait;
    igi_simt_lane_op op;
} igi_simt_site;

// In program order: the blocks of a loop before what follows it, so that of several waiting lanes the slowest
// run first.
typedef struct igi_simt_sites {
    igi_simt_site *items;
    size_t count, capacity;
} igi_simt_sites;

ig_status igi_simt_find_sites(igi_simt_module *m, LLVMValueRef function, igi_simt_sites *sites);
void igi_simt_sites_free(igi_simt_sites *sites);

// Makes m->thread a coroutine: "ig.start" and "ig.resume".
ig_status igi_simt_make_coroutine(igi_simt_module *m, const igi_simt_sites *sites);

#endif
