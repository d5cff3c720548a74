// SPDX-License-Identifier: Apache-2.0
// Functions of the Metal standard library against references, in ulp.
#ifndef INGOT_TESTS_TEST_FUNCTIONS_H
#define INGOT_TESTS_TEST_FUNCTIONS_H

#include <ingot/device.h>

enum { FUNCTION_INPUTS = 4096, FUNCTION_ARGUMENTS = 3 };

typedef struct function_context {
    ig_type type;
    ig_math_mode mode;
} function_context;

// How much a result may differ from the reference, in ulp of the type: 0 is exact, 0.5 correctly rounded. Negative: the
// specification leaves this input open.
typedef double (*function_limit)(const function_context *c, const long double *x, long double wanted);

typedef struct function_test {
    const char *name;        // of the kernel
    const char *expression;  // MSL, over a, b and c of type T
    int arity;
    long double (*reference)(const function_context *c, const long double *x);
    function_limit safe, fast;
    double low[FUNCTION_ARGUMENTS],
        high[FUNCTION_ARGUMENTS];  // range of inputs in fast mode, and of half of them in safe mode
    bool finite;                   // no NaN or infinity as input in safe mode either
} function_test;

// One library: all tests for one type and mode. `width` 1, or 4 for vectors that must agree with the scalars.
typedef struct function_family {
    const char *name;
    const char *helpers;  // MSL that the expressions use
    const function_test *tests;
    size_t count;
} function_family;

extern const function_family math_functions, common_functions, geometric_functions, relational_functions,
    integer_functions;

#endif
