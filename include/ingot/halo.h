// SPDX-License-Identifier: Apache-2.0
// Halo exchange: a domain cut into tiles, each with a rim of its neighbours' cells, in one process or several.
//
// A field is one buffer: the tiles of this process one after another, x first, then y, then z; each tile padded by the
// halo on every side and stored as an array, x fastest. With the numbers of ig_halo_layout, cell (x, y, z) of tile t,
// counted from the corner of its padding, is element ((t * padded.z + z) * padded.y + y) * padded.x + x. In two
// dimensions there is no padding along z.
//
// Threads: one exchange at a time; everything else from any thread.
#ifndef INGOT_HALO_H
#define INGOT_HALO_H

#include <ingot/device.h>
#include <ingot/ring-layout.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// A domain cut into tiles, with its fields.
typedef struct ig_halo ig_halo;

enum {
    IG_HALO_MAX_FIELDS = 32,    // most fields of a halo
    IG_HALO_REASON_BYTES = 256  // size of the buffer for a transport's reason
};
#define IG_HALO_FIELD(index) (UINT32_C(1) << (index))  // for sets of fields

// ---- Between processes ----

// Bytes that go to another process or come from one.
typedef struct ig_halo_message {
    uint32_t rank;  // whom it goes to or comes from
    uint32_t tag;
    void *bytes;
    uint64_t length;
} ig_halo_message;

// How bytes get to other processes. <ingot/halo-mpi.h> has one for MPI; a program may bring its own.
// Messages between two ranks with the same tag arrive in the order they were sent. On failure `reason`, of
// IG_HALO_REASON_BYTES, says why.
typedef struct ig_halo_transport {
    uint32_t rank, rank_count;
    // Starts all transfers and returns; *pending is for finish. The messages' bytes stay untouched until then.
    ig_status (*begin)(void *context, const ig_halo_message *receives, size_t receive_count,
                       const ig_halo_message *sends, size_t send_count, void **pending, char *reason);
    // Waits for them all and frees `pending`. errors: TIMEOUT, SYSTEM; then transfers may still touch the bytes.
    ig_status (*finish)(void *context, void *pending, uint64_t timeout_ns, char *reason);
    void *context;
} ig_halo_transport;

// ---- Configuration ----

// Sizes and neighbours of a domain. Zeros select the stated defaults.
typedef struct ig_halo_config {
    uint32_t dimensions;          // 2 or 3; 0: 2
    ig_size grid;                 // tiles of the whole domain; zeros: 4 x 4 x 1
    ig_size tile;                 // cells of a tile; zeros: 64 x 64 x 1
    uint32_t halo;                // width of the rim, at most the tile's along every axis; 0: 1
    bool periodic[3];             // x, y, z: the domain wraps around. Otherwise rims outside of it are left unchanged
    uint32_t element_bytes;       // of a cell; 0: 4
    uint32_t fields;              // 0: 1
    ig_neighbourhood neighbours;  // whose cells fill a tile's rim. Stencils that look along the axes only, one step at
                                  // a time, need the faces
    uint32_t inbox_messages;      // for exchange by messages: how many a tile's inbox has room for; 0: 16
    const ig_halo_transport *transport;  // copied; its context must outlive the halo. NULL: one process
    ig_size ranks;                       // processes along each axis; zeros: chosen for short borders
    uint64_t timeout_ns;                 // for another process to answer; 0: 60 s
} ig_halo_config;

// A configuration in two dimensions: a grid of tiles, the cells of a tile, and the width of the rim.
static inline ig_halo_config ig_halo_config_2d(uint64_t grid_x, uint64_t grid_y, uint64_t tile_x, uint64_t tile_y,
                                               uint32_t halo) {
    ig_halo_config config = {0};
    ig_size grid = {grid_x, grid_y, 1}, tile = {tile_x, tile_y, 1};
    config.dimensions = 2;
    config.grid = grid;
    config.tile = tile;
    config.halo = halo;
    return config;
}
// A configuration in three dimensions.
static inline ig_halo_config ig_halo_config_3d(ig_size grid, ig_size tile, uint32_t halo) {
    ig_halo_config config = {0};
    config.dimensions = 3;
    config.grid = grid;
    config.tile = tile;
    config.halo = halo;
    return config;
}

// Fields start as zeros. errors: INVALID_ARGUMENT and OVERFLOW name the part of the configuration that is wrong.
ig_status ig_halo_create(ig_device *device, const ig_halo_config *config, ig_halo **halo, ig_error *error);
ig_halo *ig_halo_retain(ig_halo *halo);
void ig_halo_release(ig_halo *halo);

// The sizes that follow from a configuration.
typedef struct ig_halo_layout {
    uint32_t dimensions, halo, element_bytes, fields;
    ig_size tile;                       // cells
    ig_size padded;                     // tile and rim
    ig_size grid;                       // tiles of the whole domain
    ig_size domain;                     // its cells
    ig_size ranks;                      // processes along each axis
    ig_size block;                      // tiles of this process
    ig_size first;                      // the block's first tile within the grid
    ig_size cells;                      // cells of the block
    bool open_below[3], open_above[3];  // whether the block's low and high sides are open ends of the domain
    uint64_t tile_bytes, field_bytes;   // with rims
    uint64_t block_bytes;               // of the block's cells without rims, for scatter and gather
} ig_halo_layout;
// Fills `layout`.
void ig_halo_get_layout(const ig_halo *halo, ig_halo_layout *layout);

// ---- Fields ----

// The buffer of a field: shared storage, which lives as long as the halo. NULL when there is no such field.
ig_buffer *ig_halo_field(const ig_halo *halo, uint32_t field);

#define IG_HALO_NOTHING UINT32_MAX              // an open end, or not among the neighbours exchanged with
#define IG_HALO_OTHER_PROCESS (UINT32_MAX - 1)  // a tile of another process
// 27 uint32_t for each tile of this process: the numbers of its neighbours. A neighbour is at index x + 3 y + 9 z, where
// along each axis 0 stands for the same position, 1 for the one below and 2 for the one above. Kernels that treat the
// ends of the domain in their own way can bind it.
ig_buffer *ig_halo_neighbours_buffer(const ig_halo *halo);

// The same as a routing table of ring kernels, one kernel for each tile of the domain, numbered like the tiles: faces
// first (N, S, W, E in two dimensions and -X, +X, -Y, +Y, -Z, +Z in three), then edges and corners. An inbox has room
// for `inbox_messages` of the largest face. errors: OUT_OF_RANGE when this process has no such tile, OVERFLOW when the
// inboxes need more than 4 GiB.
ig_status ig_halo_get_routes(const ig_halo *halo, uint64_t tile, ig_k2k_routing_table *table);

// Copy between a field and this process's block as one array without tiles, x fastest. Rims are not changed.
// pre: no command buffer or exchange is using the field.
ig_status ig_halo_scatter(ig_halo *halo, uint32_t field, const void *array);
ig_status ig_halo_gather(const ig_halo *halo, uint32_t field, void *array);
// Sets every cell, rims included, to the element.
ig_status ig_halo_fill(ig_halo *halo, uint32_t field, const void *element);

// ---- Exchange ----

// Brings the rims of a set of fields (IG_HALO_FIELD(0) | IG_HALO_FIELD(2)) up to date and returns when that is done.
// With several processes all must call it, in the same order.
// errors: TIMEOUT or SYSTEM when another process is lost; after that the halo can only be read and released.
ig_status ig_halo_exchange(ig_halo *halo, uint32_t fields, ig_error *error);

// The same in two halves. In between, tiles may be read and other fields written by command buffers of other queues;
// the rims of these fields belong to the exchange.
ig_status ig_halo_exchange_begin(ig_halo *halo, uint32_t fields, ig_error *error);
ig_status ig_halo_exchange_finish(ig_halo *halo, ig_error *error);

// Adds the exchange to a command buffer, one dispatch for each field, so that many steps fit into one.
// errors: UNSUPPORTED when other processes take part.
ig_status ig_halo_encode_exchange(ig_halo *halo, ig_commands *commands, uint32_t fields);

// ---- Figures ----

// What exchanges have moved so far.
typedef struct ig_halo_stats {
    uint64_t exchanges;                      // one for each field
    uint64_t messages, bytes;                // into tiles of this process, from tiles of all
    uint64_t remote_messages, remote_bytes;  // of those, received from other processes
    uint64_t tiles;                          // of this process
    ig_size grid;                            // of the whole domain
    uint64_t time_ns;                        // spent in exchanges, except encoded ones
} ig_halo_stats;
// Fills `stats` with the current figures.
void ig_halo_get_stats(const ig_halo *halo, ig_halo_stats *stats);
// Sets all fields and figures to zero. errors: WRONG_STATE during an exchange.
ig_status ig_halo_reset(ig_halo *halo);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
