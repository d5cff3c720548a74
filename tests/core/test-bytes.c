// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as bytes: what was written is read back, and damaged bytes are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/bytes.h"

static void write_all(igi_text *bytes) {
    igi_put_u32(bytes, 7);
    igi_put_u64(bytes, UINT64_MAX - 1);
    igi_put_string(bytes, "hello");
    igi_put_block(bytes, "\0\1\2", 3);
}

static bool read_all(igi_reader *reader) {
    size_t length;
    bool same = igi_get_u32(reader) == 7 && igi_get_u64(reader) == UINT64_MAX - 1;
    char *string = igi_get_string(reader);
    same = same && string && strcmp(string, "hello") == 0;
    free(string);
    const char *block = igi_get_block(reader, &length);
    return same && block && length == 3 && memcmp(block, "\0\1\2", 3) == 0;
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    igi_text bytes = {0};
    write_all(&bytes);
    igi_reader reader = igi_read_from(bytes.data, bytes.length);
    assert_true(read_all(&reader));
    assert_false(reader.failed);
    assert_int_equal(igi_bytes_left(&reader), 0);
    igi_text_free(&bytes);
}

static void bytes_cut_short_are_refused(void **state) {
    (void)state;
    igi_text bytes = {0};
    write_all(&bytes);
    for (size_t length = 0; length < bytes.length; length++) {
        igi_reader reader = igi_read_from(bytes.data, length);
        assert_false(read_all(&reader));
        assert_true(reader.failed);
    }
    igi_text_free(&bytes);
}

static void a_count_that_cannot_be_true_is_refused(void **state) {
    (void)state;
    igi_text bytes = {0};
    igi_put_u32(&bytes, 3);
    igi_put_u64(&bytes, 0);
    igi_put_u32(&bytes, 0);
    igi_reader reader = igi_read_from(bytes.data, bytes.length);
    assert_int_equal(igi_get_count(&reader, 4), 3);
    reader = igi_read_from(bytes.data, bytes.length);
    assert_int_equal(igi_get_count(&reader, 5), 0);
    assert_true(reader.failed);
    igi_text_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(bytes_cut_short_are_refused),
        cmocka_unit_test(a_count_that_cannot_be_true_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
