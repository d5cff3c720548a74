// SPDX-License-Identifier: Apache-2.0
// Accesses inside and outside of objects.
#include <metal_stdlib>
using namespace metal;

// ---- Buffers ----

// case read_past_end: b1=252
kernel void read_past_end(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = in[i];  // finds out-of-bounds
}
// case read_inside:
kernel void read_inside(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    out[i] = in[i];
}
// case write_past_end: b0=248
kernel void write_past_end(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = float(i);  // finds out-of-bounds
}
// case write_guarded: b0=248
kernel void write_guarded(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i < 62) out[i] = float(i);
}
// case read_before_beginning:
kernel void read_before_beginning(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
    out[i] = in[int(i) - 1];  // finds out-of-bounds
}
// case neighbour_guarded:
kernel void neighbour_guarded(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    out[i] = i > 0 ? in[i - 1] : 0.0f;
}
// case read_before_offset: b1=512 o1=256
kernel void read_before_offset(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    out[i] = in[int(i) - 4];  // finds out-of-bounds
}
// case read_at_offset: b1=512 o1=256
kernel void read_at_offset(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    out[i] = in[i];
}
// case read_past_offset: b1=256 o1=128
kernel void read_past_offset(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    out[i] = in[i];  // finds out-of-bounds
}
// case far_away: grid=1 group=1
kernel void far_away(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[1 << 28] = float(i);  // finds out-of-bounds
}
// case loop_one_too_many: grid=1 group=1
kernel void loop_one_too_many(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    float sum = 0;
    for (uint k = 0; k <= 64; k++) sum += in[k];  // finds out-of-bounds
    out[0] = sum;
}
// case loop_just_enough: grid=1 group=1
kernel void loop_just_enough(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    float sum = 0;
    for (uint k = 0; k < 64; k++) sum += in[k];
    out[0] = sum;
}
// case pointer_walks_out: grid=1 group=1
kernel void pointer_walks_out(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    float sum = 0;
    device const float *end = in + 65;
    for (device const float *p = in; p != end; p++) sum += *p;  // finds out-of-bounds
    out[0] = sum;
}
// case pointer_walks: grid=1 group=1
kernel void pointer_walks(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    float sum = 0;
    for (device const float *p = in + 64; p != in;) sum += *--p;
    out[0] = sum;
}
// case vector_past_end: b1=248
kernel void vector_past_end(device float4 *out [[buffer(0)]], device const float4 *in [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    if (i < 16) out[i] = in[i];  // finds out-of-bounds
}
// case vector_inside:
kernel void vector_inside(device float4 *out [[buffer(0)]], device const float4 *in [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    if (i < 16) out[i] = in[i];
}
// case half_past_end: b0=126
kernel void half_past_end(device half *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = half(i);  // finds out-of-bounds
}
// case byte_past_end: b0=63
kernel void byte_past_end(device uchar *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = uchar(i);  // finds out-of-bounds
}
// case byte_inside: b0=64
kernel void byte_inside(device uchar *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = uchar(i);
}
// case atomic_past_end: grid=65 group=65
kernel void atomic_past_end(device atomic_uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&out[i], 1u, memory_order_relaxed);  // finds out-of-bounds
}
// case atomic_inside: grid=128
kernel void atomic_inside(device atomic_uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&out[i % 64], 1u, memory_order_relaxed);
}
// case either_of_two: b1=128
kernel void either_of_two(device float *out [[buffer(0)]], device const float *a [[buffer(1)]],
                          device const float *b [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    device const float *p = i % 2 ? a : b;
    out[i] = p[i];  // finds out-of-bounds
}
// case either_of_two_inside: b1=128
kernel void either_of_two_inside(device float *out [[buffer(0)]], device const float *a [[buffer(1)]],
                                 device const float *b [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    device const float *p = i < 32 ? a : b;
    out[i] = p[i];
}

// ---- constant ----

constant float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
// case constant_table_overrun:
kernel void constant_table_overrun(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = table[i % 9];  // finds out-of-bounds
}
// case constant_table:
kernel void constant_table(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = table[i % 8];
}
// case constant_buffer_overrun: b1=64
kernel void constant_buffer_overrun(device float *out [[buffer(0)]], constant float *in [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
    out[i] = in[i / 3];  // finds out-of-bounds
}
// case constant_bytes_overrun: u1=5
kernel void constant_bytes_overrun(device uint *out [[buffer(0)]], constant uint *in [[buffer(1)]],
                                   uint i [[thread_position_in_grid]]) {
    out[i] = in[i / 63];  // finds out-of-bounds
}
// case constant_bytes: u1=5
kernel void constant_bytes(device uint *out [[buffer(0)]], constant uint &in [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    out[i] = in;
}

// ---- threadgroup ----

// case threadgroup_variable_overrun:
kernel void threadgroup_variable_overrun(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[i + 1];  // finds out-of-bounds
}
// case threadgroup_variable:
kernel void threadgroup_variable(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[(i + 1) % 64];
}
// case threadgroup_into_neighbour:
kernel void threadgroup_into_neighbour(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float first[32];
    threadgroup float second[64];
    second[i] = 1;
    first[i % 33] = float(i);  // finds out-of-bounds, race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = second[i] + first[i % 32];
}
// case threadgroup_argument_overrun: t0=128
kernel void threadgroup_argument_overrun(device float *out [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
                                         uint i [[thread_position_in_grid]]) {
    tile[i] = float(i);  // finds out-of-bounds
    out[i] = 0;
}
// case threadgroup_argument: t0=256
kernel void threadgroup_argument(device float *out [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
                                 uint i [[thread_position_in_grid]]) {
    tile[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[63 - i];
}
// case threadgroup_rows_overrun: grid=8,8 group=8,8
kernel void threadgroup_rows_overrun(device float *out [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    threadgroup float tile[8][8];
    tile[p.y][p.x] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[p.y * 8 + p.x] = tile[p.y][p.x + 1];  // finds out-of-bounds
}
// case threadgroup_rows: grid=8,8 group=8,8
kernel void threadgroup_rows(device float *out [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    threadgroup float tile[8][9];
    if (p.x == 0) tile[p.y][8] = 0;
    tile[p.y][p.x] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[p.y * 8 + p.x] = tile[p.y][p.x + 1];
}

// ---- Private ----

// case private_overrun:
kernel void private_overrun(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float values[4] = {1, 2, 3, 4};
    out[i] = values[i % 5];  // finds out-of-bounds
}
// case private_array:
kernel void private_array(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float values[4] = {1, 2, 3, 4};
    out[i] = values[i % 4];
}
// case private_write_below_zero: u1=1
kernel void private_write_below_zero(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                     uint i [[thread_position_in_grid]]) {
    float values[4] = {1, 2, 3, 4};
    values[int(i % 4) - int(n)] = 9;  // finds out-of-bounds
    out[i] = values[i % 4];
}
// case private_constant_index: u1=4
kernel void private_constant_index(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                   uint i [[thread_position_in_grid]]) {
    float values[4] = {1, 2, 3, 4};
    float sum = 0;
    for (uint k = 0; k <= n; k++) sum += values[k];  // finds out-of-bounds
    out[i] = sum;
}
struct pair_of_arrays {
    float a[4];
    float b[4];
};
// case array_in_struct_overrun:
kernel void array_in_struct_overrun(device float *out [[buffer(0)]], device pair_of_arrays *in [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
    out[i] = in[i / 8].a[i % 8];  // finds out-of-bounds
}
// case array_in_struct:
kernel void array_in_struct(device float *out [[buffer(0)]], device pair_of_arrays *in [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = in[i / 8].a[i % 4] + in[i / 8].b[i % 4];
}
// case private_struct_overrun:
kernel void private_struct_overrun(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    pair_of_arrays p = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    out[i] = p.b[i % 6];  // finds out-of-bounds
}

// ---- Pointers ----

struct table_of_pointers {
    device float *values;
};
// case argument_buffer_overrun: a1=2 b2=128
kernel void argument_buffer_overrun(device float *out [[buffer(0)]], constant table_of_pointers &t [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
    out[i] = t.values[i];  // finds out-of-bounds
}
// case argument_buffer: a1=2
kernel void argument_buffer(device float *out [[buffer(0)]], constant table_of_pointers &t [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = t.values[i];
}
// case released_buffer: a1=2 r2=1
kernel void released_buffer(device float *out [[buffer(0)]], constant table_of_pointers &t [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = t.values[i];  // finds use-after-release
}
// case null_in_argument_buffer:
kernel void null_in_argument_buffer(device float *out [[buffer(0)]], constant table_of_pointers &t [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
    out[i] = t.values[i];  // finds null-pointer
}
// case null_guarded:
kernel void null_guarded(device float *out [[buffer(0)]], constant table_of_pointers &t [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = t.values ? t.values[i] : 0.0f;
}
// case misaligned:
kernel void misaligned(device float *out [[buffer(0)]], device const uchar *in [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    if (i < 8) out[i] = *(device const float *)(in + i * 4 + 1);  // finds misaligned
}
// case aligned:
kernel void aligned(device float *out [[buffer(0)]], device const uchar *in [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    out[i] = *(device const float *)(in + i * 4);
}
// case packed_anywhere: b1=800
kernel void packed_anywhere(device float *out [[buffer(0)]], device const packed_float3 *in [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = in[i].y;
}
// case write_to_const:
kernel void write_to_const(device const float *in [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    ((device float *)in)[i] = 1;  // finds write-to-const
}
// case write_to_constant:
kernel void write_to_constant(constant float *in [[buffer(0)]], device float *out [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    *(device float *)(ulong)(in + i) = 1;  // finds write-to-const
    out[i] = 0;
}

// ---- simdgroup matrices ----

// case matrix_load_past_end: grid=32 group=32 b1=248
kernel void matrix_load_past_end(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, in, 8);  // finds out-of-bounds
    simdgroup_store(m, out, 8);
}
// case matrix_store_past_end: grid=32 group=32 b0=128
kernel void matrix_store_past_end(device half *out [[buffer(0)]], device const half *in [[buffer(1)]]) {
    simdgroup_half8x8 m;
    simdgroup_load(m, in, 8);
    simdgroup_store(m, out, 9);  // finds out-of-bounds
}
// case matrix_inside: grid=32 group=32
kernel void matrix_inside(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, in, 8);
    simdgroup_store(m, out, 8);
}
