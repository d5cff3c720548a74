#include <metal_stdlib>
using namespace metal;

using unary = float(float);

[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float square(float x) { return x * x; }
[[stitchable]] float next(float x) { return x + 1; }
[[visible]] float polynomial(float x) {
  float sum = 0;
  for (int k = 0; k < 4; k++) sum = sum * x + float(k);
  return sum;
}
[[host_name("by_another_name"), visible]] float negated(float x) { return -x; }

// Neighbouring threads call different functions.
kernel void each(device float *x [[buffer(0)]], visible_function_table<unary> table [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  x[i] = table[i % table.size()](x[i]);
}

// All threads call the same one.
kernel void same(device float *x [[buffer(0)]], visible_function_table<float(float)> table [[buffer(1)]],
                 constant uint &which [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  x[i] = table[which](x[i]);
}

// The index is from memory, the argument implicit.
kernel void chosen(device float *x, const device int *which, visible_function_table<unary> table,
                   uint i [[thread_position_in_grid]]) {
  if (which[i] >= 0) x[i] = table[which[i]](x[i]);
}

kernel void missing(device float *x [[buffer(0)]], visible_function_table<unary> table [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  unary *f = table[i & 3];
  x[i] = f == nullptr ? -1 : f(x[i]);
}

kernel void missing_called(device float *x [[buffer(0)]], visible_function_table<unary> table [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  x[i] = table[i & 3](x[i]) + 1;
}

kernel void repeated(device float *x [[buffer(0)]], visible_function_table<unary> table [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  float value = x[i];
  for (uint k = 0; k <= i % 3; k++) value = table[k](value);
  x[i] = value;
}

// Results and parameters of other types.
struct Pair { float2 a; uint b; };
[[visible]] Pair swap(Pair p, float4 by) { return {p.a.yx + by.zw, p.b + 1}; }
[[visible]] Pair keep(Pair p, float4 by) { return {p.a + by.xy, p.b}; }
struct Large { float values[12]; };
[[visible]] Large reversed(Large l) {
  Large r;
  for (int k = 0; k < 12; k++) r.values[k] = l.values[11 - k];
  return r;
}
[[visible]] Large doubled(Large l) {
  for (int k = 0; k < 12; k++) l.values[k] *= 2;
  return l;
}

kernel void structs(device Pair *pairs [[buffer(0)]], visible_function_table<Pair(Pair, float4)> table [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  pairs[i] = table[i & 1](pairs[i], float4(1, 2, 3, 4));
}

kernel void large(device Large *l [[buffer(0)]], visible_function_table<Large(Large)> table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  l[i] = table[i & 1](l[i]);
}

// Memory and no result.
[[visible]] void add_to(device float *at, threadgroup float *shared, uint lane) { *at += shared[lane]; }
[[visible]] void subtract_from(device float *at, threadgroup float *shared, uint lane) { *at -= shared[lane ^ 1]; }

kernel void memory(device float *x [[buffer(0)]],
                   visible_function_table<void(device float *, threadgroup float *, uint)> table [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint lane [[thread_index_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[lane] = float(lane);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  table[i & 1](&x[i], shared, lane);
}

// Two tables, one of which calls through the other.
[[visible]] float through(float x, visible_function_table<unary> inner) { return inner[uint(x) & 1](x) + 0.5f; }
[[visible]] float around(float x, visible_function_table<unary> inner) { return x; }

kernel void nested(device float *x [[buffer(0)]], visible_function_table<unary> inner [[buffer(1)]],
                   visible_function_table<float(float, visible_function_table<unary>)> outer [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  x[i] = outer[i & 1](x[i], inner);
}

// Simdgroup operations in a function that only some lanes call.
[[visible]] uint sum_of_callers(uint x) { return simd_sum(x); }
[[visible]] uint alone(uint x) { return x; }

kernel void lanes(device uint *x [[buffer(0)]], visible_function_table<uint(uint)> table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] = table[i & 1](x[i]);
}

// Pointers without a table.
kernel void pointers(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  unary *f = i % 3 == 0 ? twice : i % 3 == 1 ? square : next;
  x[i] = f(x[i]);
}

using pointer = unary *;
constant pointer listed[] = {twice, square, next};
kernel void list(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = listed[i % 3](x[i]); }

static float apply(unary *f, float x) { return f(f(x)); }
kernel void passed(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = apply(i & 1 ? square : next, x[i]);
}

kernel void compared(device uint *x [[buffer(0)]], visible_function_table<unary> table [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  x[i] = table[i] == twice ? 1 : table[i] == square ? 2 : 3;
}

// Function constants reach linked functions.
constant float factor [[function_constant(0)]];
[[visible]] float scaled(float x) { return factor * x; }

// A table in an argument buffer.
struct Arguments { visible_function_table<unary> table; device float *x; };
kernel void directly(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = polynomial(negated(x[i]));
}

// Functions that are not visible: MLX's kernels have pointers to them.
static float thrice(float x) { return 3 * x; }
#if __METAL_VERSION__ >= 320
template <int N> static float plus(float x) { return x + N; }
kernel void invisible(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  auto f = plus<7>;
  unary *g = x[i] > 10 ? thrice : f;
  float (*h)(float) = [](float v) { return 100 * v; };
  x[i] = g(x[i]) + h(1);
}
#endif
