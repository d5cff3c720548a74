// SPDX-License-Identifier: Apache-2.0
// ingot compare: what differs between the results of two kernels, and how it is shown.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compare.h"
#include "console/output.h"
#include "elements.h"

// ---- Comparing ----

typedef struct array {
    uint32_t index;
    const char *name;
    ig_type type;
    uint64_t bytes;
    const char *before, *after[2];
} array;

// Floats in the order of their values as integers; both zeros are 0.
static int64_t rank(ig_type type, const void *element) {
    uint32_t bits = 0, size = ig_type_size(type), sign = UINT32_C(1) << (8 * size - 1);
    memcpy(&bits, element, size);
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

// Two NaN are the same: which one an operation gives is not defined.
static bool are_same(const compare_job *job, ig_type type, const void *a, const void *b, compare_row *row) {
    if (memcmp(a, b, ig_type_size(type)) == 0) return true;
    if (!cli_type_is_float(type)) return false;
    double x = cli_element_value(type, a), y = cli_element_value(type, b);
    if (isnan(x) && isnan(y)) return true;
    uint64_t ulps = isnan(x) || isnan(y) ? UINT32_MAX : (uint64_t)llabs(rank(type, a) - rank(type, b));
    if (job->ulps && ulps <= job->ulps) return true;
    if (ulps > row->largest_ulps) row->largest_ulps = ulps;
    if (fabs(x - y) > row->largest) row->largest = fabs(x - y);
    return false;
}

static void note_first(const array *of, uint64_t at, compare_row *row) {
    uint32_t size = ig_type_size(of->type);
    row->argument = of->index;
    row->type = of->type;
    row->first = at;
    snprintf(row->argument_name, sizeof row->argument_name, "%s", of->name);
    for (int side = 0; side < 2; side++) memcpy(row->values[side], of->after[side] + at * size, size);
}

static void compare_array(const compare_job *job, const array *of, compare_row *row) {
    uint32_t size = ig_type_size(of->type);
    uint64_t count = of->bytes / size;
    for (uint64_t i = 0; i < count; i++) {
        const char *a = of->after[0] + i * size, *b = of->after[1] + i * size;
        row->changed += memcmp(a, of->before + i * size, size) != 0;
        if (are_same(job, of->type, a, b, row)) continue;
        if (!row->different++) note_first(of, i, row);
    }
    row->elements += count;
}

void compare_results(const compare_job *job, const compare_inputs *inputs, compare_row *row) {
    for (size_t i = 0; i < inputs->count; i++) {
        const compare_argument *a = &inputs->arguments[i];
        const ig_argument *known = a->sides[0] ? a->sides[0] : a->sides[1];
        if (a->written)
            compare_array(
                job, &(array){a->index, known->name, a->type, a->bytes, a->contents, {a->results[0], a->results[1]}},
                row);
    }
    for (size_t i = 0; i < inputs->object_count; i++) {
        const compare_object *o = &inputs->objects[i];
        if (o->written)
            compare_array(job,
                          &(array){o->reflection->index,
                                   o->reflection->name,
                                   o->type,
                                   o->bytes,
                                   o->contents,
                                   {o->results[0], o->results[1]}},
                          row);
    }
    row->verdict = row->different ? COMPARE_DIFFERENT : COMPARE_SAME;
}

// ---- Showing ----

static const char *const verdicts[] = {
    [COMPARE_SAME] = "same",
    [COMPARE_DIFFERENT] = "differs",
    [COMPARE_FAILS_IN_BOTH] = "fails in both",
    [COMPARE_FAILS_IN_ONE] = "fails in one",
    [COMPARE_NOT_COMPARABLE] = "not comparable",
};

static void put_row(const compare_row *row) {
    igi_json *json = cli_begin_row();
    igi_json_put_string(json, "kernel", row->kernel);
    igi_json_put_string(json, "result", verdicts[row->verdict]);
    if (*row->reason) igi_json_put_string(json, "reason", row->reason);
    if (row->elements) {
        igi_json_put_u64(json, "elements", row->elements);
        igi_json_put_u64(json, "written", row->changed);
        igi_json_put_u64(json, "different", row->different);
    }
    if (row->different) {
        igi_json_put_u64(json, "argument", row->argument);
        igi_json_put_string(json, "name", row->argument_name);
        igi_json_put_string(json, "type", ig_type_name(row->type));
        igi_json_put_u64(json, "first", row->first);
        igi_json_key(json, "values"), igi_json_begin_array(json);
        for (int side = 0; side < 2; side++) cli_element_json(row->type, row->values[side], json);
        igi_json_end_array(json);
        if (cli_type_is_float(row->type)) {
            igi_json_put_double(json, "largest_difference", row->largest);
            igi_json_put_u64(json, "largest_ulps", row->largest_ulps);
        }
    }
    if (row->best_ns[0]) {
        igi_json_key(json, "best_ns"), igi_json_begin_array(json);
        for (int side = 0; side < 2; side++) igi_json_u64(json, row->best_ns[side]);
        igi_json_end_array(json);
    }
    cli_end_row();
}

static void print_difference(const compare_row *row) {
    char values[2][CLI_ELEMENT_TEXT];
    for (int side = 0; side < 2; side++) cli_element_format(row->type, row->values[side], values[side]);
    printf(": %" PRIu64 " of %" PRIu64 " elements; the first is element %" PRIu64
           " (%s) of argument %u '%s': %s, and %s in the second",
           row->different, row->elements, row->first, ig_type_name(row->type), row->argument,
           cli_visible(row->argument_name), values[0], values[1]);
    if (cli_type_is_float(row->type)) printf("; at most %g or %" PRIu64 " ulps apart", row->largest, row->largest_ulps);
}

void compare_show(const compare_job *job, const compare_row *row) {
    static const cli_style styles[] = {[COMPARE_SAME] = CLI_GREEN,
                                       [COMPARE_DIFFERENT] = CLI_RED,
                                       [COMPARE_FAILS_IN_BOTH] = CLI_YELLOW,
                                       [COMPARE_FAILS_IN_ONE] = CLI_RED,
                                       [COMPARE_NOT_COMPARABLE] = CLI_YELLOW};
    if (cli_json) {
        put_row(row);
        return;
    }
    if (row->verdict == COMPARE_SAME && !job->all) return;
    printf("%s: %s%s%s", cli_visible(row->kernel), cli_escape(stdout, styles[row->verdict]), verdicts[row->verdict],
           cli_escape(stdout, CLI_PLAIN));
    if (*row->reason) printf(": %s", cli_visible(row->reason));
    if (row->different) print_difference(row);
    if (row->verdict == COMPARE_SAME && !row->changed) printf(", but nothing was written");
    printf("\n");
}
