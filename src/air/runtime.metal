// SPDX-License-Identifier: Apache-2.0
// What AIR's intrinsics on scalars do, in the words of <metal_stdlib>: air.fast_exp.f32 is air_fast_exp_f32. The
// translator (calls.c) applies them to each element of a vector. Every operation is there for every type that MSL has it
// for, whether a library was seen to use it or not; conversions and matrices are made by the translator itself.
//
// Compiled by the build (compile-runtime.c) and linked into each translated kernel.
#include <metal_stdlib>
using namespace metal;

#define AIR extern "C" __attribute__((always_inline))
#define LANE extern "C" __attribute__((always_inline, convergent))

// ---- Floating point ----

// Functions of half are in neither family.
namespace precise_f32 = metal::precise;
namespace precise_f16 = metal;
namespace precise_bf16 = metal::precise;
namespace fast_f32 = metal::fast;
namespace fast_f16 = metal;
namespace fast_bf16 = metal::fast;

// X(operation, type, work, suffix): bfloat is computed as float.
#define EACH_FLOAT(X, name) X(name, float, float, f32) X(name, half, half, f16) X(name, bfloat, float, bf16)

#define UNARY_OF(family, prefix, name, T, W, t) \
  AIR T air_##prefix##name##_##t(T x) { return T(family::name(W(x))); }
#define UNARY(name, T, W, t) UNARY_OF(precise_##t, , name, T, W, t) UNARY_OF(fast_##t, fast_, name, T, W, t)
#define BINARY_OF(family, prefix, name, T, W, t) \
  AIR T air_##prefix##name##_##t(T x, T y) { return T(family::name(W(x), W(y))); }
#define BINARY(name, T, W, t) BINARY_OF(precise_##t, , name, T, W, t) BINARY_OF(fast_##t, fast_, name, T, W, t)
#define TERNARY_OF(prefix, name, T, W, t) \
  AIR T air_##prefix##name##_##t(T x, T y, T z) { return T(metal::name(W(x), W(y), W(z))); }
#define TERNARY(name, T, W, t) TERNARY_OF(, name, T, W, t) TERNARY_OF(fast_, name, T, W, t)
#define COMMON1_OF(prefix, name, T, W, t) \
  AIR T air_##prefix##name##_##t(T x) { return T(metal::name(W(x))); }
#define COMMON1(name, T, W, t) COMMON1_OF(, name, T, W, t) COMMON1_OF(fast_, name, T, W, t)
#define COMMON2_OF(prefix, name, T, W, t) \
  AIR T air_##prefix##name##_##t(T x, T y) { return T(metal::name(W(x), W(y))); }
#define COMMON2(name, T, W, t) COMMON2_OF(, name, T, W, t) COMMON2_OF(fast_, name, T, W, t)

EACH_FLOAT(UNARY, acos)
EACH_FLOAT(UNARY, acosh)
EACH_FLOAT(UNARY, asin)
EACH_FLOAT(UNARY, asinh)
EACH_FLOAT(UNARY, atan)
EACH_FLOAT(UNARY, atanh)
EACH_FLOAT(UNARY, ceil)
EACH_FLOAT(UNARY, cos)
EACH_FLOAT(UNARY, cosh)
EACH_FLOAT(UNARY, cospi)
EACH_FLOAT(UNARY, exp)
EACH_FLOAT(UNARY, exp10)
EACH_FLOAT(UNARY, exp2)
EACH_FLOAT(UNARY, fabs)
EACH_FLOAT(UNARY, floor)
EACH_FLOAT(UNARY, fract)
EACH_FLOAT(UNARY, log)
EACH_FLOAT(UNARY, log10)
EACH_FLOAT(UNARY, log2)
EACH_FLOAT(UNARY, rint)
EACH_FLOAT(UNARY, round)
EACH_FLOAT(UNARY, rsqrt)
EACH_FLOAT(UNARY, sin)
EACH_FLOAT(UNARY, sinh)
EACH_FLOAT(UNARY, sinpi)
EACH_FLOAT(UNARY, sqrt)
EACH_FLOAT(UNARY, tan)
EACH_FLOAT(UNARY, tanh)
EACH_FLOAT(UNARY, tanpi)
EACH_FLOAT(UNARY, trunc)
EACH_FLOAT(COMMON1, saturate)
EACH_FLOAT(COMMON1, sign)

EACH_FLOAT(BINARY, atan2)
EACH_FLOAT(BINARY, copysign)
EACH_FLOAT(BINARY, fdim)
EACH_FLOAT(BINARY, fmax)
EACH_FLOAT(BINARY, fmin)
EACH_FLOAT(BINARY, fmod)
EACH_FLOAT(BINARY, pow)
EACH_FLOAT(BINARY, powr)
EACH_FLOAT(COMMON2, nextafter)
EACH_FLOAT(COMMON2, step)

EACH_FLOAT(TERNARY, clamp)
EACH_FLOAT(TERNARY, fma)
EACH_FLOAT(TERNARY, fmax3)
EACH_FLOAT(TERNARY, fmedian3)
EACH_FLOAT(TERNARY, fmin3)
EACH_FLOAT(TERNARY, mix)
EACH_FLOAT(TERNARY, smoothstep)

#define PARTS_OF(family, prefix, T, W, t) \
  AIR T air_##prefix##ldexp_##t(T x, int n) { return T(metal::ldexp(W(x), n)); } \
  AIR int air_##prefix##ilogb_##t(T x) { return metal::ilogb(W(x)); } \
  AIR T air_##prefix##frexp_##t(T x, thread int *n) { int e; W m = metal::frexp(W(x), e); *n = e; return T(m); } \
  AIR T air_##prefix##modf_##t(T x, thread T *whole) { W i, f = metal::modf(W(x), i); *whole = T(i); return T(f); } \
  AIR T air_##prefix##sincos_##t(T x, thread T *cosine) { W c, s = family::sincos(W(x), c); *cosine = T(c); return T(s); }
#define PARTS(name, T, W, t) PARTS_OF(precise, , T, W, t) PARTS_OF(fast, fast_, T, W, t)
EACH_FLOAT(PARTS, parts)

#define DOT_OF(prefix, T, t) \
  AIR T air_##prefix##dot2_##t(T a, T b, T x, T y) { return dot(vec<T, 2>(a, b), vec<T, 2>(x, y)); } \
  AIR T air_##prefix##dot3_##t(T a, T b, T c, T x, T y, T z) { return dot(vec<T, 3>(a, b, c), vec<T, 3>(x, y, z)); } \
  AIR T air_##prefix##dot4_##t(T a, T b, T c, T d, T x, T y, T z, T w) { return dot(vec<T, 4>(a, b, c, d), vec<T, 4>(x, y, z, w)); }
DOT_OF(, float, f32) DOT_OF(, half, f16) DOT_OF(fast_, float, f32) DOT_OF(fast_, half, f16)

// ---- Integers ----

#define EACH_SIGNED(X) X(char, s_i8) X(short, s_i16) X(int, s_i32) X(long, s_i64)
#define EACH_UNSIGNED(X) X(uchar, u_i8) X(ushort, u_i16) X(uint, u_i32) X(ulong, u_i64)
#define EACH_INTEGER(X) EACH_SIGNED(X) EACH_UNSIGNED(X)

#define ARITHMETIC(T, t) \
  AIR T air_abs_##t(T x) { return T(abs(x)); } \
  AIR T air_abs_diff_##t(T x, T y) { return T(absdiff(x, y)); } \
  AIR T air_add_sat_##t(T x, T y) { return addsat(x, y); } \
  AIR T air_sub_sat_##t(T x, T y) { return subsat(x, y); } \
  AIR T air_max_##t(T x, T y) { return max(x, y); } \
  AIR T air_min_##t(T x, T y) { return min(x, y); } \
  AIR T air_max3_##t(T x, T y, T z) { return max3(x, y, z); } \
  AIR T air_min3_##t(T x, T y, T z) { return min3(x, y, z); } \
  AIR T air_median3_##t(T x, T y, T z) { return median3(x, y, z); } \
  AIR T air_clamp_##t(T x, T low, T high) { return clamp(x, low, high); } \
  AIR T air_hadd_##t(T x, T y) { return hadd(x, y); } \
  AIR T air_rhadd_##t(T x, T y) { return rhadd(x, y); } \
  AIR T air_mul_hi_##t(T x, T y) { return mulhi(x, y); } \
  AIR T air_mad_hi_##t(T x, T y, T z) { return madhi(x, y, z); } \
  AIR T air_mad_sat_##t(T x, T y, T z) { return madsat(x, y, z); } \
  AIR T air_extract_bits_##t(T x, uint offset, uint bits) { return extract_bits(x, offset, bits); } \
  AIR T air_insert_bits_##t(T x, T y, uint offset, uint bits) { return insert_bits(x, y, offset, bits); }
EACH_INTEGER(ARITHMETIC)

#define BITS(T, t) \
  AIR T air_clz_##t(T x, bool) { return clz(x); } \
  AIR T air_ctz_##t(T x, bool) { return ctz(x); } \
  AIR T air_popcount_##t(T x) { return popcount(x); } \
  AIR T air_reverse_bits_##t(T x) { return reverse_bits(x); } \
  AIR T air_rotate_##t(T x, T by) { return rotate(x, by); } \
  AIR T air_insert_bits_##t(T x, T y, uint offset, uint bits) { return insert_bits(x, y, offset, bits); }
BITS(uchar, i8) BITS(ushort, i16) BITS(uint, i32) BITS(ulong, i64)

AIR uchar air_normalize_function_constant_predicate_i8(uchar x) { return x != 0; }

// ---- Threads together ----

LANE void air_wg_barrier(uint flags, uint) { __ig_barrier(flags); }
LANE void air_simdgroup_barrier(uint flags, uint) { __ig_simd_barrier(flags); }
LANE bool air_simd_all(bool x) { return simd_all(x); }
LANE bool air_simd_any(bool x) { return simd_any(x); }
LANE bool air_quad_all(bool x) { return quad_all(x); }
LANE bool air_quad_any(bool x) { return quad_any(x); }
LANE bool air_simd_is_first() { return simd_is_first(); }
LANE bool air_quad_is_first() { return quad_is_first(); }
LANE ulong air_simd_ballot_i64(bool x) { return ulong(simd_ballot(x)); }
AIR ushort air_get_simdgroup_size_i16() { return 32; }
AIR uint air_get_simdgroup_size_i32() { return 32; }

#define MOVE(group, name, T, t) \
  LANE T air_##group##_##name##_##t(T x, ushort arg) { return group##_##name(x, arg); }
#define FILL(group, name, T, t) \
  LANE T air_##group##_##name##_##t(T x, T y, ushort delta, ushort modulo) { return group##_##name(x, y, delta, modulo); }
#define COMBINE(group, name, T, t) \
  LANE T air_##group##_##name##_##t(T x) { return group##_##name(x); }
#define MOVES(group, T, t) \
  COMBINE(group, broadcast_first, T, t) \
  MOVE(group, broadcast, T, t) \
  MOVE(group, shuffle, T, t) \
  MOVE(group, shuffle_xor, T, t) \
  MOVE(group, shuffle_up, T, t) \
  MOVE(group, shuffle_down, T, t) \
  MOVE(group, shuffle_rotate_up, T, t) \
  MOVE(group, shuffle_rotate_down, T, t) \
  FILL(group, shuffle_and_fill_up, T, t) \
  FILL(group, shuffle_and_fill_down, T, t)
#define NUMBERS(group, T, t) \
  COMBINE(group, sum, T, t) \
  COMBINE(group, product, T, t) \
  COMBINE(group, min, T, t) \
  COMBINE(group, max, T, t) \
  COMBINE(group, prefix_inclusive_sum, T, t) \
  COMBINE(group, prefix_exclusive_sum, T, t) \
  COMBINE(group, prefix_inclusive_product, T, t) \
  COMBINE(group, prefix_exclusive_product, T, t)
#define WORDS(group, T, t) COMBINE(group, and, T, t) COMBINE(group, or, T, t) COMBINE(group, xor, T, t)
#define LANES(T, t) MOVES(simd, T, t) MOVES(quad, T, t) NUMBERS(simd, T, t) NUMBERS(quad, T, t)
#define LANES_OF_INTEGERS(T, t) LANES(T, t) WORDS(simd, T, t) WORDS(quad, T, t)
LANES(float, f32)
LANES(half, f16)
MOVES(simd, bfloat, bf16)
MOVES(quad, bfloat, bf16)
EACH_INTEGER(LANES_OF_INTEGERS)

// ---- Tables of visible functions, as <metal_visible_function_table> has them ----

#define TABLE const device ulong *table
AIR thread void *air_get_function_pointer_visible_function_table(TABLE, uint i) {
  return (thread void *)(i < *table ? table[i + 1] : 0);
}
AIR bool air_is_null_visible_function_table(TABLE) { return !table; }

// ---- Indirect command buffers, as <metal_command_buffer> has them; vectors come as their elements ----

#define COMMAND device igi_indirect_header *commands, uint index
#define SIZES uint x, uint y, uint z, uint u, uint v, uint w
static inline __attribute__((always_inline)) compute_command command_of(COMMAND) {
  command_buffer all;
  all.__at = commands;
  return compute_command(all, index);
}
AIR uint air_get_size_command_buffer(device igi_indirect_header *commands) { return commands->count; }
AIR void air_set_pipeline_state_compute_command(COMMAND, device void *pipeline) {
  compute_pipeline_state state;
  state.__id = (ulong)pipeline;
  command_of(commands, index).set_compute_pipeline_state(state);
}
AIR void air_set_kernel_buffer_compute_command(COMMAND, device char *buffer, ulong, uint slot) {
  command_of(commands, index).set_kernel_buffer(buffer, slot);
}
AIR void air_set_threadgroup_memory_length_compute_command(COMMAND, uint length, uint slot) {
  command_of(commands, index).set_threadgroup_memory_length(length, slot);
}
AIR void air_concurrent_dispatch_threadgroups_compute_command(COMMAND, SIZES) {
  command_of(commands, index).concurrent_dispatch_threadgroups(uint3(x, y, z), uint3(u, v, w));
}
AIR void air_concurrent_dispatch_threads_compute_command(COMMAND, SIZES) {
  command_of(commands, index).concurrent_dispatch_threads(uint3(x, y, z), uint3(u, v, w));
}
AIR void air_set_stage_in_region_compute_command(COMMAND, SIZES) {
  command_of(commands, index).set_stage_in_region(uint3(x, y, z), uint3(u, v, w));
}
AIR void air_set_imageblock_size_compute_command(COMMAND, ushort, ushort) {}
AIR void air_set_barrier_compute_command(COMMAND) { command_of(commands, index).set_barrier(); }
AIR void air_clear_barrier_compute_command(COMMAND) { command_of(commands, index).clear_barrier(); }
AIR void air_reset_compute_command(COMMAND) { command_of(commands, index).reset(); }
AIR void air_copy_compute_command(COMMAND, device igi_indirect_header *others, uint other) {
  command_of(commands, index).copy_command(command_of(others, other));
}

// ---- simdgroup matrices: a thread's two elements ----

// Two elements of 16 bits travel in one uint.
typedef float __air_f32x2 __attribute__((ext_vector_type(2)));
#define PAIRS(T, t, P) \
  LANE P air_pair_load_##t(const device T *p, ulong stride, ulong x, ulong y, bool transposed) { \
    simdgroup_matrix<T, 8, 8> m; \
    simdgroup_load(m, p, stride, ulong2(x, y), transposed); \
    return __builtin_bit_cast(P, m.thread_elements().__v); \
  } \
  LANE void air_pair_store_##t(P pair, device T *p, ulong stride, ulong x, ulong y, bool transposed) { \
    simdgroup_matrix<T, 8, 8> m; \
    T both[2]; \
    __builtin_memcpy(both, &pair, sizeof pair); \
    m.thread_elements() = vec<T, 2>(both[0], both[1]); \
    simdgroup_store(m, p, stride, ulong2(x, y), transposed); \
  } \
  LANE P air_pair_diagonal_##t(T x) { \
    simdgroup_matrix<T, 8, 8> m(x); \
    return __builtin_bit_cast(P, m.thread_elements().__v); \
  }
PAIRS(float, f32, __air_f32x2)
PAIRS(half, f16, uint)
PAIRS(bfloat, bf16, uint)

// ---- Atomics: an address, a value, the order, the scope, and whether it is volatile ----

// Addresses have no space any more when this is linked; builtins want all of theirs in one.

AIR void air_atomic_fence(uint, uint order, uint) { if (order) __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#define ATOMIC(space, name, builtin, T, t) \
  AIR T air_atomic_##space##_##name##_##t(thread T *p, T x, uint, uint, bool) { return __atomic_##builtin(p, x, __ATOMIC_RELAXED); }
#define ATOMIC_MEMORY(space, T, t) \
  AIR T air_atomic_##space##_load_##t(thread T *p, uint, uint, bool) { T v; __atomic_load(p, &v, __ATOMIC_RELAXED); return v; } \
  AIR void air_atomic_##space##_store_##t(thread T *p, T x, uint, uint, bool) { __atomic_store(p, &x, __ATOMIC_RELAXED); } \
  AIR T air_atomic_##space##_xchg_##t(thread T *p, T x, uint, uint, bool) { T v; __atomic_exchange(p, &x, &v, __ATOMIC_RELAXED); return v; } \
  AIR T air_atomic_##space##_cmpxchg_weak_##t(thread T *p, thread T *expected, T x, uint, uint, uint, bool) { \
    __atomic_compare_exchange(p, expected, &x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return *expected; \
  }
#define ATOMIC_INTEGER(space, T, t) \
  ATOMIC(space, add, fetch_add, T, t) ATOMIC(space, sub, fetch_sub, T, t) ATOMIC(space, min, fetch_min, T, t) \
  ATOMIC(space, max, fetch_max, T, t) ATOMIC(space, and, fetch_and, T, t) ATOMIC(space, or, fetch_or, T, t) \
  ATOMIC(space, xor, fetch_xor, T, t)
// atomic_min and atomic_max of 64 bits return nothing.
#define ATOMIC_LONG(space, name) \
  AIR void air_atomic_##space##_##name##_u_i64(thread ulong *p, ulong x, uint, uint, bool) { __atomic_fetch_##name(p, x, __ATOMIC_RELAXED); }
#define ATOMICS(space) \
  ATOMIC_INTEGER(space, int, s_i32) ATOMIC_INTEGER(space, uint, u_i32) \
  ATOMIC_MEMORY(space, int, i32) ATOMIC_MEMORY(space, float, f32) \
  ATOMIC_LONG(space, min) ATOMIC_LONG(space, max) \
  ATOMIC(space, add, fetch_add, float, f32) ATOMIC(space, sub, fetch_sub, float, f32)
ATOMICS(global)
ATOMICS(local)

// ---- Textures: see textures.c for the order of operands ----

typedef float __air_f32x4 __attribute__((ext_vector_type(4)));
typedef uint __air_i32x4 __attribute__((ext_vector_type(4)));
#define TEXTURE const device igi_texture *t
#define PLACE uint x, uint y, uint z, uint layer
#define COORDINATES ulong state, float x, float y, float z, uint layer
#define OFFSET int dx, int dy, int dz

template <class X> __IG_INLINE X __air_over(TEXTURE) {
  X texture;
  texture.__t = t;
  return texture;
}
__IG_INLINE __ig_sampling::image __air_image(TEXTURE) { return __air_over<texture2d<float>>(t).__image(); }
__IG_INLINE sampler __air_sampler(ulong state) {
  sampler s;
  s.__state = state;
  return s;
}
__IG_INLINE __air_f32x4 __air_plain(float4 v) { return __air_f32x4{v.x, v.y, v.z, v.w}; }
__IG_INLINE __air_i32x4 __air_plain(uint4 v) { return __air_i32x4{v.x, v.y, v.z, v.w}; }
__IG_INLINE __air_i32x4 __air_plain(int4 v) { return __air_plain(uint4(v)); }

AIR bool air_texture_is_null(TEXTURE) { return !t; }
AIR uint air_texture_width(TEXTURE, uint level) { return __ig_sampling::extent(t->width, level); }
AIR uint air_texture_height(TEXTURE, uint level) { return __ig_sampling::extent(t->height, level); }
AIR uint air_texture_depth(TEXTURE, uint level) { return __ig_sampling::extent(t->depth, level); }
AIR uint air_texture_array_size(TEXTURE) { return t->layers; }
AIR uint air_texture_array_size_of_cubes(TEXTURE) { return t->layers / 6; }
AIR uint air_texture_levels(TEXTURE) { return t->levels; }
AIR uint air_texture_samples(TEXTURE) { return t->samples; }
AIR void air_texture_fence(TEXTURE) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Integers are read as their bits, whether they have a sign or not. Shorter types are shortened by the translator.
#define TEXELS(T, V, t_) \
  AIR V air_texture_read_##t_(TEXTURE, PLACE, uint level) { \
    return __air_plain(__ig_texture::read<T>(__air_image(t), x, y, z, layer, level)); \
  } \
  AIR V air_texture_read_sample_##t_(TEXTURE, PLACE, uint sample) { \
    return __air_plain(__air_over<texture2d_ms_array<T>>(t).read(uint2(x, y), layer, sample)); \
  } \
  AIR V air_texture_sample_##t_(TEXTURE, COORDINATES, uint dims, OFFSET, float lod, float least) { \
    sampler s = __air_sampler(state); \
    return __air_plain(__ig_texture::sampled<T>(__air_image(t), s, {x, y, z, dx, dy, dz, layer}, dims, \
                                                __ig_sampling::clamped_lod(s, lod, least), __ig_sampling::as_is{})); \
  } \
  AIR V air_texture_gradient_##t_(TEXTURE, COORDINATES, uint dims, float gx, float gy, float gz, float hx, float hy, float hz, \
                                  float least, OFFSET) { \
    return __air_plain(__ig_texture::along_gradient<T>(__air_image(t), __air_sampler(state), {x, y, z, dx, dy, dz, layer}, dims, \
                                                       float3(gx, gy, gz), float3(hx, hy, hz), least, __ig_sampling::as_is{})); \
  } \
  AIR V air_texture_sample_cube_##t_(TEXTURE, COORDINATES, float lod, float least) { \
    return __air_plain(__air_over<texturecube_array<T>>(t).__at(__air_sampler(state), float3(x, y, z), layer, lod, least, \
                                                                __ig_sampling::as_is{})); \
  } \
  AIR V air_texture_gradient_cube_##t_(TEXTURE, COORDINATES, float gx, float gy, float gz, float hx, float hy, float hz, \
                                       float least) { \
    sampler s = __air_sampler(state); \
    float3 c = float3(x, y, z); \
    gradientcube g(float3(gx, gy, gz), float3(hx, hy, hz)); \
    return __air_plain(__air_over<texturecube_array<T>>(t).__at( \
        s, c, layer, __ig_sampling::cube_lod(__air_image(t), s, c, g, least), 0, __ig_sampling::as_is{})); \
  } \
  AIR V air_texture_gather_##t_(TEXTURE, COORDINATES, OFFSET, uint k) { \
    return __air_plain(__air_over<texture2d_array<T>>(t).gather(__air_sampler(state), float2(x, y), layer, int2(dx, dy), component(k & 3))); \
  } \
  AIR V air_texture_gather_cube_##t_(TEXTURE, COORDINATES, uint k) { \
    return __air_plain(__air_over<texturecube_array<T>>(t).gather(__air_sampler(state), float3(x, y, z), layer, component(k & 3))); \
  }
TEXELS(float, __air_f32x4, f)
TEXELS(uint, __air_i32x4, i)
// A cube's texels are gathered as float, so that their sign matters.
AIR __air_i32x4 air_texture_gather_cube_signed_i(TEXTURE, COORDINATES, uint k) {
  return __air_plain(__air_over<texturecube_array<int>>(t).gather(__air_sampler(state), float3(x, y, z), layer, component(k & 3)));
}

// Depths are compared as floats. The result is the first of four.
__IG_INLINE __air_f32x4 __air_depth(float v) { return __air_f32x4{v, 0, 0, 0}; }
AIR __air_f32x4 air_texture_sample_compare_f(TEXTURE, COORDINATES, float v, uint dims, OFFSET, float lod, float least) {
  sampler s = __air_sampler(state);
  return __air_plain(__ig_texture::sampled<float>(__air_image(t), s, {x, y, z, dx, dy, dz, layer}, dims,
                                                  __ig_sampling::clamped_lod(s, lod, least), __ig_sampling::compared{v, s}));
}
AIR __air_f32x4 air_texture_gradient_compare_f(TEXTURE, COORDINATES, float v, uint dims, float gx, float gy, float gz, float hx,
                                               float hy, float hz, float least, OFFSET) {
  sampler s = __air_sampler(state);
  return __air_plain(__ig_texture::along_gradient<float>(__air_image(t), s, {x, y, z, dx, dy, dz, layer}, dims, float3(gx, gy, gz),
                                                         float3(hx, hy, hz), least, __ig_sampling::compared{v, s}));
}
AIR __air_f32x4 air_texture_sample_cube_compare_f(TEXTURE, COORDINATES, float v, float lod, float least) {
  sampler s = __air_sampler(state);
  return __air_depth(__air_over<depthcube_array<float>>(t).__at(s, float3(x, y, z), layer, lod, least, __ig_sampling::compared{v, s}));
}
AIR __air_f32x4 air_texture_gradient_cube_compare_f(TEXTURE, COORDINATES, float v, float gx, float gy, float gz, float hx, float hy,
                                                    float hz, float least) {
  sampler s = __air_sampler(state);
  float3 c = float3(x, y, z);
  gradientcube g(float3(gx, gy, gz), float3(hx, hy, hz));
  return __air_depth(__air_over<depthcube_array<float>>(t).__at(s, c, layer, __ig_sampling::cube_lod(__air_image(t), s, c, g, least),
                                                                0, __ig_sampling::compared{v, s}));
}
AIR __air_f32x4 air_texture_gather_compare_f(TEXTURE, COORDINATES, float v, OFFSET) {
  return __air_plain(__air_over<depth2d_array<float>>(t).gather_compare(__air_sampler(state), float2(x, y), layer, v, int2(dx, dy)));
}
AIR __air_f32x4 air_texture_gather_cube_compare_f(TEXTURE, COORDINATES, float v) {
  return __air_plain(__air_over<depthcube_array<float>>(t).gather_compare(__air_sampler(state), float3(x, y, z), layer, v));
}

AIR void air_texture_write_f(TEXTURE, PLACE, __air_f32x4 v, uint level) {
  __ig_texture::write<float>(__air_image(t), float4(v.x, v.y, v.z, v.w), x, y, z, layer, level);
}
AIR void air_texture_write_u(TEXTURE, PLACE, __air_i32x4 v, uint level) {
  __ig_texture::write<uint>(__air_image(t), uint4(v.x, v.y, v.z, v.w), x, y, z, layer, level);
}
AIR void air_texture_write_s(TEXTURE, PLACE, __air_i32x4 v, uint level) {
  __ig_texture::write<int>(__air_image(t), int4(int(v.x), int(v.y), int(v.z), int(v.w)), x, y, z, layer, level);
}

// Outside of the texture nothing happens.
template <class T> __IG_INLINE device T *__air_word(TEXTURE, PLACE) {
  __ig_sampling::image im = __air_image(t);
  return __ig_sampling::has(im, x, y, z, layer, 0) ? (device T *)__ig_sampling::pixel(im, x, y, z, layer, 0) : nullptr;
}
#define TEXTURE_ATOMIC(name, builtin, T, t_) \
  AIR T air_texture_##name##_##t_(TEXTURE, PLACE, T v) { \
    device T *p = __air_word<T>(t, x, y, z, layer); \
    return p ? __atomic_##builtin((thread T *)p, v, __ATOMIC_RELAXED) : T(0); \
  }
#define TEXTURE_ATOMICS(T, t_) \
  TEXTURE_ATOMIC(exchange, exchange_n, T, t_) \
  TEXTURE_ATOMIC(add, fetch_add, T, t_) \
  TEXTURE_ATOMIC(sub, fetch_sub, T, t_) \
  TEXTURE_ATOMIC(min, fetch_min, T, t_) \
  TEXTURE_ATOMIC(max, fetch_max, T, t_) \
  TEXTURE_ATOMIC(and, fetch_and, T, t_) \
  TEXTURE_ATOMIC(or, fetch_or, T, t_) \
  TEXTURE_ATOMIC(xor, fetch_xor, T, t_) \
  AIR T air_texture_load_##t_(TEXTURE, PLACE) { \
    device T *p = __air_word<T>(t, x, y, z, layer); \
    return p ? __atomic_load_n((thread T *)p, __ATOMIC_RELAXED) : T(0); \
  } \
  AIR void air_texture_store_##t_(TEXTURE, T v, PLACE) { \
    device T *p = __air_word<T>(t, x, y, z, layer); \
    if (p) __atomic_store_n((thread T *)p, v, __ATOMIC_RELAXED); \
  } \
  AIR bool air_texture_compare_exchange_##t_(TEXTURE, PLACE, thread T *expected, T v) { \
    device T *p = __air_word<T>(t, x, y, z, layer); \
    return p && __atomic_compare_exchange_n((thread T *)p, expected, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
  }
TEXTURE_ATOMICS(int, s)
TEXTURE_ATOMICS(uint, u)
#define TEXTURE_LIMIT(name) \
  AIR void air_texture_##name##_u64(TEXTURE, PLACE, ulong v) { \
    device ulong *p = __air_word<ulong>(t, x, y, z, layer); \
    if (p) __atomic_fetch_##name((thread ulong *)p, v, __ATOMIC_RELAXED); \
  }
TEXTURE_LIMIT(min)
TEXTURE_LIMIT(max)

// ---- [[stage_in]]: one component of an attribute, for stage-input.c ----

#define STAGE_INPUT(T, t_) \
  AIR T air_stage_in_##t_(const device void *buffer, const device void *indices, uint given, uint format, uint offset, \
                          uint step, uint stride, uint rate, uint index_bytes, uint component) { \
    uint4 a(format, offset, 0, step), b(stride, rate, 0, index_bytes); \
    bool inside; \
    const device uchar *p = __ig_stage::address(a, b, buffer, indices, given, inside); \
    T value = __ig_stage::component<T>(p, format, component); \
    return inside ? value : T(0); \
  }
STAGE_INPUT(float, f32)
STAGE_INPUT(half, f16)
STAGE_INPUT(bfloat, bf16)
STAGE_INPUT(int, s32)
STAGE_INPUT(uint, u32)
STAGE_INPUT(short, s16)
STAGE_INPUT(ushort, u16)
STAGE_INPUT(char, s8)
STAGE_INPUT(uchar, u8)
