// SPDX-License-Identifier: Apache-2.0
// CMOCKA_TEST_FILTER='race_*' runs only the tests of a program whose names match. Linked into every test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

__attribute__((constructor)) static void choose_tests(void) {
    cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
}
