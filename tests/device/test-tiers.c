// SPDX-License-Identifier: Apache-2.0
// Two tiers of code, the change from one to the other while kernels run, and pipelines made in the background.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

enum { COUNT = 1 << 16 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint rounds [[function_constant(0)]];\n"
    "kernel void mix(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    float v = float(i % 1000) * 0.37f;\n"
    "    for (uint k = 0; k < rounds; k++) v = sin(v) * 1.7f + exp(-v * v) / (v * v + 3);\n"
    "    x[i] = v;\n"
    "}\n"
    "kernel void total(device const float *x [[buffer(0)]], device float *out [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup float part[64];\n"
    "    part[local] = simd_sum(x[i]) + x[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint step = 32; step > 0; step /= 2) {\n"
    "        if (local < step) part[local] += part[local + step];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    }\n"
    "    out[i] = part[local];\n"
    "}\n";

static uint32_t many = 40;

static ig_pipeline_desc describe(const char *kernel, uint32_t tier) {
    static const ig_function_constant rounds = {.type = IG_TYPE_U32, .value = &many};
    return (ig_pipeline_desc){.kernel = kernel, .constants = &rounds, .constant_count = 1, .tier = tier};
}

static ig_pipeline *pipeline_in(ig_library *library, const char *kernel, uint32_t tier) {
    ig_pipeline *pipeline = NULL;
    ig_pipeline_desc desc = describe(kernel, tier);
    assert_ok(ig_pipeline_create(library, &desc, &pipeline, NULL));
    return pipeline;
}

static uint32_t tier_of(const ig_pipeline *pipeline) {
    ig_pipeline_properties properties;
    ig_pipeline_get_properties(pipeline, &properties);
    return properties.tier;
}

static void run_on(ig_device *on, ig_pipeline *pipeline, ig_buffer *const *buffers, size_t count) {
    run r = {.on = on,
             .pipeline = pipeline,
             .buffers = buffers,
             .buffer_count = count,
             .grid = line(COUNT),
             .group = line(64)};
    do_run(&r);
}

static void both_tiers_compute_the_same_bits(void **state) {
    (void)state;
    ig_library *library = compile(source);
    ig_buffer *of[2][2];
    for (uint32_t t = 0; t < 2; t++) {
        ig_pipeline *mix = pipeline_in(library, "mix", t + 1), *total = pipeline_in(library, "total", t + 1);
        assert_int_equal(tier_of(mix), t + 1);
        for (int k = 0; k < 2; k++) of[t][k] = make_buffer(COUNT * 4);
        run_on(device, mix, of[t], 1);
        run_on(device, total, of[t], 2);
        ig_pipeline_release(mix), ig_pipeline_release(total);
    }
    for (int k = 0; k < 2; k++) {
        assert_memory_equal(ig_buffer_contents(of[0][k]), ig_buffer_contents(of[1][k]), COUNT * 4);
        ig_buffer_release(of[0][k]), ig_buffer_release(of[1][k]);
    }
    ig_library_release(library);
}

// Each attempt takes four times as long as the last, for machines on which compiling takes long.
static void a_dispatch_that_takes_long_ends_in_better_code(void **state) {
    (void)state;
    ig_library *library = compile(source);
    ig_buffer *expected = make_buffer(COUNT * 4), *got = make_buffer(COUNT * 4);
    ig_pipeline *mix = NULL;
    bool better = false;
    for (many = 1001; many < 100000 && !better; many *= 4) {
        ig_pipeline_release(mix);
        mix = pipeline_in(library, "mix", 0);
        assert_int_equal(tier_of(mix), 1);
        run_on(device, mix, &got, 1);
        better = tier_of(mix) == 2;
    }
    assert_true(better);
    run_on(device, mix, &expected, 1);
    assert_memory_equal(ig_buffer_contents(expected), ig_buffer_contents(got), COUNT * 4);
    many = 40;
    ig_buffer_release(expected), ig_buffer_release(got);
    ig_pipeline_release(mix), ig_library_release(library);
}

// Every run gives the same bits.
static void a_kernel_that_runs_for_long_gets_better_code(void **state) {
    (void)state;
    ig_library *library = compile(source);
    ig_buffer *expected = make_buffer(COUNT * 4), *got = make_buffer(COUNT * 4);
    many = 41;  // of which there is no code yet
    ig_pipeline *mix = pipeline_in(library, "mix", 3);
    assert_int_equal(tier_of(mix), 1);
    run_on(device, mix, &expected, 1);
    for (int round = 0; round < 3000 && tier_of(mix) == 1; round++) {
        run_on(device, mix, &got, 1);
        assert_memory_equal(ig_buffer_contents(expected), ig_buffer_contents(got), COUNT * 4);
    }
    assert_int_equal(tier_of(mix), 2);
    run_on(device, mix, &got, 1);
    assert_memory_equal(ig_buffer_contents(expected), ig_buffer_contents(got), COUNT * 4);
    many = 40;
    ig_buffer_release(expected), ig_buffer_release(got);
    ig_pipeline_release(mix), ig_library_release(library);
}

static void better_code_of_an_earlier_run_is_used_at_once(void **state) {
    (void)state;
    ig_library *library = compile(source);
    many = 42;
    ig_pipeline *optimised = pipeline_in(library, "mix", 2), *mix = pipeline_in(library, "mix", 3);
    assert_int_equal(tier_of(mix), 2);
    many = 40;
    ig_pipeline_release(optimised), ig_pipeline_release(mix), ig_library_release(library);
}

// What the background is making is given up.
static void a_device_may_go_while_better_code_is_made(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        many = 50 + i;
        ig_device *other = open_device(&(ig_device_desc){0});
        ig_library *library = compile_on(other, &(ig_library_desc){.source = source});
        ig_pipeline *mix = pipeline_in(library, "mix", 3);
        ig_buffer *buffer = make_buffer_on(other, COUNT * 4);
        for (uint32_t k = 0; k <= i; k++) run_on(other, mix, &buffer, 1);
        ig_buffer_release(buffer), ig_pipeline_release(mix), ig_library_release(library), ig_device_release(other);
    }
    many = 40;
}

typedef struct outcome {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int count, failed;
    ig_pipeline *pipelines[8];
} outcome;

static void note(ig_pipeline *pipeline, ig_status status, const ig_error *error, void *user) {
    outcome *o = user;
    pthread_mutex_lock(&o->lock);
    if (status == IG_STATUS_OK)
        o->pipelines[o->count] = pipeline;
    else
        o->failed += status == IG_STATUS_NOT_FOUND && error->message && !pipeline;
    o->count++;
    pthread_cond_signal(&o->ended);
    pthread_mutex_unlock(&o->lock);
}

static void pipelines_are_made_in_the_background(void **state) {
    (void)state;
    outcome o = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    ig_library *library = compile(source);
    for (int i = 0; i < 4; i++) {
        uint32_t value = 60 + (uint32_t)i;
        char kernel[] = "mix";
        ig_function_constant constant = {.type = IG_TYPE_U32, .value = &value};
        ig_pipeline_desc desc = {.kernel = i == 3 ? "none" : kernel, .constants = &constant, .constant_count = 1};
        assert_ok(ig_pipeline_create_async(library, &desc, note, &o));
        value = 0, kernel[0] = 'x';  // the descriptor was copied
    }
    ig_library_release(library);
    pthread_mutex_lock(&o.lock);
    while (o.count < 4) pthread_cond_wait(&o.ended, &o.lock);
    pthread_mutex_unlock(&o.lock);
    assert_int_equal(o.failed, 1);
    ig_buffer *buffer = make_buffer(COUNT * 4);
    for (int i = 0; i < 4; i++) {
        if (o.pipelines[i]) run_on(device, o.pipelines[i], &buffer, 1);
        ig_pipeline_release(o.pipelines[i]);
    }
    ig_buffer_release(buffer);
}

static void wrong_arguments_are_refused_at_once(void **state) {
    (void)state;
    ig_library *library = compile(source);
    ig_function_constant nothing = {.type = IG_TYPE_U32};
    ig_pipeline_desc desc = {.kernel = "mix", .constants = &nothing, .constant_count = 1}, none = {0};
    assert_status(ig_pipeline_create_async(library, &desc, note, NULL), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_pipeline_create_async(library, &none, note, NULL), IG_STATUS_INVALID_ARGUMENT);
    desc.constant_count = 0;
    assert_status(ig_pipeline_create_async(library, &desc, NULL, NULL), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_pipeline_create_async(NULL, &desc, note, NULL), IG_STATUS_INVALID_ARGUMENT);
    ig_library_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_tiers_compute_the_same_bits),
        cmocka_unit_test(a_dispatch_that_takes_long_ends_in_better_code),
        cmocka_unit_test(a_kernel_that_runs_for_long_gets_better_code),
        cmocka_unit_test(better_code_of_an_earlier_run_is_used_at_once),
        cmocka_unit_test(a_device_may_go_while_better_code_is_made),
        cmocka_unit_test(pipelines_are_made_in_the_background),
        cmocka_unit_test(wrong_arguments_are_refused_at_once),
    };
    // Code of an earlier run would be found in a shared cache.
    unsetenv("INGOT_TIER"), unsetenv("INGOT_CACHE_DIR");
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
