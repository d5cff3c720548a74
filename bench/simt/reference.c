// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: inputs, and expected results, computed one element after the other.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simt.h"
#include "tensor/types.h"

// ---- Inputs ----

// Weyl's sequence through a mixer: the same numbers everywhere, in any order.
static uint32_t random_bits(uint32_t index) {
    uint32_t x = index * 0x9e3779b9u + 0x7f4a7c15u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

static float random_float(uint32_t index) {  // -1 to 1
    return (float)(random_bits(index) >> 8) * 0x1p-23f - 1;
}

static void fill_floats(void *buffer, size_t count, uint32_t seed) {
    float *to = buffer;
    for (size_t i = 0; i < count; i++) to[i] = random_float((uint32_t)i + seed);
}

void simt_fill_saxpy(void *const *buffers) {
    for (uint32_t i = 0; i < 2; i++) fill_floats(buffers[i], SIMT_STREAM, i);
}

void simt_fill_add(void *const *buffers) {
    simt_fill_saxpy(buffers);
}

void simt_fill_softmax(void *const *buffers) {
    float *in = buffers[0];
    for (size_t i = 0; i < (size_t)SIMT_ROWS * SIMT_COLUMNS; i++) in[i] = 8 * random_float((uint32_t)i);
}

void simt_fill_rmsnorm(void *const *buffers) {
    fill_floats(buffers[0], (size_t)SIMT_ROWS * SIMT_COLUMNS, 0);
    fill_floats(buffers[1], SIMT_COLUMNS, 7);
}

// Positive: a sum of signed numbers is mostly rounding.
void simt_fill_sum(void *const *buffers) {
    float *in = buffers[0];
    for (size_t i = 0; i < SIMT_STREAM; i++) in[i] = fabsf(random_float((uint32_t)i));
}

void simt_fill_scan(void *const *buffers) {
    uint32_t *in = buffers[0];
    for (uint32_t i = 0; i < SIMT_STREAM; i++) in[i] = random_bits(i) & 0xff;
}

void simt_fill_histogram(void *const *buffers) {
    uint8_t *in = buffers[0];
    for (uint32_t i = 0; i < SIMT_STREAM; i++) in[i] = random_bits(i) & 0xff;
}

void simt_fill_transpose(void *const *buffers) {
    fill_floats(buffers[0], (size_t)SIMT_TRANSPOSE * SIMT_TRANSPOSE, 0);
}

void simt_fill_matmul(void *const *buffers) {
    for (uint32_t i = 0; i < 2; i++) fill_floats(buffers[i], (size_t)SIMT_MATMUL * SIMT_MATMUL, i);
}

void simt_fill_stencil(void *const *buffers) {
    fill_floats(buffers[0], (size_t)SIMT_GRID * SIMT_GRID * SIMT_GRID, 0);
}

void simt_fill_nbody(void *const *buffers) {
    simt_body *bodies = buffers[0];
    fill_floats(bodies, (size_t)SIMT_BODIES * 4, 0);
    for (size_t i = 0; i < SIMT_BODIES; i++) bodies[i].mass = fabsf(bodies[i].mass);
}

void simt_fill_mandelbrot(void *const *buffers) {}

void simt_fill_bitonic(void *const *buffers) {
    uint32_t *keys = buffers[0];
    for (uint32_t i = 0; i < SIMT_KEYS; i++) keys[i] = random_bits(i);
}

void simt_fill_q4_matvec(void *const *buffers) {
    simt_q4_block *weights = buffers[0];
    for (uint32_t b = 0; b < SIMT_MATVEC * SIMT_Q4_BLOCKS; b++) {
        weights[b].scale = igi_tensor_f16_from_double(random_float(b));
        for (uint32_t j = 0; j < 16; j++) weights[b].quants[j] = (uint8_t)random_bits(b * 16 + j);
    }
    fill_floats(buffers[1], SIMT_MATVEC, 7);
}

// ---- Results ----

void simt_reference_saxpy(void *const *buffers, void *result) {
    const float *y = buffers[0], *x = buffers[1];
    float *out = result;
    for (size_t i = 0; i < SIMT_STREAM; i++) out[i] = SIMT_FACTOR * x[i] + y[i];
}

void simt_reference_add(void *const *buffers, void *result) {
    const float *a = buffers[0], *b = buffers[1];
    float *out = result;
    for (size_t i = 0; i < SIMT_STREAM; i++) out[i] = a[i] + b[i];
}

void simt_reference_softmax(void *const *buffers, void *result) {
    for (size_t row = 0; row < SIMT_ROWS; row++) {
        const float *x = (const float *)buffers[0] + row * SIMT_COLUMNS;
        float *out = (float *)result + row * SIMT_COLUMNS, largest = -INFINITY;
        double total = 0;
        for (size_t c = 0; c < SIMT_COLUMNS; c++) largest = fmaxf(largest, x[c]);
        for (size_t c = 0; c < SIMT_COLUMNS; c++) total += out[c] = expf(x[c] - largest);
        for (size_t c = 0; c < SIMT_COLUMNS; c++) out[c] = (float)(out[c] / total);
    }
}

void simt_reference_rmsnorm(void *const *buffers, void *result) {
    const float *weight = buffers[1];
    for (size_t row = 0; row < SIMT_ROWS; row++) {
        const float *x = (const float *)buffers[0] + row * SIMT_COLUMNS;
        float *out = (float *)result + row * SIMT_COLUMNS;
        double squares = 0;
        for (size_t c = 0; c < SIMT_COLUMNS; c++) squares += x[c] * x[c];
        double scale = 1 / sqrt(squares / SIMT_COLUMNS + 1e-5);
        for (size_t c = 0; c < SIMT_COLUMNS; c++) out[c] = (float)(x[c] * scale * weight[c]);
    }
}

void simt_reference_sum(void *const *buffers, void *result) {
    const float *in = buffers[0];
    double total = 0;
    for (size_t i = 0; i < SIMT_STREAM; i++) total += in[i];
    *(float *)result = (float)total;
}

void simt_reference_scan(void *const *buffers, void *result) {
    const uint32_t *in = buffers[0];
    uint32_t *out = result, total = 0;
    for (size_t i = 0; i < SIMT_STREAM; i++) out[i] = total += in[i];
}

void simt_reference_histogram(void *const *buffers, void *result) {
    const uint8_t *in = buffers[0];
    uint32_t *bins = result;
    memset(bins, 0, SIMT_BINS * sizeof *bins);
    for (size_t i = 0; i < SIMT_STREAM; i++) bins[in[i]]++;
}

void simt_reference_transpose(void *const *buffers, void *result) {
    enum { N = SIMT_TRANSPOSE };
    const float *in = buffers[0];
    float *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) out[x * N + y] = in[y * N + x];
}

void simt_reference_matmul(void *const *buffers, void *result) {
    enum { N = SIMT_MATMUL };
    const float *a = buffers[0], *b = buffers[1];
    float *c = result;
    memset(c, 0, sizeof *c * N * N);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            for (size_t j = 0; j < N; j++) c[i * N + j] += a[i * N + k] * b[k * N + j];
}

static bool at_border(size_t position) {
    return position == 0 || position == SIMT_GRID - 1;
}

void simt_reference_stencil(void *const *buffers, void *result) {
    enum { N = SIMT_GRID, PLANE = N * N };
    const float *in = buffers[0];
    float *out = result;
    for (size_t z = 0, i = 0; z < N; z++)
        for (size_t y = 0; y < N; y++)
            for (size_t x = 0; x < N; x++, i++)
                out[i] = at_border(x) || at_border(y) || at_border(z)
                             ? in[i]
                             : 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - N] + in[i + N] + in[i - PLANE] +
                                                      in[i + PLANE]);
}

void simt_reference_nbody(void *const *buffers, void *result) {
    const simt_body *bodies = buffers[0];
    simt_body *acceleration = result;
    for (size_t i = 0; i < SIMT_BODIES; i++) {
        float x = 0, y = 0, z = 0;
        for (size_t j = 0; j < SIMT_BODIES; j++) {
            float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
            float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = bodies[j].mass * inverse * inverse * inverse;
            x += dx * pull, y += dy * pull, z += dz * pull;
        }
        acceleration[i] = (simt_body){x, y, z, 0};
    }
}

static uint32_t escape_time(float cx, float cy) {
    float x = 0, y = 0;
    uint32_t steps = 0;
    while (steps < SIMT_STEPS && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        steps++;
    }
    return steps;
}

void simt_reference_mandelbrot(void *const *buffers, void *result) {
    enum { N = SIMT_IMAGE };
    uint32_t *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) out[y * N + x] = escape_time((float)x / N * 3 - 2, (float)y / N * 2 - 1);
}

static int ascending(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

void simt_reference_bitonic(void *const *buffers, void *result) {
    memcpy(result, buffers[0], SIMT_KEYS * sizeof(uint32_t));
    qsort(result, SIMT_KEYS, sizeof(uint32_t), ascending);
}

static float dot_block(const simt_q4_block *block, const float *x) {
    float total = 0;
    for (size_t j = 0; j < 16; j++) {
        total += (float)((block->quants[j] & 15) - 8) * x[j];
        total += (float)((block->quants[j] >> 4) - 8) * x[j + 16];
    }
    return (float)igi_tensor_f16_to_double(block->scale) * total;
}

void simt_reference_q4_matvec(void *const *buffers, void *result) {
    const simt_q4_block *weights = buffers[0];
    const float *x = buffers[1];
    float *y = result;
    for (size_t row = 0; row < SIMT_MATVEC; row++) {
        double total = 0;
        for (size_t b = 0; b < SIMT_Q4_BLOCKS; b++) total += dot_block(&weights[row * SIMT_Q4_BLOCKS + b], x + b * 32);
        y[row] = (float)total;
    }
}

// ---- Textures ----

void simt_fill_texture_blur(void *const *buffers) {
    float *in = buffers[0];
    for (size_t i = 0; i < (size_t)SIMT_TEXTURE_SIDE * SIMT_TEXTURE_SIDE; i++)
        in[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
}

void simt_fill_texture_resize(void *const *buffers) {
    float *in = buffers[0];
    for (size_t i = 0; i < (size_t)SIMT_SMALL_SIDE * SIMT_SMALL_SIDE; i++)
        in[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
}

static void fill_bytes(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 16);
}

void simt_fill_texture_blur8(void *const *buffers) {
    fill_bytes(buffers[0], (size_t)SIMT_TEXTURE_SIDE * SIMT_TEXTURE_SIDE * 4);
}

void simt_fill_texture_resize8(void *const *buffers) {
    fill_bytes(buffers[0], (size_t)SIMT_SMALL_SIDE * SIMT_SMALL_SIDE * 4);
}

void simt_fill_texture_histogram(void *const *buffers) {
    fill_bytes(buffers[0], (size_t)SIMT_TEXTURE_SIDE * SIMT_TEXTURE_SIDE);
}

static size_t within(int64_t i, int64_t n) {
    return (size_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
}

// Pixels of `count` channels, floats or bytes, by one function that reads a channel.
typedef float (*channel_reader)(const void *pixels, size_t at);
static float read_float(const void *pixels, size_t at) {
    return ((const float *)pixels)[at];
}
static float read_byte(const void *pixels, size_t at) {
    return ((const uint8_t *)pixels)[at];
}

static float blurred(const void *in, channel_reader read, size_t x, size_t y, size_t c, size_t channels) {
    static const float taps[] = {1, 4, 6, 4, 1};
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            size_t px = within((int64_t)x + i, SIMT_TEXTURE_SIDE), py = within((int64_t)y + j, SIMT_TEXTURE_SIDE);
            sum += taps[i + 2] * taps[j + 2] * read(in, (py * SIMT_TEXTURE_SIDE + px) * channels + c);
        }
    return sum / 256;
}

void simt_reference_texture_blur(void *const *buffers, void *result) {
    enum { N = SIMT_TEXTURE_SIDE };
    float *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) out[y * N + x] = blurred(buffers[0], read_float, x, y, 0, 1);
}

void simt_reference_texture_blur8(void *const *buffers, void *result) {
    enum { N = SIMT_TEXTURE_SIDE };
    uint8_t *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++)
            for (size_t c = 0; c < 4; c++)
                out[(y * N + x) * 4 + c] = (uint8_t)lrintf(blurred(buffers[0], read_byte, x, y, c, 4));
}

static float between(const void *in, channel_reader read, size_t x, size_t y, size_t c, size_t channels) {
    const double scale = (double)SIMT_SMALL_SIDE / SIMT_TEXTURE_SIDE;
    double fx = ((double)x + 0.5) * scale - 0.5, fy = ((double)y + 0.5) * scale - 0.5, sum = 0;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            size_t px = within((int64_t)floor(fx) + i, SIMT_SMALL_SIDE),
                   py = within((int64_t)floor(fy) + j, SIMT_SMALL_SIDE);
            double wx = fx - floor(fx), wy = fy - floor(fy);
            sum += (i ? wx : 1 - wx) * (j ? wy : 1 - wy) * (double)read(in, (py * SIMT_SMALL_SIDE + px) * channels + c);
        }
    return (float)sum;
}

void simt_reference_texture_resize(void *const *buffers, void *result) {
    enum { N = SIMT_TEXTURE_SIDE };
    float *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++) out[y * N + x] = between(buffers[0], read_float, x, y, 0, 1);
}

void simt_reference_texture_resize8(void *const *buffers, void *result) {
    enum { N = SIMT_TEXTURE_SIDE };
    uint8_t *out = result;
    for (size_t y = 0; y < N; y++)
        for (size_t x = 0; x < N; x++)
            for (size_t c = 0; c < 4; c++)
                out[(y * N + x) * 4 + c] = (uint8_t)lrintf(between(buffers[0], read_byte, x, y, c, 4));
}

void simt_reference_texture_histogram(void *const *buffers, void *result) {
    uint32_t *bins = memset(result, 0, SIMT_BINS * sizeof(uint32_t));
    for (size_t i = 0; i < (size_t)SIMT_TEXTURE_SIDE * SIMT_TEXTURE_SIDE; i++) bins[((uint8_t *)buffers[0])[i]]++;
}

// ---- Checking ----

// Bytes of pixels, which implementations round differently.
static bool nearly_equal(uint32_t a, uint32_t b) {
    for (int shift = 0; shift < 32; shift += 8)
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 1) return false;
    return true;
}

static double root_mean_square(const float *values, size_t count) {
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += (double)values[i] * values[i];
    return sqrt(squares / (double)count);
}

size_t simt_count_wrong(const simt_case *test, const void *result, const void *expected, size_t *first) {
    const uint32_t *bits = result, *wanted_bits = expected;
    const float *values = result, *wanted = expected;
    size_t count = test->result_bytes / sizeof(float), wrong = 0;
    // Elements near zero are as accurate as their neighbours, not more.
    double typical = test->tolerance > 0 ? root_mean_square(wanted, count) : 0;
    for (size_t i = 0; i < count; i++) {
        bool right = bits[i] == wanted_bits[i];
        if (!right && test->tolerance > 0)
            right = fabs((double)values[i] - wanted[i]) <= test->tolerance * (fabs((double)wanted[i]) + typical);
        if (!right && test->nearly) right = nearly_equal(bits[i], wanted_bits[i]);
        if (!right && wrong++ == 0) *first = i;
    }
    return (double)wrong <= test->may_differ * (double)count ? 0 : wrong;
}
