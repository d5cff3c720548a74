// SPDX-License-Identifier: Apache-2.0
// Halo exchange between tiles. A field is stored as include/ingot/halo.h says, but x counts units: the largest power of
// two bytes, up to 16, that divides an element. Every cell of a rim fetches its own value, so that faces, edges and
// corners are filled at once and in any order.

constant uint3 tile [[function_constant(1)]];
constant uint3 rim [[function_constant(2)]];

constant uint padded_x = tile.x + 2 * rim.x;
constant uint padded_y = tile.y + 2 * rim.y;
constant uint padded_z = tile.z + 2 * rim.z;
constant uint tile_units = padded_x * padded_y * padded_z;

static inline uint index_in_tile(uint3 at) {
    return (at.z * padded_y + at.y) * padded_x + at.x;
}

// The rim of a tile in three parts, each a number of rows of tile.x threads:
// rows above, below, in front and behind, as long as the tile; columns left and right of its rows, a thread for a unit
// of each; and edges and corners at both ends of the first part, a thread for each unit.
constant uint plane_rows = 2 * rim.z * padded_y;
constant uint face_rows = plane_rows + tile.z * 2 * rim.y;
constant uint column_rows = (tile.y * tile.z * rim.x + tile.x - 1) / tile.x;

// Steps to the neighbour are 0 for none, 1 down and 2 up along an axis.
static inline uint step_of(uint at, uint length, uint width) {
    return at < width ? 1 : at >= width + length ? 2 : 0;
}

static inline uint2 face_row(uint row) {
    if (row < plane_rows) {
        uint z = row / padded_y;
        return uint2(row % padded_y, z < rim.z ? z : z + tile.z);
    }
    uint y = (row - plane_rows) % (2 * rim.y);
    return uint2(y < rim.y ? y : y + tile.y, rim.z + (row - plane_rows) / (2 * rim.y));
}

static inline uint2 face_steps(uint2 yz) {
    return uint2(step_of(yz.x, tile.y, rim.y), step_of(yz.y, tile.z, rim.z));
}

// Calls `move` with each unit of the rim that this thread handles, and the steps to the tile that has its value.
template <typename Move>
static inline void for_rim(uint2 position, Move move) {
    uint row = position.y;
    if (row < face_rows) {
        uint2 yz = face_row(row);
        move(uint3(rim.x + position.x, yz), uint3(0, face_steps(yz)));
    } else if (row < face_rows + column_rows) {
        uint unit = (row - face_rows) * tile.x + position.x;
        if (unit >= tile.y * tile.z * rim.x) return;
        uint x = unit % rim.x, line = unit / rim.x;
        uint y = rim.y + (tile.z == 1 ? line : line % tile.y), z = rim.z + (tile.z == 1 ? 0 : line / tile.y);
        move(uint3(x, y, z), uint3(1, 0, 0));
        move(uint3(rim.x + tile.x + x, y, z), uint3(2, 0, 0));
    } else {
        uint unit = (row - face_rows - column_rows) * tile.x + position.x, x = unit % (2 * rim.x);
        if (unit >= face_rows * 2 * rim.x) return;
        uint2 yz = face_row(unit / (2 * rim.x));
        move(uint3(x < rim.x ? x : x + tile.x, yz), uint3(x < rim.x ? 1 : 2, face_steps(yz)));
    }
}

// The same cell in the neighbour's own coordinates.
static inline uint moved(uint at, uint step, uint length) {
    return step == 1 ? at + length : step == 2 ? at - length : at;
}

// Neighbours are 27 numbers for each tile, x + 3 y + 9 z by steps. Values that are not tiles:
constant uint other_process = 0xfffffffe;  // and all ones where there is nothing

// What halo_pull does for a cell; lambda expressions need MSL 3.2.
template <typename Unit>
struct Pull {
    device Unit *field, *mine;
    device const uint *around;
    void operator()(uint3 at, uint3 steps) const {
        uint neighbour = around[steps.x + 3 * steps.y + 9 * steps.z];
        if (neighbour >= other_process) return;
        device const Unit *theirs = field + ulong(neighbour) * tile_units;
        mine[index_in_tile(at)] = theirs[index_in_tile(uint3(
            moved(at.x, steps.x, tile.x), moved(at.y, steps.y, tile.y), moved(at.z, steps.z, tile.z)))];
    }
};

// From tiles of this process. If `backwards` is not 0, each group of that many tiles is visited in reverse: first the
// data that the previous dispatch has left in the caches.
template <typename Unit>
kernel void halo_pull(device Unit *field [[buffer(0)]], device const uint *neighbours [[buffer(1)]],
                      constant uint &backwards [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {
    uint t = position.z, number = backwards ? t + backwards - 1 - 2 * (t % backwards) : t;
    for_rim(position.xy, Pull<Unit>{field, field + ulong(number) * tile_units, neighbours + 27 * ulong(number)});
}

// ---- Between processes ----

struct Block {
    uint3 tiles;
    uint3 below, above;  // ends beyond which there is another process
};

// Boxes of the block's cells, one for each direction: as wide as the rim along the direction, as long as the block
// elsewhere.
struct Box {
    uint3 start, size;
};

template <typename Unit>
kernel void halo_pack(device const Unit *field [[buffer(0)]], device Unit *packed [[buffer(1)]],
                      constant Block &block [[buffer(2)]], constant Box &box [[buffer(3)]],
                      uint3 position [[thread_position_in_grid]]) {
    uint3 cell = box.start + position, t = cell / tile;
    ulong source = (ulong(t.z) * block.tiles.y + t.y) * block.tiles.x + t.x;
    packed[(ulong(position.z) * box.size.y + position.y) * box.size.x + position.x] =
        field[source * tile_units + index_in_tile(cell - t * tile + rim)];
}

// The position of a value along one axis in a box of ghosts.
struct Ghost {
    uint outside;  // the box's step
    uint at, length;
    Ghost(uint t, uint place, uint step, uint tile_length, uint width, uint count, uint before, uint behind) {
        bool leaves_low = step == 1 && t == 0, leaves_high = step == 2 && t + 1 == count;
        outside = (leaves_low && before) || (leaves_high && behind) ? step : 0;
        uint owner = leaves_low ? count - 1 : leaves_high ? 0 : step == 1 ? t - 1 : step == 2 ? t + 1 : t;
        uint inside = owner * tile_length + moved(place, step, tile_length) - width;
        at = outside == 0 ? inside : outside == 1 ? place : place - width - tile_length;
        length = outside == 0 ? count * tile_length : width;
    }
};

struct Ghosts {
    ulong start[27];  // of the box of each direction, x + 3 y + 9 z by steps
};

template <typename Unit>
struct Unpack {
    device Unit *mine;
    device const Unit *packed;
    constant Block &block;
    constant Ghosts &ghosts;
    device const uint *around;
    uint3 t;  // the tile
    void operator()(uint3 at, uint3 steps) const {
        if (around[steps.x + 3 * steps.y + 9 * steps.z] != other_process) return;
        Ghost x(t.x, at.x, steps.x, tile.x, rim.x, block.tiles.x, block.below.x, block.above.x);
        Ghost y(t.y, at.y, steps.y, tile.y, rim.y, block.tiles.y, block.below.y, block.above.y);
        Ghost z(t.z, at.z, steps.z, tile.z, rim.z, block.tiles.z, block.below.z, block.above.z);
        ulong start = ghosts.start[x.outside + 3 * y.outside + 9 * z.outside];
        mine[index_in_tile(at)] = packed[start + (ulong(z.at) * y.length + y.at) * x.length + x.at];
    }
};

template <typename Unit>
kernel void halo_unpack(device Unit *field [[buffer(0)]], device const Unit *packed [[buffer(1)]],
                        constant Block &block [[buffer(2)]], constant Ghosts &ghosts [[buffer(3)]],
                        device const uint *neighbours [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {
    uint row = position.z / block.tiles.x;
    uint3 t = uint3(position.z % block.tiles.x, row % block.tiles.y, row / block.tiles.y);
    for_rim(position.xy, Unpack<Unit>{field + ulong(position.z) * tile_units, packed, block, ghosts,
                                      neighbours + 27 * ulong(position.z), t});
}

#define INSTANTIATE(kernel_name, bytes, Unit) \
    template [[host_name(#kernel_name "_" #bytes)]] kernel decltype(kernel_name<Unit>) kernel_name<Unit>;
#define INSTANTIATE_ALL(kernel_name)    \
    INSTANTIATE(kernel_name, 1, uchar)  \
    INSTANTIATE(kernel_name, 2, ushort) \
    INSTANTIATE(kernel_name, 4, uint)   \
    INSTANTIATE(kernel_name, 8, uint2)  \
    INSTANTIATE(kernel_name, 16, uint4)

INSTANTIATE_ALL(halo_pull)
INSTANTIATE_ALL(halo_pack)
INSTANTIATE_ALL(halo_unpack)
