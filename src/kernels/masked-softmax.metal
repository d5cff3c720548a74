// SPDX-License-Identifier: Apache-2.0
// Softmax of scaled and masked rows: a simdgroup for each row, whose threads take elements 32 apart.

// Matches igi_metal_masked.
struct Masked {
    uint queries, keys;
    int x_stride, mask_stride, out_stride;  // within a row, in elements
    float scale;
    uint query_position, window, causal;
};

// The keys a query sees.
static uint2 visible(constant Masked &m, uint query) {
    uint position = m.query_position + query, begin = 0, end = m.keys;
    if (m.causal && position < m.keys) end = position + 1;
    if (m.window && position >= m.window) begin = position + 1 - m.window;
    return uint2(min(begin, end), end);
}

struct NoMask {
    static float of(float x, float) { return x; }
};
struct AddedMask {
    static float of(float x, float mask) { return x + mask; }
};
struct KeptMask {
    static float of(float x, float mask) { return mask != 0.0f ? x : -INFINITY; }
};

// Operands of the layout, without the last dimension: the result, x, the mask.
template <typename T, typename M, typename Mask>
kernel void masked_softmax(device const T *x [[buffer(0)]], device const M *mask [[buffer(1)]],
                           device T *out [[buffer(2)]], constant Masked &m [[buffer(3)]],
                           constant Layout &rows [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    out += offset_of(row, rows.rank, rows, 0);
    x += offset_of(row, rows.rank, rows, 1);
    mask += offset_of(row, rows.rank, rows, 2);
    uint2 seen = visible(m, row % m.queries);
    float most = -INFINITY, sum = 0.0f;
    for (uint i = seen.x + lane; i < seen.y; i += 32) {
        float a = Mask::of(float(x[int(i) * m.x_stride]) * m.scale, float(mask[int(i) * m.mask_stride]));
        most = isnan(a) || a > most ? a : most;
    }
    bool nan = simd_any(isnan(most));
    most = nan ? NAN : simd_max(most);
    bool empty = most == -INFINITY;
    for (uint i = seen.x + lane; i < seen.y; i += 32)
        sum += exp(Mask::of(float(x[int(i) * m.x_stride]) * m.scale, float(mask[int(i) * m.mask_stride])) - most);
    float scale = 1.0f / simd_sum(sum);
    for (uint i = lane; i < m.keys; i += 32) {
        float value = 0.0f;
        if (i >= seen.x && i < seen.y && !empty)
            value = scale * exp(Mask::of(float(x[int(i) * m.x_stride]) * m.scale, float(mask[int(i) * m.mask_stride])) -
                                most);
        out[int(i) * m.out_stride] = T(value);
    }
}

#define INSTANCE(suffix, T, name, M, Mask)                                                                    \
    template [[host_name(#name "_" #suffix)]] kernel void masked_softmax<T, M, Mask>(                         \
        device const T *, device const M *, device T *, constant Masked &, constant Layout &, uint, uint);
#define ADDED(suffix, T, name) INSTANCE(suffix, T, name, T, AddedMask)
#define PLAIN(suffix, T, name) INSTANCE(suffix, T, name, T, NoMask)
FOR_FLOATS(PLAIN, plain)
FOR_FLOATS(ADDED, added)
FOR_FLOATS(INSTANCE, kept, uchar, KeptMask)
