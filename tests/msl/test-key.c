// SPDX-License-Identifier: Apache-2.0
// The key of a compilation: everything that can change its result changes the key, and nothing else does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "core/file.h"
#include "msl/compiler.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static igi_msl_compiler *compiler;
static char *directory;

static int open_compiler(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    return directory && igi_msl_compiler_create(NULL, &compiler) == IG_STATUS_OK ? 0 : -1;
}

static int close_compiler(void **state) {
    (void)state;
    igi_msl_compiler_destroy(compiler);
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

// A request as a user makes it.
typedef struct options {
    const char *text, *name, *path;
    const char *const *include_dirs;
    size_t include_dir_count;
    const ig_define *defines;
    size_t define_count;
    uint32_t language_version;
    ig_math_mode math_mode;
    bool line_tables;
    uint64_t timeout_ns;
} options;

static igi_hash key_of(const options *o) {
    igi_msl_request request = {.defines = o->defines,
                               .define_count = o->define_count,
                               .language_version = o->language_version,
                               .math_mode = o->math_mode,
                               .line_tables = o->line_tables,
                               .timeout_ns = o->timeout_ns};
    const char *text = o->text || o->path ? o->text : "kernel void k() {}";
    igi_msl_main_source main = {text, text ? strlen(text) : 0, o->path, o->name};
    assert_int_equal(igi_msl_sources_load(&request.sources, &main, o->include_dirs, o->include_dir_count, NULL),
                     IG_STATUS_OK);
    igi_hash key = igi_msl_key(compiler, &request), content = igi_msl_content_key(compiler, &request);
    igi_msl_sources_free(&request.sources);
    assert_true(igi_hash_valid(key) && igi_hash_valid(content));
    assert_false(igi_hash_equal(key, content));  // only one of them contains the clang
    return content;
}

static void expect_different(const options *all, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (igi_hash_equal(key_of(&all[i]), key_of(&all[k])) != (i == k)) fail_msg("%zu and %zu", i, k);
}

static void every_option_is_in_the_key(void **state) {
    (void)state;
    const options all[] = {
        {.language_version = 310},
        {.language_version = 300},
        {.language_version = 310, .math_mode = IG_MATH_SAFE},
        {.language_version = 310, .line_tables = true},
        {.language_version = 310, .line_tables = true, .math_mode = IG_MATH_SAFE},
        {.language_version = 310, .name = "other.metal"},
        {.language_version = 310, .text = "kernel void k() {} "},
        {.language_version = 310, .text = ""},
    };
    expect_different(all, LENGTH(all));
}

static void what_changes_no_result_is_not_in_the_key(void **state) {
    (void)state;
    assert_true(igi_hash_equal(key_of(&(options){.timeout_ns = 1}), key_of(&(options){.timeout_ns = 0})));
    assert_true(igi_hash_equal(key_of(&(options){.name = "program_source"}), key_of(&(options){0})));
}

static void defines_are_in_the_key_with_their_order(void **state) {
    (void)state;
    static const ig_define sets[][2] = {
        {{"A", "1"}, {"B", "2"}}, {{"B", "2"}, {"A", "1"}}, {{"A", "2"}, {"B", "1"}}, {{"A", "12"}, {"B", ""}},
        {{"A1", ""}, {"B", "2"}}, {{"A", NULL}, {"B", ""}}, {{"A", ""}, {"B", NULL}}, {{"A", "1"}, {"A", "1"}},
    };
    options all[LENGTH(sets) + 2] = {{0}};
    for (size_t i = 0; i < LENGTH(sets); i++) all[i] = (options){.defines = sets[i], .define_count = 2};
    all[LENGTH(sets)] = (options){.defines = sets[0], .define_count = 1};
    expect_different(all, LENGTH(all));
}

static void include_directories_are_in_the_key_with_their_order(void **state) {
    (void)state;
    static const char *const sets[][2] = {{"/a", "/b"}, {"/b", "/a"}, {"/ab", "/"}, {"/a", "/a"}};
    options all[LENGTH(sets) + 2] = {{0}};
    for (size_t i = 0; i < LENGTH(sets); i++) all[i] = (options){.include_dirs = sets[i], .include_dir_count = 2};
    all[LENGTH(sets)] = (options){.include_dirs = sets[0], .include_dir_count = 1};
    expect_different(all, LENGTH(all));
}

static void a_relative_directory_is_the_one_it_names_now(void **state) {
    (void)state;
    const char *const relative[] = {"headers"};
    options o = {.include_dirs = relative, .include_dir_count = 1};
    char *here = getcwd(NULL, 0);
    igi_hash before = key_of(&o);
    assert_int_equal(chdir(directory), 0);
    igi_hash after = key_of(&o);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_false(igi_hash_equal(before, after));
}

static void write_file(const char *name, const char *text) {
    char *path = igi_path_join(directory, name);
    assert_int_equal(igi_file_write_atomic(path, text, strlen(text)), IG_STATUS_OK);
    free(path);
}

static void files_that_are_named_are_in_the_key(void **state) {
    (void)state;
    static const char *const names[] = {"a.h", "b.h", "c.h", "d.h", "e.h", "f.h"};
    char *path = igi_path_join(directory, "main.metal");
    options o = {.path = path};
    write_file("main.metal",
               "#include \"a.h\"\n#import \"b.h\"\n%:include \"c.h\"\n#inc\\\nlude \"d.h\"\n"
               "#if __has_include(\"e.h\")\n#endif\nint x[] = {\n#embed \"f.h\"\n};\n");
    for (size_t i = 0; i < LENGTH(names); i++) {
        igi_hash absent = key_of(&o);
        write_file(names[i], "// one\n");
        igi_hash present = key_of(&o);
        write_file(names[i], "// two\n");
        igi_hash changed = key_of(&o);
        if (igi_hash_equal(absent, present) || igi_hash_equal(present, changed)) fail_msg("%s", names[i]);
    }
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_in_the_key),
        cmocka_unit_test(what_changes_no_result_is_not_in_the_key),
        cmocka_unit_test(defines_are_in_the_key_with_their_order),
        cmocka_unit_test(include_directories_are_in_the_key_with_their_order),
        cmocka_unit_test(a_relative_directory_is_the_one_it_names_now),
        cmocka_unit_test(files_that_are_named_are_in_the_key),
    };
    return cmocka_run_group_tests_name("key", tests, open_compiler, close_compiler);
}
