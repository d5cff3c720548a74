// SPDX-License-Identifier: Apache-2.0
// Halo exchange: neighbours as routing tables for ring kernels.
#include <inttypes.h>

#include "halo/halo-internal.h"

static uint64_t largest_face(const igi_halo_plan *plan) {
    uint64_t largest = 0;
    for (uint32_t i = 0; i < plan->layout.dimensions; i++) {
        uint64_t bytes = plan->layout.element_bytes;
        for (uint32_t k = 0; k < IGI_HALO_AXES; k++) bytes *= k == i ? plan->axes[k].halo : plan->axes[k].tile;
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

// The inbox header, and messages with a small header and one face each.
static bool inbox_bytes(const igi_halo_plan *plan, uint64_t *bytes) {
    uint64_t message = igi_round_up(sizeof(ig_k2k_halo_message) + largest_face(plan), 64);
    return igi_mul(message, plan->inbox_messages, bytes) && igi_add(*bytes, sizeof(ig_k2k_inbox_header), bytes);
}

// The position of a tile of this process in the domain, and its neighbour one step further. Returns false if there is
// none.
static bool find_neighbour(const igi_halo_plan *plan, uint64_t tile, uint32_t direction, uint32_t *number) {
    uint64_t found = 0, within = 1, scale = 1;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        const igi_halo_axis *axis = &plan->axes[i];
        uint64_t at = axis->first + tile / within % axis->block;
        uint32_t step = igi_halo_step(direction, i);
        if (step && !axis->periodic && at == (step == 1 ? 0 : axis->grid - 1)) return false;
        found += scale * ((step == 1 ? at + axis->grid - 1 : step == 2 ? at + 1 : at) % axis->grid);
        within *= axis->block;
        scale *= axis->grid;
    }
    *number = (uint32_t)found;
    return true;
}

static void add_route(const igi_halo_plan *plan, uint64_t tile, uint32_t direction, uint64_t inbox,
                      ig_k2k_routing_table *table) {
    uint32_t dest;
    if (!igi_halo_has_direction(plan, direction) || !find_neighbour(plan, tile, direction, &dest)) return;
    table->routes[table->route_count++] = (ig_k2k_route){
        .dest = dest, .inbox_offset = (uint32_t)(dest * inbox), .is_active = 1, .hops = 1, .bandwidth_hint = 16};
}

static bool is_face(uint32_t direction) {
    return direction == 1 || direction == 2 || direction == 3 || direction == 6 || direction == 9 || direction == 18;
}

ig_status ig_halo_get_routes(const ig_halo *halo, uint64_t tile, ig_k2k_routing_table *table) {
    static const uint32_t plane_faces[] = {3, 6, 1, 2}, space_faces[] = {1, 2, 3, 6, 9, 18};
    if (!halo || !table)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "halo_get_routes: halo and table must not be NULL");
    const igi_halo_plan *plan = &halo->plan;
    ig_size grid = plan->layout.grid;
    uint64_t inbox, tiles = grid.x * grid.y, all;
    if (tile >= plan->tile_count)
        return igi_fail(IG_STATUS_OUT_OF_RANGE,
                        "halo_get_routes: there is no tile %" PRIu64 "; this process has %" PRIu64, tile,
                        plan->tile_count);
    if (!inbox_bytes(plan, &inbox) || !igi_mul(tiles, grid.z, &tiles) || !igi_mul(tiles, inbox, &all) ||
        all > UINT32_MAX)
        return igi_fail_with(IG_STATUS_OVERFLOW,
                             "halo_get_routes: the inboxes of all tiles need more than 4 GiB; lower inbox_messages");
    bool flat = plan->layout.dimensions == 2;
    *table = (ig_k2k_routing_table){.grid_x = (uint32_t)grid.x, .grid_y = (uint32_t)grid.y, .grid_z = (uint32_t)grid.z};
    find_neighbour(plan, tile, 0, &table->self_id);
    for (uint32_t i = 0; i < 2 * plan->layout.dimensions; i++)
        add_route(plan, tile, flat ? plane_faces[i] : space_faces[i], inbox, table);
    for (uint32_t direction = 1; direction < IGI_HALO_DIRECTIONS; direction++)
        if (!is_face(direction)) add_route(plan, tile, direction, inbox, table);
    return IG_STATUS_OK;
}
