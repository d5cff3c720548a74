// SPDX-License-Identifier: Apache-2.0
// Heat and waves on tiles with rims, one step in a box of every tile. Sums are written so that they round the same way
// whatever the tiles.

constant uint3 tile [[function_constant(1)]];
constant uint3 rim [[function_constant(2)]];
constant bool three_dimensions [[function_constant(3)]];
constant bool clips [[function_constant(4)]];  // the box reaches into rims, of which those outside the domain stay

constant uint padded_x = tile.x + 2 * rim.x;
constant uint padded_y = tile.y + 2 * rim.y;
constant uint padded_z = tile.z + 2 * rim.z;
constant uint plane = padded_x * padded_y;

// Matches stencil.c.
struct Region {
    uint3 start, size;  // in the padded tile
    uint3 tiles;
    uint3 open_below, open_above;  // ends of the block that are ends of the domain
    float coefficient;
};

static inline bool leaves(uint at, uint t, uint length, uint width, uint count, uint below, uint above) {
    return (below && t == 0 && at < width) || (above && t + 1 == count && at >= width + length);
}

static inline bool outside(constant Region &region, uint3 at, uint number) {
    uint row = number / region.tiles.x;
    return leaves(at.x, number % region.tiles.x, tile.x, rim.x, region.tiles.x, region.open_below.x,
                  region.open_above.x) ||
           leaves(at.y, row % region.tiles.y, tile.y, rim.y, region.tiles.y, region.open_below.y,
                  region.open_above.y) ||
           leaves(at.z, row / region.tiles.y, tile.z, rim.z, region.tiles.z, region.open_below.z,
                  region.open_above.z);
}

// A cell of a box and where its tile starts.
struct Cell {
    ulong start;
    uint index;
    bool wanted;
    Cell(constant Region &region, uint3 position) {
        uint number = three_dimensions ? position.z / region.size.z : position.z;
        uint z = three_dimensions ? position.z - number * region.size.z : 0;
        uint3 at = region.start + uint3(position.xy, z);
        start = ulong(number) * (plane * padded_z);
        index = (at.z * padded_y + at.y) * padded_x + at.x;
        wanted = !(clips && outside(region, at, number));
    }
};

// Neighbours without the cell itself, times their number.
static inline float curvature(device const float *u, uint i) {
    float around = (u[i - 1] + u[i + 1]) + (u[i - padded_x] + u[i + padded_x]);
    if (!three_dimensions) return fma(-4.0f, u[i], around);
    return fma(-6.0f, u[i], around + (u[i - plane] + u[i + plane]));
}

kernel void heat(device const float *now [[buffer(0)]], device float *next [[buffer(1)]],
                 constant Region &region [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    if (!cell.wanted) return;
    device const float *u = now + cell.start;
    (next + cell.start)[cell.index] = fma(region.coefficient, curvature(u, cell.index), u[cell.index]);
}

// The step before becomes the step after. Where the speed is zero nothing moves: an obstacle.
kernel void wave(device const float *now [[buffer(0)]], device float *other [[buffer(1)]],
                 device const float *speed [[buffer(2)]], constant Region &region [[buffer(3)]],
                 uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    if (!cell.wanted) return;
    device const float *u = now + cell.start;
    device float *before = other + cell.start;
    float going_on = fma(2.0f, u[cell.index], -before[cell.index]);
    before[cell.index] = fma((speed + cell.start)[cell.index], curvature(u, cell.index), going_on);
}
