// SPDX-License-Identifier: Apache-2.0
// Halo exchange between tiles. A field is stored as include/ingot/halo.h says, but x counts units: the largest power of
// two bytes, up to 16, that divides an element. Every cell of a rim fetches its own value, so that faces, edges and
// corners are filled at once and in any order.

constant uint3 tile [[function_constant(1)]];
constant uint3 rim [[function_constant(2)]];
constant bool faces_only [[function_constant(3)]];

enum Beyond { NOTHING, OTHER_END, OTHER_PROCESS };
struct Block {
    uint3 tiles;
    uint3 below, above;  // what lies before the first tile of each axis, and behind the last
};

constant uint padded_x = tile.x + 2 * rim.x;
constant uint padded_y = tile.y + 2 * rim.y;
constant uint padded_z = tile.z + 2 * rim.z;
constant uint tile_units = padded_x * padded_y * padded_z;

static inline uint index_in_tile(uint3 at) {
    return (at.z * padded_y + at.y) * padded_x + at.x;
}

static inline ulong start_of(constant Block &block, uint3 t) {
    return ((ulong(t.z) * block.tiles.y + t.y) * block.tiles.x + t.x) * tile_units;
}

static inline uint3 tile_at(constant Block &block, uint number) {
    uint row = number / block.tiles.x;
    return uint3(number % block.tiles.x, row % block.tiles.y, row / block.tiles.y);
}

// Where along one axis the value of a rim's cell comes from.
struct Origin {
    uint tile, at;  // `at` is a place in the padded tile, or in the ghosts when it is outside
    uint outside;   // 1 below the block, 2 above it
    bool exists, moved;
    Origin(bool in_rim, uint t, uint place, uint length, uint width, uint count, uint before, uint behind) {
        bool low = in_rim && place < width, high = in_rim && place >= width + length;
        bool leaves_low = low && t == 0, leaves_high = high && t + 1 == count;
        uint beyond = leaves_low ? before : leaves_high ? behind : uint(OTHER_END);
        moved = low || high;
        exists = beyond != NOTHING;
        outside = beyond == OTHER_PROCESS ? (low ? 1 : 2) : 0;
        tile = leaves_low ? count - 1 : leaves_high ? 0 : low ? t - 1 : high ? t + 1 : t;
        at = low ? place + (outside ? 0 : length) : high ? place - length - (outside ? width : 0) : place;
    }
};

struct Origins {
    Origin x, y, z;
    // Says where the rim can be, so that what is known to stay in its tile is read in rows.
    Origins(constant Block &block, uint3 t, uint3 at, bool x_in_rim, bool yz_in_rim)
        : x(x_in_rim, t.x, at.x, tile.x, rim.x, block.tiles.x, block.below.x, block.above.x),
          y(yz_in_rim, t.y, at.y, tile.y, rim.y, block.tiles.y, block.below.y, block.above.y),
          z(yz_in_rim, t.z, at.z, tile.z, rim.z, block.tiles.z, block.below.z, block.above.z) {}
    bool exist() const { return x.exists && y.exists && z.exists; }
    bool local() const { return !(x.outside || y.outside || z.outside); }
    ulong tile_start(constant Block &block) const { return start_of(block, uint3(x.tile, y.tile, z.tile)); }
    uint index() const { return index_in_tile(uint3(x.at, y.at, z.at)); }
};

// The rim of a tile in three parts, each a number of rows of tile.x threads:
// rows above, below, in front and behind, as long as the tile; columns left and right of its rows, a thread for each row;
// and edges and corners at both ends of the first part, a thread for each unit.
constant uint plane_rows = 2 * rim.z * padded_y;
constant uint face_rows = plane_rows + tile.z * 2 * rim.y;
constant uint column_rows = (tile.y * tile.z + tile.x - 1) / tile.x;

static inline uint2 face_row(uint row) {
    if (row < plane_rows) {
        uint z = row / padded_y;
        return uint2(row % padded_y, z < rim.z ? z : z + tile.z);
    }
    uint y = (row - plane_rows) % (2 * rim.y);
    return uint2(y < rim.y ? y : y + tile.y, rim.z + (row - plane_rows) / (2 * rim.y));
}

template <typename Move>
static inline void for_rim(uint3 position, Move move) {
    uint row = position.y;
    if (row < face_rows) {
        uint2 yz = face_row(row);
        bool edge = yz.x < rim.y || yz.x >= rim.y + tile.y;
        bool plane = yz.y < rim.z || yz.y >= rim.z + tile.z;
        if (!(faces_only && edge && plane)) move(uint3(rim.x + position.x, yz), false, true);
    } else if (row < face_rows + column_rows) {
        uint line = (row - face_rows) * tile.x + position.x;
        if (line >= tile.y * tile.z) return;
        uint y = rim.y + (tile.z == 1 ? line : line % tile.y), z = rim.z + (tile.z == 1 ? 0 : line / tile.y);
        for (uint x = 0; x < rim.x; x++) move(uint3(x, y, z), true, false);
        for (uint x = 0; x < rim.x; x++) move(uint3(rim.x + tile.x + x, y, z), true, false);
    } else {
        uint unit = (row - face_rows - column_rows) * tile.x + position.x, x = unit % (2 * rim.x);
        if (unit < face_rows * 2 * rim.x) move(uint3(x < rim.x ? x : x + tile.x, face_row(unit / (2 * rim.x))), true, true);
    }
}

// From tiles of this process.
template <typename Unit>
kernel void halo_pull(device Unit *field [[buffer(0)]], constant Block &block [[buffer(1)]],
                      uint3 position [[thread_position_in_grid]]) {
    device Unit *mine = field + ulong(position.z) * tile_units;
    uint3 t = tile_at(block, position.z);
    for_rim(position, [=, &block](uint3 at, bool x_in_rim, bool yz_in_rim) {
        Origins from(block, t, at, x_in_rim, yz_in_rim);
        if (from.exist() && from.local()) mine[index_in_tile(at)] = (field + from.tile_start(block))[from.index()];
    });
}

// ---- Between processes ----

// Boxes of the block's cells, one for each direction: as wide as the rim where it looks, as long as the block elsewhere.
struct Box {
    uint3 start, size;
};

template <typename Unit>
kernel void halo_pack(device const Unit *field [[buffer(0)]], constant Block &block [[buffer(1)]],
                      device Unit *packed [[buffer(2)]], constant Box &box [[buffer(3)]],
                      uint3 position [[thread_position_in_grid]]) {
    uint3 cell = box.start + position, t = cell / tile;
    packed[(ulong(position.z) * box.size.y + position.y) * box.size.x + position.x] =
        field[start_of(block, t) + index_in_tile(cell - t * tile + rim)];
}

struct Ghosts {
    ulong start[27];  // of the box of each direction, by `outside`: x + 3 y + 9 z
};

static inline uint ghost_at(Origin from, uint length, uint width) {
    return from.outside ? from.at : from.tile * length + from.at - width;
}

// From ghosts that have arrived.
template <typename Unit>
kernel void halo_unpack(device Unit *field [[buffer(0)]], constant Block &block [[buffer(1)]],
                        device const Unit *packed [[buffer(2)]], constant Ghosts &ghosts [[buffer(3)]],
                        uint3 position [[thread_position_in_grid]]) {
    device Unit *mine = field + ulong(position.z) * tile_units;
    uint3 t = tile_at(block, position.z);
    for_rim(position, [=, &block, &ghosts](uint3 at, bool x_in_rim, bool yz_in_rim) {
        Origins from(block, t, at, x_in_rim, yz_in_rim);
        if (!from.exist() || from.local()) return;
        uint width = from.x.outside ? rim.x : block.tiles.x * tile.x;
        uint height = from.y.outside ? rim.y : block.tiles.y * tile.y;
        ulong row = ulong(ghost_at(from.z, tile.z, rim.z)) * height + ghost_at(from.y, tile.y, rim.y);
        ulong start = ghosts.start[from.x.outside + 3 * from.y.outside + 9 * from.z.outside];
        mine[index_in_tile(at)] = packed[start + row * width + ghost_at(from.x, tile.x, rim.x)];
    });
}

#define INSTANTIATE(kernel_name, bytes, Unit) \
    template [[host_name(#kernel_name "_" #bytes)]] kernel decltype(kernel_name<Unit>) kernel_name<Unit>;
#define INSTANTIATE_ALL(kernel_name)      \
    INSTANTIATE(kernel_name, 1, uchar)    \
    INSTANTIATE(kernel_name, 2, ushort)   \
    INSTANTIATE(kernel_name, 4, uint)     \
    INSTANTIATE(kernel_name, 8, uint2)    \
    INSTANTIATE(kernel_name, 16, uint4)

INSTANTIATE_ALL(halo_pull)
INSTANTIATE_ALL(halo_pack)
INSTANTIATE_ALL(halo_unpack)
