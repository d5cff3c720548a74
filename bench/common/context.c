// SPDX-License-Identifier: Apache-2.0
// Choosing cases.
#include "bench/common/context.h"

#include <string.h>

#include "console/output.h"
#include "core/nearest.h"

bool bench_contains(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

bool bench_chosen(const bench_context *context, const char *name) {
    return context->kernels.count == 0 || bench_contains(context->kernels.items, context->kernels.count, name);
}

int bench_check_chosen(const bench_context *context, const char *noun, const char *const *names, size_t count) {
    for (size_t i = 0; i < context->kernels.count; i++) {
        const char *given = context->kernels.items[i], *nearest = igi_nearest(given, names, count);
        if (bench_contains(names, count, given)) continue;
        if (nearest) return cli_usage_error("unknown %s '%s'; did you mean '%s'?", noun, given, nearest);
        return cli_usage_error("unknown %s '%s'", noun, given);
    }
    return CLI_CONTINUE;
}
