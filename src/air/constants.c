// SPDX-License-Identifier: Apache-2.0
// The function constants of a function, as the container lists them.
#include <string.h>

#include "air/container.h"

// MTLDataType: for each type the scalar, followed by its vectors of 2, 3 and 4.
static const struct {
    uint8_t scalar;
    ig_type type;
} data_types[] = {
    {3, IG_TYPE_F32}, {16, IG_TYPE_F16}, {29, IG_TYPE_I32},  {33, IG_TYPE_U32}, {37, IG_TYPE_I16}, {41, IG_TYPE_U16},
    {45, IG_TYPE_I8}, {49, IG_TYPE_U8},  {53, IG_TYPE_BOOL}, {81, IG_TYPE_I64}, {85, IG_TYPE_U64}, {121, IG_TYPE_BF16},
};

static bool set_type(ig_function_constant_info *constant, uint8_t number) {
    for (size_t i = 0; i < sizeof data_types / sizeof *data_types; i++) {
        if (number < data_types[i].scalar || number - data_types[i].scalar > 3) continue;
        constant->type = data_types[i].type;
        constant->components = number - data_types[i].scalar + 1u;
        return true;
    }
    return false;
}

igi_air_constants igi_air_constants_of(const igi_air_function *function) {
    uint16_t count;
    if (!function->constants || function->constants_length < sizeof count) return (igi_air_constants){0};
    igi_air_constants constants = {function->constants, function->constants + function->constants_length, 0};
    memcpy(&count, constants.at, sizeof count);
    constants.at += sizeof count;
    constants.left = count;
    return constants;
}

// A name with its NUL, a type, a number of two bytes, and whether it must have a value.
bool igi_air_next_constant(igi_air_constants *constants, ig_function_constant_info *constant) {
    enum { AFTER_NAME = 4 };
    if (!constants->left) return false;
    constants->left--;
    const char *zero = memchr(constants->at, 0, (size_t)(constants->end - constants->at));
    if (!zero || constants->end - zero - 1 < AFTER_NAME) return false;
    uint16_t id;
    memcpy(&id, zero + 2, sizeof id);
    *constant = (ig_function_constant_info){.name = constants->at, .id = id};
    constants->at = zero + 1 + AFTER_NAME;
    return set_type(constant, (uint8_t)zero[1]);
}
