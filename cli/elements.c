// SPDX-License-Identifier: Apache-2.0
// Elements of every type: text, JSON, counting up, and random numbers.
#include "elements.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "tensor/types.h"

bool cli_type_named(const char *name, size_t length, ig_type *type) {
    for (int i = 0; i < IG_TYPE_COUNT; i++) {
        const char *known = ig_type_name((ig_type)i);
        if (strlen(known) != length || memcmp(known, name, length) != 0) continue;
        *type = (ig_type)i;
        return true;
    }
    return false;
}

const char *cli_type_names(void) {
    return "f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool";
}

static bool is_float(ig_type type) {
    return type == IG_TYPE_F32 || type == IG_TYPE_F16 || type == IG_TYPE_BF16;
}

static bool is_signed(ig_type type) {
    return type == IG_TYPE_I8 || type == IG_TYPE_I16 || type == IG_TYPE_I32 || type == IG_TYPE_I64;
}

// Little-endian hosts keep the low bytes first.
static void store_integer(ig_type type, uint64_t bits, void *element) {
    memcpy(element, &bits, ig_type_size(type));
}

static uint64_t load_integer(ig_type type, const void *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, ig_type_size(type));
    return bits;
}

static void store_float(ig_type type, double value, void *element) {
    if (type == IG_TYPE_F32) {
        float single = (float)value;
        memcpy(element, &single, sizeof single);
    } else {
        uint16_t half = type == IG_TYPE_BF16 ? igi_tensor_bf16_from_double(value) : igi_tensor_f16_from_double(value);
        memcpy(element, &half, sizeof half);
    }
}

static float load_float(ig_type type, const void *element) {
    float single;
    uint16_t half;
    if (type == IG_TYPE_F32) return memcpy(&single, element, sizeof single), single;
    memcpy(&half, element, sizeof half);
    return (float)(type == IG_TYPE_BF16 ? igi_tensor_bf16_to_double(half) : igi_tensor_f16_to_double(half));
}

bool cli_type_is_float(ig_type type) {
    return is_float(type);
}

double cli_element_value(ig_type type, const void *element) {
    return (double)load_float(type, element);
}

void cli_element_store(ig_type type, double value, void *element) {
    store_float(type, value, element);
}

static cli_parse_result parse_integer(ig_type type, const char *text, size_t length, void *element) {
    unsigned bits = 8 * ig_type_size(type);
    bool negative = length && text[0] == '-';
    uint64_t magnitude, limit = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (is_signed(type)) limit = limit / 2 + negative;
    if (negative && !is_signed(type)) limit = 0;
    if (!cli_parse_u64(text + negative, length - negative, &magnitude)) {
        size_t digits = strspn(text + negative, "0123456789");
        return digits && digits + negative >= length ? CLI_ELEMENT_DOES_NOT_FIT : CLI_ELEMENT_MALFORMED;
    }
    if (magnitude > limit) return CLI_ELEMENT_DOES_NOT_FIT;
    store_integer(type, negative ? 0 - magnitude : magnitude, element);
    return CLI_ELEMENT_OK;
}

static cli_parse_result parse_float(ig_type type, const char *text, size_t length, void *element) {
    char copy[128], *end;
    if (length == 0 || length >= sizeof copy || isspace((unsigned char)text[0])) return CLI_ELEMENT_MALFORMED;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = type == IG_TYPE_F32 ? (double)strtof(copy, &end) : strtod(copy, &end);
    if (end != copy + length) return CLI_ELEMENT_MALFORMED;
    store_float(type, value, element);
    bool infinite_text = strpbrk(copy, "iI") != NULL;
    return isinf(load_float(type, element)) && !infinite_text ? CLI_ELEMENT_DOES_NOT_FIT : CLI_ELEMENT_OK;
}

static cli_parse_result parse_bool(const char *text, size_t length, void *element) {
    static const char *const words[] = {"0", "1", "false", "true"};
    for (unsigned i = 0; i < 4; i++) {
        if (strlen(words[i]) != length || memcmp(words[i], text, length) != 0) continue;
        *(unsigned char *)element = i & 1;
        return CLI_ELEMENT_OK;
    }
    return CLI_ELEMENT_MALFORMED;
}

cli_parse_result cli_element_parse(ig_type type, const char *text, size_t length, void *element) {
    if (type == IG_TYPE_BOOL) return parse_bool(text, length, element);
    return is_float(type) ? parse_float(type, text, length, element) : parse_integer(type, text, length, element);
}

static int64_t sign_extend(uint64_t bits, unsigned width) {
    unsigned shift = 64 - width;
    return (int64_t)(bits << shift) >> shift;
}

static void format_float(ig_type type, const void *element, char text[CLI_ELEMENT_TEXT]) {
    double value = (double)load_float(type, element);
    bool whole = fabs(value) < 1e15 && value == trunc(value);
    if (whole) snprintf(text, CLI_ELEMENT_TEXT, "%.0f", value);
    if (isnan(value)) snprintf(text, CLI_ELEMENT_TEXT, "nan");
    for (int precision = 1; precision <= 9 && !whole && !isnan(value); precision++) {
        unsigned char again[4];
        snprintf(text, CLI_ELEMENT_TEXT, "%.*g", precision, value);
        store_float(type, strtod(text, NULL), again);
        if (memcmp(again, element, ig_type_size(type)) == 0) return;
    }
}

void cli_element_format(ig_type type, const void *element, char text[CLI_ELEMENT_TEXT]) {
    if (is_float(type)) {
        format_float(type, element, text);
        return;
    }
    uint64_t bits = load_integer(type, element);
    if (type == IG_TYPE_BOOL) {
        snprintf(text, CLI_ELEMENT_TEXT, "%s", bits ? "true" : "false");
    } else if (is_signed(type)) {
        snprintf(text, CLI_ELEMENT_TEXT, "%" PRId64, sign_extend(bits, 8 * ig_type_size(type)));
    } else {
        snprintf(text, CLI_ELEMENT_TEXT, "%" PRIu64, bits);
    }
}

void cli_element_json(ig_type type, const void *element, igi_json *json) {
    if (is_float(type)) {
        igi_json_float(json, load_float(type, element));
    } else if (type == IG_TYPE_BOOL) {
        igi_json_bool(json, load_integer(type, element) != 0);
    } else if (is_signed(type)) {
        igi_json_i64(json, sign_extend(load_integer(type, element), 8 * ig_type_size(type)));
    } else {
        igi_json_u64(json, load_integer(type, element));
    }
}

void cli_fill_iota(ig_type type, void *elements, uint64_t count) {
    uint32_t size = ig_type_size(type);
    char *at = elements;
    for (uint64_t i = 0; i < count; i++, at += size) {
        if (is_float(type)) {
            store_float(type, (double)i, at);
        } else {
            store_integer(type, type == IG_TYPE_BOOL ? i & 1 : i, at);
        }
    }
}

static uint64_t split_mix_64(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int significand_bits(ig_type type) {
    return type == IG_TYPE_F32 ? 24 : type == IG_TYPE_F16 ? 11 : 8;
}

void cli_fill_random(ig_type type, void *elements, uint64_t count, uint64_t seed) {
    uint32_t size = ig_type_size(type);
    int kept = is_float(type) ? significand_bits(type) : type == IG_TYPE_BOOL ? 1 : (int)(8 * size);
    double unit = ldexp(1, -kept);
    char *at = elements;
    for (uint64_t i = 0; i < count; i++, at += size) {
        uint64_t bits = split_mix_64(seed, i) >> (64 - kept);
        if (is_float(type)) {
            store_float(type, (double)bits * unit, at);
        } else {
            store_integer(type, bits, at);
        }
    }
}
