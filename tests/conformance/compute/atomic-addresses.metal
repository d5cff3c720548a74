// Atomics on one address, on neighbouring and on scattered addresses, with and without the old value, under masks.
#include <metal_stdlib>
using namespace metal;

#define RELAXED memory_order_relaxed

kernel void one_place(device atomic_uint *a, uint i [[thread_position_in_grid]]) { atomic_fetch_add_explicit(&a[3], i + 1, RELAXED); }
kernel void one_place_same_amount(device atomic_int *a, uint i [[thread_position_in_grid]]) { atomic_fetch_sub_explicit(a, 5, RELAXED); }
kernel void one_place_masked(device atomic_uint *a, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  if (i % 3) atomic_fetch_add_explicit(&a[0], i, RELAXED);
  else atomic_fetch_max_explicit(&a[1], i, RELAXED);
  atomic_fetch_or_explicit(&a[2], 1u << (i % 32), RELAXED);
  atomic_fetch_and_explicit(&a[3], ~(1u << (i % 31)), RELAXED);
  atomic_fetch_xor_explicit(&a[4], i, RELAXED);
  atomic_fetch_min_explicit(&a[5], 1000 - i, RELAXED);
}
kernel void one_place_with_result(device atomic_uint *a, device uint *out, uint i [[thread_position_in_grid]]) { out[i] = atomic_fetch_add_explicit(a, 3, RELAXED); }
kernel void one_place_with_result_masked(device atomic_uint *a, device uint *out, uint i [[thread_position_in_grid]]) {
  if (i % 5 == 2) out[i / 5] = atomic_fetch_add_explicit(a, 1, RELAXED);
}
kernel void neighbours(device atomic_int *a, device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = atomic_fetch_add_explicit(&a[i], int(i) * 2, RELAXED);
  atomic_fetch_max_explicit(&a[i], 100, RELAXED);
}
kernel void every_third(device atomic_int *a, uint i [[thread_position_in_grid]]) {
  atomic_fetch_sub_explicit(&a[3 * i], 1, RELAXED);
  if (i & 1) atomic_fetch_add_explicit(&a[3 * i + 1], int(i), RELAXED);
  atomic_store_explicit(&a[3 * i + 2], atomic_load_explicit(&a[3 * i], RELAXED), RELAXED);
}
kernel void all_over(device atomic_uint *bins, device const uint *keys, uint i [[thread_position_in_grid]]) { atomic_fetch_add_explicit(&bins[keys[i]], 1, RELAXED); }
kernel void all_over_with_result(device atomic_uint *bins, device const uint *keys, device uint *rank, uint i [[thread_position_in_grid]]) {
  rank[i] = keys[i] * 1000 + atomic_fetch_add_explicit(&bins[keys[i]], 1, RELAXED);
}
kernel void all_over_in_a_loop(device atomic_int *bins, device const uint *keys, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < i % 4; k++) atomic_fetch_add_explicit(&bins[(keys[i] + k) % 16], int(k) + 1, RELAXED);
}
kernel void floats(device atomic_float *a, device float *out, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&a[0], 0.5f, RELAXED);
  out[i] = atomic_fetch_add_explicit(&a[1], 2.0f, RELAXED);
  atomic_fetch_sub_explicit(&a[2 + i % 3], float(i), RELAXED);
  atomic_store_explicit(&a[5 + i], float(i), RELAXED);
}
kernel void exchanged(device atomic_int *a, device int *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = atomic_exchange_explicit(&a[i], int(i) + 7, RELAXED);
  int expected = i % 2 ? int(i) + 7 : -1;
  bool done = atomic_compare_exchange_weak_explicit(&a[i], &expected, -int(i), RELAXED, RELAXED);
  out[2 * i + 1] = expected * 2 + (done ? 1 : 0);
}
// Adds up by compare-and-exchange, on one address and on scattered ones.
kernel void compare_and_add(device atomic_uint *a, device const uint *keys, uint i [[thread_position_in_grid]]) {
  uint old = atomic_load_explicit(&a[0], RELAXED);
  while (!atomic_compare_exchange_weak_explicit(&a[0], &old, old + i, RELAXED, RELAXED)) {
  }
  old = 0;
  while (!atomic_compare_exchange_weak_explicit(&a[1 + keys[i]], &old, old * 2 + 1, RELAXED, RELAXED)) {
  }
}

// ---- The same in threadgroup memory ----

kernel void in_threadgroup(device uint *out, device const uint *keys, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint total, bins[8], places[257];
  threadgroup atomic_int low;
  if (l < 8) atomic_store_explicit(&bins[l], 0, RELAXED);
  if (l == 0) atomic_store_explicit(&total, 0, RELAXED), atomic_store_explicit(&low, 1 << 20, RELAXED);
  for (uint k = l; k < 8; k += size) atomic_store_explicit(&bins[k], 0, RELAXED);
  atomic_store_explicit(&places[l], l, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&total, 2, RELAXED);
  atomic_fetch_min_explicit(&low, int(keys[i]) - 50, RELAXED);
  atomic_fetch_add_explicit(&bins[keys[i] % 8], 1, RELAXED);
  uint before = atomic_fetch_add_explicit(&places[(l + 1) % size], 1000, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[4 * i] = atomic_load_explicit(&total, RELAXED) + uint(atomic_load_explicit(&low, RELAXED) + 50) * 1000;
  out[4 * i + 1] = atomic_load_explicit(&bins[keys[i] % 8], RELAXED);
  out[4 * i + 2] = atomic_load_explicit(&places[l], RELAXED);
  out[4 * i + 3] = before;
}
kernel void tickets_in_threadgroup(device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], threadgroup atomic_uint *counter [[threadgroup(0)]]) {
  if (l == 0) atomic_store_explicit(counter, 0, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint ticket = 0;
  if (l % 3 != 1) ticket = atomic_fetch_add_explicit(counter, 1, RELAXED) + 1;
  out[i] = ticket;
}
kernel void floats_in_threadgroup(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup atomic_float sums[3];
  if (l == 0)
    for (int k = 0; k < 3; k++) atomic_store_explicit(&sums[k], 0.0f, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 2; k++) atomic_fetch_add_explicit(&sums[(l + k) % 3], float(l), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&sums[l % 3], RELAXED);
}
kernel void chosen_memory(device atomic_int *a, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup atomic_int t[2];
  if (l < 2) atomic_store_explicit(&t[l], 0, RELAXED);
  if (l == 0) atomic_store_explicit(&t[1], 0, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup atomic_int *p = i % 2 ? &t[0] : &t[1];
  atomic_fetch_add_explicit(p, 1, RELAXED);
  atomic_fetch_or_explicit(&a[i % 7], 1 << (i % 5), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&t[0], RELAXED) * 1000 + atomic_load_explicit(&t[1], RELAXED);
}
kernel void exchanged_in_threadgroup(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup atomic_int t[257];
  atomic_store_explicit(&t[l], int(l), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int got = atomic_exchange_explicit(&t[(l + 1) % size], -int(l), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int expected = i % 2 ? -int((l + size - 1) % size) : 12345;
  bool done = atomic_compare_exchange_weak_explicit(&t[l], &expected, 99, RELAXED, RELAXED);
  out[3 * i] = got;
  out[3 * i + 1] = expected * 2 + (done ? 1 : 0);
  out[3 * i + 2] = atomic_load_explicit(&t[l], RELAXED);
}
