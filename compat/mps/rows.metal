// SPDX-License-Identifier: Apache-2.0
// One simdgroup for each row of a matrix; sums in float.
#include <metal_stdlib>
using namespace metal;

struct Rows {
    ulong matrix, result, indices;  // from one matrix to the next, in elements
    uint row, column;               // likewise; a transposed matrix has them the other way round
    uint result_row, indices_row;
    uint columns, values, offset;
    float alpha, beta;
};

constant constexpr uint lanes = 32, most = 16;

template <typename T>
[[kernel]] void multiply_vector(device const T *matrix [[buffer(0)]], device const T *vector [[buffer(1)]],
                                device T *result [[buffer(2)]], constant Rows &p [[buffer(3)]],
                                constant ulong &vector_stride [[buffer(4)]],
                                uint2 group [[threadgroup_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
    matrix += group.y * p.matrix + ulong(group.x) * p.row;
    vector += group.y * vector_stride, result += group.y * p.result;
    float sum = 0;
    for (uint i = lane; i < p.columns; i += lanes) sum = fma(float(matrix[ulong(i) * p.column]), float(vector[i]), sum);
    sum = simd_sum(sum);
    if (lane == 0)
        result[group.x] = T(p.beta == 0 ? p.alpha * sum : fma(p.beta, float(result[group.x]), p.alpha * sum));
}

template <typename T, bool logarithm>
[[kernel]] void softmax(device const T *matrix [[buffer(0)]], device T *result [[buffer(2)]],
                        constant Rows &p [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
    matrix += group.y * p.matrix + ulong(group.x) * p.row;
    result += group.y * p.result + ulong(group.x) * p.result_row;
    float largest = -INFINITY, sum = 0;
    for (uint i = lane; i < p.columns; i += lanes) largest = max(largest, float(matrix[i]));
    largest = simd_max(largest);
    for (uint i = lane; i < p.columns; i += lanes) sum += exp(float(matrix[i]) - largest);
    sum = simd_sum(sum);
    float log_sum = log(sum);
    for (uint i = lane; i < p.columns; i += lanes) {
        float x = float(matrix[i]) - largest;
        result[i] = T(logarithm ? x - log_sum : exp(x) / sum);
    }
}

// One thread for each row: the values found so far stay sorted.
template <typename T>
[[kernel]] void top(device const T *matrix [[buffer(0)]], device uint *indices [[buffer(1)]],
                    device T *result [[buffer(2)]], constant Rows &p [[buffer(3)]],
                    uint2 at [[thread_position_in_grid]]) {
    matrix += at.y * p.matrix + ulong(at.x) * p.row;
    result += at.y * p.result + ulong(at.x) * p.result_row;
    indices += at.y * p.indices + ulong(at.x) * p.indices_row;
    T values[most];
    uint columns[most], count = 0;
    for (uint i = 0; i < p.columns; i++) {
        T value = matrix[i];
        uint place = count;
        while (place > 0 && value > values[place - 1]) place--;
        if (place >= p.values) continue;
        if (count < p.values) count++;
        for (uint k = count - 1; k > place; k--) values[k] = values[k - 1], columns[k] = columns[k - 1];
        values[place] = value, columns[place] = i;
    }
    for (uint k = 0; k < count; k++) result[k] = values[k], indices[k] = columns[k] + p.offset;
}

#define KERNELS(T, name)                                                                                            \
    template [[host_name("multiply_vector_" name)]] [[kernel]] void multiply_vector<T>(                             \
        device const T *, device const T *, device T *, constant Rows &, constant ulong &, uint2, uint);            \
    template [[host_name("softmax_" name)]] [[kernel]] void softmax<T, false>(device const T *, device T *,         \
                                                                              constant Rows &, uint2, uint);        \
    template [[host_name("log_softmax_" name)]] [[kernel]] void softmax<T, true>(device const T *, device T *,      \
                                                                                 constant Rows &, uint2, uint);     \
    template [[host_name("top_" name)]] [[kernel]] void top<T>(device const T *, device uint *, device T *,         \
                                                               constant Rows &, uint2);
KERNELS(float, "f32")
KERNELS(half, "f16")
