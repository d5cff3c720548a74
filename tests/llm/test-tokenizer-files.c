// SPDX-License-Identifier: Apache-2.0
// Files whose tokens make no sense: an error that names the key, without leaks.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four of these headers after math.h.
#include <cmocka.h>

#include "model-file.h"
#include "tiny-vocabulary.h"

#define KEY(name) "tokenizer.ggml." name

static tiny_vocabulary vocabulary;

static void expect(gguf_writer *writer, ig_status wanted, const char *fragment) {
    ig_gguf *file = NULL;
    ig_tokenizer *tokenizer = NULL;
    ig_error error = {0};
    gguf_save(writer, model_path);
    gguf_free(writer);
    assert_int_equal(ig_gguf_open(model_path, &file, NULL), IG_STATUS_OK);
    ig_status status = ig_tokenizer_create(file, &tokenizer, &error);
    if (status != wanted) fail_msg("%s: %s", ig_status_name(status), error.message ? error.message : "no message");
    if (fragment && !strstr(error.message, fragment)) fail_msg("'%s' does not say '%s'", error.message, fragment);
    assert_true((status == IG_STATUS_OK) == (tokenizer != NULL));
    ig_error_clear(&error);
    ig_tokenizer_release(tokenizer);
    ig_gguf_release(file);
}

static void expect_bad(gguf_writer writer, const char *fragment) {
    expect(&writer, IG_STATUS_BAD_FORMAT, fragment);
}

static void expect_good(gguf_writer writer) {
    expect(&writer, IG_STATUS_OK, NULL);
}

static tiny_vocabulary *small(void) {
    memset(&vocabulary, 0, sizeof vocabulary);
    tiny_add(&vocabulary, "a", NORMAL, 0);
    tiny_add(&vocabulary, "b", NORMAL, 0);
    tiny_merge(&vocabulary, "a b");
    return &vocabulary;
}

static gguf_writer good(void) {
    return tiny_writer(small(), "gpt2", "gpt-2");
}

// Everything except the key.
static gguf_writer without(const char *key) {
    static const char *const texts[] = {"a", "b"};
    static const int32_t types[] = {1, 1};
    gguf_writer w = {0};
    bool scores = strcmp(key, KEY("scores")) == 0;
    if (strcmp(key, KEY("model")) != 0) gguf_add_string(&w, KEY("model"), scores ? "llama" : "gpt2");
    if (strcmp(key, KEY("pre")) != 0) gguf_add_string(&w, KEY("pre"), "gpt-2");
    if (strcmp(key, KEY("tokens")) != 0) gguf_add_strings(&w, KEY("tokens"), 2, texts);
    if (strcmp(key, KEY("token_type")) != 0) gguf_add_array(&w, KEY("token_type"), IG_GGUF_I32, 2, types);
    return w;
}

static void kinds_that_are_not_known_are_named(void **state) {
    (void)state;
    gguf_writer w = tiny_writer(small(), "t5", NULL);
    expect(&w, IG_STATUS_UNSUPPORTED, "'t5'");
    w = tiny_writer(small(), "gpt2", "viking");
    expect(&w, IG_STATUS_UNSUPPORTED, "'viking'");
    expect_good(good());
}

static void some_keys_must_be_there(void **state) {
    (void)state;
    expect_bad(without(KEY("model")), KEY("model"));
    expect_bad(without(KEY("tokens")), KEY("tokens"));
    expect_bad(without(KEY("scores")), KEY("scores"));
    expect_good(without(KEY("pre")));
    expect_good(without(KEY("token_type")));
    expect_good(without(KEY("merges")));
}

static void keys_of_another_kind_are_named(void **state) {
    (void)state;
    static const char *const numbers[] = {KEY("model"), KEY("pre"), KEY("tokens"), KEY("token_type"), KEY("merges")};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        gguf_writer w = without(numbers[i]);
        gguf_add_u32(&w, numbers[i], 1);
        expect_bad(w, numbers[i]);
    }
    static const char *const texts[] = {KEY("bos_token_id"),    KEY("eos_token_id"),  KEY("eot_token_id"),
                                        KEY("add_bos_token"),   KEY("add_eos_token"), KEY("add_space_prefix"),
                                        KEY("unknown_token_id")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gguf_writer w = good();
        gguf_add_string(&w, texts[i], "1");
        expect_bad(w, texts[i]);
    }
}

static void arrays_of_other_kinds_are_named(void **state) {
    (void)state;
    static const float numbers[] = {1, 1};
    static const char *const texts[] = {"1", "1"};
    gguf_writer w = without(KEY("tokens"));
    gguf_add_array(&w, KEY("tokens"), IG_GGUF_F32, 2, numbers);
    expect_bad(w, KEY("tokens"));
    w = without(KEY("token_type"));
    gguf_add_array(&w, KEY("token_type"), IG_GGUF_F32, 2, numbers);
    expect_bad(w, KEY("token_type"));
    w = without(KEY("merges"));
    gguf_add_array(&w, KEY("merges"), IG_GGUF_F32, 2, numbers);
    expect_bad(w, KEY("merges"));
    w = without(KEY("scores"));
    gguf_add_strings(&w, KEY("scores"), 2, texts);
    expect_bad(w, KEY("scores"));
}

static void every_token_has_one_type_and_one_score(void **state) {
    (void)state;
    static const int32_t types[] = {1, 1, 1}, strange[] = {1, 7};
    static const float scores[] = {0, 0, 0}, wrong[] = {0, NAN};
    gguf_writer w = without(KEY("token_type"));
    gguf_add_array(&w, KEY("token_type"), IG_GGUF_I32, 3, types);
    expect_bad(w, KEY("token_type"));
    w = without(KEY("token_type"));
    gguf_add_array(&w, KEY("token_type"), IG_GGUF_I32, 1, types);
    expect_bad(w, KEY("token_type"));
    w = without(KEY("token_type"));
    gguf_add_array(&w, KEY("token_type"), IG_GGUF_I32, 2, strange);
    expect_bad(w, "token 1 has type 7");
    w = without(KEY("scores"));
    gguf_add_array(&w, KEY("scores"), IG_GGUF_F32, 3, scores);
    expect_bad(w, KEY("scores"));
    w = without(KEY("scores"));
    gguf_add_array(&w, KEY("scores"), IG_GGUF_F32, 2, wrong);
    expect_bad(w, KEY("scores"));
}

static void keys_of_wordpiece_are_checked(void **state) {
    (void)state;
    static const char *const keys[] = {KEY("cls_token_id"), KEY("seperator_token_id"), KEY("add_sep_token"),
                                       KEY("normalizer.lowercase"), KEY("normalizer.strip_accents")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        gguf_writer w = tiny_writer(small(), "bert", NULL);
        gguf_add_string(&w, keys[i], "1");
        expect_bad(w, keys[i]);
    }
    expect_good(tiny_writer(small(), "bert", NULL));
}

static void ids_lie_among_the_tokens(void **state) {
    (void)state;
    static const char *const keys[] = {KEY("bos_token_id"), KEY("eos_token_id"), KEY("eot_token_id"),
                                       KEY("unknown_token_id")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        gguf_writer w = good();
        gguf_add_u32(&w, keys[i], 3);
        expect_bad(w, keys[i]);
        w = good();
        gguf_add_u32(&w, keys[i], UINT32_MAX);  // written for "none"
        expect_good(w);
    }
}

static void texts_of_tokens_are_not_the_same(void **state) {
    (void)state;
    tiny_vocabulary *v = small();
    tiny_add(v, "b", NORMAL, 0);
    expect_bad(tiny_writer(v, "gpt2", "gpt-2"), "tokens 1 and 3");
    v = small();
    tiny_add(v, "", NORMAL, 0);
    tiny_add(v, "", NORMAL, 0);
    expect_good(tiny_writer(v, "gpt2", "gpt-2"));
}

static void merges_join_tokens(void **state) {
    (void)state;
    static const char *const wrong[] = {"a c", "c a", "b a", "ab", "", " a", "a ", "a b c"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tiny_vocabulary *v = small();
        v->merges[v->merge_count++] = wrong[i];
        expect_bad(tiny_writer(v, "gpt2", "gpt-2"), KEY("merges"));
    }
    tiny_vocabulary *v = small();
    v->merges[v->merge_count++] = "a b";
    expect_good(tiny_writer(v, "gpt2", "gpt-2"));
}

static void names_that_are_looked_for_are_not_endless(void **state) {
    (void)state;
    char name[TINY_TEXT] = {0};
    memset(name, 'x', 600);
    tiny_vocabulary *v = small();
    tiny_add(v, name, NORMAL, 0);
    expect_good(tiny_writer(v, "gpt2", "gpt-2"));
    v = small();
    tiny_add(v, name, CONTROL, 0);
    expect_bad(tiny_writer(v, "gpt2", "gpt-2"), "token 3 has 600 bytes");
}

static void no_file_and_no_place_are_refused(void **state) {
    (void)state;
    ig_tokenizer *tokenizer = NULL;
    assert_int_equal(ig_tokenizer_create(NULL, &tokenizer, NULL), IG_STATUS_INVALID_ARGUMENT);
    assert_null(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_that_are_not_known_are_named),
        cmocka_unit_test(some_keys_must_be_there),
        cmocka_unit_test(keys_of_another_kind_are_named),
        cmocka_unit_test(arrays_of_other_kinds_are_named),
        cmocka_unit_test(every_token_has_one_type_and_one_score),
        cmocka_unit_test(keys_of_wordpiece_are_checked),
        cmocka_unit_test(ids_lie_among_the_tokens),
        cmocka_unit_test(texts_of_tokens_are_not_the_same),
        cmocka_unit_test(merges_join_tokens),
        cmocka_unit_test(names_that_are_looked_for_are_not_endless),
        cmocka_unit_test(no_file_and_no_place_are_refused),
    };
    return cmocka_run_group_tests(tests, make_model_directory, remove_model_directory);
}
