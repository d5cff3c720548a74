// SPDX-License-Identifier: Apache-2.0
// Whole files, directories and paths.
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/file.h"
#include "core/memory.h"

static char *directory;
static char path[4096];

static int make_directory(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    if (!directory) return -1;
    snprintf(path, sizeof path, "%s/file", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    igi_remove_tree(directory);
    bool gone = !igi_file_exists(directory);
    free(directory);
    return gone ? 0 : -1;
}

static void expect_contents(const char *bytes, size_t length) {
    char *data = NULL;
    size_t read = 0;
    assert_int_equal(igi_file_read(path, &data, &read, NULL), IG_STATUS_OK);
    assert_int_equal(read, length);
    assert_memory_equal(data, bytes, length);
    assert_int_equal(data[read], 0);
    free(data);
}

// ---- Files ----

static void what_is_written_is_read(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 1000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *bytes = malloc(lengths[i] + 1);
        for (size_t k = 0; k < lengths[i]; k++) bytes[k] = (char)(k * 31 + i);
        assert_int_equal(igi_file_write_atomic(path, bytes, lengths[i]), IG_STATUS_OK);
        expect_contents(bytes, lengths[i]);
        free(bytes);
    }
}

static void a_missing_file_is_not_found_and_named(void **state) {
    (void)state;
    char *data = (char *)1;
    size_t length = 7;
    ig_error error = {0};
    assert_int_equal(igi_file_read(path, &data, &length, &error), IG_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_ptr_equal(data, (char *)1);
    assert_int_equal(length, 7);
    assert_int_equal(igi_file_write_atomic(path, "x", 1), IG_STATUS_OK);
    char below[5000];
    snprintf(below, sizeof below, "%s/below", path);
    assert_int_equal(igi_file_read(below, &data, &length, &error), IG_STATUS_NOT_FOUND);
    ig_error_clear(&error);
}

static void a_directory_cannot_be_read(void **state) {
    (void)state;
    char *data;
    size_t length;
    ig_error error = {0};
    assert_int_equal(igi_file_read(directory, &data, &length, &error), IG_STATUS_IO);
    assert_non_null(strstr(error.message, directory));
    ig_error_clear(&error);
}

static void files_without_a_size_are_read_to_their_end(void **state) {
    (void)state;
    char *data = NULL;
    size_t length = 0;
    if (access("/proc/self/status", R_OK) == 0) {
        assert_int_equal(igi_file_read("/proc/self/status", &data, &length, NULL), IG_STATUS_OK);
        assert_non_null(strstr(data, "Pid:"));
        free(data);
    }
    assert_int_equal(igi_file_read_stream("/dev/null", &data, &length, NULL), IG_STATUS_OK);
    assert_int_equal(length, 0);
    free(data);
}

// Each of these once hung or took all memory.
static void pipes_and_devices_are_refused_at_once(void **state) {
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    const char *const names[] = {path, "/dev/zero", "/dev/null", "/dev/tty", directory};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *data = NULL;
        size_t length = 0;
        ig_error error = {0};
        assert_int_equal(igi_file_read(names[i], &data, &length, &error), IG_STATUS_IO);
        assert_non_null(strstr(error.message, names[i]));
        ig_error_clear(&error);
    }
}

static void the_bound_on_size_is_kept(void **state) {
    (void)state;
    char *data = NULL;
    size_t length = 0;
    ig_error error = {0};
    assert_int_equal(igi_file_write_atomic(path, "12345", 5), IG_STATUS_OK);
    assert_int_equal(igi_file_read_within(path, 5, IGI_FILE_FOLLOW_LINKS, &data, &length, &error), IG_STATUS_OK);
    free(data);
    assert_int_equal(igi_file_read_within(path, 4, IGI_FILE_FOLLOW_LINKS, &data, &length, &error), IG_STATUS_IO);
    assert_non_null(strstr(error.message, "larger than the limit of 4 bytes"));
    // Files of /proc report a size of 0.
    assert_int_equal(igi_file_read_within("/proc/self/status", 10, IGI_FILE_FOLLOW_LINKS, &data, &length, &error),
                     IG_STATUS_IO);
    assert_int_equal(truncate(path, (off_t)IGI_FILE_MAX_BYTES + 1), 0);
    assert_int_equal(igi_file_read(path, &data, &length, &error), IG_STATUS_IO);
    ig_error_clear(&error);
}

static void links_are_followed_unless_told_otherwise(void **state) {
    (void)state;
    char link[5000], *data = NULL;
    size_t length = 0;
    snprintf(link, sizeof link, "%s/link", directory);
    assert_int_equal(igi_file_write_atomic(path, "x", 1), IG_STATUS_OK);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(igi_file_read(link, &data, &length, NULL), IG_STATUS_OK);
    free(data);
    assert_int_equal(igi_file_read_within(link, 100, IGI_FILE_NO_LINK, &data, &length, NULL), IG_STATUS_IO);
    assert_int_equal(igi_file_read_within(path, 100, IGI_FILE_NO_LINK, &data, &length, NULL), IG_STATUS_OK);
    free(data);
}

static size_t entries(void) {
    size_t count = 0;
    DIR *stream = opendir(directory);
    struct dirent *item;
    while (stream && (item = readdir(stream))) count += item->d_name[0] != '.';
    if (stream) closedir(stream);
    return count;
}

static void a_write_that_fails_keeps_the_old_file_and_leaves_nothing(void **state) {
    (void)state;
    assert_int_equal(igi_file_write_atomic(path, "old", 3), IG_STATUS_OK);
    char place[4096];
    snprintf(place, sizeof place, "%s/missing/file", directory);
    assert_int_equal(igi_file_write_atomic(place, "new", 3), IG_STATUS_IO);
    snprintf(place, sizeof place, "%s/dir", directory);
    mkdir(place, 0700);
    assert_int_equal(igi_file_write_atomic(place, "new", 3), IG_STATUS_IO);  // a directory cannot be replaced
    igi_alloc_fail_at(1);
    assert_int_equal(igi_file_write_atomic(path, "new", 3), IG_STATUS_OUT_OF_MEMORY);
    igi_alloc_fail_at(0);
    assert_int_equal(igi_file_write_atomic("/dev/full/x", "new", 3), IG_STATUS_IO);
    expect_contents("old", 3);
    assert_int_equal(entries(), 2);
}

static void readers_see_the_old_file_or_the_new_one(void **state) {
    (void)state;
    enum { LENGTH = 200000 };
    char *bytes = malloc(LENGTH);
    memset(bytes, 'a', LENGTH);
    assert_int_equal(igi_file_write_atomic(path, bytes, LENGTH), IG_STATUS_OK);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 10000; i++) {
            memset(bytes, 'a' + i % 26, LENGTH);
            igi_file_write_atomic(path, bytes, LENGTH);
        }
        _exit(0);
    }
    for (int i = 0; i < 200; i++) {
        char *data = NULL;
        size_t length = 0;
        assert_int_equal(igi_file_read(path, &data, &length, NULL), IG_STATUS_OK);
        assert_int_equal(length, LENGTH);
        assert_true(data[0] >= 'a' && data[0] <= 'z');
        for (size_t k = 1; k < LENGTH; k++)
            if (data[k] != data[0]) fail_msg("torn at %zu", k);
        free(data);
    }
    kill(writer, 9);
    waitpid(writer, NULL, 0);
    free(bytes);
}

static void short_memory_while_reading_is_reported(void **state) {
    (void)state;
    assert_int_equal(igi_file_write_atomic(path, "text", 4), IG_STATUS_OK);
    char *data = NULL;
    size_t length;
    ig_error error = {0};
    igi_alloc_fail_at(1);
    assert_int_equal(igi_file_read(path, &data, &length, &error), IG_STATUS_OUT_OF_MEMORY);
    igi_alloc_fail_at(0);
    assert_null(data);
    ig_error_clear(&error);
}

// ---- Directories ----

static void directories_are_made_for_this_user_alone(void **state) {
    (void)state;
    char deep[4096];
    struct stat info;
    snprintf(deep, sizeof deep, "%s/a//b/c/", directory);
    assert_true(igi_make_dirs(deep));
    assert_true(igi_make_dirs(deep));
    assert_int_equal(stat(deep, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_true(igi_make_dirs("/"));
    assert_true(igi_make_dirs("."));
}

static void directories_that_cannot_be_made_are_refused(void **state) {
    (void)state;
    assert_int_equal(igi_file_write_atomic(path, "x", 1), IG_STATUS_OK);
    assert_false(igi_make_dirs(path));
    char below[5000];
    snprintf(below, sizeof below, "%s/below", path);
    assert_false(igi_make_dirs(below));
    assert_false(igi_make_dirs("/dev/null/nowhere/at/all"));
    assert_false(igi_make_dirs(""));
}

static void temporary_directories_are_new_and_below_tmpdir(void **state) {
    (void)state;
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    setenv("TMPDIR", directory, 1);
    char *a = igi_make_temp_dir(), *b = igi_make_temp_dir();
    assert_int_equal(strncmp(a, directory, strlen(directory)), 0);
    assert_string_not_equal(a, b);
    struct stat info;
    assert_int_equal(stat(a, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    setenv("TMPDIR", "/nonexistent", 1);
    assert_null(igi_make_temp_dir());
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(a), free(b), free(kept);
}

static void trees_are_removed_without_following_links(void **state) {
    (void)state;
    char tree[4096], outside[4096], link[4096];
    snprintf(tree, sizeof tree, "%s/tree/x/y", directory);
    snprintf(outside, sizeof outside, "%s/outside", directory);
    assert_true(igi_make_dirs(tree));
    assert_true(igi_make_dirs(outside));
    snprintf(link, sizeof link, "%s/tree/link", directory);
    assert_int_equal(symlink(outside, link), 0);
    snprintf(path, sizeof path, "%s/outside/kept", directory);
    assert_int_equal(igi_file_write_atomic(path, "x", 1), IG_STATUS_OK);
    snprintf(tree, sizeof tree, "%s/tree", directory);
    igi_remove_tree(tree);
    assert_false(igi_file_exists(tree));
    assert_true(igi_file_exists(path));
    igi_remove_tree("/nonexistent/at/all");
}

// ---- Paths ----

static void expect_path(char *made, const char *expected) {
    assert_string_equal(made, expected);
    free(made);
}

static void paths_are_joined(void **state) {
    (void)state;
    expect_path(igi_path_join("a", "b"), "a/b");
    expect_path(igi_path_join("a/", "b"), "a/b");
    expect_path(igi_path_join("/", "b"), "/b");
    expect_path(igi_path_join("a", "/b"), "/b");
    expect_path(igi_path_join("", "b"), "/b");
    expect_path(igi_path_dirname("a/b"), "a");
    expect_path(igi_path_dirname("/b"), "/");
    expect_path(igi_path_dirname("b"), ".");
    expect_path(igi_path_dirname("/a/b/c.metal"), "/a/b");
}

static void paths_are_normalised(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"/", "/"},
        {"/a/b", "/a/b"},
        {"//a///b//", "/a/b"},
        {"/a/./b/.", "/a/b"},
        {"/a/../b", "/b"},
        {"/../../a", "/a"},
        {"/a/b/../../..", "/"},
        {"/a/b/c/../d/./../e", "/a/b/e"},
        {"/..a/b..", "/..a/b.."},
        {"/...", "/..."},
        {"/a/..b/.c", "/a/..b/.c"},
        {"/./.", "/"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) expect_path(igi_path_absolute(pairs[i][0]), pairs[i][1]);
}

static void relative_paths_start_here(void **state) {
    (void)state;
    char here[4096], expected[5000];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/x/y", strcmp(here, "/") ? here : "");
    expect_path(igi_path_absolute("x/./z/../y"), expected);
    expect_path(igi_path_absolute("."), here);
    expect_path(igi_path_absolute(""), here);
}

#define file_test(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        file_test(what_is_written_is_read),
        file_test(a_missing_file_is_not_found_and_named),
        file_test(a_directory_cannot_be_read),
        file_test(files_without_a_size_are_read_to_their_end),
        file_test(pipes_and_devices_are_refused_at_once),
        file_test(the_bound_on_size_is_kept),
        file_test(links_are_followed_unless_told_otherwise),
        file_test(a_write_that_fails_keeps_the_old_file_and_leaves_nothing),
        file_test(readers_see_the_old_file_or_the_new_one),
        file_test(short_memory_while_reading_is_reported),
        file_test(directories_are_made_for_this_user_alone),
        file_test(directories_that_cannot_be_made_are_refused),
        file_test(temporary_directories_are_new_and_below_tmpdir),
        file_test(trees_are_removed_without_following_links),
        cmocka_unit_test(paths_are_joined),
        cmocka_unit_test(paths_are_normalised),
        cmocka_unit_test(relative_paths_start_here),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
