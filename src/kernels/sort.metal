// SPDX-License-Identifier: Apache-2.0
// Sorting lines: elements become items with the same order and, if they are equal, in the order of positions, so that
// no two are the same and every sorting algorithm is stable. Blocks are sorted in threadgroup memory by Batcher's
// bitonic network (1968), then merged in passes, whose threads find their parts themselves (Odeh, Green, Mwassi,
// Shmueli, Birk, 2012).

// Matches igi_metal_sorting.
struct Sorting {
    ulong flip;      // inverts keys to sort in descending order
    uint length;     // of a line
    uint block;      // a power of two
    uint padded;     // items of a line: whole blocks
    int in_stride, value_stride, index_stride;
};

constant constexpr uint max_block = 1024, chunk = 16;

// ---- Items ----

struct Wide {
    ulong key;
    uint index;
};
static bool before(ulong a, ulong b) { return a < b; }
static bool before(Wide a, Wide b) { return a.key < b.key || (a.key == b.key && a.index < b.index); }
static uint index_of(ulong item) { return uint(item); }
static uint index_of(Wide item) { return item.index; }

// Keys of up to 32 bits precede their positions.
struct Narrow {
    typedef ulong Item;
    static ulong item(uint key, uint index, ulong flip) { return ulong(key ^ uint(flip)) << 32 | index; }
    static ulong last() { return ~0ul; }
};

// Below zero all bits are inverted, above only the sign. NaN, whatever its bits, is largest; both zeros are equal.
static uint float_key(uint bits, uint sign, uint infinity) {
    uint magnitude = bits & (sign - 1);
    if (magnitude > infinity) return sign | (sign - 1);
    if (magnitude == 0) return sign;
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

struct f32_order : Narrow {
    typedef uint Bits;
    static ulong of(uint x, uint i, ulong flip) { return item(float_key(x, 0x80000000u, 0x7f800000u), i, flip); }
};
struct f16_order : Narrow {
    typedef ushort Bits;
    static ulong of(ushort x, uint i, ulong flip) { return item(float_key(x, 0x8000, 0x7c00), i, flip); }
};
struct bf16_order : Narrow {
    typedef ushort Bits;
    static ulong of(ushort x, uint i, ulong flip) { return item(float_key(x, 0x8000, 0x7f80), i, flip); }
};
struct i32_order : Narrow {
    typedef uint Bits;
    static ulong of(uint x, uint i, ulong flip) { return item(x ^ 0x80000000u, i, flip); }
};
struct i8_order : Narrow {
    typedef uchar Bits;
    static ulong of(uchar x, uint i, ulong flip) { return item(uint(x) ^ 0x80, i, flip); }
};
struct u8_order : Narrow {
    typedef uchar Bits;
    static ulong of(uchar x, uint i, ulong flip) { return item(x, i, flip); }
};
struct i64_order {
    typedef ulong Bits;
    typedef Wide Item;
    static Wide of(ulong x, uint i, ulong flip) { return {x ^ 0x8000000000000000ul ^ flip, i}; }
    static Wide last() { return {~0ul, ~0u}; }
};

// ---- Kernels ----

// A group for each block (x) of each line (y). Padding to whole blocks comes last.
template <typename Order>
kernel void sort_blocks(device const typename Order::Bits *x [[buffer(0)]],
                        device typename Order::Item *items [[buffer(1)]], constant Sorting &s [[buffer(2)]],
                        constant Layout &starts [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
                        uint2 place [[thread_position_in_threadgroup]], uint2 size [[threads_per_threadgroup]]) {
    threadgroup typename Order::Item block[max_block];
    uint first = group.x * s.block;
    x += offset_of(group.y, starts.rank, starts, 1);
    items += group.y * s.padded + first;
    for (uint i = place.x; i < s.block; i += size.x) {
        uint at = first + i;
        block[i] = at < s.length ? Order::of(x[int(at) * s.in_stride], at, s.flip) : Order::last();
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint width = 2; width <= s.block; width *= 2)
        for (uint distance = width / 2; distance > 0; distance /= 2) {
            for (uint pair = place.x; pair < s.block / 2; pair += size.x) {
                uint low = 2 * pair - (pair & (distance - 1)), high = low + distance;
                typename Order::Item a = block[low], b = block[high];
                bool up = (low & width) == 0;
                if (before(b, a) == up) block[low] = b, block[high] = a;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    for (uint i = place.x; i < s.block; i += size.x) items[i] = block[i];
}

// Two runs of sorted items become one: a thread for each chunk (x) of each line (y).
template <typename Item>
kernel void sort_merge(device const Item *from [[buffer(0)]], device Item *to [[buffer(1)]],
                       constant Sorting &s [[buffer(2)]], constant uint &run [[buffer(3)]],
                       uint2 position [[thread_position_in_grid]]) {
    uint begin = position.x * chunk, left = begin / run / 2 * run * 2;
    uint middle = min(left + run, s.padded), end = min(left + 2 * run, s.padded);
    from += position.y * s.padded;
    to += position.y * s.padded;
    // How many of the items before the chunk come from the left.
    uint done = begin - left, right = end - middle;
    uint low = done > right ? done - right : 0, high = min(done, middle - left);
    while (low < high) {
        uint half_way = (low + high) / 2;
        if (before(from[left + half_way], from[middle + done - 1 - half_way]))
            low = half_way + 1;
        else
            high = half_way;
    }
    uint i = left + low, j = middle + done - low, stop = min(begin + chunk, end);
    for (uint at = begin; at < stop; at++) {
        bool take_right = i >= middle || (j < end && before(from[j], from[i]));
        to[at] = from[take_right ? j : i];
        j += uint(take_right);
        i += uint(!take_right);
    }
}

// Values and positions of the first few: a thread for each (x) of each line (y).
template <typename Order>
kernel void sort_write(device const typename Order::Bits *x [[buffer(0)]],
                       device const typename Order::Item *items [[buffer(1)]], constant Sorting &s [[buffer(2)]],
                       constant Layout &starts [[buffer(3)]], device typename Order::Bits *values [[buffer(4)]],
                       device long *indices [[buffer(5)]], uint2 position [[thread_position_in_grid]]) {
    uint line = position.y, index = index_of(items[line * s.padded + position.x]);
    int at = int(position.x);
    values[offset_of(line, starts.rank, starts, 0) + at * s.value_stride] =
        x[offset_of(line, starts.rank, starts, 1) + int(index) * s.in_stride];
    indices[offset_of(line, starts.rank, starts, 2) + at * s.index_stride] = long(index);
}

#define INSTANCES(suffix)                                                                                            \
    template [[host_name("blocks_" #suffix)]] kernel void sort_blocks<suffix##_order>(                               \
        device const suffix##_order::Bits *, device suffix##_order::Item *, constant Sorting &, constant Layout &,   \
        uint2, uint2, uint2);                                                                                        \
    template [[host_name("write_" #suffix)]] kernel void sort_write<suffix##_order>(                                 \
        device const suffix##_order::Bits *, device const suffix##_order::Item *, constant Sorting &,                \
        constant Layout &, device suffix##_order::Bits *, device long *, uint2);
INSTANCES(f32)
INSTANCES(f16)
INSTANCES(bf16)
INSTANCES(i64)
INSTANCES(i32)
INSTANCES(i8)
INSTANCES(u8)

#define MERGE(suffix, Item)                                                                                          \
    template [[host_name("merge_" #suffix)]] kernel void sort_merge<Item>(device const Item *, device Item *,        \
                                                                         constant Sorting &, constant uint &, uint2);
MERGE(narrow, ulong)
MERGE(wide, Wide)
