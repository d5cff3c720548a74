// SPDX-License-Identifier: Apache-2.0
// The object behind ig_halo. halo-config.c checks and lays out, halo.c owns, halo-exchange.c moves cells within this
// process, halo-remote.c between processes, halo-tiles.c between tiles and plain arrays.
#ifndef INGOT_HALO_INTERNAL_H
#define INGOT_HALO_INTERNAL_H

#include <assert.h>
#include <ingot/halo.h>
#include <pthread.h>

#include "core/memory.h"
#include "core/status-internal.h"

enum { IGI_HALO_AXES = 3, IGI_HALO_DIRECTIONS = 27 };

// What is beyond a side of the block.
typedef enum igi_halo_beyond { IGI_BEYOND_NOTHING, IGI_BEYOND_OTHER_END, IGI_BEYOND_OTHER_PROCESS } igi_halo_beyond;

// Everything about one axis, so that code can loop over axes.
typedef struct igi_halo_axis {
    uint64_t grid, tile, halo;  // of the domain, in cells; an axis that does not exist has no halo
    uint64_t ranks, rank;       // processes along the axis, and this one's place among them
    uint64_t first, block;      // this process' tiles
    igi_halo_beyond sides[2];   // below and above the block
    bool periodic;
} igi_halo_axis;

typedef struct igi_halo_plan {
    igi_halo_axis axes[IGI_HALO_AXES];
    ig_halo_layout layout;
    uint32_t unit_bytes;  // the unit in which kernels copy
    uint32_t inbox_messages;
    uint64_t tile_count;       // of this process
    uint64_t messages, bytes;  // of one exchange of one field
    ig_neighbourhood neighbours;
} igi_halo_plan;

// Fills in defaults and finds this process' part. errors: INVALID_ARGUMENT, OVERFLOW.
ig_status igi_halo_plan_make(const ig_halo_config *config, igi_halo_plan *plan, ig_error *error);

static inline uint64_t igi_halo_along(ig_size size, uint32_t axis) {
    assert(axis < IGI_HALO_AXES);
    return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}

// Directions count 0 inside, 1 below and 2 above the block, x + 3 y + 9 z.
static inline uint32_t igi_halo_step(uint32_t direction, uint32_t axis) {
    assert(direction < IGI_HALO_DIRECTIONS && axis < IGI_HALO_AXES);
    return direction / (axis == 0 ? 1 : axis == 1 ? 3 : 9) % 3;
}
static inline uint32_t igi_halo_opposite(uint32_t direction) {
    uint32_t opposite = 0;
    for (uint32_t axis = 0, place = 1; axis < IGI_HALO_AXES; axis++, place *= 3)
        opposite += place * ((3 - igi_halo_step(direction, axis)) % 3);
    return opposite;
}
// Whether tiles exchange cells in that direction at all.
bool igi_halo_has_direction(const igi_halo_plan *plan, uint32_t direction);
// The number of a tile's neighbour, IG_HALO_NOTHING or IG_HALO_OTHER_PROCESS.
uint32_t igi_halo_neighbour(const igi_halo_plan *plan, uint64_t tile, uint32_t direction);

// ---- Other processes ----

// Cells of the block, x in units. Matches halo.metal, where vectors of three take the room of four.
typedef struct igi_halo_box {
    uint32_t start[4], size[4];
} igi_halo_box;

// What is sent to and received from one neighbour, for each field, with its place in the staging buffers.
typedef struct igi_halo_link {
    uint32_t direction, rank;
    igi_halo_box box;         // to send
    uint64_t offset, length;  // in bytes, within a field's part of the staging buffers
} igi_halo_link;

typedef struct igi_halo_remote {
    ig_halo_transport transport;
    uint64_t timeout_ns;
    igi_halo_link links[IGI_HALO_DIRECTIONS];
    uint32_t link_count;
    uint64_t ghosts[IGI_HALO_DIRECTIONS];  // where the box of each direction starts, in units
    uint64_t field_bytes;                  // of staging for one field
    ig_pipeline *pack, *unpack;
    ig_buffer *sent, *received;  // shared storage, all fields
    void *pending;
    struct igi_halo_remote *next_abandoned;
} igi_halo_remote;

struct ig_halo {
    igi_refcount references;
    ig_device *device;
    ig_queue *queue;
    igi_halo_plan plan;
    ig_pipeline *pull;
    ig_buffer *neighbours;
    ig_buffer *fields[IG_HALO_MAX_FIELDS];
    igi_halo_remote *remote;  // NULL: one process
    // Of the exchange under way:
    ig_commands *commands;
    uint32_t pending_fields;
    uint64_t started_ns;
    bool broken;  // another process was lost

    pthread_mutex_t lock;  // guards the figures
    uint64_t exchanges, time_ns;
};

ig_status igi_halo_pipeline(ig_halo *halo, ig_library *library, const char *name, ig_pipeline **pipeline,
                            ig_error *error);
// As ig_halo_encode_exchange, in either order of tiles.
ig_status igi_halo_encode(ig_halo *halo, ig_commands *commands, uint32_t fields, bool backwards);
// Counts an exchange that was done by other means.
void igi_halo_count(ig_halo *halo, uint32_t fields);
// Tiles that one core processes when a dispatch has a layer of threads for each tile.
uint32_t igi_halo_share(const ig_halo *halo);
// A grid of threads that visits every rim.
ig_size igi_halo_rim_grid(const igi_halo_plan *plan);

ig_status igi_halo_remote_open(ig_halo *halo, const ig_halo_config *config, ig_library *library, ig_error *error);
void igi_halo_remote_close(igi_halo_remote *remote, bool broken);
// Packs what others need and starts the transfers; then waits for theirs and unpacks it.
ig_status igi_halo_remote_begin(ig_halo *halo, uint32_t fields, ig_error *error);
ig_status igi_halo_remote_finish(ig_halo *halo, uint32_t fields, ig_error *error);

// Commits, waits and releases.
ig_status igi_halo_run(ig_commands *commands, ig_error *error);
ig_status igi_halo_wait(ig_commands *commands, ig_error *error);

#endif
