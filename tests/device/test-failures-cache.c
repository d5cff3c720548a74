// SPDX-License-Identifier: Apache-2.0
// A cache that cannot be written, is damaged, or is full costs time, never correctness.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "helpers.h"
#include "msl/clang-path.h"

static const char source[] =
    "constant uint factor [[function_constant(0)]];\n"
    "kernel void multiply(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i * factor; }\n";

static char *directory;
static char cache[1024];  // a name below it, where nothing is yet

static int make_directory(void **state) {
    (void)state;
    directory = make_temp_dir();
    snprintf(cache, sizeof cache, "%s/cache", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    remove_temp_dir(directory);
    return 0;
}

// Precompiled headers are installed for the clang that Ingot was built with. For one of another name they are made.
static int choose_another_clang(void **state) {
    make_directory(state);
    char *clang = igi_msl_find_clang(), name[1024];
    snprintf(name, sizeof name, "%s/clang", directory);
    assert_non_null(clang);
    assert_int_equal(symlink(clang, name), 0);
    setenv("INGOT_CLANG", name, 1);
    free(clang);
    return 0;
}

static int choose_usual_clang(void **state) {
    unsetenv("INGOT_CLANG");
    return remove_directory(state);
}

static ig_pipeline *multiply_by(ig_device *on, uint32_t factor) {
    ig_library *library = compile_on(on, &(ig_library_desc){.source = source});
    ig_function_constant constant = {.name = "factor", .type = IG_TYPE_U32, .value = &factor};
    ig_pipeline_desc desc = {.kernel = "multiply", .constants = &constant, .constant_count = 1};
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    if (ig_pipeline_create(library, &desc, &pipeline, &error) != IG_STATUS_OK)
        fail_msg("%s: %s", ig_status_name(error.status), error.message);
    ig_library_release(library);
    return pipeline;
}

// Compiles and runs on a new device with this cache; the result must be right. Returns the device's statistics.
static ig_device_stats check_results(const char *name, uint64_t cache_bytes, uint32_t factor) {
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = name, .cache_bytes = cache_bytes});
    ig_pipeline *pipeline = multiply_by(fresh, factor);
    ig_buffer *buffer = make_buffer_on(fresh, 400);
    do_run(&(run){.on = fresh, .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(100)});
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[i], i * factor);
    ig_device_stats stats;
    ig_device_get_stats(fresh, &stats);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_device_release(fresh);
    return stats;
}

static void expect_all_cached(const char *name) {
    ig_device_stats stats = check_results(name, 0, 3);
    assert_int_equal(stats.compilations, 0);
    assert_int_equal(stats.disk_hits, 2);  // the library and the machine code
}

// ---- Directories ----

static void a_cache_below_a_regular_file_is_done_without(void **state) {
    (void)state;
    write_text(path_of("%s/file", directory), "in the way");
    for (int i = 0; i < 2; i++) {
        ig_device_stats stats = check_results(path_of("%s/file/cache", directory), 0, 3);
        assert_int_equal(stats.compilations, 1);
        assert_int_equal(stats.disk_hits, 0);
    }
}

static void a_cache_that_is_a_regular_file_is_done_without(void **state) {
    (void)state;
    write_text(path_of("%s/file", directory), "in the way");
    check_results(path_of("%s/file", directory), 0, 3);
    char *text = NULL;
    size_t length;
    assert_ok(igi_file_read(path_of("%s/file", directory), &text, &length, NULL));
    assert_string_equal(text, "in the way");
    free(text);
}

static void warn(ig_log_level level, const char *message, void *user) {
    if (level == IG_LOG_WARNING && strstr(message, "cache")) ++*(int *)user;
}

static void warn_any(ig_log_level level, const char *message, void *user) {
    if (level == IG_LOG_WARNING) fprintf(stderr, "%s\n", message), ++*(int *)user;
}

static void an_unusable_cache_is_logged(void **state) {
    (void)state;
    int warnings = 0;
    ig_set_log(warn, &warnings);
    check_results("/dev/null/cache", 0, 3);
    ig_set_log(NULL, NULL);
    assert_true(warnings >= 1);
}

static void an_empty_name_turns_the_cache_off(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) assert_int_equal(check_results("", 0, 3).compilations, 1);
}

static void the_environment_names_the_cache(void **state) {
    (void)state;
    setenv("INGOT_CACHE_DIR", path_of("%s/a/b/c", directory), 1);
    ig_device *fresh = NULL;
    assert_ok(ig_device_create(NULL, &fresh, NULL));
    unsetenv("INGOT_CACHE_DIR");
    ig_pipeline_release(multiply_by(fresh, 3));
    ig_device_release(fresh);
    expect_all_cached(path_of("%s/a/b/c", directory));
    setenv("XDG_CACHE_HOME", path_of("%s/xdg", directory), 1);
    assert_ok(ig_device_create(NULL, &fresh, NULL));
    unsetenv("XDG_CACHE_HOME");
    ig_pipeline_release(multiply_by(fresh, 3));
    ig_device_release(fresh);
    expect_all_cached(path_of("%s/xdg/ingot", directory));
}

static void a_cache_removed_while_in_use_is_made_again(void **state) {
    (void)state;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = cache});
    for (uint32_t i = 0; i < 3; i++) {
        ig_pipeline_release(multiply_by(fresh, 3 + i));
        igi_remove_tree(cache);
    }
    ig_pipeline_release(multiply_by(fresh, 3));
    ig_device_release(fresh);
    expect_all_cached(cache);
}

// ---- A full disk ----

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_stops_compiling_but_not_what_is_cached(void **state) {
    (void)state;
    ig_library *library = NULL;
    ig_error error = {0};
    check_results(cache, 0, 3);
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = cache});
    void (*kept)(int) = signal(SIGXFSZ, SIG_IGN);  // writes fail instead
    limit_files(0);
    ig_library_desc desc = {.source = "kernel void other(device uint *a [[buffer(0)]]) { a[0] = 1; }\n"};
    ig_status status = ig_library_create(fresh, &desc, &library, &error);
    expect_all_cached(cache);
    limit_files(RLIM_INFINITY);
    signal(SIGXFSZ, kept);
    assert_status(status, IG_STATUS_IO);
    assert_true(strlen(error.message) > 10);
    ig_error_clear(&error);
    library = compile_on(fresh, &desc);
    ig_library_release(library);
    ig_device_release(fresh);
}

// ---- Damaged entries ----

typedef struct damage {
    const char *name;
    int64_t keep;  // bytes; negative: from the end
    int64_t flip;  // byte; negative: from the end; INT64_MIN: none
} damage;

static void harm(const char *path, const damage *d) {
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(igi_file_read(path, &bytes, &length, NULL));
    size_t keep = (size_t)(d->keep < 0 ? (int64_t)length + d->keep + 1 : d->keep);
    if (keep > length) keep = length;
    if (d->flip != INT64_MIN) {
        size_t at = (size_t)(d->flip < 0 ? (int64_t)length + d->flip : d->flip);
        if (at < length) bytes[at] = (char)(bytes[at] ^ 0x20);
    }
    FILE *file = fopen(path, "w");
    if (!file) abort();
    assert_int_equal(fwrite(bytes, 1, keep, file), keep);
    fclose(file);
    free(bytes);
}

static void damaged_entries_are_made_again(void **state) {
    (void)state;
    static const damage damages[] = {
        {"magic", -1, 3},         {"length", -1, 9},          {"key", -1, 20},          {"hash", -1, 40},
        {"first byte", -1, 56},   {"middle", -1, 700},        {"last", -1, -1},         {"empty", 0, INT64_MIN},
        {"short", 10, INT64_MIN}, {"no data", 56, INT64_MIN}, {"half", 600, INT64_MIN}, {"all but one", -2, INT64_MIN},
    };
    check_results(cache, 0, 3);
    expect_all_cached(cache);
    char **names;
    size_t count = list_files(cache, ".igc", &names);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < LENGTH(damages); k++) {
            harm(path_of("%s/%s", cache, names[i]), &damages[k]);
            ig_device_stats stats = check_results(cache, 0, 3);
            if (stats.disk_hits != 1) fail_msg("%s, %s: %d hits", names[i], damages[k].name, (int)stats.disk_hits);
            expect_all_cached(cache);
        }
    free_names(names, count);
}

static void entries_under_another_entrys_name_are_found_out(void **state) {
    (void)state;
    check_results(cache, 0, 3);
    char **names, *bytes[2];
    size_t lengths[2], count = list_files(cache, ".igc", &names);
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++)
        assert_ok(igi_file_read(path_of("%s/%s", cache, names[i]), &bytes[i], &lengths[i], NULL));
    for (int i = 0; i < 2; i++)
        assert_ok(igi_file_write_atomic(path_of("%s/%s", cache, names[i]), bytes[1 - i], lengths[1 - i]));
    assert_int_equal(check_results(cache, 0, 3).disk_hits, 0);
    expect_all_cached(cache);
    for (int i = 0; i < 2; i++) free(bytes[i]);
    free_names(names, count);
}

static void an_entry_that_is_a_directory_is_done_without(void **state) {
    (void)state;
    check_results(cache, 0, 3);
    char **names;
    size_t count = list_files(cache, ".igc", &names);
    for (size_t i = 0; i < count; i++) {
        unlink(path_of("%s/%s", cache, names[i]));
        mkdir(path_of("%s/%s", cache, names[i]), 0700);
    }
    assert_int_equal(check_results(cache, 0, 3).disk_hits, 0);
    free_names(names, count);
}

// ---- Damaged headers ----

static char *path_of_pch(void) {
    char **names, **files;
    size_t count = list_files(cache, "", &names);
    char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], "stdlib-", 7) != 0) continue;
        size_t file_count = list_files(path_of("%s/%s", cache, names[i]), ".pch", &files);
        if (file_count) found = strdup(path_of("%s/%s/%s", cache, names[i], files[0]));
        free_names(files, file_count);
    }
    free_names(names, count);
    return found;
}

static void installed_headers_are_not_made_again(void **state) {
    (void)state;
    check_results(cache, 0, 3);
    assert_null(path_of_pch());
}

static void remove_entries(void) {
    char **names;
    size_t count = list_files(cache, ".igc", &names);
    for (size_t i = 0; i < count; i++) unlink(path_of("%s/%s", cache, names[i]));
    free_names(names, count);
}

static void a_truncated_precompiled_header_is_made_again(void **state) {
    (void)state;
    static const damage damages[] = {{"empty", 0, INT64_MIN}, {"short", 100, INT64_MIN}, {"half", 2 << 20, INT64_MIN}};
    check_results(cache, 0, 3);
    char *pch = path_of_pch();
    assert_non_null(pch);
    for (size_t i = 0; i < LENGTH(damages); i++) {
        struct stat before, after;
        if (access(pch, F_OK) != 0) check_results(cache, 0, (uint32_t)(1000 + i));
        harm(pch, &damages[i]);
        assert_int_equal(stat(pch, &before), 0);
        for (int k = 0; k < 2; k++) {
            remove_entries();
            check_results(cache, 0, 3);
        }
        assert_int_equal(stat(pch, &after), 0);
        assert_true(after.st_size > before.st_size);
    }
    free(pch);
}

static void a_precompiled_header_of_flipped_bits_never_gives_wrong_results(void **state) {
    (void)state;
    random_state random = {2024};
    check_results(cache, 0, 3);
    char *pch = path_of_pch(), *good = NULL;
    size_t length = 0;
    assert_non_null(pch);
    assert_ok(igi_file_read(pch, &good, &length, NULL));
    for (int i = 0; i < 6; i++) {
        char *bad = malloc(length);
        memcpy(bad, good, length);
        for (int k = 0; k < 64; k++) bad[random_below(&random, length)] ^= (char)(1u << random_below(&random, 8));
        assert_ok(igi_file_write_atomic(pch, bad, length));
        free(bad);
        remove_entries();
        check_results(cache, 0, 3);
    }
    free(good);
    free(pch);
}

static char *path_of_header(const char *name) {
    char *pch = path_of_pch();
    assert_non_null(pch);
    *strrchr(pch, '/') = 0;
    char *path = strdup(path_of("%s/%s", pch, name));
    free(pch);
    return path;
}

static void damaged_headers_are_repaired(void **state) {
    (void)state;
    static const damage damages[] = {{"empty", 0, INT64_MIN}, {"short", 100, INT64_MIN}, {"changed", -1, 50}};
    check_results(cache, 0, 3);
    char *header = path_of_header("metal_stdlib"), *good = NULL, *now = NULL;
    size_t length, now_length;
    assert_ok(igi_file_read(header, &good, &length, NULL));
    for (size_t i = 0; i < 2 * LENGTH(damages); i++) {
        char *pch = path_of_pch();
        harm(header, &damages[i / 2]);
        if (i % 2) unlink(pch);  // the one made in its place would contain the damage
        free(pch);
        remove_entries();
        check_results(cache, 0, 3);
        assert_ok(igi_file_read(header, &now, &now_length, NULL));
        assert_int_equal(now_length, length);
        assert_memory_equal(now, good, length);
        free(now);
    }
    free(good), free(header);
}

static void a_copied_cache_is_as_good(void **state) {
    (void)state;
    int warnings = 0;
    check_results(cache, 0, 3);
    char *copy = strdup(path_of("%s/copy", directory)), *pch = path_of_pch();
    assert_int_equal(system(path_of("cp -r '%s' '%s' && rm -r '%s'", cache, copy, cache)), 0);
    expect_all_cached(copy);
    char original[1024];
    snprintf(original, sizeof original, "%s", cache);
    snprintf(cache, sizeof cache, "%s", copy);
    remove_entries();
    ig_set_log(warn_any, &warnings);
    assert_int_equal(check_results(cache, 0, 3).compilations, 1);
    ig_set_log(NULL, NULL);
    assert_int_equal(warnings, 0);
    free(copy), free(pch);
}

// Programs that all start with an empty cache: each gets its results, without errors.
static void many_cold_starts_at_once_make_one_precompiled_header(void **state) {
    (void)state;
    enum { PROCESSES = 16 };
    pid_t children[PROCESSES];
    for (uint32_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        int warnings = 0;
        ig_set_log(warn_any, &warnings);
        check_results(cache, 0, 3 + i);
        _exit(warnings ? 1 : 0);
    }
    for (uint32_t i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static void a_cache_that_others_can_write_is_done_without(void **state) {
    (void)state;
    check_results(cache, 0, 3);
    int warnings = 0;
    assert_int_equal(chmod(cache, 0777), 0);
    ig_set_log(warn, &warnings);
    ig_device_stats stats = check_results(cache, 0, 3);
    ig_set_log(NULL, NULL);
    assert_int_equal(stats.disk_hits, 0);
    assert_true(warnings >= 1);
}

// ---- The bound ----

static uint64_t bytes_in_cache(uint64_t *largest) {
    char **names;
    size_t count = list_files(cache, ".igc", &names);
    uint64_t total = 0;
    *largest = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        assert_int_equal(stat(path_of("%s/%s", cache, names[i]), &info), 0);
        total += (uint64_t)info.st_size;
        if ((uint64_t)info.st_size > *largest) *largest = (uint64_t)info.st_size;
    }
    free_names(names, count);
    return total;
}

static void the_cache_stays_within_its_bound(void **state) {
    (void)state;
    const uint64_t bound = 60000;
    uint64_t largest, written = 0;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = cache, .cache_bytes = bound});
    for (uint32_t i = 0; i < 40; i++) {
        ig_pipeline_release(multiply_by(fresh, i));
        uint64_t total = bytes_in_cache(&largest);
        written += largest;
        assert_true(total <= bound + bound / 8 + largest);  // it is checked after every eighth of the limit
    }
    ig_device_release(fresh);
    assert_true(written > 2 * bound);
    check_results(cache, bound, 39);
}

static void what_is_used_stays_in_a_full_cache(void **state) {
    (void)state;
    const uint64_t bound = 60000;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = cache, .cache_bytes = bound});
    for (uint32_t i = 0; i < 40; i++) {
        ig_pipeline_release(multiply_by(fresh, 100 + i));
        check_results(cache, bound, 3);
        sleep_ms(2);  // a tick of the file system's clock
    }
    ig_device_release(fresh);
    expect_all_cached(cache);
}

static void a_cache_smaller_than_any_entry_still_works(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 3; i++) check_results(cache, 1, i);
}

static void leftovers_of_killed_writers_go_with_the_rest(void **state) {
    (void)state;
    const char *leftover = path_of("%s/0123456789abcdef0123456789abcdef.igc.Ab12Cd", cache);
    check_results(cache, 0, 3);
    write_text(leftover, "half an entry");
    assert_int_equal(truncate(leftover, 60000), 0);
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, leftover, old, 0), 0);
    check_results(cache, 60000, 4);
    assert_int_not_equal(access(leftover, F_OK), 0);
}

#define headers_test(name) cmocka_unit_test_setup_teardown(name, choose_another_clang, choose_usual_clang)
#define cache_test(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        cache_test(a_cache_below_a_regular_file_is_done_without),
        cache_test(a_cache_that_is_a_regular_file_is_done_without),
        cache_test(an_unusable_cache_is_logged),
        cache_test(an_empty_name_turns_the_cache_off),
        cache_test(the_environment_names_the_cache),
        cache_test(a_cache_removed_while_in_use_is_made_again),
        cache_test(a_full_disk_stops_compiling_but_not_what_is_cached),
        cache_test(damaged_entries_are_made_again),
        cache_test(entries_under_another_entrys_name_are_found_out),
        cache_test(an_entry_that_is_a_directory_is_done_without),
        cache_test(installed_headers_are_not_made_again),
        headers_test(a_truncated_precompiled_header_is_made_again),
        headers_test(a_precompiled_header_of_flipped_bits_never_gives_wrong_results),
        headers_test(damaged_headers_are_repaired),
        headers_test(a_copied_cache_is_as_good),
        headers_test(many_cold_starts_at_once_make_one_precompiled_header),
        cache_test(a_cache_that_others_can_write_is_done_without),
        cache_test(the_cache_stays_within_its_bound),
        cache_test(what_is_used_stays_in_a_full_cache),
        cache_test(a_cache_smaller_than_any_entry_still_works),
        cache_test(leftovers_of_killed_writers_go_with_the_rest),
    };
    return cmocka_run_group_tests_name("failures-cache", tests, open_test_device, close_test_device);
}
