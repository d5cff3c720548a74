// SPDX-License-Identifier: Apache-2.0
// Halo exchange by messages: each tile of a plane is a ring kernel, which computes a step of the heat equation when the
// faces of its neighbours have arrived, and sends them its own. The host starts the tiles and is told when they are
// done; it takes no part in between, and there is no barrier between steps: a tile may be one step ahead of its
// neighbours.
//
//   launch     `k2k_halo` once for each tile, in the order of the grid, with routes by ig_ring_connect_grid (faces,
// open
//              boundaries) and buffers[0] for two planes of (width + 2) x (height + 2) floats, the first filled
//   configure  halo_plan to every tile; it answers
//   start      uint, how many steps; the tile emits `done` with its step number: the result is in plane number & 1
#include <ingot/ring>

enum halo_type : uint { configure = 1, start = 2, face = 3, done = 4 };
enum direction : uint { north, south, west, east, directions };

struct halo_plan {
    uint width, height;          // cells of a tile
    uint x, y, grid_x, grid_y;   // position of this tile, and the size of the grid
    float rate;
};

struct halo_tile {
    halo_plan plan;
    uint step, until;
    uint arrived[2];  // faces for even and odd steps
    uint neighbours;
};

static bool has_neighbour(device const halo_plan &p, uint towards) {
    return towards == north ? p.y > 0 : towards == south ? p.y + 1 < p.grid_y : towards == west ? p.x > 0 : p.x + 1 < p.grid_x;
}

// Kernels of a grid have consecutive ids.
static ulong neighbour(thread ring::context &context, device const halo_plan &p, uint towards) {
    ulong self = context.self();
    return towards == north ? self - p.grid_x : towards == south ? self + p.grid_x : towards == west ? self - 1 : self + 1;
}

static uint face_length(device const halo_plan &p, uint side) { return side == north || side == south ? p.width : p.height; }

// Cell i of the tile's outermost cells on a side, or of the rim beyond them.
static uint face_cell(device const halo_plan &p, uint side, uint i, bool rim) {
    uint stride = p.width + 2;
    uint across = side == north || side == west ? (rim ? 0 : 1) : (side == south ? p.height : p.width) + (rim ? 1 : 0);
    return side == north || side == south ? across * stride + 1 + i : (1 + i) * stride + across;
}

static device float *plane(thread ring::context &context, device const halo_tile &tile, uint step) {
    return context.buffer<float>(0) + (step & 1) * (tile.plan.width + 2) * (tile.plan.height + 2);
}

static void wait_for_all() { metal::threadgroup_barrier(metal::mem_flags::mem_device); }

// ---- Sending ----

// The header and the cells after it, written by all threads directly into the neighbour's inbox.
static void send_face(thread ring::context &context, device halo_tile &tile, uint side) {
    uint length = face_length(tile.plan, side);
    device uchar *room = context.open_send<uchar>(neighbour(context, tile.plan, side), face,
                                                  sizeof(ig_k2k_halo_message) + length * sizeof(float));
    if (!room) return context.fail(IG_RING_ERROR_OUTPUT_OVERFLOW);
    bool row = side == north || side == south;
    if (context.leads())
        *(device ig_k2k_halo_message *)room = ig_k2k_halo_message{
            uint(context.self()), side, row ? length : 1, row ? 1 : length, 1, sizeof(float), tile.step, 0};
    device float *cells = (device float *)(room + sizeof(ig_k2k_halo_message));
    device const float *from = plane(context, tile, tile.step);
    for (uint i = context.thread_index(); i < length; i += context.thread_count())
        cells[i] = from[face_cell(tile.plan, side, i, false)];
}

static void send_faces(thread ring::context &context, device halo_tile &tile) {
    for (uint side = 0; side < directions; side++)
        if (has_neighbour(tile.plan, side)) send_face(context, tile, side);
}

// ---- Receiving ----

// What a neighbour sent north arrives in our southern rim, in the plane from which its step is computed.
static void take_face(thread ring::context &context, device halo_tile &tile) {
    device const ig_k2k_halo_message &header = *context.payload<ig_k2k_halo_message>();
    device const float *cells = (device const float *)(&header + 1);
    uint side = header.direction ^ 1;
    device float *to = plane(context, tile, header.sequence);
    for (uint i = context.thread_index(); i < face_length(tile.plan, side); i += context.thread_count())
        to[face_cell(tile.plan, side, i, true)] = cells[i];
    if (context.leads()) tile.arrived[header.sequence & 1]++;
}

// ---- Computing ----

static void compute(thread ring::context &context, device halo_tile &tile) {
    device const float *from = plane(context, tile, tile.step);
    device float *to = plane(context, tile, tile.step + 1);
    uint width = tile.plan.width, stride = width + 2;
    for (uint i = context.thread_index(); i < width * tile.plan.height; i += context.thread_count()) {
        uint at = (1 + i / width) * stride + 1 + i % width;
        to[at] = from[at] + tile.plan.rate * (from[at - stride] + from[at + stride] + from[at - 1] + from[at + 1] - 4 * from[at]);
    }
}

static void advance(thread ring::context &context, device halo_tile &tile) {
    compute(context, tile);
    wait_for_all();
    if (context.leads()) tile.arrived[tile.step & 1] = 0;
    if (context.leads()) tile.step++;
    wait_for_all();
    if (tile.step < tile.until)
        send_faces(context, tile);
    else
        context.emit(done, tile.step);
}

void exchange_and_compute(thread ring::context &context) {
    device halo_tile &tile = *context.state<halo_tile>();
    if (context.type() == configure && context.leads()) {
        tile = halo_tile{*context.payload<halo_plan>(), 0, 0, {0, 0}, 0};
        for (uint side = 0; side < directions; side++) tile.neighbours += has_neighbour(tile.plan, side);
        context.reply(configure, tile.neighbours);
    }
    if (context.type() == start) {
        if (context.leads()) tile.until = tile.step + *context.payload<uint>();
        wait_for_all();
        send_faces(context, tile);
    }
    if (context.type() == face) take_face(context, tile);
    wait_for_all();
    while (tile.step < tile.until && tile.arrived[tile.step & 1] == tile.neighbours) advance(context, tile);
}

INGOT_RING_KERNEL(k2k_halo, exchange_and_compute)
