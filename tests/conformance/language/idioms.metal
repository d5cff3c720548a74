// Idioms of MLX, llama.cpp and other large users.
#include <metal_stdlib>
#include <metal_atomic>
#include <metal_simdgroup_matrix>
using namespace metal;

#define FOR_UNROLL(x) _Pragma("clang loop unroll(full)") for (x)

template <typename T> kernel void kernel_scale(constant float &s, device const T *a, device T *b, uint i [[thread_position_in_grid]]) { b[i] = T(a[i] * s); }
typedef decltype(kernel_scale<float>) kernel_scale_t;
template [[host_name("kernel_scale_f32")]] kernel kernel_scale_t kernel_scale<float>;
template [[host_name("kernel_scale_f16")]] kernel decltype(kernel_scale<half>) kernel_scale<half>;

typedef struct { int32_t ne00; uint64_t nb01; float eps; } args_t;
kernel void shmem_cast(constant args_t &args, device const char *src0, device char *dst, threadgroup char *shmem [[threadgroup(0)]],
    uint3 tgpig [[threadgroup_position_in_grid]], ushort tiitg [[thread_index_in_threadgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]], ushort tiisg [[thread_index_in_simdgroup]], ushort3 ntg [[threads_per_threadgroup]]) {
  threadgroup float *sf = (threadgroup float *)shmem;
  threadgroup half4 *sh = (threadgroup half4 *)(shmem + 256);
  device const float *x = (device const float *)(src0 + tgpig.x * args.nb01);
  sf[tiitg] = x[tiitg] + args.eps;
  sh[tiitg] = half4(x[tiitg]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  device float *y = (device float *)(dst + tgpig.x * args.nb01);
  y[tiitg] = sf[args.ne00 - 1 - tiitg] + float(sh[tiitg].z);
}
kernel void array_refs(constant float (&table)[4] [[buffer(0)]], device float (*rows)[3] [[buffer(1)]], constant array<uint, 3> &sizes [[buffer(2)]], constant bool &flag [[buffer(3)]], constant packed_float3 &v [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < sizes[1]; k++) rows[i][k] = flag ? table[i] * v[k] : -1;
}
kernel void namespaces(device float *a, uint i [[thread_position_in_grid]]) {
  a[i] = metal::precise::exp(a[i]) + metal::fast::exp(0.0f) + precise::sqrt(4.0f) + fast::max(1.0f, 2.0f);
}
template <typename T, uint N> kernel void templ_tg(device T *out, uint l [[thread_index_in_threadgroup]]) {
  threadgroup T s[N];
  s[l] = T(l);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = s[N - 1 - l];
}
template [[host_name("templ_tg_16")]] kernel void templ_tg<float, 16>(device float *, uint);
kernel void unrolls(device float *a, uint i [[thread_position_in_grid]]) {
  float s = 0;
  FOR_UNROLL (short k = 0; k < 4; ++k) { s += k; }
#pragma unroll(4)
  for (int k = 0; k < 8; k++) s += 1;
#pragma clang loop unroll(disable)
  for (int k = 0; k < 8; k++) s += 1;
  a[i] = s;
}
kernel void misc(device float *a [[buffer(0)]], [[maybe_unused]] device int *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  auto [x, y] = float2x2(1, 2, 3, 4).columns;
  float4 v = float4(1, 2, 3, 4);
  const auto w = v.xyz;
  a[i] = w[1] + v.xyz[2] + x.x + y.y + simd_shuffle_down(1.0f, 1) + (i == 3 ? 0.5h : 1.5h);
  thread const auto &r = a[i];
  a[i] += r * 0 + vec<half, 4>(2).x + float(bfloat4(1.5bf).y);
}
struct complex64_t {
  float real, imag;
  constexpr complex64_t(float r, float i) : real(r), imag(i) {}
  constexpr complex64_t() : real(0), imag(0) {}
  constexpr complex64_t() threadgroup : real(0), imag(0) {}
  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type> constexpr complex64_t(T x) thread : real(x), imag(0) {}
  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type> constexpr complex64_t(T x) device : real(x), imag(0) {}
  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type> constexpr operator T() const thread { return static_cast<T>(real); }
  template <typename T, typename = typename enable_if<is_convertible_v<T, float>>::type> constexpr operator T() const device { return static_cast<T>(real); }
};
constexpr complex64_t operator*(complex64_t a, complex64_t b) { return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real}; }
kernel void complexes(device complex64_t *a, uint i [[thread_position_in_grid]]) { a[i] = a[i] * complex64_t(0, 1); }
kernel void overloads(device float *a, uint i [[thread_position_in_grid]]) { a[i] = abs(-3) + max(2, 3) + min(2.5f, float(i)) + clamp(int(i), 0, 2) + round(2.5f) + pow(2.0f, 3) + max(a[i], 0.0f); }
