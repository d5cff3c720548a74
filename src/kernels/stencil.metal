// SPDX-License-Identifier: Apache-2.0
// Heat and waves on tiles with rims: one step in a box of every tile. Sums are written so that they round in the same
// way whatever the tiles.

constant uint3 tile [[function_constant(1)]];
constant uint3 rim [[function_constant(2)]];
constant bool three_dimensions [[function_constant(3)]];
constant uint margin [[function_constant(4)]];  // how far the box extends into the rim
constant bool boxed [[function_constant(5)]];   // the box is another one, described when it runs
constant bool clips [[function_constant(6)]];   // it extends into rims; rims outside the domain are not changed

constant bool pushes [[function_constant(7)]];  // results go into the neighbours' rims as well

constant uint padded_x = tile.x + 2 * rim.x;
constant uint padded_y = tile.y + 2 * rim.y;
constant uint padded_z = tile.z + 2 * rim.z;
constant uint plane = padded_x * padded_y;

// Matches stencil.c.
struct Region {
    uint3 start, size;  // in the padded tile, where boxed
    uint backwards;     // not 0: each group of this many tiles is visited in reverse
    float coefficient;
};

// Rows that a thread computes, 1 or 4. With several, the rows in the middle are read once for three; with long rows,
// memory is fastest one row after the other.
constant uint rows_at_once [[function_constant(8)]];

struct Cell {
    uint3 at;  // in its padded tile, of the first row
    uint number, rows;
    ulong offset;
    Cell(constant Region &region, uint3 position) {
        uint depth = boxed ? region.size.z : tile.z + 2 * margin;
        uint height = boxed ? region.size.y : tile.y + 2 * margin;
        uint t = three_dimensions ? position.z / depth : position.z;
        uint z = three_dimensions ? position.z - t * depth : 0;
        uint3 start = boxed ? region.start : uint3(rim.x - margin, rim.y - margin, three_dimensions ? rim.z - margin : 0);
        at = start + uint3(position.x, rows_at_once * position.y, z);
        rows = min(height - rows_at_once * position.y, rows_at_once);
        number = region.backwards ? t + region.backwards - 1 - 2 * (t % region.backwards) : t;
        offset = ulong(number) * (plane * padded_z) + ((at.z * padded_y + at.y) * padded_x + at.x);
    }
};

// Bits say which ends of a tile are ends of the domain: 1 below and 2 above along x, 4 and 8 along y, 16 and 32 along z.
static inline bool leaves(uint at, uint length, uint width, uint ends) {
    return at < (ends & 1 ? width : 0) || at >= (ends & 2 ? width + length : 2 * width + length);
}

// Cells outside the domain keep their value, which both steps have.
static inline float clip(Cell cell, uint row, device const uint *ends, float here, float then) {
    if (!clips) return then;
    uint open = ends[cell.number];
    if (open == 0) return then;
    bool stays = leaves(cell.at.x, tile.x, rim.x, open) | leaves(cell.at.y + row, tile.y, rim.y, open >> 2) |
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

// Numbers that are not tiles of this process; see halo.metal.
constant uint no_tile = 0xfffffffe;

// Not an array: arrays stay in memory until loops are unrolled.
struct Rows {
    float a, b, c, d;
    float last(uint count) const { return count == 4 ? d : count == 3 ? c : count == 2 ? b : a; }
};

static inline void put_rows(device float *target, uint count, Rows rows) {
    target[0] = rows.a;
    if (count > 1) target[padded_x] = rows.b;
    if (count > 2) target[2 * padded_x] = rows.c;
    if (count > 3) target[3 * padded_x] = rows.d;
}

// The same cells in the rim of a neighbour, if there is one: `distance` further on in its tile.
static inline void push(Cell cell, device float *out, uint neighbour, int distance, uint count, Rows rows) {
    if (neighbour >= no_tile) return;
    ulong inside = cell.offset - ulong(cell.number) * (plane * padded_z);
    put_rows(out + ulong(neighbour) * (plane * padded_z) + inside + distance, count, rows);
}

static inline void push_all(Cell cell, device float *out, device const uint *neighbours, uint count,
                            Rows rows) {
    device const uint *around = neighbours + 27 * ulong(cell.number);
    uint last_row = cell.at.y + count - 1;
    if (cell.at.x == rim.x) push(cell, out, around[1], int(tile.x), count, rows);
    if (cell.at.x == rim.x + tile.x - 1) push(cell, out, around[2], -int(tile.x), count, rows);
    if (cell.at.y == rim.y) push(cell, out, around[3], int(tile.y * padded_x), 1, rows);
    if (last_row == rim.y + tile.y - 1)
        push(cell, out, around[6], (int(count) - 1 - int(tile.y)) * int(padded_x), 1, Rows{rows.last(count), 0, 0, 0});
    if (!three_dimensions) return;
    if (cell.at.z == rim.z) push(cell, out, around[9], int(tile.z * plane), count, rows);
    if (cell.at.z == rim.z + tile.z - 1) push(cell, out, around[18], -int(tile.z * plane), count, rows);
}

// All rows are computed before any is written, because another row might read what is written.
template <uint count, typename Then>
static inline void write_rows(Cell cell, device float *out, device const uint *neighbours, Then then) {
    Rows rows = {then(0), count > 1 ? then(1) : 0, count > 2 ? then(2) : 0, count > 3 ? then(3) : 0};
    put_rows(out + cell.offset, count, rows);
    if (pushes) push_all(cell, out, neighbours, count, rows);
}

template <typename Then>
static inline void write(Cell cell, device float *out, device const uint *neighbours, Then then) {
    if (rows_at_once == 1) write_rows<1>(cell, out, neighbours, then);
    else if (cell.rows == 4) write_rows<4>(cell, out, neighbours, then);
    else if (cell.rows == 3) write_rows<3>(cell, out, neighbours, then);
    else if (cell.rows == 2) write_rows<2>(cell, out, neighbours, then);
    else write_rows<1>(cell, out, neighbours, then);
}

// The new value of one of a cell's rows.
struct Heat {
    Cell cell;
    device const float *now;
    device const uint *ends;
    float coefficient;
    float operator()(uint row) const {
        device const float *u = now + cell.offset + row * padded_x;
        return clip(cell, row, ends, u[0], fma(coefficient, curvature(u), u[0]));
    }
};

kernel void heat(device const float *now [[buffer(0)]], device float *next [[buffer(1)]],
                 constant Region &region [[buffer(3)]], device const uint *ends [[buffer(4)]],
                 device const uint *neighbours [[buffer(5)]], uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    write(cell, next, neighbours, Heat{cell, now, ends, region.coefficient});
}

// The previous step becomes the next one. Where the speed is zero nothing moves: an obstacle.
struct Wave {
    Cell cell;
    device const float *now, *previous, *speed;
    device const uint *ends;
    float operator()(uint row) const {
        ulong at = cell.offset + row * padded_x;
        device const float *u = now + at;
        return clip(cell, row, ends, u[0], fma(speed[at], curvature(u), fma(2.0f, u[0], -previous[at])));
    }
};

kernel void wave(device const float *now [[buffer(0)]], device float *other [[buffer(1)]],
                 device const float *speed [[buffer(2)]], constant Region &region [[buffer(3)]],
                 device const uint *ends [[buffer(4)]], device const uint *neighbours [[buffer(5)]],
                 uint3 position [[thread_position_in_grid]]) {
    Cell cell(region, position);
    write(cell, other, neighbours, Wave{cell, now, other, speed, ends});
}
