// SPDX-License-Identifier: Apache-2.0
// Flattening: sources with their includes as one text, which the preprocessor reads like the separate files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "core/file.h"
#include "msl/flatten.h"

static char *directory;

static int make_directory(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    return directory ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

static void write_file(const char *name, const char *text) {
    char *path = igi_path_join(directory, name);
    assert_int_equal(igi_file_write_atomic(path, text, strlen(text)), IG_STATUS_OK);
    free(path);
}

static ig_status flatten(const char *text, char **flat) {
    igi_msl_sources sources;
    igi_msl_main_source main = {.text = text, .length = strlen(text), .name = "main.metal"};
    const char *directories[] = {directory};
    size_t length = 0;
    assert_int_equal(igi_msl_sources_load(&sources, &main, directories, 1, NULL), IG_STATUS_OK);
    ig_status status = igi_msl_sources_flatten(&sources, flat, &length, NULL);
    igi_msl_sources_free(&sources);
    if (status == IG_STATUS_OK) assert_int_equal(length, strlen(*flat));
    return status;
}

static void expect(const char *text, const char *expected) {
    char *flat = NULL;
    assert_int_equal(flatten(text, &flat), IG_STATUS_OK);
    assert_string_equal(flat, expected);
    free(flat);
}

// How many lines with this text are left after preprocessing.
static size_t lines_left(const char *flat, const char *line) {
    char *path = igi_path_join(directory, "flat.c");
    assert_int_equal(igi_file_write_atomic(path, flat, strlen(flat)), IG_STATUS_OK);
    char command[4096], read[256];
    snprintf(command, sizeof command, "cc -E -P '%s'", path);
    free(path);
    FILE *output = popen(command, "r");
    size_t count = 0;
    while (fgets(read, sizeof read, output)) count += strncmp(read, line, strlen(line)) == 0;
    assert_int_equal(pclose(output), 0);
    return count;
}

static void sources_without_headers_stay_as_they_are(void **state) {
    (void)state;
    expect("", "");
    expect("kernel void f() {}", "kernel void f() {}");
    expect("#include <metal_stdlib>\n#include \"missing.h\"\nint a;\n",
           "#include <metal_stdlib>\n#include \"missing.h\"\nint a;\n");
}

static void headers_come_under_their_names(void **state) {
    (void)state;
    write_file("plain.h", "int plain;");
    char expected[2048];
    snprintf(expected, sizeof expected,
             "#line 1 \"main.metal\"\nint a;\n#line 1 \"%s/plain.h\"\nint plain;\n#line 3 \"main.metal\"\nint b;\n",
             directory);
    expect("int a;\n#include \"plain.h\"\nint b;\n", expected);
}

static void expect_once(const char *text) {
    char *flat = NULL;
    assert_int_equal(flatten(text, &flat), IG_STATUS_OK);
    assert_int_equal(lines_left(flat, "int once;"), 1);
    free(flat);
}

static void guarded_headers_come_once(void **state) {
    (void)state;
    write_file("pragma.h", "#pragma once\n#include \"pragma.h\"\nint once;\n");
    write_file("guard.h", "// a header\n#ifndef GUARD\n#define GUARD\n#include \"guard.h\"\nint once;\n#endif\n");
    expect_once("#include \"pragma.h\"\n#include \"pragma.h\"\n");
    expect_once("#include \"guard.h\"\n#include \"guard.h\"\n");
    // For the preprocessor, the first one does not exist.
    expect_once("#if 0\n#include \"pragma.h\"\n#endif\n#include \"pragma.h\"\n");
}

static void others_come_every_time(void **state) {
    (void)state;
    write_file("list.h", "int again;\n");
    char *flat = NULL;
    assert_int_equal(flatten("#include \"list.h\"\n#include \"list.h\"\n", &flat), IG_STATUS_OK);
    assert_int_equal(lines_left(flat, "int again;"), 2);
    free(flat);
}

static void endless_includes_are_refused(void **state) {
    (void)state;
    char *flat = NULL;
    write_file("loop.h", "#include \"loop.h\"\n");
    assert_int_equal(flatten("#include \"loop.h\"\n", &flat), IG_STATUS_BAD_FORMAT);
    write_file("twice.h", "#include \"twice.h\"\n#include \"twice.h\"\nint a;\n");
    assert_int_equal(flatten("#include \"twice.h\"\n", &flat), IG_STATUS_BAD_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_without_headers_stay_as_they_are),
        cmocka_unit_test(headers_come_under_their_names),
        cmocka_unit_test(guarded_headers_come_once),
        cmocka_unit_test(others_come_every_time),
        cmocka_unit_test(endless_includes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
