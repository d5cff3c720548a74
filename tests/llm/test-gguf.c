// SPDX-License-Identifier: Apache-2.0
// GGUF files: what was written is read; anything else in a file gives an error that says where, and leaks nothing.
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

#include "core/memory.h"
#include "model-file.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void assert_status(ig_status got, ig_status wanted) {
    assert_string_equal(ig_status_name(got), ig_status_name(wanted));
}

static void assert_text(ig_text text, const char *wanted) {
    assert_int_equal(text.length, strlen(wanted));
    assert_memory_equal(text.data, wanted, text.length);
}

static ig_gguf_value value_of(const ig_gguf *file, const char *key) {
    ig_gguf_value value;
    assert_status(ig_gguf_find(file, key, &value), IG_STATUS_OK);
    return value;
}

static void expect_failure(ig_status status, const char *fragment) {
    ig_gguf *file = NULL;
    ig_error error = {0};
    assert_status(ig_gguf_open(model_path, &file, &error), status);
    assert_null(file);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, "model.gguf"));
    if (!strstr(error.message, fragment)) fail_msg("'%s' does not say '%s'", error.message, fragment);
    ig_error_clear(&error);
    assert_status(ig_gguf_open(model_path, &file, NULL), status);
}

static void save_and_fail(gguf_writer *writer, ig_status status, const char *fragment) {
    gguf_save(writer, model_path);
    gguf_free(writer);
    expect_failure(status, fragment);
}

// ---- What was written is read ----

// One value of every kind, arrays, tensors: small enough to be broken at each byte.
static gguf_writer small_file(void) {
    gguf_writer w = {0};
    gguf_set_alignment(&w, 16);
    gguf_add(&w, "u8", IG_GGUF_U8, &(uint8_t){200});
    gguf_add(&w, "i8", IG_GGUF_I8, &(int8_t){-100});
    gguf_add(&w, "u16", IG_GGUF_U16, &(uint16_t){60000});
    gguf_add(&w, "i16", IG_GGUF_I16, &(int16_t){-30000});
    gguf_add_u32(&w, "u32", 4000000000u);
    gguf_add(&w, "i32", IG_GGUF_I32, &(int32_t){-2000000000});
    gguf_add_f32(&w, "f32", 0.5f);
    gguf_add_bool(&w, "yes", true);
    gguf_add_bool(&w, "no", false);
    gguf_add_string(&w, "string", "words");
    gguf_add_string(&w, "empty", "");
    gguf_add(&w, "u64", IG_GGUF_U64, &(uint64_t){UINT64_MAX});
    gguf_add(&w, "i64", IG_GGUF_I64, &(int64_t){INT64_MIN});
    gguf_add(&w, "f64", IG_GGUF_F64, &(double){1e300});
    gguf_add_array(&w, "i16s", IG_GGUF_I16, 3, (int16_t[]){1, -2, 3});
    gguf_add_array(&w, "bools", IG_GGUF_BOOL, 2, (uint8_t[]){0, 1});
    gguf_add_array(&w, "none", IG_GGUF_F32, 0, NULL);
    gguf_add_strings(&w, "strings", 3, (const char *const[]){"a", "", "ccc"});
    gguf_add_tensor(&w, "first", 0, 2, (uint64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6}, 24);
    gguf_add_tensor(&w, "blocks", 8, 3, (uint64_t[]){2, 1, 32}, (char[68]){7}, 68);
    gguf_add_tensor(&w, "strange", 77, 1, (uint64_t[]){5}, NULL, 0);
    gguf_add_tensor(&w, "last", 1, 1, (uint64_t[]){3}, "abcdef", 6);
    return w;
}

static void every_kind_of_value_is_read(void **state) {
    (void)state;
    gguf_writer w = small_file();
    ig_gguf *file = save_and_open(&w);
    assert_int_equal(ig_gguf_value_count(file), 19);
    assert_text(ig_gguf_key(file, 1), "u8");
    assert_text(ig_gguf_key(file, 19), "");
    assert_int_equal(value_of(file, "u8").u, 200);
    assert_int_equal(value_of(file, "i8").i, -100);
    assert_int_equal(value_of(file, "u16").u, 60000);
    assert_int_equal(value_of(file, "i16").i, -30000);
    assert_int_equal(value_of(file, "u32").u, 4000000000u);
    assert_int_equal(value_of(file, "i32").i, -2000000000);
    assert_true(value_of(file, "f32").f == 0.5);
    assert_true(value_of(file, "yes").b);
    assert_false(value_of(file, "no").b);
    assert_text(value_of(file, "string").text, "words");
    assert_text(value_of(file, "empty").text, "");
    assert_true(value_of(file, "u64").u == UINT64_MAX);
    assert_true(value_of(file, "i64").i == INT64_MIN);
    assert_true(value_of(file, "f64").f == 1e300);
    assert_int_equal(value_of(file, "f64").kind, IG_GGUF_F64);
    ig_gguf_value value = {.u = 9};
    assert_status(ig_gguf_find(file, "stringy", &value), IG_STATUS_NOT_FOUND);
    assert_int_equal(value.u, 9);
    ig_gguf_release(file);
}

static void arrays_are_read_element_by_element(void **state) {
    (void)state;
    gguf_writer w = small_file();
    ig_gguf *file = save_and_open(&w);
    ig_gguf_value array = value_of(file, "i16s"), element = {0};
    assert_int_equal(array.array.count, 3);
    assert_status(ig_gguf_element(&array, 1, &element), IG_STATUS_OK);
    assert_int_equal(element.kind, IG_GGUF_I16);
    assert_int_equal(element.i, -2);
    assert_status(ig_gguf_element(&array, 3, &element), IG_STATUS_OUT_OF_RANGE);
    array = value_of(file, "bools");
    assert_status(ig_gguf_element(&array, 1, &element), IG_STATUS_OK);
    assert_true(element.b);
    array = value_of(file, "none");
    assert_status(ig_gguf_element(&array, 0, &element), IG_STATUS_OUT_OF_RANGE);
    array = value_of(file, "strings");
    assert_text(((const ig_text *)array.array.data)[2], "ccc");
    assert_status(ig_gguf_element(&array, 0, &element), IG_STATUS_OK);
    assert_text(element.text, "a");
    array = value_of(file, "u8");
    assert_status(ig_gguf_element(&array, 0, &element), IG_STATUS_INVALID_ARGUMENT);
    ig_gguf_release(file);
}

static void tensors_lie_where_they_were_put(void **state) {
    (void)state;
    gguf_writer w = small_file();
    ig_gguf *file = save_and_open(&w);
    ig_gguf_tensor tensor;
    assert_int_equal(ig_gguf_tensor_count(file), 4);
    assert_status(ig_gguf_tensor_at(file, 4, &tensor), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_gguf_tensor_at(file, 0, &tensor), IG_STATUS_OK);
    assert_text(tensor.name, "first");
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 2);
    assert_int_equal(tensor.shape[1], 3);
    assert_int_equal(tensor.bytes, 24);
    assert_memory_equal(tensor.data, ((float[]){1, 2, 3, 4, 5, 6}), 24);
    assert_status(ig_gguf_find_tensor(file, "blocks", &tensor), IG_STATUS_OK);
    assert_int_equal(tensor.bytes, 68);
    assert_int_equal((uintptr_t)tensor.data % 16, 0);
    assert_status(ig_gguf_find_tensor(file, "last", &tensor), IG_STATUS_OK);
    assert_memory_equal(tensor.data, "abcdef", 6);
    assert_status(ig_gguf_find_tensor(file, "strange", &tensor), IG_STATUS_OK);
    assert_int_equal(tensor.type, 77);
    assert_int_equal(tensor.bytes, 0);
    assert_status(ig_gguf_find_tensor(file, "lost", &tensor), IG_STATUS_NOT_FOUND);
    ig_gguf_release(file);
}

static void version_2_is_read_and_others_are_not(void **state) {
    (void)state;
    gguf_writer w = small_file();
    w.version = 2;
    ig_gguf_release(save_and_open(&w));
    w = small_file(), w.version = 1;
    save_and_fail(&w, IG_STATUS_UNSUPPORTED, "has version 1; Ingot reads versions 2 and 3");
    w = small_file(), w.version = 4;
    save_and_fail(&w, IG_STATUS_UNSUPPORTED, "has version 4");
    w = small_file(), w.version = 3u << 24;
    save_and_fail(&w, IG_STATUS_UNSUPPORTED, "big-endian");
    gguf_write_file(model_path, "GGML and more", 13);
    expect_failure(IG_STATUS_BAD_FORMAT, "is not a GGUF file");
}

static void a_file_lives_as_long_as_its_last_reference(void **state) {
    (void)state;
    gguf_writer w = small_file();
    ig_gguf *file = save_and_open(&w);
    assert_ptr_equal(ig_gguf_retain(file), file);
    ig_gguf_release(file);
    unlink(model_path);
    assert_text(value_of(file, "string").text, "words");
    ig_gguf_release(file);
    ig_gguf_release(NULL);
}

static void many_names_are_found(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    gguf_writer w = {0};
    char name[32];
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "name.%u", i * 7919 % COUNT);
        gguf_add_u32(&w, name, i);
        gguf_add_tensor(&w, name, 0, 1, (uint64_t[]){1}, &(float){(float)i}, 4);
    }
    ig_gguf *file = save_and_open(&w);
    for (uint32_t i = 0; i < COUNT; i++) {
        ig_gguf_tensor tensor;
        snprintf(name, sizeof name, "name.%u", i * 7919 % COUNT);
        assert_int_equal(value_of(file, name).u, i);
        assert_status(ig_gguf_find_tensor(file, name, &tensor), IG_STATUS_OK);
        assert_true(*(const float *)tensor.data == (float)i);
    }
    ig_gguf_release(file);
}

static void types_have_names_and_weights_have_types(void **state) {
    (void)state;
    bool seen[IG_WEIGHT_TYPE_COUNT] = {0};
    ig_weight_type type;
    assert_string_equal(ig_gguf_type_name(12), "Q4_K");
    assert_string_equal(ig_gguf_type_name(4), "unknown");
    assert_string_equal(ig_gguf_type_name(UINT32_MAX), "unknown");
    assert_status(ig_gguf_weight_type(24, &type), IG_STATUS_UNSUPPORTED);
    assert_status(ig_gguf_weight_type(UINT32_MAX, &type), IG_STATUS_UNSUPPORTED);
    for (uint32_t number = 0; number < 64; number++) {
        if (ig_gguf_weight_type(number, &type) != IG_STATUS_OK) continue;
        uint64_t bytes;
        gguf_writer w = {0};
        assert_status(ig_weight_size(type, 1, 256, &bytes), IG_STATUS_OK);
        assert_int_equal(strcasecmp(ig_gguf_type_name(number), ig_weight_type_name(type)), 0);
        gguf_add_tensor(&w, "weight", number, 2, (uint64_t[]){1, 256}, (char[1024]){0}, bytes);
        ig_gguf *file = save_and_open(&w);
        ig_gguf_tensor tensor;
        assert_status(ig_gguf_find_tensor(file, "weight", &tensor), IG_STATUS_OK);
        assert_int_equal(tensor.bytes, bytes);
        ig_gguf_release(file);
        seen[type] = true;
    }
    for (int i = 0; i < IG_WEIGHT_TYPE_COUNT; i++) assert_true(seen[i]);
}

// ---- Errors are reported ----

static void files_that_are_none_are_refused(void **state) {
    (void)state;
    char fifo[5000];
    ig_gguf *file = NULL;
    unlink(model_path);
    expect_failure(IG_STATUS_NOT_FOUND, "No such file");
    gguf_write_file(model_path, "", 0);
    expect_failure(IG_STATUS_BAD_FORMAT, "is not a GGUF file");
    assert_status(ig_gguf_open("/", &file, NULL), IG_STATUS_IO);
    snprintf(fifo, sizeof fifo, "%s.fifo", model_path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_status(ig_gguf_open(fifo, &file, NULL), IG_STATUS_IO);
    assert_status(ig_gguf_open(NULL, &file, NULL), IG_STATUS_INVALID_ARGUMENT);
}

static void names_must_differ(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_u32(&w, "same", 1);
    gguf_add_u32(&w, "other", 1);
    gguf_add_string(&w, "same", "x");
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "key 'same' occurs twice");
    gguf_add_tensor(&w, "twin", 0, 0, NULL, "1234", 4);
    gguf_add_tensor(&w, "twin", 0, 0, NULL, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'twin' occurs twice");
}

static void alignment_must_be_a_power_of_two(void **state) {
    (void)state;
    static const uint32_t wrong[] = {0, 4, 24, 33};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        gguf_writer w = {0};
        gguf_add_u32(&w, "general.alignment", wrong[i]);
        save_and_fail(&w, IG_STATUS_BAD_FORMAT, "'general.alignment'");
    }
    gguf_writer w = {0};
    gguf_add_string(&w, "general.alignment", "32");
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "'general.alignment'");
    gguf_set_alignment(&w, 1u << 31);
    ig_gguf_release(save_and_open(&w));
}

static void arrays_of_arrays_are_named(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_array(&w, "nested", IG_GGUF_ARRAY, 1, NULL);
    save_and_fail(&w, IG_STATUS_UNSUPPORTED, "key 'nested' is an array of arrays");
}

static void bools_are_0_or_1(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_array(&w, "flags", IG_GGUF_BOOL, 3, (uint8_t[]){1, 0, 2});
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "key 'flags' has a bool");
}

static void tensors_must_fit_their_file(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_tensor(&w, "long", 0, 2, (uint64_t[]){3, 3}, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "byte 24: tensor 'long' ends at 132 but the file has 100 bytes");
    gguf_add_tensor(&w, "parts", 8, 2, (uint64_t[]){2, 33}, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'parts' has rows of 33 weights");
    gguf_add_tensor(&w, "huge", 0, 3, (uint64_t[]){1ull << 32, 1ull << 31, 1}, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'huge' has more weights");
    gguf_add_tensor(&w, "strange", 99, 3, (uint64_t[]){1ull << 32, 1ull << 32, 1}, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'strange' has more weights");
    gguf_add_tensor(&w, "deep", 0, 5, (uint64_t[]){1, 1, 1, 1, 1}, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'deep' has 5 dimensions");
    gguf_set_alignment(&w, 8);
    w.alignment = 4;  // the file says 8
    gguf_add_tensor(&w, "one", 0, 0, NULL, "1234", 4);
    gguf_add_tensor(&w, "two", 0, 0, NULL, "1234", 4);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "tensor 'two' begins at 4 of the data, which is not a multiple of 8");
}

// Large numbers in small files: memory is allocated for what a file can hold, not for what it claims.
static void promises_are_held_against_the_file(void **state) {
    (void)state;
    static const struct {
        ig_gguf_kind kind;
        uint64_t count;
        const char *fragment;
    } arrays[] = {{IG_GGUF_STRING, 1ull << 40, "key 'array' promises 1099511627776 strings"},
                  {IG_GGUF_F64, 1ull << 61, "key 'array' goes on for"},
                  {IG_GGUF_U8, UINT64_MAX, "key 'array' goes on for"}};
    for (size_t i = 0; i < LENGTH(arrays); i++) {
        gguf_writer w = {0};
        gguf_add_array(&w, "array", arrays[i].kind, 0, NULL);
        memcpy(w.pairs.data + w.pairs.length - 8, &arrays[i].count, 8);
        save_and_fail(&w, IG_STATUS_BAD_FORMAT, arrays[i].fragment);
    }
    gguf_writer w = {.pair_count = 1ull << 50};
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "promises 1125899906842624 keys");
    w.tensor_count = UINT64_MAX;
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "promises 18446744073709551615 tensors");
}

static void the_first_unknown_kind_is_refused(void **state) {
    (void)state;
    gguf_writer w = {0};
    uint32_t kind = IG_GGUF_KIND_COUNT;
    gguf_add_u32(&w, "odd", 7);
    memcpy(w.pairs.data + w.pairs.length - 8, &kind, 4);
    char sentence[64];
    snprintf(sentence, sizeof sentence, "has a value of unknown kind %u", kind);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, sentence);
}

// A string that ends one byte after the file does.
static void one_byte_too_many_is_refused(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_string(&w, "last", "text");
    uint64_t length = strlen("text") + 1;
    memcpy(w.pairs.data + w.pairs.length - 12, &length, 8);
    save_and_fail(&w, IG_STATUS_BAD_FORMAT, "goes on for 5 bytes but the file ends after 4");
}

static void messages_carry_no_control_characters(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_array(&w, "\033[2J\n", IG_GGUF_ARRAY, 1, NULL);
    save_and_fail(&w, IG_STATUS_UNSUPPORTED, "key '?[2J?'");
}

// ---- Broken at each byte ----

// Everything that can be queried of a file that opened.
static void look_at_all(const ig_gguf *file) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ig_gguf_value_count(file); i++) sum += ig_gguf_key(file, i).length;
    for (uint64_t i = 0; i < ig_gguf_tensor_count(file); i++) {
        ig_gguf_tensor tensor;
        assert_status(ig_gguf_tensor_at(file, i, &tensor), IG_STATUS_OK);
        for (uint64_t k = 0; k < tensor.bytes; k++) sum += ((const unsigned char *)tensor.data)[k];
    }
    assert_true(sum < UINT64_MAX);
}

static ig_status open_and_look(void) {
    ig_gguf *file = NULL;
    ig_error error = {0};
    ig_status status = ig_gguf_open(model_path, &file, &error);
    assert_true(status == IG_STATUS_OK || error.message);
    if (status == IG_STATUS_OK) look_at_all(file);
    ig_gguf_release(file);
    ig_error_clear(&error);
    return status;
}

static void a_file_cut_anywhere_is_refused(void **state) {
    (void)state;
    gguf_writer w = small_file();
    size_t length;
    char *bytes = gguf_file(&w, &length);
    for (size_t cut = 0; cut < length; cut++) {
        gguf_write_file(model_path, bytes, cut);
        assert_status(open_and_look(), IG_STATUS_BAD_FORMAT);
    }
    free(bytes);
    gguf_free(&w);
}

static void a_file_with_any_byte_changed_opens_or_not(void **state) {
    (void)state;
    gguf_writer w = small_file();
    size_t length;
    char *bytes = gguf_file(&w, &length);
    for (size_t at = 0; at < length; at++) {
        const char was = bytes[at], changed[] = {(char)0xff, 0, 0x7f, (char)(was ^ 1), (char)(was ^ 0x80)};
        for (size_t i = 0; i < sizeof changed; i++) {
            bytes[at] = changed[i];
            gguf_write_file(model_path, bytes, length);
            ig_status status = open_and_look();
            assert_true(status == IG_STATUS_OK || status == IG_STATUS_BAD_FORMAT || status == IG_STATUS_UNSUPPORTED);
        }
        bytes[at] = was;
    }
    free(bytes);
    gguf_free(&w);
}

static void memory_that_runs_out_is_said(void **state) {
    (void)state;
    gguf_writer w = small_file();
    gguf_save(&w, model_path);
    gguf_free(&w);
    for (uint64_t n = 1, done = 0; !done; n++) {
        ig_gguf *file = NULL;
        igi_alloc_fail_at(n);
        ig_status status = ig_gguf_open(model_path, &file, NULL);
        done = igi_alloc_fail_at(0) < n;
        assert_status(status, done ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY);
        ig_gguf_release(file);
        assert_true(n < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(arrays_are_read_element_by_element),
        cmocka_unit_test(tensors_lie_where_they_were_put),
        cmocka_unit_test(version_2_is_read_and_others_are_not),
        cmocka_unit_test(a_file_lives_as_long_as_its_last_reference),
        cmocka_unit_test(many_names_are_found),
        cmocka_unit_test(types_have_names_and_weights_have_types),
        cmocka_unit_test(files_that_are_none_are_refused),
        cmocka_unit_test(names_must_differ),
        cmocka_unit_test(alignment_must_be_a_power_of_two),
        cmocka_unit_test(arrays_of_arrays_are_named),
        cmocka_unit_test(bools_are_0_or_1),
        cmocka_unit_test(tensors_must_fit_their_file),
        cmocka_unit_test(promises_are_held_against_the_file),
        cmocka_unit_test(the_first_unknown_kind_is_refused),
        cmocka_unit_test(one_byte_too_many_is_refused),
        cmocka_unit_test(messages_carry_no_control_characters),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_file_with_any_byte_changed_opens_or_not),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests_name("gguf", tests, make_model_directory, remove_model_directory);
}
