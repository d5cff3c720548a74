// SPDX-License-Identifier: Apache-2.0
// Text from outside: what a terminal would interpret is shown as an escape.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "core/json.h"
#include "core/visible.h"

static void expect(const char *bytes, size_t length, const char *shown) {
    igi_text text = {0};
    igi_text_add_visible(&text, bytes, length);
    assert_string_equal(text.data ? text.data : "", shown);
    assert_int_equal(igi_is_visible(bytes, length), text.length == length && memcmp(text.data, bytes, length) == 0);
    igi_text_free(&text);
}
#define EXPECT(bytes, shown) expect(bytes, sizeof bytes - 1, shown)

static void plain_text_stays(void **state) {
    (void)state;
    EXPECT("a b\tc", "a b\tc");
    EXPECT("h\xc3\xa9llo \xe2\x9c\x93 \xf0\x9f\x98\x80", "h\xc3\xa9llo \xe2\x9c\x93 \xf0\x9f\x98\x80");
}

static void control_characters_become_escapes(void **state) {
    (void)state;
    EXPECT("\033[31mred", "\\x1b[31mred");
    EXPECT("a\rb\nc\0d\x7f", "a\\x0db\\x0ac\\x00d\\x7f");
    EXPECT(
        "\xc2\x9b"
        "31m",
        "\\xc2\\x9b31m");  // CSI as one character
}

static void bytes_that_are_not_utf8_become_escapes(void **state) {
    (void)state;
    EXPECT("\xff\xfe", "\\xff\\xfe");
    EXPECT("\xc3", "\\xc3");
    EXPECT("\xc0\xaf", "\\xc0\\xaf");
    EXPECT("\xed\xa0\x80", "\\xed\\xa0\\x80");
}

static void columns_are_those_shown(void **state) {
    (void)state;
    assert_int_equal(igi_visible_columns("a\tb", 3), 3);
    assert_int_equal(igi_visible_columns("h\xc3\xa9", 3), 2);
    assert_int_equal(igi_visible_columns("\033x\xff", 3), 9);
}

static void json_escapes_them_too(void **state) {
    (void)state;
    igi_json json;
    igi_json_to_memory(&json);
    igi_json_string(&json, "\033\x7f\xc2\x9b\xc3\xa9");
    char *text = igi_json_take_text(&json);
    assert_string_equal(text, "\"\\u001b\\u007f\\u009b\xc3\xa9\"");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(control_characters_become_escapes),
        cmocka_unit_test(bytes_that_are_not_utf8_become_escapes),
        cmocka_unit_test(columns_are_those_shown),
        cmocka_unit_test(json_escapes_them_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
