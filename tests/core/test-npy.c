// SPDX-License-Identifier: Apache-2.0
// .npy files: what is read back is what was written; hostile files give errors and leak nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/npy.h"

static char *directory;
static char path[4096];

static int make_directory(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    if (!directory) return -1;
    snprintf(path, sizeof path, "%s/array.npy", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

static void write_file(const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

// A file of this format version with this header text and `data_bytes` bytes 0, 1, 2, ...
static void write_npy(unsigned char major, const char *header, size_t data_bytes) {
    unsigned char file[4096] = "\x93NUMPY";
    size_t length = strlen(header), used = 8;
    file[6] = major;
    for (int i = 0; i < (major == 1 ? 2 : 4); i++) file[used++] = (unsigned char)(length >> (8 * i));
    memcpy(file + used, header, length);
    used += length;
    for (size_t i = 0; i < data_bytes; i++) file[used++] = (unsigned char)i;
    write_file(file, used);
}

static void expect_failure(ig_status status, const char *fragment) {
    igi_npy array = {.rank = 77};
    ig_error error = {0};
    assert_string_equal(ig_status_name(igi_npy_load(path, &array, &error)), ig_status_name(status));
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, "array.npy"));
    if (!strstr(error.message, fragment)) fail_msg("'%s' does not say '%s'", error.message, fragment);
    assert_int_equal(array.rank, 77);
    ig_error_clear(&error);
    assert_int_equal(igi_npy_load(path, &array, NULL), status);
}

static void every_type_comes_back_as_written(void **state) {
    (void)state;
    unsigned char data[48];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7);
    const uint64_t shape[] = {2, 3};
    for (int type = 0; type < IG_TYPE_COUNT; type++) {
        assert_int_equal(igi_npy_save(path, (ig_type)type, 2, shape, data, NULL), IG_STATUS_OK);
        igi_npy array;
        assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
        assert_int_equal(array.type, type == IG_TYPE_BF16 ? IG_TYPE_U16 : type);
        assert_int_equal(array.rank, 2);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[1], 3);
        assert_int_equal(array.bytes, 6 * ig_type_size((ig_type)type));
        assert_memory_equal(array.data, data, array.bytes);
        igi_npy_free(&array);
    }
}

static void every_rank_comes_back_as_written(void **state) {
    (void)state;
    uint64_t shape[IGI_NPY_MAX_RANK];
    for (int i = 0; i < IGI_NPY_MAX_RANK; i++) shape[i] = 1;
    const float value = 1.5f;
    for (uint32_t rank = 0; rank <= IGI_NPY_MAX_RANK; rank++) {
        assert_int_equal(igi_npy_save(path, IG_TYPE_F32, rank, shape, &value, NULL), IG_STATUS_OK);
        igi_npy array;
        assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
        assert_int_equal(array.rank, rank);
        assert_int_equal(array.bytes, 4);
        igi_npy_free(&array);
    }
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, IGI_NPY_MAX_RANK + 1, shape, &value, NULL),
                     IG_STATUS_INVALID_ARGUMENT);
}

static void an_empty_array_is_an_array(void **state) {
    (void)state;
    const uint64_t shape[] = {UINT64_MAX, 0, UINT64_MAX};
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, 3, shape, NULL, NULL), IG_STATUS_OK);
    igi_npy array;
    assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
    assert_int_equal(array.bytes, 0);
    assert_non_null(array.data);
    igi_npy_free(&array);
}

static void format_versions_1_2_3_are_read(void **state) {
    (void)state;
    for (unsigned char major = 1; major <= 3; major++) {
        write_npy(major, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", 4);
        igi_npy array;
        assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
        assert_int_equal(((int16_t *)array.data)[1], 0x0302);
        igi_npy_free(&array);
    }
    write_npy(4, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", 4);
    expect_failure(IG_STATUS_UNSUPPORTED, "version 4.0");
}

static void keys_may_come_in_any_order_and_quotes(void **state) {
    (void)state;
    write_npy(1, "{ \"shape\" : ( 1 , 2 ) ,'fortran_order':False,\"descr\":'|u1'}", 2);
    igi_npy array;
    assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
    assert_int_equal(array.type, IG_TYPE_U8);
    assert_int_equal(array.rank, 2);
    igi_npy_free(&array);
}

static void fortran_order_becomes_c_order(void **state) {
    (void)state;
    write_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }", 12);
    igi_npy array;
    assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
    const unsigned char expected[] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    assert_memory_equal(array.data, expected, 12);
    igi_npy_free(&array);
}

static void unusable_types_say_what_to_do(void **state) {
    (void)state;
    write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8);
    expect_failure(IG_STATUS_UNSUPPORTED, "astype('float32')");
    write_npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }", 4);
    expect_failure(IG_STATUS_UNSUPPORTED, "astype('<i4')");
    write_npy(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8);
    expect_failure(IG_STATUS_UNSUPPORTED, "'<c8'");
    write_npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4);
    expect_failure(IG_STATUS_UNSUPPORTED, "structures");
}

static void shapes_that_overflow_are_refused(void **state) {
    (void)state;
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0);
    expect_failure(IG_STATUS_OVERFLOW, "too large");
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0);
    expect_failure(IG_STATUS_OVERFLOW, "more elements than memory");
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", 0);
    expect_failure(IG_STATUS_OVERFLOW, "more elements than memory");
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,), }", 16);
    expect_failure(IG_STATUS_BAD_FORMAT, "promises 4000000000000000 bytes of data but the file has 16");
    const uint64_t shape[] = {UINT64_MAX / 2, 3};
    assert_int_equal(igi_npy_save(path, IG_TYPE_U8, 2, shape, "", NULL), IG_STATUS_OVERFLOW);
}

static void a_header_that_lies_about_the_data_is_refused(void **state) {
    (void)state;
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", 15);
    expect_failure(IG_STATUS_BAD_FORMAT, "promises 16 bytes of data but the file has 15");
    write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", 17);
    expect_failure(IG_STATUS_BAD_FORMAT, "promises 16 bytes of data but the file has 17");
}

static void malformed_headers_are_refused(void **state) {
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
        "{'descr': '<f\xc3\xa4', 'fortran_order': False, 'shape': (1,)}",
        "{'d\xff', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        write_npy(1, headers[i], 4);
        expect_failure(IG_STATUS_BAD_FORMAT, "malformed");
    }
    write_npy(1,
              "{'descr': '<f4', 'fortran_order': False, 'shape': "
              "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
              4);
    expect_failure(IG_STATUS_UNSUPPORTED, "more than 32 dimensions");
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    const uint64_t shape[] = {3};
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, 1, shape, (const float[]){1, 2, 3}, NULL), IG_STATUS_OK);
    char *whole;
    size_t length;
    assert_int_equal(igi_file_read(path, &whole, &length, NULL), IG_STATUS_OK);
    assert_int_equal(length % 64, 12);
    for (size_t cut = 0; cut < length; cut++) {
        write_file(whole, cut);
        expect_failure(IG_STATUS_BAD_FORMAT, "array.npy");
    }
    free(whole);
}

static void no_single_changed_byte_does_harm(void **state) {
    (void)state;
    const uint64_t shape[] = {2, 3};
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, 2, shape, (const float[6]){0}, NULL), IG_STATUS_OK);
    char *whole;
    size_t length;
    assert_int_equal(igi_file_read(path, &whole, &length, NULL), IG_STATUS_OK);
    static const char values[] = {0,   1,   9,   ' ', '\'', '0',    '9',    '(',   ')',
                                  ',', '{', '}', '>', 'T',  '\x7f', '\x80', '\xff'};
    for (size_t at = 0; at < length; at++) {
        char saved = whole[at];
        for (size_t i = 0; i < sizeof values; i++) {
            whole[at] = values[i];
            write_file(whole, length);
            igi_npy array;
            if (igi_npy_load(path, &array, NULL) == IG_STATUS_OK) igi_npy_free(&array);
        }
        whole[at] = saved;
    }
    free(whole);
}

static void a_giant_header_is_refused(void **state) {
    (void)state;
    write_file("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
    expect_failure(IG_STATUS_BAD_FORMAT, "more than a megabyte");
}

static void other_files_are_named_for_what_they_are(void **state) {
    (void)state;
    write_file("PK\x03\x04 an npz archive", 18);
    expect_failure(IG_STATUS_BAD_FORMAT, "not a .npy file");
    write_file("", 0);
    expect_failure(IG_STATUS_BAD_FORMAT, "not a .npy file");
    unlink(path);
    expect_failure(IG_STATUS_NOT_FOUND, "No such file");
    mkdir(path, 0700);
    expect_failure(IG_STATUS_IO, "Is a directory");
    rmdir(path);
}

static void a_failed_save_keeps_the_old_file(void **state) {
    (void)state;
    const uint64_t shape[] = {1};
    const float value = 2;
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, 1, shape, &value, NULL), IG_STATUS_OK);
    igi_alloc_fail_at(1);
    assert_int_equal(igi_npy_save(path, IG_TYPE_I8, 1, shape, &value, NULL), IG_STATUS_IO);
    igi_alloc_fail_at(0);
    igi_npy array;
    assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
    assert_int_equal(array.type, IG_TYPE_F32);
    igi_npy_free(&array);
    ig_error error = {0};
    assert_int_equal(igi_npy_save("/no/such/directory/a.npy", IG_TYPE_F32, 1, shape, &value, &error), IG_STATUS_IO);
    assert_non_null(strstr(error.message, "No such file or directory"));
    ig_error_clear(&error);
}

static void a_device_is_written_to_and_not_replaced(void **state) {
    (void)state;
    const uint64_t shape[] = {1};
    const float value = 2;
    ig_error error = {0};
    assert_int_equal(igi_npy_save("/dev/null", IG_TYPE_F32, 1, shape, &value, NULL), IG_STATUS_OK);
    assert_int_equal(igi_npy_save("/dev/full", IG_TYPE_F32, 1, shape, &value, &error), IG_STATUS_IO);
    assert_non_null(strstr(error.message, "No space left"));
    ig_error_clear(&error);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void a_symbolic_link_stays_one(void **state) {
    (void)state;
    char link[4200];
    snprintf(link, sizeof link, "%s/link.npy", directory);
    const uint64_t shape[] = {1};
    const float value = 2;
    assert_int_equal(igi_npy_save(path, IG_TYPE_F32, 1, shape, &value, NULL), IG_STATUS_OK);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(igi_npy_save(link, IG_TYPE_I32, 1, shape, &value, NULL), IG_STATUS_OK);
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    igi_npy array;
    assert_int_equal(igi_npy_load(path, &array, NULL), IG_STATUS_OK);
    assert_int_equal(array.type, IG_TYPE_I32);
    igi_npy_free(&array);
}

static void short_memory_leaks_nothing(void **state) {
    (void)state;
    write_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6);
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != IG_STATUS_OK; n++) {
        igi_npy array;
        assert_true(n < 20);
        igi_alloc_fail_at(n);
        status = igi_npy_load(path, &array, NULL);
        igi_alloc_fail_at(0);
        if (status == IG_STATUS_OK) {
            igi_npy_free(&array);
        } else {
            assert_int_equal(status, IG_STATUS_OUT_OF_MEMORY);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back_as_written),
        cmocka_unit_test(every_rank_comes_back_as_written),
        cmocka_unit_test(an_empty_array_is_an_array),
        cmocka_unit_test(format_versions_1_2_3_are_read),
        cmocka_unit_test(keys_may_come_in_any_order_and_quotes),
        cmocka_unit_test(fortran_order_becomes_c_order),
        cmocka_unit_test(unusable_types_say_what_to_do),
        cmocka_unit_test(shapes_that_overflow_are_refused),
        cmocka_unit_test(a_header_that_lies_about_the_data_is_refused),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(no_single_changed_byte_does_harm),
        cmocka_unit_test(a_giant_header_is_refused),
        cmocka_unit_test(other_files_are_named_for_what_they_are),
        cmocka_unit_test(a_failed_save_keeps_the_old_file),
        cmocka_unit_test(a_device_is_written_to_and_not_replaced),
        cmocka_unit_test(a_symbolic_link_stays_one),
        cmocka_unit_test(short_memory_leaks_nothing),
    };
    return cmocka_run_group_tests_name("npy", tests, make_directory, remove_directory);
}
