#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// ---- Tensors ----

kernel void shapes(device int *out [[buffer(0)]], device float *data [[buffer(1)]]) {
  auto t = tensor(data, dextents<int32_t, 3>(4, 5, 6));
  auto s = t.slice(1, 2, 3);
  auto f = t.slice<2, 2, 2>(3, 0, 5);
  tensor<device float, extents<int, 4, dynamic_extent>, tensor_inline> mixed(data, extents<int, 4, dynamic_extent>(7));
  auto strided = tensor(data, dextents<int32_t, 2>(3, 3), array<int, 2>({1, 10}));
  out[0] = int(t.get_rank()), out[1] = t.get_extent(0), out[2] = t.get_extent(2), out[3] = t.get_stride(2);
  out[4] = s.get_extent(0), out[5] = s.get_extent(1), out[6] = s.get_extent(2), out[7] = int(s[0, 0, 0]);
  out[8] = f.get_extent(0), out[9] = f.get_extent(1), out[10] = f.get_extent(2), out[11] = int(f[0, 1, 0]);
  out[12] = mixed.get_extent(0), out[13] = mixed.get_extent(1), out[14] = int(mixed[1, 2]);
  out[15] = int(strided[2, 1]);
  strided[0, 2] = -1;
}

kernel void argument(tensor<device float, dextents<int32_t, 2>> t [[buffer(0)]], device float *out [[buffer(1)]],
                     uint2 at [[thread_position_in_grid]]) {
  out[at.y * uint(t.get_extent(0)) + at.x] = t[at.x, at.y];
}

// ---- Products of memory ----

template <class A, class B, class C, int M, int N, int K, bool TA, bool TB, class Scope>
kernel void product(device A *a [[buffer(0)]], device B *b [[buffer(1)]], device C *c [[buffer(2)]],
                    constant int3 &sizes [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]]) {
  int m = sizes.x, n = sizes.y, k = sizes.z;
  auto left = tensor(a, TA ? dextents<int, 2>(m, k) : dextents<int, 2>(k, m));
  auto right = tensor(b, TB ? dextents<int, 2>(k, n) : dextents<int, 2>(n, k));
  auto result = tensor(c, dextents<int, 2>(n, m));
  int x = int(group.x) * N, y = int(group.y) * M;
  constexpr auto descriptor = matmul2d_descriptor(M, N, K, TA, TB);
  matmul2d<descriptor, Scope> op;
  auto l = TA ? left.slice(y, 0) : left.slice(0, y);
  auto r = TB ? right.slice(0, x) : right.slice(x, 0);
  auto held = op.template get_destination_cooperative_tensor<decltype(l), decltype(r), C>();
  op.run(l, r, held);
  held.store(result.slice(x, y));
}
#define PRODUCT(name, ...) template [[host_name(name)]] kernel decltype(product<__VA_ARGS__>) product<__VA_ARGS__>;
PRODUCT("product_nn", float, float, float, 16, 16, -1, false, false, execution_simdgroup)
PRODUCT("product_nt", float, float, float, 16, 16, -1, false, true, execution_simdgroup)
PRODUCT("product_tn", float, float, float, 16, 16, -1, true, false, execution_simdgroup)
PRODUCT("product_tt", float, float, float, 16, 16, -1, true, true, execution_simdgroup)
PRODUCT("product_half", half, half, float, 32, 64, -1, false, true, execution_simdgroups<4>)
PRODUCT("product_bfloat", bfloat, bfloat, float, 32, 32, -1, false, false, execution_simdgroups<2>)
PRODUCT("product_char", char, char, int, 16, 32, -1, false, false, execution_simdgroups<2>)
PRODUCT("product_odd", float, float, float, 24, 40, -1, false, false, execution_simdgroups<4>)
PRODUCT("product_fixed", float, float, float, 16, 16, 12, false, false, execution_simdgroup)
PRODUCT("product_thread", float, float, float, 4, 4, -1, false, false, execution_thread)

// As llama.cpp does it: a tile in threadgroup memory, added up step by step.
kernel void steps(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]],
                  constant int3 &sizes [[buffer(3)]], uint thread_index [[thread_index_in_threadgroup]]) {
  constexpr int M = 32, N = 32, K = 8;
  int m = sizes.x, n = sizes.y, k = sizes.z;
  threadgroup float tile[K * N];
  matmul2d<matmul2d_descriptor(M, N, static_cast<int>(dynamic_extent), false, true, true,
                               matmul2d_descriptor::mode::multiply_accumulate), execution_simdgroups<4>> op;
  auto whole = tensor((threadgroup float *)tile, dextents<int32_t, 2>(K, N));
  auto sums = op.get_destination_cooperative_tensor<decltype(tensor(a, dextents<int32_t, 2>(k, m))), decltype(whole), float>();
  for (int step = 0; step < k; step += K) {
    for (int i = int(thread_index); i < K * N; i += 128) {
      int row = i / K, column = step + i % K;
      tile[i] = row < n && column < k ? b[row * k + column] : 100;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int left = min(K, k - step);
    auto view = tensor((threadgroup float *)tile, dextents<int32_t, 2>(left, N), array<int, 2>({1, K}));
    auto rows = tensor(a + step, dextents<int32_t, 2>(left, m), array<int, 2>({1, k}));
    op.run(rows, view, sums);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  auto result = tensor(c, dextents<int32_t, 2>(n, m), array<int, 2>({1, n}));
  sums.store(result.slice(0, 0));
}

// The destination is in memory, and is added to.
kernel void added(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]]) {
  auto left = tensor(a, dextents<int, 2>(8, 16)), right = tensor(b, dextents<int, 2>(16, 8)), result = tensor(c, dextents<int, 2>(16, 16));
  matmul2d<matmul2d_descriptor(16, 16, 8, false, false, false, matmul2d_descriptor::mode::multiply_accumulate), execution_simdgroup> op;
  op.run(left, right, result);
}

// ---- Products of what threads hold ----

template <class A, class C, bool TA, bool TB>
kernel void held(device A *a [[buffer(0)]], device A *b [[buffer(1)]], device C *c [[buffer(2)]]) {
  constexpr auto descriptor = matmul2d_descriptor(16, 32, 16, TA, TB, false, matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> op;
  auto left = op.template get_left_input_cooperative_tensor<A, A, C>();
  auto right = op.template get_right_input_cooperative_tensor<A, A, C>();
  auto sums = op.template get_destination_cooperative_tensor<decltype(left), decltype(right), C>();
  left.load(tensor(a, dextents<int, 2>(16, 16)));
  right.load(TB ? tensor(b, dextents<int, 2>(16, 32)) : tensor(b, dextents<int, 2>(32, 16)));
  for (ushort i = 0; i < sums.get_capacity(); i++) sums[i] = C(1);
  op.run(left, right, sums);
  sums.store(tensor(c, dextents<int, 2>(32, 16)));
}
#define HELD(name, ...) template [[host_name(name)]] kernel decltype(held<__VA_ARGS__>) held<__VA_ARGS__>;
HELD("held_nn", float, float, false, false)
HELD("held_nt", float, float, false, true)
HELD("held_tn", float, float, true, false)
HELD("held_tt", float, float, true, true)
HELD("held_half", half, float, false, true)

// Each element is changed by its place, whichever thread holds it.
kernel void places(device float *c [[buffer(0)]], device atomic_uint *count [[buffer(1)]]) {
  matmul2d<matmul2d_descriptor(20, 36, 4), execution_simdgroups<4>> op;
  auto t = op.get_destination_cooperative_tensor<float, float, float>();
  for (ushort i = 0; i < t.get_capacity(); i++) {
    if (!t.is_valid_element(i)) continue;
    auto index = t.get_multidimensional_index(i);
    t[i] = float(index[1] * 100 + index[0]);
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  }
  t.store(tensor(c, dextents<int, 2>(36, 20)));
}
