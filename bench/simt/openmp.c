// SPDX-License-Identifier: Apache-2.0
// The kernels of simt.metal in plain C with OpenMP, as a C programmer would write them for the CPU.
//
// This is a separate module, loaded if it is present: it is compiled for the machine that builds it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"

// ---- Streams ----

static void saxpy(void *const *buffers) {
    float *restrict y = buffers[0];
    const float *restrict x = buffers[1];
#pragma omp parallel for simd
    for (size_t i = 0; i < SIMT_STREAM; i++) y[i] = SIMT_FACTOR * x[i] + y[i];
}

static void add(void *const *buffers) {
    const float *restrict a = buffers[0], *restrict b = buffers[1];
    float *restrict out = buffers[2];
#pragma omp parallel for simd
    for (size_t i = 0; i < SIMT_STREAM; i++) out[i] = a[i] + b[i];
}

// McCalpin's triad, which has its own arrays.
static void stream(void *const *buffers) {
    static double *a, *b, *c;
    const double factor = 3;
    if (!a) {
        a = malloc(SIMT_STREAM * sizeof *a), b = malloc(SIMT_STREAM * sizeof *b), c = malloc(SIMT_STREAM * sizeof *c);
        if (!a || !b || !c) abort();
#pragma omp parallel for
        for (size_t i = 0; i < SIMT_STREAM; i++) a[i] = 1, b[i] = 2, c[i] = 0;
    }
#pragma omp parallel for simd
    for (size_t i = 0; i < SIMT_STREAM; i++) a[i] = b[i] + factor * c[i];
}

// ---- Rows ----

static void softmax(void *const *buffers) {
    const float *in = buffers[0];
    float *out = buffers[1];
#pragma omp parallel for
    for (size_t row = 0; row < SIMT_ROWS; row++) {
        const float *restrict x = in + row * SIMT_COLUMNS;
        float *restrict y = out + row * SIMT_COLUMNS;
        float largest = -INFINITY, total = 0;
#pragma omp simd reduction(max : largest)
        for (size_t c = 0; c < SIMT_COLUMNS; c++) largest = x[c] > largest ? x[c] : largest;
#pragma omp simd reduction(+ : total)
        for (size_t c = 0; c < SIMT_COLUMNS; c++) {
            y[c] = expf(x[c] - largest);
            total += y[c];
        }
        float scale = 1 / total;
#pragma omp simd
        for (size_t c = 0; c < SIMT_COLUMNS; c++) y[c] *= scale;
    }
}

static void rmsnorm(void *const *buffers) {
    const float *in = buffers[0], *weight = buffers[1];
    float *out = buffers[2];
#pragma omp parallel for
    for (size_t row = 0; row < SIMT_ROWS; row++) {
        const float *restrict x = in + row * SIMT_COLUMNS;
        float *restrict y = out + row * SIMT_COLUMNS;
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (size_t c = 0; c < SIMT_COLUMNS; c++) squares += x[c] * x[c];
        float scale = 1 / sqrtf(squares / SIMT_COLUMNS + 1e-5f);
#pragma omp simd
        for (size_t c = 0; c < SIMT_COLUMNS; c++) y[c] = x[c] * scale * weight[c];
    }
}

// ---- Reductions ----

static void sum(void *const *buffers) {
    const float *restrict in = buffers[0];
    float *out = buffers[2];
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (size_t i = 0; i < SIMT_STREAM; i++) total += in[i];
    *out = total;
}

// A block per thread: first its sum, then its prefixes added to the sums before it.
static void scan(void *const *buffers) {
    enum { BLOCKS = 256, SIZE = SIMT_STREAM / BLOCKS };
    const uint32_t *in = buffers[0];
    uint32_t *out = buffers[1];
    uint32_t before[BLOCKS + 1] = {0};
#pragma omp parallel for
    for (size_t block = 0; block < BLOCKS; block++) {
        uint32_t total = 0;
        for (size_t i = block * SIZE; i < (block + 1) * SIZE; i++) total += in[i];
        before[block + 1] = total;
    }
    for (size_t block = 1; block <= BLOCKS; block++) before[block] += before[block - 1];
#pragma omp parallel for
    for (size_t block = 0; block < BLOCKS; block++) {
        uint32_t total = before[block];
        for (size_t i = block * SIZE; i < (block + 1) * SIZE; i++) out[i] = total += in[i];
    }
}

static void histogram(void *const *buffers) {
    const uint8_t *in = buffers[0];
    uint32_t *out = buffers[1];
    uint32_t bins[SIMT_BINS] = {0};
#pragma omp parallel for reduction(+ : bins)
    for (size_t i = 0; i < SIMT_STREAM; i++) bins[in[i]]++;
    memcpy(out, bins, sizeof bins);
}

// ---- Matrices ----

static void transpose(void *const *buffers) {
    enum { N = SIMT_TRANSPOSE, TILE = 32 };
    const float *restrict in = buffers[0];
    float *restrict out = buffers[1];
#pragma omp parallel for
    for (size_t row = 0; row < N; row += TILE)
        for (size_t column = 0; column < N; column += TILE)
            for (size_t y = row; y < row + TILE; y++)
                for (size_t x = column; x < column + TILE; x++) out[x * N + y] = in[y * N + x];
}

static void matmul(void *const *buffers) {
    enum { N = SIMT_MATMUL };
    const float *restrict a = buffers[0], *restrict b = buffers[1];
    float *restrict c = buffers[2];
#pragma omp parallel for
    for (size_t i = 0; i < N; i++) {
        float *restrict row = c + i * N;
        memset(row, 0, N * sizeof *row);
        for (size_t k = 0; k < N; k++)
#pragma omp simd
            for (size_t j = 0; j < N; j++) row[j] += a[i * N + k] * b[k * N + j];
    }
}

static void matmul_tiled(void *const *buffers) {
    enum { N = SIMT_MATMUL, TILE = 64 };
    const float *restrict a = buffers[0], *restrict b = buffers[1];
    float *restrict c = buffers[2];
#pragma omp parallel for
    for (size_t i0 = 0; i0 < N; i0 += TILE) {
        memset(c + i0 * N, 0, sizeof *c * TILE * N);
        for (size_t k0 = 0; k0 < N; k0 += TILE)
            for (size_t j0 = 0; j0 < N; j0 += TILE)
                for (size_t i = i0; i < i0 + TILE; i++)
                    for (size_t k = k0; k < k0 + TILE; k++)
#pragma omp simd
                        for (size_t j = j0; j < j0 + TILE; j++) c[i * N + j] += a[i * N + k] * b[k * N + j];
    }
}

static float half_to_float(uint16_t bits) {
    _Float16 value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

static void q4_matvec(void *const *buffers) {
    const simt_q4_block *weights = buffers[0];
    const float *x = buffers[1];
    float *y = buffers[2];
#pragma omp parallel for
    for (size_t row = 0; row < SIMT_MATVEC; row++) {
        float parts[16] = {0}, total = 0;
        for (size_t b = 0; b < SIMT_Q4_BLOCKS; b++) {
            const simt_q4_block *block = &weights[row * SIMT_Q4_BLOCKS + b];
            const float *at = x + b * 32, scale = half_to_float(block->scale);
#pragma omp simd
            for (size_t j = 0; j < 16; j++) {
                int low = (block->quants[j] & 15) - 8, high = (block->quants[j] >> 4) - 8;
                parts[j] += scale * ((float)low * at[j] + (float)high * at[j + 16]);
            }
        }
        for (size_t j = 0; j < 16; j++) total += parts[j];
        y[row] = total;
    }
}

// ---- Simulation ----

static void stencil(void *const *buffers) {
    enum { N = SIMT_GRID, PLANE = N * N };
    const float *restrict in = buffers[0];
    float *restrict out = buffers[1];
#pragma omp parallel for
    for (size_t z = 0; z < N; z++)
        for (size_t y = 0; y < N; y++) {
            const float *restrict from = in + (z * N + y) * N;
            float *restrict to = out + (z * N + y) * N;
            if (z == 0 || y == 0 || z == N - 1 || y == N - 1) {
                memcpy(to, from, N * sizeof *to);
                continue;
            }
            to[0] = from[0], to[N - 1] = from[N - 1];
#pragma omp simd
            for (ptrdiff_t x = 1; x < N - 1; x++)
                to[x] = 0.4f * from[x] + 0.1f * (from[x - 1] + from[x + 1] + from[x - N] + from[x + N] +
                                                 from[x - PLANE] + from[x + PLANE]);
        }
}

static void nbody(void *const *buffers) {
    const simt_body *bodies = buffers[0];
    simt_body *acceleration = buffers[1];
    static float x[SIMT_BODIES], y[SIMT_BODIES], z[SIMT_BODIES], mass[SIMT_BODIES];
    for (size_t i = 0; i < SIMT_BODIES; i++)
        x[i] = bodies[i].x, y[i] = bodies[i].y, z[i] = bodies[i].z, mass[i] = bodies[i].mass;
#pragma omp parallel for
    for (size_t i = 0; i < SIMT_BODIES; i++) {
        float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (size_t j = 0; j < SIMT_BODIES; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = mass[j] * inverse * inverse * inverse;
            ax += dx * pull, ay += dy * pull, az += dz * pull;
        }
        acceleration[i] = (simt_body){ax, ay, az, 0};
    }
}

// ---- Divergence ----

static void mandelbrot(void *const *buffers) {
    uint32_t *out = buffers[0];
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t row = 0; row < SIMT_IMAGE; row++)
        for (size_t column = 0; column < SIMT_IMAGE; column++) {
            float cx = (float)column / SIMT_IMAGE * 3 - 2, cy = (float)row / SIMT_IMAGE * 2 - 1, x = 0, y = 0;
            uint32_t steps = 0;
            while (steps < SIMT_STEPS && x * x + y * y < 4) {
                float next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                steps++;
            }
            out[row * SIMT_IMAGE + column] = steps;
        }
}

static void exchange(uint32_t *restrict low, uint32_t *restrict high, size_t count, int ascending) {
    if (ascending)  // NOLINT(bugprone-branch-clone): the branches differ in which of the two is the smaller
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            uint32_t a = low[i], b = high[i];
            low[i] = a < b ? a : b, high[i] = a < b ? b : a;
        }
    else
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            uint32_t a = low[i], b = high[i];
            low[i] = a < b ? b : a, high[i] = a < b ? a : b;
        }
}

static void bitonic(void *const *buffers) {
    enum { CHUNK = 1 << 12 };  // pairs a thread takes at a time
    uint32_t *keys = buffers[0];
    for (size_t run = 2; run <= SIMT_KEYS; run *= 2)
        for (size_t distance = run / 2; distance > 0; distance /= 2) {
            size_t length = distance < CHUNK ? distance : CHUNK;
#pragma omp parallel for
            for (size_t pair = 0; pair < SIMT_KEYS / 2; pair += length) {
                size_t low = pair & (distance - 1), i = (pair - low) * 2 + low;
                exchange(keys + i, keys + i + distance, length, (i & run) == 0);
            }
        }
}

// ---- Textures ----

static size_t within(long i, long n) {
    return (size_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
// Rows are weighed into a ring of five, then added up. `channels` values per pixel.
#define DEFINE_BLUR(name, type, channels, rounding)                                                                  \
    static void name##_row(const type *restrict in, float *restrict out) {                                           \
        enum { N = SIMT_TEXTURE_SIDE, C = channels };                                                                \
        for (size_t x = 0; x < N; x = x == 1 ? N - 2 : x + 1)                                                        \
            for (size_t c = 0; c < C; c++)                                                                           \
                out[x * C + c] = 6.0f * in[x * C + c] +                                                              \
                                 4.0f * (in[within((long)x - 1, N) * C + c] + in[within((long)x + 1, N) * C + c]) +  \
                                 in[within((long)x - 2, N) * C + c] + in[within((long)x + 2, N) * C + c];            \
        for (size_t i = (size_t)2 * C; i < (size_t)(N - 2) * C; i++)                                                 \
            out[i] = 6.0f * in[i] + 4.0f * (in[i - C] + in[i + C]) + in[i - (size_t)2 * C] + in[i + (size_t)2 * C];  \
    }                                                                                                                \
    static void name(void *const *buffers) {                                                                         \
        enum { N = SIMT_TEXTURE_SIDE, C = channels, ROWS = 64 };                                                     \
        const type *in = buffers[0];                                                                                 \
        type *out = buffers[1];                                                                                      \
        _Pragma("omp parallel for") for (size_t first = 0; first < N; first += ROWS) {                               \
            static _Thread_local float ring[5][N * C];                                                               \
            for (long y = (long)first - 2; y < (long)first + 2; y++)                                                 \
                name##_row(in + within(y, N) * N * C, ring[(y + 5) % 5]);                                            \
            for (long y = (long)first; y < (long)first + ROWS; y++) {                                                \
                name##_row(in + within(y + 2, N) * N * C, ring[(y + 7) % 5]);                                        \
                const float *a = ring[(y + 3) % 5], *b = ring[(y + 4) % 5], *c = ring[(y + 5) % 5],                  \
                            *d = ring[(y + 6) % 5], *e = ring[(y + 7) % 5];                                          \
                type *row = out + (size_t)y * N * C;                                                                 \
                for (size_t i = 0; i < (size_t)N * C; i++)                                                           \
                    row[i] = (type)((a[i] + e[i] + 4.0f * (b[i] + d[i]) + 6.0f * c[i]) * (1.0f / 256) + (rounding)); \
            }                                                                                                        \
        }                                                                                                            \
    }
DEFINE_BLUR(texture_blur, float, 1, 0.0f)
DEFINE_BLUR(texture_blur8, uint8_t, 4, 0.5f)

#define DEFINE_RESIZE(name, type, channels, rounding)                                                             \
    static void name(void *const *buffers) {                                                                      \
        enum { N = SIMT_TEXTURE_SIDE, M = SIMT_SMALL_SIDE, C = channels };                                        \
        const type *in = buffers[0];                                                                              \
        type *out = buffers[1];                                                                                   \
        static int left[N], right[N];                                                                             \
        static float weight[N];                                                                                   \
        for (size_t x = 0; x < N; x++) {                                                                          \
            float at = ((float)x + 0.5f) * M / N - 0.5f, low = floorf(at);                                        \
            left[x] = (int)within((long)low, M) * C, right[x] = (int)within((long)low + 1, M) * C;                \
            weight[x] = at - low;                                                                                 \
        }                                                                                                         \
        _Pragma("omp parallel for") for (size_t y = 0; y < N; y++) {                                              \
            float at = ((float)y + 0.5f) * M / N - 0.5f, low = floorf(at), down = at - low;                       \
            const type *top = in + within((long)low, M) * M * C, *bottom = in + within((long)low + 1, M) * M * C; \
            type *row = out + y * N * C;                                                                          \
            for (size_t x = 0; x < N; x++)                                                                        \
                for (size_t c = 0; c < C; c++) {                                                                  \
                    size_t l = (size_t)left[x] + c, r = (size_t)right[x] + c;                                     \
                    float a = top[l] + (top[r] - top[l]) * weight[x],                                             \
                          b = bottom[l] + (bottom[r] - bottom[l]) * weight[x];                                    \
                    row[x * C + c] = (type)(a + (b - a) * down + (rounding));                                     \
                }                                                                                                 \
        }                                                                                                         \
    }
DEFINE_RESIZE(texture_resize, float, 1, 0.0f)
DEFINE_RESIZE(texture_resize8, uint8_t, 4, 0.5f)
// NOLINTEND(bugprone-macro-parentheses)

static void texture_histogram(void *const *buffers) {
    const uint8_t *in = buffers[0];
    uint32_t *bins = memset(buffers[1], 0, SIMT_BINS * sizeof(uint32_t));
#pragma omp parallel
    {
        uint32_t counts[4][SIMT_BINS] = {0};
#pragma omp for
        for (size_t i = 0; i < (size_t)SIMT_TEXTURE_SIDE * SIMT_TEXTURE_SIDE; i += 4)
            for (size_t k = 0; k < 4; k++) counts[k][in[i + k]]++;
#pragma omp critical
        for (size_t k = 0; k < 4; k++)
            for (size_t bin = 0; bin < SIMT_BINS; bin++) bins[bin] += counts[k][bin];
    }
}

extern const simt_openmp_kernel simt_openmp_kernels[];
__attribute__((visibility("default"))) const simt_openmp_kernel simt_openmp_kernels[] = {
    {"saxpy", saxpy},
    {"add", add},
    {"stream", stream},
    {"softmax", softmax},
    {"rmsnorm", rmsnorm},
    {"sum", sum},
    {"scan", scan},
    {"histogram", histogram},
    {"transpose", transpose},
    {"matmul-naive", matmul},
    {"matmul-tiled", matmul_tiled},
    {"matmul-simdgroup", matmul_tiled},
    {"matmul-staged", matmul_tiled},
    {"q4-matvec", q4_matvec},
    {"stencil", stencil},
    {"nbody", nbody},
    {"mandelbrot", mandelbrot},
    {"bitonic", bitonic},
    {"texture-blur", texture_blur},
    {"texture-resize", texture_resize},
    {"texture-blur-rgba8", texture_blur8},
    {"texture-resize-rgba8", texture_resize8},
    {"texture-histogram", texture_histogram},
    {NULL, NULL},
};
