// SPDX-License-Identifier: Apache-2.0
// 16-bit floats: IEEE binary16 (f16) and bfloat16 (bf16), to and from ordinary ones.
#ifndef INGOT_CLI_HALF_H
#define INGOT_CLI_HALF_H

#include <stdint.h>

// Rounded to nearest, ties to even; too large becomes infinity; NaN stays NaN.
uint16_t cli_f16_from_double(double value);
uint16_t cli_bf16_from_double(double value);
// Exact.
float cli_float_from_f16(uint16_t bits);
float cli_float_from_bf16(uint16_t bits);

#endif
