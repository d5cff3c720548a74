// SPDX-License-Identifier: Apache-2.0
// Values that nothing has written, and values that look like it.
#include <metal_stdlib>
using namespace metal;

// case private_sum_from_nothing:
kernel void private_sum_from_nothing(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                     uint i [[thread_position_in_grid]]) {
    float sum;
    for (uint k = 0; k < 4; k++) sum += in[k];
    out[i] = sum;  // finds uninitialised
}
// case private_sum_from_zero:
kernel void private_sum_from_zero(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < 4; k++) sum += in[k];
    out[i] = sum;
}
// case set_in_one_branch:
kernel void set_in_one_branch(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float value;
    if (i % 2 == 0) value = 1;
    out[i] = value;  // finds uninitialised
}
// case set_in_both_branches:
kernel void set_in_both_branches(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float value;
    if (i % 2 == 0)
        value = 1;
    else
        value = 2;
    out[i] = value;
}
// case three_set_together:
kernel void three_set_together(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    float a, b, c;
    if (in[i] == 0) a = 1, b = float(i), c = 3;
    out[i] = fma(a, b, c);
}
// case three_of_which_one_is_missing:
kernel void three_of_which_one_is_missing(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                          uint i [[thread_position_in_grid]]) {
    float a, b, c;
    if (in[i] == 0) a = 1, b = float(i);
    if (in[i] == 1) c = 3;
    out[i] = fma(a, b, c);  // finds uninitialised
}
// case used_only_where_set:
kernel void used_only_where_set(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float value;
    if (i % 2 == 0) value = 1;
    out[i] = 0;
    if (i % 2 == 0) out[i] = value;
}
// case branch_on_nothing:
kernel void branch_on_nothing(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    float limit;
    if (in[i] > 5) limit = 1;
    out[i] = 0;
    if (limit > 0.5f) out[i] = 1;  // finds uninitialised
}
// case address_from_nothing:
kernel void address_from_nothing(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
    uint index;
    if (i > 100) index = 3;
    float value = in[index & 63];  // finds uninitialised
    out[i] = value;
}
// case array_partly_filled: u1=3
kernel void array_partly_filled(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    float values[4];
    for (uint k = 0; k < n; k++) values[k] = float(k);
    out[i] = values[i % 4];  // finds uninitialised
}
// case array_filled: u1=4
kernel void array_filled(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    float values[4];
    for (uint k = 0; k < n; k++) values[k] = float(k);
    out[i] = values[i % 4];
}
// case array_partly_used: u1=2
kernel void array_partly_used(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    float values[4];
    for (uint k = 0; k < n; k++) values[k] = float(k);
    out[i] = values[i % 2];
}
// case copied_but_not_used:
kernel void copied_but_not_used(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float values[4], copy[4];
    values[i % 2] = 1;
    for (uint k = 0; k < 4; k++) copy[k] = values[k];
    out[i] = copy[i % 2];
}
// case copied_and_used:
kernel void copied_and_used(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float values[4], copy[4];
    values[i % 2] = 1;
    for (uint k = 0; k < 4; k++) copy[k] = values[k];
    out[i] = copy[(i + 1) % 4];  // finds uninitialised
}
// case vector_component:
kernel void vector_component(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float4 v;
    v.x = 1, v.y = 2, v.z = 3;
    out[i] = v.x + v.z;
}
// case vector_component_missing:
kernel void vector_component_missing(device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float4 v;
    v.x = 1, v.y = 2, v.z = 3;
    if (i < 16) out[i] = v;  // finds uninitialised
}
// case float3_has_padding: b0=1024 b1=1024
kernel void float3_has_padding(device float3 *out [[buffer(0)]], device const float3 *in [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    float3 v = in[i];
    v.y = 2;
    out[i] = v * 2.0f;
}
struct padded {
    uchar a;
    float b;
};
// case struct_has_padding: b0=512
kernel void struct_has_padding(device padded *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    padded p;
    p.a = 1;
    p.b = float(i);
    out[i] = p;
}
// case bits_from_zero:
kernel void bits_from_zero(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint bits = 0;
    for (uint k = 0; k < 8; k++) bits |= (i >> k & 1) << (7 - k);
    out[i] = bits;
}
// case masked_away:
kernel void masked_away(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint value;
    if (i > 100) value = i;
    out[i] = value & 0;
}

// ---- threadgroup memory ----

// case threadgroup_never_written:
kernel void threadgroup_never_written(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    out[i] = tile[i];  // finds uninitialised
}
// case threadgroup_half_written:
kernel void threadgroup_half_written(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    if (i < 32) tile[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[63 - i];  // finds uninitialised
}
// case threadgroup_half_used:
kernel void threadgroup_half_used(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    if (i < 32) tile[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[i % 32];
}
// case threadgroup_sum_of_too_many: group=40 grid=40
kernel void threadgroup_sum_of_too_many(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float sums[64];
    sums[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) {
        float sum = 0;
        for (uint k = 0; k < 64; k++) sum += sums[k];
        out[0] = sum;  // finds uninitialised
    }
}
// case threadgroup_counter_not_set: only=init,memory
kernel void threadgroup_counter_not_set(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint count[2];
    if (i == 0) count[0] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = count[1];  // finds uninitialised
}
// case threadgroup_argument_not_written: t0=256
kernel void threadgroup_argument_not_written(device float *out [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
                                             uint i [[thread_position_in_grid]]) {
    if (i % 2) tile[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[i];  // finds uninitialised
}
// case threadgroup_copied_whole:
kernel void threadgroup_copied_whole(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float a[64], b[64];
    if (i < 32) a[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    b[63 - i] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = i < 32 ? b[63 - i] : 0.0f;
}
// case threadgroup_each_group_anew: grid=128 b0=512
kernel void threadgroup_each_group_anew(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                                        uint l [[thread_position_in_threadgroup]],
                                        uint g [[threadgroup_position_in_grid]]) {
    threadgroup float tile[64];
    if (g == 0) tile[l] = 1;
    out[i] = tile[l];  // finds uninitialised
}
// case threadgroup_decides:
kernel void threadgroup_decides(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint flag;
    out[i] = 0;
    if (flag == 3) out[i] = 1;  // finds uninitialised
}

// ---- Buffers ----

// case private_buffer_never_written: p1=256
kernel void private_buffer_never_written(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                         uint i [[thread_position_in_grid]]) {
    out[i] = in[i];  // finds uninitialised
}
// case private_buffer_written: p0=256
kernel void private_buffer_written(device float *data [[buffer(0)]], device float *out [[buffer(1)]],
                                   uint i [[thread_position_in_grid]]) {
    data[i] = float(i);
    out[i] = data[i];
}
// case shared_buffer_is_the_hosts:
kernel void shared_buffer_is_the_hosts(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                       uint i [[thread_position_in_grid]]) {
    out[i] = in[i];
}
