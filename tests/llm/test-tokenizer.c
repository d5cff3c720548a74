// SPDX-License-Identifier: Apache-2.0
// Tokens: texts become the tokens that a direct implementation of the rules gives, and tokens become the texts again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/memory.h"
#include "model-file.h"
#include "tiny-vocabulary.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static tiny_vocabulary vocabulary;
static ig_tokenizer *tokenizer;

static void assert_status(ig_status got, ig_status wanted) {
    assert_string_equal(ig_status_name(got), ig_status_name(wanted));
}

static void save(gguf_writer *writer) {
    gguf_save(writer, model_path);
    gguf_free(writer);
}

// The file is closed: the tokenizer keeps what it needs.
static void create(gguf_writer writer) {
    ig_gguf *file = NULL;
    ig_error error = {0};
    save(&writer);
    assert_status(ig_gguf_open(model_path, &file, NULL), IG_STATUS_OK);
    ig_status status = ig_tokenizer_create(file, &tokenizer, &error);
    if (status != IG_STATUS_OK) fail_msg("%s", error.message);
    ig_gguf_release(file);
}

static int release(void **state) {
    (void)state;
    ig_tokenizer_release(tokenizer);
    tokenizer = NULL;
    return 0;
}

// ---- Two vocabularies ----

enum { HELLO = 259, IM_START = 265, IM_END, IM, TOOL, WHOLE, GPT2_TOKENS };

static gguf_writer gpt2_writer(const char *pre) {
    static const char *const merges[] = {"h e", "l l",        "he ll", "hell o", "\u0120 w",
                                         "o r", "\u0120w or", "a a",   "aa aa"};
    memset(&vocabulary, 0, sizeof vocabulary);
    tiny_add_gpt2_bytes(&vocabulary);
    for (size_t i = 0; i < LENGTH(merges); i++) tiny_merge(&vocabulary, merges[i]);
    tiny_add(&vocabulary, "<|im_start|>", CONTROL, 0);
    tiny_add(&vocabulary, "<|im_end|>", CONTROL, 0);
    tiny_add(&vocabulary, "<|im", CONTROL, 0);
    tiny_add(&vocabulary, "<tool>", USER_DEFINED, 0);
    tiny_add(&vocabulary, "whole", NORMAL, 0);
    assert_int_equal(vocabulary.count, GPT2_TOKENS);
    return tiny_writer(&vocabulary, "gpt2", pre);
}

static int make_gpt2(void **state) {
    (void)state;
    create(gpt2_writer("gpt-2"));
    return 0;
}

enum { SPM_TOKENS = 3 + 256 + 12 };

static void begin_spm(void) {
    memset(&vocabulary, 0, sizeof vocabulary);
    tiny_add(&vocabulary, "<unk>", UNKNOWN, 0);
    tiny_add(&vocabulary, "<s>", CONTROL, 0);
    tiny_add(&vocabulary, "</s>", CONTROL, 0);
    tiny_add_spm_bytes(&vocabulary);
}

static gguf_writer spm_writer(void) {
    static const struct {
        const char *text;
        float score;
    } pieces[] = {{"\u2581", -1}, {"h", -2},    {"e", -3},      {"l", -4},       {"o", -5},     {"he", -10},
                  {"ll", -11},    {"llo", -12}, {"hello", -13}, {"\u2581h", -9}, {"el", -9.5f}, {"\u2581\u2581", -20}};
    begin_spm();
    for (size_t i = 0; i < LENGTH(pieces); i++) tiny_add(&vocabulary, pieces[i].text, NORMAL, pieces[i].score);
    assert_int_equal(vocabulary.count, SPM_TOKENS);
    return tiny_writer(&vocabulary, "llama", NULL);
}

static int make_spm(void **state) {
    (void)state;
    create(spm_writer());
    return 0;
}

static int make_spm_without_prefix(void **state) {
    (void)state;
    gguf_writer w = spm_writer();
    gguf_add_bool(&w, "tokenizer.ggml.add_space_prefix", false);
    create(w);
    return 0;
}

// ---- Encoding and decoding ----

static int32_t *encode(const char *text, size_t length, ig_encode_desc desc, uint64_t *count) {
    uint64_t capacity = 0;
    ig_status status = ig_tokenizer_encode(tokenizer, text, length, &desc, NULL, 0, &capacity);
    assert_status(status, capacity ? IG_STATUS_OUT_OF_RANGE : IG_STATUS_OK);
    int32_t *tokens = malloc((capacity + 1) * sizeof *tokens);
    assert_status(ig_tokenizer_encode(tokenizer, text, length, &desc, tokens, capacity, count), IG_STATUS_OK);
    assert_int_equal(*count, capacity);
    return tokens;
}

static void expect_tokens(const char *text, ig_encode_desc desc, size_t count, const int32_t *wanted) {
    uint64_t got;
    int32_t *tokens = encode(text, strlen(text), desc, &got);
    assert_int_equal(got, count);
    assert_memory_equal(tokens, wanted, count * sizeof *wanted);
    free(tokens);
}
#define EXPECT(text, desc, ...) \
    expect_tokens(text, desc, LENGTH(((int32_t[]){__VA_ARGS__})), (const int32_t[]){__VA_ARGS__})

static const ig_encode_desc plain = {.plain = true}, special = {.plain = true, .special = true}, usual = {0};

// The bytes of tokens with '|' between them.
static void expect_pieces(const char *text, const char *wanted) {
    uint64_t count;
    int32_t *tokens = encode(text, strlen(text), plain, &count);
    igi_text joined = {0};
    for (uint64_t i = 0; i < count; i++) {
        ig_text bytes;
        assert_status(ig_tokenizer_decode(tokenizer, tokens[i], &bytes), IG_STATUS_OK);
        if (i) igi_text_add(&joined, "|");
        igi_text_append(&joined, bytes.data, bytes.length);
    }
    char *pieces = igi_text_take(&joined);
    assert_string_equal(pieces, wanted);
    free(pieces);
    free(tokens);
}

static void expect_round_trip(const char *text, size_t length) {
    uint64_t count;
    int32_t *tokens = encode(text, length, plain, &count);
    igi_text joined = {0};
    for (uint64_t i = 0; i < count; i++) {
        ig_text bytes;
        assert_status(ig_tokenizer_decode(tokenizer, tokens[i], &bytes), IG_STATUS_OK);
        igi_text_append(&joined, bytes.data, bytes.length);
    }
    assert_int_equal(joined.length, length);
    if (length) assert_memory_equal(joined.data, text, length);
    igi_text_free(&joined);
    free(tokens);
}

static void pairs_merge_by_rank(void **state) {
    (void)state;
    EXPECT("hello", plain, HELLO);
    EXPECT("hello world", plain, HELLO, 262, 'l', 'd');
    EXPECT("hell", plain, 258);
    EXPECT("ell", plain, 'e', 257);
    EXPECT("aaa", plain, 263, 'a');
    EXPECT("aaaaaaa", plain, 264, 263, 'a');
    EXPECT("\n\xff", plain, '\n', 255);
    expect_pieces("hellohello helloor", "hello|hello| |hello|or");
}

static void pieces_that_are_tokens_are_whole_where_the_family_says_so(void **state) {
    (void)state;
    expect_pieces("whole", "w|h|o|l|e");
    release(NULL);
    create(gpt2_writer("llama3"));
    EXPECT("whole", plain, WHOLE);
    expect_pieces("wholes", "w|h|o|l|e|s");
}

static void names_of_control_tokens_count_when_asked_for(void **state) {
    (void)state;
    EXPECT("<|im_start|>hello<|im_end|>", special, IM_START, HELLO, IM_END);
    EXPECT("<|im_endhello", special, IM, '_', 'e', 'n', 'd', HELLO);
    EXPECT("<|im", plain, '<', '|', 'i', 'm');
    EXPECT("<tool><|im", plain, TOOL, '<', '|', 'i', 'm');
    EXPECT("<<tool>", special, '<', TOOL);
    EXPECT("<|i", special, '<', '|', 'i');
}

static void texts_begin_and_end_as_the_file_says(void **state) {
    (void)state;
    EXPECT("hello", usual, HELLO);
    assert_int_equal(ig_tokenizer_first(tokenizer), -1);
    release(NULL);
    gguf_writer w = gpt2_writer("llama-bpe");
    gguf_add_u32(&w, "tokenizer.ggml.bos_token_id", IM_START);
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", IM);
    create(w);
    EXPECT("hello", usual, IM_START, HELLO);
    EXPECT("", usual, IM_START);
    EXPECT("hello", plain, HELLO);
    assert_int_equal(ig_tokenizer_first(tokenizer), IM_START);
    release(NULL);
    w = gpt2_writer("llama-bpe");
    gguf_add_u32(&w, "tokenizer.ggml.bos_token_id", IM_START);
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", IM);
    gguf_add_bool(&w, "tokenizer.ggml.add_bos_token", false);
    gguf_add_bool(&w, "tokenizer.ggml.add_eos_token", true);
    create(w);
    EXPECT("hello", usual, HELLO, IM);
}

static void answers_end_with_known_tokens(void **state) {
    (void)state;
    gguf_writer w = gpt2_writer("gpt-2");
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", IM_START);
    gguf_add_u32(&w, "tokenizer.ggml.eot_token_id", TOOL);
    release(NULL);
    create(w);
    assert_true(ig_tokenizer_is_last(tokenizer, IM_START));
    assert_true(ig_tokenizer_is_last(tokenizer, TOOL));
    assert_true(ig_tokenizer_is_last(tokenizer, IM_END));
    assert_false(ig_tokenizer_is_last(tokenizer, IM));
    assert_false(ig_tokenizer_is_last(tokenizer, -1));
    assert_false(ig_tokenizer_is_last(tokenizer, GPT2_TOKENS));
}

static void tokens_have_bytes_and_are_found_by_them(void **state) {
    (void)state;
    ig_text bytes = {"unchanged", 9};
    assert_int_equal(ig_tokenizer_size(tokenizer), GPT2_TOKENS);
    assert_status(ig_tokenizer_decode(tokenizer, GPT2_TOKENS, &bytes), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_tokenizer_decode(tokenizer, -1, &bytes), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(bytes.length, 9);
    assert_status(ig_tokenizer_decode(tokenizer, IM_END, &bytes), IG_STATUS_OK);
    assert_int_equal(bytes.length, 0);
    assert_status(ig_tokenizer_decode(tokenizer, 262, &bytes), IG_STATUS_OK);
    assert_int_equal(bytes.length, 4);
    assert_memory_equal(bytes.data, " wor", 4);
    assert_int_equal(ig_tokenizer_find(tokenizer, " wor", 4), 262);
    assert_int_equal(ig_tokenizer_find(tokenizer, "<|im_end|>", 10), IM_END);
    assert_int_equal(ig_tokenizer_find(tokenizer, "\0", 1), 0);
    assert_int_equal(ig_tokenizer_find(tokenizer, " word", 5), -1);
    assert_int_equal(ig_tokenizer_find(tokenizer, "", 0), -1);
    assert_int_equal(ig_tokenizer_find(tokenizer, NULL, 0), -1);
}

static void room_that_is_too_small_is_left_alone(void **state) {
    (void)state;
    int32_t tokens[3] = {-7, -7, -7};
    uint64_t count = 0;
    assert_status(ig_tokenizer_encode(tokenizer, "hello wo", 8, NULL, tokens, 1, &count), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(count, 3);
    assert_int_equal(tokens[0], -7);
    assert_status(ig_tokenizer_encode(tokenizer, NULL, 0, NULL, NULL, 0, &count), IG_STATUS_OK);
    assert_int_equal(count, 0);
    assert_status(ig_tokenizer_encode(tokenizer, NULL, 1, NULL, tokens, 3, &count), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tokenizer_encode(tokenizer, "a", 1, NULL, NULL, 3, &count), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tokenizer_encode(tokenizer, "a", 1, NULL, tokens, 3, NULL), IG_STATUS_INVALID_ARGUMENT);
}

// ---- SentencePiece ----

static void scores_decide_what_merges(void **state) {
    (void)state;
    assert_int_equal(ig_tokenizer_first(tokenizer), 1);
    assert_true(ig_tokenizer_is_last(tokenizer, 2));
    // The best first: "\u2581h", "el", and nothing is left for "he", "ll" and "llo".
    expect_pieces("hello", " h|el|l|o");
    expect_pieces(" hello", " | h|el|l|o");
    expect_pieces("  llo", "  | |llo");
    EXPECT("h", usual, 1, 268);
    EXPECT("", usual, 1);
    expect_pieces("hxo", " h|x|o");
    EXPECT("\xff\n", plain, 259, 3 + 0xFF, 3 + '\n');
    EXPECT("h\u2581h", plain, 268, 268);
}

static void spaces_come_first_unless_the_file_says_no(void **state) {
    (void)state;
    EXPECT("hello", plain, 260, 269, 262, 263);
}

static void text_never_becomes_a_control_token_by_itself(void **state) {
    (void)state;
    EXPECT("<s>", plain, 259, 3 + '<', 3 + 's', 3 + '>');
    EXPECT("<s>h</s>h<unk>", special, 1, 268, 2, 268, 0);
}

// As in files of Phi-3.
static void tokens_that_end_answers_are_control_tokens(void **state) {
    (void)state;
    memset(&vocabulary, 0, sizeof vocabulary);
    tiny_add(&vocabulary, "<unk>", UNKNOWN, 0);
    tiny_add(&vocabulary, "<s>", CONTROL, 0);
    tiny_add(&vocabulary, "</s>", USER_DEFINED, 0);
    tiny_add_spm_bytes(&vocabulary);
    int32_t space = tiny_add(&vocabulary, "\u2581", NORMAL, 0);
    int32_t tool = tiny_add(&vocabulary, "<tool>", USER_DEFINED, 0);
    gguf_writer w = tiny_writer(&vocabulary, "llama", NULL);
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", (uint32_t)tool);
    create(w);
    EXPECT("</s>", plain, space, 3 + '<', 3 + '/', 3 + 's', 3 + '>');
    EXPECT("</s>", special, 2);
    EXPECT("<tool>", plain, tool);
    assert_true(ig_tokenizer_is_last(tokenizer, 2));
    ig_text bytes;
    assert_status(ig_tokenizer_decode(tokenizer, 2, &bytes), IG_STATUS_OK);
    assert_int_equal(bytes.length, 0);
}

// ---- WordPiece ----

enum { UNK, CLS, SEP, UN, AFF, ABLE, E, A, RESUME, RESUME_ACCENT, REST_A, COMMA, IDEOGRAPH, WORD_TOKENS };

static gguf_writer bert_writer(void) {
    static const char *const pieces[] = {
        "\u2581un", "aff",     "able",        "e", "\u2581a", "\u2581resume", "\u2581r\u00e9sum\u00e9",
        "a",        "\u2581,", "\u2581\u65e5"};
    memset(&vocabulary, 0, sizeof vocabulary);
    tiny_add(&vocabulary, "[UNK]", CONTROL, 0);
    tiny_add(&vocabulary, "[CLS]", CONTROL, 0);
    tiny_add(&vocabulary, "[SEP]", CONTROL, 0);
    for (size_t i = 0; i < LENGTH(pieces); i++) tiny_add(&vocabulary, pieces[i], NORMAL, 0);
    assert_int_equal(vocabulary.count, WORD_TOKENS);
    gguf_writer w = tiny_writer(&vocabulary, "bert", "bert-bge");
    gguf_add_u32(&w, "tokenizer.ggml.unknown_token_id", UNK);
    gguf_add_u32(&w, "tokenizer.ggml.cls_token_id", CLS);
    gguf_add_u32(&w, "tokenizer.ggml.seperator_token_id", SEP);
    return w;
}

static int make_bert(void **state) {
    (void)state;
    create(bert_writer());
    return 0;
}

static void words_become_the_longest_tokens(void **state) {
    (void)state;
    EXPECT("unaffable", plain, UN, AFF, ABLE);
    EXPECT(" unaff\tun\n", plain, UN, AFF, UN);
    EXPECT("aaffe", plain, A, AFF, E);
    // One part without a token, and the whole word is unknown.
    EXPECT("unaffx un", plain, UNK, UN);
    EXPECT("able", plain, UNK);
    expect_tokens("", plain, 0, NULL);
}

static void words_end_at_punctuation_and_around_ideographs(void **state) {
    (void)state;
    EXPECT("un,un", plain, UN, COMMA, UN);
    EXPECT("un$a", plain, UN, UNK, A);
    EXPECT("a\u65e5\u65e5a", plain, A, IDEOGRAPH, IDEOGRAPH, A);
    EXPECT("a\u3000a\u00a0a", plain, A, A, A);
    // Controls, bytes that are not UTF-8 and the replacement character are dropped.
    EXPECT("u\x0bn\u00ad\xff\ufffd\ue000", plain, UN);
}

static void case_and_accents_are_dropped_unless_the_file_says_no(void **state) {
    (void)state;
    EXPECT("UNAFFABLE", plain, UN, AFF, ABLE);
    EXPECT("R\u00e9sum\u00c9", plain, RESUME);
    EXPECT("re\u0301sume\u0301", plain, RESUME);
    release(NULL);
    gguf_writer w = bert_writer();
    gguf_add_bool(&w, "tokenizer.ggml.normalizer.strip_accents", false);
    create(w);
    EXPECT("R\u00e9sum\u00c9", plain, RESUME_ACCENT);
    EXPECT("resume", plain, RESUME);
    release(NULL);
    w = bert_writer();
    gguf_add_bool(&w, "tokenizer.ggml.normalizer.lowercase", false);
    create(w);
    EXPECT("un UN", plain, UN, UNK);
    EXPECT("r\u00e9sum\u00e9", plain, RESUME_ACCENT);
}

static void texts_are_between_cls_and_sep(void **state) {
    (void)state;
    EXPECT("un", usual, CLS, UN, SEP);
    EXPECT("", usual, CLS, SEP);
    EXPECT("un[SEP]a", special, UN, SEP, A);
    expect_pieces("unaffable, a", " un|aff|able| ,| a");
    release(NULL);
    gguf_writer w = bert_writer();
    gguf_add_bool(&w, "tokenizer.ggml.add_bos_token", false);
    gguf_add_bool(&w, "tokenizer.ggml.add_sep_token", false);
    create(w);
    EXPECT("un", usual, UN);
}

static void words_of_more_than_100_characters_are_unknown(void **state) {
    (void)state;
    char word[103] = "a";
    uint64_t count;
    for (size_t length = 99; length <= 102; length++) {
        memset(word, 'a', length);
        int32_t *tokens = encode(word, length, plain, &count);
        assert_int_equal(count, length > 100 ? 1 : length);
        assert_int_equal(tokens[0], length > 100 ? UNK : A);
        free(tokens);
    }
}

static uint64_t seed = 11;

static uint32_t random_below(uint32_t count) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % count);
}

// ---- SentencePiece, compared with a direct implementation ----

enum { FIRST_PIECE = 3 + 256 };

static int32_t find_piece(const char *text) {
    for (size_t i = FIRST_PIECE; i < vocabulary.count; i++)
        if (!strcmp(vocabulary.tokens[i], text)) return (int32_t)i;
    return -1;
}

static bool space_follows_letter(const char *text) {
    const char *space = strstr(text + 1, "\u2581");
    return space && (unsigned char)space[-1] < 0x80;
}

static void make_random_pieces(bool with_inner_spaces) {
    static const char *const letters[] = {"\u2581", "h", "e", "l"};
    begin_spm();
    for (size_t i = 0; i < LENGTH(letters); i++) tiny_add(&vocabulary, letters[i], NORMAL, 0);
    while (vocabulary.count < FIRST_PIECE + 60) {
        char text[TINY_TEXT];
        uint32_t known = (uint32_t)vocabulary.count - FIRST_PIECE;
        const char *left = vocabulary.tokens[FIRST_PIECE + random_below(known)];
        const char *right = vocabulary.tokens[FIRST_PIECE + random_below(known)];
        if (strlen(left) + strlen(right) > 30) continue;
        snprintf(text, sizeof text, "%s%s", left, right);
        if (find_piece(text) >= 0 || (!with_inner_spaces && space_follows_letter(text))) continue;
        tiny_add(&vocabulary, text, NORMAL, (float)random_below(20) - 10);
    }
    gguf_writer w = tiny_writer(&vocabulary, "llama", NULL);
    gguf_add_bool(&w, "tokenizer.ggml.add_space_prefix", false);
    create(w);
}

// `tokens` are the characters to begin with.
static size_t merge_by_score(int32_t *tokens, size_t count) {
    for (;;) {
        size_t best = count;
        int32_t joined = -1;
        for (size_t i = 0; i + 1 < count; i++) {
            char text[2 * TINY_TEXT];
            snprintf(text, sizeof text, "%s%s", vocabulary.tokens[tokens[i]], vocabulary.tokens[tokens[i + 1]]);
            int32_t token = find_piece(text);
            if (token < 0 || (joined >= 0 && vocabulary.scores[token] <= vocabulary.scores[joined])) continue;
            best = i, joined = token;
        }
        if (joined < 0) return count;
        tokens[best] = joined;
        memmove(&tokens[best + 1], &tokens[best + 2], (--count - best - 1) * sizeof *tokens);
    }
}

static void expect_merged_by_score(void) {
    char text[61];
    int32_t wanted[60];
    size_t length = random_below(sizeof text);
    for (size_t i = 0; i < length; i++) {
        uint32_t letter = random_below(4);
        text[i] = " hel"[letter];
        wanted[i] = FIRST_PIECE + (int32_t)letter;
    }
    text[length] = 0;
    expect_tokens(text, plain, merge_by_score(wanted, length), wanted);
}

static void pieces_merge_as_the_rules_read(void **state) {
    (void)state;
    for (int round = 0; round < 10; round++) {
        make_random_pieces(round % 2);
        for (int i = 0; i < 30; i++) expect_merged_by_score();
        release(NULL);
    }
}

// ---- GPT-2, compared with a direct implementation ----

// Letters only, so that the text is one piece.
static size_t merge_plainly(const char *text, size_t length, int32_t *tokens) {
    static const int32_t rules[][3] = {{'h', 'e', 256}, {'l', 'l', 257}, {256, 257, 258}, {258, 'o', 259},
                                       {'o', 'r', 261}, {'a', 'a', 263}, {263, 263, 264}};
    size_t count = length;
    for (size_t i = 0; i < length; i++) tokens[i] = (unsigned char)text[i];
    for (size_t rule = 0; rule < LENGTH(rules);) {
        size_t at = 0;
        while (at + 1 < count && (tokens[at] != rules[rule][0] || tokens[at + 1] != rules[rule][1])) at++;
        if (at + 1 >= count) {
            rule++;
            continue;
        }
        tokens[at] = rules[rule][2];
        memmove(&tokens[at + 1], &tokens[at + 2], (--count - at - 1) * sizeof *tokens);
        rule = 0;
    }
    return count;
}

static void short_and_long_words_merge_as_the_rules_read(void **state) {
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char text[300];
        int32_t wanted[300];
        size_t length = 1 + random_below(round % 10 ? 40 : sizeof text);
        for (size_t i = 0; i < length; i++) text[i] = "hellorwda"[random_below(9)];
        size_t count = merge_plainly(text, length, wanted);
        uint64_t got;
        int32_t *tokens = encode(text, length, plain, &got);
        assert_int_equal(got, count);
        assert_memory_equal(tokens, wanted, count * sizeof *wanted);
        free(tokens);
    }
}

static void any_bytes_come_back(void **state) {
    (void)state;
    static const char alphabet[] = "helo wra'\n\r\t 12<|tool>\xe2\x96\x81\xf0\x9f\x99\x82\xff";
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    for (int round = 0; clock() < end; round++) {
        char text[600];
        size_t length = random_below(round % 50 ? 60 : sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = round % 2 ? (char)random_below(256) : alphabet[random_below(sizeof alphabet - 1)];
        expect_round_trip(text, length);
    }
}

// The tokens of repeated words are copied from their first occurrence: they are those of the words by themselves.
static void words_that_come_again_have_the_same_tokens(void **state) {
    (void)state;
    igi_text text = {0};
    int32_t *wanted = malloc(1 << 20);
    size_t count = 0;
    while (text.length < 20000) {
        char word[12] = " ";
        size_t length = 1 + random_below(10);
        for (size_t i = 1; i <= length; i++) word[i] = "hel"[random_below(3)];
        uint64_t got;
        int32_t *tokens = encode(word, length + 1, plain, &got);
        memcpy(wanted + count, tokens, got * sizeof *tokens);
        count += got;
        igi_text_append(&text, word, length + 1);
        free(tokens);
    }
    expect_tokens(text.data, plain, count, wanted);
    igi_text_free(&text);
    free(wanted);
}

static void encode_a_megabyte(const char *unit) {
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES);
    size_t length = strlen(unit);
    for (size_t i = 0; i < BYTES; i++) text[i] = unit[i % length];
    clock_t begin = clock();
    uint64_t count;
    free(encode(text, BYTES, special, &count));
    assert_true(count);
    assert_true(clock() - begin < 60 * CLOCKS_PER_SEC);  // not hours
    free(text);
}

static void a_word_of_a_megabyte_is_no_trouble(void **state) {
    (void)state;
    encode_a_megabyte("a");
    encode_a_megabyte("hello");
    encode_a_megabyte("<");
    encode_a_megabyte("<|im_start");
}

// ---- Memory ----

static void create_with_little_memory(void) {
    ig_gguf *file = NULL;
    assert_status(ig_gguf_open(model_path, &file, NULL), IG_STATUS_OK);
    for (uint64_t n = 1, done = 0; !done; n++) {
        ig_tokenizer *created = NULL;
        igi_alloc_fail_at(n);
        ig_status status = ig_tokenizer_create(file, &created, NULL);
        done = igi_alloc_fail_at(0) < n;
        assert_status(status, done ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY);
        ig_tokenizer_release(created);
        assert_true(n < 100);
    }
    ig_gguf_release(file);
}

static void encode_with_little_memory(void) {
    enum { TEXT = 5000 };
    char text[TEXT];
    int32_t *tokens = malloc(TEXT * sizeof *tokens);
    for (size_t i = 0; i < sizeof text; i++) text[i] = i % 100 ? "hello"[i % 5] : ' ';
    for (uint64_t n = 1, done = 0; !done; n++) {
        uint64_t count = 77;
        igi_alloc_fail_at(n);
        ig_status status = ig_tokenizer_encode(tokenizer, text, sizeof text, NULL, tokens, sizeof text, &count);
        done = igi_alloc_fail_at(0) < n;
        assert_status(status, done ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY);
        assert_true(done || count == 77);
        assert_true(n < 100);
    }
    free(tokens);
}

static void too_little_memory_is_an_error(void **state) {
    (void)state;
    create_with_little_memory();
    encode_with_little_memory();
    assert_ptr_equal(ig_tokenizer_retain(tokenizer), tokenizer);
    ig_tokenizer_release(tokenizer);
    assert_null(ig_tokenizer_retain(NULL));
    ig_tokenizer_release(NULL);
}

int main(void) {
#define WITH(make, test) cmocka_unit_test_setup_teardown(test, make, release)
    const struct CMUnitTest tests[] = {
        WITH(make_gpt2, pairs_merge_by_rank),
        WITH(make_gpt2, pieces_that_are_tokens_are_whole_where_the_family_says_so),
        WITH(make_gpt2, names_of_control_tokens_count_when_asked_for),
        WITH(make_gpt2, texts_begin_and_end_as_the_file_says),
        WITH(make_gpt2, answers_end_with_known_tokens),
        WITH(make_gpt2, tokens_have_bytes_and_are_found_by_them),
        WITH(make_gpt2, room_that_is_too_small_is_left_alone),
        WITH(make_spm, scores_decide_what_merges),
        WITH(make_spm_without_prefix, spaces_come_first_unless_the_file_says_no),
        WITH(make_spm, text_never_becomes_a_control_token_by_itself),
        WITH(NULL, tokens_that_end_answers_are_control_tokens),
        WITH(make_bert, words_become_the_longest_tokens),
        WITH(make_bert, words_end_at_punctuation_and_around_ideographs),
        WITH(make_bert, case_and_accents_are_dropped_unless_the_file_says_no),
        WITH(make_bert, texts_are_between_cls_and_sep),
        WITH(make_bert, words_of_more_than_100_characters_are_unknown),
        cmocka_unit_test(pieces_merge_as_the_rules_read),
        WITH(make_gpt2, short_and_long_words_merge_as_the_rules_read),
        WITH(make_gpt2, any_bytes_come_back),
        WITH(make_gpt2, words_that_come_again_have_the_same_tokens),
        WITH(make_spm_without_prefix, words_that_come_again_have_the_same_tokens),
        WITH(make_gpt2, a_word_of_a_megabyte_is_no_trouble),
        WITH(make_spm, a_word_of_a_megabyte_is_no_trouble),
        WITH(make_gpt2, too_little_memory_is_an_error),
        WITH(make_spm, too_little_memory_is_an_error),
        WITH(make_bert, too_little_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_model_directory, remove_model_directory);
}
