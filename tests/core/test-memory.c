// SPDX-License-Identifier: Apache-2.0
// Allocation with failures on demand, reference counts, checked sizes, growing text and arrays.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/memory.h"

// Sanitizers end the process at impossible sizes, unless told not to.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

// ---- Allocation ----

static void zero_sizes_give_valid_pointers(void **state) {
    (void)state;
    void *pieces[] = {igi_alloc(0), igi_calloc(0, 8), igi_calloc(8, 0), igi_realloc(NULL, 0), igi_aligned_alloc(64, 0)};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        assert_non_null(pieces[i]);
        free(pieces[i]);
    }
}

static void aligned_memory_is_aligned(void **state) {
    (void)state;
    for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
        void *piece = igi_aligned_alloc(alignment, 100);
        assert_int_equal((uintptr_t)piece % alignment, 0);
        free(piece);
    }
}

static void sizes_that_cannot_be_are_refused(void **state) {
    (void)state;
    assert_null(igi_alloc(SIZE_MAX / 2 + 1));
    assert_null(igi_calloc(SIZE_MAX / 2, 4));
    assert_null(igi_aligned_alloc(64, SIZE_MAX / 2 + 1));
}

static void the_chosen_allocation_and_all_after_it_fail(void **state) {
    (void)state;
    igi_alloc_fail_at(3);
    void *first = igi_alloc(1), *second = igi_calloc(1, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(igi_alloc(1));
    assert_null(igi_realloc(NULL, 1));
    assert_null(igi_aligned_alloc(64, 1));
    assert_null(igi_strdup("x"));
    assert_null(igi_format("%d", 1));
    assert_int_equal(igi_alloc_fail_at(0), 7);
    void *third = igi_alloc(1);
    assert_non_null(third);
    assert_int_equal(igi_alloc_fail_at(0), 1);
    free(first), free(second), free(third);
}

static void a_refused_realloc_keeps_the_old_memory(void **state) {
    (void)state;
    char *memory = igi_alloc(4);
    memcpy(memory, "abc", 4);
    igi_alloc_fail_at(1);
    assert_null(igi_realloc(memory, 1000));
    igi_alloc_fail_at(0);
    assert_string_equal(memory, "abc");
    free(memory);
}

static void strings_are_copied(void **state) {
    (void)state;
    char *copy = igi_strdup("word"), *part = igi_strndup("word", 2), *none = igi_strndup("word", 0);
    assert_string_equal(copy, "word");
    assert_string_equal(part, "wo");
    assert_string_equal(none, "");
    assert_null(igi_strdup(NULL));
    free(copy), free(part), free(none);
    char *long_one = igi_format("%s-%05d-%1000s|", "a", 42, "b");
    assert_int_equal(strlen(long_one), 1 + 1 + 5 + 1 + 1000 + 1);
    free(long_one);
}

// ---- Sizes and counts ----

static void products_and_sums_are_checked(void **state) {
    (void)state;
    uint64_t result = 7;
    assert_true(igi_mul(1ull << 32, (1ull << 32) - 1, &result));
    assert_true(result == (1ull << 32) * ((1ull << 32) - 1));
    assert_false(igi_mul(1ull << 32, 1ull << 32, &result));
    assert_true(igi_mul(UINT64_MAX, 0, &result) && result == 0);
    assert_true(igi_add(UINT64_MAX, 0, &result) && result == UINT64_MAX);
    assert_false(igi_add(UINT64_MAX, 1, &result));
}

static void rounding_and_ranges(void **state) {
    (void)state;
    assert_int_equal(igi_round_up(0, 64), 0);
    assert_int_equal(igi_round_up(1, 64), 64);
    assert_int_equal(igi_round_up(64, 64), 64);
    assert_int_equal(igi_round_up(65, 64), 128);
    assert_true(igi_in_range(0, 10, 10));
    assert_true(igi_in_range(10, 0, 10));
    assert_false(igi_in_range(11, 0, 10));
    assert_false(igi_in_range(1, 10, 10));
    assert_false(igi_in_range(UINT64_MAX, 2, 10));
    assert_false(igi_in_range(2, UINT64_MAX, 10));
}

static void only_the_last_reference_says_so(void **state) {
    (void)state;
    igi_refcount references;
    igi_ref_init(&references);
    igi_ref_take(&references), igi_ref_take(&references);
    assert_false(igi_ref_drop(&references));
    assert_false(igi_ref_drop(&references));
    assert_true(igi_ref_drop(&references));
}

// ---- Growing ----

static void text_grows_and_is_handed_over(void **state) {
    (void)state;
    igi_text text = {0};
    for (int i = 0; i < 1000; i++) igi_text_addf(&text, "%d,", i);
    igi_text_append(&text, "\0x", 2);
    igi_text_add(&text, "end");
    size_t length = text.length;
    char *string = igi_text_take(&text);
    assert_int_equal(length, 10 * 2 + 90 * 3 + 900 * 4 + 2 + 3);
    assert_memory_equal(string, "0,1,2,", 6);
    assert_memory_equal(string + length - 5, "\0xend", 6);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
    free(string);
}

static void untouched_text_is_empty(void **state) {
    (void)state;
    igi_text text = {0};
    char *string = igi_text_take(&text);
    assert_string_equal(string, "");
    free(string);
    igi_text_free(&text);
}

static void text_short_of_memory_fails_once_and_for_all(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 12; n++) {
        igi_text text = {0};
        igi_alloc_fail_at(n);
        for (int i = 0; i < 100; i++) igi_text_addf(&text, "piece %d ", i);
        igi_alloc_fail_at(0);
        assert_true(text.failed);
        igi_text_add(&text, "more");
        assert_null(igi_text_take(&text));
        assert_false(text.failed);
        assert_null(text.data);
    }
}

static void arrays_grow_by_doubling(void **state) {
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0, reallocations = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        assert_true(igi_grow((void **)&items, &capacity, i + 1, sizeof *items));
        assert_true(capacity > i);
        reallocations += capacity != before;
        items[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(items[i], i);
    assert_true(reallocations < 15);
    free(items);
}

static void arrays_that_cannot_grow_stay_as_they_are(void **state) {
    (void)state;
    char *items = NULL;
    size_t capacity = 0;
    assert_true(igi_grow((void **)&items, &capacity, 10, 1));
    char *kept = items;
    size_t kept_capacity = capacity;
    assert_false(igi_grow((void **)&items, &capacity, SIZE_MAX, 1));
    assert_false(igi_grow((void **)&items, &capacity, SIZE_MAX / 2, 16));
    igi_alloc_fail_at(1);
    assert_false(igi_grow((void **)&items, &capacity, 1000, 1));
    igi_alloc_fail_at(0);
    assert_ptr_equal(items, kept);
    assert_int_equal(capacity, kept_capacity);
    free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_sizes_give_valid_pointers),
        cmocka_unit_test(aligned_memory_is_aligned),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(the_chosen_allocation_and_all_after_it_fail),
        cmocka_unit_test(a_refused_realloc_keeps_the_old_memory),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(products_and_sums_are_checked),
        cmocka_unit_test(rounding_and_ranges),
        cmocka_unit_test(only_the_last_reference_says_so),
        cmocka_unit_test(text_grows_and_is_handed_over),
        cmocka_unit_test(untouched_text_is_empty),
        cmocka_unit_test(text_short_of_memory_fails_once_and_for_all),
        cmocka_unit_test(arrays_grow_by_doubling),
        cmocka_unit_test(arrays_that_cannot_grow_stay_as_they_are),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
