// SPDX-License-Identifier: Apache-2.0
// Symbols of function constants: the number may be a sum, and anything may be in its place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "msl/constant-symbol.h"

static void the_parts_are_told_apart(void **state) {
    (void)state;
    igi_msl_constant_symbol read;
    assert_true(igi_msl_constant_symbol_read("ig.fc.7.unsigned int.count", &read));
    assert_int_equal(read.id, 7);
    assert_int_equal(read.type_length, strlen("unsigned int"));
    assert_memory_equal(read.type, "unsigned int", read.type_length);
    assert_string_equal(read.name, "count");
}

static void the_number_may_be_an_expression(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t value;
    } examples[] = {
        {"0", 0},         {"1200 + 1", 1201}, {"(100)+(2*3)", 106}, {"10 - 3 - 2", 5}, {"((((5))))", 5},   {"12u", 12},
        {"65535", 65535}, {"0x10", 16},       {"010", 8},           {" 4 ", 4},        {"2 * (1 + 2)", 6},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char symbol[80];
        igi_msl_constant_symbol read;
        snprintf(symbol, sizeof symbol, "ig.fc.%s.bool.x", examples[i].text);
        assert_true(igi_msl_constant_symbol_read(symbol, &read));
        assert_int_equal(read.id, examples[i].value);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const symbols[] = {
        "",
        "x",
        "ig.fc",
        "ig.fc.",
        "ig.fc.1",
        "ig.fc.1.bool",
        "ig.fc.name.bool.x",
        "ig.fc.1 - 2.bool.x",
        "ig.fc.1 +.bool.x",
        "ig.fc.(1.bool.x",
        "ig.fc.1).bool.x",
        "ig.fc.1 2.bool.x",
        "ig.fc.1 / 0.bool.x",
        "ig.fc.4294967296.bool.x",
        "ig.fc.99999999999999999999.bool.x",
        "ig.fc.((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1.bool.x",
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        igi_msl_constant_symbol read;
        assert_false(igi_msl_constant_symbol_read(symbols[i], &read));
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_are_told_apart),
        cmocka_unit_test(the_number_may_be_an_expression),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
