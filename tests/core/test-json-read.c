// SPDX-License-Identifier: Apache-2.0
// The JSON reader: values, escapes, and what it refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "core/json-read.h"
#include "core/memory.h"

static igi_json_document parse(const char *text) {
    igi_json_document document;
    ig_error error = {0};
    ig_status status = igi_json_parse("test", text, strlen(text), &document, &error);
    if (status != IG_STATUS_OK) fail_msg("%s: %s", text, error.message);
    return document;
}

static void values_are_found_by_key_and_type(void **state) {
    (void)state;
    igi_json_document d = parse(" {\"a\": 18446744073709551615, \"b\": [true, null, -1.5e3], \"c\": {\"d\": \"x\"}} ");
    uint64_t number;
    bool boolean = false;
    assert_true(igi_json_get_u64(igi_json_member(d.root, "a"), &number) && number == UINT64_MAX);
    const igi_json_value *b = igi_json_member(d.root, "b");
    assert_int_equal(b->count, 3);
    assert_true(igi_json_get_bool(b->first, &boolean) && boolean);
    assert_int_equal(b->first->next->kind, IGI_JSON_NULL);
    assert_string_equal(b->first->next->next->text, "-1.5e3");
    assert_string_equal(igi_json_get_string(igi_json_member(igi_json_member(d.root, "c"), "d")), "x");
    assert_null(igi_json_member(d.root, "missing"));
    assert_null(igi_json_member(NULL, "a"));
    assert_null(igi_json_get_string(b));
    igi_json_document_free(&d);
}

static void numbers_must_be_whole_and_fit(void **state) {
    (void)state;
    static const char *const texts[] = {"-1", "1.0", "1e3", "18446744073709551616", "\"1\"", "true"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        igi_json_document d = parse(texts[i]);
        uint64_t number = 7;
        assert_false(igi_json_get_u64(d.root, &number));
        assert_int_equal(number, 7);
        igi_json_document_free(&d);
    }
}

static void escapes_become_utf8(void **state) {
    (void)state;
    igi_json_document d = parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\"");
    assert_string_equal(d.root->text, "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    igi_json_document_free(&d);
}

static void what_is_not_json_is_refused_with_its_place(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",          "{",        "[1,]",      "{\"a\":1,}",  "{a:1}",       "01",       "1.",    "1e",
        "-",         "\"\\x\"",  "\"\\u12\"", "\"\\ud800\"", "\"\\u0000\"", "\"a\nb\"", "nul",   "[1 2]",
        "{\"a\" 1}", "\"\xff\"", "[1] 2",     "'a'",         "+1",          "\"abc",    "\"a\\", "NaN",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        igi_json_document d = {0};
        ig_error error = {0};
        if (igi_json_parse("test", texts[i], strlen(texts[i]), &d, &error) != IG_STATUS_BAD_FORMAT)
            fail_msg("'%s' was read", texts[i]);
        assert_null(d.root);
        assert_memory_equal(error.message, "test:", 5);
        ig_error_clear(&error);
    }
}

static void depth_is_bounded(void **state) {
    (void)state;
    char deep[200000];
    memset(deep, '[', sizeof deep);
    igi_json_document d;
    assert_int_equal(igi_json_parse("test", deep, sizeof deep, &d, NULL), IG_STATUS_BAD_FORMAT);
}

static void a_lack_of_memory_is_reported(void **state) {
    (void)state;
    igi_json_document d;
    igi_alloc_fail_at(1);
    ig_status status = igi_json_parse("test", "[1]", 3, &d, NULL);
    igi_alloc_fail_at(0);
    assert_int_equal(status, IG_STATUS_OUT_OF_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_key_and_type),
        cmocka_unit_test(numbers_must_be_whole_and_fit),
        cmocka_unit_test(escapes_become_utf8),
        cmocka_unit_test(what_is_not_json_is_refused_with_its_place),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
