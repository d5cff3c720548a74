// SPDX-License-Identifier: Apache-2.0
// Headers of Apple's system, and @available, which answers for the macOS version that libMetal stands for.
#include <TargetConditionals.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <mach/vm_page_size.h>
#include <os/lock.h>
#include <os/log.h>
#include <os/signpost.h>
#include <simd/simd.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "helpers.h"

static int available(int x) {
    return x + 1;
}

static void availability_is_that_of_one_version(void **state) {
    assert_int_equal(INGOT_MACOS_VERSION, __MAC_OS_X_VERSION_MAX_ALLOWED);
    int old = 0, same = 0, later = 0, much_later = 0, unknown = 0;
    if (@available(macOS 10.12, iOS 16.0, *)) old = 1;
    if (@available(iOS 18.0, macOS 15.0, *)) same = 1;
    if (@available(macOS 15.0.1, *)) later = 1;
    if (@available(macOS 26, iOS 26, *)) much_later = 1;
    if (@available(iOS 26, macCatalyst 26, *)) unknown = 1;
    assert_true(old && same && !later && !much_later && unknown);
    assert_true(__builtin_available(macOS 13.3, *));
    assert_false(__builtin_available(macOS 15.1, *));
    assert_int_equal(available(4), 5);  // a function of that name stays one
}

static void vectors_have_the_layout_of_kernels(void **state) {
    assert_int_equal(sizeof(simd_float3), 16);
    assert_int_equal(sizeof(simd_half4), 8);
    assert_int_equal(sizeof(simd_float4x3), 64);
    assert_int_equal(sizeof(simd_half3x3), 24);
    assert_int_equal(_Alignof(simd_packed_float4), 4);
    static const char source[] = "#include <metal_stdlib>\nusing namespace metal;\n"
                                 "struct shared { float3 place; float3x3 turn; half4 small; };\n"
                                 "kernel void turn(device shared *s [[buffer(0)]]) {\n"
                                 "    s->place = s->turn * s->place; s->small *= 2;\n"
                                 "}\n";
    struct shared {
        simd_float3 place;
        simd_float3x3 turn;
        simd_half4 small;
    } given = {.place = simd_make_float3(1, 2, 3),
               .turn = simd_matrix(simd_make_float3(0, 1, 0), simd_make_float3(-1, 0, 0), simd_make_float3(0, 0, 2)),
               .small = simd_make_half4(1, 2, 3, 4)};
    id<MTLBuffer> buffer = [device newBufferWithBytes:&given length:sizeof given options:0];
    id<MTLComputePipelineState> pipeline = new_pipeline(source, "turn");
    run_one_thread(pipeline, buffer);
    const struct shared *made = buffer.contents;
    simd_float3 expected = simd_mul(given.turn, given.place);
    assert_true(expected.x == -2 && expected.y == 1 && expected.z == 6);
    assert_true(made->place.x == -2 && made->place.y == 1 && made->place.z == 6);
    assert_true(made->small.w == 8);
    [pipeline release];
    [buffer release];
}

static float most_apart(simd_float4x4 a, simd_float4x4 b) {
    float most = 0;
    for (int i = 0; i < 16; i++) most = fmaxf(most, fabsf(a.columns[i / 4][i % 4] - b.columns[i / 4][i % 4]));
    return most;
}

static void matrices_have_inverses_and_determinants(void **state) {
    simd_float4x4 a = simd_matrix((simd_float4){0, 2, 0, 1}, (simd_float4){3, 0, 1, 0}, (simd_float4){0, 0, 4, 0},
                                  (simd_float4){1, 2, 3, 4});
    assert_true(most_apart(simd_mul(a, simd_inverse(a)), matrix_identity_float4x4) < 1e-5f);
    assert_true(most_apart(simd_mul(simd_inverse(a), a), matrix_identity_float4x4) < 1e-5f);
    // By the first column: 0 * ... - 3 * det of the rest + ..., worked out by hand.
    assert_true(fabsf(simd_determinant(a) - -72) < 1e-3f);
    assert_true(simd_determinant(simd_matrix((simd_float2){1, 2}, (simd_float2){2, 4})) == 0);
    simd_float2x3 wide = simd_matrix(simd_make_float3(1, 2, 3), simd_make_float3(4, 5, 6));
    assert_true(simd_transpose(wide).columns[2].y == 6);
    assert_true(simd_mul(simd_make_float3(1, 1, 1), wide).y == 15);
    simd_float3 z = simd_cross(simd_make_float3(1, 0, 0), simd_make_float3(0, 1, 0));
    assert_true(z.x == 0 && z.y == 0 && z.z == 1);
    assert_true(simd_length(simd_make_float3(2, 3, 6)) == 7 && simd_dot(z, z) == 1);
    assert_true(simd_reduce_add(simd_make_int4(1, 2, 3, 4)) == 10 &&
                simd_max((simd_uint2){1, 7}, (simd_uint2){3, 2}).x == 3);
}

static void facts_about_the_machine_have_names(void **state) {
    uint64_t memory = 0, page = 0;
    int32_t count = 0;
    size_t size = sizeof memory;
    assert_int_equal(sysctlbyname("hw.memsize", &memory, &size, NULL, 0), 0);
    assert_int_equal(size, 8);
    assert_true(memory > 1 << 20);
    size = sizeof count;
    assert_int_equal(sysctlbyname("hw.ncpu", &count, &size, NULL, 0), 0);
    assert_int_equal(count, sysconf(_SC_NPROCESSORS_ONLN));
    size = sizeof page;
    assert_int_equal(sysctl((int[2]){CTL_HW, HW_PAGESIZE}, 2, &page, &size, NULL, 0), 0);
    assert_int_equal(page, vm_page_size);
    char brand[256];
    assert_int_equal(sysctlbyname("machdep.cpu.brand_string", NULL, &size, NULL, 0), 0);
    assert_int_equal(sysctlbyname("machdep.cpu.brand_string", brand, &size, NULL, 0), 0);
    assert_int_equal(strlen(brand) + 1, size);
    assert_int_equal(sysctlbyname("hw.nothing", brand, &size, NULL, 0), -1);
    size = 1;
    assert_int_equal(sysctlbyname("hw.memsize", &memory, &size, NULL, 0), -1);
}

static void locks_logs_and_clocks_work(void **state) {
    os_unfair_lock lock = OS_UNFAIR_LOCK_INIT;
    os_unfair_lock_lock(&lock);
    assert_false(os_unfair_lock_trylock(&lock));
    os_unfair_lock_unlock(&lock);
    assert_true(os_unfair_lock_trylock(&lock));
    os_unfair_lock_unlock(&lock);
    os_log_t log = os_log_create("org.ingot.tests", "compat");
    assert_false(os_log_type_enabled(log, OS_LOG_TYPE_DEBUG));
    assert_true(os_log_type_enabled(log, OS_LOG_TYPE_ERROR));
    os_log(log, "%d lines", 1);
    os_signpost_interval_begin(log, OS_SIGNPOST_ID_EXCLUSIVE, "interval");
    uint64_t before = mach_absolute_time();
    assert_true(mach_absolute_time() >= before);
}

static void programs_take_the_branches_of_macos(void **state) {
    assert_true(TARGET_OS_MAC && TARGET_OS_OSX && !TARGET_OS_IPHONE && TARGET_OS_LINUX);
}

static void memory_comes_in_pages(void **state) {
    char *pages = NULL;
    assert_int_equal(vm_allocate(mach_task_self(), (vm_address_t *)&pages, 3 * vm_page_size, VM_FLAGS_ANYWHERE),
                     KERN_SUCCESS);
    assert_int_equal((uintptr_t)pages % vm_page_size, 0);
    for (size_t i = 0; i < 3 * vm_page_size; i++) assert_int_equal(pages[i], 0);
    // A little past the end can be read, as by a GPU.
    for (size_t i = 0; i < (32 << 10); i++) assert_int_equal(pages[3 * vm_page_size + i], 0);
    char *behind = pages + 3 * vm_page_size;
    assert_int_equal(vm_deallocate(mach_task_self(), (vm_address_t)pages, 3 * vm_page_size), KERN_SUCCESS);
    assert_int_equal(msync(behind, vm_page_size, MS_ASYNC), -1);  // nothing is left
    // Page by page, from both ends.
    assert_int_equal(vm_allocate(mach_task_self(), (vm_address_t *)&pages, 3 * vm_page_size - 5, VM_FLAGS_ANYWHERE),
                     KERN_SUCCESS);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            vm_deallocate(mach_task_self(), (vm_address_t)pages + (i + 1) % 3 * vm_page_size, vm_page_size - 1),
            KERN_SUCCESS);
    assert_int_equal(vm_allocate(mach_task_self(), (vm_address_t *)&pages, vm_page_size, 0), KERN_INVALID_ARGUMENT);
    assert_int_equal(vm_allocate(mach_task_self(), (vm_address_t *)&pages, SIZE_MAX / 2, VM_FLAGS_ANYWHERE),
                     KERN_NO_SPACE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(programs_take_the_branches_of_macos),
        compat_test(memory_comes_in_pages),
        compat_test(availability_is_that_of_one_version),
        compat_test(vectors_have_the_layout_of_kernels),
        compat_test(matrices_have_inverses_and_determinants),
        compat_test(facts_about_the_machine_have_names),
        compat_test(locks_logs_and_clocks_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
