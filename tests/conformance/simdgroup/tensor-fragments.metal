#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// As MLX does it: threads know which elements they hold. Only the default layout is like that.
kernel void fragments(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]],
                      uint lane [[thread_index_in_simdgroup]]) {
  short fm = short(((lane >> 2) & 4) | ((lane >> 1) & 3)), fn = short((((lane >> 2) & 2) | (lane & 1)) * 4);
  vec<float, 8> x, y[2], sums[2];
  for (short i = 0; i < 8; i++) {
    short row = fm + i / 4 * 8, column = fn + i % 4;
    x[i] = a[row * 16 + column];
    y[0][i] = b[row * 32 + column], y[1][i] = b[row * 32 + 16 + column];
    sums[0][i] = sums[1][i] = 0;
  }
  constexpr auto descriptor = matmul2d_descriptor(16, 32, 16, false, false, true, matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> op;
  auto left = op.get_left_input_cooperative_tensor<float, float, float>();
  auto right = op.get_right_input_cooperative_tensor<float, float, float>();
  auto out = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(left)>, remove_addrspace_t<decltype(right)>, float>();
  for (short i = 0; i < 8; i++) {
    left[i] = x[i];
    right[i] = y[0][i], right[8 + i] = y[1][i];
    out[i] = sums[0][i], out[8 + i] = sums[1][i];
  }
  op.run(left, right, out);
  for (short i = 0; i < 16; i++) c[(fm + i % 8 / 4 * 8) * 32 + i / 8 * 16 + fn + i % 4] = out[i];
}
