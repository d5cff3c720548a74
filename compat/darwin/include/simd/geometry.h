// SPDX-License-Identifier: Apache-2.0
// Sums, products, lengths and the like of vectors of float and double, and min, max, clamp and mix.
#ifndef INGOT_SIMD_GEOMETRY_H
#define INGOT_SIMD_GEOMETRY_H

#include <math.h>
#include <simd/vector_make.h>

#define INGOT_SIMD_SUM2(v) ((v).x + (v).y)
#define INGOT_SIMD_SUM3(v) ((v).x + (v).y + (v).z)
#define INGOT_SIMD_SUM4(v) ((v).x + (v).y + (v).z + (v).w)

#define INGOT_SIMD_COMPARES(name, element, n)                                                                \
    INGOT_SIMD_INLINE simd_##name##n simd_min(simd_##name##n a, simd_##name##n b) {                          \
        for (int i = 0; i < n; i++) a[i] = b[i] < a[i] ? b[i] : a[i];                                        \
        return a;                                                                                            \
    }                                                                                                        \
    INGOT_SIMD_INLINE simd_##name##n simd_max(simd_##name##n a, simd_##name##n b) {                          \
        for (int i = 0; i < n; i++) a[i] = b[i] > a[i] ? b[i] : a[i];                                        \
        return a;                                                                                            \
    }                                                                                                        \
    INGOT_SIMD_INLINE simd_##name##n simd_clamp(simd_##name##n v, simd_##name##n low, simd_##name##n high) { \
        return simd_min(simd_max(v, low), high);                                                             \
    }                                                                                                        \
    INGOT_SIMD_INLINE element simd_reduce_add(simd_##name##n v) {                                            \
        return (element)INGOT_SIMD_SUM##n(v);                                                                \
    }                                                                                                        \
    INGOT_SIMD_INLINE element simd_reduce_max(simd_##name##n v) {                                            \
        element most = v.x;                                                                                  \
        for (int i = 1; i < n; i++) most = v[i] > most ? v[i] : most;                                        \
        return most;                                                                                         \
    }                                                                                                        \
    INGOT_SIMD_INLINE element simd_reduce_min(simd_##name##n v) {                                            \
        element least = v.x;                                                                                 \
        for (int i = 1; i < n; i++) least = v[i] < least ? v[i] : least;                                     \
        return least;                                                                                        \
    }

#define INGOT_SIMD_GEOMETRY(name, n, root)                                                            \
    INGOT_SIMD_INLINE name simd_dot(simd_##name##n a, simd_##name##n b) {                             \
        return INGOT_SIMD_SUM##n(a * b);                                                              \
    }                                                                                                 \
    INGOT_SIMD_INLINE name simd_length_squared(simd_##name##n v) {                                    \
        return simd_dot(v, v);                                                                        \
    }                                                                                                 \
    INGOT_SIMD_INLINE name simd_length(simd_##name##n v) {                                            \
        return root(simd_dot(v, v));                                                                  \
    }                                                                                                 \
    INGOT_SIMD_INLINE name simd_distance(simd_##name##n a, simd_##name##n b) {                        \
        return simd_length(a - b);                                                                    \
    }                                                                                                 \
    INGOT_SIMD_INLINE name simd_distance_squared(simd_##name##n a, simd_##name##n b) {                \
        return simd_length_squared(a - b);                                                            \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##n simd_normalize(simd_##name##n v) {                               \
        return v / simd_length(v);                                                                    \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##n simd_reflect(simd_##name##n v, simd_##name##n normal) {          \
        return v - 2 * simd_dot(v, normal) * normal;                                                  \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##n simd_mix(simd_##name##n a, simd_##name##n b, simd_##name##n t) { \
        return a + t * (b - a);                                                                       \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##n simd_recip(simd_##name##n v) {                                   \
        return 1 / v;                                                                                 \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##n simd_abs(simd_##name##n v) {                                     \
        for (int i = 0; i < n; i++) v[i] = v[i] < 0 ? -v[i] : v[i];                                   \
        return v;                                                                                     \
    }

#define INGOT_SIMD_COMPARES_ALL(name, element, bytes) \
    INGOT_SIMD_COMPARES(name, element, 2)             \
    INGOT_SIMD_COMPARES(name, element, 3)             \
    INGOT_SIMD_COMPARES(name, element, 4)
INGOT_SIMD_LIST(INGOT_SIMD_COMPARES_ALL)
INGOT_SIMD_GEOMETRY(float, 2, sqrtf)
INGOT_SIMD_GEOMETRY(float, 3, sqrtf)
INGOT_SIMD_GEOMETRY(float, 4, sqrtf)
INGOT_SIMD_GEOMETRY(double, 2, sqrt)
INGOT_SIMD_GEOMETRY(double, 3, sqrt)
INGOT_SIMD_GEOMETRY(double, 4, sqrt)

INGOT_SIMD_INLINE simd_float3 simd_cross(simd_float3 a, simd_float3 b) {
    return (a.zxy * b - a * b.zxy).zxy;
}

INGOT_SIMD_INLINE simd_double3 simd_cross(simd_double3 a, simd_double3 b) {
    return (a.zxy * b - a * b.zxy).zxy;
}

#ifdef __cplusplus
namespace simd {
template <typename V>
static inline auto dot(V a, V b) {
    return ::simd_dot(a, b);
}
template <typename V>
static inline auto length(V v) {
    return ::simd_length(v);
}
template <typename V>
static inline auto length_squared(V v) {
    return ::simd_length_squared(v);
}
template <typename V>
static inline auto distance(V a, V b) {
    return ::simd_distance(a, b);
}
template <typename V>
static inline V normalize(V v) {
    return ::simd_normalize(v);
}
template <typename V>
static inline V cross(V a, V b) {
    return ::simd_cross(a, b);
}
template <typename V>
static inline V min(V a, V b) {
    return ::simd_min(a, b);
}
template <typename V>
static inline V max(V a, V b) {
    return ::simd_max(a, b);
}
template <typename V>
static inline V clamp(V v, V low, V high) {
    return ::simd_clamp(v, low, high);
}
template <typename V>
static inline V abs(V v) {
    return ::simd_abs(v);
}
template <typename V>
static inline auto reduce_add(V v) {
    return ::simd_reduce_add(v);
}
}  // namespace simd
#endif

#endif
