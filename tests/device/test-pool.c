// SPDX-License-Identifier: Apache-2.0
// The pool of buffers: returned memory is reused, waste is bounded, counters add up, and it is thread-safe.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/buffer-pool.h"
#include "helpers.h"

static ig_buffer *take(uint64_t length) {
    ig_buffer *buffer = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = length, .pooled = true}, &buffer));
    return buffer;
}

static ig_pool_stats stats(void) {
    ig_pool_stats now;
    ig_device_get_pool_stats(device, &now);
    assert_int_equal(now.total_bytes, now.used_bytes + now.idle_bytes);
    assert_true(now.peak_bytes >= now.total_bytes);
    return now;
}

static void blocks_are_powers_of_two(void **state) {
    (void)state;
    const uint64_t most = 1ull << 40;
    assert_int_equal(igi_device_block_bytes(0, most), 64);
    assert_int_equal(igi_device_block_bytes(1, most), 64);
    assert_int_equal(igi_device_block_bytes(64, most), 64);
    assert_int_equal(igi_device_block_bytes(65, most), 128);
    assert_int_equal(igi_device_block_bytes(4096, most), 4096);
    assert_int_equal(igi_device_block_bytes((1 << 20) + 1, most), 2 << 20);
    assert_int_equal(igi_device_block_bytes(most - 1, most - 1), most - 1);
    assert_int_equal(igi_device_block_bytes(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void a_released_block_serves_the_next_request_of_its_size(void **state) {
    (void)state;
    ig_device_trim_pool(device, 0);
    ig_pool_stats before = stats();
    ig_buffer *first = take(5000);
    assert_int_equal(ig_buffer_length(first), 5000);
    void *memory = ig_buffer_contents(first);
    uint64_t id = ig_buffer_id(first);
    ig_buffer_release(first);
    assert_int_equal(stats().idle_bytes, 8192);
    ig_buffer *second = take(8000);
    assert_ptr_equal(ig_buffer_contents(second), memory);
    assert_int_equal(ig_buffer_length(second), 8000);
    assert_int_not_equal(ig_buffer_id(second), id);
    ig_pool_stats after = stats();
    assert_int_equal(after.hits, before.hits + 1);
    assert_int_equal(after.misses, before.misses + 1);
    assert_int_equal(after.used_bytes, before.used_bytes + 8192);
    ig_buffer_release(second);
}

static void a_larger_block_serves_only_when_little_is_wasted(void **state) {
    (void)state;
    ig_device_trim_pool(device, 0);
    ig_buffer_release(take(1 << 20));
    uint64_t hits = stats().hits;
    ig_buffer *half = take(300 << 10);
    assert_int_equal(stats().hits, hits + 1);
    ig_buffer_release(half);
    ig_buffer *quarter = take(200 << 10);
    assert_int_equal(stats().hits, hits + 1);
    ig_buffer_release(quarter);
}

static void bytes_are_copied_in_and_labels_start_afresh(void **state) {
    (void)state;
    ig_buffer *buffer = NULL;
    ig_buffer_desc desc = {.length = 6, .pooled = true, .bytes = "ingot", .label = "name"};
    assert_ok(ig_buffer_create(device, &desc, &buffer));
    assert_string_equal(ig_buffer_contents(buffer), "ingot");
    assert_string_equal(ig_buffer_label(buffer), "name");
    ig_buffer_release(buffer);
    buffer = take(6);
    assert_string_equal(ig_buffer_label(buffer), "");
    ig_buffer_release(buffer);
}

static void only_shared_memory_is_pooled(void **state) {
    (void)state;
    ig_buffer *buffer = NULL;
    char memory[64];
    ig_buffer_desc private_memory = {.length = 64, .pooled = true, .storage = IG_STORAGE_PRIVATE};
    ig_buffer_desc borrowed = {.length = 64, .pooled = true, .no_copy = memory};
    assert_status(ig_buffer_create(device, &private_memory, &buffer), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_buffer_create(device, &borrowed, &buffer), IG_STATUS_INVALID_ARGUMENT);
}

static void trimming_gives_the_largest_back_first(void **state) {
    (void)state;
    ig_device_trim_pool(device, 0);
    assert_int_equal(stats().idle_bytes, 0);
    ig_buffer *small = take(1000), *large = take(3 << 20);
    ig_buffer_release(small), ig_buffer_release(large);
    assert_int_equal(stats().idle_count, 2);
    ig_device_trim_pool(device, 1 << 20);
    assert_int_equal(stats().idle_bytes, 1024);
    ig_device_trim_pool(device, 0);
    ig_pool_stats after = stats();
    assert_int_equal(after.total_bytes, after.used_bytes);
}

static void tens_of_thousands_of_small_blocks_can_be_alive(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    ig_buffer **buffers = calloc(COUNT, sizeof *buffers);
    assert_non_null(buffers);
    for (uint32_t i = 0; i < COUNT; i++) {
        buffers[i] = take(sizeof i);
        memcpy(ig_buffer_contents(buffers[i]), &i, sizeof i);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_memory_equal(ig_buffer_contents(buffers[i]), &i, sizeof i);
        ig_buffer_release(buffers[i]);
    }
    free(buffers);
    ig_device_trim_pool(device, 0);
}

static void a_device_lives_until_its_last_pooled_buffer(void **state) {
    (void)state;
    ig_device *other = open_device(&(ig_device_desc){.cache_dir = ""});
    ig_buffer *a = NULL, *b = NULL;
    assert_ok(ig_buffer_create(other, &(ig_buffer_desc){.length = 10, .pooled = true}, &a));
    assert_ok(ig_buffer_create(other, &(ig_buffer_desc){.length = 1 << 20, .pooled = true}, &b));
    ig_buffer_release(a);
    ig_device_release(other);
    memset(ig_buffer_contents(b), 1, 1 << 20);
    ig_buffer_release(b);
}

static void *churn(void *argument) {
    uint32_t seed = *(const uint32_t *)argument;
    ig_buffer *held[16] = {0};
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        ig_buffer **slot = &held[seed >> 28];
        uint64_t length = 1 + (seed >> 8) % 100000;
        ig_buffer_release(*slot);
        *slot = NULL;
        ig_buffer_create(device, &(ig_buffer_desc){.length = length, .pooled = true}, slot);
        if (*slot) memset(ig_buffer_contents(*slot), (int)seed, length < 64 ? length : 64);
        if (i % 1000 == 0) ig_device_trim_pool(device, 1 << 20);
    }
    for (int i = 0; i < 16; i++) ig_buffer_release(held[i]);
    return NULL;
}

static void threads_share_the_pool(void **state) {
    (void)state;
    pthread_t threads[4];
    uint32_t seeds[4] = {1, 2, 3, 4};
    uint64_t used = stats().used_bytes;
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, &seeds[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(stats().used_bytes, used);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_powers_of_two),
        cmocka_unit_test(a_released_block_serves_the_next_request_of_its_size),
        cmocka_unit_test(a_larger_block_serves_only_when_little_is_wasted),
        cmocka_unit_test(bytes_are_copied_in_and_labels_start_afresh),
        cmocka_unit_test(only_shared_memory_is_pooled),
        cmocka_unit_test(trimming_gives_the_largest_back_first),
        cmocka_unit_test(tens_of_thousands_of_small_blocks_can_be_alive),
        cmocka_unit_test(a_device_lives_until_its_last_pooled_buffer),
        cmocka_unit_test(threads_share_the_pool),
    };
    return cmocka_run_group_tests_name("pool", tests, open_test_device, close_test_device);
}
