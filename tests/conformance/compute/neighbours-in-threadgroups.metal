// Threads that read what their neighbours have just written to threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void prefix(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                   uint size [[threads_per_threadgroup]]) {
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

// The other way around; threads beyond the end read a number of their own.
kernel void suffix(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                   uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    part[l] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < size; step *= 2) {
        float after = l + step < size ? part[l + step] : 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        part[l] += after;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = part[l];
}

// A tree of maxima: fewer threads write in each step, and the others' elements stay.
kernel void tree(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                 uint size [[threads_per_threadgroup]]) {
    threadgroup int part[256];
    part[l] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] = max(part[l], part[l + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = part[l];
}

// Two arrays, written in turns, and bits that are read as another type; in the end in another order.
kernel void turns(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint size [[threads_per_threadgroup]]) {
    threadgroup uint a[256];
    threadgroup float b[256];
    a[l] = in[i];
    b[l] = as_type<float>(in[i] + 1);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 8; step += 3) {
        uint x = a[(l + step) & 255], y = as_type<uint>(b[l > 2 ? l - 3 : l]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        a[l] = y;
        b[l] = as_type<float>(x);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = a[l] * 65536 + as_type<uint>(b[255 - l]);
}
