// SPDX-License-Identifier: Apache-2.0
// Halo exchange: defaults, checks, and which tiles belong to this process.
#include <inttypes.h>
#include <string.h>

#include "halo/halo-internal.h"

static const char axis_names[] = "xyz";

// ---- Defaults and checks ----

static ig_size or_default(ig_size size, uint64_t x, uint64_t y) {
    if (size.x == 0) return (ig_size){x, y, 1};
    return (ig_size){size.x, size.y ? size.y : 1, size.z ? size.z : 1};
}

static ig_size to_size(const uint64_t values[IGI_HALO_AXES]) {
    return (ig_size){values[0], values[1], values[2]};
}

static ig_status refuse_axis(ig_error *error, const char *what, char axis, uint64_t value, const char *why,
                             uint64_t limit) {
    return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "%s.%c is %" PRIu64 ", %s %" PRIu64, what, axis, value, why,
                         limit);
}

static ig_status check_axis(const igi_halo_axis *axis, uint32_t index, uint32_t dimensions, ig_error *error) {
    static const char flat[] = "but must be 1 where the dimensions are";
    char name = axis_names[index];
    if (index >= dimensions && axis->grid != 1) return refuse_axis(error, "grid", name, axis->grid, flat, dimensions);
    if (index >= dimensions && axis->tile != 1) return refuse_axis(error, "tile", name, axis->tile, flat, dimensions);
    if (axis->halo > axis->tile)
        return refuse_axis(error, "tile", name, axis->tile, "less than the halo of", axis->halo);
    if (axis->tile > INT32_MAX) return refuse_axis(error, "tile", name, axis->tile, "more than", INT32_MAX);
    if (axis->grid > INT32_MAX) return refuse_axis(error, "grid", name, axis->grid, "more than", INT32_MAX);
    return IG_STATUS_OK;
}

static ig_status check_numbers(const ig_halo_config *config, ig_error *error) {
    if (config->dimensions != 0 && config->dimensions != 2 && config->dimensions != 3)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "dimensions is %u; it can be 2 or 3",
                             config->dimensions);
    if (config->fields > IG_HALO_MAX_FIELDS)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "fields is %u; at most %d are possible", config->fields,
                             IG_HALO_MAX_FIELDS);
    if (config->element_bytes > (UINT32_C(1) << 20))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "element_bytes is %u; it can be up to 1 MiB",
                             config->element_bytes);
    if ((unsigned)config->neighbours > IG_NEIGHBOURS_ALL)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "neighbours is %d, which is not a valid value",
                             (int)config->neighbours);
    return IG_STATUS_OK;
}

static ig_status read_axes(const ig_halo_config *config, uint32_t dimensions, igi_halo_plan *plan, ig_error *error) {
    ig_size grid = or_default(config->grid, 4, 4), tile = or_default(config->tile, 64, 64);
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        igi_halo_axis *axis = &plan->axes[i];
        *axis = (igi_halo_axis){
            .grid = igi_halo_along(grid, i), .tile = igi_halo_along(tile, i), .periodic = config->periodic[i]};
        axis->halo = i >= dimensions ? 0 : config->halo ? config->halo : 1;
        ig_status status = check_axis(axis, i, dimensions, error);
        if (status != IG_STATUS_OK) return status;
    }
    return IG_STATUS_OK;
}

// ---- Blocks of tiles for each process ----

// The number of cells on the borders between processes in this arrangement.
static double border(const igi_halo_plan *plan, const uint64_t ranks[IGI_HALO_AXES]) {
    double cells = 0;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        double face = (double)(ranks[i] - (plan->axes[i].periodic && ranks[i] > 1 ? 0 : 1));
        for (uint32_t k = 0; k < IGI_HALO_AXES; k++)
            if (k != i) face *= (double)plan->axes[k].grid * (double)plan->axes[k].tile;
        cells += face;
    }
    return cells;
}

static bool fits(const igi_halo_plan *plan, const uint64_t ranks[IGI_HALO_AXES]) {
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++)
        if (ranks[i] > plan->axes[i].grid) return false;
    return true;
}

static bool choose_ranks(const igi_halo_plan *plan, uint64_t count, uint64_t best[IGI_HALO_AXES]) {
    bool found = false;
    for (uint64_t z = 1; z <= count; z++)
        for (uint64_t y = 1; y <= count / z; y++) {
            uint64_t ranks[] = {count / z / y, y, z};
            if (ranks[0] * y * z != count || !fits(plan, ranks)) continue;
            if (found && border(plan, ranks) >= border(plan, best)) continue;
            memcpy(best, ranks, sizeof ranks);
            found = true;
        }
    return found;
}

static ig_status arrange_ranks(const ig_halo_config *config, const igi_halo_plan *plan, uint64_t ranks[IGI_HALO_AXES],
                               ig_error *error) {
    uint64_t count = config->transport ? config->transport->rank_count : 1;
    ig_size asked = config->ranks;
    if (count == 0 || (config->transport && config->transport->rank >= count))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "transport: rank %u of %u does not exist",
                             config->transport->rank, config->transport->rank_count);
    if (asked.x == 0) {
        if (choose_ranks(plan, count, ranks)) return IG_STATUS_OK;
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "grid has too few tiles, or none of a fitting shape, for %" PRIu64 " processes", count);
    }
    asked = or_default(asked, 1, 1);
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) ranks[i] = igi_halo_along(asked, i);
    if (!fits(plan, ranks))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "ranks: there are more processes than tiles");
    if (ranks[0] * ranks[1] * ranks[2] != count)  // each is below 2^31 and the first two have tiles
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "ranks: %" PRIu64 " x %" PRIu64 " x %" PRIu64 " is not the number of processes, %" PRIu64,
                             ranks[0], ranks[1], ranks[2], count);
    return IG_STATUS_OK;
}

static igi_halo_beyond beyond(const igi_halo_axis *axis, bool above) {
    bool at_end = axis->rank == (above ? axis->ranks - 1 : 0);
    if (at_end && !axis->periodic) return IGI_BEYOND_NOTHING;
    return axis->ranks > 1 ? IGI_BEYOND_OTHER_PROCESS : IGI_BEYOND_OTHER_END;
}

static ig_status divide_tiles(const ig_halo_config *config, igi_halo_plan *plan, ig_error *error) {
    uint64_t ranks[IGI_HALO_AXES] = {1, 1, 1}, rank = config->transport ? config->transport->rank : 0;
    ig_status status = arrange_ranks(config, plan, ranks, error);
    if (status != IG_STATUS_OK) return status;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        igi_halo_axis *axis = &plan->axes[i];
        axis->ranks = ranks[i];
        axis->rank = rank % ranks[i];
        rank /= ranks[i];
        axis->first = axis->grid * axis->rank / axis->ranks;
        axis->block = axis->grid * (axis->rank + 1) / axis->ranks - axis->first;
        for (int side = 0; side < 2; side++) axis->sides[side] = beyond(axis, side == 1);
    }
    return IG_STATUS_OK;
}

// ---- Sizes ----

static bool multiply_into(uint64_t *product, uint64_t factor) {
    return igi_mul(*product, factor, product);
}

static ig_status lay_out(igi_halo_plan *plan, ig_error *error) {
    ig_halo_layout *layout = &plan->layout;
    uint64_t tile[3], padded[3], grid[3], domain[3], ranks[3], block[3], first[3], cells[3];
    layout->tile_bytes = layout->block_bytes = layout->element_bytes;
    plan->tile_count = 1;
    bool fit = true;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        const igi_halo_axis *axis = &plan->axes[i];
        tile[i] = axis->tile, grid[i] = axis->grid, ranks[i] = axis->ranks, block[i] = axis->block;
        first[i] = axis->first;
        padded[i] = axis->tile + 2 * axis->halo;
        domain[i] = axis->grid * axis->tile;
        cells[i] = axis->block * axis->tile;
        fit &= multiply_into(&layout->tile_bytes, padded[i]) && multiply_into(&layout->block_bytes, cells[i]) &&
               multiply_into(&plan->tile_count, block[i]) && domain[i] <= INT32_MAX;
        layout->open_below[i] = axis->sides[0] == IGI_BEYOND_NOTHING;
        layout->open_above[i] = axis->sides[1] == IGI_BEYOND_NOTHING;
    }
    layout->tile = to_size(tile), layout->padded = to_size(padded), layout->grid = to_size(grid);
    layout->domain = to_size(domain), layout->ranks = to_size(ranks), layout->block = to_size(block);
    layout->first = to_size(first), layout->cells = to_size(cells);
    fit &= igi_mul(layout->tile_bytes, plan->tile_count, &layout->field_bytes);
    if (!fit || plan->tile_count > INT32_MAX || layout->tile_bytes / plan->unit_bytes > INT32_MAX ||
        layout->field_bytes > INT64_MAX)
        return igi_error_set(error, IG_STATUS_OVERFLOW, "grid and tile make a field too large to be addressed");
    return IG_STATUS_OK;
}

// The number of tiles of the block that have a neighbour on a side; step 0 means the tiles themselves.
static uint64_t tiles_with(const igi_halo_axis *axis, uint32_t step) {
    if (step == 0) return axis->block;
    return axis->block - (axis->sides[step - 1] == IGI_BEYOND_NOTHING);
}

bool igi_halo_has_direction(const igi_halo_plan *plan, uint32_t direction) {
    uint32_t steps = 0;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        if (igi_halo_step(direction, i) == 0) continue;
        if (plan->axes[i].halo == 0) return false;
        steps++;
    }
    return steps == 1 || (steps > 1 && plan->neighbours == IG_NEIGHBOURS_ALL);
}

uint32_t igi_halo_neighbour(const igi_halo_plan *plan, uint64_t tile, uint32_t direction) {
    if (direction && !igi_halo_has_direction(plan, direction)) return IG_HALO_NOTHING;
    uint64_t number = 0, scale = 1;
    bool elsewhere = false;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        const igi_halo_axis *axis = &plan->axes[i];
        uint32_t step = igi_halo_step(direction, i);
        uint64_t at = tile / scale % axis->block, count = axis->block;
        bool leaves = step && at == (step == 1 ? 0 : count - 1);
        if (leaves && axis->sides[step - 1] == IGI_BEYOND_NOTHING) return IG_HALO_NOTHING;
        elsewhere |= leaves && axis->sides[step - 1] == IGI_BEYOND_OTHER_PROCESS;
        number += scale * ((step == 1 ? at + count - 1 : step == 2 ? at + 1 : at) % count);
        scale *= count;
    }
    return elsewhere ? IG_HALO_OTHER_PROCESS : (uint32_t)number;
}

static void count_messages(igi_halo_plan *plan) {
    for (uint32_t direction = 1; direction < IGI_HALO_DIRECTIONS; direction++) {
        if (!igi_halo_has_direction(plan, direction)) continue;
        uint64_t tiles = 1, bytes = plan->layout.element_bytes;
        for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
            uint32_t step = igi_halo_step(direction, i);
            tiles *= tiles_with(&plan->axes[i], step);
            bytes *= step ? plan->axes[i].halo : plan->axes[i].tile;
        }
        plan->messages += tiles;
        plan->bytes += tiles * bytes;
    }
}

static uint32_t unit_of(uint32_t element_bytes) {
    uint32_t unit = 16;
    while (element_bytes % unit) unit /= 2;
    return unit;
}

ig_status igi_halo_plan_make(const ig_halo_config *config, igi_halo_plan *plan, ig_error *error) {
    ig_status status = check_numbers(config, error);
    if (status != IG_STATUS_OK) return status;
    uint32_t dimensions = config->dimensions ? config->dimensions : 2;
    *plan = (igi_halo_plan){.neighbours = config->neighbours,
                            .inbox_messages = config->inbox_messages ? config->inbox_messages : 16};
    plan->layout = (ig_halo_layout){.dimensions = dimensions,
                                    .halo = config->halo ? config->halo : 1,
                                    .element_bytes = config->element_bytes ? config->element_bytes : 4,
                                    .fields = config->fields ? config->fields : 1};
    plan->unit_bytes = unit_of(plan->layout.element_bytes);
    status = read_axes(config, dimensions, plan, error);
    if (status == IG_STATUS_OK) status = divide_tiles(config, plan, error);
    if (status == IG_STATUS_OK) status = lay_out(plan, error);
    if (status == IG_STATUS_OK) count_messages(plan);
    return status;
}
