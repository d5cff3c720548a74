// SPDX-License-Identifier: Apache-2.0
// Hashes are the same in every process and on every machine, and adjacent parts stay distinct.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/hash.h"

static void expect_hex(igi_hash hash, const char *hex) {
    char text[33];
    igi_hash_hex(hash, text);
    assert_string_equal(text, hex);
}

static void known_texts_have_known_hashes(void **state) {
    (void)state;
    // XXH3, 128 bits, as the reference implementation gives them.
    expect_hex(igi_hash_bytes("", 0), "99aa06d3014798d86001c324468d497f");
    expect_hex(igi_hash_bytes("abc", 3), "06b05ab6733a618578af5f94892f3950");
    expect_hex((igi_hash){0}, "00000000000000000000000000000000");
    expect_hex((igi_hash){.low = 0xf, .high = 1ull << 60}, "1000000000000000000000000000000f");
}

static igi_hash hash_strings(const char *a, const char *b) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, a);
    igi_hasher_add_string(hasher, b);
    return igi_hasher_finish(hasher);
}

static void parts_do_not_run_into_each_other(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"ab", "c"},   {"a", "bc"},  {"abc", ""}, {"", "abc"}, {"abc", NULL},
                                           {NULL, "abc"}, {NULL, NULL}, {"", ""},    {"", NULL}};
    enum { COUNT = sizeof pairs / sizeof *pairs };
    igi_hash hashes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        hashes[i] = hash_strings(pairs[i][0], pairs[i][1]);
        assert_true(igi_hash_valid(hashes[i]));
        assert_true(igi_hash_equal(hashes[i], hash_strings(pairs[i][0], pairs[i][1])));
        for (int k = 0; k < i; k++) assert_false(igi_hash_equal(hashes[i], hashes[k]));
    }
}

static void numbers_and_bytes_count(void **state) {
    (void)state;
    igi_hasher *a = igi_hasher_create(), *b = igi_hasher_create();
    igi_hasher_add_u64(a, 1), igi_hasher_add(a, "x", 1);
    igi_hasher_add(b, "x", 1), igi_hasher_add_u64(b, 1);
    assert_false(igi_hash_equal(igi_hasher_finish(a), igi_hasher_finish(b)));
    a = igi_hasher_create(), b = igi_hasher_create();
    igi_hasher_add(a, NULL, 0);
    igi_hasher_add_u64(b, 0);  // a length of nothing
    assert_true(igi_hash_equal(igi_hasher_finish(a), igi_hasher_finish(b)));
}

// One part that looks like two with a length between them.
static void a_part_cannot_imitate_two(void **state) {
    (void)state;
    igi_hasher *one = igi_hasher_create(), *two = igi_hasher_create();
    igi_hasher_add(one, "x\0\0\0\0\0\0\0\0y", 10);
    igi_hasher_add(two, "x", 1), igi_hasher_add(two, "y", 1);
    assert_false(igi_hash_equal(igi_hasher_finish(one), igi_hasher_finish(two)));
}

static void every_bit_of_a_long_text_counts(void **state) {
    (void)state;
    unsigned char *text = calloc(1, 5000);
    igi_hash plain = igi_hash_bytes(text, 5000);
    for (size_t i = 0; i < 5000; i += 13) {
        text[i] ^= (unsigned char)(1u << i % 8);
        assert_false(igi_hash_equal(plain, igi_hash_bytes(text, 5000)));
        text[i] = 0;
    }
    assert_false(igi_hash_equal(plain, igi_hash_bytes(text, 4999)));
    free(text);
}

static void a_hasher_that_could_not_be_made_gives_no_hash(void **state) {
    (void)state;
    igi_hasher_add(NULL, "x", 1);
    igi_hasher_add_string(NULL, "x");
    igi_hasher_add_u64(NULL, 1);
    assert_false(igi_hash_valid(igi_hasher_finish(NULL)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_known_hashes),
        cmocka_unit_test(parts_do_not_run_into_each_other),
        cmocka_unit_test(numbers_and_bytes_count),
        cmocka_unit_test(a_part_cannot_imitate_two),
        cmocka_unit_test(every_bit_of_a_long_text_counts),
        cmocka_unit_test(a_hasher_that_could_not_be_made_gives_no_hash),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
