// SPDX-License-Identifier: Apache-2.0
// The public ops compared with NumPy's results in goldens.txt, on every backend that has them.
//
//   test-goldens GOLDENS.TXT [N] [OP]
//
// With N, kernels are compiled for one op of N only: validating them takes most of the time. With OP, only this op is
// tried.
#include <ctype.h>
#include <ingot/nn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor-helpers.h"
#include "tensor/types.h"

enum { MAX_INPUTS = 4, MAX_KEYS = 8, MAX_LINE = 1 << 16 };

typedef struct golden {
    char op[32], keys[MAX_KEYS][2][64];
    int key_count, line;
    ig_tensor *in[MAX_INPUTS];
    size_t in_count;
    ig_tensor *expected;
} golden;

static ig_op_options options;
static int passed, failed, every = 1;
static const char *only;  // this op; NULL: all

// ---- Keys ----

static const char *key(const golden *g, const char *name) {
    for (int i = 0; i < g->key_count; i++)
        if (strcmp(g->keys[i][0], name) == 0) return g->keys[i][1];
    return NULL;
}

static double number(const golden *g, const char *name, double otherwise) {
    const char *text = key(g, name);
    return text ? strtod(text, NULL) : otherwise;
}

static uint64_t whole(const golden *g, const char *name) {
    const char *text = key(g, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

// "1,2" into up to `most` numbers. Returns how many.
static uint32_t list(const golden *g, const char *name, int64_t *numbers, uint32_t most) {
    const char *text = key(g, name);
    uint32_t count = 0;
    while (text && *text && count < most) {
        char *end;
        numbers[count++] = strtoll(text, &end, 10);
        text = *end ? end + 1 : end;
    }
    return count;
}

static ig_type type_named(const char *name) {
    for (int i = 0; i < IG_TYPE_COUNT; i++)
        if (strcmp(ig_type_name((ig_type)i), name) == 0) return (ig_type)i;
    return IG_TYPE_COUNT;
}

static ig_shape shape_named(const char *text) {
    ig_shape shape = {0};
    while (text && *text && strcmp(text, "scalar") != 0) {
        char *end;
        shape.lengths[shape.rank++] = strtoull(text, &end, 10);
        text = *end ? end + 1 : end;
    }
    return shape;
}

// ---- Ops ----

typedef ig_status (*unary_op)(ig_stream *, const ig_tensor *, const ig_op_options *, ig_tensor **);
typedef ig_status (*binary_op)(ig_stream *, const ig_tensor *, const ig_tensor *, const ig_op_options *, ig_tensor **);
typedef ig_status (*reduce_op)(ig_stream *, const ig_tensor *, const ig_reduce_desc *, const ig_op_options *,
                               ig_tensor **);
typedef ig_status (*pool_op)(ig_stream *, const ig_tensor *, const ig_pool_desc *, const ig_op_options *, ig_tensor **);
typedef ig_status (*conv_op)(ig_stream *, const ig_tensor *, const ig_tensor *, const ig_tensor *, const ig_conv_desc *,
                             const ig_op_options *, ig_tensor **);
typedef ig_status (*axis_op)(ig_stream *, const ig_tensor *, int32_t, const ig_op_options *, ig_tensor **);

#define NAMED(id, name, type) {#name, ig_tensor_##name},
static const struct {
    const char *name;
    unary_op run;
} unaries[] = {IG_UNARY_LIST(NAMED){"copy", ig_tensor_copy}};
static const struct {
    const char *name;
    binary_op run;
} binaries[] = {IG_BINARY_LIST(NAMED){"dot", ig_tensor_dot}, {"matvec", ig_tensor_matvec}, {"outer", ig_tensor_outer}};
static const struct {
    const char *name;
    reduce_op run;
} reductions[] = {IG_REDUCE_LIST(NAMED)};
static const struct {
    const char *name;
    pool_op run;
} pools[] = {{"max_pool1d", ig_tensor_max_pool1d},
             {"max_pool2d", ig_tensor_max_pool2d},
             {"avg_pool1d", ig_tensor_avg_pool1d},
             {"avg_pool2d", ig_tensor_avg_pool2d}};
static const struct {
    const char *name;
    conv_op run;
} convolutions[] = {{"conv1d", ig_tensor_conv1d}, {"conv2d", ig_tensor_conv2d}};
static const struct {
    const char *name;
    axis_op run;
} along_axis[] = {{"softmax", ig_tensor_softmax}, {"log_softmax", ig_tensor_log_softmax}, {"cumsum", ig_tensor_cumsum}};

static ig_status run_reduce(const golden *g, reduce_op op, ig_tensor **out) {
    int64_t axes[IG_MAX_RANK];
    ig_reduce_desc desc = {.axis_count = list(g, "axes", axes, IG_MAX_RANK),
                           .keep_dims = whole(g, "keep"),
                           .correction = number(g, "correction", 0),
                           .order = number(g, "order", 0)};
    for (uint32_t i = 0; i < desc.axis_count; i++) desc.axes[i] = (int32_t)axes[i];
    return op(stream, g->in[0], &desc, &options, out);
}

static void pair(const golden *g, const char *name, uint64_t values[2]) {
    int64_t numbers[2] = {0};
    list(g, name, numbers, 2);
    values[0] = (uint64_t)numbers[0], values[1] = (uint64_t)numbers[1];
}

static ig_status run_pool(const golden *g, pool_op op, ig_tensor **out) {
    ig_pool_desc desc = {0};
    pair(g, "window", desc.window), pair(g, "stride", desc.stride), pair(g, "padding", desc.padding);
    return op(stream, g->in[0], &desc, &options, out);
}

static ig_status run_conv(const golden *g, conv_op op, ig_tensor **out) {
    ig_conv_desc desc = {.groups = whole(g, "groups")};
    pair(g, "stride", desc.stride), pair(g, "padding", desc.padding), pair(g, "dilation", desc.dilation);
    return op(stream, g->in[0], g->in[1], g->in[2], &desc, &options, out);
}

static ig_status run_pad(const golden *g, ig_tensor **out) {
    uint64_t before[IG_MAX_RANK] = {0}, after[IG_MAX_RANK] = {0};
    list(g, "before", (int64_t *)before, IG_MAX_RANK), list(g, "after", (int64_t *)after, IG_MAX_RANK);
    return ig_tensor_pad(stream, g->in[0], before, after, number(g, "value", 0), &options, out);
}

static ig_status run_matmul(const golden *g, ig_tensor **out) {
    ig_matmul_desc desc = {
        .scaled = key(g, "alpha"), .alpha = number(g, "alpha", 1), .beta = number(g, "beta", 1), .c = g->in[2]};
    return ig_tensor_matmul(stream, g->in[0], g->in[1], &desc, &options, out);
}

static ig_status run_generated(const golden *g, ig_tensor **out) {
    ig_type type = type_named(key(g, "type"));
    ig_shape shape = shape_named(key(g, "shape"));
    ig_random_desc random = {whole(g, "seed"), whole(g, "position")};
    if (strcmp(g->op, "fill") == 0) return ig_tensor_fill(stream, type, shape, number(g, "value", 0), &options, out);
    if (strcmp(g->op, "arange") == 0)
        return ig_tensor_arange(stream, type, number(g, "start", 0), number(g, "step", 0), whole(g, "count"), &options,
                                out);
    if (strcmp(g->op, "random_uniform") == 0)
        return ig_tensor_random_uniform(stream, type, shape, random, number(g, "low", 0), number(g, "high", 1),
                                        &options, out);
    return ig_tensor_random_normal(stream, type, shape, random, number(g, "mean", 0), number(g, "deviation", 1),
                                   &options, out);
}

static ig_status run_transformer(const golden *g, ig_tensor **out) {
    ig_tensor *const *in = g->in;
    const ig_attention_desc attention = {.scale = number(g, "scale", 0),
                                         .causal = whole(g, "causal"),
                                         .window = whole(g, "window"),
                                         .query_position = whole(g, "position")};
    const ig_rope_desc rope = {.base = number(g, "base", 0),
                               .scale = number(g, "scale", 0),
                               .dims = (uint32_t)whole(g, "dims"),
                               .interleaved = whole(g, "interleaved"),
                               .position = whole(g, "position")};
    if (strcmp(g->op, "rope") == 0) return ig_tensor_rope(stream, in[0], &rope, &options, out);
    if (strcmp(g->op, "attention") == 0)
        return ig_tensor_attention(stream, in[0], in[1], in[2], &attention, &options, out);
    if (strcmp(g->op, "masked_softmax") == 0)
        return ig_tensor_masked_softmax(stream, in[0], in[1], &attention, &options, out);
    if (strcmp(g->op, "attention_scores") == 0)
        return ig_tensor_attention_scores(stream, in[0], in[1], 0, &options, out);
    if (strcmp(g->op, "weighted_sum") == 0) return ig_tensor_weighted_sum(stream, in[0], in[1], &options, out);
    if (strcmp(g->op, "embedding") == 0) return ig_tensor_embedding(stream, in[0], in[1], &options, out);
    return run_generated(g, out);
}

static ig_status run_one_of_a_kind(const golden *g, ig_tensor **out) {
    ig_tensor *const *in = g->in;
    int32_t axis = (int32_t)number(g, "axis", 0);
    bool descending = whole(g, "descending");
#define IS(name) (strcmp(g->op, name) == 0)
    if (IS("leaky_relu")) return ig_tensor_leaky_relu(stream, in[0], number(g, "slope", 0), &options, out);
    if (IS("clamp")) return ig_tensor_clamp(stream, in[0], number(g, "low", 0), number(g, "high", 0), &options, out);
    if (IS("cast")) return ig_tensor_cast(stream, in[0], type_named(key(g, "type")), &options, out);
    if (IS("where")) return ig_tensor_where(stream, in[0], in[1], in[2], &options, out);
    if (IS("matmul")) return run_matmul(g, out);
    if (IS("layer_norm"))
        return ig_tensor_layer_norm(stream, in[0], in[1], in[2], number(g, "epsilon", 0), &options, out);
    if (IS("rms_norm")) return ig_tensor_rms_norm(stream, in[0], in[1], number(g, "epsilon", 0), &options, out);
    if (IS("gather")) return ig_tensor_gather(stream, in[0], axis, in[1], &options, out);
    if (IS("scatter")) return ig_tensor_scatter(stream, in[0], axis, in[1], in[2], whole(g, "add"), &options, out);
    if (IS("index_select")) return ig_tensor_index_select(stream, in[0], axis, in[1], &options, out);
    if (IS("concatenate"))
        return ig_tensor_concatenate(stream, (const ig_tensor *const *)in, g->in_count, axis, &options, out);
    if (IS("pad")) return run_pad(g, out);
    if (IS("sort")) return ig_tensor_sort(stream, in[0], axis, descending, &options, out, NULL);
    if (IS("argsort")) return ig_tensor_argsort(stream, in[0], axis, descending, &options, out);
    if (IS("top_k")) return ig_tensor_top_k(stream, in[0], axis, whole(g, "k"), &options, out, NULL);
#undef IS
    return run_transformer(g, out);
}

#define FIND(table, call)                      \
    for (size_t i = 0; i < LENGTH(table); i++) \
        if (strcmp(g->op, (table)[i].name) == 0) return call

static ig_status run_op(const golden *g, ig_tensor **out) {
    ig_tensor *const *in = g->in;
    FIND(unaries, unaries[i].run(stream, in[0], &options, out));
    FIND(binaries, binaries[i].run(stream, in[0], in[1], &options, out));
    FIND(reductions, run_reduce(g, reductions[i].run, out));
    FIND(pools, run_pool(g, pools[i].run, out));
    FIND(convolutions, run_conv(g, convolutions[i].run, out));
    FIND(along_axis, along_axis[i].run(stream, in[0], (int32_t)number(g, "axis", 0), &options, out));
    return run_one_of_a_kind(g, out);
}

// ---- Comparing ----

// One rounding of the type, and a little for functions computed in float.
static double tolerance(ig_type type) {
    return type == IG_TYPE_F16 ? 0x1p-10 : type == IG_TYPE_BF16 ? 0x1p-7 : type == IG_TYPE_F32 ? 2e-6 : 0;
}

static bool close_enough(ig_type type, double got, double wanted, double magnitude) {
    if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got);
    if (isinf(wanted) || isinf(got)) return wanted == got;
    // Sums near zero are as exact as their terms.
    return fabs(got - wanted) <= tolerance(type) * fabs(wanted) + (igi_tensor_is_float(type) ? 3e-7 * magnitude : 0);
}

static void read_all(const ig_tensor *tensor, double *values, int64_t *integers) {
    ig_type type = ig_tensor_type(tensor);
    uint64_t count = ig_tensor_count(tensor), size = ig_type_size(type);
    char *bytes = calloc(count + 1, size);
    assert_non_null(bytes);
    assert_ok(ig_tensor_read(tensor, bytes, count * size));
    igi_tensor_load_doubles(type, bytes, (int64_t)size, count, values);
    igi_tensor_load_integers(type, bytes, (int64_t)size, count, integers);
    free(bytes);
}

static bool same_shape(const ig_tensor *a, const ig_tensor *b) {
    uint32_t rank = ig_tensor_rank(a);
    return rank == ig_tensor_rank(b) && memcmp(ig_tensor_shape(a), ig_tensor_shape(b), rank * sizeof(uint64_t)) == 0;
}

static void complain(const golden *g, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("line %d, %s (%s): ", g->line, g->op, ig_backend_name(options.backend));
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    failed++;
}

static void compare(const golden *g, const ig_tensor *out) {
    ig_type type = ig_tensor_type(g->expected);
    uint64_t count = ig_tensor_count(g->expected);
    if (ig_tensor_type(out) != type || !same_shape(out, g->expected)) {
        complain(g, "type or shape of the result: %s", ig_type_name(ig_tensor_type(out)));
        return;
    }
    double *got = calloc(2 * count + 1, sizeof *got), *wanted = got + count, magnitude = 0;
    int64_t *got_integers = calloc(2 * count + 1, sizeof *got_integers), *wanted_integers = got_integers + count;
    assert_true(got && got_integers);
    read_all(out, got, got_integers);
    read_all(g->expected, wanted, wanted_integers);
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(wanted[i]) && fabs(wanted[i]) < 1e3) magnitude = fmax(magnitude, fabs(wanted[i]));
    for (uint64_t i = 0; i < count; i++) {
        bool same = igi_tensor_is_float(type) ? close_enough(type, got[i], wanted[i], magnitude)
                                              : got_integers[i] == wanted_integers[i];
        if (same) continue;
        complain(g, "element %" PRIu64 " is %.9g, NumPy says %.9g", i, got[i], wanted[i]);
        free(got), free(got_integers);
        return;
    }
    passed++;
    free(got), free(got_integers);
}

static void run_on(const golden *g, ig_backend backend) {
    options.backend = backend;
    ig_tensor *out = NULL;
    ig_error error = {0};
    ig_status status = run_op(g, &out);
    if (status == IG_STATUS_OK) {
        compare(g, out);
    } else if (status != IG_STATUS_UNSUPPORTED || backend <= IG_BACKEND_SCALAR) {
        ig_stream_get_error(stream, &error);
        complain(g, "%s", error.message ? error.message : ig_status_text(status));
    }
    ig_error_clear(&error);
    ig_tensor_release(out);
}

// ---- Reading ----

static ig_tensor *seen_through(ig_tensor *whole_tensor, const char *view) {
    ig_tensor *seen = NULL;
    uint32_t rank = ig_tensor_rank(whole_tensor);
    int32_t axes[IG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) axes[i] = (int32_t)(rank - 1 - i);
    if (strcmp(view, "transposed") == 0)
        assert_ok(ig_tensor_permute(whole_tensor, axes, &seen));
    else if (strcmp(view, "reversed") == 0)
        assert_ok(ig_tensor_slice(whole_tensor, -1, IG_WHOLE_AXIS, IG_TO_END, -1, &seen));
    else if (strcmp(view, "every-other") == 0)
        assert_ok(ig_tensor_slice(whole_tensor, -1, 0, IG_TO_END, 2, &seen));
    else
        return whole_tensor;
    ig_tensor_release(whole_tensor);
    return seen;
}

static ig_tensor *read_tensor(char **rest, bool has_view) {
    ig_type type = type_named(strtok_r(NULL, " \n", rest));
    ig_shape shape = shape_named(strtok_r(NULL, " \n", rest));
    const char *view = has_view ? strtok_r(NULL, " \n", rest) : "plain";
    ig_tensor_desc desc = {.type = type, .rank = shape.rank};
    memcpy(desc.shape, shape.lengths, sizeof desc.shape);
    ig_tensor *tensor = NULL;
    void *elements = NULL;
    assert_ok(ig_tensor_create(device, &desc, &tensor));
    assert_ok(ig_tensor_map_mutable(tensor, &elements));
    uint64_t size = ig_type_size(type), count = ig_tensor_count(tensor);
    for (uint64_t i = 0; i < count; i++) {
        const char *word = strtok_r(NULL, " \n", rest);
        assert_non_null(word);
        double value = strtod(word, NULL);
        int64_t integer = strtoll(word, NULL, 10);
        if (igi_tensor_is_float(type))
            igi_tensor_store_doubles(type, (char *)elements + i * size, 0, 1, &value);
        else
            igi_tensor_store_integers(type, (char *)elements + i * size, 0, 1, &integer);
    }
    return seen_through(tensor, view);
}

static void read_case(golden *g, char **rest, int line) {
    *g = (golden){.line = line};
    snprintf(g->op, sizeof g->op, "%s", strtok_r(NULL, " \n", rest));
    for (char *word; (word = strtok_r(NULL, " \n", rest)) && g->key_count < MAX_KEYS; g->key_count++) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        snprintf(g->keys[g->key_count][0], 64, "%.*s", (int)(equals - word), word);
        snprintf(g->keys[g->key_count][1], 64, "%s", equals + 1);
    }
}

static bool is_compiled(const char *op) {
    uint32_t sum = 0;
    for (; *op; op++) sum = sum * 31 + (uint32_t)*op;
    return sum % (uint32_t)every == 0;
}

static bool is_wanted(const char *op) {
    return !only || strcmp(op, only) == 0;
}

static void finish_case(golden *g) {
    bool compiled = is_compiled(g->op);
    for (int b = IG_BACKEND_ANY; b < IG_BACKEND_COUNT; b++)
        if (is_wanted(g->op) && (b != IG_BACKEND_MSL || compiled)) run_on(g, (ig_backend)b);
    for (size_t i = 0; i < g->in_count; i++) ig_tensor_release(g->in[i]);
    ig_tensor_release(g->expected);
}

static void run_file(FILE *file, char *text) {
    golden g = {0};
    for (int line = 1; fgets(text, MAX_LINE, file); line++) {
        char *rest = NULL, *word = strtok_r(text, " \n", &rest);
        if (!word || *word == '#') continue;
        if (strcmp(word, "case") == 0) read_case(&g, &rest, line);
        if (strcmp(word, "in") == 0) g.in[g.in_count++] = read_tensor(&rest, true);
        if (strcmp(word, "out") != 0) continue;
        g.expected = read_tensor(&rest, false);
        finish_case(&g);
    }
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    for (int i = 2; i < argc; i++)
        if (isdigit((unsigned char)argv[i][0]))
            every = atoi(argv[i]);
        else
            only = argv[i];
    char *text = malloc(MAX_LINE);
    bool ready = file && every >= 1 && text && open_test_stream(NULL) == 0;
    if (ready) run_file(file, text);
    if (ready) close_test_stream(NULL);
    printf("%d passed, %d failed\n", passed, failed);
    if (file) fclose(file);
    free(text);
    return !ready ? 2 : failed != 0 || passed < (only ? 1 : 1000);
}
