// SPDX-License-Identifier: Apache-2.0
// Weights in blocks of 256, whose parts of 16 or 32 have scales of few bits. The layouts are those of
// nn/scalar/unpack.c, the rounding is that of nn/scalar/quantize-k.c.

// ---- Formats ----

static float half_at(device const uchar *from) { return float(*(device const half *)from); }

// The bits of weights i and i + 16 in 32 bytes.
static uint2 bits_at(device const uchar *bytes, uint i, uint shift, uint mask) {
    return uint2(bytes[i], bytes[i + 16]) >> shift & mask;
}

struct q2_k {
    static constexpr constant uint bytes = 84, groups = 8;
    static float2 pair(device const uchar *block, uint group, uint i) {
        uint2 parts = uint2(block[2 * group], block[2 * group + 1]);
        float2 numbers = float2(bits_at(block + 16 + group / 4 * 32, i, group % 4 * 2, 3));
        return fma(numbers, float2(parts & 15) * half_at(block + 80), float2(parts >> 4) * -half_at(block + 82));
    }
};

struct q3_k {
    static constexpr constant uint bytes = 110, groups = 8;
    static int scale(device const uchar *bytes, uint i) {
        return int((bytes[i % 8] >> i / 8 * 4 & 15) | (bytes[8 + i % 4] >> i / 4 * 2 & 3) << 4) - 32;
    }
    static float2 pair(device const uchar *block, uint group, uint i) {
        device const uchar *scales = block + 96;
        float2 parts = float2(float(scale(scales, 2 * group)), float(scale(scales, 2 * group + 1)));
        uint2 low = bits_at(block + 32 + group / 4 * 32, i, group % 4 * 2, 3), high = bits_at(block, i, group, 1);
        return float2(int2(low | high << 2) - 4) * (parts * half_at(block + 108));
    }
};

// A scale and a minimum for each 32.
static float2 spread(device const uchar *block, uint group, uint2 numbers) {
    device const uchar *sixes = block + 4 + group % 4;
    bool first = group < 4;
    uint a = sixes[0], b = sixes[4], c = sixes[8];
    uint scale = first ? a & 63 : (c & 15) | a >> 6 << 4, minimum = first ? b & 63 : c >> 4 | b >> 6 << 4;
    return fma(float2(numbers), half_at(block) * float(scale), -half_at(block + 2) * float(minimum));
}

struct q4_k {
    static constexpr constant uint bytes = 144, groups = 8;
    static float2 pair(device const uchar *block, uint group, uint i) {
        return spread(block, group, bits_at(block + 16 + group / 2 * 32, i, group % 2 * 4, 15));
    }
};

struct q5_k {
    static constexpr constant uint bytes = 176, groups = 8;
    static float2 pair(device const uchar *block, uint group, uint i) {
        uint2 low = bits_at(block + 48 + group / 2 * 32, i, group % 2 * 4, 15);
        return spread(block, group, low | bits_at(block + 16, i, group, 1) << 4);
    }
};

struct q6_k {
    static constexpr constant uint bytes = 210, groups = 8;
    static float2 pair(device const uchar *block, uint group, uint i) {
        uint half_block = group / 4, quarter = group % 4;
        uint2 low = bits_at(block + half_block * 64 + quarter % 2 * 32, i, quarter / 2 * 4, 15);
        uint2 high = bits_at(block + 128 + half_block * 32, i, quarter * 2, 3);
        device const char *scales = (device const char *)block + 192 + 2 * group;
        return float2(int2(low | high << 4) - 32) * (float2(float(scales[0]), float(scales[1])) * half_at(block + 208));
    }
};

// ---- To blocks: a thread for each ----

static float inverse_of(float x) { return x != 0.0f && isfinite(x) ? 1.0f / x : 0.0f; }

// Returns the value as stored.
static float put_half(device uchar *to, float x) {
    half kept = half(x);
    *(device half *)to = kept;
    return float(kept);
}

static int whole(float x, int low, int high) { return int(clamp(x, float(low), float(high))); }

// Kernels are compiled when they are needed, and copies of a loop's body take time to compile.
#define LOOP _Pragma("clang loop unroll(disable)") for

template <typename T>
struct Block {
    device const T *x;
    int step;
    int zero, most;  // the code that means 0, and the greatest code
    uint each;       // weights of a part
    float scale, minimum;
    int scales[16], minima[16];

    float at(uint i) const { return float(x[int(i) * step]); }
    int code(uint i) const {
        float above = fma(minimum, float(minima[i / each]), at(i)), inverse = inverse_of(scale * float(scales[i / each]));
        return whole(fma(above, inverse, float(zero) + 0.5f), 0, most);
    }
};

// Scales and minima: zero is always within the range of a part, because minima have no sign.
template <typename T>
static void spread_out(thread Block<T> &b, int most_scale, device uchar *scale_at, device uchar *minimum_at) {
    float steps[16], lows[16], most_step = 0.0f, most_low = 0.0f;
    LOOP (uint part = 0; part < 256 / b.each; part++) {
        float low = 0.0f, high = 0.0f;
        LOOP (uint i = 0; i < b.each; i++) low = min(low, b.at(part * b.each + i)), high = max(high, b.at(part * b.each + i));
        steps[part] = (high - low) / float(b.most), lows[part] = -low;
        most_step = max(most_step, steps[part]), most_low = max(most_low, -low);
    }
    b.scale = put_half(scale_at, most_step / float(most_scale));
    b.minimum = put_half(minimum_at, most_low / float(most_scale));
    LOOP (uint part = 0; part < 256 / b.each; part++) {
        b.scales[part] = whole(fma(steps[part], inverse_of(b.scale), 0.5f), 0, most_scale);
        b.minima[part] = whole(fma(lows[part], inverse_of(b.minimum), 0.5f), 0, most_scale);
    }
}

// Scales of both signs: the first element of the greatest magnitude becomes the lowest number, and the greatest scale
// the lowest. Magnitudes are kept in separate variables (see igi_extreme).
template <typename T>
static void spread_around_zero(thread Block<T> &b, int most_scale, device uchar *scale_at) {
    float steps[16], extreme = 0.0f, size = 0.0f;
    LOOP (uint part = 0; part < 16; part++) {
        float most = 0.0f, most_size = 0.0f;
        LOOP (uint i = part * 16; i < part * 16 + 16; i++)
            if (abs(b.at(i)) > most_size) most = b.at(i), most_size = abs(most);
        steps[part] = most / float(-b.zero);
        if (abs(steps[part]) > size) extreme = steps[part], size = abs(extreme);
    }
    b.scale = put_half(scale_at, extreme / float(-most_scale)), b.minimum = 0.0f;
    LOOP (uint part = 0; part < 16; part++) {
        b.scales[part] = whole(round(steps[part] * inverse_of(b.scale)), -most_scale, most_scale - 1);
        b.minima[part] = 0;
    }
}

// 32 bytes with `bits` bits each, from bit `from` on, of the codes of `count` times 32 weights that are `distance`
// apart.
template <typename T>
static void put_bits(thread const Block<T> &b, uint first, uint count, uint distance, uint from, uint bits,
                     device uchar *bytes) {
    LOOP (uint lane = 0; lane < 32; lane++) {
        uint byte = 0;
        LOOP (uint i = 0; i < count; i++)
            byte |= (uint(b.code((first + i * distance) * 32 + lane)) >> from & ((1u << bits) - 1)) << i * bits;
        bytes[lane] = uchar(byte);
    }
}

template <typename T>
static void put_sixes(thread const Block<T> &b, device uchar *bytes) {
    for (uint g = 0; g < 4; g++) {
        int scale = b.scales[g + 4], minimum = b.minima[g + 4];
        bytes[g] = uchar(b.scales[g] | scale >> 4 << 6);
        bytes[g + 4] = uchar(b.minima[g] | minimum >> 4 << 6);
        bytes[g + 8] = uchar((scale & 15) | (minimum & 15) << 4);
    }
}

template <typename T>
static void pack_q2_k(thread Block<T> &b, device uchar *block) {
    b.zero = 0, b.most = 3, b.each = 16;
    spread_out(b, 15, block + 80, block + 82);
    LOOP (uint part = 0; part < 16; part++) block[part] = uchar(b.scales[part] | b.minima[part] << 4);
    LOOP (uint i = 0; i < 2; i++) put_bits(b, 4 * i, 4, 1, 0, 2, block + 16 + 32 * i);
}

template <typename T>
static void pack_q3_k(thread Block<T> &b, device uchar *block) {
    b.zero = 4, b.most = 7, b.each = 16;
    spread_around_zero(b, 32, block + 108);
    LOOP (uint i = 0; i < 8; i++)
        block[96 + i] = uchar(((b.scales[i] + 32) & 15) | ((b.scales[i + 8] + 32) & 15) << 4);
    LOOP (uint i = 0; i < 4; i++) {
        uint byte = 0;
        LOOP (uint j = 0; j < 4; j++) byte |= uint(b.scales[i + 4 * j] + 32) >> 4 << 2 * j;
        block[104 + i] = uchar(byte);
    }
    LOOP (uint i = 0; i < 2; i++) put_bits(b, 4 * i, 4, 1, 0, 2, block + 32 + 32 * i);
    put_bits(b, 0, 8, 1, 2, 1, block);
}

template <typename T>
static void pack_q4_k(thread Block<T> &b, device uchar *block) {
    b.zero = 0, b.most = 15, b.each = 32;
    spread_out(b, 63, block, block + 2);
    put_sixes(b, block + 4);
    LOOP (uint i = 0; i < 4; i++) put_bits(b, 2 * i, 2, 1, 0, 4, block + 16 + 32 * i);
}

template <typename T>
static void pack_q5_k(thread Block<T> &b, device uchar *block) {
    b.zero = 0, b.most = 31, b.each = 32;
    spread_out(b, 63, block, block + 2);
    put_sixes(b, block + 4);
    LOOP (uint i = 0; i < 4; i++) put_bits(b, 2 * i, 2, 1, 0, 4, block + 48 + 32 * i);
    put_bits(b, 0, 8, 1, 4, 1, block + 16);
}

template <typename T>
static void pack_q6_k(thread Block<T> &b, device uchar *block) {
    b.zero = 32, b.most = 63, b.each = 16;
    spread_around_zero(b, 128, block + 208);
    LOOP (uint part = 0; part < 16; part++) block[192 + part] = uchar(char(b.scales[part]));
    LOOP (uint i = 0; i < 4; i++) put_bits(b, i / 2 * 4 + i % 2, 2, 2, 0, 4, block + 32 * i);
    LOOP (uint i = 0; i < 2; i++) put_bits(b, 4 * i, 4, 1, 4, 2, block + 128 + 32 * i);
}

#define FORMAT(format)                                                                                          \
    template <typename T>                                                                                       \
    kernel void quantize_##format(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],             \
                                  constant Weights &w [[buffer(2)]], uint2 at [[thread_position_in_grid]],      \
                                  uint [[thread_index_in_simdgroup]]) {                                         \
        Block<T> b;                                                                                             \
        b.x = x + int(at.y) * w.x_row + int(at.x * 256) * w.x_step, b.step = w.x_step;                          \
        pack_##format(b, out + ulong(at.y) * w.row_bytes + at.x * format::bytes);                               \
    }                                                                                                           \
    FOR_FLOATS(QUANTIZE, quantize_##format)                                                                     \
    BLOCKS(format)

FORMAT(q2_k)
FORMAT(q3_k)
FORMAT(q4_k)
FORMAT(q5_k)
FORMAT(q6_k)
