// SPDX-License-Identifier: Apache-2.0
// fma, which is rounded once whatever instructions there are, against the C library's.
#include <math.h>

#include "bench.h"

enum { COUNT = 4096, ROUNDS = 40 };

static igi_simt_jit *jit;

static int open_both(void **state) {
    return igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL) == IG_STATUS_OK ? open_compiler(state) : -1;
}

static int close_both(void **state) {
    igi_simt_jit_destroy(jit);
    return close_compiler(state);
}

static const char source[] = METAL
    "kernel void k(device const float *a, device const float *b, device const float *c, device float *d,\n"
    "              uint i [[thread_position_in_grid]]) { d[i] = fma(a[i], b[i], c[i]); }";

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t next_bits(uint64_t *seed) {
    *seed = igi_simt_schedule_mix(*seed, 1);
    return (uint32_t)(*seed >> 32);
}

// Any float; or one with few bits, so that sums lie exactly between two floats or just beside; or a special value.
static float any_float(uint64_t *seed) {
    static const float special[] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-126f, 0x1p-149f, 0x1.fffffep127f};
    uint32_t kind = next_bits(seed) % 8, bits = next_bits(seed);
    if (kind == 0) return special[bits % (sizeof special / sizeof *special)];
    if (kind < 4) return float_of(bits);
    return ldexpf((float)((int)(bits % 8191) - 4095), (int)(next_bits(seed) % 61) - 36);
}

// A sum that cancels all but the last bits of the product.
static float near_product(float a, float b, uint64_t *seed) {
    return -(float)((double)a * b) + ldexpf((float)(next_bits(seed) % 3), -60);
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool is_same(float a, float b) {
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

static void check_width(uint32_t width) {
    static float a[COUNT], b[COUNT], c[COUNT], d[COUNT];
    igi_simt_code code = load_kernel(jit, source, width);
    uint64_t seed = 42;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) {
            a[i] = any_float(&seed), b[i] = any_float(&seed);
            c[i] = i % 4 ? any_float(&seed) : near_product(a[i], b[i], &seed);
        }
        void *arguments[2 * IGI_MAX_SLOTS] = {a, b, c, d};
        run_grid(&(grid){{COUNT, 1, 1}, {64, 1, 1}, arguments}, &code, NULL);
        for (int i = 0; i < COUNT; i++)
            if (!is_same(d[i], fmaf(a[i], b[i], c[i])))
                fail_msg("fma(%a, %a, %a) is %a, not %a", a[i], b[i], c[i], d[i], fmaf(a[i], b[i], c[i]));
    }
    igi_simt_jit_unload(jit, &code);
}

static void one_thread_at_a_time_rounds_once(void **state) {
    (void)state;
    check_width(1);
}

static void lanes_round_once(void **state) {
    (void)state;
    check_width(8);
    check_width(32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_at_a_time_rounds_once),
        cmocka_unit_test(lanes_round_once),
    };
    return cmocka_run_group_tests_name("fused", tests, open_both, close_both);
}
