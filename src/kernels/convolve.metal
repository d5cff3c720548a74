// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling: a thread for each element of the result, whose grid is width by height by images and
// channels.

// Matches window of src/tensor/msl/convolve.c. [0] is height, [1] width.
struct Window {
    int x_strides[4], weight_strides[4], out_strides[4], bias_stride;
    uint channels;               // of the result
    uint inner, outputs;         // channels of x and of the result in a group
    uint length[2], size[2];     // of x, of the window
    uint stride[2], padding[2], dilation[2];
    uint has_bias;
};

// Where tap k of the window at `at` is. Returns false in the padding.
static bool reach(uint at, uint k, uint axis, constant Window &w, thread uint &where) {
    where = at * w.stride[axis] + k * w.dilation[axis] - w.padding[axis];  // wraps to a huge value below zero
    return where < w.length[axis];
}

template <typename T>
kernel void convolve(device const T *x [[buffer(0)]], device const T *weight [[buffer(1)]],
                     device const T *bias [[buffer(2)]], device T *out [[buffer(3)]], constant Window &w [[buffer(4)]],
                     uint3 at [[thread_position_in_grid]]) {
    uint image = at.z / w.channels, channel = at.z % w.channels, group = channel / w.outputs;
    float sum = w.has_bias ? float(bias[int(channel) * w.bias_stride]) : 0.0f;
    for (uint c = 0; c < w.inner; c++) {
        device const T *from = x + int(image) * w.x_strides[0] + int(group * w.inner + c) * w.x_strides[1];
        device const T *taps = weight + int(channel) * w.weight_strides[0] + int(c) * w.weight_strides[1];
        for (uint i = 0; i < w.size[0]; i++) {
            uint row, column;
            if (!reach(at.y, i, 0, w, row)) continue;
            for (uint j = 0; j < w.size[1]; j++)
                if (reach(at.x, j, 1, w, column))
                    sum = fma(float(from[int(row) * w.x_strides[2] + int(column) * w.x_strides[3]]),
                              float(taps[int(i) * w.weight_strides[2] + int(j) * w.weight_strides[3]]), sum);
        }
    }
    out[int(image) * w.out_strides[0] + int(channel) * w.out_strides[1] + int(at.y) * w.out_strides[2] +
        move_by(0, at.x, w.out_strides[3])] = T(sum);
}

// For integers, which wrap around: S are their bits.
template <typename T, typename S>
kernel void convolve_integers(device const T *x [[buffer(0)]], device const T *weight [[buffer(1)]],
                              device const T *bias [[buffer(2)]], device T *out [[buffer(3)]],
                              constant Window &w [[buffer(4)]], uint3 at [[thread_position_in_grid]]) {
    uint image = at.z / w.channels, channel = at.z % w.channels, group = channel / w.outputs;
    S sum = w.has_bias ? S(bias[int(channel) * w.bias_stride]) : S(0);
    for (uint c = 0; c < w.inner; c++) {
        device const T *from = x + int(image) * w.x_strides[0] + int(group * w.inner + c) * w.x_strides[1];
        device const T *taps = weight + int(channel) * w.weight_strides[0] + int(c) * w.weight_strides[1];
        for (uint i = 0; i < w.size[0]; i++) {
            uint row, column;
            if (!reach(at.y, i, 0, w, row)) continue;
            for (uint j = 0; j < w.size[1]; j++)
                if (reach(at.x, j, 1, w, column))
                    sum += S(from[int(row) * w.x_strides[2] + int(column) * w.x_strides[3]]) *
                           S(taps[int(i) * w.weight_strides[2] + int(j) * w.weight_strides[3]]);
        }
    }
    out[int(image) * w.out_strides[0] + int(channel) * w.out_strides[1] + int(at.y) * w.out_strides[2] +
        move_by(0, at.x, w.out_strides[3])] = T(sum);
}

// A window always contains an element.
template <typename T>
kernel void pool_integers(device const T *x [[buffer(0)]], device T *out [[buffer(3)]],
                          constant Window &w [[buffer(4)]], uint3 at [[thread_position_in_grid]]) {
    uint image = at.z / w.channels, channel = at.z % w.channels;
    device const T *from = x + int(image) * w.x_strides[0] + int(channel) * w.x_strides[1];
    long result = -9223372036854775807L - 1;
    for (uint i = 0; i < w.size[0]; i++) {
        uint row, column;
        if (!reach(at.y, i, 0, w, row)) continue;
        for (uint j = 0; j < w.size[1]; j++) {
            if (!reach(at.x, j, 1, w, column)) continue;
            long value = long(from[int(row) * w.x_strides[2] + int(column) * w.x_strides[3]]);
            result = value > result ? value : result;
        }
    }
    out[int(image) * w.out_strides[0] + int(channel) * w.out_strides[1] + int(at.y) * w.out_strides[2] +
        move_by(0, at.x, w.out_strides[3])] = T(result);
}

// The largest, where NaN is larger than everything, or the mean.
template <typename T, bool largest>
kernel void pool(device const T *x [[buffer(0)]], device T *out [[buffer(3)]], constant Window &w [[buffer(4)]],
                 uint3 at [[thread_position_in_grid]]) {
    uint image = at.z / w.channels, channel = at.z % w.channels;
    device const T *from = x + int(image) * w.x_strides[0] + int(channel) * w.x_strides[1];
    float result = largest ? -INFINITY : 0.0f, seen = 0.0f;
    for (uint i = 0; i < w.size[0]; i++) {
        uint row, column;
        if (!reach(at.y, i, 0, w, row)) continue;
        for (uint j = 0; j < w.size[1]; j++) {
            if (!reach(at.x, j, 1, w, column)) continue;
            float value = float(from[int(row) * w.x_strides[2] + int(column) * w.x_strides[3]]);
            result = largest ? (isnan(value) || value > result ? value : result) : result + value;
            seen += 1.0f;
        }
    }
    out[int(image) * w.out_strides[0] + int(channel) * w.out_strides[1] + int(at.y) * w.out_strides[2] +
        move_by(0, at.x, w.out_strides[3])] = T(largest ? result : result / seen);
}

#define INSTANCES(suffix, T, unused)                                                                                  \
    template [[host_name("conv_" #suffix)]] kernel void convolve<T>(device const T *, device const T *,               \
                                                                    device const T *, device T *, constant Window &,  \
                                                                    uint3);                                           \
    template [[host_name("max_pool_" #suffix)]] kernel void pool<T, true>(device const T *, device T *,               \
                                                                          constant Window &, uint3);                  \
    template [[host_name("avg_pool_" #suffix)]] kernel void pool<T, false>(device const T *, device T *,              \
                                                                           constant Window &, uint3);
FOR_FLOATS(INSTANCES, )

#define CONVOLVE_INTEGERS(suffix, T, S)                                                                              \
    template [[host_name("conv_" #suffix)]] kernel void convolve_integers<T, S>(                                     \
        device const T *, device const T *, device const T *, device T *, constant Window &, uint3);
CONVOLVE_INTEGERS(i32, int, uint)
CONVOLVE_INTEGERS(i64, long, ulong)
#define POOL_INTEGERS(suffix, T, unused)                                                                             \
    template [[host_name("max_pool_" #suffix)]] kernel void pool_integers<T>(device const T *, device T *,           \
                                                                             constant Window &, uint3);
FOR_INTEGERS(POOL_INTEGERS, )
