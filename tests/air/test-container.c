// SPDX-License-Identifier: Apache-2.0
// .metallib files: what is in them is found, and damaged ones are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
//
#include <cmocka.h>

#include "air/container.h"
#include "writer.h"

static const written_constant constants[] = {{"size", 29, 3}, {"wide", 6, 7}, {"flag", 53, 65535}};
static const written_function functions[] = {
    {.name = "first", .kind = IGI_AIR_KERNEL, .bitcode = "BC\xc0\xde-one", .bitcode_length = 8},
    {.name = "second",
     .kind = IGI_AIR_KERNEL,
     .bitcode = "BC\xc0\xde-two!",
     .bitcode_length = 9,
     .constants = constants,
     .constant_count = 3},
    {.name = "shade", .kind = IGI_AIR_FRAGMENT, .bitcode = "BC", .bitcode_length = 2},
};

static igi_text example(void) {
    igi_text file = {0};
    write_metallib(functions, 3, &file);
    return file;
}

static void check_example(const igi_air_container *c) {
    assert_int_equal(c->count, 3);
    assert_int_equal(c->part_count, 1);
    assert_int_equal(c->parts[0].format.major, 2);
    assert_int_equal(c->parts[0].format.minor, 7);
    assert_string_equal(igi_air_system_name(c->parts[0].system_kind), "macOS");
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(c->functions[i].name, functions[i].name);
        assert_int_equal(c->functions[i].kind, functions[i].kind);
        assert_int_equal(c->functions[i].bitcode_length, functions[i].bitcode_length);
        assert_memory_equal(c->functions[i].bitcode, functions[i].bitcode, functions[i].bitcode_length);
        assert_int_equal(c->functions[i].air.minor, 6);
        assert_int_equal(c->functions[i].language.major, 3);
    }
    assert_string_equal(igi_air_kind_name(c->functions[2].kind), "fragment");
}

static void functions_are_listed(void **state) {
    (void)state;
    igi_text file = example();
    igi_air_container c;
    assert_true(igi_air_is_container(file.data, file.length));
    assert_int_equal(igi_air_read(file.data, file.length, "x", &c, NULL), IG_STATUS_OK);
    check_example(&c);
    igi_air_close(&c);
    igi_text_free(&file);
}

static void constants_are_listed(void **state) {
    (void)state;
    igi_text file = example();
    igi_air_container c;
    ig_function_constant_info found;
    assert_int_equal(igi_air_read(file.data, file.length, "x", &c, NULL), IG_STATUS_OK);
    igi_air_constants none = igi_air_constants_of(&c.functions[0]), some = igi_air_constants_of(&c.functions[1]);
    assert_false(igi_air_next_constant(&none, &found));
    const ig_type types[] = {IG_TYPE_I32, IG_TYPE_F32, IG_TYPE_BOOL};
    const uint32_t components[] = {1, 4, 1};
    for (int i = 0; i < 3; i++) {
        assert_true(igi_air_next_constant(&some, &found));
        assert_string_equal(found.name, constants[i].name);
        assert_int_equal(found.id, constants[i].id);
        assert_int_equal(found.type, types[i]);
        assert_int_equal(found.components, components[i]);
    }
    assert_false(igi_air_next_constant(&some, &found));
    igi_air_close(&c);
    igi_text_free(&file);
}

static void files_are_mapped_and_bytes_copied(void **state) {
    (void)state;
    igi_text file = example();
    char path[] = "/tmp/ingot-air-XXXXXX";
    int descriptor = mkstemp(path);
    assert_int_equal(write(descriptor, file.data, file.length), file.length);
    close(descriptor);
    igi_air_container c;
    assert_true(igi_air_is_container_file(path));
    assert_int_equal(igi_air_open_file(path, &c, NULL), IG_STATUS_OK);
    check_example(&c);
    igi_air_close(&c);
    unlink(path);
    assert_int_equal(igi_air_open_copy(file.data, file.length, "x", &c, NULL), IG_STATUS_OK);
    memset(file.data, 0, file.length);
    check_example(&c);
    igi_air_close(&c);
    igi_text_free(&file);
}

static void files_that_are_not_there_are_named(void **state) {
    (void)state;
    igi_air_container c;
    ig_error error = {0};
    assert_int_equal(igi_air_open_file("/nowhere/x.metallib", &c, &error), IG_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nowhere/x.metallib"));
    ig_error_clear(&error);
    assert_int_equal(igi_air_open_file("/dev/zero", &c, &error), IG_STATUS_IO);
    assert_false(igi_air_is_container_file("/dev/zero"));
    assert_false(igi_air_is_container_file("/nowhere"));
    ig_error_clear(&error);
}

static void the_newest_architecture_is_used(void **state) {
    (void)state;
    igi_text libraries[2] = {{0}, {0}}, file = {0};
    write_metallib(functions, 1, &libraries[0]);
    write_metallib(functions, 3, &libraries[1]);
    write_universal(libraries, (const uint32_t[]){24, 26}, 2, &file);
    igi_air_container c;
    assert_true(igi_air_is_container(file.data, file.length));
    assert_int_equal(igi_air_read(file.data, file.length, "x", &c, NULL), IG_STATUS_OK);
    check_example(&c);
    igi_air_close(&c);
    for (size_t length = 0; length < file.length; length++) {
        ig_status status = igi_air_read(file.data, length, "x", &c, NULL);
        assert_int_equal(status, IG_STATUS_BAD_FORMAT);
    }
    igi_text_free(&libraries[0]), igi_text_free(&libraries[1]), igi_text_free(&file);
}

// ---- In the sections of a program or library ----

// Two libraries, of which the second is for a newer system and has the first function too.
static igi_text embedded_example(void) {
    static const char *const names[] = {"metal_old", "sixteen_letters_"};
    igi_text libraries[2] = {{0}, {0}}, file = {0};
    write_metallib(functions, 3, &libraries[0]);
    write_metallib(functions, 1, &libraries[1]);
    enum { SYSTEM_VERSION = 12 };
    libraries[1].data[SYSTEM_VERSION] = 26;
    write_macho(libraries, names, 2, &file);
    igi_text_free(&libraries[0]), igi_text_free(&libraries[1]);
    return file;
}

static void check_embedded(const char *bytes, size_t length) {
    igi_air_container c;
    assert_true(igi_air_is_container(bytes, length));
    assert_int_equal(igi_air_read(bytes, length, "x", &c, NULL), IG_STATUS_OK);
    assert_int_equal(c.part_count, 2);
    assert_string_equal(c.parts[0].name, "sixteen_letters_");
    assert_int_equal(c.parts[0].system.major, 26);
    assert_string_equal(c.parts[1].name, "metal_old");
    assert_int_equal(c.count, 3);
    assert_string_equal(c.functions[0].name, "first");
    assert_int_equal(c.functions[0].part, 0);
    assert_string_equal(c.functions[1].name, "second");
    assert_int_equal(c.functions[1].part, 1);
    assert_memory_equal(c.functions[1].bitcode, functions[1].bitcode, functions[1].bitcode_length);
    igi_air_close(&c);
}

static void libraries_in_sections_are_found(void **state) {
    (void)state;
    igi_text file = embedded_example();
    check_embedded(file.data, file.length);
    for (int wide = 0; wide < 2; wide++) {
        igi_text fat = {0};
        write_fat(&file, wide, &fat);
        check_embedded(fat.data, fat.length);
        igi_text_free(&fat);
    }
    igi_text_free(&file);
}

static void a_program_without_libraries_is_refused(void **state) {
    (void)state;
    igi_text file = {0};
    igi_air_container c;
    ig_error error = {0};
    write_macho(NULL, NULL, 0, &file);
    assert_int_equal(igi_air_read(file.data, file.length, "x", &c, &error), IG_STATUS_BAD_FORMAT);
    assert_non_null(strstr(error.message, "none of its sections is one"));
    ig_error_clear(&error);
    igi_text_free(&file);
}

// A copy of its own, so that a sanitizer sees accesses past the end.
static void refuse_cut_off(igi_text file) {
    for (size_t length = 0; length < file.length; length++) {
        char *cut = malloc(length + !length);
        memcpy(cut, file.data, length);
        igi_air_container c;
        ig_error error = {0};
        assert_int_equal(igi_air_read(cut, length, "x", &c, &error), IG_STATUS_BAD_FORMAT);
        assert_non_null(strstr(error.message, "x is not a sound Metal library: "));
        ig_error_clear(&error);
        free(cut);
    }
    igi_text_free(&file);
}

static void every_file_that_is_cut_off_is_refused(void **state) {
    (void)state;
    refuse_cut_off(example());
    refuse_cut_off(embedded_example());
}

static void touch_all(const igi_air_container *c) {
    static volatile uint64_t sum;
    for (size_t i = 0; i < c->count; i++) {
        const igi_air_function *f = &c->functions[i];
        for (size_t k = 0; k < f->bitcode_length; k++) sum += (uint8_t)f->bitcode[k];
        sum += strlen(f->name);
        igi_air_constants list = igi_air_constants_of(f);
        ig_function_constant_info constant;
        while (igi_air_next_constant(&list, &constant)) sum += strlen(constant.name);
    }
}

static void read_with_wrong_numbers(igi_text file) {
    static const uint64_t wrong[] = {0, 1, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, UINT64_MAX, UINT64_MAX - 3};
    for (size_t at = 0; at < file.length; at++)
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
            for (size_t width = 1; width <= 8; width *= 2) {
                if (width > file.length - at) continue;
                char *damaged = malloc(file.length);
                memcpy(damaged, file.data, file.length);
                memcpy(damaged + at, &wrong[w], width);
                igi_air_container c;
                if (igi_air_read(damaged, file.length, "x", &c, NULL) == IG_STATUS_OK) {
                    touch_all(&c);
                    igi_air_close(&c);
                }
                free(damaged);
            }
    igi_text_free(&file);
}

static void every_number_may_be_wrong(void **state) {
    (void)state;
    read_with_wrong_numbers(example());
    read_with_wrong_numbers(embedded_example());
}

static void lack_of_memory_is_reported(void **state) {
    (void)state;
    igi_text file = embedded_example();
    igi_air_container c;
    for (int at = 1; at <= 2; at++) {
        igi_alloc_fail_at(at);
        ig_status status = igi_air_read(file.data, file.length, "x", &c, NULL);
        igi_alloc_fail_at(0);
        assert_int_equal(status, IG_STATUS_OUT_OF_MEMORY);
    }
    igi_text_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_listed),
        cmocka_unit_test(constants_are_listed),
        cmocka_unit_test(files_are_mapped_and_bytes_copied),
        cmocka_unit_test(files_that_are_not_there_are_named),
        cmocka_unit_test(the_newest_architecture_is_used),
        cmocka_unit_test(libraries_in_sections_are_found),
        cmocka_unit_test(a_program_without_libraries_is_refused),
        cmocka_unit_test(every_file_that_is_cut_off_is_refused),
        cmocka_unit_test(every_number_may_be_wrong),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
