// SPDX-License-Identifier: Apache-2.0
// Halo exchange: between tiles with rims and plain arrays.
#include <string.h>

#include "halo/halo-internal.h"

// Where a row of a tile starts, in a field and in the block without tiles, in bytes.
typedef struct row_place {
    uint64_t in_field, in_block;
} row_place;

static row_place place_row(const igi_halo_plan *plan, uint64_t tile, uint64_t y, uint64_t z) {
    const ig_halo_layout *layout = &plan->layout;
    uint64_t tile_x = tile % layout->block.x, tile_y = tile / layout->block.x % layout->block.y;
    uint64_t tile_z = tile / layout->block.x / layout->block.y, halo_z = plan->axes[2].halo;
    uint64_t padded_row = (tile * layout->padded.z + z + halo_z) * layout->padded.y + y + layout->halo;
    uint64_t row = (tile_z * layout->tile.z + z) * layout->cells.y + tile_y * layout->tile.y + y;
    return (row_place){.in_field = (padded_row * layout->padded.x + layout->halo) * layout->element_bytes,
                       .in_block = (row * layout->cells.x + tile_x * layout->tile.x) * layout->element_bytes};
}

typedef void copy_row(char *in_field, char *in_block, size_t bytes);

static void row_to_field(char *in_field, char *in_block, size_t bytes) {
    memcpy(in_field, in_block, bytes);
}

static void row_to_block(char *in_field, char *in_block, size_t bytes) {
    memcpy(in_block, in_field, bytes);
}

static ig_status check_field(const char *call, const ig_halo *halo, uint32_t field, const void *cells) {
    if (!halo || !cells)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the halo and the cells must not be NULL", call);
    if (field < halo->plan.layout.fields) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: there is no field %u; the halo has %u", call, field,
                    halo->plan.layout.fields);
}

static ig_status copy_rows(const char *call, const ig_halo *halo, uint32_t field, char *block, copy_row *copy) {
    ig_status status = check_field(call, halo, field, block);
    if (status != IG_STATUS_OK) return status;
    const ig_halo_layout *layout = &halo->plan.layout;
    char *cells = ig_buffer_contents(halo->fields[field]);
    for (uint64_t tile = 0; tile < halo->plan.tile_count; tile++)
        for (uint64_t z = 0; z < layout->tile.z; z++)
            for (uint64_t y = 0; y < layout->tile.y; y++) {
                row_place place = place_row(&halo->plan, tile, y, z);
                copy(cells + place.in_field, block + place.in_block, layout->tile.x * layout->element_bytes);
            }
    return IG_STATUS_OK;
}

ig_status ig_halo_scatter(ig_halo *halo, uint32_t field, const void *array) {
    return copy_rows("halo_scatter", halo, field, (char *)array, row_to_field);  // it is only read
}

ig_status ig_halo_gather(const ig_halo *halo, uint32_t field, void *array) {
    return copy_rows("halo_gather", halo, field, array, row_to_block);
}

ig_status ig_halo_fill(ig_halo *halo, uint32_t field, const void *element) {
    ig_status status = check_field("halo_fill", halo, field, element);
    if (status != IG_STATUS_OK) return status;
    uint64_t bytes = halo->plan.layout.element_bytes, total = halo->plan.layout.field_bytes;
    char *cells = ig_buffer_contents(halo->fields[field]);
    memcpy(cells, element, bytes);
    // The filled part is copied to double it until everything is filled.
    for (uint64_t done = bytes; done < total; done *= 2)
        memcpy(cells + done, cells, done < total - done ? done : total - done);
    return IG_STATUS_OK;
}
