// SPDX-License-Identifier: Apache-2.0
// The disk cache by itself: damage is a miss, the limit holds, writers do not interfere.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
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

#include "core/disk-cache.h"
#include "core/file.h"
#include "core/memory.h"

static char *directory;
static char place[4096];
static igi_disk_cache *cache;

static int open_cache(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    if (!directory) return -1;
    snprintf(place, sizeof place, "%s/a/b", directory);
    cache = igi_disk_cache_create(place, 1 << 20);
    return cache ? 0 : -1;
}

static int close_cache(void **state) {
    (void)state;
    igi_disk_cache_destroy(cache);
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

static igi_hash key_of(uint64_t number) {
    return igi_hash_bytes(&number, sizeof number);
}

// An entry of `length` bytes that contains its number.
static char *entry_of(uint64_t number, size_t length) {
    char *bytes = malloc(length + 1);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)(number * 7 + i);
    return bytes;
}

static void put(uint64_t number, size_t length) {
    char *bytes = entry_of(number, length);
    igi_disk_cache_put(cache, key_of(number), bytes, length);
    free(bytes);
}

static bool has(uint64_t number, size_t length) {
    char *data = NULL;
    size_t found = 0;
    if (!igi_disk_cache_get(cache, key_of(number), &data, &found)) return false;
    char *bytes = entry_of(number, length);
    bool right = found == length && memcmp(data, bytes, length) == 0 && data[length] == 0;
    free(bytes), free(data);
    if (!right) fail_msg("entry %d is not what was put", (int)number);
    return true;
}

static void path_of(uint64_t number, char path[5000]) {
    char hex[33];
    igi_hash_hex(key_of(number), hex);
    snprintf(path, 5000, "%s/%s.igc", place, hex);
}

// ---- Entries ----

static void what_is_put_is_got(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 55, 56, 57, 4096, 100000};
    for (uint64_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_false(has(i, lengths[i]));
        put(i, lengths[i]);
        assert_true(has(i, lengths[i]));
    }
    put(3, 77);
    assert_true(has(3, 77));
}

static void another_cache_on_the_directory_sees_it(void **state) {
    (void)state;
    put(1, 100);
    igi_disk_cache_destroy(cache);
    cache = igi_disk_cache_create(place, 1 << 20);
    assert_true(has(1, 100));
}

static void no_cache_is_always_empty(void **state) {
    (void)state;
    char *data;
    size_t length;
    assert_null(igi_disk_cache_create(NULL, 100));
    igi_disk_cache_put(NULL, key_of(1), "x", 1);
    assert_false(igi_disk_cache_get(NULL, key_of(1), &data, &length));
    igi_disk_cache_destroy(NULL);
    igi_disk_cache_put(cache, (igi_hash){0}, "x", 1);
    assert_false(igi_disk_cache_get(cache, (igi_hash){0}, &data, &length));
}

static void every_changed_byte_is_a_miss(void **state) {
    (void)state;
    char path[5000], *file = NULL;
    size_t length;
    put(1, 64);
    path_of(1, path);
    assert_int_equal(igi_file_read(path, &file, &length, NULL), IG_STATUS_OK);
    for (size_t i = 0; i < length; i++) {
        file[i] ^= 1;
        assert_int_equal(igi_file_write_atomic(path, file, length), IG_STATUS_OK);
        file[i] ^= 1;
        assert_false(has(1, 64));
        assert_false(igi_file_exists(path));  // so that it is made again
    }
    for (size_t i = 0; i < length; i++) {
        assert_int_equal(igi_file_write_atomic(path, file, i), IG_STATUS_OK);
        assert_false(has(1, 64));
    }
    assert_int_equal(igi_file_write_atomic(path, file, length), IG_STATUS_OK);
    assert_true(has(1, 64));
    free(file);
}

static void an_unwritable_directory_is_done_without(void **state) {
    (void)state;
    assert_int_equal(igi_file_write_atomic(place, "", 0) == IG_STATUS_OK, 0);  // its parent is not there yet
    char parent[4096];
    snprintf(parent, sizeof parent, "%s/a", directory);
    assert_int_equal(igi_file_write_atomic(parent, "a file", 6), IG_STATUS_OK);
    put(1, 100);
    assert_false(has(1, 100));
}

static void short_memory_is_a_miss(void **state) {
    (void)state;
    put(1, 100);
    for (uint64_t n = 1; n < 4; n++) {
        char *data = NULL;
        size_t length = 0;
        igi_alloc_fail_at(n);
        bool found = igi_disk_cache_get(cache, key_of(1), &data, &length);
        igi_disk_cache_put(cache, key_of(100 + n), "x", 1);
        igi_alloc_fail_at(0);
        if (found) free(data);
        assert_true(has(1, 100));
    }
}

// ---- What is not an entry ----

static void pipes_and_links_are_misses_at_once(void **state) {
    (void)state;
    char path[5000], other[5000];
    put(1, 100), put(2, 100);
    path_of(1, path), path_of(2, other);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(has(1, 100));
    unlink(path);
    assert_int_equal(symlink(other, path), 0);
    assert_false(has(1, 100));
    assert_true(has(2, 100));
    put(1, 100);  // replaces the link, not its target
    assert_true(has(1, 100));
    assert_true(has(2, 100));
}

static void a_huge_entry_does_not_drive_out_the_others(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20; i++) put(i, 20000);
    put(100, 2 << 20), put(101, 900000), put(102, (1 << 18) + 1);
    for (uint64_t i = 100; i < 103; i++) assert_false(has(i, 1));
    for (uint64_t i = 0; i < 20; i++) assert_true(has(i, 20000));
    put(103, 1 << 18);
    assert_true(has(103, 1 << 18));
}

// ---- Whose directory ----

static bool is_used(const char *name) {
    char *found = igi_cache_dir(name);
    bool used = found != NULL;
    free(found);
    return used;
}

static void expect_used(const char *name, mode_t mode, bool used) {
    assert_int_equal(chmod(directory, mode), 0);
    if (is_used(name) != used) fail_msg("mode %o: %s", (unsigned)mode, used ? "not used" : "used");
}

static void a_directory_that_others_can_write_is_not_used(void **state) {
    (void)state;
    // Directories that do not exist, that exist, and one below such a directory.
    expect_used(place, 0700, true);
    expect_used(place, 0755, true);
    expect_used(place, 0777, false);
    expect_used(place, 0775, false);
    expect_used(place, 01777, true);  // like /tmp
    expect_used(directory, 0700, true);
    expect_used(directory, 0722, false);
    expect_used(directory, 01777, false);  // others could create entries
    assert_int_equal(chmod(directory, 0700), 0);
    put(1, 10);
    assert_true(is_used(place));
    assert_int_equal(chmod(place, 0720), 0);
    assert_false(is_used(place));
}

static void a_link_counts_as_what_it_leads_to(void **state) {
    (void)state;
    char link[5000], target[5000];
    snprintf(link, sizeof link, "%s/link", directory);
    snprintf(target, sizeof target, "%s/target", directory);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink(target, link), 0);
    char *found = igi_cache_dir(link), *real = realpath(target, NULL);
    assert_string_equal(found, real);  // so that nobody can redirect the link
    free(found), free(real);
    assert_int_equal(chmod(target, 0777), 0);
    assert_false(is_used(link));
}

// Only root can give directories away, and only to users that its namespace has.
static bool can_give_away(const char *path) {
    return geteuid() == 0 && chown(path, 12345, (gid_t)-1) == 0 && chown(path, 0, (gid_t)-1) == 0;
}

static void a_directory_of_another_user_is_not_used(void **state) {
    (void)state;
    if (!can_give_away(directory)) skip();
    assert_int_equal(chown(directory, 12345, (gid_t)-1), 0);
    assert_false(is_used(directory));
    assert_false(is_used(place));
    assert_int_equal(chown(directory, 0, (gid_t)-1), 0);
    assert_true(is_used(place));
}

// In a child that runs as this user, because only root can become another user.
static bool is_used_by(uid_t user, mode_t mode, gid_t group) {
    assert_int_equal(chown(directory, user, group), 0);
    assert_int_equal(chmod(directory, mode), 0);
    pid_t child = fork();
    if (child == 0) _exit(setgid(user) == 0 && setuid(user) == 0 && is_used(directory) ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void the_group_of_one_user_is_that_user(void **state) {
    (void)state;
    if (!can_give_away(directory)) skip();
    assert_true(is_used_by(12345, 0770, 12345));
    assert_false(is_used_by(12345, 0777, 12345));
    assert_false(is_used_by(12345, 0770, 12346));
    assert_true(is_used_by(12345, 0750, 12346));
    assert_false(is_used_by(100, 0770, 100));
}

// ---- The bound ----

static uint64_t total_bytes(void) {
    uint64_t total = 0;
    DIR *stream = opendir(place);
    struct dirent *item;
    while (stream && (item = readdir(stream))) {
        char path[5000];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", place, item->d_name);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) total += (uint64_t)info.st_size;
    }
    if (stream) closedir(stream);
    return total;
}

static void the_bound_holds_and_the_oldest_go(void **state) {
    (void)state;
    enum { BOUND = 1 << 20, ENTRY = 20000 };
    for (uint64_t i = 0; i < 200; i++) {
        put(i, ENTRY);
        assert_true(total_bytes() <= BOUND + BOUND / 8 + ENTRY + 100);
        // The first is used all the time, so it is kept. Kernel clocks tick in milliseconds.
        usleep(1000);
        assert_true(has(0, ENTRY));
    }
    assert_true(has(199, ENTRY));
    assert_false(has(1, ENTRY));
    assert_true(total_bytes() > BOUND / 2);
}

static void foreign_files_are_left_alone(void **state) {
    (void)state;
    char path[5000];
    put(0, 10);
    snprintf(path, sizeof path, "%s/notes.txt", place);
    assert_int_equal(igi_file_write_atomic(path, "mine", 4), IG_STATUS_OK);
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    utimensat(AT_FDCWD, path, old, 0);
    for (uint64_t i = 0; i < 100; i++) put(i, 20000);
    assert_true(igi_file_exists(path));
}

// ---- Together ----

static void *put_and_get(void *argument) {
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t number = (i * 7 + seed) % 20;
        size_t length = 1000 + number;
        char *bytes = entry_of(number, length), *data = NULL;
        size_t found = 0;
        igi_disk_cache_put(cache, key_of(number), bytes, length);
        bool got = igi_disk_cache_get(cache, key_of(number), &data, &found);
        bool right = got && found == length && memcmp(data, bytes, length) == 0;
        if (got) free(data);
        free(bytes);
        if (!right) return argument;
    }
    return NULL;
}

static void threads_and_processes_do_not_meet(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) _exit(put_and_get((void *)99) ? 1 : 0);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) {
        void *problem = NULL;
        pthread_join(threads[i], &problem);
        assert_null(problem);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (uint64_t i = 0; i < 20; i++) assert_true(has(i, 1000 + i));
}

#define cache_test(name) cmocka_unit_test_setup_teardown(name, open_cache, close_cache)

int main(void) {
    const struct CMUnitTest tests[] = {
        cache_test(what_is_put_is_got),
        cache_test(another_cache_on_the_directory_sees_it),
        cache_test(no_cache_is_always_empty),
        cache_test(every_changed_byte_is_a_miss),
        cache_test(pipes_and_links_are_misses_at_once),
        cache_test(a_huge_entry_does_not_drive_out_the_others),
        cache_test(a_directory_that_others_can_write_is_not_used),
        cache_test(a_link_counts_as_what_it_leads_to),
        cache_test(a_directory_of_another_user_is_not_used),
        cache_test(the_group_of_one_user_is_that_user),
        cache_test(an_unwritable_directory_is_done_without),
        cache_test(short_memory_is_a_miss),
        cache_test(the_bound_holds_and_the_oldest_go),
        cache_test(foreign_files_are_left_alone),
        cache_test(threads_and_processes_do_not_meet),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
