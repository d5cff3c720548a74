// SPDX-License-Identifier: Apache-2.0
// Control-flow graph of one function: reachable blocks, dominators, natural loops and an order that keeps loops whole.
// The LLVM-C API has none of these analyses.
#ifndef INGOT_SIMT_CFG_H
#define INGOT_SIMT_CFG_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/pointer-map.h"

#define IGI_NONE UINT32_MAX

typedef struct igi_simt_block {
    LLVMBasicBlockRef block;
    uint32_t *successors, *predecessors;
    uint32_t successor_count, predecessor_count;
    uint32_t dominator;  // immediate; the entry's own index for the entry
    uint32_t loop;       // innermost loop, IGI_NONE outside
} igi_simt_block;

typedef struct igi_simt_loop {
    uint32_t header, parent;  // parent loop or IGI_NONE
    uint32_t depth;           // 1 for outermost
    uint32_t block_count;     // blocks of inner loops included
} igi_simt_loop;

// Blocks are numbered in reverse post-order; 0 is the entry. Unreachable blocks are left out.
typedef struct igi_simt_cfg {
    igi_simt_block *blocks;
    uint32_t count;
    uint32_t *edges;  // storage of all successor and predecessor lists
    igi_simt_loop *loops;
    uint32_t loop_count;
    uint32_t *order;  // topological except for back edges, with the blocks of a loop contiguous
    bool irreducible;
    igi_pointer_map index;
} igi_simt_cfg;

// Returns false when memory is short.
bool igi_simt_cfg_build(LLVMValueRef function, igi_simt_cfg *cfg);
void igi_simt_cfg_free(igi_simt_cfg *cfg);
uint32_t igi_simt_cfg_index(const igi_simt_cfg *cfg, LLVMBasicBlockRef block);  // IGI_NONE if unreachable
bool igi_simt_cfg_dominates(const igi_simt_cfg *cfg, uint32_t a, uint32_t b);
bool igi_simt_cfg_in_loop(const igi_simt_cfg *cfg, uint32_t block, uint32_t loop);
// Whether it is an edge back to the header of a loop that contains it.
bool igi_simt_cfg_is_back_edge(const igi_simt_cfg *cfg, uint32_t from, uint32_t to);

#endif
