// SPDX-License-Identifier: Apache-2.0
// ingot run: whether the given elements have the type that the kernel reads.
#include <ctype.h>
#include <string.h>

#include "core/memory.h"
#include "run.h"

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

bool run_element_type(const char *type, ig_type *element) {
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

static bool is_integer(ig_type type) {
    return type != IG_TYPE_F32 && type != IG_TYPE_F16 && type != IG_TYPE_BF16 && type != IG_TYPE_BOOL;
}

// Integers of one size are the same bytes, signed or not.
static bool agree(ig_type given, ig_type wanted) {
    return given == wanted || (is_integer(given) && is_integer(wanted) && ig_type_size(given) == ig_type_size(wanted));
}

// NumPy has no bf16: its files hold the bit patterns as u16, as --out writes them.
static bool is_bf16_file(const run_argument *argument, ig_type wanted) {
    return wanted == IG_TYPE_BF16 && argument->spec.type == IG_TYPE_U16 && argument->spec.fill == CLI_FILL_FILE;
}

int run_check_type(run_argument *argument) {
    ig_type wanted;
    if (argument->raw || !run_element_type(argument->reflection->type, &wanted)) return CLI_CONTINUE;
    if (is_bf16_file(argument, wanted)) argument->spec.type = wanted;
    if (agree(argument->spec.type, wanted)) return CLI_CONTINUE;
    char declared[CLI_TYPE_TEXT];
    return cli_error(CLI_BAD_INPUT,
                     "argument %u '%s' is '%s' and takes %s, but %s is %s; give %s, or %u=raw:%s to pass the bytes as "
                     "they are",
                     argument->index, argument->reflection->name, cli_argument_type(argument->reflection, declared),
                     ig_type_name(wanted), argument->text, ig_type_name(argument->spec.type), ig_type_name(wanted),
                     argument->index, argument->text);
}
