// Function constants: every type, derived constants, optional arguments.
#include <metal_stdlib>
using namespace metal;

constant bool use_bias [[function_constant(0)]];
constant int count [[function_constant(1)]];
constant uint mask [[function_constant(2)]];
constant float factor [[function_constant(3)]];
constant half small [[function_constant(4)]];
constant short s16 [[function_constant(5)]];
constant ushort u16 [[function_constant(6)]];
constant char i8 [[function_constant(7)]];
constant uchar u8 [[function_constant(8)]];
constant float4 color [[function_constant(9)]];
constant int2 dims [[function_constant(10)]];
constant bool never_given [[function_constant(11)]];
constant uint3 block [[function_constant(12)]];
constant bool with_extra [[function_constant(20)]];

constant int doubled = count * 2;
constant bool is_big = count > 10;
constant float combined = is_big ? factor * 2 : factor;
template <int N> constant int scaled = count * N;
constant int safe_count = is_function_constant_defined(count) ? count : 99;

kernel void every_type(device float *out) {
  out[0] = use_bias;
  out[1] = count;
  out[2] = mask;
  out[3] = factor;
  out[4] = small;
  out[5] = s16;
  out[6] = u16;
  out[7] = i8;
  out[8] = u8;
}
kernel void vector_constants(device float *out) {
  out[0] = color.x + color.w * 10;
  out[1] = dims.x * 100 + dims.y;
  out[2] = block.x + block.y * 10 + block.z * 100;
  float4 c = color * 2;
  out[3] = c.z;
}
kernel void derived(device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = doubled + combined;
  if (is_big) out[i] += 1000;
}
kernel void derived_templates(device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = scaled<3> * 100 + scaled<5>;
}
kernel void as_loop_bound(device int *out, uint i [[thread_position_in_grid]]) {
  int sum = 0;
  for (int k = 0; k < count; k++) sum += k;
  if (use_bias) sum += 100000;
  out[i] = sum;
}
kernel void as_array_size_bound(device int *out, uint i [[thread_position_in_grid]]) {
  int values[16];
  for (int k = 0; k < count; k++) values[k] = int(i) + k;
  int sum = 0;
  for (int k = count; k-- > 0;) sum += values[k];
  out[i] = sum;
}
kernel void defined_or_not(device int *out) {
  out[0] = is_function_constant_defined(count);
  out[1] = is_function_constant_defined(never_given);
  out[2] = safe_count;
  out[3] = is_function_constant_defined(color);
}
constant bool without_extra = !with_extra;
kernel void optional_argument(device float *out [[buffer(0)]], device const float *extra [[buffer(1), function_constant(with_extra)]],
                              uint i [[thread_position_in_grid]]) {
  float v = 1;
  if (with_extra) v += extra[i];
  out[i] = v;
}
kernel void either_argument(device float *out [[buffer(0)]], device const float *a [[buffer(1), function_constant(with_extra)]],
                            constant float &b [[buffer(2), function_constant(without_extra)]], uint i [[thread_position_in_grid]]) {
  out[i] = with_extra ? a[i] : b;
}
// Not touched by this kernel, so not needed.
kernel void needs_none(device int *out) { out[0] = 5; }
// Two constants with one number, for different kernels: a value is for those of its type.
constant int width [[function_constant(40)]];
constant bool forwards [[function_constant(40)]];
constant float3 weights [[function_constant(41)]];
constant half scale [[function_constant(41)]];
kernel void number_as_int(device float *out) { out[0] = float(width); }
kernel void number_as_bool(device float *out) { out[0] = forwards ? 1 : -1; }
kernel void number_as_vector(device float *out) { out[0] = weights.x + 10 * weights.z; }
kernel void number_as_half(device float *out) { out[0] = float(scale); }
