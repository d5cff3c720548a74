// SPDX-License-Identifier: Apache-2.0
// Vectors of two to four elements with the layout that kernels see, for clang: simd_float3, in C++ also simd::float3.
// packed ones are aligned like their elements.
#ifndef INGOT_SIMD_VECTOR_TYPES_H
#define INGOT_SIMD_VECTOR_TYPES_H

#ifndef __clang__
#error "<simd/simd.h> needs clang, which has vectors with .x and .xyz"
#endif

#include <stdint.h>

typedef int8_t simd_char1;
typedef uint8_t simd_uchar1;
typedef int16_t simd_short1;
typedef uint16_t simd_ushort1;
typedef int32_t simd_int1;
typedef uint32_t simd_uint1;
typedef int64_t simd_long1;
typedef uint64_t simd_ulong1;
typedef float simd_float1;
typedef double simd_double1;
typedef _Float16 simd_half1;

#define INGOT_SIMD_VECTORS(name, element, bytes)                                               \
    typedef element simd_##name##2 __attribute__((ext_vector_type(2)));                        \
    typedef element simd_##name##3 __attribute__((ext_vector_type(3)));                        \
    typedef element simd_##name##4 __attribute__((ext_vector_type(4)));                        \
    typedef element simd_packed_##name##2 __attribute__((ext_vector_type(2), aligned(bytes))); \
    typedef element simd_packed_##name##4 __attribute__((ext_vector_type(4), aligned(bytes))); \
    typedef simd_##name##2 vector_##name##2;                                                   \
    typedef simd_##name##3 vector_##name##3;                                                   \
    typedef simd_##name##4 vector_##name##4;                                                   \
    typedef simd_packed_##name##2 packed_##name##2;                                            \
    typedef simd_packed_##name##4 packed_##name##4;
#define INGOT_SIMD_LIST(ROW) \
    ROW(char, int8_t, 1)     \
    ROW(uchar, uint8_t, 1)   \
    ROW(short, int16_t, 2)   \
    ROW(ushort, uint16_t, 2) \
    ROW(int, int32_t, 4)     \
    ROW(uint, uint32_t, 4)   \
    ROW(long, int64_t, 8)    \
    ROW(ulong, uint64_t, 8)  \
    ROW(half, _Float16, 2)   \
    ROW(float, float, 4)     \
    ROW(double, double, 8)
INGOT_SIMD_LIST(INGOT_SIMD_VECTORS)
typedef float simd_float8 __attribute__((ext_vector_type(8)));
typedef float simd_float16 __attribute__((ext_vector_type(16)));
typedef float simd_packed_float8 __attribute__((ext_vector_type(8), aligned(4)));
typedef int32_t simd_int8 __attribute__((ext_vector_type(8)));
typedef uint32_t simd_uint8 __attribute__((ext_vector_type(8)));

#ifdef __cplusplus
namespace simd {
#define INGOT_SIMD_CXX(name, element, bytes)          \
    typedef ::simd_##name##1 name##1;                 \
    typedef ::simd_##name##2 name##2;                 \
    typedef ::simd_##name##3 name##3;                 \
    typedef ::simd_##name##4 name##4;                 \
    typedef ::simd_packed_##name##2 packed_##name##2; \
    typedef ::simd_packed_##name##4 packed_##name##4;
INGOT_SIMD_LIST(INGOT_SIMD_CXX)
#undef INGOT_SIMD_CXX
typedef ::simd_float8 float8;
typedef ::simd_float16 float16;
}  // namespace simd
namespace vector = simd;
#endif

#endif
