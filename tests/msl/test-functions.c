// SPDX-License-Identifier: Apache-2.0
// Every function of <metal_stdlib> for every type and math mode: test-functions [-v] [-k PART-OF-NAME]
// [safe|fast|integer|all].
// The limits are those of the Metal Shading Language specification, 8.4. Ends with "N passed, N failed".
#include "test-functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/values.h"
#include "core/memory.h"

typedef struct session {
    ig_device *device;
    ig_queue *queue;
    ig_buffer *inputs[FUNCTION_ARGUMENTS], *output, *scalars;  // scalars: the previous results of the same function
    const char *only;
    bool verbose;
    unsigned passed, failed;
} session;

static const char *msl_name(ig_type type) {
    static const char *const names[IG_TYPE_COUNT] = {"bool", "char", "uchar", "short", "ushort", "int",
                                                     "uint", "long", "ulong", "half",  "bfloat", "float"};
    return names[type];
}

// ---- Inputs ----

static uint64_t random_bits(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static const long double specials[] = {
    0.0L,     -0.0L,     1,    -1,    0.5L,   -0.5L, 2,        -2,       3,         1.5L,      -1.5L, 2.5L,
    10,       100,       -100, 1e-3L, -1e-3L, 0.25L, 0x1p-14L, 0x1p-24L, 0x1p-126L, 0x1p-149L, 65504, 0x1.fffffep127L,
    INFINITY, -INFINITY, NAN};

// A third each: any bit pattern, evenly between the bounds, and evenly in exponent up to the bounds.
static long double pick(const function_test *test, const function_context *c, int argument, uint64_t *state) {
    uint64_t bits = random_bits(state), kind = bits % 3;
    double low = test->low[argument], high = test->high[argument], unit = (double)(bits >> 11) * 0x1p-53;
    if (kind == 0 && c->mode == IG_MATH_SAFE) {
        uint64_t element = random_bits(state);
        return value_read(c->type, &element);
    }
    if (kind == 1 || !value_is_float(c->type))
        return value_round(c->type, (long double)low + unit * ((long double)high - low));
    double largest = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    double magnitude = largest * exp2(-unit * (c->type == IG_TYPE_F16 ? 16 : 40));
    return value_round(c->type, random_bits(state) & 1 ? -magnitude : magnitude);
}

static bool allowed_input(const function_test *test, const function_context *c, int argument, long double x) {
    bool finite = test->finite || c->mode == IG_MATH_FAST;
    if (!isfinite(x)) return !finite;
    if (finite && (x < test->low[argument] || x > test->high[argument])) return false;
    // Fast mode flushes denormals.
    return c->mode == IG_MATH_SAFE || x == 0 || fabsl(x) >= (c->type == IG_TYPE_F16 ? 0x1p-14L : 0x1p-126L);
}

static void make_inputs(session *s, const function_test *test, const function_context *c) {
    enum { SPECIALS = sizeof specials / sizeof *specials };
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (const char *p = test->name; *p; p++) state = (state ^ (uint64_t)*p) * UINT64_C(0x100000001b3);
    uint32_t size = ig_type_size(c->type);
    for (size_t i = 0; i < FUNCTION_INPUTS; i++) {
        size_t index = i;
        for (int k = 0; k < test->arity; k++) {
            long double x = value_round(c->type, specials[index % SPECIALS]);
            size_t limit = test->arity == 1 ? SPECIALS : SPECIALS * SPECIALS;
            if (i >= limit || !value_is_float(c->type) || !allowed_input(test, c, k, x)) x = pick(test, c, k, &state);
            for (int tries = 0; tries < 100 && !allowed_input(test, c, k, x); tries++) x = pick(test, c, k, &state);
            value_write(c->type, x, (char *)ig_buffer_contents(s->inputs[k]) + i * size);
            index /= SPECIALS;
        }
    }
}

// ---- Running ----

static char *make_source(const function_family *family, ig_type type, int width) {
    igi_text text = {0};
    igi_text_addf(&text, "#include <metal_stdlib>\nusing namespace metal;\ntypedef %s T;\n%s\n", msl_name(type),
                  family->helpers);
    for (size_t i = 0; i < family->count; i++) {
        const function_test *test = &family->tests[i];
        if (width == 1)
            igi_text_addf(&text,
                          "kernel void f_%s(device const T *p, device const T *q, device const T *r, device T *out, "
                          "uint i [[thread_position_in_grid]]) { T a = p[i], b = q[i], c = r[i]; out[i] = T(%s); }\n",
                          test->name, test->expression);
        else
            igi_text_addf(&text,
                          "kernel void f_%s(device const vec<T, 4> *p, device const vec<T, 4> *q, device const vec<T, "
                          "4> *r, device vec<T, 4> *out, "
                          "uint i [[thread_position_in_grid]]) { vec<T, 4> a = p[i], b = q[i], c = r[i]; out[i] = "
                          "vec<T, 4>(%s); }\n",
                          test->name, test->expression);
    }
    return igi_text_take(&text);
}

static bool run(session *s, ig_library *library, const function_test *test, int width, ig_error *error) {
    char kernel[80];
    snprintf(kernel, sizeof kernel, "f_%s", test->name);
    ig_pipeline *pipeline = NULL;
    ig_commands *commands = NULL;
    bool good = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = kernel}, &pipeline, error) == IG_STATUS_OK &&
                ig_commands_create(s->queue, NULL, &commands) == IG_STATUS_OK;
    if (good) {
        ig_commands_set_pipeline(commands, pipeline);
        for (uint32_t k = 0; k < FUNCTION_ARGUMENTS; k++) ig_commands_set_buffer(commands, s->inputs[k], 0, k);
        ig_commands_set_buffer(commands, s->output, 0, FUNCTION_ARGUMENTS);
        ig_commands_dispatch_threads(commands, (ig_size){.x = FUNCTION_INPUTS / (unsigned)width}, (ig_size){0});
        good = ig_commands_commit(commands) == IG_STATUS_OK && ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_OK;
        if (!good) ig_commands_get_error(commands, error);
    }
    ig_commands_release(commands);
    ig_pipeline_release(pipeline);
    return good;
}

// ---- Judging ----

typedef struct worst {
    size_t inputs;  // for which the specification has a rule
    double error, limit;
    long double x[FUNCTION_ARGUMENTS], got, wanted;
    bool failed;
} worst;

// In ulp; infinite for a missing or unexpected NaN or infinity.
static double error_of(const function_context *c, long double got, long double wanted) {
    if (isnan(got) || isnan(wanted)) return isnan(got) && isnan(wanted) ? 0 : (double)INFINITY;
    if (got == value_round(c->type, wanted)) return 0;
    if (!value_is_float(c->type)) return (double)INFINITY;
    long double smallest = c->type == IG_TYPE_F16 ? 0x1p-14L : 0x1p-126L;
    if (c->mode == IG_MATH_FAST && fabsl(wanted) < smallest && got == 0) return 0;
    if (isinf(wanted)) return (double)INFINITY;
    // An overflow has the error of the number after the largest.
    if (isinf(got)) got = copysignl(c->type == IG_TYPE_F16 ? 0x1p16L : 0x1p128L, got);
    return (double)(fabsl(got - wanted) / value_ulp(c->type, wanted));
}

static void judge(const function_test *test, const function_context *c, const long double *x, long double got,
                  worst *w) {
    long double wanted = test->reference(c, x);
    double limit = (c->mode == IG_MATH_SAFE ? test->safe : test->fast)(c, x, wanted);
    if (limit < 0) return;
    if (!w->inputs++) w->limit = limit;
    double error = error_of(c, got, wanted);
    // 0.5 is correct rounding, for which error_of has already checked exact ties.
    bool failed = error > 0 && (limit == 0 || !(error <= limit));
    if (w->failed && !failed) return;
    if (failed == w->failed && error <= w->error) return;
    *w = (worst){.inputs = w->inputs, .error = error, .limit = limit, .got = got, .wanted = wanted, .failed = failed};
    memcpy(w->x, x, sizeof w->x);
}

static void say(session *s, const function_test *test, const function_context *c, const worst *w) {
    if (w->failed)
        s->failed++;
    else
        s->passed++;
    if (!w->failed && !s->verbose) return;
    printf("%-6s %-4s %-18s %5zu inputs %9.3f ulp (limit %.4g)", msl_name(c->type),
           c->mode == IG_MATH_SAFE ? "safe" : "fast", test->name, w->inputs, w->error, w->limit);
    if (w->error > 0) {
        printf(" at");
        for (int k = 0; k < test->arity; k++) printf(" %.9Lg", w->x[k]);
        printf(": %.9Lg, not %.9Lg", w->got, w->wanted);
    }
    printf("%s\n", w->failed ? "  FAILED" : "");
}

static void compare(session *s, const function_test *test, const function_context *c) {
    worst w = {0};
    uint32_t size = ig_type_size(c->type);
    for (size_t i = 0; i < FUNCTION_INPUTS; i++) {
        long double x[FUNCTION_ARGUMENTS] = {0};
        for (int k = 0; k < test->arity; k++)
            x[k] = value_read(c->type, (char *)ig_buffer_contents(s->inputs[k]) + i * size);
        judge(test, c, x, value_read(c->type, (char *)ig_buffer_contents(s->output) + i * size), &w);
    }
    say(s, test, c, &w);
}

// Vectors must give the same results as scalars.
static void compare_vectors(session *s, const function_test *test, const function_context *c) {
    uint32_t size = ig_type_size(c->type);
    for (size_t i = 0; i < FUNCTION_INPUTS; i++) {
        long double scalar = value_read(c->type, (char *)ig_buffer_contents(s->scalars) + i * size);
        long double vector = value_read(c->type, (char *)ig_buffer_contents(s->output) + i * size);
        if (scalar == vector || (isnan(scalar) && isnan(vector))) continue;
        printf("%s4 %s: element %zu is %.9Lg, but %.9Lg for scalars  FAILED\n", msl_name(c->type), test->name, i,
               vector, scalar);
        s->failed++;
        return;
    }
    s->passed++;
}

static ig_library *make_library(session *s, const function_family *family, const function_context *c, int width) {
    ig_error error = {0};
    ig_library *library = NULL;
    char *source = make_source(family, c->type, width);
    ig_library_desc desc = {.source = source, .name = family->name, .math_mode = c->mode};
    if (!source || ig_library_create(s->device, &desc, &library, &error) != IG_STATUS_OK) {
        printf("%s for %s does not compile: %.3000s\n", family->name, msl_name(c->type),
               error.log       ? error.log
               : error.message ? error.message
                               : "");
        s->failed += (unsigned)family->count;
    }
    free(source);
    ig_error_clear(&error);
    return library;
}

static void run_family(session *s, const function_family *family, ig_type type, ig_math_mode mode, bool vectors) {
    function_context c = {type, mode};
    ig_library *scalar = make_library(s, family, &c, 1),
               *vector = scalar && vectors ? make_library(s, family, &c, 4) : NULL;
    for (size_t i = 0; scalar && i < family->count; i++) {
        const function_test *test = &family->tests[i];
        ig_error error = {0};
        if (s->only && !strstr(test->name, s->only)) continue;
        make_inputs(s, test, &c);
        bool good = run(s, scalar, test, 1, &error);
        if (good) compare(s, test, &c);
        if (good && vector) {
            memcpy(ig_buffer_contents(s->scalars), ig_buffer_contents(s->output), FUNCTION_INPUTS * ig_type_size(type));
            good = run(s, vector, test, 4, &error);
            if (good) compare_vectors(s, test, &c);
        }
        if (!good) {
            printf("%s %s: %s\n", msl_name(type), test->name, error.message ? error.message : "did not run");
            s->failed++;
        }
        ig_error_clear(&error);
    }
    ig_library_release(vector);
    ig_library_release(scalar);
}

static bool open_session(session *s) {
    ig_error error = {0};
    ig_buffer_desc desc = {.length = FUNCTION_INPUTS * sizeof(uint64_t)};
    bool opened = ig_device_create(&(ig_device_desc){.cache_dir = ""}, &s->device, &error) == IG_STATUS_OK &&
                  ig_queue_create(s->device, &s->queue) == IG_STATUS_OK;
    for (int k = 0; k < FUNCTION_ARGUMENTS; k++)
        opened = opened && ig_buffer_create(s->device, &desc, &s->inputs[k]) == IG_STATUS_OK;
    opened = opened && ig_buffer_create(s->device, &desc, &s->output) == IG_STATUS_OK &&
             ig_buffer_create(s->device, &desc, &s->scalars) == IG_STATUS_OK;
    if (!opened) fprintf(stderr, "no device: %s\n", error.message ? error.message : "out of memory");
    ig_error_clear(&error);
    return opened;
}

static void run_floats(session *s, ig_math_mode mode) {
    static const ig_type floats[] = {IG_TYPE_F32, IG_TYPE_F16, IG_TYPE_BF16};
    for (size_t t = 0; t < 3; t++) {
        bool vectors = mode == IG_MATH_SAFE && floats[t] == IG_TYPE_F32;
        run_family(s, &math_functions, floats[t], mode, vectors);
        run_family(s, &common_functions, floats[t], mode, vectors || floats[t] == IG_TYPE_F16);
        run_family(s, &relational_functions, floats[t], mode, false);
        run_family(s, &geometric_functions, floats[t], mode, false);
    }
}

static void run_integers(session *s) {
    for (int t = IG_TYPE_I8; t <= IG_TYPE_U64; t++) run_family(s, &integer_functions, (ig_type)t, IG_MATH_SAFE, false);
}

int main(int count, char **arguments) {
    session s = {0};
    const char *part = "all";
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "-v") == 0)
            s.verbose = true;
        else if (strcmp(arguments[i], "-k") == 0 && i + 1 < count)
            s.only = arguments[++i];
        else
            part = arguments[i];
    }
    bool all = strcmp(part, "all") == 0;
    if (!open_session(&s)) return 3;
    if (all || strcmp(part, "safe") == 0) run_floats(&s, IG_MATH_SAFE);
    if (all || strcmp(part, "fast") == 0) run_floats(&s, IG_MATH_FAST);
    if (all || strcmp(part, "integer") == 0) run_integers(&s);
    for (int k = 0; k < FUNCTION_ARGUMENTS; k++) ig_buffer_release(s.inputs[k]);
    ig_buffer_release(s.output);
    ig_buffer_release(s.scalars);
    ig_queue_release(s.queue);
    ig_device_release(s.device);
    printf("%u passed, %u failed\n", s.passed, s.failed);
    return s.failed || !s.passed ? 1 : 0;
}
