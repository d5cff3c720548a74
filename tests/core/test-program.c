// SPDX-License-Identifier: Apache-2.0
// Where Ingot looks for the programs that come with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// cmocka last: it needs the headers above.
#include <cmocka.h>

#include "core/file.h"
#include "core/program.h"

static char *directory;  // holds the program "tool"

static int make_directory(void **state) {
    (void)state;
    char path[PATH_MAX];
    directory = igi_make_temp_dir();
    if (!directory || snprintf(path, sizeof path, "%s/tool", directory) >= PATH_MAX) return -1;
    bool written = igi_file_write_atomic(path, "#!/bin/sh\n", 10) == IG_STATUS_OK;
    return written && chmod(path, 0755) == 0 ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

// With `directory` among the places: enough ".." lead from anywhere to the root.
static bool find_from_here(const char *named, const char *installed, char path[PATH_MAX]) {
    char place[PATH_MAX];
    snprintf(place, sizeof place, "../../../../../../../../../../../../../../../..%s", directory);
    const char *const places[] = {"nowhere", place, NULL};
    const igi_program tool = {"tool", named, (const void *)(uintptr_t)find_from_here, places, installed};
    return igi_program_find(&tool, path);
}

static bool find_installed(const char *named, const char *installed, char path[PATH_MAX]) {
    static const char *const places[] = {NULL};
    const igi_program tool = {"tool", named, (const void *)(uintptr_t)find_installed, places, installed};
    return igi_program_find(&tool, path);
}

static void it_is_found_near_the_code(void **state) {
    (void)state;
    char path[PATH_MAX];
    assert_true(find_from_here(NULL, "/nowhere", path));
    assert_int_equal(access(path, X_OK), 0);
}

static void what_others_can_replace_is_not_used(void **state) {
    (void)state;
    char path[PATH_MAX];
    assert_int_equal(chmod(directory, 0777), 0);
    assert_false(find_from_here(NULL, "/nowhere", path));
    assert_int_equal(chmod(directory, 0700), 0);
    assert_true(find_from_here(NULL, "/nowhere", path));
    assert_int_equal(chmod(path, 0757), 0);
    assert_false(find_from_here(NULL, "/nowhere", path));
}

static void it_is_found_where_it_was_installed(void **state) {
    (void)state;
    char path[PATH_MAX];
    assert_true(find_installed(NULL, directory, path));
    assert_false(find_installed(NULL, "/nowhere", path));
}

static void the_file_that_the_user_names_is_the_only_one(void **state) {
    (void)state;
    char path[PATH_MAX];
    assert_true(find_from_here("/bin/sh", directory, path));
    assert_string_equal(path, "/bin/sh");
    assert_false(find_from_here("/nowhere/tool", directory, path));
}

static void directories_and_plain_files_are_no_programs(void **state) {
    (void)state;
    char path[PATH_MAX];
    assert_false(find_installed(directory, directory, path));
    assert_true(find_installed(NULL, directory, path));
    assert_int_equal(chmod(path, 0644), 0);
    assert_false(find_installed(NULL, directory, path));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(it_is_found_near_the_code),
        TEST(what_others_can_replace_is_not_used),
        TEST(it_is_found_where_it_was_installed),
        TEST(the_file_that_the_user_names_is_the_only_one),
        TEST(directories_and_plain_files_are_no_programs),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
