// SPDX-License-Identifier: Apache-2.0
// How many threads of a row one group of lanes holds.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

static bool is_lane_operation(LLVMValueRef instruction) {
    const char *name = igi_simt_callee_name(instruction);
    return strncmp(name, "__ig_", 5) == 0 && strcmp(name, "__ig_barrier") != 0;
}

enum { LIGHT_KERNEL = 200 };

bool igi_simt_has_few_registers(void) {
    return igi_simt_is_for_x86() && !strstr(igi_simt_features(), "+avx512f");
}

// Calls for a quick look (checked/quick.h), and the code that finds their objects, are not counted.
static size_t own_instructions(igi_simt_module *m) {
    igi_simt_values pseudos;
    if (!igi_simt_collect(m->thread, igi_simt_is_pseudo, &pseudos)) return SIZE_MAX;
    size_t extra = 2 * pseudos.count, all = igi_simt_instruction_count(m->thread);
    igi_simt_values_free(&pseudos);
    return extra < all ? all - extra : 0;
}

// Two registers for each value hide latencies and read longer runs of memory, as long as there are enough registers.
// Rows of threads must be long enough too; if not known, they are assumed to be short in kernels of several dimensions.
static bool suits_two_registers(igi_simt_module *m) {
    igi_simt_values atomics;
    if (!igi_simt_collect(m->thread, igi_simt_is_one_by_one, &atomics)) return false;
    size_t count = atomics.count;
    igi_simt_values_free(&atomics);
    // Rows that share what they read were chosen for two registers each where there are few.
    if (m->rows > 1) return !count && igi_simt_has_few_registers();
    return !count && own_instructions(m) <= LIGHT_KERNEL;
}

// Many registers for each value, so that a row of threads reads memory in order.
static bool suits_row(igi_simt_module *m, uint32_t row) {
    return m->rows <= 1 && row >= 4 * igi_simt_register_lanes() && (row & (row - 1)) == 0 &&
           own_instructions(m) <= LIGHT_KERNEL && igi_simt_has_striding_loop(m);
}

// As many threads of a row as read a cache line together.
static uint32_t suits_line(igi_simt_module *m, uint32_t row) {
    uint32_t line = m->rows <= 1 && own_instructions(m) <= LIGHT_KERNEL ? igi_simt_lanes_of_line(m) : 0;
    return line && line <= igi_simt_most_lanes() && row % line == 0 ? line : 0;
}

bool igi_simt_has_barrier(const igi_simt_cfg *cfg, uint32_t loop) {
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!igi_simt_cfg_in_loop(cfg, b, loop)) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->blocks[b].block); i; i = LLVMGetNextInstruction(i))
            if (igi_simt_is_barrier(i)) return true;
    }
    return false;
}

// Loops that keep values in registers would run out of them.
static bool waits_in_all_loops(const igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return false;
    bool all = true;
    for (uint32_t i = 0; i < cfg.loop_count && all; i++)
        all = igi_simt_has_barrier(&cfg, i) || igi_simt_is_striding(m, &cfg, i);
    igi_simt_cfg_free(&cfg);
    return all;
}

// Once loops with barriers are unrolled, most masks are known, and need no masked accesses.
static uint32_t most_of_threadgroup(void) {
    return igi_simt_is_for_x86() ? igi_simt_most_lanes() : IGI_MAX_WIDTH;
}

// Many registers for each value, so that a threadgroup with many barriers needs none: it is one group of lanes.
static bool suits_whole_threadgroup(igi_simt_module *m) {
    const uint32_t *size = m->request->group;
    igi_simt_values barriers;
    if (size[0] > most_of_threadgroup() || size[0] % igi_simt_register_lanes() != 0 || size[1] != 1 || size[2] != 1)
        return false;
    if (!igi_simt_collect(m->thread, igi_simt_is_barrier, &barriers)) return false;
    bool waits = barriers.count != 0;
    igi_simt_values_free(&barriers);
    return waits && (size[0] & (size[0] - 1)) == 0 && own_instructions(m) <= LIGHT_KERNEL && waits_in_all_loops(m);
}

static uint32_t longest(uint32_t row) {
    uint32_t most = igi_simt_most_lanes();
    return row < most ? row : most;
}

static bool is_product(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "__ig_mma_", 9) == 0;
}

static bool is_matrix_operation(LLVMValueRef instruction) {
    return is_product(instruction) || strncmp(igi_simt_callee_name(instruction), "__ig_matrix_", 12) == 0;
}

static bool has_any(igi_simt_module *m, bool (*wanted)(LLVMValueRef instruction)) {
    igi_simt_values found;
    bool ok = igi_simt_collect(m->thread, wanted, &found), any = !ok || found.count;
    if (ok) igi_simt_values_free(&found);
    return any;
}

uint32_t igi_simt_register_lanes(void) {
    return strstr(igi_simt_features(), "+avx512f") ? 16 : 8;
}

uint32_t igi_simt_choose_width(igi_simt_module *m) {
    igi_simt_values found;
    if (m->request->width == 1 || !igi_simt_collect(m->thread, is_lane_operation, &found)) return 1;
    size_t lane_operations = found.count;
    igi_simt_values_free(&found);
    m->info.simdgroups = lane_operations != 0;
    m->info.multiplies = lane_operations && has_any(m, is_product);
    uint32_t natural = igi_simt_register_lanes(), row = m->request->group[0], asked = m->request->width;
    if (lane_operations)
        return !asked && suits_row(m, row) && !has_any(m, is_matrix_operation) ? longest(row) : IGI_SIMD_WIDTH;
    if (asked) return asked;
    if (!row) return suits_two_registers(m) && !m->many_dimensions ? 2 * natural : natural;
    if (suits_row(m, row)) return longest(row);
    uint32_t line = suits_line(m, row);
    if (line) return line;
    if (suits_whole_threadgroup(m)) return row;
    if (suits_two_registers(m) && row % (2 * natural) == 0) return 2 * natural;
    for (uint32_t width = natural; width >= 4; width /= 2)
        if (row % width == 0) return width;
    return natural;
}
