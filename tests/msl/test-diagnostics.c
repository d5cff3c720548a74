// SPDX-License-Identifier: Apache-2.0
// clang's output in the user's terms: types, hints, marks and changes in the user's own columns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "msl/diagnostic.h"

// ---- Types ----

static void types_have_their_names_in_msl(void **state) {
    (void)state;
    static const char *const examples[][2] = {
        {"no viable conversion from 'vec<float, 4>' to 'vec<float, 3>'",
         "no viable conversion from 'float4' to 'float3'"},
        {"to 'const metal::vec<unsigned int, 2> &'", "to 'const uint2 &'"},
        {"'vec<_Float16, 3>' 'vec<__bf16, 4>' 'vec<signed char, 2>'", "'half3' 'bfloat4' 'char2'"},
        {"'matrix<float, 2, 3>' and 'matrix<_Float16, 4, 4>'", "'float2x3' and 'half4x4'"},
        {"'packed_float3' (aka 'packed<vec<float, 3>>')", "'packed_float3'"},
        {"'const metal::__ig::packed<metal::vec<_Float16, 4> > &'", "'const packed_half4 &'"},
        {"'const atomic<unsigned int>'", "'const atomic_uint'"},
        {"'simdgroup_float8x8' (aka 'simdgroup_matrix<float, 8, 8>')", "'simdgroup_float8x8'"},
        {"to 'vec<float, 2 aka 2>' for", "to 'float2' for"},
        {"specialization 'twice<metal::vec<float, 4>>' requested", "specialization 'twice<float4>' requested"},
        {"('float4' (aka 'vec<float, 4>') and 'half *' (aka '_Float16 *'))", "('float4' and 'half *')"},
        {"'uint' (aka 'unsigned int')", "'uint'"},
        {"'meters' (aka 'float')", "'meters' (aka 'float')"},
        {"'vec<T, N>' and 'myvec<float, 4>' and 'vec<float, 4'",
         "'vec<T, N>' and 'myvec<float, 4>' and 'vec<float, 4'"},
        {"'_Float16x'", "'_Float16x'"},
        {"expected '''", "expected '''"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char *plain = igi_msl_diagnostic_plain_types(examples[i][0]);
        assert_string_equal(plain, examples[i][1]);
        free(plain);
    }
}

// ---- Hints ----

static void expect_hint(const char *text, const char *expected, const char *change) {
    igi_msl_diagnostic message = {.level = "error", .path = "x", .text = text, .line = 1, .column = 5};
    char *hinted = igi_msl_diagnostic_add_hint(&message);
    assert_string_equal(hinted, expected);
    assert_int_equal(message.change_count, change != NULL);
    if (change) assert_string_equal(message.changes[0].text, change);
    igi_msl_diagnostic_free(&message);
    free(hinted);
}

static void names_of_other_languages_get_a_hint(void **state) {
    (void)state;
    expect_hint("use of undeclared identifier 'threadIdx'",
                "use of undeclared identifier 'threadIdx'; add a parameter 'uint3 name "
                "[[thread_position_in_threadgroup]]'",
                NULL);
    expect_hint("unknown type name '__global'; did you mean '__global__'?",
                "unknown type name '__global'; write 'device'", "device");
    expect_hint("use of undeclared identifier 'CLK_LOCAL_MEM_FENCE'",
                "use of undeclared identifier 'CLK_LOCAL_MEM_FENCE'; MSL has "
                "threadgroup_barrier(mem_flags::mem_threadgroup)",
                NULL);
    expect_hint("use of undeclared identifier 'sinf'",
                "use of undeclared identifier 'sinf'; MSL has 'sin' for every floating-point type", "sin");
    expect_hint("use of undeclared identifier '__shfl_down_sync'",
                "use of undeclared identifier '__shfl_down_sync'; MSL has simd_shuffle, simd_shuffle_down, "
                "simd_shuffle_up and simd_shuffle_xor",
                NULL);
    expect_hint("use of undeclared identifier 'printf'",
                "use of undeclared identifier 'printf'; kernels cannot print; write to a buffer and print it on the "
                "host",
                NULL);
    expect_hint("use of undeclared identifier 'mine'", "use of undeclared identifier 'mine'", NULL);
}

static void mistyped_attributes_get_the_nearest(void **state) {
    (void)state;
    expect_hint("unknown attribute 'thread_position_in_grd' ignored [-Werror,-Wunknown-attributes]",
                "unknown attribute 'thread_position_in_grd'; did you mean 'thread_position_in_grid'?",
                "thread_position_in_grid");
    expect_hint("unknown attribute 'frobnicate' ignored [-Werror,-Wunknown-attributes]",
                "unknown attribute 'frobnicate'", NULL);
}

// ---- Everything ----

static char *log_of(const char *source, const char *format) {
    igi_msl_sources sources = {0};
    const igi_msl_main_source main = {.text = source, .length = strlen(source), .name = "x.metal"};
    assert_int_equal(igi_msl_sources_load(&sources, &main, NULL, 0, NULL), IG_STATUS_OK);
    igi_text output = {0};
    // "@" stands for the path given to clang.
    for (const char *at = format; *at; at++)
        igi_text_append(&output, *at == '@' ? sources.files[0].path : at,
                        *at == '@' ? strlen(sources.files[0].path) : 1);
    igi_msl_diagnostics diagnostics = {.sources = &sources, .stdlib = "/std"};
    igi_msl_diagnostics_add_clang(&diagnostics, output.data ? output.data : "");
    char *log = igi_text_take(&diagnostics.log);
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&sources);
    igi_text_free(&output);
    return log;
}

static void expect_log(const char *source, const char *output, const char *expected) {
    char *log = log_of(source, output);
    assert_string_equal(log, expected);
    free(log);
}

static void ranges_become_marks(void **state) {
    (void)state;
    expect_log("a + b * c;\n",
               "@:1:3:{1:1-1:2}{1:5-1:10}: error: bad\n    1 | a + b * c;\n      | ~ ^ ~~~~~\n1 error generated.\n",
               "x.metal:1:3: error: bad\n    1 | a + b * c;\n      | ~ ^ ~~~~~\n");
}

static void ranges_of_several_lines_are_cut_at_the_line(void **state) {
    (void)state;
    expect_log("f(a,\n  b);\n", "@:2:3:{1:1-2:5}: error: bad\n",
               "x.metal:2:3: error: bad\n    2 |   b);\n      |   ^~\n");
    expect_log("f(a,\n  b);\n", "@:1:1:{1:3-2:5}: error: bad\n",
               "x.metal:1:1: error: bad\n    1 | f(a,\n      | ^ ~~\n");
}

static void changes_are_shown(void **state) {
    (void)state;
    expect_log("int n = 3\n", "@:1:10: error: expected ';'\nfix-it:\"@\":{1:10-1:10}:\";\"\n",
               "x.metal:1:10: error: expected ';'\n    1 | int n = 3\n      |          ^\n      +          ;\n");
    expect_log("if (i = 3)\n", "@:1:7: note: use '=='\nfix-it:\"@\":{1:7-1:8}:\"==\"\n",
               "x.metal:1:7: note: use '=='\n    1 | if (i = 3)\n      |       ^\n      -       =\n      +       ==\n");
    expect_log("a \"b\" c\n", "@:1:3: note: x\nfix-it:\"@\":{1:3-1:6}:\"\\\"\\\\\\101\\\"\"\n",
               "x.metal:1:3: note: x\n    1 | a \"b\" c\n      |   ^~~\n      -   \"b\"\n      +   \"\\A\"\n");
}

// The attribute becomes a longer annotation: columns after it move.
static void columns_are_those_before_rewriting(void **state) {
    (void)state;
    const char *source = "kernel void f(device float *a [[buffer(0)]]) { a[0] = b }\n";
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(source, strlen(source), &rewrite));
    unsigned column = (unsigned)(strstr(rewrite.text, "b }") - rewrite.text) + 1;
    unsigned inside = (unsigned)(strstr(rewrite.text, "annotate") - rewrite.text) + 1;
    igi_msl_rewrite_free(&rewrite);
    char output[400];
    snprintf(output, sizeof output,
             "@:1:%u:{1:%u-1:%u}: error: bad\nfix-it:\"@\":{1:%u-1:%u}:\";\"\nfix-it:\"@\":{1:%u-1:%u}:\"x\"\n", column,
             column, column + 1, column + 1, column + 1, inside, inside + 8);
    expect_log(source, output,
               "x.metal:1:55: error: bad\n"
               "    1 | kernel void f(device float *a [[buffer(0)]]) { a[0] = b }\n"
               "      |                                                       ^\n"
               "      +                                                        ;\n");
}

static void the_insides_of_the_headers_are_hidden(void **state) {
    (void)state;
    expect_log("x\n",
               "@:1:1: error: no matching function for call to 'dot'\n"
               "/std/__ingot_vec:3:4: note: candidate constructor not viable\n"
               "/std/metal_math:5:6: note: candidate function not viable: requires 2 arguments\n"
               "/std/metal_math:7:8: note: expanded from macro '__IG_EACH'\n"
               "/std/metal_math:9:8: note: candidate function not viable: requires 2 arguments\n"
               "/std/metal_geometric:1:2: note: candidate template ignored: substitution failure [with A = float4]: no "
               "type named 'type' in 'metal::__ig_math::x'\n",
               "x.metal:1:1: error: no matching function for call to 'dot'\n    1 | x\n      | ^\n"
               "<metal_math>:5:6: note: candidate function not viable: requires 2 arguments\n"
               "<metal_geometric>:1:2: note: candidate ignored: it does not take these types [with A = float4]\n");
}

static void carets_stand_below_what_they_mean(void **state) {
    (void)state;
    expect_log("\t\xc3\xa9 \033 b\n", "@:1:7: error: bad \033[31m\n",
               "x.metal:1:7: error: bad \\x1b[31m\n    1 | \t\xc3\xa9 \\x1b b\n      | \t       ^\n");
    expect_log("a\r\nb\r\n", "@:1:2: error: bad\n", "x.metal:1:2: error: bad\n    1 | a\n      |  ^\n");
}

static void messages_without_a_place_are_kept(void **state) {
    (void)state;
    expect_log("x\n", "clang: error: no such file\n", "clang: error: no such file\n");
    expect_log("x\n", "/dev/null:1:1: error: expected '}'\n",
               "x.metal:1:2: error: expected '}'\n    1 | x\n      |  ^\n");
}

// Whatever clang prints, and whatever the source contains.
static void any_output_is_survived(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "@",  ":1:1",         ":{1:1-1:2}", ": error: ", ": note: ", "fix-it:\"@\":", "{",    "1:3-",       "}",
        "\n", "'vec<float, ", "4>'",        "\\",        "\"",       "(aka '",        "\x1b", "4294967295", " | "};
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        igi_text output = {0};
        for (int i = 0; i < 40; i++) {
            random = random * 1664525u + 1013904223u;
            igi_text_add(&output, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        free(log_of("kernel void f(device float *a [[buffer(0)]]) { a[0] = b }\n\tx", output.data));
        igi_text_free(&output);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_their_names_in_msl),
        cmocka_unit_test(names_of_other_languages_get_a_hint),
        cmocka_unit_test(mistyped_attributes_get_the_nearest),
        cmocka_unit_test(ranges_become_marks),
        cmocka_unit_test(ranges_of_several_lines_are_cut_at_the_line),
        cmocka_unit_test(changes_are_shown),
        cmocka_unit_test(columns_are_those_before_rewriting),
        cmocka_unit_test(the_insides_of_the_headers_are_hidden),
        cmocka_unit_test(carets_stand_below_what_they_mean),
        cmocka_unit_test(messages_without_a_place_are_kept),
        cmocka_unit_test(any_output_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
