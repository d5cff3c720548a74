// SPDX-License-Identifier: Apache-2.0
#include "llm/pretokenize.h"

#include <assert.h>
#include <string.h>

#include "llm/unicode.h"

static const igi_llm_char_range newlines[] = {{'\n', '\n'}, {'\r', '\r'}, {0}};
static const igi_llm_char_range ascii_digits[] = {{'0', '9'}, {0}};
// In addition to the punctuation class.
static const igi_llm_char_range falcon_symbols[] = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'},
                                                    {'`', '`'}, {'|', '|'}, {'~', '~'}, {0}};
static const igi_llm_char_range default_symbols[] = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'},
                                                     {'|', '|'}, {'~', '~'}, {0}};
static const igi_llm_char_range deepseek_symbols[] = {
    {'!', '/'}, {':', '~'}, {0x2018, 0x201f}, {0x3000, 0x3002}, {0xff01, 0xff0f}, {0xff1a, 0xff5e}, {0}};
static const igi_llm_char_range deepseek_asian[] = {{0x800, 0x9fa5}, {0xac00, 0xd7ff}, {0}};
static const igi_llm_char_range deepseek_kana[] = {{0x3040, 0x30ff}, {0x4e00, 0x9fa5}, {0}};
// Letters with case as DeepSeek's file lists them: from an older version of Unicode, and incomplete.
static const igi_llm_char_range deepseek_letters[] = {
    {0x41, 0x5a},       {0x61, 0x7a},       {0xb5, 0xb5},       {0xc0, 0xd6},       {0xd8, 0xf6},
    {0xf8, 0x1ba},      {0x1bc, 0x1bf},     {0x1c4, 0x293},     {0x295, 0x2af},     {0x370, 0x373},
    {0x376, 0x377},     {0x37b, 0x37d},     {0x37f, 0x37f},     {0x386, 0x386},     {0x388, 0x38a},
    {0x38c, 0x38c},     {0x38e, 0x3a1},     {0x3a3, 0x3f5},     {0x3f7, 0x481},     {0x48a, 0x52f},
    {0x531, 0x556},     {0x10a0, 0x10c5},   {0x13a0, 0x13f5},   {0x13f8, 0x13fd},   {0x1c90, 0x1cba},
    {0x1cbd, 0x1cbf},   {0x1d00, 0x1d2b},   {0x1d6b, 0x1d77},   {0x1d79, 0x1d9a},   {0x1e00, 0x1f15},
    {0x1f18, 0x1f1d},   {0x1f20, 0x1f45},   {0x1f48, 0x1f4d},   {0x1f50, 0x1f57},   {0x1f59, 0x1f59},
    {0x1f5b, 0x1f5b},   {0x1f5d, 0x1f5d},   {0x1f5f, 0x1f7d},   {0x1f80, 0x1fb4},   {0x1fb6, 0x1fbc},
    {0x1fbe, 0x1fbe},   {0x1fc2, 0x1fc4},   {0x1fc6, 0x1fcc},   {0x1fd0, 0x1fd3},   {0x1fd6, 0x1fdb},
    {0x1fe0, 0x1fec},   {0x1ff2, 0x1ff4},   {0x1ff6, 0x1ffc},   {0x2102, 0x2102},   {0x2107, 0x2107},
    {0x210a, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211d},   {0x2124, 0x2124},   {0x2126, 0x2126},
    {0x2128, 0x2128},   {0x212a, 0x212d},   {0x212f, 0x2134},   {0x2139, 0x2139},   {0x213c, 0x213f},
    {0x2145, 0x2149},   {0x214e, 0x214e},   {0x2183, 0x2184},   {0x2c00, 0x2c7b},   {0x2c7e, 0x2ce4},
    {0x2ceb, 0x2cee},   {0x2cf2, 0x2cf3},   {0xa640, 0xa66d},   {0xa680, 0xa69b},   {0xa722, 0xa76f},
    {0xa771, 0xa787},   {0xa78b, 0xa78e},   {0xab70, 0xabbf},   {0xfb00, 0xfb06},   {0xfb13, 0xfb17},
    {0xff21, 0xff3a},   {0xff41, 0xff5a},   {0x10400, 0x1044f}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb},
    {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df}, {0x1e900, 0x1e943}, {0}};

#define ONE_NUMBER {.match = igi_llm_match_run, .classes = IGI_NUMBER, .least = 1, .most = 1}
#define THREE_DIGITS {.match = igi_llm_match_run, .ranges = ascii_digits, .least = 3, .most = 3}
#define NEWLINE {.match = igi_llm_match_run, .ranges = newlines, .least = 1, .most = 1}
#define RUN_OF(...) {.match = igi_llm_match_run, .least = 1, __VA_ARGS__}
#define WORD(numbers, class) {.match = igi_llm_match_word, .classes = (class), .most = (numbers), .tail = "\r\n"}

static const igi_llm_stage gpt2[] = {{.match = igi_llm_match_gpt2_word}, {0}};
static const igi_llm_stage smollm[] = {ONE_NUMBER, {.match = igi_llm_match_gpt2_word}, {0}};
static const igi_llm_stage falcon[] = {RUN_OF(.classes = IGI_PUNCTUATION, .ranges = falcon_symbols),
                                       {.match = igi_llm_match_gpt2_word},
                                       THREE_DIGITS,
                                       {0}};
static const igi_llm_stage standard[] = {RUN_OF(.classes = IGI_PUNCTUATION, .ranges = default_symbols),
                                         {.match = igi_llm_match_gpt2_word},
                                         RUN_OF(.classes = IGI_NUMBER),
                                         THREE_DIGITS,
                                         {0}};
static const igi_llm_stage llama3[] = {WORD(3, IGI_LETTER), {0}};
static const igi_llm_stage qwen2[] = {WORD(1, IGI_LETTER), {0}};
static const igi_llm_stage qwen35[] = {WORD(1, IGI_LETTER | IGI_MARK), {0}};
static const igi_llm_stage tekken[] = {
    {.match = igi_llm_match_cased_word, .classes = IGI_LETTER, .most = 1, .tail = "\r\n/"}, {0}};
static const igi_llm_stage gpt4o[] = {
    {.match = igi_llm_match_cased_word, .classes = IGI_LETTER, .most = 3, .tail = "\r\n/", .contractions = true}, {0}};
static const igi_llm_stage deepseek_llm[] = {NEWLINE,
                                             RUN_OF(.ranges = deepseek_letters, .after_space = true),
                                             RUN_OF(.ranges = deepseek_symbols, .after_space = true),
                                             {.match = igi_llm_match_trailing_space},
                                             RUN_OF(.ranges = deepseek_asian),
                                             RUN_OF(.classes = IGI_NUMBER),
                                             {0}};
static const igi_llm_stage deepseek_coder[] = {NEWLINE,
                                               RUN_OF(.classes = IGI_LETTER, .after_space = true),
                                               RUN_OF(.classes = IGI_PUNCTUATION, .after_space = true),
                                               RUN_OF(.ranges = deepseek_asian),
                                               ONE_NUMBER,
                                               {0}};
static const igi_llm_stage deepseek_v3[] = {RUN_OF(.classes = IGI_NUMBER, .most = 3),
                                            RUN_OF(.ranges = deepseek_kana),
                                            {.match = igi_llm_match_deepseek_word, .tail = "\r\n"},
                                            {0}};

static const igi_llm_splitter splitters[] = {
    {.names = "gpt-2 phi-2 mpt olmo jais exaone4 trillion granite-docling gigachat a.x-4.0 mellum", .stages = gpt2},
    {.names = "default", .stages = standard},
    {.names = "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2", .stages = smollm},
    {.names = "falcon", .stages = falcon},
    {.names = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2",
     .stages = llama3,
     .whole_pieces = true,
     .adds_first = true},
    {.names = "dbrx smaug-bpe glm4 chatglm-bpe", .stages = llama3},
    {.names = "qwen2 deepseek-r1-qwen kormo megrez stablelm2 hunyuan solar-open grok-2", .stages = qwen2},
    {.names = "qwen35", .stages = qwen35},
    {.names = "tekken", .stages = tekken, .whole_pieces = true, .adds_first = true},
    {.names = "gpt-4o llama4 kanana2", .stages = gpt4o},
    {.names = "deepseek-llm", .stages = deepseek_llm},
    {.names = "deepseek-coder", .stages = deepseek_coder},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm", .stages = deepseek_v3},
};

static bool has_name(const char *names, const char *name, size_t length) {
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && !memcmp(at, name, length)) return true;
        at += size;
    }
    return false;
}

const igi_llm_splitter *igi_llm_splitter_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof splitters / sizeof *splitters; i++)
        if (has_name(splitters[i].names, name, length)) return &splitters[i];
    return NULL;
}

typedef struct splitting {
    igi_llm_take_piece *take;
    void *context;
} splitting;

// `stage` may be one past the last: what reaches it is a finished piece.
static bool split(const splitting *s, const igi_llm_stage *stage, const uint8_t *from, const uint8_t *end) {
    if (from == end) return true;
    if (!stage->match) return s->take(s->context, (const char *)from, (size_t)(end - from));
    for (const uint8_t *at = from; at < end;) {
        const uint8_t *match = stage->match(stage, from, at, end);
        assert(!match || (match > at && match <= end));
        if (!match) {
            at += igi_llm_char_at(at, end).length;
            continue;
        }
        if (!split(s, stage + 1, from, at) || !split(s, stage + 1, at, match)) return false;
        from = at = match;
    }
    return split(s, stage + 1, from, end);
}

bool igi_llm_split(const igi_llm_splitter *splitter, const char *text, size_t length, igi_llm_take_piece *take,
                   void *context) {
    const splitting s = {take, context};
    const uint8_t *bytes = (const uint8_t *)text;
    return !length || split(&s, splitter->stages, bytes, bytes + length);
}
