// SPDX-License-Identifier: Apache-2.0
// Control-flow analyses: Cooper, Harvey and Kennedy's dominators; natural loops; a loop-contiguous order.
#include "simt/cfg.h"

#include <string.h>

#include "core/memory.h"

// ---- Numbering and edges ----

typedef struct walk {
    LLVMBasicBlockRef block;
    unsigned next;  // successor to visit next
} walk;

static unsigned successor_count(LLVMBasicBlockRef block) {
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
    return terminator ? LLVMGetNumSuccessors(terminator) : 0;
}

// Depth-first; blocks[] is filled from the end, which makes it reverse post-order.
static bool number_blocks(LLVMValueRef function, igi_simt_cfg *cfg) {
    uint32_t total = LLVMCountBasicBlocks(function), left = total, depth = 0;
    walk *stack = igi_alloc(total * sizeof *stack);
    LLVMBasicBlockRef *post = igi_alloc(total * sizeof *post);
    bool ok = stack && post;
    LLVMBasicBlockRef entry = ok ? LLVMGetEntryBasicBlock(function) : NULL;
    ok = ok && igi_map_set(&cfg->index, entry, 0);
    if (ok) stack[depth++] = (walk){entry, 0};
    while (ok && depth) {
        walk *top = &stack[depth - 1];
        if (top->next == successor_count(top->block)) {
            post[--left] = top->block;
            depth--;
            continue;
        }
        LLVMBasicBlockRef to = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(top->block), top->next++);
        uint32_t seen;
        if (igi_map_get(&cfg->index, to, &seen)) continue;
        ok = igi_map_set(&cfg->index, to, 0);
        stack[depth++] = (walk){to, 0};
    }
    cfg->count = ok ? total - left : 0;
    cfg->blocks = ok ? igi_calloc(cfg->count, sizeof *cfg->blocks) : NULL;
    ok = ok && cfg->blocks;
    for (uint32_t i = 0; ok && i < cfg->count; i++) {
        cfg->blocks[i] = (igi_simt_block){.block = post[left + i], .dominator = IGI_NONE, .loop = IGI_NONE};
        ok = igi_map_set(&cfg->index, post[left + i], i);
    }
    free(stack), free(post);
    return ok;
}

uint32_t igi_simt_cfg_index(const igi_simt_cfg *cfg, LLVMBasicBlockRef block) {
    uint32_t index;
    return igi_map_get(&cfg->index, block, &index) ? index : IGI_NONE;
}

static bool link_blocks(igi_simt_cfg *cfg) {
    size_t total = 0;
    for (uint32_t i = 0; i < cfg->count; i++) total += successor_count(cfg->blocks[i].block);
    cfg->edges = igi_alloc(2 * total * sizeof *cfg->edges);
    if (!cfg->edges) return false;
    uint32_t *free_edge = cfg->edges;
    for (uint32_t i = 0; i < cfg->count; i++) {
        igi_simt_block *block = &cfg->blocks[i];
        block->successor_count = successor_count(block->block);
        block->successors = free_edge;
        free_edge += block->successor_count;
        for (uint32_t k = 0; k < block->successor_count; k++) {
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block->block);
            block->successors[k] = igi_simt_cfg_index(cfg, LLVMGetSuccessor(terminator, k));
            cfg->blocks[block->successors[k]].predecessor_count++;
        }
    }
    for (uint32_t i = 0; i < cfg->count; i++) {
        cfg->blocks[i].predecessors = free_edge;
        free_edge += cfg->blocks[i].predecessor_count;
        cfg->blocks[i].predecessor_count = 0;
    }
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t k = 0; k < cfg->blocks[i].successor_count; k++) {
            igi_simt_block *to = &cfg->blocks[cfg->blocks[i].successors[k]];
            to->predecessors[to->predecessor_count++] = i;
        }
    return true;
}

// ---- Dominators ----

static uint32_t intersect(const igi_simt_cfg *cfg, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b) a = cfg->blocks[a].dominator;
        while (b > a) b = cfg->blocks[b].dominator;
    }
    return a;
}

static void find_dominators(igi_simt_cfg *cfg) {
    cfg->blocks[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < cfg->count; i++) {
            igi_simt_block *block = &cfg->blocks[i];
            uint32_t dominator = IGI_NONE;
            for (uint32_t k = 0; k < block->predecessor_count; k++) {
                uint32_t from = block->predecessors[k];
                if (cfg->blocks[from].dominator == IGI_NONE) continue;
                dominator = dominator == IGI_NONE ? from : intersect(cfg, from, dominator);
            }
            if (block->dominator != dominator) changed = true;
            block->dominator = dominator;
        }
    }
}

bool igi_simt_cfg_dominates(const igi_simt_cfg *cfg, uint32_t a, uint32_t b) {
    while (b > a) b = cfg->blocks[b].dominator;
    return a == b;
}

// ---- Loops ----

bool igi_simt_cfg_is_back_edge(const igi_simt_cfg *cfg, uint32_t from, uint32_t to) {
    return to <= from && igi_simt_cfg_dominates(cfg, to, from);
}

bool igi_simt_cfg_in_loop(const igi_simt_cfg *cfg, uint32_t block, uint32_t loop) {
    uint32_t at = cfg->blocks[block].loop;
    while (at != IGI_NONE && at != loop) at = cfg->loops[at].parent;
    return at == loop;
}

static uint32_t outermost_before(const igi_simt_cfg *cfg, uint32_t block, uint32_t loop) {
    uint32_t at = cfg->blocks[block].loop;
    while (cfg->loops[at].parent != IGI_NONE && cfg->loops[at].parent != loop && at != loop) at = cfg->loops[at].parent;
    return at;
}

// Walks back from the latches. Inner loops were found before, because headers are visited from the last to the first.
static void fill_loop(igi_simt_cfg *cfg, uint32_t loop, uint32_t *stack) {
    uint32_t header = cfg->loops[loop].header, depth = 0;
    const igi_simt_block *head = &cfg->blocks[header];
    for (uint32_t k = 0; k < head->predecessor_count; k++)
        if (igi_simt_cfg_is_back_edge(cfg, head->predecessors[k], header)) stack[depth++] = head->predecessors[k];
    while (depth) {
        uint32_t block = stack[--depth];
        uint32_t entry = block;  // of the walk further back
        if (igi_simt_cfg_in_loop(cfg, block, loop)) continue;
        if (cfg->blocks[block].loop == IGI_NONE) {
            cfg->blocks[block].loop = loop;
        } else {
            uint32_t inner = outermost_before(cfg, block, loop);
            cfg->loops[inner].parent = loop;
            entry = cfg->loops[inner].header;
        }
        if (block == header) continue;
        const igi_simt_block *at = &cfg->blocks[entry];
        for (uint32_t k = 0; k < at->predecessor_count && entry != header; k++)
            if (!igi_simt_cfg_is_back_edge(cfg, at->predecessors[k], entry)) stack[depth++] = at->predecessors[k];
    }
}

static bool has_back_edge(const igi_simt_cfg *cfg, uint32_t header) {
    const igi_simt_block *block = &cfg->blocks[header];
    for (uint32_t k = 0; k < block->predecessor_count; k++)
        if (igi_simt_cfg_is_back_edge(cfg, block->predecessors[k], header)) return true;
    return false;
}

static void measure_loops(igi_simt_cfg *cfg) {
    for (uint32_t i = cfg->loop_count; i-- > 0;) {
        uint32_t parent = cfg->loops[i].parent;
        cfg->loops[i].depth = parent == IGI_NONE ? 1 : cfg->loops[parent].depth + 1;
    }
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t at = cfg->blocks[i].loop; at != IGI_NONE; at = cfg->loops[at].parent)
            cfg->loops[at].block_count++;
}

static bool find_loops(igi_simt_cfg *cfg) {
    size_t edges = 0;
    uint32_t headers = 0;
    for (uint32_t i = 0; i < cfg->count; i++) {
        edges += cfg->blocks[i].predecessor_count;
        headers += has_back_edge(cfg, i);
    }
    uint32_t *stack = igi_alloc((edges + 1) * 2 * sizeof *stack);
    cfg->loops = igi_alloc(headers * sizeof *cfg->loops);
    if (!stack || !cfg->loops) {
        free(stack);
        return false;
    }
    for (uint32_t i = cfg->count; i-- > 0;) {
        if (!has_back_edge(cfg, i)) continue;
        uint32_t loop = cfg->loop_count++;
        cfg->loops[loop] = (igi_simt_loop){.header = i, .parent = IGI_NONE};
        fill_loop(cfg, loop, stack);
    }
    measure_loops(cfg);
    free(stack);
    return true;
}

static void find_irreducible(igi_simt_cfg *cfg) {
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t k = 0; k < cfg->blocks[i].successor_count; k++) {
            uint32_t to = cfg->blocks[i].successors[k];
            if (to <= i && !igi_simt_cfg_dominates(cfg, to, i)) cfg->irreducible = true;
        }
}

// ---- Order ----

// Kahn's algorithm; once a loop's header is placed, only its blocks are taken until all of them are placed.
static bool order_blocks(igi_simt_cfg *cfg) {
    uint32_t *waits = igi_calloc(cfg->count, sizeof *waits);
    uint32_t *left = igi_calloc(cfg->loop_count, sizeof *left);
    bool *done = igi_calloc(cfg->count, sizeof *done);
    cfg->order = igi_alloc(cfg->count * sizeof *cfg->order);
    bool ok = waits && left && done && cfg->order;
    for (uint32_t i = 0; ok && i < cfg->count; i++)
        for (uint32_t k = 0; k < cfg->blocks[i].predecessor_count; k++)
            waits[i] += !igi_simt_cfg_is_back_edge(cfg, cfg->blocks[i].predecessors[k], i);
    for (uint32_t i = 0; ok && i < cfg->loop_count; i++) left[i] = cfg->loops[i].block_count;
    uint32_t open = IGI_NONE, first = 0;
    for (uint32_t n = 0; ok && n < cfg->count; n++) {
        while (open != IGI_NONE && left[open] == 0) open = cfg->loops[open].parent;
        while (first < cfg->count && done[first]) first++;
        uint32_t chosen = IGI_NONE;
        for (uint32_t i = first; i < cfg->count && chosen == IGI_NONE; i++)
            if (!done[i] && waits[i] == 0 && (open == IGI_NONE || igi_simt_cfg_in_loop(cfg, i, open))) chosen = i;
        if (chosen == IGI_NONE) chosen = first;  // irreducible: any order will do
        done[chosen] = true;
        cfg->order[n] = chosen;
        for (uint32_t at = cfg->blocks[chosen].loop; at != IGI_NONE; at = cfg->loops[at].parent) left[at]--;
        if (cfg->blocks[chosen].loop != IGI_NONE) open = cfg->blocks[chosen].loop;
        for (uint32_t k = 0; k < cfg->blocks[chosen].successor_count; k++) {
            uint32_t to = cfg->blocks[chosen].successors[k];
            if (!igi_simt_cfg_is_back_edge(cfg, chosen, to)) waits[to]--;
        }
    }
    free(waits), free(left), free(done);
    return ok;
}

bool igi_simt_cfg_build(LLVMValueRef function, igi_simt_cfg *cfg) {
    *cfg = (igi_simt_cfg){0};
    bool ok = number_blocks(function, cfg) && link_blocks(cfg);
    if (ok) {
        find_dominators(cfg);
        find_irreducible(cfg);
        ok = find_loops(cfg) && order_blocks(cfg);
    }
    if (!ok) igi_simt_cfg_free(cfg);
    return ok;
}

void igi_simt_cfg_free(igi_simt_cfg *cfg) {
    free(cfg->blocks), free(cfg->edges), free(cfg->loops), free(cfg->order);
    igi_map_free(&cfg->index);
    *cfg = (igi_simt_cfg){0};
}
