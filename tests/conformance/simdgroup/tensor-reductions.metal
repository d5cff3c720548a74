#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// ---- Reductions ----

template <class T, int M, int N, reduction_operation Operation, class Scope>
kernel void reduced(device T *in [[buffer(0)]], device float *rows [[buffer(1)]], device float *columns [[buffer(2)]],
                    constant float &identity [[buffer(3)]]) {
  matmul2d<matmul2d_descriptor(M, N, 1), Scope> op;
  auto memory = tensor(in, dextents<int, 2>(N, M));
  using memory_type = decltype(memory);
  auto held = op.template get_destination_cooperative_tensor<memory_type, memory_type, T>();
  auto by_row = op.template get_row_reduction_destination_cooperative_tensor<memory_type, memory_type, float>();
  auto by_column = op.template get_column_reduction_destination_cooperative_tensor<memory_type, memory_type, float>();
  held.load(memory);
  reduce_rows(held, by_row, Operation, T(identity));
  reduce_columns(held, by_column, Operation, T(identity));
  by_row.store(tensor(rows, extents<int, M>()));
  by_column.store(tensor(columns, extents<int, N>()));
}
#define REDUCED(name, ...) template [[host_name(name)]] kernel decltype(reduced<__VA_ARGS__>) reduced<__VA_ARGS__>;
REDUCED("sums", float, 16, 16, reduction_operation::sum, execution_simdgroup)
REDUCED("sums_odd", float, 19, 18, reduction_operation::sum, execution_simdgroup)
REDUCED("sums_one_row", float, 1, 40, reduction_operation::sum, execution_simdgroup)
REDUCED("sums_thread", float, 3, 5, reduction_operation::sum, execution_thread)
REDUCED("sums_half", half, 32, 16, reduction_operation::sum, execution_simdgroup)
REDUCED("greatest", float, 12, 20, reduction_operation::max, execution_simdgroup)
REDUCED("least", float, 12, 20, reduction_operation::min, execution_simdgroup)

// Without an identity it is zero, also for a maximum.
kernel void defaults(device float *in [[buffer(0)]], device float *sums [[buffer(1)]], device float *greatest [[buffer(2)]]) {
  matmul2d<matmul2d_descriptor(8, 24, 1), execution_simdgroup> op;
  auto memory = tensor(in, dextents<int, 2>(24, 8));
  auto held = op.get_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  auto values = op.get_row_reduction_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  held.load(memory);
  reduce_rows(held, values);
  values.store(tensor(sums, extents<int, 8>()));
  reduce_rows(held, values, reduction_operation::max);
  values.store(tensor(greatest, extents<int, 8>()));
}

// ---- Iterators ----

// A softmax of rows: every element finds the value of its row.
kernel void normalized(device float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  matmul2d<matmul2d_descriptor(18, 24, 1), execution_simdgroup> op;
  auto memory = tensor(in, dextents<int, 2>(24, 18));
  auto held = op.get_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  auto values = op.get_row_reduction_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  held.load(memory);
  reduce_rows(held, values, reduction_operation::max, -INFINITY);
  for (auto it = held.begin(); it != held.end(); it++) *it = precise::exp(*it - *values.map_iterator(it));
  reduce_rows(held, values);
  for (ushort i = 0; i < held.get_capacity(); i++) held[i] /= *values.map_iterator(held.get_iterator(i));
  held.store(tensor(out, dextents<int, 2>(24, 18)));
}

// The value of a column, and iterators that know where they are.
kernel void centred(device float *in [[buffer(0)]], device float *out [[buffer(1)]], device int *compatible [[buffer(2)]]) {
  matmul2d<matmul2d_descriptor(16, 24, 1), execution_simdgroup> op;
  auto memory = tensor(in, dextents<int, 2>(24, 16));
  auto held = op.get_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  auto values = op.get_column_reduction_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  auto other = matmul2d<matmul2d_descriptor(8, 24, 1), execution_simdgroup>()
                   .get_row_reduction_destination_cooperative_tensor<decltype(memory), decltype(memory), float>();
  held.load(memory);
  reduce_columns(held, values);
  for (auto it = held.begin(); it != held.end(); ++it) {
    if (!it.is_valid_element()) continue;
    auto at = it.get_multidimensional_index();
    out[at[1] * 24 + at[0]] = *it * 16 - *values.map_iterator(it);
  }
  compatible[0] = is_iterator_compatible(held, values), compatible[1] = is_iterator_compatible(held, other);
  compatible[2] = is_iterator_compatible(held, held), compatible[3] = int(values.get_rank());
}

// ---- From one product to the next ----

// (a b) c, where what the first product gives is held all the time, and c is in memory.
template <int K>
kernel void chained(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]],
                    device float *out [[buffer(3)]], device int *compatible [[buffer(4)]]) {
  auto left = tensor(a, dextents<int, 2>(12, 16)), right = tensor(b, dextents<int, 2>(K, 12)), last = tensor(c, dextents<int, 2>(20, K));
  matmul2d<matmul2d_descriptor(16, K, 12), execution_simdgroup> first;
  matmul2d<matmul2d_descriptor(16, 20, K), execution_simdgroup> second;
  auto between = first.template get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  first.run(left, right, between);
  compatible[0] = second.template is_compatible_as_left_input<float, float, float>(between);
  auto input = second.template get_left_input_cooperative_tensor<float, float, float>(between);
  auto result = second.template get_destination_cooperative_tensor<decltype(input), decltype(last), float>();
  second.run(input, last, result);
  result.store(tensor(out, dextents<int, 2>(20, 16)));
}
template [[host_name("chained")]] kernel decltype(chained<24>) chained<24>;

// The held factor is the right one, has another layout than what it is made of, and is transposed.
kernel void chained_right(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]],
                          device float *out [[buffer(3)]]) {
  auto left = tensor(a, dextents<int, 2>(12, 20)), right = tensor(b, dextents<int, 2>(40, 12)), first_factor = tensor(c, dextents<int, 2>(40, 8));
  matmul2d<matmul2d_descriptor(20, 40, 12), execution_simdgroup> first;
  matmul2d<matmul2d_descriptor(8, 18, 36, false, true), execution_simdgroup> second;
  auto between = first.get_destination_cooperative_tensor<decltype(left), decltype(right), half>();
  first.run(left, right, between);
  auto input = second.get_right_input_cooperative_tensor<float, float, float>(between);
  auto result = second.get_destination_cooperative_tensor<decltype(first_factor), decltype(input), float>();
  second.run(first_factor, input, result);
  result.store(tensor(out, dextents<int, 2>(18, 8)));
}

// ---- Convolutions ----

struct picture_sizes {
  int inputs, width, height, outputs, out_width, out_height, pad_x, pad_y;
};

// As PyTorch does it: a tile of the result per threadgroup, with padding by the offsets.
template <class T, int O, int W, int H, int KX, int KY, int SX, int SY, int DX, int DY, class Scope>
kernel void convolved(device T *pictures [[buffer(0)]], device T *weights [[buffer(1)]], device float *out [[buffer(2)]],
                      constant picture_sizes &p [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = convolution2d_descriptor(
      int4(O, W, H, 1), int4(-1, 4096, 4096, 1), int2(KX, KY), convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout::hwio, int2(SX, SY), int2(DX, DY), 1, true, convolution2d_descriptor::mode::multiply);
  convolution2d<descriptor, Scope> op;
  int o = int(group.x) * O, x = int(group.y) * W, y = int(group.z) * H;
  op.set_offsets(int2(x * SX - p.pad_x + ((KX - 1) * DX + 1) / 2, y * SY - p.pad_y + ((KY - 1) * DY + 1) / 2));
  auto from = tensor(pictures, dextents<int, 4>(p.inputs, p.width, p.height, 1));
  auto by = tensor(weights, dextents<int, 4>(p.outputs, p.inputs, KX, KY)).slice(o, 0, 0, 0);
  auto to = tensor(out, dextents<int, 4>(p.outputs, p.out_width, p.out_height, 1)).slice(o, x, y, 0);
  auto held = op.template get_destination_cooperative_tensor<decltype(from), decltype(by), float>();
  op.run(from, by, held);
  held.store(to);
}
#define CONVOLVED(name, ...) template [[host_name(name)]] kernel decltype(convolved<__VA_ARGS__>) convolved<__VA_ARGS__>;
CONVOLVED("convolved", float, 8, 4, 4, 3, 3, 1, 1, 1, 1, execution_simdgroups<2>)
CONVOLVED("convolved_strides", half, 4, 8, 2, 3, 2, 2, 3, 1, 1, execution_simdgroup)
CONVOLVED("convolved_dilated", float, 16, 4, 4, 2, 3, 1, 1, 3, 2, execution_simdgroups<4>)

// Two pictures; the result is in memory and is added to; the window is centred.
kernel void convolved_added(device float *pictures [[buffer(0)]], device float *weights [[buffer(1)]], device float *out [[buffer(2)]]) {
  constexpr auto descriptor = convolution2d_descriptor(int4(3, 6, 5, 2), int4(2, 6, 5, 2), int2(3, 3), convolution2d_activation_layout::nhwc,
                                                       convolution2d_weights_layout::hwio, int2(1, 1), int2(1, 1), 1, false,
                                                       convolution2d_descriptor::mode::multiply_accumulate);
  convolution2d<descriptor, execution_simdgroup> op;
  auto from = tensor(pictures, dextents<int, 4>(2, 6, 5, 2)), by = tensor(weights, dextents<int, 4>(3, 2, 3, 3)), to = tensor(out, dextents<int, 4>(3, 6, 5, 2));
  op.run(from, by, to);
}
