// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox blocks side by side in vectors.
#include "core/philox.h"
#include "tensor/simd/isa/isa.h"
#include "tensor/simd/isa/math.h"

enum { BLOCKS = 64 };  // computed together, each of four words

// The upper and lower halves of x times a constant.
INLINE void multiply(const uint32_t *x, uint32_t constant, uint32_t *high, uint32_t *low) {
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t product = (uint64_t)x[i] * constant;
        high[i] = (uint32_t)(product >> 32), low[i] = (uint32_t)product;
    }
}

// words[w][i]: word w of the block `first + i`.
static void make_blocks(uint64_t seed, uint64_t first, uint32_t words[4][BLOCKS]) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    uint32_t high0[BLOCKS], low0[BLOCKS], high1[BLOCKS], low1[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t counter = first + (uint64_t)i;
        words[0][i] = (uint32_t)counter, words[1][i] = (uint32_t)(counter >> 32);
        words[2][i] = words[3][i] = 0;
    }
    for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
        multiply(words[0], 0xd2511f53u, high0, low0);
        multiply(words[2], 0xcd9e8d57u, high1, low1);
        for (int i = 0; i < BLOCKS; i++) {
            words[0][i] = high1[i] ^ words[1][i] ^ key0;
            words[2][i] = high0[i] ^ words[3][i] ^ key1;
            words[1][i] = low1[i];
            words[3][i] = low0[i];
        }
    }
}

// Fills numbers for whole groups of blocks and copies the requested ones.
typedef void (*block_function)(uint32_t words[4][BLOCKS], const float *p, float *numbers);

static void generate(uint64_t count, uint64_t seed, uint64_t position, block_function function, const float *p,
                     float *out) {
    uint32_t words[4][BLOCKS];
    float numbers[4 * BLOCKS];
    while (count) {
        uint64_t first = position / 4, skip = position % 4, now = 4 * BLOCKS - skip;
        if (now > count) now = count;
        make_blocks(seed, first, words);
        function(words, p, numbers);
        memcpy(out, numbers + skip, now * sizeof *out);
        out += now, position += now, count -= now;
    }
}

static void interleave(float parts[4][BLOCKS], float *numbers) {
    for (int i = 0; i < BLOCKS; i++)
        for (int w = 0; w < 4; w++) numbers[4 * i + w] = parts[w][i];
}

static void uniform_block(uint32_t words[4][BLOCKS], const float *p, float *numbers) {
    uint32_t bits = (uint32_t)p[0];
    float unit = ldexpf(1, -(int)bits), low = p[1], range = p[2], parts[4][BLOCKS];
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < BLOCKS; i++)
            parts[w][i] = __builtin_fmaf((float)(int32_t)(words[w][i] >> (32 - bits)) * unit, range, low);
    interleave(parts, numbers);
}

static void NAME(f32_uniform)(uint64_t count, uint64_t seed, uint64_t position, uint32_t bits, float low, float range,
                              float *out) {
    generate(count, seed, position, uniform_block, (float[]){(float)bits, low, range}, out);
}

// Box and Muller: two words make two numbers.
static void normal_pair(const uint32_t *first, const uint32_t *second, float mean, float deviation, float *cosines,
                        float *sines) {
    float u[LANES], v[LANES];
    for (int i = 0; i < LANES; i++) u[i] = (float)(int32_t)((first[i] >> 8) + 1) * 0x1p-24F;
    for (int i = 0; i < LANES; i++) v[i] = (float)(int32_t)(second[i] >> 8) * 0x1p-24F;
    vf radius = square_root(-2 * log_of(load(u))) * deviation;
    // The turn is reduced exactly before it becomes an angle.
    vf turns = load(v), quarter = turns * 4;
    vi n;
    vf r = (quarter - nearest_small(quarter, &n)) * 1.5707963267948966F;
    vf s = sin_reduced(r), c = cos_reduced(r);
    vi odd = (n & 1) != 0;
    vf sine = choose(odd, c, s), cosine = choose(odd, s, c);
    sine = choose((n & 2) != 0, -sine, sine);
    cosine = choose(((n + 1) & 2) != 0, -cosine, cosine);
    store(cosines, radius * cosine + mean);
    store(sines, radius * sine + mean);
}

static void normal_block(uint32_t words[4][BLOCKS], const float *p, float *numbers) {
    float parts[4][BLOCKS];
    for (int w = 0; w < 4; w += 2)
        for (int at = 0; at < BLOCKS; at += LANES)
            normal_pair(&words[w][at], &words[w + 1][at], p[0], p[1], &parts[w][at], &parts[w + 1][at]);
    interleave(parts, numbers);
}

static void NAME(f32_normal)(uint64_t count, uint64_t seed, uint64_t position, float mean, float deviation,
                             float *out) {
    generate(count, seed, position, normal_block, (float[]){mean, deviation}, out);
}

void NAME(igi_simd_fill_random)(igi_simd_kernels *table) {
    table->uniform = NAME(f32_uniform);
    table->normal = NAME(f32_normal);
}
