// SPDX-License-Identifier: Apache-2.0
// The shapes with which each family of ops is tried. The first IGI_VALIDATION_SHAPES of a family are tried on every
// machine, all of them by the tests.
#include "tensor/iterate.h"
#include "tensor/sample-maker.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static bool repeated(const igi_sample_maker *m) {
    return m->spec->layout == IGI_LAYOUT_REPEATED;
}

// ---- Elementwise and generated ----

static const ig_shape elementwise_shapes[] = {
    {1, {257}},
    {3, {3, 5, 33}},
    {1, {1}},
    {1, {0}},
    {1, {31}},
    {1, {33}},
    {0, {0}},
    {2, {0, 4}},
    {2, {31, 17}},
    {4, {2, 3, 4, 5}},
    {8, {2, 1, 2, 1, 3, 1, 2, 2}},
    {1, {4099}},
    {2, {65, 129}},
};

static void make_elementwise(igi_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *s = &elementwise_shapes[m->spec->shape];
    ig_op op = m->spec->op;
    igi_parameters *p = &m->sample->call.p;
    uint32_t inputs = igi_ops[op].inputs;
    for (uint32_t i = 0; i < inputs; i++) {
        m->tame = op == IG_OP_SILU_MUL && i == 1;  // an extreme would lift what the other lost among denormals
        igi_sample_input(m, op == IG_OP_WHERE && i == 0 ? IG_TYPE_BOOL : operand, s, repeated(m) && i + 1 == inputs);
    }
    if (op == IG_OP_CLAMP) p->elementwise.low = -1.25, p->elementwise.high = 3.5;
    if (op == IG_OP_LEAKY_RELU) p->elementwise.slope = 0.01;
    igi_sample_output(m, result, s);
}

static void make_generated(igi_sample_maker *m, ig_type operand, ig_type result) {
    (void)operand;
    igi_parameters *p = &m->sample->call.p;
    bool random = m->spec->op == IG_OP_RANDOM_UNIFORM || m->spec->op == IG_OP_RANDOM_NORMAL;
    bool odd = m->spec->shape % 2;
    if (random) {
        p->random.seed = 0x1234567890abcdefu;
        p->random.position = odd ? 0xfffffffffu : 0;
        p->random.first = odd ? -3 : 0;
        p->random.second = odd ? 2.5 : 1;
    } else {
        p->range.start = odd ? -2 : 3;
        p->range.step = m->spec->op == IG_OP_FILL ? 0 : odd ? 0.5 : 1;
    }
    igi_sample_output(m, result, &elementwise_shapes[m->spec->shape]);
}

// ---- Reductions ----

static const struct {
    ig_shape in;
    uint32_t axes;
} reduce_shapes[] = {
    {{1, {257}}, 1},      {{2, {33, 31}}, 2},
    {{3, {5, 33, 7}}, 2}, {{1, {1}}, 1},
    {{2, {31, 33}}, 1},   {{3, {4, 5, 6}}, 5},
    {{3, {4, 5, 6}}, 7},  {{4, {2, 3, 4, 5}}, 6},
    {{2, {0, 5}}, 2},     {{2, {5, 1}}, 2},
    {{1, {4099}}, 1},     {{2, {3, 1025}}, 2},
    {{2, {1025, 3}}, 1},  {{8, {1, 2, 1, 2, 1, 3, 1, 33}}, 0xf0},
};

static void make_reduce(igi_sample_maker *m, ig_type operand, ig_type result) {
    ig_shape in = reduce_shapes[m->spec->shape].in, out = in;
    uint32_t axes = reduce_shapes[m->spec->shape].axes;
    for (uint32_t i = 0; i < in.rank; i++) {
        if (!(axes >> i & 1)) continue;
        m->sample->scale *= (double)in.lengths[i];
        out.lengths[i] = 1;
    }
    m->sample->call.p.reduce.axes = axes;
    m->sample->call.p.reduce.order = 2;
    igi_sample_input(m, operand, &in, repeated(m));
    igi_sample_output(m, result, &out);
}

// ---- Along an axis ----

static const struct {
    ig_shape in;
    uint32_t axis;
} line_shapes[] = {
    {{1, {257}}, 0},         {{2, {33, 31}}, 1},  {{3, {5, 33, 7}}, 1}, {{1, {1}}, 0},
    {{2, {31, 33}}, 0},      {{2, {0, 5}}, 1},    {{2, {5, 0}}, 1},     {{2, {3, 1025}}, 1},
    {{4, {2, 3, 4, 65}}, 3}, {{2, {1025, 3}}, 0}, {{2, {7, 16}}, 1},    {{2, {2, 5003}}, 1},
};

static void make_along(igi_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *in = &line_shapes[m->spec->shape].in;
    uint32_t axis = line_shapes[m->spec->shape].axis;
    m->sample->call.p.along.axis = axis;
    m->sample->scale = (double)in->lengths[axis] + 1;
    igi_sample_input(m, operand, in, repeated(m));
    igi_sample_output(m, result, in);
}

// Norms have vectors for the last dimension: all of them, some, none.
static void make_normalize(igi_sample_maker *m, ig_type operand, ig_type result) {
    if (m->spec->op == IG_OP_SOFTMAX || m->spec->op == IG_OP_LOG_SOFTMAX) {
        make_along(m, operand, result);
        return;
    }
    const ig_shape *in = &line_shapes[m->spec->shape].in;
    ig_shape vector = {1, {in->lengths[in->rank - 1]}};
    m->sample->call.p.norm.epsilon = 1e-5;
    m->sample->scale = (double)vector.lengths[0] + 1;
    igi_sample_input(m, operand, in, repeated(m));
    for (uint32_t i = 1; i < igi_ops[m->spec->op].inputs; i++)
        if (m->spec->shape % 3 < 3 - i)
            igi_sample_input(m, operand, &vector, false);
        else
            igi_sample_absent_input(m);
    igi_sample_output(m, result, in);
}

// The result may be shorter than the axis: the first few of the order.
static void make_sort(igi_sample_maker *m, ig_type operand, ig_type result) {
    ig_shape shape = line_shapes[m->spec->shape].in;
    uint32_t axis = line_shapes[m->spec->shape].axis;
    m->sample->call.p.sort.axis = axis;
    m->sample->call.p.sort.descending = m->spec->shape % 2;
    igi_sample_input(m, operand, &shape, repeated(m));
    if (m->spec->shape % 3 == 2) shape.lengths[axis] = shape.lengths[axis] / 2;
    igi_sample_output(m, result, &shape);
    igi_sample_output(m, IG_TYPE_I64, &shape);
}

// ---- Products ----

static const struct {
    uint64_t batch, rows, inner, columns;
    bool a_repeats, b_repeats, adds;
    double alpha, beta;
} matmul_shapes[] = {
    {1, 33, 31, 17, false, false, false, 1, 1},   {3, 8, 16, 24, false, true, true, 2, -1},
    {1, 1, 257, 1, false, false, false, 1, 1},    {1, 1, 1, 1, false, false, false, 1, 1},
    {1, 31, 33, 1, false, false, false, 1, 1},    {1, 1, 33, 31, false, false, false, 1, 1},
    {1, 65, 1, 67, false, false, false, 1, 1},    {1, 0, 5, 3, false, false, false, 1, 1},
    {1, 4, 0, 3, false, false, true, 1, 1},       {2, 64, 64, 64, true, false, false, 1, 1},
    {1, 129, 65, 33, false, false, true, 1, 0.5}, {4, 5, 7, 3, true, true, true, 1, 2},
    {1, 97, 300, 101, false, false, false, 1, 1},
};

static void make_matmul(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    uint64_t batch = matmul_shapes[i].batch, rows = matmul_shapes[i].rows, inner = matmul_shapes[i].inner,
             columns = matmul_shapes[i].columns;
    igi_sample_input(m, operand, &(ig_shape){3, {batch, rows, inner}}, matmul_shapes[i].a_repeats || repeated(m));
    igi_sample_input(m, operand, &(ig_shape){3, {batch, inner, columns}}, matmul_shapes[i].b_repeats);
    if (matmul_shapes[i].adds)
        igi_sample_input(m, result, &(ig_shape){3, {batch, rows, columns}}, false);
    else
        igi_sample_absent_input(m);
    m->sample->call.p.matmul.alpha = matmul_shapes[i].alpha;
    m->sample->call.p.matmul.beta = matmul_shapes[i].beta;
    m->sample->scale = (double)inner + 1;
    igi_sample_output(m, result, &(ig_shape){3, {batch, rows, columns}});
}

// ---- Indices ----

static const struct {
    ig_shape x;
    uint32_t axis;
    uint64_t picked;  // along the axis
} index_shapes[] = {
    {{2, {33, 31}}, 0, 17},   {{1, {257}}, 0, 100}, {{3, {4, 5, 6}}, 2, 6}, {{1, {1}}, 0, 1},     {{2, {31, 5}}, 1, 3},
    {{3, {2, 33, 3}}, 1, 33}, {{2, {5, 7}}, 0, 0},  {{2, {3, 0}}, 0, 2},    {{2, {7, 65}}, 0, 5},
};

static void make_index(igi_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *x = &index_shapes[m->spec->shape].x;
    uint32_t axis = index_shapes[m->spec->shape].axis;
    uint64_t picked = index_shapes[m->spec->shape].picked, length = x->lengths[axis];
    bool scatters = m->spec->op == IG_OP_SCATTER, selects = m->spec->op == IG_OP_INDEX_SELECT;
    igi_parameters *p = &m->sample->call.p;
    ig_type index_type = m->spec->shape % 2 ? IG_TYPE_I32 : IG_TYPE_I64;
    ig_shape part = *x, vector = {1, {picked}};
    part.lengths[axis] = picked;
    p->index.axis = axis;
    p->index.add = scatters && m->spec->shape % 2 && operand != IG_TYPE_BOOL;
    const igi_view *in = igi_sample_input(m, operand, x, repeated(m));
    igi_sample_index(m, index_type, selects ? &vector : &part, selects ? 0 : axis, length, scatters && !p->index.add);
    if (scatters) igi_sample_input(m, operand, &part, false);
    igi_sample_output(m, result, scatters ? x : &part);
    if (m->status != IG_STATUS_OK || !scatters) return;
    igi_copy_view(in, &m->sample->call.out[0]);
    igi_copy_view(in, &m->sample->again[0]);
}

// ---- Convolution and pooling ----

static const struct {
    uint64_t n, c, h, w, o, kh, kw;
    uint64_t stride[2], padding[2], dilation[2], groups;
    bool bias;
} conv_shapes[] = {
    {1, 3, 9, 11, 4, 3, 3, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {2, 4, 1, 33, 6, 1, 5, {1, 2}, {0, 2}, {1, 1}, 2, false},
    {1, 2, 8, 8, 2, 3, 2, {2, 1}, {0, 1}, {2, 2}, 1, true},
    {1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {2, 6, 7, 5, 6, 3, 3, {1, 1}, {1, 1}, {1, 1}, 6, true},
    {0, 3, 5, 5, 2, 3, 3, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {1, 16, 14, 14, 16, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {1, 8, 17, 19, 12, 5, 3, {3, 2}, {2, 1}, {1, 1}, 4, true},
};

static void make_conv(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    igi_parameters *p = &m->sample->call.p;
    uint64_t in[2] = {conv_shapes[i].h, conv_shapes[i].w}, k[2] = {conv_shapes[i].kh, conv_shapes[i].kw}, out[2];
    for (int d = 0; d < 2; d++) {
        p->conv.stride[d] = conv_shapes[i].stride[d], p->conv.padding[d] = conv_shapes[i].padding[d];
        p->conv.dilation[d] = conv_shapes[i].dilation[d];
        out[d] = (in[d] + 2 * p->conv.padding[d] - p->conv.dilation[d] * (k[d] - 1) - 1) / p->conv.stride[d] + 1;
    }
    p->conv.groups = conv_shapes[i].groups;
    uint64_t channels = conv_shapes[i].c / p->conv.groups;
    m->sample->scale = (double)(channels * k[0] * k[1]) + 1;
    igi_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, in[0], in[1]}}, repeated(m));
    m->tame = true;  // whether padding times infinity is NaN is nobody's business
    igi_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].o, channels, k[0], k[1]}}, false);
    m->tame = false;
    if (conv_shapes[i].bias)
        igi_sample_input(m, result, &(ig_shape){1, {conv_shapes[i].o}}, false);
    else
        igi_sample_absent_input(m);
    igi_sample_output(m, result, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].o, out[0], out[1]}});
}

// The windows of a pool are the kernels of a convolution without dilation.
static void make_pool(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    igi_parameters *p = &m->sample->call.p;
    uint64_t in[2] = {conv_shapes[i].h, conv_shapes[i].w}, k[2] = {conv_shapes[i].kh, conv_shapes[i].kw}, out[2];
    for (int d = 0; d < 2; d++) {
        p->pool.window[d] = k[d];
        p->pool.stride[d] = conv_shapes[i].stride[d];
        p->pool.padding[d] = conv_shapes[i].padding[d] < k[d] ? conv_shapes[i].padding[d] : k[d] - 1;
        out[d] = (in[d] + 2 * p->pool.padding[d] - k[d]) / p->pool.stride[d] + 1;
    }
    m->sample->scale = (double)(k[0] * k[1]) + 1;
    igi_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, in[0], in[1]}}, repeated(m));
    igi_sample_output(m, result, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, out[0], out[1]}});
}

static void make_convolve(igi_sample_maker *m, ig_type operand, ig_type result) {
    (m->spec->op == IG_OP_CONV ? make_conv : make_pool)(m, operand, result);
}

// ---- All ----

const struct igi_sample_family_row igi_sample_families[IGI_FAMILY_COUNT] = {
    [IGI_FAMILY_UNARY] = {make_elementwise, LENGTH(elementwise_shapes)},
    [IGI_FAMILY_BINARY] = {make_elementwise, LENGTH(elementwise_shapes)},
    [IGI_FAMILY_TERNARY] = {make_elementwise, LENGTH(elementwise_shapes)},
    [IGI_FAMILY_CONVERT] = {make_elementwise, LENGTH(elementwise_shapes)},
    [IGI_FAMILY_REDUCE] = {make_reduce, LENGTH(reduce_shapes)},
    [IGI_FAMILY_SCAN] = {make_along, LENGTH(line_shapes)},
    [IGI_FAMILY_MATMUL] = {make_matmul, LENGTH(matmul_shapes)},
    [IGI_FAMILY_NORMALIZE] = {make_normalize, LENGTH(line_shapes)},
    [IGI_FAMILY_INDEX] = {make_index, LENGTH(index_shapes)},
    [IGI_FAMILY_SORT] = {make_sort, LENGTH(line_shapes)},
    [IGI_FAMILY_GENERATE] = {make_generated, LENGTH(elementwise_shapes)},
    [IGI_FAMILY_CONVOLVE] = {make_convolve, LENGTH(conv_shapes)},
    [IGI_FAMILY_QUANTIZED] = {igi_sample_quantized, IGI_QUANTIZED_SAMPLES},
    [IGI_FAMILY_ATTENTION] = {igi_sample_attention, IGI_ATTENTION_SAMPLES},
};

uint32_t igi_sample_rank(ig_op op, uint32_t shape) {
    switch (igi_ops[op].family) {
        case IGI_FAMILY_REDUCE: return reduce_shapes[shape].in.rank;
        case IGI_FAMILY_SCAN:
        case IGI_FAMILY_NORMALIZE:
        case IGI_FAMILY_SORT: return line_shapes[shape].in.rank;
        case IGI_FAMILY_INDEX: return index_shapes[shape].x.rank;
        case IGI_FAMILY_QUANTIZED: return 2;
        case IGI_FAMILY_MATMUL: return 3;
        case IGI_FAMILY_ATTENTION:
        case IGI_FAMILY_CONVOLVE: return 4;
        default: return elementwise_shapes[shape].rank;
    }
}
