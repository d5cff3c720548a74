// SPDX-License-Identifier: Apache-2.0
// Heat and waves on tiles with rims: one step in a box of every tile. Sums are written so that they round the same way
// whatever the tiles.

constant uint3 tile [[function_constant(1)]];
constant uint3 rim [[function_constant(2)]];
constant bool three_dimensions [[function_constant(3)]];
constant uint margin [[function_constant(4)]];  // how far the box reaches into the rim
constant bool boxed [[function_constant(5)]];   // the box is another one, described when it is run
constant bool clips [[function_constant(6)]];   // it reaches into rims, of which those outside the domain stay

constant uint padded_x = tile.x + 2 * rim.x;
constant uint padded_y = tile.y + 2 * rim.y;
constant uint padded_z = tile.z + 2 * rim.z;
constant uint plane = padded_x * padded_y;

// Matches stencil.c.
struct Region {
    uint3 start, size;  // in the padded tile, where boxed
    uint first;         // the tile of the first threads
    int order;          // 1, or -1 to go through the tiles from the last to the first
    float coefficient;
};

struct Cell {
    uint3 at;  // in its padded tile
    uint number;
    ulong offset;
    Cell(constant Region &region, uint3 position) {
        uint depth = boxed ? region.size.z : tile.z + 2 * margin;
        uint t = three_dimensions ? position.z / depth : position.z;
        uint z = three_dimensions ? position.z - t * depth : 0;
        uint3 start = boxed ? region.start : uint3(rim.x - margin, rim.y - margin, three_dimensions ? rim.z - margin : 0);
        at = start + uint3(position.xy, z);
        number = region.first + uint(region.order * int(t));
        offset = ulong(number) * (plane * padded_z) + ((at.z * padded_y + at.y) * padded_x + at.x);
    }
};

// Bits say which ends of a tile are ends of the domain: 1 below and 2 above along x, 4 and 8 along y, 16 and 32 along z.
static inline bool leaves(uint at, uint length, uint width, uint ends) {
    return at < (ends & 1 ? width : 0) || at >= (ends & 2 ? width + length : 2 * width + length);
}

// Cells outside the domain keep their value, which both steps have.
static inline float clip(Cell cell, device const uint *ends, float here, float then) {
    if (!clips) return then;
    uint open = ends[cell.number];
    if (open == 0) return then;
    bool stays = leaves(cell.at.x, tile.x, rim.x, open) | leaves(cell.at.y, tile.y, rim.y, open >> 2) |
                 leaves(cell.at.z, tile.z, rim.z, open >> 4);
    return select(then, here, stays);
}

// Neighbours without the cell itself, times their number.
static inline float curvature(device const float *u) {
    const int row = int(padded_x), layer = int(plane);
    float around = (u[-1] + u[1]) + (u[-row] + u[row]);
    if (!three_dimensions) return fma(-4.0f, u[0], around);
    return fma(-6.0f, u[0], around + (u[-layer] + u[layer]));
}

kernel void heat(device const float *now [[buffer(0)]], device float *next [[buffer(1)]],
                 constant Region &region [[buffer(3)]], device const uint *ends [[buffer(4)]],
                 uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    device const float *u = now + cell.offset;
    next[cell.offset] = clip(cell, ends, u[0], fma(region.coefficient, curvature(u), u[0]));
}

// The step before becomes the step after. Where the speed is zero nothing moves: an obstacle.
kernel void wave(device const float *now [[buffer(0)]], device float *other [[buffer(1)]],
                 device const float *speed [[buffer(2)]], constant Region &region [[buffer(3)]],
                 device const uint *ends [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    device const float *u = now + cell.offset;
    float going_on = fma(2.0f, u[0], -other[cell.offset]);
    other[cell.offset] = clip(cell, ends, u[0], fma(speed[cell.offset], curvature(u), going_on));
}
