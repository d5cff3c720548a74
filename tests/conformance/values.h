// SPDX-License-Identifier: Apache-2.0
// Elements of any ig_type as long doubles, which hold every one of them exactly.
#ifndef INGOT_TESTS_VALUES_H
#define INGOT_TESTS_VALUES_H

#include <ingot/device.h>

// Integers wrap, floats round to nearest even.
long double value_read(ig_type type, const void *element);
void value_write(ig_type type, long double value, void *element);
// The value an element of this type would have.
long double value_round(ig_type type, long double value);
// Returns false for a name that is not a type.
bool value_type(const char *name, ig_type *type);
bool value_is_float(ig_type type);

// A wanted value that matches anything: padding. No element has it, and a double holds it: on some systems long double is
// no more than that.
#define VALUE_ANY (-0x1.a5a5p1000L)

// Distance between neighbouring floats around the value.
long double value_ulp(ig_type type, long double value);

typedef enum tolerance_kind { TOLERANCE_EXACT, TOLERANCE_ULP, TOLERANCE_ABSOLUTE, TOLERANCE_RELATIVE } tolerance_kind;
typedef struct tolerance {
    tolerance_kind kind;
    double amount;
} tolerance;
// NaN matches NaN, and zeros match whatever their sign.
bool value_matches(ig_type type, long double got, long double wanted, tolerance allowed);

#endif
