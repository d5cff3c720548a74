// SPDX-License-Identifier: Apache-2.0
// ingot run: whether the given elements have the type that the kernel reads.
#include "msl/element-type.h"
#include "run.h"

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
    if (argument->raw || !igi_msl_element_type(argument->reflection->type, &wanted)) return CLI_CONTINUE;
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
