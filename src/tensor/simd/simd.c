// SPDX-License-Identifier: Apache-2.0
// The simd backend: its rows, the level of this CPU, elements as packed floats.
#include "tensor/simd/simd.h"
#include "core/host.h"
#include "core/settings.h"

#include <assert.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Levels ----

static igi_simd_kernels chosen;

typedef struct level {
    const char *name;
    void (*fill)(igi_simd_kernels *table);
    bool (*runs_here)(void);
} level;

#if defined(__x86_64__)
// clang 16 and 17 do not know __builtin_cpu_supports("f16c").
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool runs_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() &&
           __builtin_cpu_supports("bmi2");
}

#ifndef IGI_WITHOUT_AVX512
static bool runs_avx512(void) {
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

#if defined(__aarch64__)
static bool runs_neon(void) {
    return true;
}

static bool runs_neon_dot(void) {
    return igi_host_has_feature(IGI_HOST_DOT_PRODUCT) && igi_host_has_feature(IGI_HOST_HALF_ARITHMETIC);
}

static bool runs_neon_bf16(void) {
    return runs_neon_dot() && igi_host_has_feature(IGI_HOST_BFLOAT);
}
#else
static bool runs_baseline(void) {
    return true;
}
#endif

#define X(level) {#level, igi_simd_fill__##level, runs_##level},
static const level levels[] = {IGI_SIMD_LEVEL_LIST(X)};
#undef X

static void choose_level(void) {
    enum { COUNT = sizeof levels / sizeof *levels };
    const char *wanted = igi_setting_named(IGI_SETTING_SIMD);
    const level *best = &levels[COUNT - 1];
    for (int i = COUNT - 1; i >= 0; i--) {
        bool excluded = wanted && strcmp(wanted, levels[i].name) != 0;
        if (levels[i].runs_here() && !excluded) best = &levels[i];
    }
    best->fill(&chosen);
}

const igi_simd_kernels *igi_simd(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_level);
    return &chosen;
}

static bool open_simd(igi_tensor_runtime *runtime, void **state, char *reason) {
    (void)state, (void)reason;
    snprintf(runtime->identities[IG_BACKEND_SIMD], sizeof runtime->identities[0], "%s", igi_simd()->isa);
    return true;
}

// ---- Elements as packed floats ----

static void gather(uint64_t size, const char *from, int64_t stride, uint64_t count, void *to) {
    if (size == 2)
        for (uint64_t i = 0; i < count; i++) memcpy((uint16_t *)to + i, from + (int64_t)i * stride, 2);
    else
        for (uint64_t i = 0; i < count; i++) memcpy((uint32_t *)to + i, from + (int64_t)i * stride, 4);
}

static void scatter(uint64_t size, const void *from, char *to, int64_t stride, uint64_t count) {
    if (size == 2)
        for (uint64_t i = 0; i < count; i++) memcpy(to + (int64_t)i * stride, (const uint16_t *)from + i, 2);
    else
        for (uint64_t i = 0; i < count; i++) memcpy(to + (int64_t)i * stride, (const uint32_t *)from + i, 4);
}

void igi_simd_load(const igi_simd_kernels *k, ig_type type, const char *from, int64_t stride, uint64_t count,
                   float *to) {
    assert(count <= IGI_SIMD_CHUNK && igi_tensor_is_float(type));
    if (type == IG_TYPE_F32) {
        if (stride == sizeof(float))
            memcpy(to, from, count * sizeof *to);
        else
            gather(4, from, stride, count, to);
        return;
    }
    uint16_t halves[IGI_SIMD_CHUNK];
    const uint16_t *packed = (const uint16_t *)from;
    if (stride != sizeof(uint16_t)) {
        gather(2, from, stride, count, halves);
        packed = halves;
    }
    (type == IG_TYPE_F16 ? k->f16_to_f32 : k->bf16_to_f32)(count, packed, to);
}

void igi_simd_store(const igi_simd_kernels *k, ig_type type, const float *from, char *to, int64_t stride,
                    uint64_t count) {
    assert(count <= IGI_SIMD_CHUNK && igi_tensor_is_float(type));
    if (type == IG_TYPE_F32) {
        if (stride == sizeof(float))
            memcpy(to, from, count * sizeof *from);
        else
            scatter(4, from, to, stride, count);
        return;
    }
    uint16_t halves[IGI_SIMD_CHUNK];
    bool packed = stride == sizeof(uint16_t);
    (type == IG_TYPE_F16 ? k->f32_to_f16 : k->f32_to_bf16)(count, from, packed ? (uint16_t *)to : halves);
    if (!packed) scatter(2, halves, to, stride, count);
}

void igi_simd_load_all(const igi_simd_kernels *k, ig_type type, const char *from, int64_t stride, uint64_t count,
                       float *to) {
    for (uint64_t at = 0; at < count; at += IGI_SIMD_CHUNK) {
        uint64_t now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        igi_simd_load(k, type, from + (int64_t)at * stride, stride, now, to + at);
    }
}

void igi_simd_store_all(const igi_simd_kernels *k, ig_type type, const float *from, char *to, int64_t stride,
                        uint64_t count) {
    for (uint64_t at = 0; at < count; at += IGI_SIMD_CHUNK) {
        uint64_t now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        igi_simd_store(k, type, from + at, to + (int64_t)at * stride, stride, now);
    }
}

// ---- Rows ----

#define ROW(id, set, test, function) {.op = IG_OP_##id, .types = (set), .accepts = (test), .run = igi_simd_##function},
#define UNARY(id, name, type) UNARY_##type(id)
#define UNARY_KEEP(id) ROW(id, IGI_FLOATS, NULL, unary)
#define UNARY_FLOAT(id) ROW(id, IGI_FLOATS, NULL, unary)
#define UNARY_BOOL(id) ROW(id, IGI_FLOATS, NULL, unary_test)
#define REDUCE(id, name, type) ROW(id, IGI_FLOATS, NULL, reduce)

static const igi_tensor_implementation rows[] = {
    // clang-format off
    IG_UNARY_LIST(UNARY)
    IG_REDUCE_LIST(REDUCE)
    IGI_SIMD_ROWS(ROW)
    // clang-format on
};

const igi_op_backend igi_ops_simd = {
    .id = IG_BACKEND_SIMD, .rows = rows, .row_count = sizeof rows / sizeof *rows, .open = open_simd};
