// Every attribute a compute kernel may ask for, in every shape and both integer types.
#include <metal_stdlib>
using namespace metal;

static uint code(uint v) { return v; }
static uint code(uint2 v) { return v.x + 1000 * v.y; }
static uint code(uint3 v) { return v.x + 1000 * v.y + 1000000 * v.z; }
static uint code(ushort v) { return v; }
static uint code(ushort2 v) { return code(uint2(v)); }
static uint code(ushort3 v) { return code(uint3(v)); }
static uint place(uint p, uint n) { return p; }
static uint place(uint2 p, uint2 n) { return p.y * n.x + p.x; }
static uint place(uint3 p, uint3 n) { return (p.z * n.y + p.y) * n.x + p.x; }
static uint place(ushort p, ushort n) { return p; }
static uint place(ushort2 p, ushort2 n) { return place(uint2(p), uint2(n)); }
static uint place(ushort3 p, ushort3 n) { return place(uint3(p), uint3(n)); }

// Spelled out: see language/macros for attributes that macros make.
kernel void thread_position_in_grid_uint(device uint *out, uint v [[thread_position_in_grid]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_grid_uint2(device uint *out, uint2 v [[thread_position_in_grid]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_grid_uint3(device uint *out, uint3 v [[thread_position_in_grid]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_grid_ushort(device uint *out, ushort v [[thread_position_in_grid]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_grid_ushort2(device uint *out, ushort2 v [[thread_position_in_grid]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_grid_ushort3(device uint *out, ushort3 v [[thread_position_in_grid]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_uint(device uint *out, uint v [[thread_position_in_threadgroup]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_uint2(device uint *out, uint2 v [[thread_position_in_threadgroup]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_uint3(device uint *out, uint3 v [[thread_position_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_ushort(device uint *out, ushort v [[thread_position_in_threadgroup]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_ushort2(device uint *out, ushort2 v [[thread_position_in_threadgroup]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_position_in_threadgroup_ushort3(device uint *out, ushort3 v [[thread_position_in_threadgroup]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_uint(device uint *out, uint v [[threadgroup_position_in_grid]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_uint2(device uint *out, uint2 v [[threadgroup_position_in_grid]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_uint3(device uint *out, uint3 v [[threadgroup_position_in_grid]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_ushort(device uint *out, ushort v [[threadgroup_position_in_grid]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_ushort2(device uint *out, ushort2 v [[threadgroup_position_in_grid]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroup_position_in_grid_ushort3(device uint *out, ushort3 v [[threadgroup_position_in_grid]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_uint(device uint *out, uint v [[threads_per_grid]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_uint2(device uint *out, uint2 v [[threads_per_grid]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_uint3(device uint *out, uint3 v [[threads_per_grid]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_ushort(device uint *out, ushort v [[threads_per_grid]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_ushort2(device uint *out, ushort2 v [[threads_per_grid]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_grid_ushort3(device uint *out, ushort3 v [[threads_per_grid]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_uint(device uint *out, uint v [[threads_per_threadgroup]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_uint2(device uint *out, uint2 v [[threads_per_threadgroup]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_uint3(device uint *out, uint3 v [[threads_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_ushort(device uint *out, ushort v [[threads_per_threadgroup]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_ushort2(device uint *out, ushort2 v [[threads_per_threadgroup]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threads_per_threadgroup_ushort3(device uint *out, ushort3 v [[threads_per_threadgroup]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_uint(device uint *out, uint v [[threadgroups_per_grid]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_uint2(device uint *out, uint2 v [[threadgroups_per_grid]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_uint3(device uint *out, uint3 v [[threadgroups_per_grid]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_ushort(device uint *out, ushort v [[threadgroups_per_grid]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_ushort2(device uint *out, ushort2 v [[threadgroups_per_grid]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void threadgroups_per_grid_ushort3(device uint *out, ushort3 v [[threadgroups_per_grid]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_uint(device uint *out, uint v [[dispatch_threads_per_threadgroup]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_uint2(device uint *out, uint2 v [[dispatch_threads_per_threadgroup]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_uint3(device uint *out, uint3 v [[dispatch_threads_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_ushort(device uint *out, ushort v [[dispatch_threads_per_threadgroup]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_ushort2(device uint *out, ushort2 v [[dispatch_threads_per_threadgroup]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void dispatch_threads_per_threadgroup_ushort3(device uint *out, ushort3 v [[dispatch_threads_per_threadgroup]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_uint(device uint *out, uint v [[grid_origin]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_uint2(device uint *out, uint2 v [[grid_origin]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_uint3(device uint *out, uint3 v [[grid_origin]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_ushort(device uint *out, ushort v [[grid_origin]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_ushort2(device uint *out, ushort2 v [[grid_origin]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_origin_ushort3(device uint *out, ushort3 v [[grid_origin]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_uint(device uint *out, uint v [[grid_size]], uint p [[thread_position_in_grid]], uint n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_uint2(device uint *out, uint2 v [[grid_size]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_uint3(device uint *out, uint3 v [[grid_size]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_ushort(device uint *out, ushort v [[grid_size]], ushort p [[thread_position_in_grid]], ushort n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_ushort2(device uint *out, ushort2 v [[grid_size]], ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void grid_size_ushort3(device uint *out, ushort3 v [[grid_size]], ushort3 p [[thread_position_in_grid]], ushort3 n [[threads_per_grid]]) { out[place(p, n)] = code(v); }
kernel void thread_index_in_threadgroup_uint(device uint *out, uint v [[thread_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_index_in_threadgroup_ushort(device uint *out, ushort v [[thread_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_index_in_simdgroup_uint(device uint *out, uint v [[thread_index_in_simdgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_index_in_simdgroup_ushort(device uint *out, ushort v [[thread_index_in_simdgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_index_in_quadgroup_uint(device uint *out, uint v [[thread_index_in_quadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_index_in_quadgroup_ushort(device uint *out, ushort v [[thread_index_in_quadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void simdgroup_index_in_threadgroup_uint(device uint *out, uint v [[simdgroup_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void simdgroup_index_in_threadgroup_ushort(device uint *out, ushort v [[simdgroup_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void quadgroup_index_in_threadgroup_uint(device uint *out, uint v [[quadgroup_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void quadgroup_index_in_threadgroup_ushort(device uint *out, ushort v [[quadgroup_index_in_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void simdgroups_per_threadgroup_uint(device uint *out, uint v [[simdgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void simdgroups_per_threadgroup_ushort(device uint *out, ushort v [[simdgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void quadgroups_per_threadgroup_uint(device uint *out, uint v [[quadgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void quadgroups_per_threadgroup_ushort(device uint *out, ushort v [[quadgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void dispatch_simdgroups_per_threadgroup_uint(device uint *out, uint v [[dispatch_simdgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void dispatch_simdgroups_per_threadgroup_ushort(device uint *out, ushort v [[dispatch_simdgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void dispatch_quadgroups_per_threadgroup_uint(device uint *out, uint v [[dispatch_quadgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void dispatch_quadgroups_per_threadgroup_ushort(device uint *out, ushort v [[dispatch_quadgroups_per_threadgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_execution_width_uint(device uint *out, uint v [[thread_execution_width]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void thread_execution_width_ushort(device uint *out, ushort v [[thread_execution_width]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void threads_per_simdgroup_uint(device uint *out, uint v [[threads_per_simdgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }
kernel void threads_per_simdgroup_ushort(device uint *out, ushort v [[threads_per_simdgroup]], uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { out[place(p, n)] = v; }

// All of them at once, also changed after they were read.
kernel void many_attributes(device uint *out [[buffer(0)]], uint3 gid [[thread_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]],
                            uint3 group [[threadgroup_position_in_grid]], uint3 n [[threads_per_grid]], uint3 size [[threads_per_threadgroup]],
                            uint flat [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint warp [[simdgroup_index_in_threadgroup]],
                            uint3 full [[dispatch_threads_per_threadgroup]]) {
  uint at = place(gid, n);
  bool good = all(gid == group * full + lid) && flat == place(lid, size) && lane == flat % 32 && warp == flat / 32 && all(lid < size);
  gid += 1;
  lid.x = 77;
  out[at] = good ? gid.x + gid.y + gid.z : 0;
}
// A scalar position is the x of the grid, whatever the grid's shape.
kernel void scalar_position_of_a_plane(device atomic_uint *counts, uint x [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[x], 1u, memory_order_relaxed);
}
kernel void no_attributes(device atomic_int *count) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }
kernel void group_sums(device atomic_uint *sums, uint group [[threadgroup_position_in_grid]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&sums[group], i, memory_order_relaxed);
}
kernel void sizes_of_groups(device uint3 *out, uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                            uint3 size [[threads_per_threadgroup]], uint index [[thread_index_in_threadgroup]]) {
  if (index == 0) out[place(group, groups)] = size;
}
kernel void reference_argument(device uint *out, constant uint &value) { out[0] = value; }
