// SPDX-License-Identifier: Apache-2.0
// The parts of the command line: elements, SPECs, options, suggestions, statistics.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka last: it needs the headers above.
#include <cmocka.h>

#include "console/options.h"
#include "console/output.h"
#include "core/nearest.h"
#include "elements.h"
#include "format.h"
#include "spec.h"
#include "tensor/types.h"
#include "timing.h"

// ---- Elements ----

static void check_text(ig_type type, const char *text, const char *shown) {
    unsigned char element[8];
    char again[CLI_ELEMENT_TEXT];
    assert_int_equal(cli_element_parse(type, text, strlen(text), element), CLI_ELEMENT_OK);
    cli_element_format(type, element, again);
    assert_string_equal(again, shown);
}

static void elements_are_shown_as_they_are_read(void **state) {
    (void)state;
    check_text(IG_TYPE_I8, "-128", "-128");
    check_text(IG_TYPE_U8, "0xff", "255");
    check_text(IG_TYPE_I16, "-32768", "-32768");
    check_text(IG_TYPE_I64, "-9223372036854775808", "-9223372036854775808");
    check_text(IG_TYPE_U64, "18446744073709551615", "18446744073709551615");
    check_text(IG_TYPE_F32, "0.1", "0.1");
    check_text(IG_TYPE_F32, "10", "10");
    check_text(IG_TYPE_F32, "1e20", "1e+20");
    check_text(IG_TYPE_F32, "-inf", "-inf");
    check_text(IG_TYPE_F32, "nan", "nan");
    check_text(IG_TYPE_F16, "0.1", "0.1");
    check_text(IG_TYPE_F16, "65504", "65504");
    check_text(IG_TYPE_BF16, "3.14159", "3.14");
    check_text(IG_TYPE_BOOL, "true", "true");
    check_text(IG_TYPE_BOOL, "0", "false");
}

static void wrong_elements_are_refused(void **state) {
    (void)state;
    // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order the table is read
    static const struct {
        ig_type type;
        const char *text;
        cli_parse_result result;
    } cases[] = {
        {IG_TYPE_U8, "256", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_U8, "-1", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_I8, "128", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_I8, "-129", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_F16, "65520", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_F32, "1e39", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_U64, "18446744073709551616", CLI_ELEMENT_DOES_NOT_FIT},
        {IG_TYPE_I32, "", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_I32, "-", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_I32, "1.5", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_I32, " 1", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_I32, "--1", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_I32, "0x", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_F32, "1.5x", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_F32, "", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_F32, " 1", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_BOOL, "2", CLI_ELEMENT_MALFORMED},
        {IG_TYPE_BOOL, "yes", CLI_ELEMENT_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char element[8];
        const char *text = cases[i].text;
        if (cli_element_parse(cases[i].type, text, strlen(text), element) != cases[i].result)
            fail_msg("'%s' as %s", text, ig_type_name(cases[i].type));
    }
}

// The reference stream of SplitMix64 for seed 1234567 (Rosetta Code, and Vigna's splitmix64.c).
static void random_is_splitmix64(void **state) {
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
    uint64_t numbers[5];
    cli_fill_random(IG_TYPE_U64, numbers, 5, 1234567);
    assert_memory_equal(numbers, expected, sizeof expected);
    uint8_t bytes[5];
    cli_fill_random(IG_TYPE_U8, bytes, 5, 1234567);
    for (int i = 0; i < 5; i++) assert_int_equal(bytes[i], expected[i] >> 56);
    float floats[5];
    cli_fill_random(IG_TYPE_F32, floats, 5, 1234567);
    for (int i = 0; i < 5; i++) assert_true(floats[i] == (float)(expected[i] >> 40) * 0x1p-24f);
}

static void random_floats_stay_below_one(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    uint16_t *halves = malloc(COUNT * sizeof *halves);
    assert_non_null(halves);
    cli_fill_random(IG_TYPE_F16, halves, COUNT, 0);
    for (int i = 0; i < COUNT; i++) assert_true(igi_tensor_f16_to_double(halves[i]) < 1);
    cli_fill_random(IG_TYPE_BF16, halves, COUNT, 0);
    for (int i = 0; i < COUNT; i++) assert_true(igi_tensor_bf16_to_double(halves[i]) < 1);
    free(halves);
}

static void iota_wraps_and_rounds(void **state) {
    (void)state;
    uint8_t bytes[300];
    cli_fill_iota(IG_TYPE_U8, bytes, 300);
    assert_int_equal(bytes[255], 255);
    assert_int_equal(bytes[256], 0);
    uint16_t halves[2052];
    cli_fill_iota(IG_TYPE_F16, halves, 2052);
    assert_true(igi_tensor_f16_to_double(halves[2048]) == 2048);
    assert_true(igi_tensor_f16_to_double(halves[2049]) == 2048);
}

// ---- SPECs ----

static void parse_spec(const char *text, cli_spec *spec) {
    ig_error error = {0};
    if (cli_spec_parse(text, spec, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
}

static void specs_are_read(void **state) {
    (void)state;
    cli_spec spec;
    parse_spec("f32[64,32]", &spec);
    assert_true(spec.fill == CLI_FILL_ZEROS && spec.rank == 2 && spec.count == 2048 && spec.bytes == 8192);
    assert_false(spec.is_constant);
    parse_spec("u8[3]:random:18446744073709551615", &spec);
    assert_true(spec.fill == CLI_FILL_RANDOM && spec.seed == UINT64_MAX && spec.bytes == 3);
    parse_spec("i16[2,2]:iota", &spec);
    int16_t four[4];
    cli_spec_fill(&spec, four);
    assert_int_equal(four[3], 3);
    parse_spec("f32[3]:0.5", &spec);
    float three[3];
    cli_spec_fill(&spec, three);
    assert_true(three[0] == 0.5f && three[2] == 0.5f);
    cli_spec_free(&spec);
    parse_spec("f32[3]:1,2,3", &spec);
    cli_spec_fill(&spec, three);
    assert_true(three[0] == 1 && three[1] == 2 && three[2] == 3);
    cli_spec_free(&spec);
    parse_spec("u32:1,2,3", &spec);
    assert_true(spec.is_constant && spec.count == 3 && spec.bytes == 12 && ((uint32_t *)spec.values)[2] == 3);
    cli_spec_free(&spec);
    parse_spec("dir.x/some[1].npy", &spec);
    assert_true(spec.fill == CLI_FILL_FILE);
    assert_string_equal(spec.path, "dir.x/some[1].npy");
}

static void wrong_specs_say_why(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"f64[4]", "types are f32"},
        {"array", "neither FILE.npy nor"},
        {"", "neither FILE.npy nor"},
        {"f32", "neither FILE.npy nor"},
        {"f32[4", "closing bracket"},
        {"f32[]", "sizes of at least 1"},
        {"f32[0]", "sizes of at least 1"},
        {"f32[1,]", "sizes of at least 1"},
        {"f32[-1]", "sizes of at least 1"},
        {"f32[4]iota", "after the shape"},
        {"f32[4]:", "is not a value"},
        {"f32[4]:1,2", "as many as the shape"},
        {"f32[4]:random:x", "seed"},
        {"u8[4]:300", "does not fit u8"},
        {"f32[99999999999999999999]", "too large"},
        {"f32[4294967296,4294967296]", "too large"},
        {"u32:", "is not a value"},
        {"u32:1,,2", "is not a value"},
        {"u32:1.5", "'1.5' is not a value of type u32"},
        {"u8[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "more than 32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ig_error error = {0};
        cli_spec spec;
        assert_int_not_equal(cli_spec_parse(cases[i][0], &spec, &error), IG_STATUS_OK);
        if (!strstr(error.message, cases[i][1])) fail_msg("'%s' gives '%s'", cases[i][0], error.message);
        ig_error_clear(&error);
    }
}

static void indices_are_split_off(void **state) {
    (void)state;
    uint32_t index;
    const char *rest;
    assert_true(cli_split_index("12=f32[4]", &index, &rest));
    assert_int_equal(index, 12);
    assert_string_equal(rest, "f32[4]");
    assert_false(cli_split_index("=x", &index, &rest));
    assert_false(cli_split_index("1", &index, &rest));
    assert_false(cli_split_index("x=1", &index, &rest));
    assert_false(cli_split_index("4294967296=1", &index, &rest));
}

// ---- Options ----

typedef struct parsed {
    bool flag, other;
    const char *text;
    cli_list texts, operands;
    uint64_t count, nanoseconds;
    ig_size size;
    int choice;
    int result;
} parsed;

static parsed parse_line(int argc, const char **argv) {
    parsed p = {.choice = -1};
    const cli_option options[] = {
        {'f', "flag", CLI_FLAG, &p.flag, NULL, ""},   {'x', "other", CLI_FLAG, &p.other, NULL, ""},
        {'t', "text", CLI_TEXT, &p.text, "TEXT", ""}, {'T', "texts", CLI_TEXTS, &p.texts, "TEXT", ""},
        {'n', "count", CLI_COUNT, &p.count, "N", ""}, {0, "seconds", CLI_SECONDS, &p.nanoseconds, "S", ""},
        {0, "size", CLI_SIZE, &p.size, "X,Y,Z", ""},  {0, "choice", CLI_CHOICE, &p.choice, "red|green|blue", ""},
    };
    const cli_syntax syntax = {.usage = "",
                               .purpose = "",
                               .options = options,
                               .option_count = 8,
                               .examples = "",
                               .max_operands = 3,
                               .operand = "FILE"};
    p.result = cli_parse(&syntax, argc, (char **)argv, &p.operands);
    return p;
}

#define PARSE(...) \
    parse_line(sizeof((const char *[]){"test", __VA_ARGS__}) / sizeof(char *), (const char *[]){"test", __VA_ARGS__})

static void release(parsed *p) {
    cli_list_free(&p->texts);
    cli_list_free(&p->operands);
}

static void options_are_read_in_every_form(void **state) {
    (void)state;
    parsed p = PARSE("-f", "--text=a=b", "one", "-Tx", "-T", "y", "--texts", "z", "-n5", "--", "-x");
    assert_int_equal(p.result, CLI_CONTINUE);
    assert_true(p.flag && !p.other && p.count == 5 && p.texts.count == 3 && p.operands.count == 2);
    assert_string_equal(p.text, "a=b");
    assert_string_equal(p.operands.items[1], "-x");
    release(&p);
    p = PARSE("-fx", "--size", "4,3", "--choice", "green", "--seconds", "0.5", "-");
    assert_true(p.flag && p.other && p.choice == 1 && p.nanoseconds == 500000000);
    assert_true(p.size.x == 4 && p.size.y == 3 && p.size.z == 1 && p.operands.count == 1);
    release(&p);
}

static void wrong_options_are_usage_errors(void **state) {
    (void)state;
    int saved = dup(2);
    assert_non_null(freopen("/dev/null", "w", stderr));
    static const char *const lines[][2] = {
        {"--falg", NULL},       {"-z", NULL},          {"--flag=1", NULL},       {"--text", NULL},
        {"-t", NULL},           {"--count", "0"},      {"--count", "-1"},        {"--count", "x"},
        {"--size", "0"},        {"--size", "1,"},      {"--size", "1,2,3,4"},    {"--size", ""},
        {"--choice", "yellow"}, {"--choice", ""},      {"--seconds", "0"},       {"--seconds", "-1"},
        {"--seconds", "nan"},   {"--seconds", "1e99"}, {"--color", "sometimes"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *argv[] = {"test", lines[i][0], lines[i][1]};
        parsed p = parse_line(lines[i][1] ? 3 : 2, argv);
        assert_int_equal(p.result, CLI_BAD_USAGE);
        release(&p);
    }
    parsed p = PARSE("a", "b", "c", "d");
    assert_int_equal(p.result, CLI_BAD_USAGE);
    release(&p);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
}

// ---- The rest ----

static void the_nearest_word_is_suggested(void **state) {
    (void)state;
    static const char *const words[] = {"info", "compile", "run", "demo"};
    assert_string_equal(igi_nearest("inof", words, 4), "info");
    assert_string_equal(igi_nearest("complie", words, 4), "compile");
    assert_string_equal(igi_nearest("rum", words, 4), "run");
    assert_null(igi_nearest("frobnicate", words, 4));
    assert_null(igi_nearest("rxx", words, 4));
    assert_null(igi_nearest("", words, 4));
    assert_null(igi_nearest("x", words, 4));
}

static void statistics_are_right(void **state) {
    (void)state;
    uint64_t times[] = {50, 10, 40, 20, 30, 60, 70, 80, 90, 100, 110};
    cli_timing timing = cli_timing_of(times, 11);
    assert_true(timing.best_ns == 10 && timing.median_ns == 60);
    assert_true(fabs(timing.spread - (100 - 20) / 60.0) < 1e-12);
    uint64_t one[] = {7};
    timing = cli_timing_of(one, 1);
    assert_true(timing.best_ns == 7 && timing.median_ns == 7 && timing.spread == 0);
}

static void times_and_sizes_are_readable(void **state) {
    (void)state;
    char text[CLI_FORMAT_TEXT];
    assert_string_equal(cli_format_time(0, text), "0 ns");
    assert_string_equal(cli_format_time(999, text), "999 ns");
    assert_string_equal(cli_format_time(1000, text), "1.00 us");
    assert_string_equal(cli_format_time(12345, text), "12.3 us");
    assert_string_equal(cli_format_time(999999, text), "1.00 ms");
    assert_string_equal(cli_format_time(2.5e9, text), "2.50 s");
    assert_string_equal(cli_format_bytes(0, text), "0 bytes");
    assert_string_equal(cli_format_bytes(1023, text), "1023 bytes");
    assert_string_equal(cli_format_bytes(1024, text), "1 KiB");
    assert_string_equal(cli_format_bytes(32768, text), "32 KiB");
    assert_string_equal(cli_format_bytes(1048576, text), "1 MiB");
    assert_string_equal(cli_format_bytes(UINT64_C(8380000000), text), "7.8 GiB");
}

static void exit_codes_follow_the_status(void **state) {
    (void)state;
    assert_int_equal(cli_exit_code(IG_STATUS_OK), 0);
    assert_int_equal(cli_exit_code(IG_STATUS_COMPILE_FAILED), 1);
    assert_int_equal(cli_exit_code(IG_STATUS_BAD_FORMAT), 1);
    assert_int_equal(cli_exit_code(IG_STATUS_COMPILER_MISSING), 3);
    assert_int_equal(cli_exit_code(IG_STATUS_OUT_OF_MEMORY), 3);
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): a status of a later version
    assert_int_equal(cli_exit_code((ig_status)9999), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_shown_as_they_are_read),
        cmocka_unit_test(wrong_elements_are_refused),
        cmocka_unit_test(random_is_splitmix64),
        cmocka_unit_test(random_floats_stay_below_one),
        cmocka_unit_test(iota_wraps_and_rounds),
        cmocka_unit_test(specs_are_read),
        cmocka_unit_test(wrong_specs_say_why),
        cmocka_unit_test(indices_are_split_off),
        cmocka_unit_test(options_are_read_in_every_form),
        cmocka_unit_test(wrong_options_are_usage_errors),
        cmocka_unit_test(the_nearest_word_is_suggested),
        cmocka_unit_test(statistics_are_right),
        cmocka_unit_test(times_and_sizes_are_readable),
        cmocka_unit_test(exit_codes_follow_the_status),
    };
    return cmocka_run_group_tests_name("command line", tests, NULL, NULL);
}
