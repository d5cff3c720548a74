// SPDX-License-Identifier: Apache-2.0
// Element types from the text of a pointer or reference type.
#include "msl/element-type.h"

#include <ctype.h>
#include <string.h>

#include "core/memory.h"

static const struct {
    const char *name;
    ig_type type;
} scalars[] = {
    {"bool", IG_TYPE_BOOL},  {"char", IG_TYPE_I8},  {"uchar", IG_TYPE_U8},    {"short", IG_TYPE_I16},
    {"ushort", IG_TYPE_U16}, {"int", IG_TYPE_I32},  {"uint", IG_TYPE_U32},    {"long", IG_TYPE_I64},
    {"ulong", IG_TYPE_U64},  {"half", IG_TYPE_F16}, {"bfloat", IG_TYPE_BF16}, {"float", IG_TYPE_F32},
};

// After the scalar: nothing, "4" or "3x3", then one "*" or "&".
static bool is_one_of_them(const char *rest) {
    if (*rest >= '2' && *rest <= '8') rest++;
    if (*rest == 'x') rest += rest[1] ? 2 : 1;
    if (!igi_skip(&rest, " volatile")) igi_skip(&rest, " ");
    return (*rest == '*' || *rest == '&') && rest[1] == '\0';
}

bool igi_msl_element_type(const char *type, ig_type *element) {
    static const char *const prefixes[] = {"const ", "volatile ", "packed_", "atomic_", "simdgroup_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) igi_skip(&type, prefixes[i]);
    size_t length = 0;
    while (isalpha((unsigned char)type[length])) length++;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (strlen(scalars[i].name) != length || memcmp(scalars[i].name, type, length) != 0) continue;
        *element = scalars[i].type;
        return is_one_of_them(type + length);
    }
    return false;
}
