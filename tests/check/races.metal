// SPDX-License-Identifier: Apache-2.0
// Threads that access the same memory, ordered and not.
#include <metal_stdlib>
using namespace metal;

// ---- threadgroup memory ----

// case no_barrier:
kernel void no_barrier(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);  // finds race
    out[i] = tile[63 - i];  // finds race, uninitialised
}
// case with_barrier:
kernel void with_barrier(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[63 - i];
}
// case own_element:
kernel void own_element(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);
    out[i] = tile[i];
}
// case overwritten_too_early:
kernel void overwritten_too_early(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += tile[63 - i];  // finds race
        tile[i] = float(k);   // finds race
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sum;
}
// case two_barriers:
kernel void two_barriers(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += tile[63 - i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        tile[i] = float(k);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sum;
}
// case tree_without_last_barrier:
kernel void tree_without_last_barrier(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float sums[64];
    sums[i] = float(i);
    for (uint step = 32; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < step) sums[i] += sums[i + step];  // finds race
    }
    out[i] = sums[0];  // finds race
}
// case tree:
kernel void tree(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float sums[64];
    sums[i] = float(i);
    for (uint step = 32; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < step) sums[i] += sums[i + step];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = sums[0];
}
// case tree_barrier_missing_in_loop:
kernel void tree_barrier_missing_in_loop(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float sums[64];
    sums[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 32; step > 0; step /= 2)
        if (i < step) sums[i] += sums[i + step];  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = sums[0];
}
// case all_write_one_place:
kernel void all_write_one_place(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint last;
    last = i;  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = last;
}
// case all_write_the_same:
kernel void all_write_the_same(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint flag;
    flag = 1;  // finds same-value-race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = flag;
}
// case one_writes:
kernel void one_writes(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint flag;
    if (i == 0) flag = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = flag;
}
// case read_then_one_writes:
kernel void read_then_one_writes(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint value;
    if (i == 0) value = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint seen = value;        // finds race
    if (i == 63) value = 2;   // finds race
    out[i] = seen;
}
// case read_then_one_writes_behind_barrier:
kernel void read_then_one_writes_behind_barrier(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint value;
    if (i == 0) value = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint seen = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 63) value = 2;
    out[i] = seen;
}
// case atomic_counter:
kernel void atomic_counter(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup atomic_uint count;
    if (i == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = atomic_load_explicit(&count, memory_order_relaxed);
}
// case atomic_and_plain:
kernel void atomic_and_plain(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint count;
    if (i == 0) count = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit((threadgroup atomic_uint *)&count, 1u, memory_order_relaxed);  // finds race
    out[i] = count;  // finds race
}
// case atomic_then_plain:
kernel void atomic_then_plain(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint count;
    if (i == 0) count = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit((threadgroup atomic_uint *)&count, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = count;
}
// case bytes_of_one_word:
kernel void bytes_of_one_word(device uchar *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uchar bytes[64];
    bytes[i] = uchar(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = bytes[63 - i];
}
// case byte_race:
kernel void byte_race(device uchar *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uchar bytes[64];
    bytes[i / 2] = uchar(i);  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = bytes[i / 2];
}
// case word_over_bytes:
kernel void word_over_bytes(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint words[16];
    ((threadgroup uchar *)words)[i] = uchar(i);  // finds race
    if (i < 16) out[i] = words[i];               // finds race, uninitialised
}
// case halves:
kernel void halves(device half *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup half tile[64];
    tile[i] = half(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[i ^ 1];
}
// case argument_race: t0=256
kernel void argument_race(device float *out [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
                          uint i [[thread_position_in_grid]]) {
    tile[i] = 1;            // finds race
    out[i] = tile[i ^ 32];  // finds race, uninitialised
}
// case vector_race:
kernel void vector_race(device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float4 tile[16];
    if (i < 16) tile[i] = float4(i);       // finds race
    if (i < 16) out[i] = tile[(i + 1) % 16];  // finds race, uninitialised
}

// ---- Simdgroups ----

// case simdgroup_barrier_suffices: group=32 grid=32
kernel void simdgroup_barrier_suffices(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[32];
    tile[i] = float(i);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[31 - i];
}
// case simdgroup_barrier_in_place: group=32 grid=32
kernel void simdgroup_barrier_in_place(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[32];
    tile[i] = float(i);
    for (int k = 0; k < 3; k++) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        float seen = tile[0] + tile[31 - i];
        simdgroup_barrier(mem_flags::mem_threadgroup);
        tile[i] = seen;
    }
    out[i] = tile[i];
}
// case simdgroup_barrier_across:
kernel void simdgroup_barrier_across(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);  // finds race
    simdgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[63 - i];  // finds race
}
// case simdgroup_rows:
kernel void simdgroup_rows(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup float tile[2][32];
    tile[simd][lane] = float(i);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[simd][31 - lane];
}
// case shuffle_orders_nothing: group=32 grid=32
kernel void shuffle_orders_nothing(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[32];
    tile[i] = float(i);  // finds race
    float sum = simd_sum(float(i));
    out[i] = tile[31 - i] + sum;  // finds race
}

// ---- Device memory ----

// case device_neighbours:
kernel void device_neighbours(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] = i < 63 ? data[i + 1] : 0.0f;  // finds race
}
// case device_out_of_place:
kernel void device_out_of_place(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    out[i] = i < 63 ? in[i + 1] : 0.0f;
}
// case device_own_element:
kernel void device_own_element(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] = data[i] * 2 + 1;
}
// case device_barrier:
kernel void device_barrier(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float next = data[(i + 1) % 64];
    threadgroup_barrier(mem_flags::mem_device);
    data[i] = next;
}
// case device_accumulate: grid=256
kernel void device_accumulate(device float *sum [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    sum[0] += float(i);  // finds race
}
// case device_accumulate_atomic: grid=256
kernel void device_accumulate_atomic(device atomic_uint *sum [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(sum, i, memory_order_relaxed);
}
// case between_threadgroups: grid=128 b0=512
kernel void between_threadgroups(device float *data [[buffer(0)]], device float *out [[buffer(1)]],
                                 uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
    data[i] = float(i);  // finds race
    threadgroup_barrier(mem_flags::mem_device);
    out[l] = data[127 - i];  // finds race
}
// case within_threadgroups: grid=128 b0=512 b1=512
kernel void within_threadgroups(device float *data [[buffer(0)]], device float *out [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    data[i] = float(i);
    threadgroup_barrier(mem_flags::mem_device);
    out[i] = data[i ^ 63];
}
// case groups_write_one_place: grid=128
kernel void groups_write_one_place(device uint *out [[buffer(0)]], uint l [[thread_position_in_threadgroup]],
                                   uint g [[threadgroup_position_in_grid]]) {
    out[l] = g;  // finds race
}
// case groups_write_the_same: grid=128
kernel void groups_write_the_same(device uint *out [[buffer(0)]], uint l [[thread_position_in_threadgroup]]) {
    out[l] = 7;  // finds same-value-race
}
// case groups_partial_sums: grid=256
kernel void groups_partial_sums(device float *sums [[buffer(0)]], uint g [[threadgroup_position_in_grid]],
                                uint l [[thread_position_in_threadgroup]]) {
    if (l == 0) sums[g] = float(g);
}
// case last_threadgroup_sums: grid=256 b1=4
kernel void last_threadgroup_sums(device float *sums [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                                  uint g [[threadgroup_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                                  uint groups [[threadgroups_per_grid]]) {
    threadgroup bool last;
    if (l == 0) sums[g] = float(g);
    threadgroup_barrier(mem_flags::mem_device);
    if (l == 0) last = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) == groups - 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (last && l == 0) {
        float sum = 0;
        for (uint k = 0; k < groups; k++) sum += sums[k];
        sums[0] = sum;
    }
}
// case last_threadgroup_without_barrier: grid=256 b1=4
kernel void last_threadgroup_without_barrier(device float *sums [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                                             uint g [[threadgroup_position_in_grid]],
                                             uint l [[thread_position_in_threadgroup]],
                                             uint groups [[threadgroups_per_grid]]) {
    if (l != 0) return;
    sums[g] = float(g);  // finds race
    if (atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) != groups - 1) return;
    float sum = 0;
    for (uint k = 0; k < groups; k++) sum += sums[k];  // finds race
    sums[0] = sum;  // finds race
}
// case two_dispatches: twice
kernel void two_dispatches(device float *data [[buffer(0)]], device float *out [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    out[i] = data[63 - i];
}
// case dispatches_are_ordered: twice
kernel void dispatches_are_ordered(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] = data[i] + 1;
}
// case histogram_plain:
kernel void histogram_plain(device uint *bins [[buffer(0)]], device const uint *in [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    bins[in[i] % 8] += 1;  // finds race
}
// case histogram_atomic:
kernel void histogram_atomic(device atomic_uint *bins [[buffer(0)]], device const uint *in [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&bins[in[i] % 8], 1u, memory_order_relaxed);
}
// case aliased_arguments: a2=0
kernel void aliased_arguments(device float *out [[buffer(0)]], constant uint64_t &address [[buffer(2)]],
                              uint i [[thread_position_in_grid]]) {
    device float *same = (device float *)address;
    out[i] = 1;           // finds race
    out[i] += same[63 - i];  // finds race
}

// ---- Flags ----

// case wrong_flag:
kernel void wrong_flag(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);  // finds missing-mem-flag
    threadgroup_barrier(mem_flags::mem_device);
    out[i] = tile[63 - i];  // finds missing-mem-flag
}
// case no_flag:
kernel void no_flag(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);  // finds missing-mem-flag
    threadgroup_barrier(mem_flags::mem_none);
    out[i] = tile[63 - i];  // finds missing-mem-flag
}
// case both_flags:
kernel void both_flags(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = float(i);
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    out[i] = tile[63 - i];
}
// case device_needs_its_flag:
kernel void device_needs_its_flag(device float *data [[buffer(0)]], device float *out [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
    data[i] = float(i);  // finds missing-mem-flag
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = data[63 - i];  // finds missing-mem-flag
}
// case simdgroup_wrong_flag: group=32 grid=32
kernel void simdgroup_wrong_flag(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[32];
    tile[i] = float(i);  // finds missing-mem-flag
    simdgroup_barrier(mem_flags::mem_none);
    out[i] = tile[31 - i];  // finds missing-mem-flag
}
// Every thread runs the initialiser, and all have run it before any goes on.
// case filled_by_all:
kernel void filled_by_all(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float sums[32] = {0};  // finds same-value-race
    if (i < 32) sums[i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = sums[i % 32];
}
