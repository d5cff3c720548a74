// SPDX-License-Identifier: Apache-2.0
// Splitting text for byte pairs: each family's pieces match the published expressions; nothing is lost; no text takes
// forever.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/memory.h"
#include "llm/pretokenize.h"
#include "llm/unicode.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const families[] = {"gpt-2",  "default", "smollm", "falcon",       "llama-bpe",      "qwen2",
                                       "qwen35", "tekken",  "gpt-4o", "deepseek-llm", "deepseek-coder", "deepseek-v3"};

typedef struct golden {
    const char *names;  // of families with the same result, separated by spaces
    const char *text, *pieces;
} golden;

// Pieces by Hugging Face's tokenizers 0.23.
static const golden goldens[] = {
    {"gpt-2 smollm", "it's I'LL they'Ve '\u017f 'x", "it|'s| I|'|LL| they|'|Ve| '|\u017f| '|x"},
    {"default falcon", "it's I'LL they'Ve '\u017f 'x", "it|'|s| I|'|LL| they|'|Ve| |'|\u017f| |'|x"},
    {"llama-bpe qwen2 qwen35 tekken deepseek-v3", "it's I'LL they'Ve 'x", "it|'s| I|'LL| they|'Ve| '|x"},
    {"gpt-4o", "it's I'LL they'Ve 'x", "it's| I'LL| they'Ve| '|x"},
    {"gpt-2 smollm default falcon", "a  b   c\n\n  d \n e\t\tf  ", "a| | b|  | c|\n\n | d| \n| e|\t|\t|f|  "},
    {"llama-bpe qwen2 qwen35 tekken gpt-4o deepseek-v3", "a  b   c\n\n  d \n e\t\tf  ",
     "a| | b|  | c|\n\n| | d| \n| e|\t|\tf|  "},
    {"deepseek-llm deepseek-coder", "a  b   c\n\n  d \n e\t\tf  ", "a| | b|  | c|\n|\n| | d| |\n| e|\t|\tf|  "},
    {"gpt-2", "x 12 1234567 3.14 \u00bd\u00b2", "x| 12| 1234567| 3|.|14| \u00bd\u00b2"},
    {"smollm qwen2 qwen35 tekken deepseek-coder", "x 12 1234 3.14 \u00bd\u00b2",
     "x| |1|2| |1|2|3|4| |3|.|1|4| |\u00bd|\u00b2"},
    {"default llama-bpe gpt-4o deepseek-v3", "x 12 1234567 3.14 \u00bd\u00b2",
     "x| |12| |123|456|7| |3|.|14| |\u00bd\u00b2"},
    {"falcon", "x 12 1234567 3.14 \u00bd\u00b2", "x| 12| |123|456|7| 3|.|14| \u00bd\u00b2"},
    {"deepseek-llm", "x 12 1234567 3.14 \u00bd\u00b2", "x| |12| |1234567| |3|.|14| |\u00bd\u00b2"},
    {"gpt-2 smollm deepseek-coder", "foo_bar(baz); // ok", "foo|_|bar|(|baz|);| //| ok"},
    {"default falcon", "foo_bar(baz); // ok", "foo|_|bar|(|baz|);| |//| ok"},
    {"llama-bpe qwen2 qwen35 tekken gpt-4o deepseek-v3", "foo_bar(baz); // ok\n\n", "foo|_bar|(baz|);| //| ok|\n\n"},
    {"tekken gpt-4o", "camelCaseHTTPServer ABCdef \u00c9COLEs", "camel|Case|HTTPServer| ABCdef| \u00c9COLEs"},
    {"gpt-2 llama-bpe qwen2 deepseek-v3", "camelCaseHTTPServer \u00c9COLEs", "camelCaseHTTPServer| \u00c9COLEs"},
    {"gpt-2 smollm default falcon", "na\u00efve e\u0301a\u0301", "na\u00efve| e|\u0301|a|\u0301"},
    {"llama-bpe qwen2", "na\u00efve e\u0301a\u0301", "na\u00efve| e|\u0301a|\u0301"},
    {"qwen35 tekken gpt-4o deepseek-v3", "na\u00efve e\u0301a\u0301", "na\u00efve| e\u0301a\u0301"},
    {"deepseek-llm", "na\u00efve \u00c9COLEs", "na|\u00ef|ve| \u00c9|COLEs"},
    {"tekken gpt-4o", "A\u65e5b\u65e5C", "A\u65e5b\u65e5|C"},
    {"gpt-2 llama-bpe qwen2", "A\u65e5b\u65e5C", "A\u65e5b\u65e5C"},
    {"deepseek-llm deepseek-coder deepseek-v3", "A\u65e5b\u65e5C", "A|\u65e5|b|\u65e5|C"},
    {"gpt-2 smollm", "\U0001F642\U0001F44D !!! ...\n/x", "\U0001F642\U0001F44D| !!!| ...|\n|/|x"},
    {"tekken gpt-4o", "\U0001F642\U0001F44D !!! ...\n/x", "\U0001F642\U0001F44D| !!!| ...\n/|x"},
    {"llama-bpe qwen2 qwen35 deepseek-v3", "\U0001F642 !!! ...\n/x", "\U0001F642| !!!| ...\n|/x"},
    {"gpt-2 smollm default falcon", "\u3000\u00a0 \u2003z", "\u3000\u00a0 |\u2003|z"},
    {"llama-bpe tekken", "\u3000\u00a0 \u2003z", "\u3000\u00a0 |\u2003z"},
    {"deepseek-llm deepseek-coder", "\u3000\u00a0 \u2003z", "\u3000|\u00a0 |\u2003|z"},
    // U+3000 is a space, and lies in the ranges of DeepSeek's symbols and of its Asian characters.
    {"deepseek-llm deepseek-coder", "a\u3000b!\u3000!1\u30002", "a|\u3000|b|!|\u3000|!|1|\u3000|2"},
    {"deepseek-llm", "\u4f60\u597d\u3000\u4e16\u3000", "\u4f60\u597d|\u3000|\u4e16|\u3000"},
    {"deepseek-coder", "\u4f60\u597d\u3000\u4e16\u3000", "\u4f60\u597d|\u3000\u4e16|\u3000"},
    {"deepseek-v3", "a\u3000b\u4f60\u3000\u4e16\u3000\u3001", "a|\u3000b|\u4f60|\u3000|\u4e16|\u3000|\u3001"},
    {"gpt-2", "a\r\n\r\nb  ", "a|\r\n\r|\n|b|  "},
    {"llama-bpe tekken deepseek-v3", "a\r\n\r\nb  ", "a|\r\n\r\n|b|  "},
    // Bytes that are not UTF-8 are characters of no class.
    {"gpt-2 llama-bpe tekken", "ab\xff\xc0 \xe2\x82", "ab|\xff\xc0| \xe2\x82"},
};

static bool join(void *context, const char *piece, size_t length) {
    igi_text *joined = context;
    if (joined->length) igi_text_add(joined, "|");
    igi_text_append(joined, piece, length);
    return true;
}

static void expect_pieces(const char *family, size_t length, const golden *wanted) {
    const igi_llm_splitter *splitter = igi_llm_splitter_find(family, length);
    assert_non_null(splitter);
    igi_text joined = {0};
    assert_true(igi_llm_split(splitter, wanted->text, strlen(wanted->text), join, &joined));
    char *pieces = igi_text_take(&joined);
    if (strcmp(pieces, wanted->pieces) != 0)
        fail_msg("%.*s: '%s' instead of '%s'", (int)length, family, pieces, wanted->pieces);
    free(pieces);
}

static void every_family_splits_as_published(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(goldens); i++)
        for (const char *name = goldens[i].names; *name; name += strspn(name, " ")) {
            size_t length = strcspn(name, " ");
            expect_pieces(name, length, &goldens[i]);
            name += length;
        }
}

static void families_have_whole_names(void **state) {
    (void)state;
    assert_ptr_equal(igi_llm_splitter_find("llama3", 6), igi_llm_splitter_find("llama-bpe", 9));
    assert_null(igi_llm_splitter_find("llama", 5));
    assert_null(igi_llm_splitter_find("", 0));
    assert_null(igi_llm_splitter_find("gpt-2 phi-2", 11));
}

typedef struct follower {
    const char *at;
    uint64_t pieces, stop_after;
} follower;

static bool follow(void *context, const char *piece, size_t length) {
    follower *f = context;
    assert_ptr_equal(piece, f->at);
    assert_true(length);
    f->at += length;
    return ++f->pieces != f->stop_after;
}

static uint64_t count_pieces(const char *family, const char *text, size_t length) {
    follower f = {.at = text};
    assert_true(igi_llm_split(igi_llm_splitter_find(family, strlen(family)), text, length, follow, &f));
    assert_ptr_equal(f.at, text + length);
    return f.pieces;
}

static uint32_t random_below(uint64_t *seed, uint32_t count) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % count);
}

static void random_bytes_come_out_whole_and_in_order(void **state) {
    (void)state;
    static const char alphabet[] = "aZ' \n\r\t1/_\xe2\x96\x81\xf0\x9f\x99\x82\xcc\x81\xff";
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        char text[64];
        size_t length = random_below(&seed, sizeof text + 1);
        for (size_t i = 0; i < length; i++)
            text[i] = round % 2 ? (char)random_below(&seed, 256) : alphabet[random_below(&seed, sizeof alphabet - 1)];
        for (size_t f = 0; f < LENGTH(families); f++) count_pieces(families[f], text, length);
    }
}

static void long_runs_take_time_in_proportion(void **state) {
    (void)state;
    static const char *const units[] = {"a",      "A",      " ",   "\n",   "1",      "'",
                                        "\u65e5", "\u0301", " \n", "\xff", "\u3000", "aA "};
    enum { BYTES = 1 << 18 };
    char *text = malloc(BYTES + 1);
    for (size_t u = 0; u < LENGTH(units); u++) {
        size_t unit = strlen(units[u]), length = 0;
        for (; length + unit <= BYTES; length += unit) memcpy(text + length, units[u], unit);
        text[length++] = 'x';  // so that runs of spaces are not at the end
        for (size_t f = 0; f < LENGTH(families); f++) count_pieces(families[f], text, length);
    }
    free(text);
}

static void splitting_ends_when_told(void **state) {
    (void)state;
    const char *text = "one two three";
    follower f = {.at = text, .stop_after = 2};
    assert_false(igi_llm_split(igi_llm_splitter_find("gpt-2", 5), text, strlen(text), follow, &f));
    assert_int_equal(f.pieces, 2);
}

static void classes_are_those_of_unicode(void **state) {
    (void)state;
    assert_int_equal(igi_llm_class_of('A'), IGI_UPPER);
    assert_int_equal(igi_llm_class_of(0x1C5), IGI_UPPER);  // titlecase
    assert_int_equal(igi_llm_class_of(0xDF), IGI_LOWER);
    assert_int_equal(igi_llm_class_of(0xAA), IGI_UNCASED);
    assert_int_equal(igi_llm_class_of(0x2B0), IGI_UNCASED);
    assert_int_equal(igi_llm_class_of(0x4E00), IGI_UNCASED);
    assert_int_equal(igi_llm_class_of(0x301), IGI_MARK);
    assert_int_equal(igi_llm_class_of(0x2167), IGI_NUMBER);
    assert_int_equal(igi_llm_class_of(0x2014), IGI_PUNCTUATION);
    assert_int_equal(igi_llm_class_of(0x1F642), IGI_SYMBOL);
    assert_int_equal(igi_llm_class_of(0x85), IGI_SPACE);
    assert_int_equal(igi_llm_class_of(0x3000), IGI_SPACE);
    assert_int_equal(igi_llm_class_of(0x1C), 0);
    assert_int_equal(igi_llm_class_of(0x10FFFF), 0);
    assert_int_equal(igi_llm_class_of(0x110000), 0);
    for (uint32_t code = 0; code < 128; code++) assert_int_equal(igi_llm_class_of(code), igi_llm_ascii_classes[code]);
}

static void expect_base(uint32_t code, uint32_t count, const uint32_t wanted[]) {
    uint32_t parts[IGI_MAX_BASES] = {0};
    assert_int_equal(igi_llm_without_accents(code, parts), count);
    if (count) assert_memory_equal(parts, wanted, count * sizeof *wanted);
}
#define BASE(code, count, ...) expect_base(code, count, (const uint32_t[]){__VA_ARGS__})

// By Python's unicodedata and str.lower.
static void letters_lose_case_and_accents(void **state) {
    (void)state;
    static const uint32_t lower[][2] = {{'A', 'a'},         {'Z', 'z'},         {'[', '['},      {0xC9, 0xE9},
                                        {0xD7, 0xD7},       {0x100, 0x101},     {0x101, 0x101},  {0x130, 'i'},
                                        {0x1C4, 0x1C6},     {0x1C5, 0x1C6},     {0x3A3, 0x3C3},  {0x1E9E, 0xDF},
                                        {0x1E921, 0x1E943}, {0x1E922, 0x1E922}, {0x2126, 0x3C9}, {0x10FFFF, 0x10FFFF}};
    for (size_t i = 0; i < LENGTH(lower); i++) assert_int_equal(igi_llm_lower_of(lower[i][0]), lower[i][1]);
    BASE('e', 1, 'e');
    BASE(0xE9, 1, 'e');
    BASE(0x1EAD, 1, 0x61);
    BASE(0x301, 0, 0);
    BASE(0x345, 0, 0);
    BASE(0x488, 1, 0x488);  // an enclosing mark
    BASE(0x2260, 1, '=');
    BASE(0xBCA, 2, 0xBC6, 0xBBE);
    BASE(0xF900, 1, 0x8C48);
    BASE(0xAC00, 2, 0x1100, 0x1161);
    BASE(0xAC01, 3, 0x1100, 0x1161, 0x11A8);
    BASE(0xD7A3, 3, 0x1112, 0x1175, 0x11C2);
    BASE(0x1D160, 3, 0x1D158, 0x1D165, 0x1D16E);
    static const uint32_t controls[] = {0, 0x1F, 0x7F, 0x9F, 0xAD, 0x200B, 0xFEFF, 0xE000, 0xF8FF, 0x10FFFD};
    for (size_t i = 0; i < LENGTH(controls); i++) assert_true(igi_llm_is_control(controls[i]));
    assert_false(igi_llm_is_control(' ') || igi_llm_is_control(0xA0) || igi_llm_is_control(0x378));
}

static size_t put_utf8(uint32_t code, char bytes[4]) {
    if (code < 0x80) return bytes[0] = (char)code, 1;
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(0xF00u >> length | code);
    return length;
}

static void every_code_point_is_read_and_nothing_else(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        char bytes[4];
        size_t length = put_utf8(code, bytes);
        igi_llm_char c = igi_llm_char_at((const uint8_t *)bytes, (const uint8_t *)bytes + length);
        bool surrogate = code >= 0xD800 && code < 0xE000;
        assert_int_equal(c.code, surrogate ? IGI_NO_CODE : code);
        assert_int_equal(c.length, surrogate ? 1 : length);
    }
    static const char *const wrong[] = {"\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
                                        "\x80",     "\xe2\x82",     "\xf8\x88\x80\x80", "\xc3("};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        const uint8_t *bytes = (const uint8_t *)wrong[i];
        assert_int_equal(igi_llm_char_at(bytes, bytes + strlen(wrong[i])).code, IGI_NO_CODE);
        assert_int_equal(igi_llm_char_at(bytes, bytes + strlen(wrong[i])).length, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_splits_as_published),
        cmocka_unit_test(families_have_whole_names),
        cmocka_unit_test(random_bytes_come_out_whole_and_in_order),
        cmocka_unit_test(long_runs_take_time_in_proportion),
        cmocka_unit_test(splitting_ends_when_told),
        cmocka_unit_test(classes_are_those_of_unicode),
        cmocka_unit_test(letters_lose_case_and_accents),
        cmocka_unit_test(every_code_point_is_read_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
