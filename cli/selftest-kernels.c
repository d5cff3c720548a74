// SPDX-License-Identifier: Apache-2.0
// ingot selftest: features of kernels, each compared with the host.
#include <string.h>

#include "selftest.h"

enum { THREADS = 10007, GROUP = 64, GROUPS = 9 };

static selftest_result check_saxpy(selftest *test) {
    ig_buffer *y = selftest_buffer(test, THREADS * sizeof(float)), *x = selftest_buffer(test, THREADS * sizeof(float));
    const float a = 0.5f;
    ig_error error = {0};
    float *ys = ig_buffer_contents(y), *xs = ig_buffer_contents(x);
    for (int i = 0; i < THREADS; i++) ys[i] = 1, xs[i] = (float)i;
    ig_status status = selftest_dispatch(
        test,
        &(selftest_run){
            .kernel = "saxpy", .buffers = {y, x}, .bytes = &a, .byte_count = sizeof a, .grid = {THREADS, 1, 1}},
        &error);
    size_t wrong = 0;
    for (int i = 0; i < THREADS; i++) wrong += ys[i] != 1 + a * xs[i];
    ig_buffer_release(y);
    ig_buffer_release(x);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "saxpy", status, &error);
    return wrong ? selftest_fail(test, "%zu of %d values are wrong", wrong, THREADS)
                 : selftest_pass(test, "%d threads", THREADS);
}

static selftest_result check_constants(selftest *test) {
    const int32_t factor = 3;
    const bool negate = true;
    const ig_function_constant constants[] = {{.id = 0, .type = IG_TYPE_I32, .value = &factor},
                                              {.name = "negate", .type = IG_TYPE_BOOL, .value = &negate}};
    ig_buffer *values = selftest_buffer(test, 5 * sizeof(int32_t));
    int32_t *numbers = ig_buffer_contents(values);
    for (int i = 0; i < 5; i++) numbers[i] = i;
    ig_error error = {0};
    selftest_run run = {
        .kernel = "scale", .constants = constants, .constant_count = 2, .buffers = {values}, .grid = {5, 1, 1}};
    ig_status status = selftest_dispatch(test, &run, &error);
    bool right = true;
    for (int i = 0; i < 5; i++) right = right && numbers[i] == -3 * i;
    ig_buffer_release(values);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "scale", status, &error);
    return right ? selftest_pass(test, "by number and by name") : selftest_fail(test, "values are wrong");
}

static selftest_result check_barriers(selftest *test) {
    ig_buffer *values = selftest_buffer(test, sizeof(uint32_t) * GROUP * GROUPS);
    ig_buffer *sums = selftest_buffer(test, GROUPS * sizeof(uint32_t));
    uint32_t *numbers = ig_buffer_contents(values), *results = ig_buffer_contents(sums);
    for (uint32_t i = 0; i < GROUP * GROUPS; i++) numbers[i] = i * i;
    ig_error error = {0};
    selftest_run run = {.kernel = "group_sum",
                        .buffers = {values, sums},
                        .threadgroup_bytes = GROUP * sizeof(uint32_t),
                        .grid = {(uint64_t)GROUP * GROUPS, 1, 1},
                        .group = {GROUP, 1, 1}};
    ig_status status = selftest_dispatch(test, &run, &error);
    size_t wrong = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < GROUP; i++) sum += numbers[g * GROUP + i];
        wrong += sum != results[g];
    }
    ig_buffer_release(values);
    ig_buffer_release(sums);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "group_sum", status, &error);
    return wrong ? selftest_fail(test, "%zu of %d sums are wrong", wrong, GROUPS)
                 : selftest_pass(test, "a tree over threadgroup memory");
}

static selftest_result check_simdgroups(selftest *test) {
    ig_buffer *out = selftest_buffer(test, sizeof(uint32_t) * GROUP * 4);
    ig_error error = {0};
    selftest_run run = {.kernel = "simdgroups", .buffers = {out}, .grid = {GROUP, 1, 1}, .group = {GROUP, 1, 1}};
    ig_status status = selftest_dispatch(test, &run, &error);
    const uint32_t *words = ig_buffer_contents(out);
    uint32_t width = words[3];
    bool right = width > 0 && GROUP % width == 0;
    for (size_t i = 0; right && i < GROUP; i++) {
        uint32_t lane = (uint32_t)i % width;
        right = words[i * 4] == width * (width - 1) / 2 && words[i * 4 + 1] == (lane ^ 1) && words[i * 4 + 2] == lane;
    }
    ig_buffer_release(out);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "simdgroups", status, &error);
    return right ? selftest_pass(test, "%u threads: sum, shuffle, prefix sum", width)
                 : selftest_fail(test, "wrong with %u threads in a simdgroup", width);
}

static selftest_result check_atomics(selftest *test) {
    ig_buffer *counters = selftest_buffer(test, 7 * sizeof(uint32_t));
    ig_error error = {0};
    ig_status status = selftest_dispatch(
        test, &(selftest_run){.kernel = "count", .buffers = {counters}, .grid = {THREADS, 1, 1}}, &error);
    const uint32_t *numbers = ig_buffer_contents(counters);
    size_t wrong = 0;
    for (uint32_t i = 0; i < 7; i++) wrong += numbers[i] != (THREADS + 6 - i) / 7;
    ig_buffer_release(counters);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "count", status, &error);
    return wrong ? selftest_fail(test, "%zu of 7 counters are wrong", wrong)
                 : selftest_pass(test, "%d additions to 7 counters", THREADS);
}

static bool is_product(const float *a, const float *b, const float *c) {
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) sum += a[row * 8 + k] * b[k * 8 + column];
            if (sum != c[row * 8 + column]) return false;
        }
    return true;
}

// Small integers: every order of additions gives the same result.
static selftest_result check_matrices(selftest *test) {
    ig_buffer *matrices[3];
    for (int i = 0; i < 3; i++) matrices[i] = selftest_buffer(test, 64 * sizeof(float));
    float *a = ig_buffer_contents(matrices[0]), *b = ig_buffer_contents(matrices[1]);
    for (int i = 0; i < 64; i++) a[i] = (float)(i % 9 - 4), b[i] = (float)(i % 7 - 3);
    ig_error error = {0};
    selftest_run run = {.kernel = "matrices",
                        .buffers = {matrices[0], matrices[1], matrices[2]},
                        .grid = {32, 1, 1},
                        .group = {32, 1, 1}};
    ig_status status = selftest_dispatch(test, &run, &error);
    bool right = is_product(a, b, ig_buffer_contents(matrices[2]));
    for (int i = 0; i < 3; i++) ig_buffer_release(matrices[i]);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "matrices", status, &error);
    return right ? selftest_pass(test, "8 x 8 by 8 x 8") : selftest_fail(test, "the product is wrong");
}

static selftest_result check_indirect(selftest *test) {
    ig_buffer *counters = selftest_buffer(test, 7 * sizeof(uint32_t)), *groups = selftest_buffer(test, 12);
    uint32_t *numbers = ig_buffer_contents(counters), sum = 0;
    memcpy(ig_buffer_contents(groups), (uint32_t[]){5, 3, 1}, 12);
    ig_error error = {0};
    selftest_run run = {.kernel = "count", .buffers = {counters}, .group = {32, 1, 1}, .indirect = groups};
    ig_status status = selftest_dispatch(test, &run, &error);
    for (int i = 0; i < 7; i++) sum += numbers[i];
    ig_buffer_release(counters);
    ig_buffer_release(groups);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "indirect dispatch", status, &error);
    return sum == 5 * 3 * 32 ? selftest_pass(test, "5 x 3 groups, counted by the device")
                             : selftest_fail(test, "%u threads ran, not 480", sum);
}

// A pointer inside a buffer leads to another buffer that is not bound.
static selftest_result check_addresses(selftest *test) {
    ig_buffer *target = selftest_buffer(test, 40 * sizeof(uint32_t));
    struct {
        uint64_t target;
        uint32_t value, padding;
    } pointers = {ig_buffer_device_address(target), 100, 0};
    ig_error error = {0};
    selftest_run run = {.kernel = "follow", .bytes = &pointers, .byte_count = sizeof pointers, .grid = {40, 1, 1}};
    ig_status status = selftest_dispatch(test, &run, &error);
    const uint32_t *numbers = ig_buffer_contents(target);
    bool right = true;
    for (uint32_t i = 0; i < 40; i++) right = right && numbers[i] == 100 + i;
    ig_buffer_release(target);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "follow", status, &error);
    return right ? selftest_pass(test, "a pointer followed") : selftest_fail(test, "it led elsewhere");
}

const selftest_check selftest_kernel_checks[] = {
    {"kernel", check_saxpy},
    {"function constants", check_constants},
    {"barriers", check_barriers},
    {"simdgroups", check_simdgroups},
    {"atomics", check_atomics},
    {"simdgroup_matrix", check_matrices},
    {"indirect dispatch", check_indirect},
    {"device addresses", check_addresses},
    {NULL, NULL},
};
