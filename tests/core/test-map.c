// SPDX-License-Identifier: Apache-2.0
// Pointer maps against a plain array.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/memory.h"
#include "core/pointer-map.h"

static void an_empty_map_has_nothing(void **state) {
    (void)state;
    igi_pointer_map map = {0};
    uint32_t value = 7;
    assert_false(igi_map_get(&map, &map, &value));
    assert_int_equal(value, 7);
    igi_map_free(&map);
    igi_map_free(&map);
}

static void values_come_back_and_can_be_changed(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    igi_pointer_map map = {0};
    // Adjacent addresses, as allocators return them: these must not cluster.
    char(*things)[16] = malloc((COUNT + 1) * sizeof *things);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) assert_true(igi_map_set(&map, things[i], i * 3 + round));
        assert_int_equal(map.count, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t value;
            assert_true(igi_map_get(&map, things[i], &value));
            assert_int_equal(value, i * 3 + round);
        }
    }
    uint32_t value;
    assert_false(igi_map_get(&map, things[COUNT], &value));
    assert_false(igi_map_get(&map, (char *)things + 1, &value));
    igi_map_free(&map);
    free(things);
}

static void keys_that_differ_in_high_bits_only_are_told_apart(void **state) {
    (void)state;
    igi_pointer_map map = {0};
    for (uint64_t i = 1; i <= 1000; i++) assert_true(igi_map_set(&map, (void *)(uintptr_t)(i << 44), (uint32_t)i));
    for (uint64_t i = 1; i <= 1000; i++) {
        uint32_t value;
        assert_true(igi_map_get(&map, (void *)(uintptr_t)(i << 44), &value));
        assert_int_equal(value, i);
    }
    igi_map_free(&map);
}

static void a_map_short_of_memory_keeps_what_it_has(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 6; n++) {
        igi_pointer_map map = {0};
        char things[1000];
        uint32_t stored = 0;
        igi_alloc_fail_at(n);
        while (stored < 1000 && igi_map_set(&map, &things[stored], stored)) stored++;
        igi_alloc_fail_at(0);
        for (uint32_t i = 0; i < stored; i++) {
            uint32_t value;
            assert_true(igi_map_get(&map, &things[i], &value));
            assert_int_equal(value, i);
        }
        assert_true(igi_map_set(&map, &things[999], 1));
        igi_map_free(&map);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(values_come_back_and_can_be_changed),
        cmocka_unit_test(keys_that_differ_in_high_bits_only_are_told_apart),
        cmocka_unit_test(a_map_short_of_memory_keeps_what_it_has),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
