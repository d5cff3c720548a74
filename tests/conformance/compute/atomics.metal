// Atomics on device and threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void add_uint(device atomic_uint *total, uint i [[thread_position_in_grid]]) { atomic_fetch_add_explicit(total, i, memory_order_relaxed); }
kernel void add_and_subtract_int(device atomic_int *totals, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&totals[0], int(i), memory_order_relaxed);
  atomic_fetch_sub_explicit(&totals[1], int(i), memory_order_relaxed);
  atomic_fetch_add_explicit(&totals[2 + i % 3], -1, memory_order_relaxed);
}
kernel void min_max(device atomic_int *s, device atomic_uint *u, device const int *values, uint i [[thread_position_in_grid]]) {
  atomic_fetch_min_explicit(&s[0], values[i], memory_order_relaxed);
  atomic_fetch_max_explicit(&s[1], values[i], memory_order_relaxed);
  atomic_fetch_min_explicit(&u[0], uint(values[i]), memory_order_relaxed);
  atomic_fetch_max_explicit(&u[1], uint(values[i]), memory_order_relaxed);
}
kernel void and_or_xor(device atomic_uint *cells, uint i [[thread_position_in_grid]]) {
  atomic_fetch_and_explicit(&cells[0], ~(1u << i), memory_order_relaxed);
  atomic_fetch_or_explicit(&cells[1], 1u << i, memory_order_relaxed);
  atomic_fetch_xor_explicit(&cells[2], i * 0x01010101u, memory_order_relaxed);
}
// Each thread gets another old value.
kernel void tickets(device atomic_uint *counter, device uint *ticket, uint i [[thread_position_in_grid]]) {
  ticket[i] = atomic_fetch_add_explicit(counter, 2u, memory_order_relaxed);
}
kernel void append_matching(device const int *in, device int *out, device atomic_uint *count, uint i [[thread_position_in_grid]]) {
  if (in[i] % 3 == 0) out[atomic_fetch_add_explicit(count, 1u, memory_order_relaxed)] = in[i];
}
// The old values and what is left in the cell are all different.
kernel void exchange_chain(device atomic_uint *cells, uint i [[thread_position_in_grid]]) {
  uint old = atomic_exchange_explicit(&cells[0], i + 1, memory_order_relaxed);
  atomic_store_explicit(&cells[i + 1], old, memory_order_relaxed);
}
kernel void compare_exchange_maximum(device atomic_float *best, device const float *values, uint i [[thread_position_in_grid]]) {
  float seen = atomic_load_explicit(best, memory_order_relaxed);
  while (values[i] > seen && !atomic_compare_exchange_weak_explicit(best, &seen, values[i], memory_order_relaxed, memory_order_relaxed)) {
  }
}
kernel void compare_exchange_product(device atomic_uint *product, uint i [[thread_position_in_grid]]) {
  uint old = atomic_load_explicit(product, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(product, &old, old * (2 * i + 1), memory_order_relaxed, memory_order_relaxed)) {
  }
}
kernel void spin_lock(device atomic_int *lock, device int *guarded, uint i [[thread_position_in_grid]]) {
  bool done = false;
  while (!done) {
    int expected = 0;
    if (atomic_compare_exchange_weak_explicit(lock, &expected, 1, memory_order_relaxed, memory_order_relaxed)) {
      *(volatile device int *)guarded += int(i);
      atomic_store_explicit(lock, 0, memory_order_relaxed);
      done = true;
    }
  }
}
kernel void add_float(device atomic_float *total, device const float *values, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&total[i % 2], values[i], memory_order_relaxed);
  atomic_fetch_sub_explicit(&total[2], values[i], memory_order_relaxed);
}
kernel void bools(device atomic_bool *flags, device uchar *old, uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0) atomic_store_explicit(&flags[i], true, memory_order_relaxed);
  old[i] = atomic_load_explicit(&flags[i], memory_order_relaxed);
  if (i == 5) old[i] = atomic_exchange_explicit(&flags[i], true, memory_order_relaxed);
  if (i == 6) {
    bool expected = true;
    old[i] = 10 + atomic_compare_exchange_weak_explicit(&flags[i], &expected, false, memory_order_relaxed, memory_order_relaxed);
  }
}
kernel void ulong_min_max(device atomic_ulong *cells, device const ulong *values, uint i [[thread_position_in_grid]]) {
  atomic_min_explicit(&cells[0], values[i], memory_order_relaxed);
  atomic_max_explicit(&cells[1], values[i], memory_order_relaxed);
}
kernel void loads_and_stores(device atomic_int *a, device atomic_float *f, device int *out, uint i [[thread_position_in_grid]]) {
  atomic_store_explicit(&a[i], int(i) * 3, memory_order_relaxed);
  atomic_store_explicit(&f[i], float(i) * 0.5f, memory_order_relaxed);
  out[i] = atomic_load_explicit(&a[i], memory_order_relaxed) + int(atomic_load_explicit(&f[i], memory_order_relaxed) * 4);
}
struct Bin { atomic_uint count; float weight; atomic_int least; };
kernel void atomics_in_structs(device Bin *bins, uint i [[thread_position_in_grid]]) {
  device Bin &b = bins[i % 4];
  atomic_fetch_add_explicit(&b.count, 1u, memory_order_relaxed);
  atomic_fetch_min_explicit(&b.least, int(i) - 50, memory_order_relaxed);
}
static uint bump(device atomic_uint *p, uint by) { return atomic_fetch_add_explicit(p, by, memory_order_relaxed); }
kernel void atomics_under_divergence(device atomic_uint *cells, uint i [[thread_position_in_grid]]) {
  if (i % 2) {
    for (uint k = 0; k < i % 5; k++) bump(&cells[0], 1);
  } else if (i % 3 == 0) {
    bump(cells + 1, i);
    return;
  }
  bump(&cells[2], 1);
}
kernel void old_values_of_min(device atomic_int *cell, device int *old, uint i [[thread_position_in_grid]]) {
  old[i] = atomic_fetch_min_explicit(cell, 100 - int(i), memory_order_relaxed);
}
kernel void threadgroup_float_sum(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_float sum;
  threadgroup atomic_int order[2];
  if (l == 0) atomic_store_explicit(&sum, 0.0f, memory_order_relaxed);
  if (l < 2) atomic_store_explicit(&order[l], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&sum, float(i), memory_order_relaxed);
  int seen = 0;
  while (!atomic_compare_exchange_weak_explicit(&order[i & 1], &seen, seen + 3, memory_order_relaxed, memory_order_relaxed)) {
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) out[2 * g] = atomic_load_explicit(&sum, memory_order_relaxed);
  if (l == 0) out[2 * g + 1] = atomic_load_explicit(&order[0], memory_order_relaxed) + 1000 * atomic_load_explicit(&order[1], memory_order_relaxed);
}
kernel void global_histogram_many_groups(device atomic_uint *bins, device const uchar *data, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[data[i] >> 4], 1u, memory_order_relaxed);
}
// Neighbouring threads change neighbouring cells, and so do other threadgroups at the same time.
kernel void rows(device atomic_uint *plus, device atomic_uint *minus, constant uint &first, uint l [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&plus[first + l], i, memory_order_relaxed);
  atomic_fetch_sub_explicit(&minus[first + l], i, memory_order_relaxed);
}
kernel void rows_of_bits(device atomic_uint *cleared, device atomic_uint *set, device atomic_uint *flipped, constant uint &first, uint l [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]]) {
  atomic_fetch_and_explicit(&cleared[first + l], ~(1u << group % 31), memory_order_relaxed);
  atomic_fetch_or_explicit(&set[first + l], 1u << group % 31, memory_order_relaxed);
  atomic_fetch_xor_explicit(&flipped[first + l], i, memory_order_relaxed);
}
kernel void rows_of_extremes(device atomic_int *s, device atomic_uint *u, constant uint &first, uint l [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_min_explicit(&s[first + l], int(i) - 40000, memory_order_relaxed);
  atomic_fetch_max_explicit(&s[first + l + 72], 100 - int(i), memory_order_relaxed);
  atomic_fetch_min_explicit(&u[first + l], i + 5, memory_order_relaxed);
  atomic_fetch_max_explicit(&u[first + l + 72], i, memory_order_relaxed);
}
