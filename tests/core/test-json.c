// SPDX-License-Identifier: Apache-2.0
// The JSON writer: structure, escaping, numbers, failures.
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>
#include <float.h>

#include "core/json.h"

static void expect(igi_json *json, const char *text) {
    char *written = igi_json_take_text(json);
    assert_non_null(written);
    assert_string_equal(written, text);
    free(written);
}

static void commas_and_colons_place_themselves(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_begin_object(&json);
    igi_json_put_string(&json, "name", "saxpy");
    igi_json_key(&json, "shape");
    igi_json_begin_array(&json);
    igi_json_u64(&json, 3);
    igi_json_u64(&json, 4);
    igi_json_begin_array(&json);
    igi_json_end_array(&json);
    igi_json_end_array(&json);
    igi_json_put_bool(&json, "ok", true);
    igi_json_key(&json, "none");
    igi_json_null(&json);
    igi_json_key(&json, "empty");
    igi_json_begin_object(&json);
    igi_json_end_object(&json);
    igi_json_end_object(&json);
    expect(&json, "{\"name\":\"saxpy\",\"shape\":[3,4,[]],\"ok\":true,\"none\":null,\"empty\":{}}");
}

static void rows_are_one_object_per_line(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    for (uint64_t i = 0; i < 2; i++) {
        igi_json_begin_object(&json);
        igi_json_put_u64(&json, "row", i);
        igi_json_end_object(&json);
        assert_true(igi_json_end_row(&json));
    }
    expect(&json, "{\"row\":0}\n{\"row\":1}\n");
}

static void quote(const char *text, size_t length, const char *expected) {
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_string_n(&json, text, length);
    expect(&json, expected);
}

static void strings_are_escaped(void **state) {
    (void)state;
    quote("a\"b\\c\n\t\r\b\f/", 11, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f/\"");
    quote("\x01\x1f\x7f\0", 4, "\"\\u0001\\u001f\\u007f\\u0000\"");
    quote("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 15,
          "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
    quote("", 0, "\"\"");
}

static void invalid_utf8_is_replaced(void **state) {
    (void)state;
#define BAD "\xef\xbf\xbd"
    quote(
        "a\xff"
        "b",
        3, "\"a" BAD "b\"");
    quote("\xc0\x80", 2, "\"" BAD BAD "\"");                  // overlong NUL
    quote("\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"");          // a surrogate
    quote("\xe0\x80\x80", 3, "\"" BAD BAD BAD "\"");          // an overlong NUL
    quote("\xf0\x80\x80\x80", 4, "\"" BAD BAD BAD BAD "\"");  // and a longer one
    quote("\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"");  // past U+10FFFF
    quote("\xe2\x82", 2, "\"" BAD BAD "\"");                  // cut off
    quote("\xe2(\xa1", 3, "\"" BAD "(" BAD "\"");
}

static void number(double value, const char *expected) {
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_double(&json, value);
    expect(&json, expected);
}

static void doubles_are_the_shortest_that_round_trip(void **state) {
    (void)state;
    number(0, "0");
    number(-0.0, "-0");
    number(0.1, "0.1");
    number(10, "10");
    number(-2e6, "-2000000");
    number(1e15, "1e+15");
    number(1.0 / 3.0, "0.3333333333333333");
    number(1e300, "1e+300");
    number(DBL_TRUE_MIN, "5e-324");
    number(DBL_MAX, "1.7976931348623157e+308");
    number(123456789, "123456789");
    number(NAN, "null");
    number(INFINITY, "null");
    number(-INFINITY, "null");
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_float(&json, 0.1f);
    expect(&json, "0.1");
}

static void integers_keep_all_64_bits(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_begin_array(&json);
    igi_json_u64(&json, UINT64_MAX);
    igi_json_i64(&json, INT64_MIN);
    igi_json_end_array(&json);
    expect(&json, "[18446744073709551615,-9223372036854775808]");
}

static void a_null_string_is_null(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_string(&json, NULL);
    expect(&json, "null");
}

static void nesting_too_deep_fails_cleanly(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    for (int i = 0; i < 1000; i++) igi_json_begin_array(&json);
    assert_true(json.failed);
    assert_null(igi_json_take_text(&json));
}

static void unbalanced_rows_are_reported(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_begin_object(&json);
    assert_false(igi_json_end_row(&json));
    igi_json_free(&json);
    igi_json_to_memory(&json);
    igi_json_end_object(&json);
    assert_false(igi_json_end_row(&json));
    igi_json_free(&json);
}

static void memory_failure_is_sticky(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_alloc_fail_at(1);
    igi_json_string(&json, "text");
    igi_alloc_fail_at(0);
    igi_json_string(&json, "more");
    assert_false(igi_json_end_row(&json));
    assert_null(igi_json_take_text(&json));
}

static void a_full_disk_is_reported(void **state) {
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    setvbuf(full, NULL, _IONBF, 0);
    igi_json json;
    igi_json_to_file(&json, full);
    igi_json_string(&json, "text");
    assert_false(igi_json_end_row(&json));
    fclose(full);
}

static void a_decimal_comma_locale_changes_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < 3 && !set; i++) set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!set) skip();
    number(0.5, "0.5");
    setlocale(LC_NUMERIC, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_colons_place_themselves),
        cmocka_unit_test(rows_are_one_object_per_line),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(doubles_are_the_shortest_that_round_trip),
        cmocka_unit_test(integers_keep_all_64_bits),
        cmocka_unit_test(a_null_string_is_null),
        cmocka_unit_test(nesting_too_deep_fails_cleanly),
        cmocka_unit_test(unbalanced_rows_are_reported),
        cmocka_unit_test(memory_failure_is_sticky),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(a_decimal_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
