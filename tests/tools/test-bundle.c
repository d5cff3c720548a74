// SPDX-License-Identifier: Apache-2.0
// Libraries of Ingot's own: what is written is read, runs without the files it was made from, and cannot do harm if it was
// tampered with.
#include "helpers.h"
//
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler-identity.h"
#include "core/file.h"
#include "core/hash.h"
#include "msl/bundle.h"
#include "msl/packed.h"

static igi_msl_compiler *compiler;
static char *sources_dir;

static int set_up(void **state) {
    sources_dir = igi_make_temp_dir();
    if (!sources_dir || open_test_device(state) != 0) return -1;
    return igi_msl_compiler_create(cache_dir, &compiler) == IG_STATUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
    igi_msl_compiler_destroy(compiler);
    igi_remove_tree(sources_dir);
    free(sources_dir);
    return close_test_device(state);
}

// ---- Making them ----

static char *put_file(const char *name, const char *text) {
    char *path = igi_path_join(sources_dir, name), *directory = igi_path_dirname(path);
    assert_true(igi_make_dirs(directory));
    assert_int_equal(igi_file_write_atomic(path, text, strlen(text)), IG_STATUS_OK);
    free(directory);
    return path;
}

static void add_number(igi_text *source, const char *kernel, int number) {
    igi_text_addf(source, "kernel void %s(device int *x, uint i [[thread_position_in_grid]]) { x[i] += %d; }\n", kernel,
                  number);
}

// The file is removed once it has been compiled.
static igi_text compile_file(const char *path, igi_msl_request request, const char *const *dirs, size_t dir_count) {
    igi_text bytes = {0};
    ig_error error = {0};
    igi_msl_product product;
    assert_ok(igi_msl_sources_load(&request.sources, &(igi_msl_main_source){.path = path}, dirs, dir_count, &error));
    igi_msl_diagnostics diagnostics = {.sources = &request.sources};
    assert_ok(igi_msl_build(compiler, &request, &diagnostics, &product, &error));
    assert_ok(igi_msl_unit_write(compiler, &request, &product, IGI_COMPILER_IDENTITY, &bytes, &error));
    free(product.bitcode);
    igi_msl_reflection_free(&product.reflection);
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&request.sources);
    return bytes;
}

static igi_text make_unit(const char *kernel, int number) {
    igi_text source = {0};
    add_number(&source, kernel, number);
    char *path = put_file("unit.metal", source.data);
    igi_text bytes = compile_file(path, (igi_msl_request){.language_version = 310}, NULL, 0);
    free(path);
    igi_text_free(&source);
    return bytes;
}

static igi_text join(const igi_text *files, size_t count) {
    igi_msl_bundle bundles[4];
    igi_msl_unit units[4];
    igi_text joined = {0};
    assert_true(count <= 4);
    for (size_t i = 0; i < count; i++) {
        assert_ok(igi_msl_bundle_read(files[i].data, files[i].length, "a", &bundles[i], NULL));
        units[i] = bundles[i].units[0];
    }
    igi_msl_bundle_write(units, count, &joined);
    for (size_t i = 0; i < count; i++) igi_msl_bundle_free(&bundles[i]);
    return joined;
}

// After a change to the bytes, so that it is not the checksum that finds it.
static void sign(igi_text *file) {
    igi_hash hash = igi_hash_bytes(file->data + 32, file->length - 32);
    memcpy(file->data + 16, &hash, sizeof hash);
}

// ---- Running them ----

static int run_kernel(ig_library *library, const char *kernel, int value) {
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_buffer *buffer = make_buffer(sizeof value);
    memcpy(ig_buffer_contents(buffer), &value, sizeof value);
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1), .group = line(1)});
    memcpy(&value, ig_buffer_contents(buffer), sizeof value);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return value;
}

static ig_library *open_file(const igi_text *file) {
    return compile_on(device, &(ig_library_desc){.data = file->data, .data_length = file->length});
}

static uint64_t compilations(void) {
    ig_device_stats stats;
    ig_device_get_stats(device, &stats);
    return stats.compilations;
}

// ---- Tests ----

static void a_unit_runs_without_its_files(void **state) {
    (void)state;
    char *path = put_file("project/src/main.metal",
                          "#include \"../shared.h\"\n#include <numbers.h>\n#define NAME \"by-macro.h\"\n#include NAME\n"
                          "kernel void sum(device int *x) { *x += SHARED + NUMBER + FROM_MACRO + GIVEN; }\n");
    char *others[] = {put_file("project/shared.h", "#pragma once\n#define SHARED 1\n"),
                      put_file("include/numbers.h", "#define NUMBER 10\n"),
                      put_file("project/src/by-macro.h", "#define FROM_MACRO 100\n")};
    char *unused = igi_path_join(sources_dir, "unused"), *include = igi_path_join(sources_dir, "include");
    char *project = igi_path_join(sources_dir, "project");
    const char *const dirs[] = {unused, include, project};
    const ig_define given = {"GIVEN", "1000"};
    igi_text file = compile_file(
        path,
        (igi_msl_request){.language_version = 300, .math_mode = IG_MATH_SAFE, .defines = &given, .define_count = 1},
        dirs, 3);
    igi_remove_tree(sources_dir);

    igi_msl_bundle bundle;
    assert_ok(igi_msl_bundle_read(file.data, file.length, "a", &bundle, NULL));
    const igi_msl_unit *unit = bundle.units;
    assert_int_equal(unit->language_version, 300);
    assert_int_equal(unit->math_mode, IG_MATH_SAFE);
    assert_string_equal(unit->defines[0].value, "1000");
    assert_int_equal(unit->file_count, 4);
    assert_string_equal(unit->files[0].path, "/ingot-source/project/src/main.metal");
    assert_int_equal(unit->symbol_count, 1);
    assert_string_equal(unit->symbols[0].name, "sum");
    igi_msl_bundle_free(&bundle);

    uint64_t before = compilations();
    ig_library *library = open_file(&file);
    assert_int_equal(run_kernel(library, "sum", 0), 1111);
    assert_int_equal(compilations(), before);
    ig_library_release(library);
    // With line tables, it is compiled again, from what is in the file.
    library =
        compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length, .line_tables = true});
    assert_int_equal(run_kernel(library, "sum", 0), 1111);
    assert_true(compilations() > before);
    ig_library_release(library);

    for (size_t i = 0; i < LENGTH(others); i++) free(others[i]);
    free(path), free(unused), free(include), free(project);
    igi_text_free(&file);
}

static void several_units_are_one_library(void **state) {
    (void)state;
    igi_text files[] = {make_unit("one", 1), make_unit("two", 2), make_unit("three", 3)}, joined = join(files, 3);
    ig_library *library = open_file(&joined);
    assert_int_equal(ig_library_kernel_count(library), 3);
    assert_int_equal(run_kernel(library, "one", 10), 11);
    assert_int_equal(run_kernel(library, "two", 10), 12);
    assert_int_equal(run_kernel(library, "three", 10), 13);
    assert_int_equal(ig_library_find_kernel(library, "two")->argument_count, 2);
    ig_library_release(library);
    for (size_t i = 0; i < 3; i++) igi_text_free(&files[i]);
    igi_text_free(&joined);
}

static void another_version_compiles_the_sources(void **state) {
    (void)state;
    igi_text file = make_unit("old", 4);
    igi_msl_bundle bundle;
    assert_ok(igi_msl_bundle_read(file.data, file.length, "a", &bundle, NULL));
    size_t key_at = (size_t)(bundle.units[0].compiler - file.data) + strlen(bundle.units[0].compiler) + 1;
    igi_msl_bundle_free(&bundle);
    file.data[key_at] ^= 1;
    sign(&file);
    uint64_t before = compilations();
    ig_library *library = open_file(&file);
    assert_int_equal(compilations(), before + 1);
    assert_int_equal(run_kernel(library, "old", 1), 5);
    ig_library_release(library);
    igi_text_free(&file);
}

// ---- Forgery ----

// The unit with another packed library in it, under the same key.
static igi_text forge(const igi_text *file, const char *packed, size_t packed_length) {
    igi_text product = {0}, forged = {0};
    igi_msl_bundle bundle;
    assert_ok(igi_msl_bundle_read(file->data, file->length, "a", &bundle, NULL));
    igi_msl_unit unit = bundle.units[0];
    uint32_t length = (uint32_t)packed_length;
    igi_text_append(&product, unit.product, (size_t)(unit.packed - unit.product) - sizeof length);
    igi_text_append(&product, (const char *)&length, sizeof length);
    igi_text_append(&product, packed, packed_length);
    unit.product = product.data, unit.product_length = product.length;
    igi_msl_bundle_write(&unit, 1, &forged);
    igi_msl_bundle_free(&bundle);
    igi_text_free(&product);
    return forged;
}

// The bitcode of one unit with the sources and the key of another.
static void what_a_file_says_of_its_bitcode_stays_its_own(void **state) {
    (void)state;
    igi_text honest = make_unit("same", 5), other = make_unit("same", 6);
    igi_msl_bundle b;
    assert_ok(igi_msl_bundle_read(other.data, other.length, "b", &b, NULL));
    igi_text forged = forge(&honest, b.units[0].packed, b.units[0].packed_length);
    igi_msl_bundle_free(&b);

    ig_library *wrong = open_file(&forged), *right = open_file(&honest);
    igi_text source = {0};
    add_number(&source, "same", 5);
    ig_library *compiled = compile(source.data);
    assert_int_equal(run_kernel(wrong, "same", 0), 6);
    assert_int_equal(run_kernel(right, "same", 0), 5);
    assert_int_equal(run_kernel(compiled, "same", 0), 5);
    ig_library_release(wrong), ig_library_release(right), ig_library_release(compiled);
    igi_text_free(&honest), igi_text_free(&other), igi_text_free(&forged), igi_text_free(&source);
}

// Adds a call of system() to the beginning of the only function that has the symbol.
static void add_system_call(igi_msl_packed *packed) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(packed->bitcode, packed->bitcode_length, "");
    LLVMModuleRef module;
    assert_false(LLVMParseBitcodeInContext2(context, bytes, &module));
    LLVMDisposeMemoryBuffer(bytes);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef type = LLVMFunctionType(i32, &pointer, 1, false);
    LLVMValueRef function = LLVMGetNamedFunction(module, packed->reflection.kernels[0].symbol);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef argument = LLVMConstNull(pointer);
    LLVMBuildCall2(builder, type, LLVMAddFunction(module, "system", type), &argument, 1, "");
    LLVMMemoryBufferRef changed = LLVMWriteBitcodeToMemoryBuffer(module);
    free(packed->bitcode);
    packed->bitcode_length = LLVMGetBufferSize(changed);
    packed->bitcode = igi_strndup(LLVMGetBufferStart(changed), packed->bitcode_length);
    LLVMDisposeMemoryBuffer(changed);
    LLVMDisposeBuilder(builder);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static igi_text make_malicious_unit(void) {
    igi_text honest = make_unit("k", 1), bytes = {0};
    igi_msl_bundle bundle;
    igi_msl_packed packed;
    assert_ok(igi_msl_bundle_read(honest.data, honest.length, "a", &bundle, NULL));
    assert_true(igi_msl_packed_read(bundle.units[0].packed, bundle.units[0].packed_length, &packed));
    igi_msl_bundle_free(&bundle);
    add_system_call(&packed);
    igi_msl_packed_write(&packed, &bytes);
    igi_text forged = forge(&honest, bytes.data, bytes.length);
    free(packed.bitcode), free(packed.log);
    igi_msl_reflection_free(&packed.reflection);
    igi_text_free(&honest), igi_text_free(&bytes);
    return forged;
}

static void forged_bitcode_is_checked_like_a_source(void **state) {
    (void)state;
    igi_text file = make_malicious_unit();
    ig_library *library = open_file(&file);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_int_not_equal(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error),
                         IG_STATUS_OK);
    assert_contains(error.message, "system");
    ig_error_clear(&error);
    ig_library_release(library);
    igi_text_free(&file);
}

static void bytes_that_are_no_bitcode_are_refused(void **state) {
    (void)state;
    igi_text honest = make_unit("k", 1), bytes = {0};
    igi_msl_bundle bundle;
    igi_msl_packed packed;
    assert_ok(igi_msl_bundle_read(honest.data, honest.length, "a", &bundle, NULL));
    assert_true(igi_msl_packed_read(bundle.units[0].packed, bundle.units[0].packed_length, &packed));
    igi_msl_bundle_free(&bundle);
    memset(packed.bitcode, 'x', packed.bitcode_length);
    igi_msl_packed_write(&packed, &bytes);
    igi_text forged = forge(&honest, bytes.data, bytes.length);
    ig_library *library = open_file(&forged);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_int_not_equal(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error),
                         IG_STATUS_OK);
    assert_non_null(error.message);
    ig_error_clear(&error);
    ig_library_release(library);
    free(packed.bitcode), free(packed.log);
    igi_msl_reflection_free(&packed.reflection);
    igi_text_free(&honest), igi_text_free(&bytes), igi_text_free(&forged);
}

// ---- Damage ----

static void expect_refused(const igi_text *file, const char *reason) {
    ig_library *library = NULL;
    ig_error error = {0};
    assert_status(ig_library_create(device, &(ig_library_desc){.data = file->data, .data_length = file->length},
                                    &library, &error),
                  IG_STATUS_BAD_FORMAT);
    assert_contains(error.message, reason);
    ig_error_clear(&error);
}

static void damage_is_named(void **state) {
    (void)state;
    igi_text file = make_unit("k", 1);
    file.data[file.length - 1] ^= 1;
    expect_refused(&file, "its checksum is wrong");
    sign(&file);
    file.data[8] = 2;
    expect_refused(&file, "version 2 of the format");
    file.data[8] = 1;
    file.data[12] = 100;
    expect_refused(&file, "is cut off");
    igi_text_free(&file);
    igi_text same[] = {make_unit("k", 1), make_unit("k", 2)}, joined = join(same, 2);
    expect_refused(&joined, "two functions named 'k'");
    igi_text_free(&same[0]), igi_text_free(&same[1]), igi_text_free(&joined);
}

static void every_prefix_is_refused(void **state) {
    (void)state;
    igi_text file = make_unit("k", 1);
    for (size_t length = 8; length < file.length; length++) {
        igi_msl_bundle bundle;
        ig_error error = {0};
        char *copy = igi_strndup(file.data, length);
        igi_text cut = {.data = copy, .length = length};
        if (length >= 32) sign(&cut);
        assert_status(igi_msl_bundle_read(copy, length, "a", &bundle, &error), IG_STATUS_BAD_FORMAT);
        assert_non_null(error.message);
        ig_error_clear(&error);
        free(copy);
    }
    igi_text_free(&file);
}

// A path in a file must not take the place of a header of Ingot's, nor lead out of where files are.
static void paths_are_checked(void **state) {
    (void)state;
    igi_text file = make_unit("k", 1);
    char *path = memmem(file.data, file.length, "/ingot-source/unit.metal", 24);
    assert_non_null(path);
    const char *const wrong[] = {"/ingot-stdlib/unit.metal", "/ingot-source/../a.metal", "xingot-source/unit.metal",
                                 "/dev/xxxxxxxx/unit.metal"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        memcpy(path, wrong[i], 24);
        sign(&file);
        expect_refused(&file, "unit 1 is damaged");
    }
    igi_text_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_runs_without_its_files),
        cmocka_unit_test(several_units_are_one_library),
        cmocka_unit_test(another_version_compiles_the_sources),
        cmocka_unit_test(what_a_file_says_of_its_bitcode_stays_its_own),
        cmocka_unit_test(forged_bitcode_is_checked_like_a_source),
        cmocka_unit_test(bytes_that_are_no_bitcode_are_refused),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(paths_are_checked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
