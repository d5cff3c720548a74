// SPDX-License-Identifier: Apache-2.0
// Every file that a source includes, in whatever spelling, is part of its key; and it can include only files that it
// may.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helpers.h"

#define WRITE_V "kernel void k(device uint *a [[buffer(0)]]) { a[0] = V; }\n"

static char *directory;
static char cache[1024], source[1024], headers[1024];

static int make_directory(void **state) {
    (void)state;
    directory = make_temp_dir();
    snprintf(cache, sizeof cache, "%s/cache", directory);
    snprintf(headers, sizeof headers, "%s/include", directory);
    snprintf(source, sizeof source, "%s/source", directory);
    mkdir(headers, 0700), mkdir(source, 0700);
    snprintf(source, sizeof source, "%s/source/main.metal", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    remove_temp_dir(directory);
    return 0;
}

static const char *beside(const char *name) {
    return path_of("%s/source/%s", directory, name);
}

static ig_status try_compile(ig_device *on, ig_library **library, ig_error *error) {
    const char *dirs[] = {headers};
    ig_library_desc desc = {.path = source, .include_dirs = dirs, .include_dir_count = 1};
    return ig_library_create(on, &desc, library, error);
}

// What kernel k of the source writes, on a new device; and how often clang ran.
static uint32_t result(uint64_t *compilations) {
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = cache});
    ig_library *library = NULL;
    ig_error error = {0};
    if (try_compile(fresh, &library, &error) != IG_STATUS_OK) fail_msg("%s", error.log ? error.log : error.message);
    ig_pipeline *pipeline = pipeline_of(library, "k");
    ig_buffer *buffer = make_buffer_on(fresh, 64);
    do_run(&(run){.on = fresh, .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1)});
    uint32_t word = *(uint32_t *)ig_buffer_contents(buffer);
    ig_device_stats stats;
    ig_device_get_stats(fresh, &stats);
    if (compilations) *compilations = stats.compilations;
    ig_buffer_release(buffer), ig_pipeline_release(pipeline), ig_library_release(library);
    ig_device_release(fresh);
    return word;
}

static void expect_refusal(const char *text, const char *message) {
    ig_library *library = NULL;
    ig_error error = {0};
    write_text(source, text);
    ig_status status = try_compile(device, &library, &error);
    if (status != IG_STATUS_COMPILE_FAILED)
        fail_msg("%s: %s: %s", text, ig_status_name(status), error.message ? error.message : "");
    assert_contains(error.message, message);
    assert_contains(error.file, "main.metal");
    assert_int_equal(error.line, 1);
    ig_error_clear(&error);
}

// ---- Stale results ----

typedef struct spelling {
    const char *name, *text, *file;
} spelling;

static const spelling spellings[] = {
    {"include", "#include \"v.h\"\n" WRITE_V, "v.h"},
    {"import", "#import \"v.h\"\n" WRITE_V, "v.h"},
    {"comments", "# /* x */ include /* y */ \"v.h\"\n" WRITE_V, "v.h"},
    {"digraph", "%:include \"v.h\"\n" WRITE_V, "v.h"},
    {"spliced word", "#inc\\\nlude \"v.h\"\n" WRITE_V, "v.h"},
    {"spliced with blanks", "#inc\\ \t\nlude \"v.h\"\n" WRITE_V, "v.h"},
    {"spliced digraph", "%\\\n:include \"v.h\"\n" WRITE_V, "v.h"},
    {"spliced name", "#include \"v\\\n.h\"\n" WRITE_V, "v.h"},
    {"carriage returns", "int x;\r#include \"v.h\"\r" WRITE_V, "v.h"},
    {"macro", "#define NAME \"v.h\"\n#include NAME\n" WRITE_V, "v.h"},
    {"macro with stringizing", "#define TEXT(x) #x\n#define NAME TEXT(v.h)\n#include NAME\n" WRITE_V, "v.h"},
    {"macro in brackets", "#define NAME <v.h>\n#include NAME\n" WRITE_V, "../include/v.h"},
    {"macro in a spliced line", "#define NAME \"v.h\"\n#inc\\\nlude NAME\n" WRITE_V, "v.h"},
    {"macro after #line", "#define NAME \"v.h\"\n#line 100 \"other\"\n#include NAME\n" WRITE_V, "v.h"},
    {"next", "#include_next <v.h>\n" WRITE_V, "../include/v.h"},
    {"pragma before", "_Pragma(\"clang diagnostic push\")\n#include \"v.h\"\n" WRITE_V, "v.h"},
};

static void an_edited_header_is_noticed_however_it_is_included(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    for (size_t i = 0; i < LENGTH(spellings); i++) {
        const spelling *s = &spellings[i];
        write_text(source, s->text);
        for (uint32_t value = 1; value <= 2; value++) {
            uint64_t compilations;
            write_text(beside(s->file), path_of("#define V %u\n", value));
            uint32_t word = result(NULL);
            if (word != value) fail_msg("%s: %u instead of %u", s->name, word, value);
            assert_int_equal(result(&compilations), value);
            if (compilations) fail_msg("%s: not found in the cache", s->name);
        }
        unlink(beside(s->file));
    }
}

static void edited_data_is_noticed_however_it_is_embedded(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const directives[] = {"#embed \"data\"", "#em\\\nbed \"data\"", "%:embed \"data\"",
                                             "#define NAME \"data\"\n#embed NAME", "#embed \"data\" limit(1)"};
    for (size_t i = 0; i < LENGTH(directives); i++) {
        write_text(source, path_of("constant uchar bytes[] = {\n%s\n};\n"
                                   "kernel void k(device uint *a [[buffer(0)]]) { a[0] = bytes[0]; }\n",
                                   directives[i]));
        // If it were rewritten as MSL, these bytes would change.
        write_text(beside("data"), "1.5 double");
        assert_int_equal(result(NULL), '1');
        write_text(beside("data"), "2.5 double");
        assert_int_equal(result(NULL), '2');
        assert_int_equal(result(NULL), '2');
    }
}

static void a_text_is_embedded_as_it_is(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(beside("data"), "kernel void f(device float *x [[buffer(0)]]) { x[0] = 1.5; }");
    write_text(source,
               "#define NAME \"data\"\nconstant uchar bytes[] = {\n#embed NAME\n};\n"
               "kernel void k(device uint *a [[buffer(0)]]) { a[0] = sizeof(bytes); }\n");
    assert_int_equal(result(NULL), strlen("kernel void f(device float *x [[buffer(0)]]) { x[0] = 1.5; }"));
}

static void a_file_that_appears_or_vanishes_is_noticed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const questions[] = {"__has_include(\"maybe.h\")", "__has_in\\\nclude(\"maybe.h\")",
                                            "defined(__has_include) && __has_include(\"maybe.h\")",
                                            "__has_embed(\"maybe.h\")", "ASKED"};
    for (size_t i = 0; i < LENGTH(questions); i++) {
        write_text(source, path_of("#define ASKED __has_include(\"maybe.h\")\n#if %s\n#define V 2\n#else\n"
                                   "#define V 1\n#endif\n" WRITE_V,
                                   questions[i]));
        for (int k = 0; k < 2; k++) {
            assert_int_equal(result(NULL), 1);
            write_text(beside("maybe.h"), "// here\n");
            assert_int_equal(result(NULL), 2);
            unlink(beside("maybe.h"));
        }
    }
}

static void a_header_that_appears_in_an_earlier_directory_is_noticed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const includes[] = {"#include \"v.h\"", "#define NAME \"v.h\"\n#include NAME"};
    for (size_t i = 0; i < LENGTH(includes); i++) {
        write_text(source, path_of("%s\n" WRITE_V, includes[i]));
        write_text(path_of("%s/v.h", headers), "#define V 1\n");
        assert_int_equal(result(NULL), 1);
        write_text(beside("v.h"), "#define V 2\n");
        assert_int_equal(result(NULL), 2);
        unlink(beside("v.h"));
        assert_int_equal(result(NULL), 1);
    }
}

static void a_name_that_changes_by_a_header_is_followed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(source, "#include \"name.h\"\n#include NAME\n#include NEXT\n" WRITE_V);
    write_text(beside("one.h"), "#define NEXT \"last.h\"\n");
    write_text(beside("two.h"), "#define NEXT \"later.h\"\n");
    write_text(beside("last.h"), "#define V 1\n");
    write_text(beside("later.h"), "#define V 2\n");
    for (int i = 0; i < 2; i++) {
        write_text(beside("name.h"), "#define NAME \"one.h\"\n");
        assert_int_equal(result(NULL), 1);
        write_text(beside("name.h"), "#define NAME \"two.h\"\n");
        assert_int_equal(result(NULL), 2);
    }
}

static void kernels_in_headers_of_computed_names_are_msl(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(source, "#define NAME \"k.h\"\n#include NAME\n");
    write_text(beside("k.h"), "#define DEEP \"deep.h\"\n#include DEEP\n");
    for (uint32_t value = 1; value <= 2; value++) {
        write_text(beside("deep.h"),
                   path_of("kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
                           "    a[i] = uint(%u.5 + i);\n}\n",
                           value));
        assert_int_equal(result(NULL), value);
    }
}

static void computed_names_without_end_are_refused(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = NULL;
    ig_error error = {0};
    FILE *file = fopen(source, "w");
    if (!file) abort();
    fprintf(file, "#define TEXT(x) #x\n#define NAME(n) TEXT(n.h)\n");
    for (int i = 0; i < 40; i++) {
        fprintf(file, "#include NAME(%d)\n", i);
        write_text(beside(path_of("%d.h", i)), "");
    }
    fclose(file);
    ig_status status = try_compile(device, &library, &error);
    if (status != IG_STATUS_UNSUPPORTED) fail_msg("%s: %s", ig_status_name(status), error.message);
    assert_contains(error.message, "macros");
    ig_error_clear(&error);
}

static void libraries_alive_are_not_taken_for_edited_ones(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *first = NULL, *second = NULL;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = ""});
    write_text(source, "#define NAME \"k.h\"\n#include NAME\n");
    write_text(beside("k.h"), "kernel void before(device uint *a [[buffer(0)]]) { a[0] = 1; }\n");
    assert_ok(try_compile(fresh, &first, NULL));
    write_text(beside("k.h"), "kernel void after(device uint *a [[buffer(0)]]) { a[0] = 1; }\n");
    assert_ok(try_compile(fresh, &second, NULL));
    assert_string_equal(ig_library_kernel(first, 0)->name, "before");
    assert_string_equal(ig_library_kernel(second, 0)->name, "after");
    ig_library_release(first), ig_library_release(second);
    ig_device_release(fresh);
}

static void the_environment_does_not_steer_clang(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH"};
    char *elsewhere = make_temp_dir();
    write_text(path_of("%s/v.h", elsewhere), "#define V 1\n");
    for (size_t i = 0; i < LENGTH(variables); i++) {
        setenv(variables[i], elsewhere, 1);
        expect_refusal("#include <v.h>\n" WRITE_V, "not found");
        unsetenv(variables[i]);
    }
    write_text(source, "#ifndef V\n#define V 3\n#endif\n" WRITE_V);
    setenv("CCC_OVERRIDE_OPTIONS", "# +-DV=4", 1);
    uint32_t word = result(NULL);
    unsetenv("CCC_OVERRIDE_OPTIONS");
    assert_int_equal(word, 3);
    remove_temp_dir(elsewhere);
}

// A precompiled form of the source next to it is not the source.
static void files_beside_the_source_do_not_replace_it(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(source, "#define V 5\n" WRITE_V);
    write_text(beside("main.metal.pch"), "not what was asked for");
    write_text(beside("main.metal.gch"), "not what was asked for");
    assert_int_equal(result(NULL), 5);
}

// What cannot be part of the key is not available.
static void the_time_of_compilation_is_no_input(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(source, "kernel void k(device uint *a [[buffer(0)]]) { a[0] = __DATE__[10]; }\n");
    assert_int_equal(result(NULL), '0');  // Jan  1 1970
}

// ---- Refusals ----

static void files_outside_are_refused_by_name(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char outside[] = "outside the directory of the source";
    write_text(path_of("%s/outside.h", directory), "#define V 1\n");
    expect_refusal("#include \"/etc/passwd\"\n", outside);
    expect_refusal("#include </etc/passwd>\n", outside);
    expect_refusal("#include \"../outside.h\"\n", outside);
    expect_refusal("#include \"../source/../outside.h\"\n", outside);
    expect_refusal("#include <../outside.h>\n", outside);
    expect_refusal("#include \"../../../../../../../../etc/passwd\"\n", outside);
    expect_refusal("#embed \"/etc/shadow\" limit(64)\n", outside);
    assert_int_equal(symlink("/etc/passwd", beside("link.h")), 0);
    expect_refusal("#include \"link.h\"\n", "symbolic link");
    write_text(source, "#define NAME \"/etc/passwd\"\n");
    expect_refusal("#include NAME_IS_NOT_DEFINED\n", "expected");
}

static void computed_names_outside_are_refused_too(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = NULL;
    ig_error error = {0};
    write_text(source, "#define NAME \"/etc/passwd\"\n#include NAME\n");
    assert_status(try_compile(device, &library, &error), IG_STATUS_COMPILE_FAILED);
    assert_contains(error.message, "outside the directory");
    assert_int_equal(error.line, 2);
    ig_error_clear(&error);
}

static void traversal_into_an_include_directory_is_allowed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(path_of("%s/v.h", headers), "#define V 7\n");
    write_text(source, "#include \"../include/v.h\"\n" WRITE_V);
    assert_int_equal(result(NULL), 7);
    assert_int_equal(symlink(path_of("%s/v.h", headers), beside("link.h")), 0);
    write_text(source, "#include \"link.h\"\n" WRITE_V);
    assert_int_equal(result(NULL), 7);
}

static void pipes_and_devices_are_no_headers(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    assert_int_equal(mkfifo(beside("pipe.h"), 0600), 0);
    mkdir(beside("directory.h"), 0700);
    expect_refusal("#include \"pipe.h\"\n", "not a regular file");
    expect_refusal("#include \"directory.h\"\n", "not a regular file");
    expect_refusal("#include \"/dev/zero\"\n", "outside");
    const char *dirs[] = {"/dev"};
    ig_library *library = NULL;
    ig_error error = {0};
    ig_library_desc desc = {.source = "#include <zero>\n", .include_dirs = dirs, .include_dir_count = 1};
    assert_status(ig_library_create(device, &desc, &library, &error), IG_STATUS_COMPILE_FAILED);
    assert_contains(error.message, "not a regular file");
    assert_status(ig_library_create(device, &(ig_library_desc){.path = "/dev/zero"}, &library, &error), IG_STATUS_IO);
    assert_status(ig_library_create(device, &(ig_library_desc){.path = beside("pipe.h")}, &library, &error),
                  IG_STATUS_IO);
    ig_error_clear(&error);
}

static void what_is_not_compiled_may_name_any_file(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    write_text(source,
               "#if 0\n#include \"/etc/passwd\"\n#include \"nowhere.h\"\n#if __has_include(NAME)\n#endif\n#endif\n"
               "#if __has_include(\"/etc/passwd\")\n#define V 1\n#else\n#define V 2\n#endif\n" WRITE_V);
    assert_int_equal(result(NULL), 2);
}

static void questions_with_computed_names_are_refused(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    expect_refusal("#if __has_include(NAME)\n#endif\n", "must be written out");
    ig_library *library = NULL;
    ig_error error = {0};
    write_text(source, "#define HAS(x) __has_include(x)\n#if HAS(<metal_stdlib>)\n#endif\n");
    assert_status(try_compile(device, &library, &error), IG_STATUS_COMPILE_FAILED);
    assert_contains(error.message, "must be written out");
    ig_error_clear(&error);
}

static void a_file_is_not_both_text_and_data(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = NULL;
    ig_error error = {0};
    write_text(beside("both.h"), "constant float x = 1.5;\n");
    write_text(source, "#include \"both.h\"\nconstant uchar b[] = {\n#embed \"both.h\"\n};\n");
    assert_status(try_compile(device, &library, &error), IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "both.h");
    ig_error_clear(&error);
}

#define include_test(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        include_test(an_edited_header_is_noticed_however_it_is_included),
        include_test(edited_data_is_noticed_however_it_is_embedded),
        include_test(a_text_is_embedded_as_it_is),
        include_test(a_file_that_appears_or_vanishes_is_noticed),
        include_test(a_header_that_appears_in_an_earlier_directory_is_noticed),
        include_test(a_name_that_changes_by_a_header_is_followed),
        include_test(kernels_in_headers_of_computed_names_are_msl),
        include_test(computed_names_without_end_are_refused),
        include_test(libraries_alive_are_not_taken_for_edited_ones),
        include_test(the_environment_does_not_steer_clang),
        include_test(files_beside_the_source_do_not_replace_it),
        include_test(the_time_of_compilation_is_no_input),
        include_test(files_outside_are_refused_by_name),
        include_test(computed_names_outside_are_refused_too),
        include_test(traversal_into_an_include_directory_is_allowed),
        include_test(pipes_and_devices_are_no_headers),
        include_test(what_is_not_compiled_may_name_any_file),
        include_test(questions_with_computed_names_are_refused),
        include_test(a_file_is_not_both_text_and_data),
    };
    return cmocka_run_group_tests_name("includes", tests, open_test_device, close_test_device);
}
