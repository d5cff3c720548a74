// Threadgroups that are one group of lanes once their size is known: lanes wait for nobody, but what they read
// before a barrier must not be what others write after it.
#include <metal_stdlib>
using namespace metal;

kernel void tree_of_sums(device const float *in, device float *out, constant uint &n,
                         uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                         uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    float total = 0;
    for (uint k = 0, i = group * size * 4 + l; k < 4; k++, i += size) total += i < n ? in[i] : 0.0f;
    part[l] = total;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (l == 0) out[group] = part[0];
}

kernel void tree_of_neighbours(device const int *in, device int *out, uint i [[thread_position_in_grid]],
                               uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                               uint size [[threads_per_threadgroup]]) {
    threadgroup int part[256];
    part[l] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < size; step *= 2) {
        if (l % (2 * step) == 0) part[l] = max(part[l], part[l + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (l == 0) out[group] = part[0];
}

kernel void prefix_sums(device const uint *in, device uint *out, uint i [[thread_position_in_grid]],
                        uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
    threadgroup uint part[256];
    uint value = in[i];
    part[l] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < size; step *= 2) {
        uint before = l >= step ? part[l - step] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        value += before;
        part[l] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = value;
}

// Elements move by one, in place.
kernel void shift_in_place(device int *a, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
    for (uint round = 0; round < 3; round++) {
        int next = a[l + 1 < size ? i + 1 : i];
        int mine = next * 2 + a[i];
        threadgroup_barrier(mem_flags::mem_device);
        a[i] = mine;
        threadgroup_barrier(mem_flags::mem_device);
    }
}

// Of two writes, the one after the barrier stays.
kernel void later_writes_stay(device int *a, uint i [[thread_position_in_grid]],
                              uint group [[threadgroup_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    device int *mine = a + group;
    threadgroup int shared[256];
    shared[l] = mine[i];
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    mine[i] = shared[l] + 1;
    threadgroup_barrier(mem_flags::mem_device);
    mine[i + 1] = 1000 + int(l);
    threadgroup_barrier(mem_flags::mem_device);
    shared[l] = mine[i];
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    mine[i] = shared[l] * 2;
}

// Masks of which no lanes, all and some are set, from data and from positions.
kernel void masks_of_many_lanes(device const float *in, device float *out, constant uint &n,
                                uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                                uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    device const float *row = in + group * n;
    float least = INFINITY;
    for (uint k = l; k < n; k += size) least = min(least, row[k]);
    part[l] = least;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] = min(part[l], part[l + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    least = part[0];
    for (uint k = l; k < n; k += size) {
        float x = row[k] - least;
        if (x > 3) x = sqrt(x);
        out[group * n + k] = k % 5 == 4 ? -x : fma(x, 2.0f, 1.0f);
    }
}
