// SPDX-License-Identifier: Apache-2.0
// Element types: sets of them, promotion, and strided conversion to and from double and int64_t.
#ifndef INGOT_TENSOR_TYPES_H
#define INGOT_TENSOR_TYPES_H

#include <ingot/device.h>

// Sets of types.
#define IGI_TYPE(type) (1u << IG_TYPE_##type)
enum {
    IGI_FLOATS = IGI_TYPE(F32) | IGI_TYPE(F16) | IGI_TYPE(BF16),
    IGI_INTEGERS = IGI_TYPE(I8) | IGI_TYPE(U8) | IGI_TYPE(I32) | IGI_TYPE(I64),
    IGI_NUMBERS = IGI_FLOATS | IGI_INTEGERS,
    IGI_ANY_TYPE = IGI_NUMBERS | IGI_TYPE(BOOL),
};

static inline bool igi_tensor_type_in(ig_type type, uint32_t set) {
    return (unsigned)type < IG_TYPE_COUNT && set >> type & 1;
}
bool igi_tensor_is_whole(double value);  // whether it is an integer that i64 can hold
static inline bool igi_tensor_is_float(ig_type type) {
    return igi_tensor_type_in(type, IGI_FLOATS);
}

// The common type of two operands. pre: both are in IGI_ANY_TYPE
ig_type igi_tensor_promote(ig_type a, ig_type b);

// f16 and bf16 as bits; conversion to them rounds once, to nearest even.
double igi_tensor_f16_to_double(uint16_t bits);
uint16_t igi_tensor_f16_from_double(double value);
double igi_tensor_bf16_to_double(uint16_t bits);
uint16_t igi_tensor_bf16_from_double(double value);

// The greatest value of a float type below `value`, which must be of that type.
double igi_tensor_next_below(ig_type type, double value);

// `count` elements, `stride` bytes apart. Stores convert as ig_tensor_cast says.
void igi_tensor_load_doubles(ig_type type, const char *elements, int64_t stride, uint64_t count, double *values);
void igi_tensor_store_doubles(ig_type type, char *elements, int64_t stride, uint64_t count, const double *values);
// From floats: towards zero, saturating. To integers: wrapping.
void igi_tensor_load_integers(ig_type type, const char *elements, int64_t stride, uint64_t count, int64_t *values);
void igi_tensor_store_integers(ig_type type, char *elements, int64_t stride, uint64_t count, const int64_t *values);

#endif
