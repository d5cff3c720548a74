// SPDX-License-Identifier: Apache-2.0
// Softmax, layer norm, rms norm and cumulative sums: a threadgroup for each line, whose threads take elements a
// threadgroup apart.

// Matches igi_metal_lines.
struct Lines {
    uint length;
    int out_stride, in_stride;  // within a line, in elements
    int weight_stride, bias_stride;
    uint has_weight, has_bias;
    float epsilon;
};

// The place of a thread in its group.
struct Place {
    uint index, size, lane, simdgroup, simdgroups;
};

// Over the group, for all its threads. `scratch` may be reused after the next barrier.
static float group_sum(float s, threadgroup float *scratch, Place p) {
    s = simd_sum(s);
    if (p.simdgroups == 1) return s;
    if (p.lane == 0) scratch[p.simdgroup] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(p.lane < p.simdgroups ? scratch[p.lane] : 0.0f);
}

// NaN is largest.
static float simd_largest(float s) {
    bool nan = simd_any(isnan(s));
    return nan ? NAN : simd_max(s);
}

static float group_largest(float s, threadgroup float *scratch, Place p) {
    s = simd_largest(s);
    if (p.simdgroups == 1) return s;
    if (p.lane == 0) scratch[p.simdgroup] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_largest(p.lane < p.simdgroups ? scratch[p.lane] : -INFINITY);
}

#define PLACE Place{index, size, lane, simdgroup, simdgroups}
#define PLACE_PARAMETERS                                                                                       \
    uint group [[threadgroup_position_in_grid]], uint index [[thread_position_in_threadgroup]],               \
        uint size [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],                        \
        uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]

// A line of only -inf gives zeros, or -inf.
template <typename T, bool logarithm, bool in_order>
kernel void softmax(device const T *x [[buffer(0)]], device T *out [[buffer(1)]], constant Lines &lines [[buffer(2)]],
                    constant Layout &starts [[buffer(3)]], PLACE_PARAMETERS) {
    threadgroup float scratch[2][32];
    x += offset_of(group, starts.rank, starts, 1);
    out += offset_of(group, starts.rank, starts, 0);
    int in_stride = in_order ? 1 : lines.in_stride, out_stride = in_order ? 1 : lines.out_stride;
    float most = -INFINITY;
    for (uint i = index; i < lines.length; i += size) {
        float a = float(x[int(i) * in_stride]);
        most = isnan(a) || a > most ? a : most;
    }
    most = group_largest(most, scratch[0], PLACE);
    bool empty = most == -INFINITY;
    float sum = 0.0f;
    for (uint i = index; i < lines.length; i += size) sum += exp(float(x[int(i) * in_stride]) - most);
    sum = group_sum(sum, scratch[1], PLACE);
    float scale = logarithm ? log(sum) : 1.0f / sum;
    for (uint i = index; i < lines.length; i += size) {
        float off = float(x[int(i) * in_stride]) - most;
        float value = logarithm ? off - scale : exp(off) * scale;
        out[int(i) * out_stride] = T(empty ? (logarithm ? -INFINITY : 0.0f) : value);
    }
}

// A thread for each line, if neighbours in memory belong to different lines.
template <typename T, bool logarithm>
kernel void softmax_columns(device const T *x [[buffer(0)]], device T *out [[buffer(1)]],
                            constant Lines &lines [[buffer(2)]], constant Layout &starts [[buffer(3)]],
                            uint2 position [[thread_position_in_grid]]) {
    Offsets<2> first(position, starts);
    float most = -INFINITY, sum = 0.0f;
    for (uint i = 0; i < lines.length; i++) {
        float a = float(x[first.at[1] + int(i) * lines.in_stride]);
        most = isnan(a) || a > most ? a : most;
    }
    for (uint i = 0; i < lines.length; i++) sum += exp(float(x[first.at[1] + int(i) * lines.in_stride]) - most);
    bool empty = most == -INFINITY;
    float scale = logarithm ? log(sum) : 1.0f / sum;
    for (uint i = 0; i < lines.length; i++) {
        float off = float(x[first.at[1] + int(i) * lines.in_stride]) - most;
        float value = logarithm ? off - scale : exp(off) * scale;
        out[first.at[0] + int(i) * lines.out_stride] = T(empty ? (logarithm ? -INFINITY : 0.0f) : value);
    }
}

// A simdgroup for each line: 32 sums at a time, added to what came before.
template <typename T, bool in_order>
kernel void cumsum(device const T *x [[buffer(0)]], device T *out [[buffer(1)]], constant Lines &lines [[buffer(2)]],
                   constant Layout &starts [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
    x += offset_of(group, starts.rank, starts, 1);
    out += offset_of(group, starts.rank, starts, 0);
    int in_stride = in_order ? 1 : lines.in_stride, out_stride = in_order ? 1 : lines.out_stride;
    float before = 0.0f;
    for (uint from = 0; from < lines.length; from += 32) {
        uint i = from + lane;
        float a = i < lines.length ? float(x[int(i) * in_stride]) : 0.0f;
        float sum = before + simd_prefix_inclusive_sum(a);
        if (i < lines.length) out[int(i) * out_stride] = T(sum);
        before = simd_broadcast(sum, 31);
    }
}

// For integers, which wrap around.
template <typename T, bool in_order>
kernel void cumsum_integers(device const T *x [[buffer(0)]], device long *out [[buffer(1)]],
                            constant Lines &lines [[buffer(2)]], constant Layout &starts [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    x += offset_of(group, starts.rank, starts, 1);
    out += offset_of(group, starts.rank, starts, 0);
    int in_stride = in_order ? 1 : lines.in_stride, out_stride = in_order ? 1 : lines.out_stride;
    ulong before = 0;
    for (uint from = 0; from < lines.length; from += 32) {
        uint i = from + lane;
        ulong sum = i < lines.length ? ulong(long(x[int(i) * in_stride])) : 0;
        for (ushort distance = 1; distance < 32; distance *= 2) {
            ulong other = shuffle_up(sum, distance);
            sum += lane >= distance ? other : 0;
        }
        sum += before;
        if (i < lines.length) out[int(i) * out_stride] = long(sum);
        before = broadcast(sum, 31);
    }
}

template <typename T, bool centred, bool in_order>
kernel void norm(device const T *x [[buffer(0)]], device T *out [[buffer(1)]], constant Lines &lines [[buffer(2)]],
                 constant Layout &starts [[buffer(3)]], device const T *weight [[buffer(4)]],
                 device const T *bias [[buffer(5)]], PLACE_PARAMETERS) {
    threadgroup float scratch[3][32];
    x += offset_of(group, starts.rank, starts, 1);
    out += offset_of(group, starts.rank, starts, 0);
    int in_stride = in_order ? 1 : lines.in_stride, out_stride = in_order ? 1 : lines.out_stride;
    int weight_stride = in_order ? 1 : lines.weight_stride, bias_stride = in_order ? 1 : lines.bias_stride;
    float centre = 0.0f;
    if (centred) {
        float sum = 0.0f;
        for (uint i = index; i < lines.length; i += size) sum += float(x[int(i) * in_stride]);
        centre = group_sum(sum, scratch[0], PLACE) / float(lines.length);
    }
    // The rounding error of the centre is noticeable if elements are nearly equal, so it is subtracted too.
    float squares = 0.0f, rest = 0.0f;
    for (uint i = index; i < lines.length; i += size) {
        float off = float(x[int(i) * in_stride]) - centre;
        squares = fma(off, off, squares);
        rest += off;
    }
    squares = group_sum(squares, scratch[1], PLACE) / float(lines.length);
    rest = centred ? group_sum(rest, scratch[2], PLACE) / float(lines.length) : 0.0f;
    float variance = fma(-rest, rest, squares);
    float scale = 1.0f / sqrt((variance < 0.0f ? 0.0f : variance) + lines.epsilon);
    for (uint i = index; i < lines.length; i += size) {
        float value = ((float(x[int(i) * in_stride]) - centre) - rest) * scale;
        if (lines.has_weight) value *= float(weight[int(i) * weight_stride]);
        if (lines.has_bias) value += float(bias[int(i) * bias_stride]);
        out[int(i) * out_stride] = T(value);
    }
}

#define SOFTMAX(suffix, T, name, logarithm, in_order)                                                    \
    template [[host_name(#name "_" #suffix)]] kernel void softmax<T, logarithm, in_order>(               \
        device const T *, device T *, constant Lines &, constant Layout &, uint, uint, uint, uint, uint, uint);
#define NORM(suffix, T, name, centred, in_order)                                                         \
    template [[host_name(#name "_" #suffix)]] kernel void norm<T, centred, in_order>(                    \
        device const T *, device T *, constant Lines &, constant Layout &, device const T *, device const T *, uint, \
        uint, uint, uint, uint, uint);

#define COLUMNS(suffix, T, name, logarithm)                                                                 \
    template [[host_name(#name "_" #suffix)]] kernel void softmax_columns<T, logarithm>(                    \
        device const T *, device T *, constant Lines &, constant Layout &, uint2);
#define CUMSUM(suffix, T, name, in_order)                                                                   \
    template [[host_name(#name "_" #suffix)]] kernel void cumsum<T, in_order>(                              \
        device const T *, device T *, constant Lines &, constant Layout &, uint, uint);
#define CUMSUM_INTEGERS(suffix, T, name, in_order)                                                          \
    template [[host_name(#name "_" #suffix)]] kernel void cumsum_integers<T, in_order>(                     \
        device const T *, device long *, constant Lines &, constant Layout &, uint, uint);

FOR_INTEGERS(CUMSUM_INTEGERS, cumsum, true)
FOR_INTEGERS(CUMSUM_INTEGERS, cumsum_strided, false)
FOR_FLOATS(CUMSUM, cumsum, true)
FOR_FLOATS(CUMSUM, cumsum_strided, false)
FOR_FLOATS(COLUMNS, softmax_columns, false)
FOR_FLOATS(COLUMNS, log_softmax_columns, true)
FOR_FLOATS(SOFTMAX, softmax, false, true)
FOR_FLOATS(SOFTMAX, softmax_strided, false, false)
FOR_FLOATS(SOFTMAX, log_softmax, true, true)
FOR_FLOATS(SOFTMAX, log_softmax_strided, true, false)
FOR_FLOATS(NORM, layer_norm, true, true)
FOR_FLOATS(NORM, layer_norm_strided, true, false)
FOR_FLOATS(NORM, rms_norm, false, true)
FOR_FLOATS(NORM, rms_norm_strided, false, false)
