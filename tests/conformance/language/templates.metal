// Templates, explicit instantiation with host_name, namespaces, lambdas, overloads, includes, attributes in macros.
#include <metal_stdlib>
#include "shared-header.h"
using namespace metal;

template <typename T> [[kernel]] void scale(device const T *in, device T *out, constant T &by, uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * by;
}
template [[host_name("scale_float")]] [[kernel]] void scale<float>(device const float *, device float *, constant float &, uint);
template [[host_name("scale_int")]] [[kernel]] void scale<int>(device const int *, device int *, constant int &, uint);
template [[host_name("scale_half")]] [[kernel]] void scale<half>(device const half *, device half *, constant half &, uint);

template <typename T> kernel void old_form(device T *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = T(i) + T(1); }
template [[host_name("old_form_uchar")]] kernel void old_form<uchar>(device uchar *, uint);
template [[host_name("old_form_bfloat")]] kernel void old_form<bfloat>(device bfloat *, uint);

// The shape MLX uses: a macro, decltype and an instantiation.
#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

struct Add { template <typename T> T operator()(T a, T b) { return a + b; } };
struct Maximum { template <typename T> T operator()(T a, T b) { return a > b ? a : b; } };
template <typename T, typename U, typename Op, int N = 1>
[[kernel]] void binary(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device U *c [[buffer(2)]],
                       constant const uint &size [[buffer(3)]], uint index [[thread_position_in_grid]]) {
  index *= N;
  for (int k = 0; k < N && index + k < size; k++) c[index + k] = U(Op()(a[index + k], b[index + k]));
}
#define instantiate_binary(name, op) \
  instantiate_kernel("vv_" #name "_float32", binary, float, float, op) \
  instantiate_kernel("vv_" #name "_int32_4", binary, int, float, op, 4)
instantiate_binary(Add, Add)
instantiate_binary(Maximum, Maximum)

namespace math {
namespace detail { constant int bias = 5; }
int biased(int v) { return v + detail::bias; }
template <int N> struct Power { static constexpr constant int value = 3 * Power<N - 1>::value; };
template <> struct Power<0> { static constexpr constant int value = 1; };
kernel void in_a_namespace(device int *out, uint i [[thread_position_in_grid]]) { out[i] = biased(int(i)) * Power<4>::value; }
}  // namespace math

#if __METAL_VERSION__ >= 320
kernel void lambdas(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int base = int(i) * 100;
  auto add = [=](int v) { return base + v; };
  auto twice = [&](int v) { return add(add(v)); };
  auto pick = [](bool c, int x, int y) { return c ? x : y; };
  out[i] = pick(i % 2 == 0, twice(a[i]), add(a[i]));
}
#endif

static int overloaded(int v) { return v + 1; }
static int overloaded(float v) { return int(v * 10); }
static int overloaded(float2 v) { return int(v.x + v.y) * 100; }
static int overloaded(int v, int w = 7) { return v * w; }
kernel void overloads(device int *out, uint i [[thread_position_in_grid]]) {
  out[0] = overloaded(1.5f);
  out[1] = overloaded(float2(1, 2));
  out[2] = overloaded(3, 4);
}

template <typename T> struct Accumulator {
  T total{0};
  template <typename U> thread Accumulator &add(U v) {
    total += T(v);
    return *this;
  }
};
template <typename T> struct width_of { static constant constexpr int value = sizeof(T) * 8; };
template <typename... T> int count_of(T... v) { return (0 + ... + int(v)); }
kernel void class_templates(device float *out, uint i [[thread_position_in_grid]]) {
  Accumulator<float> a;
  a.add(1).add(2.5f).add(half(0.25)).add(uchar(i));
  out[i] = a.total + width_of<short>::value + count_of(1, 2.9f, uchar(3));
}
template <typename T> T branch_on_type(T v) {
  if constexpr (is_floating_point_v<T>) return v / 2;
  else if constexpr (is_same_v<T, int>) return v * 3;
  else return v;
}
kernel void if_constexpr(device float *out) {
  out[0] = branch_on_type(3.0f);
  out[1] = branch_on_type(3);
  out[2] = branch_on_type(uchar(3));
  out[3] = float(branch_on_type(half(5)));
}
template <int A, int B> constexpr int gcd_of() { if constexpr (B == 0) return A; else return gcd_of<B, A % B>(); }
kernel void compile_time_values(device int *out) {
  out[0] = gcd_of<84, 36>();
  constexpr int squares[] = {1, 4, 9, 16};
  int sum = 0;
  for (int s : squares) sum += s;
  out[1] = sum;
  static_assert(gcd_of<84, 36>() == 12, "gcd");
}
kernel void from_a_header(device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = header_value(int(i)) + HEADER_CONSTANT + int(header_table[i % 3]);
}
#define INDEX uint i [[thread_position_in_grid]]
#define OUTPUT(T, n) device T *out [[buffer(n)]]
kernel void attributes_in_macros(OUTPUT(int, 4), INDEX) { out[i] = int(i) * 2; }
[[kernel, max_total_threads_per_threadgroup(64)]] void several_attributes(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = 64; }
[[host_name("renamed kernel")]] [[kernel]] void not_its_name(device int *out, uint i [[thread_position_in_grid]]) { out[i] = 9; }
using real = float;
typedef packed_float3 point;
kernel void aliases(device const point *p, device real *out, uint i [[thread_position_in_grid]]) { out[i] = p[i].x + p[i].z; }
static inline __attribute__((always_inline)) int forced(int v) { return v + 1; }
METAL_FUNC int metal_func(int v) { return v * 2; }
kernel void inlined_functions(device int *out, uint i [[thread_position_in_grid]]) { out[i] = metal_func(forced(int(i))); }
#ifndef LEVEL
#define LEVEL 0
#endif
kernel void defined_outside(device int *out) {
#if LEVEL > 2
  out[0] = LEVEL * 10 + sizeof(KIND);
#else
  out[0] = -1;
#endif
  out[1] = __METAL_VERSION__;
  out[2] =
#ifdef __METAL__
      1;
#else
      0;
#endif
}
