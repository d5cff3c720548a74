// SPDX-License-Identifier: Apache-2.0
// Single elements of an ig_type: read from text, shown as text, and produced by the generators of `ingot run`.
#ifndef INGOT_CLI_ELEMENTS_H
#define INGOT_CLI_ELEMENTS_H

#include <ingot/device.h>

#include "core/json.h"

bool cli_type_named(const char *name, size_t length, ig_type *type);
// "f32 f16 bf16 ...", for messages.
const char *cli_type_names(void);

typedef enum cli_parse_result { CLI_ELEMENT_OK, CLI_ELEMENT_MALFORMED, CLI_ELEMENT_DOES_NOT_FIT } cli_parse_result;
// Decimal or 0x integers, floats as strtod reads them, true and false for bool.
cli_parse_result cli_element_parse(ig_type type, const char *text, size_t length, void *element);

// Shortest text that reads back as the same element.
enum { CLI_ELEMENT_TEXT = 40 };
void cli_element_format(ig_type type, const void *element, char text[CLI_ELEMENT_TEXT]);
void cli_element_json(ig_type type, const void *element, igi_json *json);

bool cli_type_is_float(ig_type type);
// Of a float.
double cli_element_value(ig_type type, const void *element);
void cli_element_store(ig_type type, double value, void *element);

// 0, 1, 2, ...: integers wrap, floats round.
void cli_fill_iota(ig_type type, void *elements, uint64_t count);
// Element i comes from SplitMix64's output i for this seed: floats are uniform in [0,1), made of as many of its top
// bits as the type's significand holds; integers are its top bits. The same on every machine.
void cli_fill_random(ig_type type, void *elements, uint64_t count, uint64_t seed);

#endif
