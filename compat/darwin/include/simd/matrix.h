// SPDX-License-Identifier: Apache-2.0
// Matrices of float, double and half: columns, as kernels see them. simd_float4x3 has four columns of three.
#ifndef INGOT_SIMD_MATRIX_H
#define INGOT_SIMD_MATRIX_H

#include <simd/geometry.h>

#define INGOT_SIMD_SHAPES(ROW, name) \
    ROW(name, 2, 2)                  \
    ROW(name, 2, 3)                  \
    ROW(name, 2, 4)                  \
    ROW(name, 3, 2)                  \
    ROW(name, 3, 3)                  \
    ROW(name, 3, 4)                  \
    ROW(name, 4, 2)                  \
    ROW(name, 4, 3)                  \
    ROW(name, 4, 4)

#define INGOT_SIMD_MATRIX(name, c, r)     \
    typedef struct simd_##name##c##x##r { \
        simd_##name##r columns[c];        \
    } simd_##name##c##x##r;               \
    typedef simd_##name##c##x##r matrix_##name##c##x##r;
INGOT_SIMD_SHAPES(INGOT_SIMD_MATRIX, half)
INGOT_SIMD_SHAPES(INGOT_SIMD_MATRIX, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_MATRIX, double)

#define INGOT_SIMD_LINEAR(name, c, r)                                                                 \
    INGOT_SIMD_INLINE simd_##name##c##x##r simd_add(simd_##name##c##x##r a, simd_##name##c##x##r b) { \
        for (int i = 0; i < c; i++) a.columns[i] += b.columns[i];                                     \
        return a;                                                                                     \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##c##x##r simd_sub(simd_##name##c##x##r a, simd_##name##c##x##r b) { \
        for (int i = 0; i < c; i++) a.columns[i] -= b.columns[i];                                     \
        return a;                                                                                     \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##c##x##r simd_mul(name a, simd_##name##c##x##r b) {                 \
        for (int i = 0; i < c; i++) b.columns[i] *= a;                                                \
        return b;                                                                                     \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##r simd_mul(simd_##name##c##x##r a, simd_##name##c v) {             \
        simd_##name##r sum = a.columns[0] * v[0];                                                     \
        for (int i = 1; i < c; i++) sum += a.columns[i] * v[i];                                       \
        return sum;                                                                                   \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##r##x##c simd_transpose(simd_##name##c##x##r a) {                   \
        simd_##name##r##x##c b;                                                                       \
        for (int i = 0; i < r; i++)                                                                   \
            for (int j = 0; j < c; j++) b.columns[i][j] = a.columns[j][i];                            \
        return b;                                                                                     \
    }                                                                                                 \
    INGOT_SIMD_INLINE simd_##name##c simd_mul(simd_##name##r v, simd_##name##c##x##r a) {             \
        return simd_mul(simd_transpose(a), v);                                                        \
    }                                                                                                 \
    INGOT_SIMD_INLINE int simd_equal(simd_##name##c##x##r a, simd_##name##c##x##r b) {                \
        for (int i = 0; i < c; i++)                                                                   \
            for (int j = 0; j < r; j++)                                                               \
                if (a.columns[i][j] != b.columns[i][j]) return 0;                                     \
        return 1;                                                                                     \
    }
// A transpose may be called before its definition above: all are declared first.
#define INGOT_SIMD_DECLARE(name, c, r)                                             \
    INGOT_SIMD_INLINE simd_##name##r##x##c simd_transpose(simd_##name##c##x##r a); \
    INGOT_SIMD_INLINE simd_##name##r simd_mul(simd_##name##c##x##r a, simd_##name##c v);
INGOT_SIMD_SHAPES(INGOT_SIMD_DECLARE, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_DECLARE, double)
INGOT_SIMD_SHAPES(INGOT_SIMD_LINEAR, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_LINEAR, double)

// a has c columns of r, b k columns of c.
#define INGOT_SIMD_PRODUCT(name, c, r, k)                                                             \
    INGOT_SIMD_INLINE simd_##name##k##x##r simd_mul(simd_##name##c##x##r a, simd_##name##k##x##c b) { \
        simd_##name##k##x##r product;                                                                 \
        for (int i = 0; i < k; i++) product.columns[i] = simd_mul(a, b.columns[i]);                   \
        return product;                                                                               \
    }
#define INGOT_SIMD_PRODUCTS(name, c, r) \
    INGOT_SIMD_PRODUCT(name, c, r, 2)   \
    INGOT_SIMD_PRODUCT(name, c, r, 3)   \
    INGOT_SIMD_PRODUCT(name, c, r, 4)
INGOT_SIMD_SHAPES(INGOT_SIMD_PRODUCTS, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_PRODUCTS, double)

// ---- Square ones ----

#define INGOT_SIMD_SQUARE(name, n)                                                                \
    INGOT_SIMD_INLINE simd_##name##n##x##n simd_diagonal_matrix(simd_##name##n diagonal) {        \
        simd_##name##n##x##n a;                                                                   \
        for (int i = 0; i < n; i++)                                                               \
            for (int j = 0; j < n; j++) a.columns[i][j] = i == j ? diagonal[i] : 0;               \
        return a;                                                                                 \
    }                                                                                             \
    INGOT_SIMD_INLINE name simd_determinant(simd_##name##n##x##n a) {                             \
        name product = 1;                                                                         \
        for (int i = 0; i < n; i++) {                                                             \
            int best = i;                                                                         \
            for (int j = i + 1; j < n; j++)                                                       \
                if (fabs((double)a.columns[j][i]) > fabs((double)a.columns[best][i])) best = j;   \
            simd_##name##n pivot = a.columns[best];                                               \
            if (pivot[i] == 0) return 0;                                                          \
            if (best != i) product = -product;                                                    \
            a.columns[best] = a.columns[i];                                                       \
            a.columns[i] = pivot;                                                                 \
            product *= pivot[i];                                                                  \
            for (int j = i + 1; j < n; j++) a.columns[j] -= pivot * (a.columns[j][i] / pivot[i]); \
        }                                                                                         \
        return product;                                                                           \
    }                                                                                             \
    INGOT_SIMD_INLINE simd_##name##n##x##n simd_inverse(simd_##name##n##x##n a) {                 \
        simd_##name##n##x##n b = simd_diagonal_matrix((simd_##name##n)(1));                       \
        for (int i = 0; i < n; i++) {                                                             \
            int best = i;                                                                         \
            for (int j = i + 1; j < n; j++)                                                       \
                if (fabs((double)a.columns[j][i]) > fabs((double)a.columns[best][i])) best = j;   \
            simd_##name##n pivot = a.columns[best], other = b.columns[best];                      \
            a.columns[best] = a.columns[i], b.columns[best] = b.columns[i];                       \
            other /= pivot[i], pivot /= pivot[i];                                                 \
            a.columns[i] = pivot, b.columns[i] = other;                                           \
            for (int j = 0; j < n; j++) {                                                         \
                if (j == i) continue;                                                             \
                name factor = a.columns[j][i];                                                    \
                a.columns[j] -= pivot * factor, b.columns[j] -= other * factor;                   \
            }                                                                                     \
        }                                                                                         \
        return b;                                                                                 \
    }
INGOT_SIMD_SQUARE(float, 2)
INGOT_SIMD_SQUARE(float, 3)
INGOT_SIMD_SQUARE(float, 4)
INGOT_SIMD_SQUARE(double, 2)
INGOT_SIMD_SQUARE(double, 3)
INGOT_SIMD_SQUARE(double, 4)

// ---- From columns and rows ----

#define INGOT_SIMD_FROM(name, r)                                                                                       \
    INGOT_SIMD_INLINE simd_##name##2x##r simd_matrix(simd_##name##r a, simd_##name##r b) {                             \
        return (simd_##name##2x##r){{a, b}};                                                                           \
    }                                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##3x##r simd_matrix(simd_##name##r a, simd_##name##r b, simd_##name##r c) {           \
        return (simd_##name##3x##r){{a, b, c}};                                                                        \
    }                                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##4x##r simd_matrix(simd_##name##r a, simd_##name##r b, simd_##name##r c,             \
                                                     simd_##name##r d) {                                               \
        return (simd_##name##4x##r){{a, b, c, d}};                                                                     \
    }                                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##r##x3 simd_matrix_from_rows(simd_##name##r a, simd_##name##r b, simd_##name##r c) { \
        return simd_transpose(simd_matrix(a, b, c));                                                                   \
    }                                                                                                                  \
    INGOT_SIMD_INLINE simd_##name##r##x4 simd_matrix_from_rows(simd_##name##r a, simd_##name##r b, simd_##name##r c,   \
                                                               simd_##name##r d) {                                     \
        return simd_transpose(simd_matrix(a, b, c, d));                                                                \
    }
INGOT_SIMD_FROM(float, 2)
INGOT_SIMD_FROM(float, 3)
INGOT_SIMD_FROM(float, 4)
INGOT_SIMD_FROM(double, 2)
INGOT_SIMD_FROM(double, 3)
INGOT_SIMD_FROM(double, 4)

#define matrix_multiply simd_mul
#define matrix_transpose simd_transpose
#define matrix_invert simd_inverse
#define matrix_scale simd_mul
#define matrix_identity_float2x2 (simd_diagonal_matrix((simd_float2){1, 1}))
#define matrix_identity_float3x3 (simd_diagonal_matrix((simd_float3){1, 1, 1}))
#define matrix_identity_float4x4 (simd_diagonal_matrix((simd_float4){1, 1, 1, 1}))
#define matrix_identity_double4x4 (simd_diagonal_matrix((simd_double4){1, 1, 1, 1}))

#ifdef __cplusplus
namespace simd {
#define INGOT_SIMD_CXX(name, c, r) typedef ::simd_##name##c##x##r name##c##x##r;
INGOT_SIMD_SHAPES(INGOT_SIMD_CXX, half)
INGOT_SIMD_SHAPES(INGOT_SIMD_CXX, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_CXX, double)
#undef INGOT_SIMD_CXX
template <typename M>
static inline auto transpose(M a) {
    return ::simd_transpose(a);
}
template <typename M>
static inline M inverse(M a) {
    return ::simd_inverse(a);
}
template <typename M>
static inline auto determinant(M a) {
    return ::simd_determinant(a);
}
}  // namespace simd
#define INGOT_SIMD_OPERATORS(name, c, r)                                                           \
    static inline simd_##name##r operator*(simd_##name##c##x##r a, simd_##name##c v) {             \
        return simd_mul(a, v);                                                                     \
    }                                                                                              \
    static inline simd_##name##c##x##r operator*(name s, simd_##name##c##x##r a) {                 \
        return simd_mul(s, a);                                                                     \
    }                                                                                              \
    static inline simd_##name##c##x##r operator*(simd_##name##c##x##r a, name s) {                 \
        return simd_mul(s, a);                                                                     \
    }                                                                                              \
    static inline simd_##name##c##x##r operator+(simd_##name##c##x##r a, simd_##name##c##x##r b) { \
        return simd_add(a, b);                                                                     \
    }                                                                                              \
    static inline simd_##name##c##x##r operator-(simd_##name##c##x##r a, simd_##name##c##x##r b) { \
        return simd_sub(a, b);                                                                     \
    }                                                                                              \
    static inline simd_##name##2x##r operator*(simd_##name##c##x##r a, simd_##name##2x##c b) {     \
        return simd_mul(a, b);                                                                     \
    }                                                                                              \
    static inline simd_##name##3x##r operator*(simd_##name##c##x##r a, simd_##name##3x##c b) {     \
        return simd_mul(a, b);                                                                     \
    }                                                                                              \
    static inline simd_##name##4x##r operator*(simd_##name##c##x##r a, simd_##name##4x##c b) {     \
        return simd_mul(a, b);                                                                     \
    }
INGOT_SIMD_SHAPES(INGOT_SIMD_OPERATORS, float)
INGOT_SIMD_SHAPES(INGOT_SIMD_OPERATORS, double)
#undef INGOT_SIMD_OPERATORS
#endif

#endif
