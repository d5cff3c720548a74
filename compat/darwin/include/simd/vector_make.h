// SPDX-License-Identifier: Apache-2.0
// simd_make_float4(x, y, z, w) and its relatives: from scalars, from shorter vectors and a rest, from longer vectors (the first
// elements) and from packed ones.
#ifndef INGOT_SIMD_VECTOR_MAKE_H
#define INGOT_SIMD_VECTOR_MAKE_H

#include <simd/vector_types.h>

#define INGOT_SIMD_INLINE static inline __attribute__((overloadable, always_inline, const, unused))

#define INGOT_SIMD_MAKE(name, element, bytes)                                                          \
    INGOT_SIMD_INLINE simd_##name##2 simd_make_##name##2(element x, element y) {                       \
        return (simd_##name##2){x, y};                                                                 \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##2 simd_make_##name##2(element x) {                                  \
        return (simd_##name##2){x, 0};                                                                 \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##2 simd_make_##name##2(simd_##name##2 v) {                           \
        return v;                                                                                      \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##2 simd_make_##name##2(simd_##name##3 v) {                           \
        return v.xy;                                                                                   \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##2 simd_make_##name##2(simd_##name##4 v) {                           \
        return v.xy;                                                                                   \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(element x, element y, element z) {            \
        return (simd_##name##3){x, y, z};                                                              \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(element x) {                                  \
        return (simd_##name##3){x, 0, 0};                                                              \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(simd_##name##2 v) {                           \
        return (simd_##name##3){v.x, v.y, 0};                                                          \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(simd_##name##2 v, element z) {                \
        return (simd_##name##3){v.x, v.y, z};                                                          \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(element x, simd_##name##2 v) {                \
        return (simd_##name##3){x, v.x, v.y};                                                          \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(simd_##name##3 v) {                           \
        return v;                                                                                      \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3 simd_make_##name##3(simd_##name##4 v) {                           \
        return v.xyz;                                                                                  \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(element x, element y, element z, element w) { \
        return (simd_##name##4){x, y, z, w};                                                           \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(element x) {                                  \
        return (simd_##name##4){x, 0, 0, 0};                                                           \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##2 v) {                           \
        return (simd_##name##4){v.x, v.y, 0, 0};                                                       \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##2 v, element z, element w) {     \
        return (simd_##name##4){v.x, v.y, z, w};                                                       \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##2 v, simd_##name##2 w) {         \
        return (simd_##name##4){v.x, v.y, w.x, w.y};                                                   \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##3 v) {                           \
        return (simd_##name##4){v.x, v.y, v.z, 0};                                                     \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##3 v, element w) {                \
        return (simd_##name##4){v.x, v.y, v.z, w};                                                     \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(element x, simd_##name##3 v) {                \
        return (simd_##name##4){x, v.x, v.y, v.z};                                                     \
    }                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4 simd_make_##name##4(simd_##name##4 v) {                           \
        return v;                                                                                      \
    }
INGOT_SIMD_LIST(INGOT_SIMD_MAKE)

#ifdef __cplusplus
namespace simd {
#define INGOT_SIMD_CXX(name, element, bytes)           \
    using ::simd_make_##name##2;                       \
    using ::simd_make_##name##3;                       \
    using ::simd_make_##name##4;                       \
    template <typename... T>                           \
    static inline name##2 make_##name##2(T... parts) { \
        return ::simd_make_##name##2(parts...);        \
    }                                                  \
    template <typename... T>                           \
    static inline name##3 make_##name##3(T... parts) { \
        return ::simd_make_##name##3(parts...);        \
    }                                                  \
    template <typename... T>                           \
    static inline name##4 make_##name##4(T... parts) { \
        return ::simd_make_##name##4(parts...);        \
    }
INGOT_SIMD_LIST(INGOT_SIMD_CXX)
#undef INGOT_SIMD_CXX
}  // namespace simd
#endif

#endif
